# SPDX-License-Identifier: Apache-2.0
"""The package `kernpack` on a GPU: kernels from every source, results, streams, graphs, and what is
refused. `scripts/gpu-test` runs this with the package that a wheel has installed.

Not here: the cache and other processes (`test_python_cache.py`), operators of PyTorch
(`test_torch_op.py`) and JAX (`test_jax_call.py`).
"""

import dataclasses
import gc
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import kernpack as kp
import pytest
import python_kernels as kernels
import torch
import tvm_ffi
from graphs import assert_replayed, captured
from python_kernels import ADD_ONE, LAYOUT, SIGNATURE, ramp

FOLDER = Path(os.environ["KERNPACK_GPU_BUNDLE"])
A_WHILE = 50_000_000  # cycles: about 25 ms
MIB = 1 << 20
needs_two = pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs")


@pytest.fixture(scope="module")
def add_one():
    return kernels.add_one()


@pytest.fixture(scope="module")
def added():
    return kernels.added()


@pytest.fixture(scope="module")
def chain():
    return kernels.chain().load()


def check(f, n=1000, amount=1.0, device="cuda"):
    a, b = ramp(n, device)
    f(a, b)
    assert torch.equal(b, a + amount)


# Sources


def test_the_wheel_is_what_runs():
    installed = [
        Path(entry).resolve() for entry in os.environ["PYTHONPATH"].split(os.pathsep) if entry
    ]
    assert Path(kp.__file__).resolve().parent.parent in installed
    assert "KERNPACK_NATIVE" not in os.environ
    version = subprocess.run(
        [os.environ["KERNPACK_CLI"], "--version"], capture_output=True, text=True, check=True
    )
    assert version.stdout.startswith("kernpack ")


@pytest.mark.parametrize("n", [0, 1, 256, 257, 1 << 20])
def test_cuda_text(add_one, n):
    check(add_one, n)


def test_cuda_is_compiled_for_the_gpus_that_are_here(monkeypatch):
    monkeypatch.delenv("KERNPACK_ARCH", raising=False)
    here = sorted({kernels.arch("sm", device) for device in range(torch.cuda.device_count())})
    assert kernels.archs(kernels.add_one(doc="for what is here")) == here


def test_a_cuda_file(tmp_path):
    (tmp_path / "amount.h").write_text("#define AMOUNT (HALF + HALF + 1.0f)\n")
    file = tmp_path / "add_one.cu"
    file.write_text('#include "amount.h"\n' + ADD_ONE.replace("+ 1;", "+ AMOUNT;"))
    check(kp.cuda(file, SIGNATURE, **LAYOUT, define={"HALF": "0.5f"}), amount=2.0)


def test_ptx_text_and_file():
    text = kernels.add_one(arch=kernels.arch("compute")).ptx[kernels.arch("compute")]
    assert ".visible .entry add_one(" in text
    check(kp.ptx(text, SIGNATURE, **LAYOUT))
    check(kp.ptx(FOLDER / "add_one.ptx", SIGNATURE, **LAYOUT))


@pytest.mark.parametrize(
    "bring, option, suffix", [(kp.cubin, "-cubin", "cubin"), (kp.fatbin, "-fatbin", "fatbin")]
)
def test_what_nvcc_compiles(tmp_path, bring, option, suffix):
    (tmp_path / "add_one.cu").write_text(ADD_ONE)
    output = tmp_path / f"add_one.{suffix}"
    subprocess.run(
        ["nvcc", option, f"-arch={kernels.arch()}", tmp_path / "add_one.cu", "-o", output],
        check=True,
    )
    check(bring(output, SIGNATURE, **LAYOUT))
    check(bring(output.read_bytes(), SIGNATURE, **LAYOUT))


def test_ptx_and_machine_code_of_a_function():
    sm, compute = kernels.arch(), kernels.arch("compute")
    f = kernels.add_one(arch=[sm, compute])
    assert list(f.ptx) == [compute] and f".target {sm}" in f.ptx[compute]
    assert list(f.sass) == [sm] and "STG" in f.sass[sm] and "add_one" in f.sass[sm]
    assert f.device_type == "cuda" and "b.shape[0]" in f.plan


def test_a_package_file():
    module = kp.load(FOLDER / "add_one.toml")
    assert module.functions == ["add_one", "wide", "on"]
    check(module.add_one)
    a, b = ramp()
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    module.on(b=b, a=a, s=stream)
    stream.synchronize()
    assert torch.equal(b, a + 1)


