// Package conformance runs MCP servers that others wrote and published with npm
// under the plugin: everything (over standard input and output, and over
// streamable HTTP), filesystem and memory. It has only tests, which need node
// and npm; servers made with the Go SDK are in the plugin's own tests.
package conformance
