#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes functions of kernels, in C and in Python, and asks what is in a file that they were written to; compares all that was printed with
# expected.txt. Kernels in Python run on the interpreter, and on a GPU where there is one, and PyTorch. KERNPACK_PYTHON names an interpreter
# that has kernpack and NumPy. Nothing is built here but the kernels.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${KERNPACK_PYTHON:-python3}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# The user's own cache is left alone.
export KERNPACK_CACHE_DIR=$folder/cache

demo() {
    "$python" "$here/kernel.py" "$folder/scale.so"
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
