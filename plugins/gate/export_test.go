package gate

// What the tests of the host matcher and of reading arguments call directly.
var (
	Named      = named
	NormalHost = normalHost
	Read       = func(g *Gate, tool, written string) (arguments []byte, problem string) {
		return g.tools[tool].read(written)
	}
)

// Visible is how a card shows arguments.
var Visible = visible
