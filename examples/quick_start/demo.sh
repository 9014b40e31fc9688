#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes functions of kernels in Python, and asks what is in the file that they were written to; compares all that was
# printed with expected.txt. KERNPACK_PYTHON names an interpreter that has kernpack and NumPy. Nothing is built here but
# the kernels, which a C compiler does.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${KERNPACK_PYTHON:-python3}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The user's own cache is left alone.
export KERNPACK_CACHE_DIR=$folder/cache

demo() {
    "$python" "$here/demo.py" "$folder/vectors.so"
    echo "== again, where nothing may be compiled"
    KERNPACK_JIT=forbid "$python" "$here/demo.py" "$folder/vectors.so" | sed -n '2p'
    echo "== kernpack inspect vectors.so"
    # What the machine and its C compiler have a part in is not compared.
    (cd "$folder" && "$python" -m kernpack inspect vectors.so) | sed -n '/^  axpy/,$p'
}

demo | tee "$folder/printed.txt"
diff -u "$here/expected.txt" "$folder/printed.txt" || {
    echo "demo: this is not what expected.txt says" >&2
    exit 1
}
