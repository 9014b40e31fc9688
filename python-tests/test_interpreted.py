# SPDX-License-Identifier: Apache-2.0
"""`Function.check`: calls on the interpreter, with arrays of NumPy, PyTorch and JAX."""

import os
import pickle
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import jax.numpy as jnp
import kernpack as kp
import numpy as np
import pytest
import torch
import tvm_ffi
from kernpack import _check, _native

KERNELS = """
import kernpack as kp


@kp.kernel
def add(x, y, s):
    i = kp.block_idx()[0] * 64 + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] + s


@kp.jit("adds(x: Tensor([n], float32), y: Tensor([n], float32, mut), s: float32 = 1.0)")
def adds(x, y, s):
    add(x, y, s).launch(grid=(x.shape[0] + 63) // 64, block=64)


@kp.kernel
def sum_rows(x, out):
    partial = kp.shared(kp.float32, 2)
    row = kp.block_idx()[0]
    acc = kp.float32(0)
    for i in range(kp.thread_idx()[0], x.shape[1] + 1, 64):
        acc += x[row, i]
    acc = kp.warp_reduction_sum(acc)
    if kp.lane_idx() == 0:
        partial[kp.warp_idx()] = acc
    if kp.thread_idx()[0] == 0:
        out[row] = partial[0] + partial[1]


@kp.jit("sums(x: Tensor([m, n], float32)) -> out: Tensor([m], float32)")
def sums(x, out):
    sum_rows(x, out).launch(grid=x.shape[0], block=64)


@kp.kernel
def double(x, y, z):
    i = kp.thread_idx()[0]
    y[i] = x[i] + x[i]
    z[i] = x[i]


@kp.jit(
    "pair(x: Tensor([n], T)) -> y: Tensor([n], T), z: Tensor([n], T)"
    " where T in {float16, bfloat16, float32}, n <= 64"
)
def pair(x, y, z):
    double(x, y, z).launch(grid=1, block=x.shape[0])


@kp.kernel
def scale(x, w):
    i = kp.thread_idx()[0]
    x[i] = x[i] * w[i]


@kp.kernel
def negate(x):
    i = kp.thread_idx()[0]
    x[i] = -x[i]


@kp.jit("scaled(x: Tensor([n], float32, mut), w: Optional[Tensor([n], float32)] = None) where n <= 64")
def scaled(x, w):
    if w is None:
        negate(x).launch(grid=1, block=x.shape[0])
    else:
        scale(x, w).launch(grid=1, block=x.shape[0])


@kp.jit("both(t: Tuple(x: Tensor([n], float32, mut), w: Tensor([n], float32))) where n <= 64")
def both(t):
    scale(t.x, t.w).launch(grid=1, block=t.x.shape[0])


@kp.kernel
def spin(x, n):
    i = 0
    while i < n:
        x[0] = i
        i += 1


@kp.jit("endless(x: Tensor([1], int64, mut), n: int64)")
def endless(x, n):
    spin(x, n).launch(grid=1, block=1)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("check") / "checked.py"
    path.write_text(KERNELS)
    return path


@pytest.fixture(scope="module")
def module(path) -> kp.Module:
    return kp.load(path)


def line_of(text: str) -> int:
    return KERNELS[: KERNELS.index(text)].count("\n") + 1


def test_a_call_in_which_nothing_is_wrong(module):
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    checked = module.adds.check(x, y, 2.5)
    assert checked and checked.ok and checked.findings == [] and checked.results is None
    assert repr(checked) == "<kernpack.Checked: nothing found>"
    assert checked.arguments[0] is x and checked.arguments[2] == 2.5
    np.testing.assert_array_equal(checked.arguments[1], x + 2.5)
    assert not y.any()


def test_defaults_and_keywords(module):
    x, y = np.ones(3, np.float32), np.zeros(3, np.float32)
    assert module.adds.check(y=y, x=x).arguments[1].tolist() == [2, 2, 2]
    assert module.adds.check(x, y).arguments[1].tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        module.adds.check(x, y, z=1)


def test_findings_say_the_line(module, path):
    checked = module.sums.check(np.ones((2, 100), np.float32))
    assert not checked and not checked.ok
    assert [finding.code for finding in checked.findings] == [
        "uninitialised-read",
        "index-out-of-bounds",
        "shared-race",
    ]
    overrun, race = checked.findings[1:]
    assert overrun.message.startswith("index 100 is out of bounds: the extent is 100")
    assert (overrun.file, overrun.line, overrun.column) == (
        str(path),
        line_of("acc += x[row, i]"),
        16,
    )
    assert "acc += x[row, i]\n" in overrun.text and overrun.text in str(checked)
    assert str(overrun) == overrun.text
    assert race.line == line_of("partial[kp.warp_idx()] = acc")
    assert "acc += x" not in repr(overrun) and "index-out-of-bounds" in repr(overrun)
    with pytest.raises(AttributeError):
        overrun.line = 3
    with pytest.raises(AttributeError):
        checked.results = 3


def test_results_are_of_the_frameworks(module):
    x = np.arange(4, dtype=np.float32)
    results = module.pair.check(x).results
    assert type(results.y) is np.ndarray and results.y.tolist() == [0, 2, 4, 6]
    assert results._fields == ("y", "z") and results.z.tolist() == x.tolist()
    tensor = torch.arange(4, dtype=torch.bfloat16)
    results = module.pair.check(tensor).results
    assert results.y.dtype == torch.bfloat16 and results.y.tolist() == [0, 2, 4, 6]
    array = jnp.arange(4, dtype=jnp.float16)
    results = module.pair.check(array).results
    assert isinstance(results.y, jnp.ndarray) and results.y.dtype == jnp.float16
    assert results.y.tolist() == [0, 2, 4, 6]
    sums = module.sums.check(torch.ones(3, 64)).results
    assert isinstance(sums, torch.Tensor) and sums.shape == (3,)


def test_the_twin_takes_results_as_arguments(module):
    x, y, z = (np.full(5, fill, np.float32) for fill in (3, 0, 0))
    checked = module.pair_out.check(x, y, z)
    assert checked.ok and checked.results is None
    assert checked.arguments[1].tolist() == [6] * 5 and not y.any()


def test_tensors_that_overlap_do_so_in_the_copy(module):
    base = np.arange(65, dtype=np.float32)
    checked = module.adds.check(base[:64], base[1:], 0.0)
    races = {finding.code for finding in checked.findings}
    assert races == {"global-race"} and "`x/y[1]`" in checked.findings[0].message
    assert base.tolist() == list(range(65))
    shared = torch.arange(65, dtype=torch.float32)
    assert not module.adds.check(shared[:64], shared[1:])
    # The same tensor twice: each thread reads and writes its own element.
    checked = module.adds.check(base, base, 1.0)
    assert checked.ok and checked.arguments[0] is base
    assert checked.arguments[1].tolist() == list(range(1, 66))


def test_tensors_that_touch_are_apart(module):
    base = np.zeros(128, np.float32)
    assert module.adds.check(base[:64], base[64:], 1.0).ok


def test_strides_stay(module, tmp_path):
    text = KERNELS.replace(
        "y: Tensor([n], float32, mut)", "y: Tensor([n], float32, mut, strides=any)"
    )
    (tmp_path / "strided.py").write_text(text)
    strided = kp.load(tmp_path / "strided.py")
    for array in (np.zeros((5, 3), np.float32), torch.zeros(5, 3)):
        checked = strided.adds.check(np.arange(5, dtype=np.float32), array[:, 1], 1.0)
        assert checked.ok and checked.arguments[1].tolist() == [1, 2, 3, 4, 5]
        assert not array.any()


KERNEL_ARGUMENT = np.arange(3, dtype=np.float32)


class On:
    """An array of a device of DLPack's."""

    __dlpack__ = None

    def __init__(self, kind):
        self.kind = kind

    def __dlpack_device__(self):
        return self.kind, 1


