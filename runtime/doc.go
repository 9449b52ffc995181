// Package runtime carries messages into turns and turns to their ends.
//
// # One run, one actor
//
// A turn has one actor for all its life. Another author's text enters it as
// context, whatever the mode or the prefix, and never becomes instruction. What
// becomes of a message is decided by Decide alone: a pure function of the state
// of its conversation, the message and the operator's policy.
//
//	message \ state   his own turn runs   his own is parked   another's runs    none runs
//	addressed         steer | wait        join_parked         wait | context    start
//	the same, "!!"    steer               end_wait            steer_context     start
//	a stop word       stop                stop                stop | refused    withdraw_own
//	not addressed     context             context             context           context
//	may not instruct  context             context             context           context
//
// The modes choose where a cell shows two. A plain message waits behind an
// older waiting one of its author, a turn that is being stopped takes no steer,
// and a full lane refuses; a stop word that stops nothing takes back what its
// author has waiting, if there is any. A turn of another's that is parked counts
// as none. testdata/decide.golden has every case. A process sends the answers for
// all states with the message, and the step that appends it takes the one that is
// true: one implementation, one atomic step.
//
// An edit, a deletion or a stop by reaction goes the same way. DecideEdit and
// DecideDelete answer for every place in which the message may stand
// (testdata/decide_change.golden), and the step finds the true one.
//
//	place \ change   edit by its author              deletion
//	unknown          enters (young, or new mention)  its key is claimed
//	passive          enters (new mention)            blanked
//	waiting, unread  its text is replaced            withdrawn
//	began a turn     a correction, once              stops the turn
//	read as steer    a correction, once (own turn)   blanked
//	ended            nothing                         blanked
//
// # The life of a turn
//
//	waiting ── claim ──> running ──> done        its answer stands in the outbox
//	   │  ▲               │  ▲  ├──> failed      gave up; its actor is told, once
//	   │  │ wait ended    │  │  ├──> stopped     somebody stopped it
//	   │  └── parked <────┘  │  └──> abandoned   lost every worker; its actor is told, once
//	   │                     └─ next worker (orphaned, handed over: still "running")
//	   └──> withdrawn         its author may not instruct, or took it back
//
// A run holds its turn under a lease. It trusts the lease for TTL less a margin
// from when the renewal began (10 s and 2 s; renewed every 3 s); what ends the
// run otherwise (a stop, spent time, the end of the process) is a cause of the
// same context. A lost worker's turn is claimed by whichever replica looks at
// the index when its lease ends. A stopped turn that is parked has no worker to
// end it: the step that takes the stop does.
//
// While the store is away nobody can renew, so an outage makes nobody a lost
// worker: a run's write waits for as long as its lease is trusted, a run that is
// broken off is handed over by its own process once the store answers, and a
// replica takes over a turn only when the store had answered for one TTL before
// it saw the lease ended. Trouble that is too short to cost a live worker its
// lease is no outage, however often it comes: else a store that is slow now and
// then would keep a lost worker's turn waiting for good.
//
// # After a turn
//
// The step that closes a turn writes down which tasks of plugins are to follow it.
// They run once its parts have left the outbox, on any replica, each under a lease
// of its own; neither the answer nor the next turn waits for them. A message that
// another author steered into a turn can be handed back: it waits for a turn of its
// author's, and the turn that has read it keeps it as context. In the mode router
// a small model may think otherwise of where an unread message waits; it is asked
// behind the acknowledgement, and its opinion counts if nothing has changed since.
//
//	runtime.Runtime.takeTask      tries a task
//	runtime.Runtime.HandBackTool  is the tool with which the model hands back
//	runtime.Runtime.route         asks the router
//
// # A message, from the socket to its reply
//
// Each line is a function; a test fails when one is gone.
//
//	slackapp.Sockets.Run          keeps the sockets open and hands envelopes on
//	slackapp.Edge.Take            accepts an envelope and returns at once
//	slackapp.Edge.Run             takes those that have arrived together
//	slackapp.Admit                says what an event is, from its raw form alone
//	runtime.Runtime.Deliver       decides, and puts messages in one step
//	runtime.Decide                what becomes of a message in one state
//	mailbox.Box.PutAll            the first durable step; then Slack is answered
//	runtime.Runtime.advance       runs a claimed turn under its lease
//	runtime.Runtime.turn          gathers history, thread and the turn's entries
//	agent.Loop.Run                asks the model, makes its calls, reads steers
//	agent.BuildRequest            what the model sees
//	openai.Client.Complete        one whole answer, or why there is none
//	gate.Gate.Call                one tool call, or why not
//	runtime.turnLog.Close         the answer on its way out
//	mailbox.Box.Close             the second durable step: answer, outbox, state
//	slackapp.Sender.Post          drains the conversation's outbox
//	render.Render                 Markdown as Slack shows it, disarmed
package runtime
