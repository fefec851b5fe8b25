# Every target sets up what it needs: a virtual environment in .venv with Fathom, plus development
# dependencies for the targets that use them.
# On a fresh Debian or Ubuntu: apt-get install python3 python3-venv make, then `make serve` or `make test`.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check
READY   = $(VENV)/.ready
TOOLS   = $(VENV)/.ready-tools
WORKERS ?= 2

.PHONY: help install serve test check bench format clean

help:
	@echo "make serve   run Fathom"
	@echo "make install install Fathom with runtime dependencies only: the command $(BIN)/fathom"
	@echo "make test    run all tests"
	@echo "make check   formatting, lint, types, import contracts"
	@echo "make bench   all benchmarks of speed and quality, one JSON line each (about three minutes)"
	@echo "make format  format the code with ruff"
	@echo "make clean   remove the virtual environment and caches"

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "Fathom needs Python 3.11 or newer: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Fathom needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "This Python cannot make virtual environments: apt-get install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP) --upgrade pip
	@$(PIP) --editable .
	@touch $@

$(TOOLS): $(READY)
	@echo "Adding development dependencies to $(VENV) (once; about a minute)"
	@$(PIP) --editable '.[dev]'
	@touch $@

install: $(READY)
	@echo 'Fathom is ready: export PATH="$(abspath $(BIN)):$$PATH"'

serve: $(READY)
	$(BIN)/fathom serve

# Three passes: all tests compiled; then the kernel tests as plain Python; then the kernel tests compiled
# with bounds checks (without them an out-of-range read silently returns garbage).
test: $(TOOLS)
	$(BIN)/pytest -n $(WORKERS)
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n $(WORKERS) -m "kernel and not slow"
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n $(WORKERS) -m "kernel and not slow"

check: $(TOOLS)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(TOOLS)
	$(BIN)/fathom bench all --json

format: $(TOOLS)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