def test_what_the_host_reads_stays_where_it_is():
    host = _check._Host()
    arrays = [On(kind) for kind in (1, 2, 3, 4, 13, 14)]
    (passed,) = host.copied((tuple(arrays),))
    assert list(passed) == arrays == host.tensors
    assert host.devices == [None, (2, 1), None, (4, 1), None, (14, 1)]


def test_a_copy_of_a_gpus_memory_is_laid_out_as_it_is_there():
    """Also a tensor of the host may be copied so."""
    host, base = _check._Host(), torch.arange(24.0).reshape(4, 6)
    one, two = base[1:, 2:], base[2:].T
    copies = [host._of_torch(one), host._of_torch(two)]
    for tensor, copied in zip((one, two), copies):
        assert copied.equal(tensor) and copied.stride() == tensor.stride()
        assert (
            (copied.data_ptr() - tensor.data_ptr()) % 4096
            == 0
            != copied.data_ptr() - tensor.data_ptr()
        )
    copies[0][1, 0] = -1.0
    assert copies[1][2, 0] == -1.0 and base[2, 2] == 14.0


def test_arrays_of_other_devices_are_copied_to_the_host(monkeypatch):
    """With the CPU for another device."""
    monkeypatch.setattr(_check, "_HOST", (2,))
    host, tensor, array = _check._Host(), torch.arange(3.0), jnp.arange(3.0)
    of_torch, of_jax, of_numpy = host.copied((tensor, array, KERNEL_ARGUMENT))
    assert of_torch.equal(tensor) and of_torch.data_ptr() != tensor.data_ptr()
    assert of_jax.tolist() == [0, 1, 2] and of_numpy is KERNEL_ARGUMENT
    assert host.devices == [(1, 0)] * 3


