# Everything a developer or a newcomer runs. Each target sets up what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := src receivers processors exporters
# pip's own byte-compiling is off where PYTHONDONTWRITEBYTECODE is set; an agent without compiled
# files starts slower and is larger.
COMPILE := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m compileall -q
ARGS ?=

.PHONY: run test check format semconv docs peers fake goldens bench clean

run: $(VENV)/.run ## run the agent: real GPUs if there are any, else a simulated fleet
	$(BIN)/otelgpu run $(ARGS)

test: $(VENV)/.dev fake ## run all tests; those whose peers are missing say so
	$(BIN)/python -m pytest $(ARGS)

check: $(VENV)/.dev ## lint, types, import rules, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/otelgpu semconv check
	$(BIN)/otelgpu semconv generate --check
	$(BIN)/python -m otelgpu.config.reference --check

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

semconv: $(VENV)/.dev ## check the registry, write what follows from it
	$(BIN)/otelgpu semconv check
	$(BIN)/otelgpu semconv generate
	$(BIN)/ruff format -q src/otelgpu/semconv

docs: semconv ## write the settings tables of the components' READMEs
	$(BIN)/python -m otelgpu.config.reference

peers: ## build the real peers of the tests into a cache folder (Go needed)
	$(PYTHON) tests/peers/build.py

fake: $(VENV)/.dev ## build the fake NVML library (C compiler needed; tests say so if there is none)
	@$(BIN)/python tests/fakes/nvml/build.py || { [ $$? = 3 ] && \
	echo "the fake NVML library was not built: tests that need it say so and are skipped"; }

goldens: $(VENV)/.dev fake ## write anew what the NVML receiver makes of each model; read it by eye
	$(BIN)/python -m tests.receivers.nvmlreceiver.goldens $(ARGS)

bench: $(VENV)/.bench fake ## measure the agent beside its peers
	$(BIN)/python benchmarks/side_by_side.py $(ARGS)
	$(BIN)/python -m pytest benchmarks --benchmark-only -q

clean:
	rm -rf $(VENV) build dist

$(VENV)/.pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	touch $@

$(VENV)/.run: $(VENV)/.pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	$(COMPILE) $(VENV)/lib $(SOURCES)
	touch $@

$(VENV)/.dev: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --group bench
	touch $@
