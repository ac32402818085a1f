# Everything runs in .venv, which is made from pyproject.toml and constraints.txt on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: demo test lint docs format bench clean

demo: $(VENV)/.base  ## check a small example; torch is not installed for it
	$(BIN)/hyperheat demo

test: $(VENV)/.dev  ## all tests, warnings as errors
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.dev docs  ## style, types, and the links of the documentation
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

docs: $(VENV)/.dev  ## the documentation as a site, in site/; broken links and references are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev  ## all benchmarks; several minutes
	$(BIN)/python -m benchmarks.layer
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.collate
	$(BIN)/python -m benchmarks.extract
	$(BIN)/python -m benchmarks.bugs
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.check
	$(BIN)/python -m benchmarks.lsp
	$(BIN)/python -m benchmarks.kg
	$(BIN)/python -m benchmarks.kg_growth

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis site

$(BIN)/pip:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/pip
	$(INSTALL) .
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/pip
	$(INSTALL) '.[dev]'
	touch $@ $(VENV)/.base
