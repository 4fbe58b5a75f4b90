PYTHON ?= python3
DEMO := .venv-demo
TEST := .venv-test

.PHONY: demo test clean

demo: $(DEMO)/ready
	$(DEMO)/bin/sonde make --builtin 20000 --suite conneau2018 --sizes 2000/400/400 --jobs 2 --out demo
	$(DEMO)/bin/sonde show demo --examples 1 --task bigram_shift --task odd_man_out --task coordination_inversion

test: $(TEST)/ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy
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
