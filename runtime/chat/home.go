package chat

// HomeItem is one line of a list in a person's home tab, with its buttons.
type HomeItem struct {
	// ID names the item to whoever acts on a button; empty for one that stands
	// for the whole list.
	ID   string
	Text string // plain: no markup of it is read
	// Small items are shown as remarks.
	Small   bool
	Buttons []HomeButton
}

// HomeButton is a button in a home tab.
type HomeButton struct {
	Name  string // lower-case letters and "_"
	Label string
	// Ask is a question that is asked before it is pressed; empty: none.
	Ask string
}
