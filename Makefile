PYTHON ?= python3
DEMO := .venv-demo
TEST := .venv-test
DOCS := .venv-docs

.PHONY: demo test coverage docs bench clean

demo: $(DEMO)/ready
	$(DEMO)/bin/sentprobe demo --out demo

test: $(TEST)/ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/python -m tests.browser || $(TEST)/bin/python -m playwright install chromium || true
	$(TEST)/bin/python -m pytest -n 2 --dist worksteal

coverage: $(TEST)/ready
	$(TEST)/bin/coverage erase
	$(TEST)/bin/coverage run -m pytest -n 2 --dist worksteal
	$(TEST)/bin/coverage combine --quiet
	$(TEST)/bin/coverage report

docs: $(DOCS)/ready
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

bench: $(TEST)/ready
	$(TEST)/bin/python benchmarks/budget.py

$(DEMO)/ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[use]'
	touch $@

$(TEST)/ready: pyproject.toml
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

$(DOCS)/ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

clean:
	rm -rf $(DEMO) $(TEST) $(DOCS) demo site build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .coverage.*
