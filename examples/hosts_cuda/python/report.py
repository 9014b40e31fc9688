# SPDX-License-Identifier: Apache-2.0
"""What every host gives to the package, and how it writes down what comes back."""

import numpy


def x(rows, d, shift=0):
    """Values that float16 and bfloat16 both hold exactly."""
    numbers = (numpy.arange(rows * d) * 37 + shift) % 101 - 50
    return (numbers / 32).astype("float32").reshape(rows, d)


def w(d):
    return (1 + numpy.arange(d) % 3 / 4).astype("float32")


def checksum(bits):
    """Of the results' bits, and of their order. `bits`: an array of uint16."""
    bits = numpy.asarray(bits).ravel().astype("uint64")
    return f"{int((bits * numpy.arange(1, bits.size + 1, dtype='uint64')).sum()) % 2**32:08x}"


def show(name, text):
    print(f"{name}: {text}", flush=True)


def expect_close(name, got, x, w, eps=1e-6):
    """The same arithmetic in float64, of which `got` may be a rounding away."""
    x, w, got = (numpy.asarray(array, "float64") for array in (x, w, got))
    wanted = x / numpy.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * w
    rounding = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[name]
    assert (abs(got - wanted) <= rounding * abs(wanted)).all()


def outcome(call, *args):
    try:
        call(*args)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"