def test_what_comes_back_goes_to_the_device_that_the_argument_was_on():
    told = tvm_ffi.from_dlpack(np.arange(3.0))
    made = _check._like(torch.empty(1, device="meta"))(told)
    assert made.device.type == "meta" and made.shape == (3,)

    def framework(message):
        def from_dlpack(_):
            raise RuntimeError(message)

        return types.SimpleNamespace(from_dlpack=from_dlpack)

    assert _check._converted(framework("no such dtype"), told, "meta") is told
    with pytest.raises(RuntimeError, match="no memory"):
        _check._converted(framework("no memory"), told, "meta")


def test_none_and_tuples(module):
    x, w = np.arange(1, 4, dtype=np.float32), np.full(3, 2, np.float32)
    assert module.scaled.check(x).arguments[0].tolist() == [-1, -2, -3]
    assert module.scaled.check(x, None).arguments == (pytest.approx([-1, -2, -3]), None)
    assert module.scaled.check(x, w).arguments[0].tolist() == [2, 4, 6]
    [(scaled, same)] = module.both.check((x, w)).arguments
    assert scaled.tolist() == [2, 4, 6] and same is w
    assert module.both.check([x, w]).arguments[0][0].tolist() == [2, 4, 6]
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "args",
    [
        (1.0, np.zeros(4, np.float32), 1.0),
        (np.zeros(4), np.zeros(4, np.float32), 1.0),
        (np.zeros((2, 2), np.float32), np.zeros(4, np.float32), 1.0),
        (np.zeros(4, np.float32),),
        ({"a": 1}, 2, 3),
        ([1], 2, 3),
        (None, 2, 3),
        ("x", 2, 3),
        (2**70, 2, 3),
        (kp.float32, 2, 3),
    ],
)
def test_a_call_that_is_refused_raises_the_same(module, args):
    with pytest.raises((TypeError, ValueError)) as called:
        module.adds(*args)
    with pytest.raises(type(called.value)) as checked:
        module.adds.check(*args)
    assert str(checked.value) == str(called.value)


