# SPDX-License-Identifier: Apache-2.0
#
# `make help` lists the targets. Each installs what it needs first (scripts/setup) and may be repeated.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# `make test CARGO_FLAGS=--locked` hands flags to every cargo command that builds.
CARGO_FLAGS ?=
TARGET_DIR := $(abspath $(or $(CARGO_TARGET_DIR),target))

# The `tvm-ffi` crate's build script asks the `tvm-ffi-config` on PATH where libtvm_ffi is.
export PATH := $(CURDIR)/.venv/bin:$(PATH)
export KERNPACK_PYTHON := $(CURDIR)/.venv/bin/python
export KERNPACK_PYTHON_OLDEST := $(CURDIR)/.venv-tvm-ffi-0.1.0/bin/python
# The libraries of the Python package, for those who run it from its folder.
export KERNPACK_NATIVE := $(TARGET_DIR)/native
CALL_TYPE := --manifest-path crates/call-type/Cargo.toml --target-dir $(TARGET_DIR)/call-type

# Cargo does not see the files whose `mod` lines a macro writes, so that rustfmt is given each by name.
RUSTFMT := find crates tests benches examples fuzz -name target -prune -o -name '*.rs' -print0 | xargs -0 rustfmt --edition 2024

.PHONY: help
help:
	@echo 'make demo    install the Python package, build packages, and call them from Python, and from a GPU where there is one'
	@echo 'make test    run every test: Rust, aarch64 under qemu, Python'
	@echo 'make build   build the command line tool for use (needs no Python)'
	@echo 'make native  build the libraries of the Python package, for running it from its folder'
	@echo 'make fmt     format Rust and Python'
	@echo 'make lint    check the formatting, run clippy, warnings being errors, pack the crates, and check what they depend on'
	@echo 'make docs    build the Rust documentation, warnings being errors'
	@echo 'make objects make the objects of the runtime again, after a change of it'
	@echo 'make crates  build every crate that is published from its package, as a release would'
	@echo 'make soak    look for failures with new random seeds, for 10 minutes a run (MINUTES=60 RUNS=reference)'
	@echo 'make bench   run the benchmarks'
	@echo 'make clean   remove what was built (environments stay: .venv* and .cache)'

# In an environment of its own, as a user would install it.
.PHONY: demo
demo: export KERNPACK_CLI := $(CURDIR)/.venv-demo/bin/kernpack
demo: export KERNPACK_PYTHON := $(CURDIR)/.venv-demo/bin/python
demo: export KERNPACK_CACHE_DIR := $(TARGET_DIR)/cache-of-demo
demo:
	scripts/setup build demo
	env -u KERNPACK_NATIVE "$$KERNPACK_PYTHON" -m pip install --no-input --disable-pip-version-check --quiet '.[cuda]'
	env -u KERNPACK_NATIVE examples/quick_start/demo.sh
	env -u KERNPACK_NATIVE examples/add_one/demo.sh
	env -u KERNPACK_NATIVE examples/hosts_cuda/demo.sh
	env -u KERNPACK_NATIVE examples/kernels/demo.sh

# The dev profile: the time goes into compiling the tests, not into running them. All is built at once: built alone, the libraries would
# be compiled once without the features that tests ask of the crates, and once with them. Those of Python run two files at once.
.PHONY: test
test: export KERNPACK_CLI := $(TARGET_DIR)/debug/kernpack
test: export KERNPACK_CACHE_DIR := $(TARGET_DIR)/cache-of-tests
test:
	scripts/setup all
	$(MAKE) native BUILT='--workspace --lib --bins --tests'
	cargo test $(CARGO_FLAGS) --workspace
	"$$KERNPACK_PYTHON" -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 0 python-tests

.PHONY: build
build:
	scripts/setup build
	cargo build $(CARGO_FLAGS) --release -p kernpack-cli

# The dev profile here too. The type of functions cannot be built otherwise than optimised, as it has no std.
BUILT := --package kernpack-python
.PHONY: native
native:
	scripts/setup build
	cargo build $(CARGO_FLAGS) $(BUILT)
	cargo build $(CARGO_FLAGS) --release $(CALL_TYPE)
	mkdir -p $(KERNPACK_NATIVE)
	ln -sf $(TARGET_DIR)/debug/libkernpack.so $(TARGET_DIR)/call-type/release/libkernpack_call.so $(KERNPACK_NATIVE)

.PHONY: fmt
fmt:
	scripts/setup python
	$(RUSTFMT)
	ruff format

.PHONY: lint
lint:
	scripts/setup build oldest python
	$(RUSTFMT) --check
	ruff format --check
	cargo clippy $(CARGO_FLAGS) --workspace --all-targets -- -D warnings
	cargo clippy $(CARGO_FLAGS) --release $(CALL_TYPE) -- -D warnings
	cargo check $(CARGO_FLAGS) --manifest-path fuzz/Cargo.toml --target-dir $(TARGET_DIR)
	scripts/lint-objects $(CARGO_FLAGS)
	scripts/packed-crates $(CARGO_FLAGS)
	cargo deny --locked check licenses sources bans

# A test compares.
.PHONY: objects
objects:
	scripts/setup build
	cargo run $(CARGO_FLAGS) --quiet -p kernpack-runtime --features writer --example objects

# Nothing is published by it.
.PHONY: crates
crates:
	scripts/setup build python
	cargo publish $(CARGO_FLAGS) --workspace --dry-run

.PHONY: docs
docs: export RUSTDOCFLAGS := -D warnings
docs:
	scripts/setup build python
	cargo doc $(CARGO_FLAGS) --workspace --no-deps

# Optimised: the time goes into running.
MINUTES ?= 10
.PHONY: soak
soak: export KERNPACK_NATIVE := $(TARGET_DIR)/wheel
soak: export KERNPACK_CLI := $(TARGET_DIR)/release/kernpack
soak:
	scripts/setup build python pythons
	env -u KERNPACK_NATIVE "$$KERNPACK_PYTHON" python/build_native.py
	cargo build $(CARGO_FLAGS) --release -p kernpack-tests -p kernpack-cli
	scripts/soak --minutes $(MINUTES) $(RUNS)

# The libraries as they are in the wheel.
.PHONY: bench
bench: export KERNPACK_NATIVE := $(TARGET_DIR)/wheel
bench:
	scripts/setup build python
	env -u KERNPACK_NATIVE "$$KERNPACK_PYTHON" python/build_native.py
	cargo run $(CARGO_FLAGS) --release -p kernpack-benches

.PHONY: clean
clean:
	cargo clean
