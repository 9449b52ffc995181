// Command reeve is a Slack agent that acts for one person at a time.
package main

import (
	"os"

	"reeve/cmd/app"
)

func main() {
	os.Exit(app.Main(os.Args[1:], compiled(), app.Options{}))
}