def test_what_is_refused_behind_the_device(module):
    x, y = np.zeros(4, np.float32), np.zeros(5, np.float32)
    with pytest.raises(ValueError, match=r"expected to match x.shape\[0\], got 5"):
        module.adds.check(x, y, 1.0)
    with pytest.raises(TypeError, match="expected float, got str"):
        module.adds.check(x, x.copy(), "a")


def test_strict_raises(module):
    x = np.ones((2, 100), np.float32)
    with pytest.raises(kp.CheckError) as error:
        module.sums.check(x, strict=True)
    assert isinstance(error.value, RuntimeError) and len(error.value.findings) == 3
    assert str(error.value).startswith("error[uninitialised-read]: reads `partial[1]`")
    x, y = np.zeros(3, np.float32), np.zeros(3, np.float32)
    assert module.adds.check(x, y, strict=True).ok


def test_another_seed_is_another_order(module):
    x = np.ones((2, 100), np.float32)
    assert module.sums.check(x, seed=3).findings
    assert module.pair.check(np.ones(3, np.float32), seed=3).results.y.tolist() == [2, 2, 2]


def test_what_is_not_written_here_is_a_type_error(module):
    source = "void f(float* x) { x[0] = 1; }"
    host = kp.host(source, "f(x: Tensor([1], float32, mut))", args=["x"])
    with pytest.raises(TypeError, match="`f` cannot run on the interpreter: `f` is no kernel"):
        host.check(np.zeros(1, np.float32))
    with pytest.raises(TypeError, match="`adds` cannot run on the interpreter: the text of its"):
        pickle.loads(pickle.dumps(module)).adds.check(1, 2, 3)


def test_what_is_written_can_go_back(module):
    x, y, given = np.ones(3, np.float32), np.zeros(3, np.float32), {}
    options = {"function": "adds", "write_back": True}
    answer = _native.interpret(*module.request, options, given.__setitem__, [x, y, 1.0])
    assert y.tolist() == [2, 2, 2] and not given
    assert answer["tensors"] == [False, True] and answer["exact"]
    assert answer["launches"][0]["grid"] == [1, 1, 1] and answer["findings"] == []


def test_a_call_takes_no_more_memory_than_it_may(module):
    x = np.zeros(1000, np.float32)
    options = {"function": "adds", "memory": 4000}
    with pytest.raises(RuntimeError, match="the arguments have 8000 bytes, and 4000 may be taken"):
        _native.interpret(*module.request, options, print, [x, x.copy(), 1.0])
    options["memory"] = 9000
    with pytest.raises(RuntimeError, match="the call takes .* of memory, and may take"):
        _native.interpret(*module.request, options, print, [x, x.copy(), 1.0])


def test_ctrl_c_ends_an_interpretation(path):
    script = f"""
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
import kernpack as kp, numpy as np, time
endless = kp.load({str(path)!r}).endless
endless.check(np.zeros(1, np.int64), 1)
print("begins", flush=True)
try:
    endless.check(np.zeros(1, np.int64), 10**9)
except KeyboardInterrupt:
    time.sleep(1)
    begin = time.process_time()
    time.sleep(1)
    print("idle" if time.process_time() - begin < 0.5 else "busy")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stdout is not None and process.stdout.readline() == "begins\n"
    time.sleep(0.5)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=50)
    assert shown == "idle\n" and process.returncode == 0
    assert time.monotonic() - begin < 20


@kp.kernel
def shift(x, y):
    i = kp.thread_idx()[0]
    y[i] = x[i + 1]


@kp.jit("shifts(x: Tensor([n], float32), y: Tensor([n], float32, mut)) where n <= 64")
def shifts(x, y):
    shift(x, y).launch(grid=1, block=x.shape[0])


def test_functions_of_a_running_program_are_checked_at_their_lines():
    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    [finding] = shifts.check(x, y).findings
    assert finding.code == "index-out-of-bounds" and finding.file == __file__
    assert finding.line is not None
    line = Path(__file__).read_text().splitlines()[finding.line - 1]
    assert line.strip() == "y[i] = x[i + 1]"
