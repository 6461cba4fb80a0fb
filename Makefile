# Every target leans on `bootstrap`, or on the small `bootstrap-build` where it only builds the
# program; what needs more than three lines stands in Scripts/.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help bootstrap bootstrap-build bootstrap-traits build smoke release generate check \
	check-generated check-protos check-format check-scripts check-rules check-docs check-deploy \
	docs format test test-swift test-interop build-tests clients test-clients test-libraries \
	test-nats cluster cluster-kafka fuzz fuzz-short fuzz-stack fuzz-stack-short simulate \
	simulate-short simulate-year verify run demo dist bench bench-http bench-micro clean

SIGHTLINE := .build/debug/sightline
GENERATED := Sources/Base/SightlineProtos/Generated
FIELD_TAGS := Sources/Core/TrackingRules/Generated/FieldTag.swift

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

bootstrap: ## Install what is missing: system packages (asks before sudo) and .venv
	@Scripts/bootstrap dev

bootstrap-build: ## Install only what the program needs: what build, run and demo do by themselves
	@Scripts/bootstrap build

bootstrap-traits: ## Install only what the program with every trait needs
	@Scripts/bootstrap traits

build: bootstrap-build ## Build the debug program
	Scripts/swift-build --product sightline

.PHONY: build-conformance
build-conformance: bootstrap-build ## Build the program that tries clients, and backends of the grpc sink
	Scripts/swift-build --product sightline-conformance

# What CI never sees, as it builds with every trait.
smoke: build ## The debug program without traits: the demo, and the sinks that it does not have
	PROGRAM=$(SIGHTLINE) Scripts/demo
	$(SIGHTLINE) config print --set sink=nats 2>&1 | grep -q 'swift build --traits NATS'
	$(SIGHTLINE) config print --set sink=kafka 2>&1 | grep -q 'swift build --traits Kafka'
	$(SIGHTLINE) config print --set sink=postgresql 2>&1 | grep -q 'swift build --traits PostgreSQL'

release: bootstrap-build ## Build the release program
	Scripts/swift-build -c release --product sightline
	Scripts/swift-build -c release --product sightline-conformance

generate: bootstrap ## Generate the code from Protos
	Scripts/generate $(GENERATED)
	Scripts/generate-go
	.venv/bin/python Scripts/field-tags > $(FIELD_TAGS)

check: check-deploy ## All checks
check: check-generated check-protos check-format check-scripts check-rules check-docs check-api \
	check-planted

check-generated: bootstrap ## Prove that the generated code is current
	Scripts/check-generated $(GENERATED)
	Scripts/generate-go --check
	.venv/bin/python Scripts/field-tags | diff $(FIELD_TAGS) - # another: run make generate

check-protos: bootstrap ## Lint the protos and compare them with the newest landed main
	Scripts/check-protos

docs: build ## Generate docs/configuration.md from the program's keys
	@mkdir -p docs && $(SIGHTLINE) config print --markdown > docs/configuration.md

.PHONY: vectors
vectors: bootstrap ## Make docs/vectors by the tests' oracles
	.venv/bin/python Tests/Interop/vectors.py

.PHONY: check-api docs-api
docs-api: bootstrap ## Generate docs/api.md from Protos
	.venv/bin/python Scripts/api-docs > docs/api.md

check-format: bootstrap ## Check the format of hand-written Swift
	swift format lint --strict --recursive --parallel Package.swift Plugins Sources Tests Benchmarks/bare Benchmarks/micro

check-scripts: bootstrap ## Run shellcheck over the shell scripts
	Scripts/check-scripts

check-rules: bootstrap ## List the rules of docs/rules.md that no test names
	python3 Scripts/check-rules

check-docs: bootstrap ## List package declarations without a doc comment
	python3 Scripts/check-docs

check-api: bootstrap ## Prove that docs/api.md is what Protos say
	.venv/bin/python Scripts/api-docs --check

check-deploy: bootstrap ## Check Deploy: alerts and their tests, dashboard, unit, manifests
	.venv/bin/python Scripts/check-deploy

.PHONY: check-planted
check-planted: ## Prove that each bug of Scripts/planted-bugs has its place in the sources
	Scripts/planted-bugs --places

format: bootstrap ## Format hand-written Swift in place
	swift format --in-place --recursive --parallel Package.swift Plugins Sources Tests Benchmarks/bare Benchmarks/micro

test: test-swift test-interop ## All tests, the Python client's last

# With every trait: all that there is is compiled once, and tested as one program.
build-tests: bootstrap
	Scripts/swift-build --enable-all-traits --build-tests

test-swift: build-tests ## The Swift tests, those of nats, kafka and postgresql with their servers
	Scripts/test-swift

# Most of these tests wait: so there are more processes than cores. Tests of one file share servers.
test-interop: build-tests clients ## The Python client and the process tests (a tmpfs needs root, else skipped)
	INTEROP_BINARY=$(SIGHTLINE) .venv/bin/pytest Tests/Interop --numprocesses 6 --dist loadfile \
		--no-loadscope-reorder

test-libraries: clients test-lake ## The client libraries' own tests, and the types of Python's
	PYTHONPATH=.build/clients/python/site .venv/bin/pytest Clients/python/tests
	.venv/bin/mypy --config-file Clients/python/pyproject.toml .build/clients/python/site/sightline
	Scripts/test-client-go .build/clients

