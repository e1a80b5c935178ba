# `make` builds, tests and lints. `make help` lists the rest.

GO      ?= go
BIN     ?= bin
PKG     ?= ./...
# Suites that start browsers and compilers of other languages: make heavy runs what make test
# leaves out. make hostile attacks the box of plugins. .ci/run calls both.
HEAVY   = ./app/browser ./docs/clients
# Tests that SCROLLERY_TEST_LONG makes whole, or runs at all: more kills, customers and data.
WHOLE   = TestKitOfOtherLanguages|TestKitsKeepStatesAndCheck|TestKitsSayWhatIsWrong|TestKitOfEachKind|TestExtendPage|TestRSSPage|TestScreensOfTheKitsLookAtEvidence|TestCheckNamesTheBrokenRule|TestPackages|TestPackagesOfPlugins|TestServerKilledInEveryStage|TestMoneyInterleavings|TestImportKilled|TestCommandsBesideABusyServer|TestNoCreditsAreLostByFaults|TestRealDataFollowsTheRules|TestListsFollowTheRules|TestThinningChangesNothingListed|TestAYearByTheClock
WHOLE_PKG = ./cmd/scrollery ./modules/billing/credits ./modules/library
# Those of them of which make test runs all but the number of tries: make thorough has them whole.
LARGEST = TestServerKilledInEveryStage|TestMoneyInterleavings|TestImportKilled|TestCommandsBesideABusyServer|TestNoCreditsAreLostByFaults
# What `make race` tests: the packages whose own code starts goroutines or guards data
# that they share. `make thorough` tests all: app too, whose tests run all modules together, and
# the packages left out at the end, which mostly wait for processes, servers or a database.
RACE    ?= $(shell grep -rlE --include='*.go' --exclude='*_test.go' '^[[:space:]]*(defer )?go |\.Go.func|\<(sync\.(RW)?Mutex|sync\.Map|atomic\.)' app/ops app/host modules plugins | xargs -n 1 dirname | grep -vE 'test$$|plugins/ytdlp|modules/(keys|sandbox|changes/webhooks)$$' | sort -u | sed 's,^,./,')
RACE_ALL = ./app/... ./modules/... ./plugins/...
# The race detector needs more memory than a confined process may have: `make test` alone
# runs these tests of the box, of the sandbox and of memory limits.
CONFINED = TestHostileGo|TestHostilePython|TestLocksTellNothing|TestProxyIsReached|TestBoundsOfTheBox|TestMemoryOfChildrenCounts|TestFull|TestFoldersOfTheHostAreBounded|TestHonestPluginsLive|TestSharedMemoryCountsOnce|TestNothingIsLeft|TestNoProcessIsLeft|TestExitsOfThePlugin|TestPluginsComeAfterTheServer|TestMemoryLimit|TestAgentForCredits|TestTheNextRunIsFine|TestGivingUpEndsTheProcess|TestHonestPrograms|TestHostilePrograms|TestAFileThatIsNoText|TestBigMetadata|TestBigData|TestTwoServersShareTheSandbox|TestCallsHaveGroups|TestTheKernelBoundsProcesses|TestAHelper
# Computations that start nothing at once and take long under the race detector: `make test`
# alone runs these.
LONG    = TestABombIsNoExport|TestDropsOfPlainRules|TestDropsOfMarketersSentences|TestMarketersSentences|TestLongRulesCompileInTime|TestRealTikTokScrapes|TestRealYouTubeScrapes|TestRealDataFollowsTheRules|TestListsFollowTheRules|TestFiltersChooseWhatTheListHas|TestExamplesByHand|TestListedTrendsPage|TestTrendsAreFiltered|TestFactsAsReflected|TestRenderAsReflected|TestLargeWindowsAreExplainedFromWhatIsStored|TestSearchesFindWhatEarlierVersionsStored|TestBacktestOf|OfSightings|TestWordsByParts|TestFoldOfEveryRune|TestOpeningOfTheFirstWords|TestTermsAreDistinct
space   := $(subst ,, )
# Bars that are measured by hand: some are known to be missed.
MEASURES = TestOneTenantAtFullRate|TestEveryOperationAtOnce|TestALargeLibraryInTheBrowser
# Packages with tests of the bars of speed, and of what others notice of one caller.
FLOORS  = ./app ./modules/keys ./modules/library
BENCH   ?= 1
FUZZTIME ?= 30s
# Many tests mostly wait, for processes and for time: more of them than processors run at once,
# in two more packages than there are processors.
PARALLEL ?= 6
PACKAGES ?= $(shell expr $$(nproc) + 2)
# The packages that take longest start first: the last one would run alone.
SLOWEST  = app|cmd/scrollery|modules/library|modules/scrolls|plugins/rules|plugins/ytdlp

