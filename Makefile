# Every target says what it does in its '##' comment; 'make help' lists them.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.DEFAULT_GOAL := help
.PHONY: help venv jar lint unit test clean

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sort | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | awk -F'\t' '{printf "  %-12s %s\n", $$1, $$2}'

$(VENV)/.ready: pyproject.toml python/constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -c python/constraints.txt --group dev --group stores pyspark cryptography py4j
	@echo "$(CURDIR)/python" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/sparkconfig-dev.pth"
	@touch $@

venv: $(VENV)/.ready ## make the virtual environment with pinned dependencies

jar: venv ## build the one jar that fits the environment's Spark
	@$(BIN)/python jvm-shim/build.py --pyspark "$$($(BIN)/python -c 'import pyspark, pathlib; print(pathlib.Path(pyspark.__file__).parent)')"

lint: venv ## ruff and mypy --strict
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

unit: venv ## the fast tests, no Spark
	$(BIN)/python -m pytest tests/unit tests/conformance -q

test: lint jar ## all tests
	$(BIN)/python -m pytest tests

clean: ## remove what was built
	rm -rf build dist .venv .venvs .mypy_cache .ruff_cache .pytest_cache python/sparkconfig/jars/*.jar
