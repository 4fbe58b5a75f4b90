PYTHON ?= python3
DEMO := .venv-demo
TEST := .venv-test

.PHONY: demo test clean

demo: $(DEMO)/ready
	$(DEMO)/bin/sonde demo --out demo

test: $(TEST)/ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
	$(TEST)/bin/python -m tests.browser || $(TEST)/bin/python -m playwright install chromium || true
	$(TEST)/bin/python -m pytest -n 2

$(DEMO)/ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(TEST)/ready: pyproject.toml
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

clean:
	rm -rf $(DEMO) $(TEST) demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