# The binary is static. Only the race detector needs a C compiler.
export CGO_ENABLED ?= 0
# All targets use the same flags, so that they share the build cache.
export GOFLAGS := $(GOFLAGS) -trimpath

.DEFAULT_GOAL := all

.PHONY: all
all: build test lint ## Build, test and lint

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: console ## Build bin/scrollery, one static binary with the console
	$(GO) build $$([ ! -e $(BUNDLE) ] || echo -tags console) -ldflags '-s -w' -o $(BIN)/scrollery ./cmd/scrollery
	@[ -e $(BUNDLE) ] || echo 'Built without the console: it needs npm (Debian: nodejs npm) and its registry. Then run make build again.'

# The console's packages come with npm. Without them, everything else is built.
BUNDLE := modules/console/dist/console.js
NPM    := $(shell command -v npm 2>/dev/null)

.PHONY: console
console: ## Bundle the console, if npm is there and its sources changed
	@$(if $(NPM),$(GO) run ./modules/console/bundle,:)

.PHONY: man
man: build ## Write the manual pages into bin/man1
	$(BIN)/scrollery man $(BIN)/man1

.PHONY: kits
kits: ## Build the wheel and the npm tarball for authors of plugins, into bin/kits
	rm -rf $(BIN)/kits && mkdir -p $(BIN)/kits
	$(GO) run ./cmd/scrollery plugins kit --lang python $(BIN)/kits/python
	$(GO) run ./cmd/scrollery plugins kit --lang ts $(BIN)/kits/ts
	/usr/bin/python3 -m pip wheel --quiet --no-deps --no-build-isolation --no-index -w $(BIN)/kits $(BIN)/kits/python
	cd $(BIN)/kits/ts && npm pack --silent --pack-destination ..

.PHONY: run
run: build ## Serve with the sample library; prints the address, a key and four curl lines
	$(BIN)/scrollery serve --sample

.PHONY: demo
demo: build ## Run the whole journey over HTTP, from checkout to trends
	$(BIN)/scrollery demo

.PHONY: test
test: ## Run the tests, on PostgreSQL too if there is one
	@# lint vets what this tests.
	$(GO) test -vet=off -timeout 20m -p $(PACKAGES) -parallel $(PARALLEL) $$($(GO) list $(PKG) | grep -vE '$(subst $(space),|,$(HEAVY:./%=/%$$))' | \
		sed -E 's,^,2 ,; s,^2 (.*scrollery/($(SLOWEST)))$$,1 \1,' | sort -s -k 1,1 | cut -d ' ' -f 2)

.PHONY: heavy
heavy: console ## Run the suites of the console in a browser, of clients and kits in other languages, and of large data
	$(GO) test -timeout 20m -p 1 $(HEAVY)
	SCROLLERY_TEST_LONG=1 $(GO) test -timeout 20m -parallel $(PARALLEL) -run '^($(WHOLE))$$' -skip '^($(LARGEST))$$' $(WHOLE_PKG)

.PHONY: browser
browser: console ## Make the journey in a real browser; SCROLLERY_SCREENSHOTS names a folder for pictures
	$(GO) test -count 1 ./app/browser