.PHONY: test-lake
test-lake: bootstrap ## The lake's own tests, and its types
	Scripts/build-lake .build/lake
	PYTHONPATH=.build/lake/site .venv/bin/pytest Backends/lake/tests
	MYPYPATH=.build/lake/site .venv/bin/mypy --config-file Backends/lake/pyproject.toml -p sightline_lake

test-nats: build-tests ## The NATS sink under faults: kills, cuts, a cluster, a balancer (7 minutes)
	INTEROP_BINARY=$(SIGHTLINE) .venv/bin/pytest Tests/Interop/nats

cluster: bootstrap ## Try it: three nats-servers, two ingest nodes and a balancer on this machine
	@Scripts/cluster

cluster-kafka: bootstrap ## Try it: a mock cluster of Kafka, two ingest nodes, a load, a consumer
	@Scripts/cluster-kafka

.PHONY: lake
lake: bootstrap ## Try it: a server, a lake in a local folder, a load, and its funnel by DuckDB beside the report
	@Scripts/lake

clients: bootstrap ## Build the test clients of other languages (grpc-go and C++)
	Scripts/build-clients .build/clients
	Scripts/build-client-libraries .build/clients python go java

test-clients: build-tests clients ## Run clients in other languages concurrently for a minute
	INTEROP_BINARY=$(SIGHTLINE) .venv/bin/pytest Tests/Interop/test_foreign_clients.py --whole

fuzz: bootstrap ## Fuzz the parsers of untrusted bytes, 10 million runs each (or FUZZ_RUNS=n)
	Scripts/fuzz

fuzz-short: bootstrap ## The same with 20,000 runs each: what is committed, and little more
	FUZZ_RUNS=20000 Scripts/fuzz

fuzz-stack: bootstrap ## Fuzz the whole stack with frames, 5 million connections (or FUZZ_RUNS=n)
	FUZZ_RUNS=$(or $(FUZZ_RUNS),5000000) Scripts/fuzz WholeStack

fuzz-stack-short: build-tests ## The same with the debug program, the same 20,000 each time, as CI does
	.build/debug/wholestack 20000 1

SECONDS ?= 60
simulate: bootstrap ## Search for lost acks on a simulated disk for SECONDS=60, or repeat SEED=n
	Scripts/swift-build -c release --product simulate
	.build/release/simulate $(if $(SEED),--seed $(SEED),--seconds $(SECONDS))

simulate-short: build-tests ## The same with the debug program, the same histories each time, as CI does
	.build/debug/simulate --seconds 60 --from 1

DAYS ?= 400
simulate-year: bootstrap ## Live DAYS=400 by a clock of their own, on real files: counts, and sizes that stay
	Scripts/swift-build -c release --product simulate
	.build/release/simulate --year $(DAYS) $(if $(SEED),--seed $(SEED))

.PHONY: mutants
mutants: bootstrap ## Change one operator after the other in Core and Delivery: 150, each with the tests
	Scripts/mutants

HOURS ?= 2
.PHONY: soak soak-short
soak: release clients ## A day under load, HOURS=2 of it: nothing may grow, be missing or come twice
	Scripts/swift-build -c release --product LibraryClient
	INTEROP_BINARY=.build/release/sightline Scripts/soak --hours $(HOURS)

soak-short: build-tests clients ## The same with the debug program, two minutes and a tenth of the load
	INTEROP_BINARY=$(SIGHTLINE) Scripts/soak --minutes 2 --reload 0.5 --restart 0.9 --rate 2000

verify: build-tests clients ## All that searches for long: kills, power cuts, faults, attacks… (hours)
	@Scripts/verify

run: release ## Serve on 127.0.0.1:50051, and HTTP on 8080, with ./sightline-data
	.build/release/sightline serve --listen 127.0.0.1:50051 --http 127.0.0.1:8080 --data-dir sightline-data

demo: ## From a fresh clone to hits in a database, on a temporary directory
	@Scripts/demo

bench: release ## Sightline beside Go and C++ peers: tables of medians and ratios (70 minutes)
	Benchmarks/bootstrap && $(MAKE) -C Benchmarks peers load
	Scripts/swift-build -c release --product bareserver
	Benchmarks/run --sightline .build/release/sightline --calls --open \
		--out Benchmarks/.build/table.md

bench-http: release ## The HTTP port beside net/http in Go, and handshakes beside nginx (15 minutes)
	Benchmarks/bootstrap && $(MAKE) -C Benchmarks peer-go http-load
	.venv/bin/python Benchmarks/http --sightline .build/release/sightline --out Benchmarks/.build/http.md

bench-micro: bootstrap ## Instructions and allocations per event, by valgrind (5 minutes)
	Benchmarks/bootstrap && Scripts/swift-build -c release --product microbench
	Benchmarks/micro/run --binary .build/release/microbench

dist: release ## Man pages, completions, bill of materials and notices of the release, in .build/dist
	Scripts/manual .build/release/sightline .build/dist
	Scripts/manual .build/release/sightline-conformance .build/dist
	Scripts/sbom .build/release/sightline --bom .build/dist/sightline.cdx.json \
		--notices .build/dist/THIRD-PARTY-NOTICES

.PHONY: packages test-packages
packages: bootstrap ## What a release is: program, .deb, symbols, wheel, Go module, jar, image; in .build/packages
	Scripts/packages .build/packages

test-packages: packages ## Follow README's first page on a bare Debian, with the .deb and the wheel (needs root)
	.venv/bin/pytest Tests/Interop/test_packages.py

clean: ## Remove what was built
	rm -rf .build .venv
