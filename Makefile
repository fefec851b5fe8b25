# Every target sets up what it needs: a virtual environment in .venv with Fathom, plus development
# dependencies for the targets that use them.
# On a fresh Debian or Ubuntu: apt-get install python3 python3-venv make, then `make serve` or `make test`.
# Packages have the versions and hashes of requirements/; with LOCKED= (empty) the newest versions.

PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check
READY   = $(VENV)/.ready
TOOLS   = $(VENV)/.ready-tools
DOCS    = $(VENV)/.ready-docs
RELEASE = $(VENV)/.ready-release
WORKERS ?= 2
LOCKED  ?= yes

# $(call packages,NAME): install requirements/NAME.txt. NAME is `run`, or an extra of pyproject.toml.
ifeq ($(LOCKED),)
packages = $(PIP) --upgrade --editable '.$(patsubst %,[%],$(filter-out run,$(1)))'
else
packages = $(PIP) --require-hashes --requirement requirements/$(1).txt
endif

.PHONY: help install serve test check bench format docs lock newest dist release notes clean

help:
	@echo "make serve   run Fathom"
	@echo "make install install Fathom with runtime dependencies only: the command $(BIN)/fathom"
	@echo "make test    run all tests"
	@echo "make check   formatting, lint, types, import contracts"
	@echo "make bench   all benchmarks of speed and quality, one JSON line each (about three minutes)"
	@echo "make format  format the code with ruff"
	@echo "make docs    web pages of all documents and the library reference, in site/"
	@echo "make lock    pin the newest version of every package in requirements/"
	@echo "make newest  check and test with the newest versions, in a separate virtual environment"
	@echo "make dist    build the wheel and the source archive, in dist/"
	@echo "make release VERSION=0.2.0   set the version and date its changes; see docs/releasing.md"
	@echo "make notes VERSION=0.2.0     print the release notes from CHANGELOG.md"
	@echo "make clean   remove the virtual environment and caches"

$(READY): pyproject.toml requirements/run.txt
	@command -v $(PYTHON) >/dev/null || { echo "Fathom needs Python 3.11 or newer: apt-get install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Fathom needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "This Python cannot make virtual environments: apt-get install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV) (once; about a minute)"
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	@$(call packages,run)
	$(if $(LOCKED),@$(PIP) --no-deps --no-build-isolation --editable .)
	@touch $@

$(TOOLS): $(READY) requirements/dev.txt
	@echo "Adding development dependencies to $(VENV) (once; about a minute)"
	@$(call packages,dev)
	@touch $@

$(DOCS): $(READY) requirements/docs.txt
	@echo "Adding the tools for web pages to $(VENV) (once)"
	@$(call packages,docs)
	@touch $@

$(RELEASE): $(READY) requirements/release.txt
	@echo "Adding the maintainers' tools to $(VENV)"
	@$(call packages,release)
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

# Copied first, so that links between all documents work, also from docs/ to the README.
PAGES = *.md docs solver/data/README.md
docs: $(DOCS)
	@rm -rf build/pages && mkdir -p build/pages && cp -r --parents $(PAGES) build/pages
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html"

# The build system is pinned, too, because Fathom is installed without build isolation. Each package has one version
# for all Pythons and processors. requirements/dev.txt is written first; the others are constrained to agree with it.
BUILD_SYSTEM = import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")
pin = echo "Pinning requirements/$(1).txt"; $(BIN)/python -c '$(BUILD_SYSTEM)' \
	| $(BIN)/uv pip compile pyproject.toml - --quiet --upgrade --generate-hashes --no-config \
	--universal --python-version 3.11 --fork-strategy fewest \
	--custom-compile-command 'make lock' --output-file requirements/$(1).txt
lock: $(RELEASE)
	@$(call pin,dev) --extra dev
	@$(call pin,run) --constraints requirements/dev.txt
	@$(call pin,docs) --constraints requirements/dev.txt --extra docs
	@$(call pin,release) --constraints requirements/dev.txt --extra release

newest:
	rm -rf $(VENV)-newest
	$(MAKE) --keep-going VENV=$(VENV)-newest LOCKED= check test

dist: $(TOOLS)
	rm -rf dist
	$(BIN)/python -m build --no-isolation

TODAY = $(shell date -u +%F)
release: $(RELEASE)
	@test -n "$(VERSION)" || { echo "Which version? Write make release VERSION=0.2.0" >&2; exit 1; }
	@git diff --quiet HEAD || { echo "There are uncommitted changes: commit them first" >&2; exit 1; }
	@$(BIN)/uv version --frozen --no-config $(VERSION)
	@sed -i 's/^version: .*/version: $(VERSION)\ndate-released: "$(TODAY)"/; /^date-released: /d' CITATION.cff
	@sed -i 's/^## Unreleased$$/&\n\n## $(VERSION) ($(TODAY))/' CHANGELOG.md
	@echo 'Review the changes with git diff, then run:'
	@echo '  make check test && git commit -am "chore: release $(VERSION)" && git tag -a v$(VERSION) -m "Fathom $(VERSION)"'
	@echo '  git push origin HEAD v$(VERSION)'

notes:
	@awk '/^## / { found = $$2 == "$(VERSION)"; any += found; next } found; END { exit !any }' CHANGELOG.md

clean:
	rm -rf $(VENV) $(VENV)-newest .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist site *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
