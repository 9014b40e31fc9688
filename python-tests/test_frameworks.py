# SPDX-License-Identifier: Apache-2.0
"""Packages called with real tensors of real frameworks: what arrives, what comes back, what is
refused.
"""

import os
import re
import subprocess
import sys
import threading

import everything
import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy as np
import pytest
import torch
import tvm_ffi


@pytest.fixture(scope="module")
def module(tmp_path_factory, kernpack):
    """The package of everything, built once."""
    return tvm_ffi.load_module(str(built(tmp_path_factory.mktemp("everything"), kernpack)))


def built(folder, kernpack):
    (folder / "package.toml").write_text(everything.PACKAGE)
    (folder / "everything.c").write_text(everything.KERNELS)
    subprocess.run([kernpack, "build", "package.toml", "-o", "package.so"], cwd=folder, check=True)
    return folder / "package.so"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("given", [False, True])
def test_every_kind_with_pytorch(module, dtype, given):
    x = torch.arange(6, dtype=dtype).reshape(3, 2)
    o = torch.full((3,), 100.0) if given else None
    y = module.everything(*everything.arguments(x, o))
    assert isinstance(y, torch.Tensor) and y.dtype == dtype
    torch.testing.assert_close(y, x + everything.expected_sum(3, 100.0 if given else 0.0))


def test_the_out_twin_takes_its_result(module):
    # The workspace needs an allocator, which PyTorch's arguments bring.
    x, y = torch.ones(2, 2), torch.zeros(2, 2)
    assert module.everything_out(*everything.arguments(x), 0.5, y) is None
    torch.testing.assert_close(y, x + everything.expected_sum(2))


def test_a_failed_host_function_is_a_runtime_error(module):
    with pytest.raises(
        RuntimeError, match="Function `refuse` failed when calling: .* expected status 0, got 5$"
    ):
        module.everything(*everything.arguments(torch.zeros(5, 2)))


def test_numpy_and_tvm_ffi_tensors(module):
    a = np.arange(8, dtype=np.float32)
    b = np.zeros(8, np.float32)
    module.add_one(a, b)
    np.testing.assert_array_equal(b, a + 1)
    c = tvm_ffi.from_dlpack(np.zeros(8, np.float32))
    module.add_one(tvm_ffi.from_dlpack(b), c)
    np.testing.assert_array_equal(np.from_dlpack(c), a + 2)


WITHOUT_AN_ALLOCATOR = """
import sys, everything, numpy, tvm_ffi
module = tvm_ffi.load_module(sys.argv[1])
module.everything(*everything.arguments(numpy.zeros((2, 2), numpy.float32)))
"""


def test_results_without_an_allocator_say_so(tmp_path, kernpack):
    # A process of its own: whatever loads a function with results in this one brings an allocator.
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_AN_ALLOCATOR, built(tmp_path, kernpack)],
        env={**os.environ, "PYTHONPATH": os.path.dirname(everything.__file__)},
        capture_output=True,
        text=True,
    )
    message = "RuntimeError: Cannot allocate the .* when calling: `everything(.*)`: .*allocator"
    assert ran.returncode == 1 and re.search(message, ran.stderr), ran.stderr


def test_jax_on_the_cpu(module):
    jax_tvm_ffi.register_ffi_target("kernpack_add_one", module.add_one, platform="cpu")
    call = jax.ffi.ffi_call("kernpack_add_one", jax.ShapeDtypeStruct((8,), jnp.float32))
    x = jnp.arange(8, dtype=jnp.float32)
    np.testing.assert_array_equal(np.asarray(jax.jit(call)(x)), np.arange(8) + 1)
    wrong = jax.ffi.ffi_call("kernpack_add_one", jax.ShapeDtypeStruct((4,), jnp.float32))
    with pytest.raises(
        jax.errors.JaxRuntimeError,
        match=r"expected to match a\.shape\[0\], got 4 \(a\.shape\[0\] is 8\)",
    ):
        np.asarray(wrong(x))


def test_views_arrive_as_they_are(module):
    base = torch.arange(20, dtype=torch.float32)
    b = torch.zeros(8)
    module.add_one(base[4:12], b)  # 16 bytes from the start: still aligned
    torch.testing.assert_close(b, base[4:12] + 1)
    with pytest.raises(
        ValueError, match="expected data alignment=16 bytes, got address % 16 == 4$"
    ):
        module.add_one(base[1:9], b)
    with pytest.raises(
        ValueError,
        match=r"Mismatched a\.strides\[0\] .* expected to be 1 for row-major order, got 2$",
    ):
        module.add_one(base[0:16:2], b)
    with pytest.raises(ValueError, match="got 0$"):
        module.add_one(torch.zeros(1).expand(8), b)


