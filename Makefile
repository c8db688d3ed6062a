# On a fresh machine `make demo` and `make test` need nothing else: each makes .venv and installs what it takes.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test quick check fix bench docs peers oldest oldest-short pythons pythons-short requirements walk strangers browser services guides soak package dev site

BIN := .venv/bin
# The tests start Python some thousand times; it is to keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE
# Two workers: what CI has. Who is done takes over from the other. With three, clusters under load starve now and then.
SIDE_BY_SIDE := -q -n 2 --dist worksteal
FAST := -m "not soak and not strangers and not browser and not services and not guides and not slow"
# Where versions of Python differ: types, tasks and threads, JSON.
PYTHON_TESTS := tests/schema tests/protocol tests/runtime tests/sync tests/client/forms
# Where versions of libraries differ: hosts, types, pages, parsers.
LIBRARY_TESTS := tests/schema tests/protocol tests/runtime tests/sync tests/verbs tests/end_to_end/migrate tests/server/hosts \
	tests/stores tests/oauth tests/pages tests/client/consent tests/client/forms tests/guards/sql/engines

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: package ## three servers that ask you, in forms and on a page; without a terminal it plays itself
	@$(BIN)/askback demo

test: check requirements docs oldest-short pythons-short strangers browser services guides ## everything: what CI runs
	@$(BIN)/python -m scripts.odd_folder $(SIDE_BY_SIDE)

quick: dev ## the tests that need no programs by others, and no patience
	$(BIN)/pytest $(SIDE_BY_SIDE) $(FAST)

check: dev ## read only: lint, format, types, the rules of the house
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/mypy
	$(BIN)/pytest -q -p no:cacheprovider tests/test_house.py

fix: dev ## rewrite what lint and format can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: dev ## measure against the SDK's own ways of asking, in one run
	$(BIN)/python -m bench

docs: site ## build the documentation into .build/site
	$(BIN)/zensical build --clean --strict

oldest: ## the quick tests on the oldest versions that Askback supports
	@VENV=.build/oldest CONSTRAINT=scripts/oldest.txt scripts/bootstrap dev
	.build/oldest/bin/pytest $(SIDE_BY_SIDE) $(FAST)

oldest-short: ## those of them that depend on versions of libraries
	@VENV=.build/oldest CONSTRAINT=scripts/oldest.txt scripts/bootstrap dev
	.build/oldest/bin/pytest $(SIDE_BY_SIDE) $(FAST) $(LIBRARY_TESTS)

pythons: dev ## the quick tests on every Python from 3.11 on that this machine has
	@$(BIN)/python -m scripts.pythons $(SIDE_BY_SIDE) $(FAST)

pythons-short: dev ## those of them that depend on the version of Python, on every other 3.x
	@$(BIN)/python -m scripts.pythons --others $(SIDE_BY_SIDE) $(FAST) $(PYTHON_TESTS)

soak: dev services ## what `make test` does for seconds, at length: pauses, loads, and the oracle with 200,000 statements on each engine (45 minutes)
	$(BIN)/pytest -q -m soak
	@VENV=.build/oldest CONSTRAINT=scripts/oldest.txt scripts/bootstrap dev
	@failed=; for run in ".build/oldest duckdb" ".venv duckdb" ".venv sqlite" ".venv postgres"; do set -- $$run; \
		$$1/bin/python -m tests.guards.sql.oracle --engine $$2 || failed="$$failed $$2"; \
		$$1/bin/python -m tests.guards.sql.oracle.repeats --engine $$2 || failed="$$failed $$2/repeats"; \
	done; test -z "$$failed"

peers: dev ## the test suites of the SDK and FastMCP, with Askback(server) on every server (ten minutes)
	@$(BIN)/python -m scripts.peers

walk: dev ## write the page that lists the modules a question goes through
	@$(BIN)/python -m scripts.walk

requirements: dev ## list the requirements in scope that no test names; there must be none
	@$(BIN)/python -m scripts.requirements

strangers: dev ## install the programs by others that tests meet; without them those tests are left out and counted
	-@$(BIN)/python -m scripts.strangers

browser: dev ## find Chromium, or install it with apt-get; without it those tests are left out and counted
	-@$(BIN)/python -m scripts.chromium

services: dev ## find Redis, Postgres and nginx, or install them with apt-get; without them those tests are left out and counted
	-@$(BIN)/python -m scripts.services

guides: dev ## install the libraries that the guides for hosts are about, apart from everything else
	@VENV=.build/guides scripts/bootstrap guides || echo "guides: those libraries could not be installed." \
		"Mend that and run \`make guides\`. Until then the tests that need them are left out." >&2

package:
	@scripts/bootstrap

dev:
	@scripts/bootstrap dev

site:
	@scripts/bootstrap docs
