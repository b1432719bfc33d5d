# Two commands for a person: `make run` and `make test`.  Both set everything up first; the second time that takes seconds.
PYTHON ?= python3
AGENT  ?= agent
BIN    := .venv/bin
READY  := .venv/.ready

.PHONY: help setup run test check lint fix model bench clean

help:  ## say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

setup: $(READY)  ## virtual environment, pinned dependencies, llama.cpp
$(READY): requirements.lock pyproject.toml scripts/install_llama.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "trimtab needs Python 3.11 or newer: make PYTHON=python3.11 setup"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "this Python has no venv module; on Debian: apt install python3-venv"; exit 1; }
	@test -x $(BIN)/python || { echo "[setup] making .venv"; $(PYTHON) -m venv .venv; }
	@echo "[setup] installing the pinned dependencies"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python scripts/install_llama.py
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(READY)

run: setup  ## make an agent in ./agent and run it here: first heartbeat at once, Ctrl-C to stop
	@test -e $(AGENT)/trimtab.toml || $(BIN)/trimtab init $(AGENT)
	@$(BIN)/trimtab --dir $(AGENT) run --first host-watch

test: setup  ## the tests
	@$(BIN)/python -m pytest

lint: setup  ## format, style, layers, types: reads only
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/mypy
	@$(BIN)/interrogate --quiet tests

check: lint test  ## all that CI runs; never writes

fix: setup  ## format and mend what a tool can mend
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .
	@$(BIN)/python scripts/write_docs.py

model:  ## train the shipped model again (see training/README.md)
	@$(PYTHON) -m training.build

bench: setup  ## the numbers that the README states
	@for file in $$(grep -l __main__ benchmarks/*.py); do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean:  ## forget the environment
	@rm -rf .venv
