# Everything sets itself up: a Python >= 3.10 and a C compiler are enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := $(if $(wildcard $(VENV)/ready),$(VENV),.venv-demo)
PIP := -m pip --disable-pip-version-check install -q
SOURCES := pyproject.toml setup.py $(wildcard mfopt_core/*.pyx mfopt_core/*.pxd mfopt_core/src/*)
WORKERS ?= 2
CALLS := 1000000
COMPARED := synthetic costs gamma bad-approximations histogram
PEERS := torch==2.13.0 botorch scikit-optimize optuna
ARENA := run --group misleading --methods mf-gp-ucb gp-ei gp-ucb botorch-mes optuna-tpe --capital 20

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint test-python test-plain test-debug test-dist test-pythons test-oldest traces-record \
    traces-compare traces-portable faults asan bench figures bench-peers arena asynchronous mixed stuck noisy lock audit clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-15s %s\n", $$1, $$2}'

setup: $(VENV)/ready ## an environment in .venv with mfopt (editable) and all that development needs; LOCKED=1: as in the lock file

$(VENV)/ready: $(SOURCES)
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) ..."
	@$(BIN)/python $(PIP) $(if $(LOCKED),-c requirements-dev.lock) -e '.[dev]'
	@touch $@

# The demo needs only mfopt and matplotlib, in the environment that is there or in a small one. To build the core in
# that environment and not in isolation saves a second copy of NumPy and SciPy.
.venv-demo/ready: $(SOURCES)
	@test -d .venv-demo || $(PYTHON) -m venv .venv-demo
	@echo "setting up .venv-demo ..."
	@.venv-demo/bin/python tools/requirements.py plot > .venv-demo/requirements.txt
	@.venv-demo/bin/python $(PIP) --no-compile -r .venv-demo/requirements.txt
	@.venv-demo/bin/python $(PIP) --no-build-isolation --no-deps -e .
	@touch $@

demo: $(DEMO)/ready ## optimise the Currin function with two fidelities; writes out/demo.png
	@mkdir -p out
	$(DEMO)/bin/mfopt demo --out out/demo.png

test: lint test-python test-plain test-debug test-dist ## everything that must pass before a change lands

lint: $(VENV)/ready ## ruff (rules and format), mypy, cython-lint, stubtest
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy mfopt plugins/mfopt_plugins
	PATH="$(abspath $(BIN)):$$PATH" cython-lint mfopt_core/*.pyx mfopt_core/*.pxd
	$(BIN)/stubtest mfopt_core --allowlist tests/stubtest-allowlist.txt --ignore-unused-allowlist

test-python: $(VENV)/ready ## the test suite; PYTEST_ADDOPTS="--shuffle 1" for another order
	$(BIN)/python -m pytest -n $(WORKERS)

# A variant of the core is installed into build/<variant>, beside a copy of the core's tests. What an earlier build left
# has to go, and what this one leaves: the next would take it for up to date, whatever flags it was built with.
define variant
	@rm -rf build/$(1) build/lib* build/temp* build/bdist* mfopt_core/_*.c && mkdir -p build/$(1)
	$(2) $(BIN)/python $(PIP) --no-build-isolation --no-deps --target build/$(1) .
	@rm -rf build/lib* build/temp* build/bdist* mfopt_core/_*.c
	@mkdir -p build/$(1)/tests && cp -r tests/core tests/conftest.py tests/__init__.py build/$(1)/tests/
endef

test-plain: $(VENV)/ready ## the core's tests on the plain C build (MFOPT_PLAIN_C=1)
	$(call variant,plain,MFOPT_PLAIN_C=1)
	cd build/plain && ../../$(BIN)/python -c "import mfopt_core; assert mfopt_core.BUILD == 'plain C', mfopt_core.BUILD"
	cd build/plain && ../../$(BIN)/python -m pytest -n $(WORKERS) -p no:cacheprovider tests/core

test-debug: $(VENV)/ready ## the core's tests with bounds checks (MFOPT_DEBUG=1)
	$(call variant,debug,MFOPT_DEBUG=1)
	cd build/debug && ../../$(BIN)/python -c "import mfopt_core; assert 'checked' in mfopt_core.BUILD, mfopt_core.BUILD"
	cd build/debug && ../../$(BIN)/python -m pytest -n $(WORKERS) -p no:cacheprovider tests/core

test-dist: $(VENV)/ready ## sdist and wheel: build, install and use outside the source tree; the sdist tests itself
	PYTHON=$(BIN)/python sh tools/check-dist.sh

test-pythons: ## build and test the wheel with every Python from 3.10 to 3.13 that is installed
	sh tools/check-pythons.sh

test-oldest: ## the test suite with the oldest versions that pyproject.toml admits, for each Python; PYTHONS=3.10 for one
	WORKERS=$(WORKERS) PYTHONS="$(PYTHONS)" sh tools/check-oldest.sh

traces-record: $(VENV)/ready ## before a refactoring: the golden traces into build/traces.json
	@mkdir -p build
	$(BIN)/python tools/traces.py record build/traces.json

traces-compare: $(VENV)/ready ## after it: every trace must be the same to the last bit
	$(BIN)/python tools/traces.py compare build/traces.json

traces-portable: $(VENV)/ready ## rewrite tests/traces/portable.json, the traces that hold on every machine
	$(BIN)/python tools/traces.py portable tests/traces/portable.json

faults: $(VENV)/ready ## studies under kills, power cuts, full disks, damage and many writers; workers that die or hang; in full (an hour)
	MFOPT_FAULTS=full $(BIN)/python -m pytest -v tests/storage/test_faults.py tests/storage/test_resume.py \
	    tests/storage/test_damage.py tests/storage/test_power.py tests/storage/test_threads.py \
	    tests/parallel/test_arena.py tests/parallel/test_orphans.py

asan: $(VENV)/ready ## the core's tests and CALLS (a million) random calls under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call variant,asan,MFOPT_SANITIZE=1 MFOPT_DEBUG=1)
	cd build/asan && LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1 MFOPT_FUZZ_CALLS=$(CALLS) \
	    ../../$(BIN)/python -m pytest -p no:cacheprovider tests/core -k "not memory and not leaks"

bench: $(VENV)/ready ## speed of the core against SciPy and scikit-learn; rewrites benchmarks/RESULTS.md
	@$(BIN)/python $(PIP) -e '.[bench]'
	cd benchmarks && ../$(BIN)/python core.py
	cd benchmarks && ../$(BIN)/python footprint.py
	cd benchmarks && ../$(BIN)/python durability.py
	cd benchmarks && ../$(BIN)/python guard.py
	cd benchmarks && ../$(BIN)/python reopening.py
	cd benchmarks && ../$(BIN)/python threads.py

figures: $(VENV)/ready ## the paper's synthetic experiments into benchmarks/results, resumed where they were (hours)
	$(BIN)/mfopt bench figure $(COMPARED) --mode paper --default --out out/bench --into benchmarks/results --jobs $(WORKERS)
	$(BIN)/mfopt bench figure challenges gpucb kde illustration --out out/bench --into benchmarks/results

bench-peers: ## ask time, argmax and regret against the peers, in an environment of their own; rewrites benchmarks/RESULTS.md
	@test -d build/peers || $(PYTHON) -m venv build/peers
	build/peers/bin/python $(PIP) $(PEERS)
	build/peers/bin/python $(PIP) '.[plot]'
	cd benchmarks && ../build/peers/bin/python peers.py
	cd benchmarks && ../build/peers/bin/python argmax_quality.py
	cd benchmarks && ../build/peers/bin/python peers_regret.py

arena: ## ours and the peers on groups of problems, in the environment of the peers; ARENA="report --group ..." for other arguments
	@test -d build/peers || $(PYTHON) -m venv build/peers
	build/peers/bin/python $(PIP) $(PEERS) smac onnxruntime scikit-learn
	build/peers/bin/python $(PIP) .
	cd benchmarks && ../build/peers/bin/python -m arena $(ARENA)

mixed: $(VENV)/ready ## quality and cost of the argmax over spaces with discrete parameters; rewrites benchmarks/RESULTS.md
	$(BIN)/python benchmarks/mixed_quality.py

stuck: $(VENV)/ready ## one fidelity, twelve functions, 20 seeds: is any stuck in a lesser maximum? rewrites benchmarks/RESULTS.md
	$(BIN)/python benchmarks/stuck.py

noisy: $(VENV)/ready ## regret of the recommended point of noisy functions; rewrites benchmarks/RESULTS.md
	$(BIN)/python benchmarks/noisy.py

asynchronous: $(VENV)/ready ## regret and speed-up of 1 to 64 workers in simulated time; rewrites docs/asynchronous.png, docs/parallel.md
	$(BIN)/python benchmarks/asynchronous.py

lock: ## rewrite requirements-dev.lock, the versions for development, with every supported Python
	$(PYTHON) tools/lock.py $(foreach version,3.10 3.11 3.12 3.13,"$$(sh tools/find-python.sh $(version))")

audit: ## known vulnerabilities of the versions in requirements-dev.lock (needs a package index and the database)
	$(PYTHON) tools/audit.py

clean: ## remove what was built
	rm -rf build dist out $(VENV) .venv-demo *.egg-info mfopt_core/*.so mfopt_core/_*.c .mypy_cache .ruff_cache .pytest_cache .hypothesis
