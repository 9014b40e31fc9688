# SPDX-License-Identifier: Apache-2.0
"""CuPy, whose arrays arrive through DLPack, and whose current stream has to be passed on:
with_cupy.py rms_norm.so
"""

import sys

import cupy
import ml_dtypes
import report
import tvm_ffi

GPU = tvm_ffi.device("cuda", 0)


def array(values, dtype="float16"):
    return cupy.asarray(values.astype(dtype))


def checksum(out):
    return report.checksum(out.view("uint16").get())


def on_current_stream():
    """A call does not learn CuPy's current stream from its arrays."""
    return tvm_ffi.use_raw_stream(GPU, cupy.cuda.get_current_stream().ptr)


def hold_up():
    """Gives the current stream work that takes long, so that what does not wait for it is found
    out.
    """
    busy = cupy.eye(8192, dtype="float32")
    for _ in range(3):
        busy = busy @ busy


def normed(module, dtype, rows, d, *eps):
    x, w = report.x(rows, d), report.w(d)
    out = cupy.empty((rows, d), dtype)
    with on_current_stream():
        module.rms(array(x, dtype), array(w, dtype), out, *eps)
    report.expect_close(out.dtype.name, out.get(), x, w, *eps)
    return checksum(out)


def main():
    module = tvm_ffi.load_module(sys.argv[1])
    report.show("loaded ahead", report.outcome(module.kernpack_preload_rms_norm, 0))
    report.show("float16", normed(module, "float16", 4, 136))
    report.show("bfloat16", normed(module, ml_dtypes.bfloat16, 3, 4104, 0.5))
    odd = array(report.x(4, 100))
    report.show("refused", report.outcome(module.rms, odd, array(report.w(100)), odd))

    w, inputs = array(report.w(1024)), [array(report.x(8, 1024, shift)) for shift in (11, 22, 33)]
    x = cupy.zeros_like(inputs[0])
    out = cupy.zeros_like(x)
    cupy.cuda.Device(0).synchronize()
    with cupy.cuda.Stream(non_blocking=True), on_current_stream():
        hold_up()
        x[:] = inputs[0]
        module.rms(x, w, out)
        report.show("own stream", checksum(out))

    prepared = module.kernpack_prepare_rms(x, w, out)
    cupy.cuda.Device(0).synchronize()
    sums = []
    with cupy.cuda.Stream(non_blocking=True), on_current_stream():
        for values in inputs[1:]:
            hold_up()
            x[:] = values
            prepared()
            sums.append(checksum(out))
    report.show("prepared", " ".join(sums))


main()
