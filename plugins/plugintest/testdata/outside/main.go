// Command ourbot is Reeve with a plugin of our own.
package main

import (
	"os"

	"example.com/ourbot/lunch"
	"reeve/cmd/app"
	"reeve/plugins"
	"reeve/plugins/clock"
	"reeve/plugins/echo"
)

func main() {
	list := []plugins.Plugin{clock.New(nil), app.Off(echo.New()), lunch.New()}
	os.Exit(app.Main(os.Args[1:], list, app.Options{Version: "ourbot 1.0"}))
}
