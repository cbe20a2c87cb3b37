# The front door. `make test` and `make demo` need nothing but a Debian 12 and this directory.

PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
BUILD := build
PYTHON ?= python3
GENERATOR := $(if $(shell command -v ninja),-G Ninja)
CTEST := ctest --output-on-failure --no-tests=error -j $(JOBS)

SOURCES := $(shell find src include cli bench tests examples demo \
             \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.h' \) 2>/dev/null)
# The rooms clang-tidy reads: those that are free of MPI.
TIDY_ROOMS := base layout plan drivers comm engine file sim
TIDY_SOURCES = $(foreach room,$(TIDY_ROOMS),$(shell find src/$(room) -name '*.cpp'))

.PHONY: all setup envs build test asan tsan demo bench fmt lint docs install clean
all: build

setup: ## Debian packages, where they are missing
	@tools/setup.sh

envs: setup ## Python environments with mpi4py, one per MPI, in build/
	@tools/python_envs.sh

build: setup ## the libraries and the tamis command, in build/
	@cmake --preset release $(GENERATOR) --log-level=NOTICE
	@cmake --build $(BUILD) -j $(JOBS)

asan: setup ## unit tests and simulation under AddressSanitizer and UBSan
	@cmake --preset asan $(GENERATOR) --log-level=NOTICE
	@cmake --build build-asan -j $(JOBS)
	@$(CTEST) --test-dir build-asan

tsan: setup ## the same under ThreadSanitizer
	@cmake --preset tsan $(GENERATOR) --log-level=NOTICE
	@cmake --build build-tsan -j $(JOBS)
	@$(CTEST) --test-dir build-tsan

test: envs asan build ## everything: rooms, unit, sim, mpi, abi, cli, conformance; unit and sim also under asan
	@$(CTEST) --test-dir $(BUILD)

demo: build
	@demo/run

bench: build
	@bench/run

fmt:
	@clang-format -i $(SOURCES)

lint: build ## format, clang-tidy, rooms
	@clang-format --dry-run -Werror $(SOURCES)
	@$(PYTHON) tools/check_rooms.py
	@run-clang-tidy -quiet -p $(BUILD) -j $(JOBS) $(TIDY_SOURCES:%=^$(CURDIR)/%$$)

docs: build ## the pages made from tables
	@$(PYTHON) tools/make_docs.py --build $(BUILD)

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf build build-asan build-tsan build-dev
