# Inside BERT. `make help` lists what there is.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help lab test demo doctor release check lock clean

help:  ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

lab: $(READY)  ## open JupyterLab on the first lesson
	@$(BIN)/insidebert lab

test: $(READY)  ## set up what the tests need, then lint, type-check and run everything
	@bash tests/system_packages.sh
	@$(MAKE) --no-print-directory check
	@$(BIN)/python -m pytest

demo: $(READY)  ## a class of learners, from release to grades, in a temporary course
	@$(BIN)/insidebert demo

doctor: $(READY)  ## what is installed here, what is missing, and the cure
	@$(BIN)/insidebert doctor

release: $(READY)  ## regenerate exercises/ from solutions/
	@$(BIN)/insidebert release

check: $(READY)  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

lock:  ## resolve the ranges of pyproject.toml anew and write requirements.lock
	@bash tests/lock.sh

clean:  ## remove the environment and everything a run left behind
	rm -rf $(VENV) build *.egg-info autograded feedback submitted gradebook.db .nbgrader.log

# One stamp file says that the environment holds what the lock and pyproject.toml ask for.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Inside BERT needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11 …")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the pinned packages into $(VENV) (a few minutes the first time) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(READY)
