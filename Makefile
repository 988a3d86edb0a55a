# Two commands on a fresh machine: `make app` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Tests and workers start many processes: each would compile every module again without this.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: app test proofs packaging check bench docs setup clean

app: $(READY)
	$(BIN)/python -m dsebo app

test: $(READY)
	$(BIN)/python -m pytest -n 3 --dist worksteal

proofs: $(READY)
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "slow and not packaging"
	$(BIN)/python -m pytest -m packaging

packaging: $(READY)
	$(BIN)/python -m pytest -m packaging

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/python docs/build.py

bench: $(READY)
	$(BIN)/python -m benchmarks

setup: $(READY)

# Plain pip: it resolves the pinned torch to the CPU build, which uv and poetry do not.
$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[all]"
	touch $(READY)

clean:
	rm -rf $(VENV)