# The pictures that the README shows, of those that the journey takes.
PICTURES = outliers-light rules-preview-light trends-dark

.PHONY: screenshots
screenshots: ## Take the pictures of the README again, in docs/screenshots
	mkdir -p $(BIN)/screenshots docs/screenshots
	SCROLLERY_SCREENSHOTS=$(CURDIR)/$(BIN)/screenshots CI=1 $(MAKE) --no-print-directory browser
	cp $(PICTURES:%=$(BIN)/screenshots/%.png) docs/screenshots

.PHONY: race
race: ## Run the race detector where goroutines share data (needs a C compiler)
	# The stacks of threads count as memory of a confined process. A process of the race detector sleeps
	# before it ends. All take several times the processor, so fewer run at once.
	ulimit -s 1024 && CGO_ENABLED=1 GORACE=atexit_sleep_ms=0 $(GO) test -vet=off -race -short -p $(shell expr $(PACKAGES) - 1) -parallel 4 -skip '$(CONFINED)|$(LONG)' $(RACE)

.PHONY: hostile
hostile: ## Attack the box of plugins, as this user and, if that is root, as an ordinary one
	GO='$(GO)' .ci/hostile

.PHONY: bench
bench: ## Run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(PKG)

# The most bytes of the program. The bar is missed: it is held to what it is, but by strict. A
# library for spreadsheets took 5 million more, deletions, feeds and the units of text 2.5, and
# sweeps, the rotation of the key and the console's first page 0.2, accounts' own keys of sources 0.5, collections, recipes and thinning 1.1,
# public pages and the log of removals, with four tables, 0.9, archives of plugins, their checks and their states 0.8,
# prices of plugins, German readings and kinds of tables 0.2, bounds of records and more kinds of
# tables and rules another 0.2, tables with a row for each count, languages, all verbs of
# plugins and orders of the operator 0.16.
MOST = $(if $(filter strict,$(BENCH)),55000000,86560000)

.PHONY: floors
floors: build ## Check the bars of speed, one package at a time, with nothing else running; BENCH=strict fails on known misses
	@bytes=$$(wc -c < $(BIN)/scrollery); echo "$(BIN)/scrollery: $$bytes bytes, at most $(MOST)"; [ $$bytes -le $(MOST) ]
	SCROLLERY_BENCH=$(BENCH) $(GO) test -p 1 -count 1 -run Floor $(FLOORS)

.PHONY: measures
measures: console ## Measure what others notice of one tenant, and the console on a large library: a quarter of an hour, with nothing else running
	SCROLLERY_BENCH=$(BENCH) $(GO) test -p 1 -count 1 -timeout 1h -run '$(MEASURES)' ./app ./app/browser

# A folder beside the tree that measures the server, its peers and the least that a server
# can do. It is no part of the tree.
YARDSTICK ?= ../shared/bench
YARDSTICK_SYSTEMS ?= limit-sqlite,limit-sqlite+durable,scrollery

# Two of the systems are this server, side by side.
yardstick: export SCROLLERY_OPS_ADDR = 127.0.0.1:0
.PHONY: yardstick
yardstick: ## Compare with peers: load, growth, neighbours (20 minutes, with nothing else running)
	@[ -x $(YARDSTICK)/bench.sh ] || { echo 'There is no yardstick at $(YARDSTICK), which is not a part of this tree. Name its folder: make yardstick YARDSTICK=…' >&2; exit 1; }
	$(YARDSTICK)/setup.sh
	$(YARDSTICK)/peers/scrollery/scrollery.sh build .
	$(YARDSTICK)/bench.sh load -n 10000 -rounds 3 -dur 2 -systems $(YARDSTICK_SYSTEMS),scrollery-first,pocketbase -workloads outliers,hooks,trends,scroll-get,health
	$(YARDSTICK)/bench.sh load -n 10000 -rounds 3 -dur 2 -systems limit-sqlite+durable,scrollery,pocketbase -workloads annotate
	$(YARDSTICK)/bench.sh grow -systems $(YARDSTICK_SYSTEMS)
	$(YARDSTICK)/bench.sh neighbour -n 20000 -systems limit-sqlite+durable,scrollery

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@GO='$(GO)' FUZZTIME='$(FUZZTIME)' .ci/fuzz

