# Everything a newcomer needs: `make demo` and `make test`. Both set up .venv by themselves.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
BENCH_READY := .venv/.bench-ready
DOCS_READY := .venv/.docs-ready

.PHONY: demo test test-slow lint format docs bench peers peers-acs clean

demo: $(READY)
	$(BIN)/understudy demo

test: lint
	$(BIN)/pytest -n 2 --dist worksteal -m 'not slow'

# What takes minutes: killed runs, races, the documentation as a whole.
test-slow: $(DOCS_READY)
	$(BIN)/pytest -n 2 --dist worksteal -m slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The guides and the API reference as one site, to be opened at site/index.html. Warnings are errors.
docs: $(DOCS_READY)
	rm -rf site
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees docs site
	$(BIN)/python scripts/check_site.py site

# Stan needs a C++ compiler. On a machine with nothing else to do: the times are the result.
bench: $(BENCH_READY)
	$(BIN)/python benchmarks/against_stan.py
	$(BIN)/python benchmarks/anchored.py
	mkdir -p build
	$(BIN)/python benchmarks/scale.py growing cluster regression joint sampling \
		--json build/scale.jsonl --place build

# Other synthesisers on the same tables: see docs/peers.md. `make peers RUNS=1` is a trial.
RUNS ?= 3
peers: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[peers]'
	cd benchmarks && ../$(BIN)/python -m peers --runs $(RUNS)

# The same on the American Community Survey, with and without a δ. It goes on where it was stopped.
peers-acs: $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[peers]'
	mkdir -p build
	cd benchmarks && ../$(BIN)/python -m peers --runs $(RUNS) --memory 12 --json ../build/peers-acs.jsonl \
		--data 'ACS 10' 'ACS 24' --epsilon 5 1 --tools 'a second sample' \
		'understudy joint' 'understudy joint, balanced' 'understudy joint, balanced, delta' \
		'OpenDP AIM' 'OpenDP MST' 'mbi, all pairs' 'OpenDP AIM, delta' 'OpenDP MST, delta'

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "understudy needs Python 3.11 or newer; try make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

$(BENCH_READY): $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	touch $(BENCH_READY)

$(DOCS_READY): $(READY)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[docs]'
	touch $(DOCS_READY)

clean:
	rm -rf .venv site build docs/api understudy-demo understudy-study .mypy_cache .pytest_cache .ruff_cache .hypothesis
