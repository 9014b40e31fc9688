# SPDX-License-Identifier: Apache-2.0
"""Two packages in one shared object: main.py both.so"""

import sys

import numpy
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])
x, y, count = numpy.array([1, 2, 3]), numpy.zeros(3, "int64"), numpy.zeros(1, "int64")
for name in ("left", "right", "left"):
    module[name](x, y)
    print(name, y)
for name in ("left", "right"):
    module[f"{name}_calls"](count)
    print(f"{name} was called {count[0]} times")
try:
    module.right(x, count)
except ValueError as error:
    print(f"ValueError: {error}")
