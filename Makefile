# `make` builds, tests and lints. `make help` lists the rest.

GO      ?= go
BIN     ?= bin
PKG     ?= ./...
# What `make race` looks at: where goroutines meet. The stages left out work on one
# video at a time, most of it in ffmpeg.
RACE    ?= $(shell $(GO) list ./app/... ./modules/... ./plugins/... | grep -vE '/plugins/(internal/film|ocr|vision|speech|feed/formats)(/|$$)')
# The detector wants more memory than a confined process may have: what runs the
# sandbox, or a stage at its memory limit, is left to `make test`.
CONFINED = TestMemoryLimit|TestAgentForCredits|TestTheNextRunIsFine|TestGivingUpEndsTheProcess|TestHonestPrograms|TestHostilePrograms|TestAFileThatIsNoText|TestBigMetadata|TestBigData
# Minutes of arithmetic that `make test` does in seconds.
LONG    = TestRealTikTokScrapes|TestRealYouTubeScrapes
# Packages with benchmarks that are held against a floor.
FLOORS  = ./app ./modules/library
FUZZTIME ?= 30s

# The binary is static. The race detector alone wants a C compiler.
export CGO_ENABLED ?= 0
# All targets build alike, so that none compiles again what another has.
export GOFLAGS := $(GOFLAGS) -trimpath

.DEFAULT_GOAL := all

.PHONY: all
all: build test lint ## Build, test and lint

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/scrollery, one static binary
	$(GO) build -ldflags '-s -w' -o $(BIN)/scrollery ./cmd/scrollery

.PHONY: run
run: build ## Serve with the sample library; prints the address, a key and three curl lines
	$(BIN)/scrollery serve --sample

.PHONY: demo
demo: build ## Make the whole journey over HTTP, from checkout to trends
	$(BIN)/scrollery demo

.PHONY: test
test: ## Run the tests; PostgreSQL's too where it is found
	$(GO) test $(PKG)

.PHONY: race
race: ## Run the tests under the race detector (needs a C compiler)
	# The stacks of a race build's threads count as a confined process's memory.
	ulimit -s 1024 && CGO_ENABLED=1 $(GO) test -race -short -skip '$(CONFINED)|$(LONG)' $(RACE)

.PHONY: bench
bench: ## Run the benchmarks
	$(GO) test -run '^$$' -bench . -benchmem $(PKG)

.PHONY: floors
floors: ## Hold the benchmarks against their floors, one package at a time
	SCROLLERY_BENCH=1 $(GO) test -p 1 -count 1 -run Floor $(FLOORS)

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@GO='$(GO)' FUZZTIME='$(FUZZTIME)' .ci/fuzz

.PHONY: generate
generate: ## Regenerate proto/gen and ent; needs no network
	$(GO) run ./proto/generate
	$(GO) generate ./ent

.PHONY: generate-check
generate-check: ## Check that generate changes nothing, and that the migrations lead to ent/schema
	@.ci/unchanged ent proto -- $(MAKE) --no-print-directory generate
	$(GO) run ./ent/migrate/diff --check

.PHONY: migration
migration: ## Write the migrations that ent/schema asks for (wants SCROLLERY_TEST_POSTGRES_URL)
	$(GO) run ./ent/migrate/diff

.PHONY: lint
lint: ## go vet, staticcheck and gofumpt
	$(GO) vet $(PKG)
	$(GO) tool staticcheck $(PKG)
	@unformatted=$$($(GO) tool gofumpt -l .); [ -z "$$unformatted" ] || { echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; }

.PHONY: fmt
fmt: ## Format the code
	$(GO) tool gofumpt -w .

.PHONY: vuln
vuln: ## Look up known vulnerabilities (needs the network, so CI leaves it out)
	$(GO) run golang.org/x/vuln/cmd/govulncheck@latest ./...

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(BIN)
