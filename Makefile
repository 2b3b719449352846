# Every target makes what it needs in .venv, a local environment of this folder.
#
#   make demo       the whole promise in one go, on what the repository holds
#   make test       the tests (under five minutes on two cores)
#   make test-all   the long ones too; `make bytes`: every single-byte change of an exported run
#   make lint       ruff; `make types`: basedpyright, strict
#   make docs       the generated pages of docs/, made again
#   make bench      the benchmarks, each as a ratio to a baseline of the same run
#   make study      the studies, played: docs/STUDIES.md and, in a quarter of an hour, docs/AUCTIONS.md
#   make dev        all of the above can run, and editors find tollbook.*; `make clean` takes it away

PYTHON ?= python3
BIN    := .venv/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -q -n 2
ROOMS  := protocol ledger scorers tasks

.NOTPARALLEL: # pip can't install into one environment twice at once
.PHONY: demo test test-all bytes lint types docs bench study dev clean

demo: .venv/test.stamp
	@$(BIN)/tollbook demo

test: .venv/test.stamp
	@$(PYTEST)

test-all: .venv/test.stamp
	@$(PYTEST) -m ""

bytes: .venv/test.stamp
	@$(PYTEST) -m long -k every_byte tests/quality

lint: .venv/lint.stamp
	@$(BIN)/ruff check .

types: .venv/lint.stamp .types/tollbook
	@$(BIN)/basedpyright --pythonpath $(BIN)/python

docs: .venv/test.stamp
	@$(BIN)/python docs/generate.py

bench: .venv/bench.stamp
	@for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

study: .venv/test.stamp
	@$(BIN)/python docs/studies.py
	@$(BIN)/python docs/auctions.py

dev: .venv/test.stamp .venv/lint.stamp .venv/bench.stamp .types/tollbook

clean:
	rm -rf .venv .types build dist *.egg-info .pytest_cache .ruff_cache .hypothesis

# One stamp an extra: a user who runs the demo doesn't wait for linters.
.venv/%.stamp: pyproject.toml | .venv/made
	@$(PIP) --editable '.[$*]'
	@touch $@

.venv/made:
	@$(PYTHON) -m venv .venv
	@touch $@

# `tollbook` has no folder of its own: package-dir maps the rooms. Type checkers don't read that map.
.types/tollbook:
	@mkdir -p $@.new
	@for room in $(ROOMS); do ln -s ../../$$room $@.new/$$room; done
	@mv $@.new $@
