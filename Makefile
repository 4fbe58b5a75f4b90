PYTHON ?= python3
DEMO := .venv-demo
TEST := .venv-test
DOCS := .venv-docs

.PHONY: demo test test-doors coverage docs bench clean

demo: $(DEMO)/ready
	$(DEMO)/bin/sentprobe demo --out demo

test: $(TEST)/ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/python -m tests.browser || $(TEST)/bin/python -m playwright install chromium || true
	$(TEST)/bin/python -m pytest -n 2 --dist worksteal

# encoders of packages that are not in the test extra; some tests start several processes
test-doors: $(TEST)/ready
	$(TEST)/bin/python -m pip install --quiet --disable-pip-version-check 'model2vec>=0.6,<1' fasttext-wheel
	$(TEST)/bin/python -m pytest -m doors

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
