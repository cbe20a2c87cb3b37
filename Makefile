# The front door. `make test` and `make demo` need nothing but a Debian 12 and this directory.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build
PYTHON ?= python3
GENERATOR := $(if $(shell command -v ninja),-G Ninja)
CTEST := ctest --output-on-failure --no-tests=error -j $(JOBS)

SOURCES := $(shell find src include cli bench tests examples demo \
             \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) 2>/dev/null)

.PHONY: all setup envs configure build test asan tsan demo bench fmt lint docs install clean
all: build

setup: ## Debian packages, where they are missing
	@tools/setup.sh

envs: setup ## Python environments with mpi4py, one per MPI, in build/
	@tools/python_envs.sh

configure: setup
	@cmake --preset release $(GENERATOR) --log-level=NOTICE

build: configure ## the libraries and the tamis command, in build/
	@cmake --build $(BUILD) -j $(JOBS) --target tamis

asan: setup ## unit tests and simulation under AddressSanitizer and UBSan
	@cmake --preset asan $(GENERATOR) --log-level=NOTICE
	@cmake --build build-asan -j $(JOBS) --target tamis_unit_tests tamis_sim_tests
	@$(CTEST) --test-dir build-asan

tsan: setup ## the same under ThreadSanitizer
	@cmake --preset tsan $(GENERATOR) --log-level=NOTICE
	@cmake --build build-tsan -j $(JOBS) --target tamis_unit_tests tamis_sim_tests
	@$(CTEST) --test-dir build-tsan

test: envs asan configure ## everything: rooms, unit, sim, mpi, abi, cli, conformance; unit and sim also under asan
	@cmake --build $(BUILD) -j $(JOBS)
	@$(CTEST) --test-dir $(BUILD)

demo: build
	@demo/run

bench: build
	@cmake --build $(BUILD) -j $(JOBS) --target bench_programs
	@bench/run

fmt:
	@clang-format -i $(SOURCES)

lint: build ## format, clang-tidy, rooms
	@clang-format --dry-run -Werror $(SOURCES)
	@$(PYTHON) tools/check_rooms.py
	@$(PYTHON) tools/tidy.py --build $(BUILD) --jobs $(JOBS)

docs: build ## the pages made from tables
	@$(PYTHON) tools/make_docs.py --build $(BUILD)

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build build-asan build-tsan build-dev