.PHONY: thorough
thorough: ## Run all checks for longer: every package under the race detector, 10^5 cases of each property of scores, 30s for each fuzz target
	$(MAKE) --no-print-directory build generate-check lint test heavy demo
	SCROLLERY_TEST_LONG=1 $(GO) test -timeout 1h -parallel $(PARALLEL) -run '^($(LARGEST))$$' $(WHOLE_PKG)
	SCROLLERY_TEST_CASES=100000 SCROLLERY_TEST_LONG=1 $(GO) test -count 1 -timeout 2h ./modules/library/score
	$(MAKE) --no-print-directory race RACE='$(RACE_ALL)'
	$(MAKE) --no-print-directory floors
	$(MAKE) --no-print-directory fuzz FUZZTIME=30s

.PHONY: generate
generate: ## Regenerate proto/gen and ent; needs no network
	$(GO) run ./proto/generate
	$(GO) generate ./ent

.PHONY: generate-check
generate-check: ## Check that generated code and migrations are current
	@.ci/unchanged ent proto -- $(MAKE) --no-print-directory generate
	$(GO) run ./ent/migrate/diff --check

.PHONY: protos
protos: ## Export the public .proto files into bin/protos: they need no registry and no other file
	$(GO) run ./proto/generate/export $(BIN)/protos

# buf is built from the module proxy. It asks no registry: its inputs are images, which
# need nothing else.
BUF ?= $(GO) run github.com/bufbuild/buf/cmd/buf@v1.75.0

.PHONY: protos-check
protos-check: protos ## buf lint, and buf breaking against proto/released.binpb (the first time, it builds buf)
	$(BUF) lint proto/gen/descriptors.binpb --path scrollery --config proto/buf.yaml
	$(BUF) breaking $(BIN)/protos/descriptors.binpb --against proto/released.binpb --config proto/buf.yaml

# It comes from the module proxy, as buf does. The client of oapi-codegen makes a journey in make heavy.
OGEN ?= $(GO) run github.com/ogen-go/ogen/cmd/ogen@v1.25.0

.PHONY: clients-go
clients-go: ## Generate a client in Go for REST with ogen, and build it (the first time, it builds ogen)
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	$(OGEN) -target "$$dir/api" -package api proto/gen/openapi/openapi.json && \
	cd "$$dir" && $(GO) mod init clients && $(GO) mod tidy && $(GO) build ./...

.PHONY: protos-released
protos-released: protos ## Make today's public .proto files those of the last release, for buf breaking
	cp $(BIN)/protos/descriptors.binpb proto/released.binpb

.PHONY: migration
migration: ## Append the migrations NAME=… for changes of ent/schema (needs SCROLLERY_TEST_POSTGRES_URL)
	$(GO) run ./ent/migrate/diff --name "$(NAME)"

.PHONY: lint
lint: ## go vet, staticcheck and gofumpt
	$(GO) vet $(PKG)
	$(GO) tool staticcheck $(PKG)
	@unformatted=$$($(GO) tool gofumpt -l .); [ -z "$$unformatted" ] || { echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; }

.PHONY: fmt
fmt: ## Format the code
	$(GO) tool gofumpt -w .

.PHONY: vuln
vuln: ## Look up known vulnerabilities (needs the network; not part of CI)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@latest ./...

.PHONY: release
release: ## Build dist/ from the committed tree: four platforms, checksums, lists of modules
	.ci/release dist

.PHONY: clean
clean: ## Remove bin, dist and what the console was bundled from
	rm -rf $(BIN) dist modules/console/dist modules/console/gen modules/console/node_modules
