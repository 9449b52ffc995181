// Package conformance runs the Node clients that Slack publishes,
// @slack/socket-mode and @slack/web-api, against the simulator. It has only a
// test, which needs node and npm; the slack-go half of the pair is in the
// simulator's own tests.
package conformance
