# make run    the main job on a real problem, into build/
# make quick  the core's tests, in a minute: no compilers, emulators, browsers, network (tests/tiers.py)
# make test   the tests            make check  lint, types and tests: what CI runs
# make minimum  the quick tests with the oldest packages that setup.cfg admits; OLDEST=a Python of 3.10 or 3.11
# make docs   the documentation site, into build/docs; needs Python 3.11 on x86-64 Linux, whose kernels its pages run
# make full   every test, long     make clean  forget the virtual environment and what was built
# make fuzz stress faults wrong_calls interrupts  attacks, long: ARGS="--count=1000 --seed=2 --state=FILE"; see docs/endurance.md
# make limits growth  every command under every limit of the system; how memory grows: ARGS="--only=AS,NPROC"
# make gpu    what needs a CUDA device, in nine minutes, into gpu.json; WHEELS=DIR: packages, where there is no network
# make release  the distributions, into build/release, checked and tried in new environments; see CONTRIBUTING.md
# make arm64  tests/smoke.py on emulated AArch64; ARM64_ROOT=DIR: a Debian root for it, see docs/targets.md
# make torch  PyTorch for CPUs, with which the tests call our operator for it (700 MB)
# make mpi4py-fft  a distributed FFT, with which the tests call our redistributions; needs FFTW's headers
# make ptxas  NVIDIA's assemblers, with which the tests assemble GPU kernels (100 MB; needs no GPU)

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
BIN := $(VENV)/bin
SOURCES := ttc_llvm ir_builders tuning benchmarks examples
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# With TTC_REQUIRE_ALL=1 a test that is skipped for want of something fails the run.
PYTEST = $(BIN)/python -m pytest -n $(JOBS) $(if $(TTC_REQUIRE_ALL),-p tests.require_all)
QUICK = TTC_QUICK=1 $(PYTEST) -m "not slow and not full"
# The first Python at hand of these minor versions, pyenv's among them.
at_hand = $(shell for name in $(foreach n,$(1),python3.$(n) $(wildcard ~/.pyenv/versions/3.$(n).*/bin/python3.$(n))) \
	$(PYTHON); do $$name -c '' 2>/dev/null && echo $$name && break; done)
OLDEST ?= $(call at_hand,10 11)
NEWEST ?= $(call at_hand,14 13 12)

# Tests start hundreds of processes: what Python compiles for one is kept for the others, apart from the sources.
export PYTHONPYCACHEPREFIX ?= $(abspath $(VENV))/pycache
export PYTHONDONTWRITEBYTECODE :=

# Each version of NVIDIA's assembler in a folder of its own: the packages would overwrite each other.
ASSEMBLERS := nvidia-cuda-nvcc-cu11 nvidia-cuda-nvcc-cu12 nvidia-cuda-nvcc
export TTC_PTXAS ?= $(subst $() ,:,$(abspath $(wildcard $(VENV)/ptxas/*/nvidia/*/bin/ptxas)))

ARM64_CPUS ?= cortex-a72 neoverse-n1 max

# A release by number: of a wheel for CPUs, where one is at hand.
TORCH ?= torch==2.13.0

.PHONY: run quick minimum test check lint types docs full fuzz stress faults wrong_calls interrupts limits growth release arm64 gpu wheels torch mpi4py-fft ptxas clean

run: $(VENV)/.run
	$(BIN)/ttc --perm=2,1,0 --size=384,355,384 --beta=1 --maxImplementations=100 --output-dir=build

test: $(VENV)/.test
	$(PYTEST)

quick: $(VENV)/.test
	$(QUICK)

# In an environment of its own, inside the other, without optional libraries: tests that need one may be skipped.
minimum: $(VENV)/minimum/.test
	$(QUICK)
minimum: BIN := $(VENV)/minimum/bin
minimum: TTC_REQUIRE_ALL :=

check: lint types
	$(PYTEST)

lint: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/python tests/lint.py
	$(BIN)/codespell *.md *.rst docs $(SOURCES) tests
	$(BIN)/vulture
	$(BIN)/vulture $(SOURCES) tests

types: $(VENV)/.check
	$(BIN)/mypy -p ttc_llvm
	$(BIN)/mypy tests

# Links between pages, and of names in signatures, are checked; blocks of code run, and show what they print.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html -d build/doctrees docs build/docs

full: $(VENV)/.test
	TTC_FULL=1 $(PYTEST) -m "full or not full"

