# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/cute_dsl on a GPU: what they compute, on which stream and device, and
what pointers lead to.
"""

import ctypes
import importlib
import sys

import kernpack as kp
import pytest
import torch
import tvm_ffi
from conftest import FOLDER

sys.path.insert(0, str(FOLDER / "examples/cute_dsl"))

NAMES = ["add_one", "streams", "tuples", "argument_types", "errors", "devices", "reduce_sum"]


def example(name):
    return importlib.import_module(name)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_runs(name, capsys):
    example(name).main()
    assert capsys.readouterr().out


def test_dims_in_any_order():
    for order in ((0, 1, 2), (2, 1, 0)):
        function = example("add_one").in_order(*order)
        a = (
            torch.randn(2, 3, 4, device="cuda")
            if order[0]
            else torch.randn(4, 3, 2, device="cuda").permute(2, 1, 0)
        )
        b = torch.empty_like(a)
        function(a, b)
        assert torch.equal(b, a + 1)


def test_launches_are_on_the_stream_that_is_passed():
    module = example("streams")
    side = torch.cuda.Stream()
    for stream, args in ((kp.fake_stream(), (side,)), (kp.fake_stream(env=True), ())):
        function = module.compiled(stream)
        a, b = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            # What is before it on that stream is seen, as nothing else orders the two.
            torch.cuda._sleep(20_000_000)
            a.fill_(3)
            if not args:
                function(a, b)
        if args:
            function(a, b, *args)
        side.synchronize()
        assert bool((b == 4).all())


@pytest.mark.parametrize("how", ["c_void_p", "int", "object"])
def test_pointers(how):
    class Holder:
        def __init__(self, address):
            self.address = address

        def __tvm_ffi_opaque_ptr__(self):
            return self.address

    make = {"c_void_p": ctypes.c_void_p, "int": int, "object": Holder}[how]
    a = torch.arange(1000.0, device="cuda")
    b = torch.full((1002,), 7.0, device="cuda")
    example("argument_types").add_one_behind(make(a.data_ptr()), make(b[1:].data_ptr()), 1000)
    assert torch.equal(b[1:-1], a + 1) and b[0] == 7 and b[-1] == 7
    with pytest.raises(ValueError, match="Misaligned pointer"):
        example("argument_types").add_one_behind(make(a.data_ptr() + 2), make(b.data_ptr()), 4)


def test_each_call_that_is_refused_says_why():
    module = example("errors")
    function = module.compiled()
    for args in module.refused():
        assert module.said(function, *args).startswith(("TypeError: Mism", "ValueError: "))
    a = torch.zeros(10)
    said = module.said(module.as_many_threads, a, a, 4096)
    assert said.startswith(("ValueError", "RuntimeError")), said
    # The device is well after that.
    assert example("add_one").compiled()(*map(torch.Tensor.cuda, (a, a.clone()))) is None


def test_each_device():
    for left in example("devices").on_each():
        assert torch.equal(left.cpu(), torch.arange(1.0, 11.0))


def test_files(tmp_path):
    module = example("exporting")
    module.exported(tmp_path)
    a = torch.arange(100.0, device="cuda")
    b, c = torch.empty_like(a), torch.empty_like(a)
    kp.load_module(tmp_path / "both.so").add_one(a, b)
    tvm_ffi.load_module(str(tmp_path / "add_one.so")).add_one(b, c)
    assert torch.equal(c, a + 2)
    kp.load_module(tmp_path / "both.so").add_of_tuple((c, b, 2.5))
    assert torch.equal(b, a + 4.5)


@pytest.mark.parametrize("name", ["sum_rows", "sum_tiles"])
def test_other_extents_are_the_same_function(name):
    module = example("reduce_sum")
    function = getattr(module, name)
    for m, n in ((1024, 1024), (1024, 32), (7, 100_003), (1, 1)):
        assert module.off(function, m, n) < 1e-5, (m, n)
    assert len({variant.signature for variant in function.variants}) == 1
