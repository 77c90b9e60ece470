# make demo and make test need Python 3.11 or later, a C compiler and make; nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := pyproject.toml setup.py $(wildcard bmn_search/*.pyx bmn_search/*.pxd bmn_search/native/*.h)
QUIET := --quiet --disable-pip-version-check

.PHONY: demo test test-slow lint types signature bench clean

demo: $(VENV)/.installed
	$(BIN)/bmn verify
	$(BIN)/bmn search random --seconds 20 --db $(VENV)/demo.sqlite

test: $(VENV)/.developing
	$(BIN)/python -m pytest -m "not slow" -n 2

test-slow: $(VENV)/.developing
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.developing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror bmn_search/native/*.h
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/cython-lint bmn_search

types: $(VENV)/.developing
	$(BIN)/mypy
	$(BIN)/stubtest bmn_search._core

# One number for all that the engine computes: every kernel has to give the one that is kept.
signature: $(VENV)/.developing
	$(BIN)/bmn bench --signature-only | diff benches/signature.txt -

bench: $(VENV)/.developing
	$(BIN)/python -m pytest benches --benchmark-enable --benchmark-only

clean:
	rm -rf $(VENV) build dist *.egg-info bmn_search/_core.c bmn_search/*.so

# An editable install does not rebuild by itself when a .pyx or a header changes: these rules do.
$(VENV)/.installed: $(NATIVE) | $(VENV)/.created
	$(BIN)/python -m pip install $(QUIET) --editable .
	@touch $@

$(VENV)/.developing: $(NATIVE) | $(VENV)/.created
	$(BIN)/python -m pip install $(QUIET) --editable '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'bmn_search needs Python 3.11 or later: name yours, as in make PYTHON=python3.12'; exit 1; }
	@command -v $${CC:-cc} >/dev/null || command -v gcc >/dev/null || \
	  { echo 'bmn_search needs a C compiler and found none: install one (Debian: apt install gcc) or name yours in CC'; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo 'bmn_search needs the venv module: install it (Debian: apt install python3-venv)'; exit 1; }
	@touch $@