fuzz stress faults wrong_calls interrupts limits growth: $(VENV)/.test
	PYTHONPATH=tests:tests/endurance:tests/gpu $(BIN)/python tests/endurance/$@.py $(ARGS)

# With WHEELS neither pip nor a virtual environment is needed: wheels are archives.
gpu: $(if $(WHEELS),$(VENV)/wheels,$(VENV)/.test)
	PYTHONPATH=$(CURDIR):$(CURDIR)/tests:$(CURDIR)/tests/gpu$(if $(WHEELS),:$(abspath $(VENV)/wheels)) \
		$(if $(WHEELS),$(PYTHON),$(BIN)/python) tests/gpu/hardware.py $(ARGS)

$(VENV)/wheels: $(wildcard $(WHEELS)/*.whl)
	rm -rf $@ && mkdir -p $@
	for wheel in $(WHEELS)/*.whl; do $(PYTHON) -m zipfile -e "$$wheel" $@ || exit; done

# Sources and wheel, each installed by the oldest and by the newest Python at hand, and used away from the checkout.
release: $(VENV)/release/.release
	rm -rf build/release && mkdir -p build && $(VENV)/release/bin/python -m build --outdir build/release > build/release.log
	$(VENV)/release/bin/python -m twine check --strict build/release/*
	for python in $(OLDEST) $(NEWEST); do for made in build/release/*; do \
		rm -rf build/fresh && $$python -m venv build/fresh && \
		build/fresh/bin/python -m pip --disable-pip-version-check install --quiet $$made && \
		cp tests/smoke.py build/fresh && (cd build/fresh && export HOME=$$PWD TTC_DATABASE=$$PWD/solutions.sqlite3 && \
		bin/python smoke.py && bin/python smoke.py again && bin/ttc --version) || exit; done || exit; done

# Twice on each CPU: the second run finds what the first has stored.
arm64:
ifeq ($(and $(ARM64_ROOT),$(wildcard $(ARM64_ROOT)/usr/bin/python3)),)
	@echo "arm64: skipped, as ARM64_ROOT names no Debian root for arm64: see docs/targets.md"
else
	for cpu in $(ARM64_CPUS); do rm -rf build/arm64 && mkdir -p build/arm64 && for again in "" again; do \
		env HOME=$(CURDIR)/build/arm64 TTC_DATABASE=$(CURDIR)/build/arm64/solutions.sqlite3 \
		PYTHONPATH=$(CURDIR):$(ARM64_ROOT)/opt/site qemu-aarch64 -cpu $$cpu -L $(ARM64_ROOT) \
		$(ARM64_ROOT)/usr/bin/python3 tests/smoke.py $$again || exit; done || exit; done
endif

# What `make gpu WHEELS=DIR` takes along, for a machine with the same Python; pycuda is built, with CUDA's headers.
wheels: | $(BIN)/python
	$(BIN)/python -m pip wheel --wheel-dir=$(or $(WHEELS),wheels) llvmlite numpy platformdirs rich hypothesis pytest
	$(BIN)/python -m pip wheel --wheel-dir=$(or $(WHEELS),wheels) pycuda || echo "without pycuda nothing is timed" >&2

torch: $(VENV)/.torch

mpi4py-fft: $(VENV)/.mpi4py-fft

ptxas: $(ASSEMBLERS:%=$(VENV)/ptxas/%)

$(VENV)/ptxas/%: | $(BIN)/python
	$(PIP) --no-deps --target $@.part $*
	mv $@.part $@

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: setup.cfg pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	touch $@

$(VENV)/.test: setup.cfg pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[test]"
	touch $@ $(VENV)/.run

$(VENV)/minimum/.test: setup.cfg pyproject.toml tests/minimum.py
	$(OLDEST) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet $$($(@D)/bin/python tests/minimum.py)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.torch: | $(BIN)/python
	$(PIP) "$(TORCH)"
	touch $@

$(VENV)/.mpi4py-fft: | $(VENV)/.test
	$(PIP) --no-deps mpi4py-fft
	touch $@

$(VENV)/release/.release:
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet build twine
	touch $@

$(VENV)/.docs: setup.cfg pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[docs]"
	touch $@ $(VENV)/.run

$(VENV)/.check: setup.cfg pyproject.toml | $(BIN)/python
	$(PIP) --editable ".[check]"
	touch $@ $(VENV)/.docs $(VENV)/.test $(VENV)/.run
