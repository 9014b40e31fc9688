#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles a kernel file to a package, which needs no GPU; runs its functions on the interpreter, which checks every access, and compares what
# that prints with expected.txt; and calls the package on a GPU where there is one, and PyTorch. It says what it leaves out. KERNPACK_CLI names
# the command line tool, KERNPACK_PYTHON an interpreter that has apache-tvm-ffi.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernpack=${KERNPACK_CLI:-kernpack}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

demo() {
    "$kernpack" build "$here/reduce_sum.py" -o "$folder/reduce_sum.so" >/dev/null
    echo "== kernpack inspect reduce_sum.so"
    (cd "$folder" && "$kernpack" inspect reduce_sum.so) | sed -n '/^  reduce_sum/p'
    for function in reduce_sum reduce_sum_tiled reduce_sum_vectors; do
        echo "== kernpack run reduce_sum.py $function m=8 n=100 --check --fill ones"
        "$kernpack" run "$here/reduce_sum.py" "$function" m=8 n=100 --check --fill ones
    done
    echo "== kernpack run gemm.py gemm_simple m=100 n=72 k=64 --check --fill ones"
    "$kernpack" run "$here/gemm.py" gemm_simple m=100 n=72 k=64 --check --fill ones
    echo "== kernpack run gemm.py gemm m=256 n=512 k=256 --check --fill ones"
    "$kernpack" run "$here/gemm.py" gemm m=256 n=512 k=256 --check --fill ones
}

demo | tee "$folder/printed.txt"
diff -u "$here/expected.txt" "$folder/printed.txt" || {
    echo "demo: this is not what expected.txt says" >&2
    exit 1
}

echo "== on a GPU"
"${KERNPACK_PYTHON:-python3}" "$here/demo.py" "$folder/reduce_sum.so"
