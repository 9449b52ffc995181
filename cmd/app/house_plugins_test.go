package app

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// Every plugin is held to the suite of every plugin, that of the outside module
// too.
func TestEveryPluginPassesTheSuite(t *testing.T) {
	plugin, tested := map[string]bool{}, map[string]bool{}
	eachGo(t, 0, func(name string, _ []byte, file *ast.File, _ *token.FileSet) {
		dir, test := path.Dir(name), strings.HasSuffix(name, "_test.go")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if !test && n.Recv != nil && n.Name.Name == "Open" && takesServices(n) {
					plugin[dir] = true
				}
			case *ast.SelectorExpr:
				if test && selects(n, "plugintest", "Suite") {
					tested[dir] = true
				}
			}
			return true
		})
	})
	for dir := range plugin {
		if !tested[dir] {
			t.Errorf("%s is a plugin, and no test of it calls plugintest.Suite", dir)
		}
	}
	if len(plugin) < 6 || !plugin["plugins/echo"] || !plugin["plugins/plugintest/testdata/outside/lunch"] {
		t.Errorf("found were %v", plugin)
	}
}

func takesServices(f *ast.FuncDecl) bool {
	for _, field := range f.Type.Params.List {
		if sel, ok := field.Type.(*ast.SelectorExpr); ok && selects(sel, "plugins", "Services") {
			return true
		}
	}
	return false
}

func selects(sel *ast.SelectorExpr, pkg, name string) bool {
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && sel.Sel.Name == name
}
