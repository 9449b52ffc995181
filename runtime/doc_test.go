package runtime_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every hop of the trace in doc.go is a function that exists.
func TestTheTraceNamesRealFunctions(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	hops := regexp.MustCompile(`(?m)^//\t([a-z]+(?:\.[A-Za-z]+)+) {2,}\S`).FindAllStringSubmatch(string(doc), -1)
	if len(hops) < 15 {
		t.Fatalf("the trace has %d hops", len(hops))
	}
	known := functions(t, "..")
	for _, hop := range hops {
		if !known[hop[1]] {
			t.Errorf("%s is no function any more", hop[1])
		}
	}
}

// functions are the module's functions as package.Function or
// package.Type.Method.
func functions(t *testing.T, root string) map[string]bool {
	t.Helper()
	known := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				known[file.Name.Name+"."+receiver(f)+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return known
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}
