# Pyramid Workbench. "make help" lists the commands.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup demo test

PYTHON ?= python3
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1	/' | expand -t 14

setup: $(VENV)/ready ## prepare the environment only

demo: $(VENV)/ready ## set up everything, load the demo corpus, start web and worker (PORT=8000)
	@exec $(BIN)/python manage.py demo --port "$(PORT)"

test: $(VENV)/ready-for-tests ## set up everything, run every check and every test
	@exec $(BIN)/python tests/run_suites.py $(SUITES)

# A stamp is newer than what it was made from, so that the second run installs nothing.
$(VENV)/ready: requirements.txt requirements-lock.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make setup PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' || { echo "Python's venv module is missing. On Debian: apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once; a few minutes on a slow line) ..."
	@# Without a working pip the last set-up was cut off: begin anew.
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --constraint requirements-lock.txt --requirement requirements.txt
	@touch $@

$(VENV)/ready-for-tests: $(VENV)/ready requirements-dev.txt
	@$(PIP) install --constraint requirements-lock.txt --requirement requirements-dev.txt
	@touch $@
