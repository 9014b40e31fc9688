# SPDX-License-Identifier: Apache-2.0
"""The command line tool, which is in the library with the compiler: neither TVM-FFI's Python nor
PyTorch is imported.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
from pathlib import Path

from ._library import library_path


def main() -> int:
    """Runs `kernpack` with the arguments of this process."""
    found = importlib.util.find_spec("tvm_ffi")
    if found is None or found.origin is None:
        print(
            "kernpack needs the Python package apache-tvm-ffi: pip install apache-tvm-ffi",
            file=sys.stderr,
        )
        return 2
    # The library's functions for Python need these symbols as it is loaded; the command line calls
    # none of them.
    ctypes.CDLL(str(Path(found.origin).parent / "lib" / "libtvm_ffi.so"), ctypes.RTLD_GLOBAL)
    os.environ.setdefault("KERNPACK_PYTHON", sys.executable)
    library = ctypes.CDLL(str(library_path("libkernpack.so")))
    words = [os.fsencode(word) for word in ["kernpack", *sys.argv[1:]]]
    return int(library.kernpack_main(len(words), (ctypes.c_char_p * len(words))(*words)))


if __name__ == "__main__":
    sys.exit(main())