def test_empty_tensors_and_junk_strides_of_single_dims(module):
    module.add_one(torch.zeros(0), torch.zeros(0))
    junk = torch.empty(100)[::50][:1]
    with pytest.raises(ValueError, match="expected to be divisible by 4, got 1$"):
        module.add_one(junk, torch.zeros(1))
    x = torch.as_strided(torch.arange(8.0), (1, 4), (77, 1))
    torch.testing.assert_close(
        module.everything(*everything.arguments(x)), x + everything.expected_sum(1)
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.bool_(True), "expected int, got a Python object"),
        (np.float32, "expected int, got Function"),
        ("three", "expected int, got str"),
        (None, "expected int, got None"),
        (2.0, "expected int, got float"),
    ],
)
def test_what_is_no_int(module, value, words):
    with pytest.raises(TypeError, match=words + "$"):
        module.everything(*everything.arguments(torch.zeros(2, 2), u64=value))


def test_integers_beyond_64_bits(module):
    for value in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="uint64 range .*, got an integer beyond 64 bits$"):
            module.everything(*everything.arguments(torch.zeros(2, 2), u64=value))
    with pytest.raises(ValueError, match="got -1$"):
        module.everything(*everything.arguments(torch.zeros(2, 2), u64=-1))


def test_half_precision_scalars(load_package):
    kernel = """
        #include <string.h>
        void bits(_Float16 h, _Float16 b, short *out) { memcpy(out, &h, 2); memcpy(out + 1, &b, 2); }
    """
    text = """
        [package]
        name = "halves"
        [[function]]
        signature = "bits(h: float16, b: bfloat16, out: Tensor([2], int16, mut))"
        source = { host = "k.c" }
        symbol = "bits"
        args = ["h", "b", "out"]
    """
    # The C compiler may have no type for bfloat16; it travels in the same half of the same
    # register.
    module, out = load_package(text, {"k.c": kernel}), torch.zeros(2, dtype=torch.int16)
    for value in (0.1, -1.0009765625, 65504.0, 6e-8, 1.0 + 2**-9, float("inf"), float("nan"), -0.0):
        module.bits(value, value, out)
        h = torch.tensor([value], dtype=torch.float64).half().view(torch.int16)
        b = torch.tensor([value], dtype=torch.float64).bfloat16().view(torch.int16)
        if value == value:
            assert out.tolist() == [h.item(), b.item()], value
        else:
            assert all(torch.isnan(out.view(dtype)).all() for dtype in (torch.float16,))
    with pytest.raises(ValueError, match=r"float16 range \[-65504.0, 65504.0\], got 65520.0$"):
        module.bits(65520.0, 0, out)


def test_floats_of_other_c_types_hold_what_their_own_dtype_has(load_package):
    kernel = """
        typedef struct { float h; double b; } pair;
        void floats(float h, double b, double f, pair p, double *out) {
          out[0] = h; out[1] = b; out[2] = f; out[3] = p.h; out[4] = p.b;
        }
    """
    text = """
        [package]
        name = "floats"
        [[function]]
        signature = "floats(h: float16, b: bfloat16, f: float32, out: Tensor([5], float64, mut))"
        source = { host = "k.c" }
        symbol = "floats"
        args = ["h: float32", "b: float64", "f: float64", "struct(h: float32, b: float64)", "out"]
    """
    module, out = load_package(text, {"k.c": kernel}), torch.zeros(5, dtype=torch.float64)
    for value in (0.1, -1.0009765625, 65519.0, 6e-8, 1e-45, 1 / 3, float("inf"), -0.0, 16777217):
        half_value = value if abs(value) < 65520 else float("inf")
        module.floats(half_value, value, value, out)
        h, b = (torch.tensor(number, dtype=torch.float64) for number in (half_value, value))
        h, b, f = h.half().double(), b.bfloat16().double(), b.float().double()
        assert torch.equal(out, torch.stack([h, b, f, h, b])), value


def test_a_list_may_change_between_calls(load_package):
    text = """
        [package]
        name = "lists"
        [[function]]
        signature = "total(t: Tuple(a: int64, b: int64), s: Shape([2, n]), out: Tensor([1], int64, mut))"
        source = { host = "k.c" }
        symbol = "total"
        args = ["t.a", "t.b", "n", "out"]
    """
    kernel = "void total(long a, long b, long n, long *out) { *out = a + b + n; }"
    module, out = load_package(text, {"k.c": kernel}), torch.zeros(1, dtype=torch.int64)
    values = tvm_ffi.List([1, 2])
    module.total(values, tvm_ffi.Shape((2, 5)), out)
    assert out.item() == 8
    values[0] = 10
    module.total(values, [2, 5], out)
    assert out.item() == 17
    values.append(3)
    with pytest.raises(ValueError, match="expected tuple size=2, got 3$"):
        module.total(values, (2, 5), out)


def test_many_threads_call_at_once(module):
    failures = []

    def work(seed):
        x = torch.full((2, 2), float(seed))
        for _ in range(200):
            y = module.everything(*everything.arguments(x))
            if not torch.allclose(y, x + everything.expected_sum(2)):
                failures.append(seed)
            with pytest.raises(ValueError, match="got 3$"):
                module.add_one(torch.zeros(3), torch.zeros(3))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures


def test_metadata_and_documentation(module):
    metadata = module.get_function_metadata("everything")
    assert metadata["kernpack"]["defaults"] == {"f64": 0.5}
    assert "Optional" in str(metadata["type_schema"])
    assert module.get_function_doc("everything") == "every kind of parameter at once"
    assert module.get_function_doc("add_one") is None
