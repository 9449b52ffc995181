package mutants

// The tests of the mailbox that a mutant has to get past, cheapest first. The
// model checker needs no server.
const (
	mailbox  = "./runtime/mailbox"
	model    = "TestP4_Model"
	vault    = "./credentials"
	memories = "./memory"
)

var shortModel = []string{"-model.for=20s", "-model.seed=1"}

// Random histories with a hostile model.
const (
	histories = "./cmd/app/histories"
	played    = "TestS1_Histories"
)

var fewHistories = []string{"-seed=1", "-histories=500"}

var mutants = []mutant{
	{
		what: "fence dropped",
		changes: []change{{"runtime/mailbox/prelude_turns.lua",
			"  return t[1] == 'running' and t[2] == token\n", "  return t[1] == 'running'\n"}},
		pkg: mailbox, tests: model + "|TestP5_LostWorkerIsRefusedAndWritesNothing", args: shortModel,
	},
	{
		what: "dedupe after commit: a message is known only when a turn has taken it",
		changes: []change{{"runtime/mailbox/put.lua",
			"if known[1] and not (known[1] == 'passive' and has('a')) then",
			"if known[1] and known[1] ~= 'waiting' and known[1] ~= 'steer' and not (known[1] == 'passive' and has('a')) then"}},
		pkg: mailbox, tests: model + "|TestP3_EntersOnceAndEveryRetryIsAnsweredAsTheFirst", args: shortModel,
	},
	{
		what: "acknowledgement before the put",
		changes: []change{
			{"slackapp/edge_lanes.go", "		messages[i] = it.message\n",
				"		messages[i] = it.message\n			for _, d := range it.deliveries {\n				d.Ack()\n			}\n"},
		},
		pkg: "./slackapp", tests: "TestP1_AcknowledgedWhenDurable",
	},
	{
		what: "local clock for lease truth",
		changes: []change{
			{"runtime/mailbox/claim.go", "		lostBy = strconv.FormatInt(next.LostBy.UnixMilli(), 10)\n	}\n",
				"		lostBy = strconv.FormatInt(next.LostBy.UnixMilli(), 10)\n	}\n	lostBy = strconv.FormatInt(time.Now().UnixMilli(), 10)\n"},
			{"runtime/mailbox/claim.lua", "local now = now_ms()", "local now = tonumber(ARGV[11])"},
		},
		pkg: mailbox, tests: model, args: shortModel,
	},
	{
		what:    "default client retries",
		changes: []change{{"runtime/mailbox/open.go", "o.MaxRetries = -1", "o.MaxRetries = 3"}},
		pkg:     mailbox, tests: "TestP10_TheClientRepeatsNothingByItself",
	},
	{
		what: "commit in two scripts: the closing's entries are written first, by a step of their own",
		changes: []change{{"runtime/mailbox/turn.go", "	conv := c.Conversation\n	args := []any{b.keys.of(conv)",
			"	conv := c.Conversation\n	if _, err := b.Commit(ctx, Commit{Ref: c.Ref, Number: c.Number, Entries: c.Entries}); err != nil {\n" +
				"		return Closing{}, err\n	}\n	c.Number, c.Entries = c.Number+1, nil\n	args := []any{b.keys.of(conv)"}},
		pkg: mailbox, tests: "TestP5_StopAndDoneRaceInBothOrders|TestP5_RoundTripsFromMentionToReply",
	},
	{
		what: "reaper without token: a turn is abandoned under any",
		changes: []change{{"runtime/mailbox/close.lua", "if t[1] ~= 'running' or t[2] ~= token then return {} end",
			"if t[1] ~= 'running' or t[2] ~= token and outcome ~= 'abandoned' then return {} end"}},
		pkg: mailbox, tests: model, args: shortModel,
	},
	{
		what: "reaper without token: the last lost worker keeps the turn's",
		changes: []change{{"runtime/mailbox/claim.lua", "return answer(attempts, lease(c, run, by, now))",
			"if attempts > tonumber(ARGV[8]) then return answer(attempts, t[2]) end\nreturn answer(attempts, lease(c, run, by, now))"}},
		pkg: mailbox, tests: model + "|TestP8_ExhaustedTurnIsAbandonedUnderANewToken", args: shortModel,
	},
	{
		what: "a claim takes waiting messages while a turn waits for a worker",
		changes: []change{{"runtime/mailbox/prelude_turns.lua", "  if redis.call('HEXISTS', conv_key(c), 'run') == 1 then return false end\n  local waits",
			"  local runs = redis.call('HGET', conv_key(c), 'run')\n" +
				"  if runs and tonumber(redis.call('HGET', turn_key(runs), 'until')) > now then return false end\n  local waits"}},
		pkg: mailbox, tests: model, args: shortModel,
	},
	{
		what:    "an end of a wait ends whatever the turn waits for",
		changes: []change{{"runtime/mailbox/end_wait.lua", "wait ~= '' and (wait ~= t[3] or over)", "wait ~= '' and over"}},
		pkg:     mailbox, tests: model + "|TestP4_AnOldEndEndsNoLaterWait", args: shortModel,
	},
	{
		what: "anybody's click is an answer",
		changes: []change{{"runtime/mailbox/end_wait.lua",
			"if who ~= '' and t[5] and t[5] ~= who then return {2} end\n", ""}},
		pkg: mailbox, tests: model + "|TestP5_AClickIsTheActorsToTheWaitOnTheCard", args: shortModel,
	},
	{
		what: "an answer that a stop has undone stays on its card",
		changes: []change{{"runtime/mailbox/end_wait.lua",
			"if #parts == 0 then void(c, turn, how, now) end", "if #parts == 0 then void(c, turn, how, now) end\nredis.call('HDEL', turn_key(turn), 'void')"}},
		pkg: mailbox, tests: model + "|TestP5_AnAnswerThatNoWorkerHasTakenUpIsUndone", args: shortModel,
	},
	{
		what:    "the look is skipped after a post of which nobody knows how it ended",
		changes: []change{{"slackapp/sender_try.go", "		a.open = f.kind == failOpen\n", "		a.open = false\n"}},
		pkg:     "./slackapp", tests: "TestP7_Once",
	},
	{
		what:    "a successor looks for the first part of a thread alone",
		changes: []change{{"slackapp/sender_drain.go", "queue[0].look)\n", "queue[0].look)\n\t\tfor i := range d.queues[to] {\n\t\t\td.queues[to][i].look = false\n\t\t}\n"}},
		pkg:     "./slackapp", tests: "TestP7_SuccessorLooksForEach",
	},
	{
		what:    "who slept past an attempt's deadline completes it",
		changes: []change{{"slackapp/client.go", "punctual{transport},", "transport,"}},
		pkg:     "./slackapp", tests: "TestP7_NothingIsPostedAfterItsDeadline",
	},
	{
		what:    "what an app has posted is admitted as a person's",
		changes: []change{{"slackapp/admit_author.go", "	if ev.stamped() {", "	if ev.stamped() && !isUserID(ev.User) {"}},
		pkg:     "./slackapp", tests: "TestAdmissionByAuthor",
	},
	{
		what: "another's steer stands as an instruction",
		changes: []change{{"runtime/transcript.go", "m.Entries(r.turn, chat.Context, chat.Steer)",
			"m.Entries(r.turn, chat.Instruction, chat.Steer)"}},
		pkg: "./runtime", tests: "TestAForcedSteerOfAnotherIsContext",
	},
	{
		what: "any steer stands as the request in the prompt",
		changes: []change{{"agent/own.go", "e.Role == chat.UserRole && e.Authority() == chat.Instruction && e.Author() == p.turn.Actor &&",
			"e.Role == chat.UserRole &&"}},
		pkg: "./agent", tests: "TestOnlyTheActorsWordsOfThisTurnStandAsTheRequest|TestSteeredContextIsNamed",
	},
	{
		what: "what was handed back is still carried: its turn's end makes it a follow-up once more",
		changes: []change{{"runtime/mailbox/hand_back.lua",
			"redis.call('HDEL', turn_key(turn), 'u:' .. ts, 'k:' .. ts)\n", ""}},
		pkg: mailbox, tests: model + "|TestHandedBackMessageIsNoFollowUpASecondTime", args: shortModel,
	},
	{
		what:    "a task before its turn's answer is posted",
		changes: []change{{"runtime/mailbox/prelude_tasks.lua", " or has_unsent(c, turn)", ""}},
		pkg:     mailbox, tests: "TestTaskIsDueOnceTheAnswerIsPosted",
	},
	{
		what:    "a task without fence: whoever lost it says that it is done",
		changes: []change{{"runtime/mailbox/task_end.lua", "if t[1] ~= ARGV[4] then return {} end\n", ""}},
		pkg:     mailbox, tests: "TestTaskIsHeldByOneWorkerUnderItsLease",
	},
	{
		what:    "a seal that is not bound to its person",
		changes: []change{{"credentials/seal.go", "string(b.Team), string(b.User), b.Provider", "string(b.Team), b.Provider"}},
		pkg:     vault, tests: "TestWhatIsSealedOpensForItsBindingAlone",
	},
	{
		what:    "a refresh token spent again: an intent is taken over when its time is over",
		changes: []change{{"credentials/intend.lua", "if f[2] then return", "if f[2] and tonumber(f[3]) > now then return"}},
		pkg:     vault, tests: "TestAnIntentThatNobodyFinishesBreaksTheAccount",
	},
	{
		what:    "a renewal lost: rotation writes over what it has not read",
		changes: []change{{"credentials/rewrap.lua", "if sealed ~= ARGV[1] then return {0} end", "if not sealed then return {0} end"}},
		pkg:     vault, tests: "TestRotationLosesNoRenewal",
	},
	{
		what:    "a write passes in a conflict",
		changes: []change{{"plugins/gate/judge.go", "return Verdict{Ask, RuleConflictWrites}", "return Verdict{Pass, RuleWrites}"}},
		pkg:     histories, tests: played, args: fewHistories,
	},
	{
		what:    "who was allowed a call may make it again under another id",
		changes: []change{{"plugins/gate/situation.go", "if c.Call == of.call && c.Hash == of.hash && c.Provider", "if c.Hash == of.hash && c.Provider"}},
		pkg:     histories, tests: played, args: fewHistories,
	},
	{
		what: "calls that were journalled when somebody had allowed them are made again after a crash",
		changes: []change{{"agent/consent.go", "return e.Decision != nil && slices.Contains(e.Decision.Begun, call)",
			"return false && e.Decision != nil"}},
		pkg: histories, tests: played, args: fewHistories,
	},
	{
		what: "what was allowed in a conflict stays so when another steers once more",
		changes: []change{{"plugins/gate/situation.go",
			"s.Past.Provider = false", ""}},
		pkg: histories, tests: played, args: fewHistories,
	},
	{
		what: "anybody's click counts",
		changes: []change{{"runtime/mailbox/end_wait.lua",
			"if who ~= '' and t[5] and t[5] ~= who then return {2} end\n", ""}},
		pkg: histories, tests: played, args: fewHistories,
	},
	{
		what:    "a card stays as it is when nobody can answer it any more",
		changes: []change{{"runtime/ask.go", "p.Void = &chat.Part{", "_ = &chat.Part{"}},
		pkg:     histories, tests: played, args: fewHistories,
	},
	{
		what:    "an allowed call is made before the log says so",
		changes: []change{{"agent/consent.go", "d.Begun = append(d.Begun, open[i].ID)", "_ = i"}},
		pkg:     histories, tests: played, args: fewHistories,
	},
	{
		what:    "calls that were not ticked are made",
		changes: []change{{"agent/consent.go", "w.How == chat.ByAnswer && slices.Contains(w.Allowed, c.ID),", "w.How == chat.ByAnswer,"}},
		pkg:     histories, tests: played, args: fewHistories,
	},
	{
		what: "personal extraction is given everything in the turn",
		changes: []change{{"memory/evidence.go",
			"return run.Instruction(e) && (e.Origin == chat.Request || e.Origin == chat.Steer)", "return e.Turn == run.Turn"}},
		pkg: memories, tests: "TestNothingOfOthersBecomesAlicesMemory|TestWhatIsRememberedForAliceIsWordedFromHerWordsAlone",
	},
	{
		what:    "two tries of one task write both",
		changes: []change{{"memory/book.go", "case wrote[m.By] || b.says(m, now):", "case false && wrote[m.By] || b.says(m, now):"}},
		pkg:     memories, tests: "TestTwoTriesOfOneTaskAtOnceWriteOnce",
	},
}
