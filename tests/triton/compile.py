# SPDX-License-Identifier: Apache-2.0
"""Compiles the kernels with the Triton that is installed, without a GPU: NAME_VERSION.cubin and
.json, next to this file.

What lies here is of 3.2.0 (which wants setuptools), 3.3.1, 3.4.0, 3.5.1 and 3.6.0: `add` of each,
in clusters of two blocks; `shift` of each that knows descriptors which the host makes (3.4.0 on),
for sm_90 and as NAME_sm80_VERSION for sm_80; `move` and `pad` of 3.6.0.
"""

import json
import os
import tempfile
from pathlib import Path

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
import triton
from kernels import add, move, pad, shift
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

FOLDER = Path(__file__).resolve().parent


def compile(kernel, signature, constants, arch=90, **options):
    # Triton 3.2 has constants beside the signature.
    if not triton.__version__.startswith("3.2."):
        signature |= {name: "constexpr" for name in constants}
    name, suffix = kernel.__name__, "" if arch == 90 else f"_sm{arch}"
    to = FOLDER / f"{name}{suffix}_{triton.__version__}"
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        triton.compile(
            ASTSource(kernel, signature, constants),
            target=GPUTarget("cuda", arch, 32),
            options=options,
        )
        [cubin], [description] = (
            list(Path(cache).glob(f"*/{name}.{ending}")) for ending in ("cubin", "json")
        )
        to.with_name(f"{to.name}.cubin").write_bytes(cubin.read_bytes())
        description = json.loads(description.read_text())
    # Where Triton's libraries lie on this machine is nobody else's business.
    description["extern_libs"] = [
        [library, Path(path).name] for library, path in description["extern_libs"]
    ]
    to.with_name(f"{to.name}.json").write_text(json.dumps(description, indent=1) + "\n")


compile(add, {"x": "*fp32", "y": "*fp32", "n": "i32"}, {"BLOCK": 256}, num_warps=4, num_ctas=2)
if not triton.__version__.startswith(("3.2.", "3.3.")):
    for arch in 90, 80:
        tile = "tensordesc<fp32[16, 64]>"
        compile(shift, {"x": tile, "by": "fp32", "y": tile}, {"ROWS": 16, "COLUMNS": 64}, arch)
if triton.__version__.startswith("3.6."):
    compile(move, {"x": "*fp32", "y": "*fp32", "m": "i32", "n": "i32"}, {"BLOCK": 32}, num_warps=4)
    compile(pad, {"y": "*bf16", "x": "tensordesc<bf16[1, 8, 32]>"}, {"ROWS": 8, "COLUMNS": 32})
