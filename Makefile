# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

PYTEST := $(BIN)/pytest -n auto --dist worksteal

.PHONY: demo test test-all quick check style types tests all-tests reproduce docs fuzz bench dist lock clean

demo: $(VENV)/.shap ## install, compare explainers on bundled data, and write report.html
	$(BIN)/faithscope demo

test: $(VENV)/.test ## install, check style, types and imports, and beside that run the tests: every law, contract, refusal, found bug
	$(MAKE) --no-print-directory -j3 style types tests

test-all: $(VENV)/.test ## also what takes longer: rare seeds, Spark and Postgres in full, every page, notebooks, studies, full grids
	$(MAKE) --no-print-directory -j3 style types all-tests

tests: $(VENV)/.test
	$(PYTEST) -m "not thorough"

all-tests: $(VENV)/.test # with what is marked thorough, and twice the examples of every property
	$(PYTEST) --hypothesis-profile=all

# Leaves out tests marked slow (more than about a second over all their parameters; all of contracts, faults, fuzz,
# notebooks, reproduction), engine (Postgres or Spark), browser (Chromium); tries 20 examples per property instead of 25.
quick: $(VENV)/.test ## the tests for after every change: under a minute on two cores
	$(PYTEST) -m "not thorough and not slow and not engine and not browser" --hypothesis-profile=quick

check: style types

style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	cd reproduction && $(abspath $(BIN))/lint-imports

types: $(VENV)/.test
	$(BIN)/mypy

reproduce: $(VENV)/.reproduction ## install what reproduces the paper, and run it: ARGS="table1 figure5 --quick" for parts
	$(BIN)/faithscope reproduce $(ARGS)

docs: $(VENV)/.docs ## build the documentation site into site/; a warning is an error
	$(BIN)/sphinx-build -W --keep-going -q -E docs site

fuzz: $(VENV)/.test ## hostile input and faults, with their tables
	$(BIN)/python fuzz/tally.py

bench: $(VENV)/.bench ## install what is compared with, measure speed as ratios, each in one run
	$(BIN)/python benchmarks/consistency.py --keep
	$(BIN)/python benchmarks/sufficiency.py --keep
	$(BIN)/python benchmarks/explainers.py --keep
	$(BIN)/python benchmarks/audit.py --keep
	$(BIN)/python benchmarks/known_quality.py
	$(BIN)/python benchmarks/conformance.py
	$(BIN)/python benchmarks/coverage --quick
	$(BIN)/python benchmarks/limits.py --seconds 5

dist: $(VENV)/.dev ## the source distribution and the wheel, checked
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

lock: $(VENV)/.dev ## pin what developers install; no address of an index is written
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --extra all --no-annotate \
	  --no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" --upgrade pyproject.toml -o requirements-dev.lock

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(VENV)/.%: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet -e '.[$*]'
	touch $@

# Tests and benchmarks are of both packages.
$(VENV)/.test $(VENV)/.dev $(VENV)/.bench: $(VENV)/.%: $(VENV)/bin/python pyproject.toml reproduction/pyproject.toml
	$(BIN)/pip install --quiet -e '.[$*]' -e ./reproduction
	touch $@

$(VENV)/.reproduction: $(VENV)/bin/python pyproject.toml reproduction/pyproject.toml
	$(BIN)/pip install --quiet -e . -e ./reproduction
	touch $@

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
