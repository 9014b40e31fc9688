#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds a package with GPU kernels, which needs no GPU. Where there is one, the first host that can use it calls the package, and what it prints
# is compared with expected.txt.
#
#   demo.sh [FOLDER]     FOLDER has the package already
#
# KERNPACK_CLI names the command line tool, KERNPACK_PYTHON an interpreter that has apache-tvm-ffi.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"${KERNPACK_PYTHON:-python3}" "$here/run.py" --any ${1:+--built "$1"}
