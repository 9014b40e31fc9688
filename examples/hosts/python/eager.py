# SPDX-License-Identifier: Apache-2.0
"""Makes the calls with arrays of NumPy or PyTorch: eager.py numpy|torch table.so calls.txt"""

import sys

import tvm_ffi
from calls import NotExpressible, ShapeSpec, TensorSpec, ok, read_calls, show


class WithNumPy:
    def __init__(self):
        import numpy

        self.numpy = numpy

    def tensor(self, spec):
        if spec.is_null:
            raise NotExpressible("an array of NumPy has memory")
        room = self.numpy.zeros(spec.size * 8 + 64 + spec.offset, "uint8")
        start = -room.ctypes.data % 64 + spec.offset
        bytes_wanted = spec.size * self.numpy.dtype(spec.dtype).itemsize
        array = room[start : start + bytes_wanted].view(spec.dtype).reshape(spec.shape)
        if not spec.is_out:
            array[...] = self.numpy.arange(1, spec.size + 1).reshape(spec.shape)
        return array

    def values(self, tensor):
        return self.numpy.asarray(tensor).ravel().tolist()

    def check(self, call):
        if call.function == "add":
            raise NotExpressible("NumPy brings no allocator for results")


class WithTorch:
    def __init__(self):
        import torch

        self.torch = torch

    def tensor(self, spec):
        dtype = getattr(self.torch, spec.dtype)
        room = self.torch.zeros(spec.size + spec.offset // dtype.itemsize, dtype=dtype)
        tensor = room[spec.offset // dtype.itemsize :].view(spec.shape)
        if not spec.is_out:
            tensor.copy_(self.torch.arange(1, spec.size + 1).view(spec.shape))
        if spec.is_null:
            tensor.untyped_storage().resize_(
                0
            )  # as memory-saving trainers do with parameters that are not needed
        return tensor

    def values(self, tensor):
        return tensor.flatten().tolist()

    def check(self, call):
        pass


def build(framework, arg):
    if isinstance(arg, TensorSpec):
        return framework.tensor(arg)
    return tvm_ffi.Shape(arg.extents) if isinstance(arg, ShapeSpec) else arg


def outcome(framework, module, call):
    try:
        framework.check(call)
        args = [build(framework, arg) for arg in call.args]
    except NotExpressible as reason:
        return f"not expressible: {reason}"
    try:
        result = module[call.function](*args)
    except (TypeError, ValueError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    outs = [
        arg for arg, spec in zip(args, call.args) if isinstance(spec, TensorSpec) and spec.is_out
    ]
    if result is not None:
        outs.append(result)
    return ok(framework.values(out) for out in outs)


def main():
    name, library, calls = sys.argv[1:]
    framework = {"numpy": WithNumPy, "torch": WithTorch}[name]()
    module = tvm_ffi.load_module(library)
    for call in read_calls(calls):
        show(call, outcome(framework, module, call))


main()
