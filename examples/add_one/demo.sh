#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the package, calls it from Python, asks what is in the file, and compares all that was printed with
# expected.txt. KERNPACK_CLI names the command line tool, KERNPACK_PYTHON an interpreter that has apache-tvm-ffi.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
kernpack=${KERNPACK_CLI:-kernpack}
python=${KERNPACK_PYTHON:-python3}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

demo() {
    "$kernpack" build "$here/add_one.toml" -o "$folder/add_one.so" >/dev/null
    "$python" "$here/demo.py" "$folder/add_one.so"
    echo "== kernpack inspect add_one.so"
    # What the machine and its C compiler have a part in is not compared.
    (cd "$folder" && "$kernpack" inspect add_one.so) |
        sed -E 's/\b[0-9a-f]{64}\b/<digest>/; s/\b(x86_64|aarch64)\b/<machine>/'
}

demo | tee "$folder/printed.txt"
diff -u "$here/expected.txt" "$folder/printed.txt" || {
    echo "demo: this is not what expected.txt says" >&2
    exit 1
}
