# SPDX-License-Identifier: Apache-2.0
"""Calls the package that is named on the command line: twice as it wants to be called, three times
as it does not.
"""

import sys

import numpy
import tvm_ffi

module = tvm_ffi.load_module(sys.argv[1])


def show_refusal(*args):
    try:
        module.add_one(*args)
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        raise AssertionError("the call was accepted")


print("== NumPy arrays")
a = numpy.arange(4, dtype="float32")
b = numpy.empty_like(a)
module.add_one(a, b)
numpy.testing.assert_array_equal(b, [1, 2, 3, 4])
print(a, "->", b)

print("== tvm_ffi tensors")
a = tvm_ffi.from_dlpack(numpy.linspace(0, 1, 5, dtype="float32"))
b = tvm_ffi.from_dlpack(numpy.zeros(5, dtype="float32"))
module.add_one(a, b)
result = numpy.from_dlpack(b)
numpy.testing.assert_array_equal(result, [1, 1.25, 1.5, 1.75, 2])
print(numpy.from_dlpack(a), "->", result)

print("== refused calls")
a = numpy.zeros(128, "float32")
show_refusal(a)
show_refusal(a, numpy.zeros(128, "float64"))
show_refusal(a, numpy.zeros(126, "float32"))
