# SPDX-License-Identifier: Apache-2.0
"""Makes the calls inside XLA: with_jax.py table.so calls.txt

A call's tensors are XLA's arguments, its outputs XLA's results, everything else a constant of the
compiled program. What XLA reports of a refused call is the message without its kind.
"""

import sys

import jax
import jax_tvm_ffi
import numpy
import tvm_ffi
from calls import NotExpressible, ShapeSpec, TensorSpec, ok, read_calls, show

jax.config.update("jax_enable_x64", True)


def attribute(value):
    match value:
        case None:
            raise NotExpressible("a constant of XLA cannot be None")
        case tuple():
            return numpy.array(value, "int64")
        case ShapeSpec():
            return numpy.array(value.extents, "int64")
    return value


def outcome(module, call):
    order, inputs, outputs, attributes = [], [], [], {}
    for i, arg in enumerate(call.args):
        if isinstance(arg, TensorSpec) and (arg.is_null or arg.offset):
            raise NotExpressible("XLA owns its buffers, and aligns them")
        if isinstance(arg, TensorSpec) and arg.is_out:
            outputs.append(jax.ShapeDtypeStruct(arg.shape, arg.dtype))
        elif isinstance(arg, TensorSpec):
            values = numpy.arange(1, arg.size + 1, dtype=arg.dtype)
            inputs.append(values.reshape(arg.shape))
        else:
            attributes[f"a{i}"] = attribute(arg)
            order.append(f"attrs.a{i}")
            continue
        block = "rets" if arg.is_out else "args"
        if block not in order:
            order.append(block)
        elif order[-1] != block:
            raise NotExpressible("XLA's arguments come in one block")
    if call.function == "add":
        raise NotExpressible("XLA drops what a function returns")
    if any(output.size == 0 for output in outputs):
        raise NotExpressible("XLA leaves out a call whose results are empty")

    target = f"table.{call.number}"
    jax_tvm_ffi.register_ffi_target(target, module[call.function], order, platform="cpu")
    compiled = jax.jit(
        lambda *inputs: jax.ffi.ffi_call(target, tuple(outputs), has_side_effect=True)(
            *inputs, **attributes
        )
    )
    try:
        return ok(numpy.asarray(result).ravel().tolist() for result in compiled(*inputs))
    except jax.errors.JaxRuntimeError as error:
        return "error: " + str(error).removeprefix("INTERNAL: ")


def main():
    library, calls = sys.argv[1:]
    module = tvm_ffi.load_module(library)
    for call in read_calls(calls):
        try:
            show(call, outcome(module, call))
        except NotExpressible as reason:
            show(call, f"not expressible: {reason}")


main()
