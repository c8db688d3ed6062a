# On a fresh machine `make demo` and `make test` need nothing else: each makes .venv and installs what it takes.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test quick check fix bench docs oldest requirements strangers package dev site

BIN := .venv/bin
# Two workers: what CI has.
TWO := -q -n 2
FAST := -m "not strangers and not slow"

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: package ## show one tool on three revisions of the protocol, with what goes over the wire
	@$(BIN)/askback demo

test: check requirements docs oldest strangers ## everything: what CI runs, in under ten minutes
	$(BIN)/pytest $(TWO)

quick: dev ## the tests that need neither npm programs nor patience
	$(BIN)/pytest $(TWO) $(FAST)

check: dev ## read only: lint, format, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/mypy
	$(BIN)/pytest -q -p no:cacheprovider tests/test_layers.py

fix: dev ## rewrite what lint and format can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: dev ## measure against the SDK's own ways of asking, in one run
	$(BIN)/python -m bench

docs: site ## build the documentation into .build/site
	$(BIN)/zensical build --clean --strict

oldest: ## the quick tests on the oldest mcp and pydantic that Askback supports
	@VENV=.build/oldest CONSTRAINT=scripts/oldest.txt scripts/bootstrap dev
	.build/oldest/bin/pytest $(TWO) $(FAST)

requirements: dev ## list the requirements in scope that no test names; there must be none
	@$(BIN)/python -m scripts.requirements

strangers: dev ## install the npm programs that tests meet; without them those tests are left out and counted
	-@$(BIN)/python -m scripts.strangers

package:
	@scripts/bootstrap

dev:
	@scripts/bootstrap dev

site:
	@scripts/bootstrap docs
