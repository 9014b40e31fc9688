#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the package, and the wheel around it. KERNPACK_CLI names the command line tool, KERNPACK_PYTHON an interpreter that has pip
# and setuptools; further arguments are pip's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

"${KERNPACK_CLI:-kernpack}" build kernels.toml -o src/norms/kernels.so -o src/norms/_kernels.pyi
"${KERNPACK_PYTHON:-python3}" -m pip wheel --no-deps --wheel-dir dist "$@" .
