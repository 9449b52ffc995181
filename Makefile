# Everything that is run by hand or by .ci/run. Budgets are for two cores with
# warm caches; .ci/run prints how long each suite took.

# Order of the tests: "on", or a seed that an earlier run printed.
SHUFFLE ?= on
# How long each fuzz target is run.
FUZZTIME ?= 10s
# How long the model checker may take; 0: until it has seen every state.
MODEL ?= 60s
# How many random histories with a hostile model make histories plays; make test
# plays 5000, the same for every change. HISTORIES_FLAGS=-seed=N plays those of an
# earlier run.
HISTORIES ?= 100000
# How many of them the binary with Redis plays; make test plays 12.
BINARY_HISTORIES ?= 200
HISTORIES_FLAGS ?= -seed=0
# Which benchmarks make bench runs.
BENCH ?= .
# The clients and servers that others wrote need node and npm, and have a target
# of their own: make conformance.
CONFORMANCE = /conformance$$
# Kills and frozen processes take their time: make chaos. CHAOS_FLAGS=-seed=N
# throws the dice of an earlier run again.
CHAOS = reeve/cmd/app/chaos
CHAOS_FLAGS ?=
# Broken code, and the tests that see it: make mutants.
MUTANTS = reeve/cmd/app/mutants
# The suite that computes most and those that wait most are begun first.
LONG = ./cmd/app/histories ./cmd/app/moods ./cmd/app/gaps
TESTED = $(shell go list $(LONG) ./... | grep -v -e '$(CONFORMANCE)' -e '^$(CHAOS)$$' -e '^$(MUTANTS)$$')
# The packages in which goroutines meet.
RACED = $(shell go list ./runtime ./runtime/mailbox ./slackapp ./slackapp/simulator ./agent/... ./plugins/gate ./plugins/mcp ./memory ./credentials/...)

# Where both targets are run, as CI does, the tests of RACED need not run twice:
# make test RACED_TOO=no leaves them to make race.
RACED_TOO ?= yes
ifeq ($(RACED_TOO),no)
TESTED := $(filter-out $(RACED),$(TESTED))
endif

.PHONY: help test race chaos bench eval lint conformance model histories mutants fuzz full deps deps-race deps-node run update

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# make lint runs all of vet, which these need not run again.
test: deps ## all tests but those of race, chaos, conformance, mutants and fuzz [2 min]
	go test -p=4 -vet=off -shuffle=$(SHUFFLE) -timeout=10m $(TESTED)
	go test -vet=off -run='^TestMutantsFitTheCode$$' $(MUTANTS)

race: deps deps-race ## tests of the packages in which goroutines meet, with the race detector [2 min]
	CGO_ENABLED=1 go test -race -p=4 -vet=off -shuffle=$(SHUFFLE) -timeout=10m $(RACED)

chaos: deps ## kill and freeze Redis and the bot while people speak; cut the append-only file [2 min]
	go test -count=1 -v -parallel=4 -timeout=120m $(CHAOS) $(CHAOS_FLAGS)

conformance: deps-node ## Slack clients that others wrote against the simulator, and MCP servers that others wrote under the mcp plugin [1 min]
	go test -count=1 -run=Conformance -timeout=5m ./slackapp/simulator/... ./plugins/mcp/conformance

model: ## the model checker of the turn machine, for MODEL (60s); it prints its frontier [1 min]
	go test -count=1 -v -run='^TestP4_Model$$' -timeout=4h ./runtime/mailbox -model.for=$(MODEL) $(MODEL_FLAGS)

histories: deps ## random histories with a hostile model, HISTORIES of them (100000), and BINARY_HISTORIES (200) through the binary [20 min]
	go test -count=1 -v -run='^TestS1_(Binary)?Histories$$' -timeout=120m ./cmd/app/histories -histories=$(HISTORIES) -binary=$(BINARY_HISTORIES) $(HISTORIES_FLAGS)

mutants: deps ## break one rule at a time, and see that a test fails each time [6 min]
	go test -count=1 -v -timeout=60m $(MUTANTS)

fuzz: ## every fuzz target for FUZZTIME (10s) [10 s a target]
	FUZZTIME=$(FUZZTIME) .ci/fuzz

# One run of everything, since figures of different runs do not compare. With
# BENCH_PROFILE=folder each bot leaves its profiles there.
bench: deps ## the table of speed, beside a naive bot [3 min]
	go test -run='^$$' -bench=$(BENCH) -benchtime=1x -timeout=20m ./cmd/app/bench ./memory

# A real model answers differently each time, and is paid for: this is run by
# hand. OPENAI_MODEL, OPENAI_API_KEY or OPENAI_BASE_URL, and ROUTER_MODEL.
eval: ## score a real model on routing, on who said what, and on what others ask for mid-run [5 min]
	go test -count=1 -v -tags=eval -run='^TestEval$$' -timeout=60m ./agent/eval

# The tag adds the tests of make eval, and takes nothing away.
lint: ## gofmt, go vet, staticcheck [40 s]
	@test -z "$$(gofmt -l .)" || { echo "run gofmt -w on:"; gofmt -l .; exit 1; }
	go vet -tags=eval ./...
	go tool staticcheck -tags=eval ./...

full: lint test race conformance mutants bench ## everything, with long chaos, each state of the model, 100,000 histories, and each fuzz target for a minute [60 min]
	$(MAKE) model MODEL=0
	$(MAKE) histories
	$(MAKE) chaos CHAOS_FLAGS='-rounds=200 -every'
	FUZZTIME=60s .ci/fuzz

deps: ## bring redis-server and chromium, which tests start (Debian, root), or say what to install [1 min]
	@.ci/deps redis-server chromium

deps-race: ## bring a C compiler, which the race detector needs, or say what to install [1 min]
	@.ci/deps cc

deps-node: ## bring node and npm, which conformance needs, or say what to install [1 min]
	@.ci/deps node npm

update: ## rewrite the files that are made from code: .env.example, manifest.yml, tables, golden files [1 min]
	go test ./cmd/app -update
	go test ./cmd/app/golden -run=TestConversations -update

run: ## try the bot in the browser, without an account or a key
	go run ./cmd/reeve playground