@pytest.mark.parametrize("submit", ["plain", "graph"])
def test_how_launches_are_submitted(submit):
    f = kernels.add_one(submit=submit)
    a, b = ramp()
    for round in range(20):
        f(a.fill_(round), b)
        assert torch.equal(b, a + 1)


# Triton


@pytest.fixture
def triton_add():
    pytest.importorskip("triton")
    from triton_test_kernels import add

    return add


TRITON = {"grid": "ceildiv(n, 256)", "constexprs": {"BLOCK": 256}}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
def test_triton_for_each_dtype(triton_add, dtype):
    f = kp.triton(
        triton_add,
        "add(x: Tensor([n], T), y: Tensor([n], T, mut)) where T in {float32, float16, int32}",
        **TRITON,
    )
    assert len(f.metadata["launches"]) == 3
    for n in (0, 1, 1000):
        x = torch.arange(n, device="cuda").to(dtype)
        y = torch.zeros_like(x)
        f(x, y)
        assert torch.equal(y, x + 1)
    with pytest.raises(TypeError, match="float64"):
        f(x.double(), y)


def test_triton_is_told_of_alignment_that_calls_then_need(triton_add):
    f = kp.triton(
        triton_add,
        "add(x: Tensor([n], float32, align=16), y: Tensor([n], float32, align=16, mut))",
        **TRITON,
    )
    check(f)
    x, y = ramp()
    with pytest.raises(ValueError, match="align"):
        f(x[1:], y[1:])


def test_what_triton_compiled(triton_add):
    x, y = ramp()
    compiled = triton_add.warmup(x, y, 1000, BLOCK=256, grid=(4,))
    signature = "add(x: Tensor([n], float32), y: Tensor([n], float32, mut))"
    f = kp.triton(compiled, signature, args=["x", "y", "n: int32"], grid="ceildiv(n, 256)")
    check(f)
    check(f, 5000)


def test_triton_is_not_asked_where_compiling_is_forbidden(triton_add, monkeypatch):
    monkeypatch.setenv("KERNPACK_JIT", "forbid")
    with pytest.raises(kp.CompileForbidden, match="Triton would have to compile `add`"):
        kp.triton(
            triton_add, "add(x: Tensor([n], float64), y: Tensor([n], float64, mut))", **TRITON
        )


# Calls


def test_several_launches_and_conditions(chain):
    for n in (1000, 1001):
        x, _ = ramp(n)
        sign = 1 if n % 2 == 0 else -1
        assert torch.equal(chain.chain(x), 2 * x + sign)
        assert torch.equal(chain.chain(x, by=5), 2 * x + 5 * sign)
        assert torch.equal(chain.chain(by=0.5, x=x), 2 * x + 0.5 * sign)
        y = torch.zeros_like(x)
        chain.chain.out(x, y=y, by=3)
        assert torch.equal(y, 2 * x + 3 * sign)


def test_several_results_have_names(chain):
    x, _ = ramp()
    both = chain.both(x)
    assert (
        both._fields == ("up", "down")
        and type(both.up) is torch.Tensor
        and both.up.device == x.device
    )
    assert torch.equal(both.up, x + 1) and torch.equal(both.down, x - 1)


def test_keywords(add_one):
    a, b = ramp()
    add_one(b=b, a=a)
    assert torch.equal(b, a + 1)
    add_one(a.mul_(2), b=b)
    assert torch.equal(b, a + 1)
    with pytest.raises(TypeError, match=r"add_one\(\) got an unexpected keyword argument 'c'"):
        add_one(a, b, c=b)


def test_results_are_made_on_the_current_stream(added, chain):
    a, _ = ramp(MIB)
    # A first call loads code, which takes longer than the kernel sleeps.
    added(a), chain.chain(a)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(A_WHILE)
        a.fill_(41)
        c = added(added(a))
        d = chain.chain(a)
        done = stream.record_event()
    assert not done.query(), "behind a kernel that sleeps"
    stream.synchronize()
    assert torch.all(c == 43) and torch.all(d == 83)


def test_many_threads_make_the_first_call():
    f = kernels.add_one(doc="which no other test calls")
    a, _ = ramp()
    outputs, failures = [torch.zeros_like(a) for _ in range(16)], []
    torch.cuda.synchronize()

    def work(b):
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                f(a, b=b)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(b,)) for b in outputs]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    torch.cuda.synchronize()
    assert not failures
    assert all(torch.equal(b, a + 1) for b in outputs)


