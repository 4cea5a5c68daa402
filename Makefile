# Ambit. `make` alone lists the targets.

GO       ?= go
ARGS     ?=
BENCH    ?= .
FUZZTIME ?= 10s
TIMEOUT  ?= 20m
TURNS    ?= 10000
SEED     ?= 1

GOFUMPT     = $(GO) run mvdan.cc/gofumpt@v0.12.0
STATICCHECK = $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Tests read REQUIREMENTS.md and recorded traffic from here, where it exists.
ifneq ($(wildcard ../shared),)
export AMBIT_SHARED ?= $(abspath ../shared)
endif

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# How the command is built, wherever it goes.
define compile
@version=$$(git describe --tags --always --dirty 2>/dev/null) || version=; \
CGO_ENABLED=0 $(GO) $(1) -trimpath -buildvcs=false -ldflags "$${version:+-X main.version=$$version}" $(2) ./cmd/ambit
endef

.PHONY: build
build: ## build bin/ambit
	$(call compile,build,-o bin/ambit)

.PHONY: install
install: ## install ambit where go install puts commands
	$(call compile,install,)
	@bin=$$($(GO) env GOBIN); echo "installed $${bin:-$$($(GO) env GOPATH)/bin}/ambit"

.PHONY: demo
demo: build ## record a scripted agent's work offline, then prove every byte of it
	@bin/ambit demo

.PHONY: test
test: ## run all tests, with the race detector where it can be built (ARGS=-v for more)
	@race=; cc=$$($(GO) env CC); \
	if ! command -v "$${cc%% *}" >/dev/null 2>&1; then \
		echo "make test: without the race detector: no C compiler ($${cc:-none named})"; export CGO_ENABLED=0; \
	elif ! why=$$(CGO_ENABLED=1 $(GO) test -race -run '^$$' . 2>&1); then \
		echo "make test: without the race detector: it cannot be built here:"; printf '%s\n' "$$why"; \
	else \
		race=-race; export CGO_ENABLED=1; \
	fi; \
	$(GO) test $$race -timeout $(TIMEOUT) $(ARGS) ./... && \
	if [ -n "$$race" ]; then $(GO) test -timeout $(TIMEOUT) $(ARGS) -run '$(LONG)' ./internal/selection ./internal/replay; fi

# Tests that do a tenth of their work under the race detector, and all of it without.
LONG := ^(TestConstraintsSurvive|TestOwnBars)$$

.PHONY: test-clients
test-clients: build ## let nine real clients work through ambit up, as ambit setup has it, under each policy, offline; npm installs them the first time
	$(GO) test -tags clients -count=1 -timeout $(TIMEOUT) -v -run '^TestClients' ./cmd/ambit $(ARGS)

.PHONY: bench
bench: ## run the benchmarks (BENCH=NAME for some)
	@dirs=$$(grep -rl --include='*_test.go' '^func Benchmark' . | sed 's,/[^/]*$$,,' | sort -u); \
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 60m $$dirs

.PHONY: fuzz
fuzz: ## fuzz every decoder for FUZZTIME each
	@list=$$($(GO) test -list '^Fuzz' ./...) || { printf '%s\n' "$$list"; exit 1; }; \
	targets=$$(printf '%s\n' "$$list" | awk '/^Fuzz/ { names = names " " $$1 } /^ok/ { $$0 = $$2 names; if (NF > 1) print; names = "" }'); \
	[ -n "$$targets" ] || { echo "make fuzz: no fuzz targets" >&2; exit 1; }; \
	printf '%s\n' "$$targets" | while read -r package names; do \
		for name in $$names; do \
			echo "== $$package $$name"; \
			$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$package" </dev/null || exit 1; \
		done; \
	done

.PHONY: sim
sim: ## play TURNS turns of simulated sessions from seed SEED on, with faults and crashes, and check every law (ARGS='-sim.part=loop -sim.seed=N' for one again)
	GOGC=400 $(GO) test ./internal/sim -count=1 -run '^TestSim$$' -v -timeout 24h -sim.turns=$(TURNS) -sim.first=$(SEED) $(ARGS)

.PHONY: requirements
requirements: ## list every requirement with the tests that cover it; fail on what is due and is not covered
	@out=$$($(GO) test -count=1 -run '^TestRequirements$$' -v . 2>&1); status=$$?; \
	printf '%s\n' "$$out" | grep -v -e '^=== RUN' -e '^--- PASS' -e '^PASS$$'; exit $$status

.PHONY: lint
lint: ## check format, vet, staticcheck
	@out=$$($(GOFUMPT) -l .) || exit 1; \
	[ -z "$$out" ] || { echo "make lint: gofumpt would change:"; printf '%s\n' "$$out"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags clients ./cmd/ambit
	$(STATICCHECK) ./...
	$(STATICCHECK) -tags clients ./cmd/ambit

.PHONY: clean
clean: ## remove what build made
	rm -rf bin
