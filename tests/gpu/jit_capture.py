# SPDX-License-Identifier: Apache-2.0
"""Prints what becomes of a call of a jit function in a stream that is captured: before it was
compiled, and behind `warmup`. It runs with the driver of tests/cuda-stub too.
"""

import ctypes

import kernpack as kp
import tvm_ffi


@kp.kernel
def count(n):
    counts = kp.make_rmem_tensor(1, kp.int64)
    counts[0] = n


@kp.jit
def counted(n):
    count(n).launch(grid=1, block=32)


@kp.jit("said(n: int64)")
def said(n):
    count(n).launch(grid=1, block=64)


driver, context, stream = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p()
THREAD_LOCAL = 1


def require(code):
    assert code == 0, code


def captured(call):
    """Prints what becomes of a call in a captured stream, whose capture goes on."""
    graph = ctypes.c_void_p()
    require(driver.cuStreamBeginCapture_v2(stream, THREAD_LOCAL))
    try:
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream.value):
            call()
        told = "called"
    except kp.CompileForbidden as error:
        told = str(error)
    require(driver.cuStreamEndCapture(stream, ctypes.byref(graph)))
    print(told)


require(driver.cuInit(0))
require(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
require(driver.cuCtxSetCurrent(context))
require(driver.cuStreamCreate(ctypes.byref(stream), 1))
for function, arguments in ((counted, [3]), (said, [])):
    captured(lambda: function(3))
    function.warmup(*arguments)
    captured(lambda: function(4))
    print(len(function.variants))