# Results without a framework


def free():
    """How many bytes of the device nobody has."""
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return torch.cuda.mem_get_info()[0]


def free_now():
    """What is free, whatever still runs."""
    return torch.cuda.mem_get_info()[0]


def test_results_that_kernpack_allocates(added):
    n = 16 * MIB
    a = tvm_ffi.from_dlpack(torch.arange(n, device="cuda", dtype=torch.float32))
    torch.cuda.synchronize()
    added(a)
    before = free()
    b = added(a)
    assert type(b) is tvm_ffi.Tensor and b.shape == (n,)
    assert before - free() >= 4 * n, "the result is in memory of the device"
    view = torch.from_dlpack(b)
    assert view.device.type == "cuda" and view[-1].item() == n
    c = added(b)
    assert torch.from_dlpack(c)[1].item() == 3
    del b, c, view
    for _ in range(100):
        added(a)
    assert before - free() < 4 * MIB, "the memory comes back"


def test_workspaces_that_kernpack_allocates(chain):
    n = 16 * MIB
    x, y = (tvm_ffi.from_dlpack(torch.ones(n, device="cuda")) for _ in range(2))
    torch.cuda.synchronize()
    chain.chain.out(x, by=1.0, y=y)
    before = free()
    for _ in range(100):
        chain.chain.out(x, by=1.0, y=y)
    assert before - free() < 4 * MIB
    assert torch.all(torch.from_dlpack(y) == 3)


def test_results_and_workspaces_come_in_the_order_of_a_stream(chain):
    n, device = 16 * MIB, tvm_ffi.device("cuda", 0)
    x = tvm_ffi.from_dlpack(torch.ones(n, device="cuda"))
    stream = torch.cuda.Stream()
    busy = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(busy):
        torch.cuda._sleep(20 * A_WHILE)
    before = free_now()
    with tvm_ffi.use_raw_stream(device, stream.cuda_stream):
        last = None
        for by in range(100):
            last = chain.chain(x, by=float(by))
    stream.synchronize()
    assert not busy.query(), "no call waits for other streams"
    assert before - free_now() < 8 * 4 * n, "memory is used again before anybody waits"
    assert torch.all(torch.from_dlpack(last) == 2 + 99)
    del last
    with tvm_ffi.use_raw_stream(device, stream.cuda_stream):
        chain.chain(x, by=0.0)
    torch.cuda.synchronize()
    assert before - free_now() < 4 * n + 4 * MIB, (
        "what the last call returned is kept for its stream"
    )


def test_memory_of_kernpacks_in_a_graph(chain):
    x, y = (torch.ones(1000, device="cuda") for _ in range(2))
    mine = [tvm_ffi.from_dlpack(each) for each in (x, y)]
    chain.chain.out(mine[0], by=1.0, y=mine[1])

    def call():
        stream = torch.cuda.current_stream().cuda_stream
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 0), stream):
            chain.chain.out(mine[0], by=3.0, y=mine[1])

    graph = captured(call)
    assert_replayed(graph, x, lambda: torch.equal(y, 2 * x + 3))


