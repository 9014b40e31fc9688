# SPDX-License-Identifier: Apache-2.0
"""Compiles softmax.py for each dtype, without a GPU: Triton's cubin and its JSON, next to this
file.

    python3 -m pip install triton==3.6.0
    python3 compile.py

That all dtypes use one name, `softmax`, does not matter: each launch of the package names its own
file.
"""

import json
import os
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
DTYPES = {"float32": "fp32", "bfloat16": "bf16"}


def compile(dtype):
    # Triton leaves its files in a cache; and line numbers would bring the names of folders.
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"TRITON_CACHE_DIR": cache, "TRITON_DISABLE_LINE_INFO": "1"}
        import triton
        from softmax import softmax
        from triton.backends.compiler import GPUTarget

        signature = {"x": f"*{dtype}", "y": f"*{dtype}", "d": "i32", "BLOCK": "constexpr"}
        source = triton.compiler.ASTSource(softmax, signature, {"BLOCK": 4096})
        triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8})
        [cubin], [description] = (
            list(Path(cache).glob(f"*/softmax.{ending}")) for ending in ("cubin", "json")
        )
        return cubin.read_bytes(), json.loads(description.read_text())


for name, dtype in DTYPES.items():
    cubin, description = compile(dtype)
    # Where Triton's libraries lie on this machine is nobody else's business.
    description["extern_libs"] = [
        [library, Path(path).name] for library, path in description["extern_libs"]
    ]
    (FOLDER / f"softmax_{name}.cubin").write_bytes(cubin)
    (FOLDER / f"softmax_{name}.json").write_text(json.dumps(description, indent=1) + "\n")