def test_refused_calls_keep_nothing(added, chain):
    n = 16 * MIB
    a = tvm_ffi.from_dlpack(torch.ones(2, n // 2, device="cuda"))
    flat = torch.ones(n, device="cuda")
    references = sys.getrefcount(flat)
    before = free()
    for _ in range(100):
        with pytest.raises(ValueError, match="expected ndim=1, got 2"):
            added(a)
        with pytest.raises(TypeError):
            chain.chain(flat, by="much")
    assert before - free() < 4 * MIB
    assert sys.getrefcount(flat) == references


def test_arrays_of_cupy(added):
    cupy = pytest.importorskip("cupy")
    a = cupy.arange(1000, dtype="float32")
    cupy.cuda.Device(0).synchronize()
    assert torch.equal(torch.from_dlpack(added(a)), torch.from_dlpack(a) + 1)


JAX = """
import sys
import jax, jax.numpy as jnp, torch
import python_kernels as kernels
added, chain = kernels.added(), kernels.chain()
a = jnp.arange(1 << 22, dtype=jnp.float32).block_until_ready()
check = lambda tensor, expected: torch.equal(torch.from_dlpack(tensor).cpu(), torch.arange(1 << 22).float() * expected[0] + expected[1])
assert a.devices().pop().platform == "gpu"
assert check(added(a), (1, 1)) and check(chain.chain(a, by=4), (2, 4))
torch.cuda.synchronize()
before = torch.cuda.mem_get_info()[0]
kept = added(a)
assert before - torch.cuda.mem_get_info()[0] >= 1 << 24
del kept
for _ in range(200):
    chain.chain(added(a))
torch.cuda.synchronize()
print((before - torch.cuda.mem_get_info()[0]) >> 20)
"""


def test_arrays_of_jax():
    pytest.importorskip("jax")
    grown = kernels.python(
        JAX,
        PYTHONPATH=f"{FOLDER}{os.pathsep}{os.environ['PYTHONPATH']}",
        XLA_PYTHON_CLIENT_PREALLOCATE="false",
    )
    assert int(grown.splitlines()[-1]) < 4, "MiB"


# Prepared calls and graphs


def test_a_prepared_call_follows_the_current_stream(add_one):
    a, b = ramp(MIB)
    prepared = add_one.prepare(a, b=b)
    streams = [
        torch.cuda.Stream(),
        torch.cuda.default_stream(),
        torch.cuda.Stream(),
        torch.cuda.Stream(priority=-1),
    ]
    for value, stream in enumerate([*streams, *streams], 10):
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(A_WHILE)
            a.fill_(value)
            prepared()
            done = stream.record_event()
        assert not done.query(), "behind a kernel that sleeps"
        stream.synchronize()
        assert torch.all(b == value + 1)


class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


@dataclasses.dataclass
class PairData:
    a: torch.Tensor
    b: torch.Tensor


@pytest.mark.parametrize("kind", [Pair, PairData, lambda *pair: pair, lambda *pair: [*pair]])
def test_what_is_prepared_from_a_tuple_follows_the_current_stream(kind):
    signature = "add_one(p: Tuple(a: Tensor([n], float32), b: Tensor([n], float32, mut)))"
    f = kp.cuda(ADD_ONE, signature, **{**LAYOUT, "args": ["p.a", "p.b", "n: int32"]})
    a, b = ramp(MIB)
    prepared = f.prepare(kind(a, b))
    prepared()
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(A_WHILE)
        a.fill_(41)
        prepared()
        done = stream.record_event()
    assert not done.query(), "behind a kernel that sleeps"
    stream.synchronize()
    assert torch.all(b == 42)


def test_a_prepared_call_leaves_the_stream_of_others_alone(add_one):
    a, b = ramp(MIB)
    prepared = add_one.prepare(a, b)
    x, y = (tvm_ffi.from_dlpack(tensor) for tensor in ramp(MIB))
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(A_WHILE)
        prepared()
        done = stream.record_event()
        # A call without a tensor of PyTorch goes where TVM-FFI says: not behind the kernel that
        # sleeps.
        add_one(x, y)
        torch.cuda.default_stream().synchronize()
        assert not done.query()
        assert torch.from_dlpack(y)[1].item() == 2
    stream.synchronize()
    assert torch.equal(b, a + 1)


def test_a_prepared_call_in_threads_with_streams_of_their_own(add_one):
    pairs = [ramp() for _ in range(8)]
    prepared = [add_one.prepare(*pair) for pair in pairs]
    torch.cuda.synchronize()

    def work(call, a):
        with torch.cuda.stream(torch.cuda.Stream()):
            for value in range(200):
                a.fill_(value)
                call()

    threads = [
        threading.Thread(target=work, args=(call, a)) for call, (a, _) in zip(prepared, pairs)
    ]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    torch.cuda.synchronize()
    assert all(torch.all(b == 200) for _, b in pairs)


def test_what_is_not_prepared(add_one, added, chain):
    a, b = ramp()
    with pytest.raises(TypeError, match="prepare `added_out`"):
        added.prepare(a)
    with pytest.raises(ValueError, match=r"Mismatched b\.shape\[0\] on argument #1"):
        add_one.prepare(a, b[1:])
    prepared = chain.chain.out.prepare(a, y=b, by=2)
    prepared()
    assert torch.equal(b, 2 * a + 2)


@needs_two
def test_a_prepared_call_of_another_device(add_one):
    a, b = ramp(MIB, "cuda:1")
    prepared = add_one.prepare(a, b)
    stream = torch.cuda.Stream("cuda:1")
    for value in (5, 6):
        torch.cuda.synchronize(1)
        with torch.cuda.stream(stream):
            torch.cuda._sleep(A_WHILE)
            a.fill_(value)
            prepared()
        stream.synchronize()
        assert torch.all(b == value + 1)
    assert torch.cuda.current_device() == 0
    a.fill_(7)
    prepared()
    assert torch.all(b == 8) and torch.cuda.current_device() == 0


@pytest.mark.parametrize("call", ["positional", "keywords", "prepared"])
def test_captured(add_one, call):
    a, b = ramp()
    prepared = add_one.prepare(a, b)
    calls = {
        "positional": lambda: add_one(a, b),
        "keywords": lambda: add_one(b=b, a=a),
        "prepared": prepared,
    }
    torch.cuda.synchronize()
    graph = captured(calls[call])
    torch.cuda.synchronize()
    assert torch.all(b == -1), "captured, not run"
    assert_replayed(graph, a, lambda: torch.equal(b, a + 1))


def test_results_and_workspaces_under_a_capture(chain):
    x, _ = ramp()
    chain.chain(x)
    results = []
    graph = captured(lambda: results.append((chain.chain(x, by=3), chain.both(x))))
    [(y, both)] = results
    assert_replayed(graph, x, lambda: torch.equal(y, 2 * x + 3) and torch.equal(both.down, x - 1))


# What is refused


@pytest.mark.parametrize(
    "call", [lambda f, a, b: f(a, b), lambda f, a, b: f(b=b, a=a), lambda f, a, b: f.prepare(a, b)]
)
def test_what_is_refused_says_why(add_one, call):
    a, b = ramp()
    cases = [
        (ValueError, "expected device_type=cuda, got cpu", a.cpu(), b.cpu()),
        (
            ValueError,
            "Mismatched Tensor on argument #1 .*expected device_type=cuda, got cpu",
            a,
            b.cpu(),
        ),
        (ValueError, r"Mismatched a\.strides\[0\]", ramp(2000)[0][::2], b),
        (
            ValueError,
            r"Mismatched b\.shape\[0\] .*expected to match a\.shape\[0\], got 999",
            a,
            b[1:],
        ),
        (TypeError, "float32", a.double(), b),
        (TypeError, "argument #1", a, 3),
    ]
    for kind, message, *arguments in cases:
        with pytest.raises(kind, match=message):
            call(add_one, *arguments)
    call(add_one, a, b)


@needs_two
def test_devices_are_not_mixed(add_one, added):
    (a, b), (c, d) = ramp(device="cuda:0"), ramp(device="cuda:1")
    with pytest.raises(ValueError, match="Mismatched device index"):
        add_one(a, d)
    check(add_one, device="cuda:1")
    result = added(c)
    assert result.device == c.device and torch.equal(result, c + 1)
    with pytest.raises(ValueError, match="Mismatched device index"):
        added.out(c, b)
    assert torch.cuda.current_device() == 0


@needs_two
def test_results_that_kernpack_allocates_on_another_device(added):
    c, _ = ramp(device="cuda:1")
    torch.cuda.synchronize(1)
    result = torch.from_dlpack(added(tvm_ffi.from_dlpack(c)))
    assert result.device == c.device and torch.equal(result, c + 1)


def test_a_launch_that_the_driver_refuses():
    module = kp.load(FOLDER / "add_one.toml")
    a, b = ramp()
    with pytest.raises(RuntimeError) as error:
        module.wide(a, b, threads=4096)
    assert str(error.value).startswith(
        "CUDA Error: cudaErrorInvalidValue (1, CUDA_ERROR_INVALID_VALUE) launching `add_one` on device 0: "
    )
    assert module.wide.explain(error.value).startswith("cudaErrorInvalidValue (RuntimeError)")
    module.wide(a, b, threads=32, blocks=32)
    assert torch.equal(b, a + 1)


def test_code_for_another_device():
    """A package is built for any device, and says which it has code for when this one is not among
    them.
    """
    other = "sm_120" if kernels.arch() != "sm_120" else "sm_90"
    f = kernels.add_one(arch=other)
    with pytest.raises(
        RuntimeError,
        match=f"^CUDA Error: .* the device is {kernels.arch()}, and the code is for {other}$",
    ):
        f(*ramp())


def test_a_mistake_in_the_kernel():
    with pytest.raises(kp.CompileError) as error:
        kernels.add_one(ADD_ONE.replace("a[i] +", "missing +"))
    assert 'identifier "missing" is undefined' in str(error.value) and "add_one.cu(4)" in str(
        error.value
    )
