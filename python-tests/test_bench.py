# SPDX-License-Identifier: Apache-2.0
"""Measuring: whose clock tells, in which order calls are made, what figures are made of, and what is
refused. On a GPU with the driver of `tests/cuda-stub`, under which kernels take no time.
"""

import json
import re
import subprocess
import sys
import time
from xml.etree import ElementTree

import numpy
import pytest
from test_documents import blocks
from test_python_documents import is_like
from test_timeline import ran

import kernpack as kp
from kernpack import _bench, _bench_shown, _clocks, _graphs, _nvml

X, Y = numpy.ones(1000, "float32"), numpy.zeros((4, 500), "float64")


class Time:
    """A host's clock on which nothing but `takes` passes, and a microsecond each time it is asked."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1e-6
        return self.now

    def takes(self, seconds):
        """A function that takes so long."""

        def function(*_):
            self.now += seconds

        return function


@pytest.fixture
def host(monkeypatch):
    host = Time()
    monkeypatch.setattr(_clocks, "time", host)
    return host


@pytest.mark.parametrize("caches", ["cold", "warm"])
def test_a_call_is_measured_by_the_host(host, caches):
    measured = kp.bench(host.takes(2e-3), X, 5, Y, caches=caches, seconds=0.01)
    assert measured.time.median == pytest.approx(2e-3, rel=1e-3)
    assert measured.time.spread == pytest.approx(0, abs=1e-9)
    assert measured.control.median == pytest.approx(1)
    assert measured.n_bytes == 4 * 1000 + 8 * 2000
    assert measured.bandwidth == measured.n_bytes / measured.time.median
    assert 0 < measured.copy.median < 1e-3
    assert (measured.by, measured.caches, measured.clocks) == ("the host", caches, None)
    assert measured.arguments == "float32 [1000], 5, float64 [4, 500]"
    assert json.loads(measured.json())["time"]["median"] == measured.time.median


def test_a_short_call_is_made_often_where_caches_are_warm(host):
    made = []
    measured = kp.bench(made.append, 1, caches="warm", seconds=1e-9)
    # The clock tells a microsecond of a call that takes none, and a round lasts 200.
    assert measured.time.median == pytest.approx(1e-6 / 200, rel=0.01)
    # Twice in each of nine rounds, beside those that tell how long a call takes.
    assert 2 * 9 * 200 <= len(made) < 2 * 9 * 210


def test_the_host_has_a_clock():
    measured = kp.bench(lambda: time.sleep(2e-3), seconds=0.01)
    assert measured.time.median >= 2e-3


def test_keywords_and_results_count():
    def call(x, *, y):
        return [x.copy(), y, (y, None)]

    measured = kp.bench(call, X, y=Y, seconds=0.01)
    assert measured.n_bytes == X.nbytes + Y.nbytes + X.nbytes
    assert measured.arguments == "float32 [1000], y=float64 [4, 500]"
    assert measured.function == "call"


def test_functions_of_kernpack_are_measured():
    add = kp.host(
        "void add(const float *x, float *y, long n) { for (long i = 0; i < n; ++i) y[i] = x[i] + 1; }",
        "add(x: Tensor([n], float32)) -> y: Tensor([n], float32)",
        args=["x", "y", "n"],
    )
    measured = kp.bench(add, X, seconds=0.01)
    assert measured.function == "add" and measured.n_bytes == 2 * X.nbytes
    with pytest.raises(TypeError, match="expected dtype=float32, got float64"):
        kp.bench(add, Y[0])


def test_functions_are_held_against_the_last_one(host):
    functions = {"slow": host.takes(4e-3), "fast": host.takes(2e-3)}
    compared = kp.compare(functions, {"a": (X,), "b": (Y,)}, seconds=0.01)
    assert compared.reference == "fast" and [row.arguments for row in compared.rows] == ["a", "b"]
    for row in compared.rows:
        assert list(row.times) == list(row.speeds) == ["slow", "fast"]
        assert row.speeds["slow"].median == pytest.approx(0.5, rel=1e-3)
        assert row.speeds["fast"].median == 1 and row.speeds["fast"].spread == 0
        assert row.control.median == pytest.approx(1)
    assert compared.mean("slow") == pytest.approx(0.5, rel=1e-3)
    other = kp.compare(functions, (X,), reference="slow", seconds=0.01)
    assert other.rows[0].speeds["fast"].median == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize(
    ("told", "n_bytes"),
    [("65536K\n", 128 << 20), ("1024K\n", 32 << 20), ("?", 32 << 20), (None, 32 << 20)],
)
def test_so_much_is_written_as_no_cache_of_the_host_holds(tmp_path, monkeypatch, told, n_bytes):
    monkeypatch.setattr(_clocks, "_LAST_LEVEL", str(tmp_path / "size"))
    if told is not None:
        (tmp_path / "size").write_text(told)
    assert len(_clocks.HostClock("cold")._memory) == n_bytes
    assert _clocks.HostClock("warm")._memory is None


class Rounds:
    """A clock by which the first call of a round takes 1 s, the next 2 s, and so on."""

    name = "rounds"

    def __init__(self):
        self.rounds = []

    def know(self, call):
        call()

    def round(self, calls, meanwhile):
        meanwhile()
        self.rounds.append(calls)
        return [float(number) for number in range(1, len(calls) + 1)]


class Looks:
    n_times = 0

    def look(self):
        self.n_times += 1


def test_each_round_has_all_calls_in_an_order_of_its_own():
    clock, watch = Rounds(), Looks()
    sides = {name: (lambda name=name: name) for name in "abc"}
    taken = _bench._taken(clock, watch, sides, 1e-9)
    assert len(clock.rounds) == watch.n_times == 9
    names = ["".join(call() for call in calls) for calls in clock.rounds]
    assert {"".join(sorted(each)) for each in names} == {"abc"} and len(set(names)) > 2
    for name in "abc":
        assert taken[name] == [1.0 + each.index(name) for each in names]


def test_ratios_are_those_of_a_round():
    # While a machine slows down, what ran in one round does so alike.
    slower = [1.0, 2.0, 4.0, 8.0]
    figure = _bench._ratio([2 * each for each in slower], slower)
    assert figure == kp.Figure(2.0, 0.0)
    assert kp.Figure.of([1.0, 2.0, 3.0, 4.0, 5.0]) == kp.Figure(3.0, 1.0)
    assert str(kp.Figure(0.5, 0.02)) == "0.5 ± 1.0 %"


class Later:
    """What a call has returned before it is there, as JAX's does."""

    def __init__(self):
        self.n_waits = 0

    def block_until_ready(self):
        self.n_waits += 1


def test_results_are_waited_for():
    made = []

    def call():
        made.append(Later())
        return [made[-1], (made[-1], 3)]

    kp.bench(call, seconds=0.01)
    # Of some calls in a row the last one alone, as it is there last.
    assert made[0].n_waits == 0 and made[-1].n_waits == 2


def test_jax_is_measured_by_the_host():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones(1000)
    measured = kp.bench(jax.jit(lambda x: x + 1), x, seconds=0.01)
    assert (measured.by, measured.n_bytes) == ("the host", 8000)


@pytest.mark.parametrize(
    ("measure", "error", "message"),
    [
        (lambda: kp.bench(5), TypeError, "what is measured is called, got 5"),
        (
            lambda: kp.bench(len, X, caches="hot"),
            ValueError,
            '`caches` is \'hot\': expected "cold" or "warm"',
        ),
        (
            lambda: kp.bench(len, X, seconds=0),
            ValueError,
            "`seconds` is 0: expected more than 0",
        ),
        (
            lambda: kp.bench(len, X, seconds=float("nan")),
            ValueError,
            "`seconds` is nan: expected more than 0",
        ),
        (lambda: kp.bench(len, 5), TypeError, r"object of type 'int' has no len\(\)"),
        (lambda: kp.compare({}, (X,)), ValueError, "nothing to compare: expected a function"),
        (lambda: kp.compare({"a": 5}, (X,)), TypeError, "what is measured is called, got 5"),
        (
            lambda: kp.compare({"a": len, "b": len}, (X,), reference="c"),
            ValueError,
            "the reference is 'c': expected one of 'a', 'b'",
        ),
        (lambda: kp.compare({"a": len}, []), ValueError, "no arguments to compare with"),
        (lambda: kp.compare({"a": len}, {}), ValueError, "no arguments to compare with"),
        (
            lambda: kp.compare({"a": len}, [X]),
            TypeError,
            "the arguments of a call are a tuple, got ndarray",
        ),
    ],
)
def test_what_cannot_be_measured(measure, error, message):
    with pytest.raises(error, match=message):
        measure()


def test_nothing_is_measured_in_a_capture(monkeypatch):
    monkeypatch.setattr(_graphs, "is_capturing", lambda: True)
    with pytest.raises(RuntimeError, match="while a CUDA graph is captured: measure it outside"):
        kp.bench(len, X)


def test_how_it_is_shown():
    figure = kp.Figure(2.5e-5, 0.02)
    clocks = _nvml.Clocks((1700, 1980), (3201, 3201), ("power", "heat"))
    measured = kp.Measured(
        "f",
        "float32 [4]",
        figure,
        kp.Figure(1.01, 0.0),
        10**8,
        kp.Figure(0.9, 0.1),
        "cold",
        "GPU",
        clocks,
    )
    assert str(measured) == (
        "f(float32 [4])\n"
        "  25.0 µs ± 1.0 %, 4000 GB/s of 100 MB, 0.900 of a copy\n"
        "  by the clock of GPU, cold caches; multiprocessors 1700 to 1980 MHz, memory 3201 MHz, "
        "held down by power and heat; control 1.010"
    )
    assert repr(measured) == "<kernpack.Measured: f 25.0 µs>"
    row = _bench.Row("<4>", {"a": figure, "b": figure}, {"a": figure, "b": figure}, figure)
    compared = kp.Comparison("b", [row, row], "warm", "GPU", None)
    assert str(compared).splitlines() == [
        "| arguments | a | b | a beside b | control |",
        "| --- | --- | --- | --- | --- |",
        *["| <4> | 25.0 µs | 25.0 µs | 0.000 ± 1.0 % | 0.000 ± 1.0 % |"] * 2,
        "| geometric mean |  |  | 0.000 |  |",
        "",
        "by the clock of GPU, warm caches",
    ]
    html = compared._repr_html_()
    assert html.count("<tr>") == 4 and "&lt;4&gt;" in html and "<4>" not in html
    assert json.loads(compared.json())["rows"][1]["times"]["a"] == {
        "median": 2.5e-5,
        "spread": 0.02,
    }


def compared(speeds, names=("a<", "b")):
    """A comparison with a row for each pair of speeds."""
    one = kp.Figure(1e-6, 0.0)
    rows = [
        _bench.Row(
            f"<{number}>", dict.fromkeys(names, one), dict(zip(names, map(figure_of, row))), one
        )
        for number, row in enumerate(speeds)
    ]
    return kp.Comparison(names[-1], rows, "warm", "GPU", None)


def figure_of(speed):
    return kp.Figure(speed, 0.1)


def without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)


@pytest.mark.parametrize(
    ("most", "marks"),
    [
        (1.3, ["0", "0.5", "1", "1.5"]),
        (0.07, ["0", "0.02", "0.04", "0.06", "0.08"]),
        (7.9, ["0", "2", "4", "6", "8"]),
        (40.0, ["0", "10", "20", "30", "40", "50"]),
    ],
)
def test_a_picture_has_a_bar_for_each(tmp_path, monkeypatch, most, marks):
    without_matplotlib(monkeypatch)
    compared([(most, most / 2), (most / 4, most)]).plot(tmp_path / "speed.svg")
    picture = ElementTree.parse(tmp_path / "speed.svg").getroot()
    tag = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in picture.iter(f"{tag}text")]
    assert texts == ["speed beside b", *marks, "a<", "b", "<0>", "<1>"]
    bars = [float(bar.get("height")) for bar in picture.iter(f"{tag}rect")][2:]
    # As high as the mark that is as large, of 240 pixels in all.
    heights = [240 * speed / float(marks[-1]) for speed in (most, most / 2, most / 4, most)]
    assert bars == pytest.approx(heights, abs=0.1)


def test_matplotlib_draws_its_formats(tmp_path):
    pytest.importorskip("matplotlib")
    for name, begins in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        compared([(1.5, 1.0), (0.5, 1.0)]).plot(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begins)


def test_other_formats_need_matplotlib(tmp_path, monkeypatch):
    without_matplotlib(monkeypatch)
    with pytest.raises(RuntimeError, match=r"a\.png cannot be drawn without Matplotlib: install"):
        compared([(1.0, 1.0)]).plot(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()
    with pytest.raises(FileNotFoundError):
        compared([(1.0, 1.0)]).plot(tmp_path / "nowhere" / "a.svg")


def test_times_have_three_digits():
    shown = [1.5, 0.9996, 99.96e-3, 9.996e-6, 5.123e-7, 1e-9, 2e-10]
    shown = [_bench_shown.seconds(each) for each in shown]
    assert shown == ["1.50 s", "1.00 s", "100 ms", "10.0 µs", "512 ns", "1.00 ns", "0.20 ns"]


KERNELS = """
import kernpack as kp


@kp.kernel
def fill(y, value):
    y[kp.thread_idx()[0]] = kp.float32(value)


@kp.kernel
def double(x, y):
    y[kp.thread_idx()[0]] = 2 * x[kp.thread_idx()[0]]


@kp.jit("ones(n: int32) -> y: Tensor([n], float32)")
def ones(n, y):
    fill(y, 1).launch(grid=1, block=64)


@kp.jit("twice(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
def twice(x, y):
    double(x, y).launch(grid=1, block=64)
"""

PRELUDE = '''
import cuda_stub

cuda_stub.begin()

import ctypes, json
driver = ctypes.CDLL("libcuda.so.1")


def held():
    """What is held of the device, but for graphs, of which a package makes some."""
    text = ctypes.create_string_buffer(1 << 16)
    driver.kernpack_cuda_stub_counts(text, ctypes.c_size_t(len(text)))
    counts = json.loads(text.value)
    return [counts[kind] for kind in ("allocations", "retained", "contexts", "streams")]


def events():
    """How many events were made and not ended since the driver was to forget."""
    calls = [(line["call"], line["result"]) for line in cuda_stub.log()]
    made, ended = ((f"cuEvent{what}", "CUDA_SUCCESS") for what in ("Create", "Destroy_v2"))
    return calls.count(made) - calls.count(ended)


WORDS = {
    "cuMemsetD8Async": "w", "cuEventRecord": "e", "cuMemcpyDtoDAsync_v2": "c",
    "cuLaunchKernelEx": "k", "cuGraphLaunch": "k",
}


def work():
    """What a stream was given to do, a letter for each."""
    return "".join(WORDS.get(line["call"], "") for line in cuda_stub.log())


'''

CALLED = """
x, y = ones(1000), ones(1000)
twice(x, y)
"""


def on_stub(tmp_path, program):
    """What a program prints that has a GPU without kernels."""
    path = tmp_path / "program.py"
    path.write_text(PRELUDE + KERNELS + CALLED + program)
    return ran(path)


ON_DEVICE = """
from kernpack import _clocks
before = held()
cuda_stub.forget()
cold = kp.bench(twice, x, y, seconds=0.01)
cold_work = work()
_clocks._DEVICE_SECONDS, _clocks._MOST_CALLS = 1000, 4
warm = kp.bench(twice, x, y, caches="warm", seconds=0.01)
warm_work = work()
kp.bench(twice, x, y, seconds=0.01)
left = events()
print(json.dumps([cold.by, cold.n_bytes, cold.clocks, held() == before, left, cold_work, warm_work]))
"""


def test_a_device_has_a_clock_of_its_own(tmp_path):
    by, n_bytes, clocks, is_given_back, left, *works = json.loads(on_stub(tmp_path, ON_DEVICE))
    assert (by, n_bytes, clocks, is_given_back, left) == ("NVIDIA H200", 8000, None, True, 0)
    # In front of each call, memory is written while the host submits what is timed, and read.
    [cold] = re.findall(r"(?:w+c{31}e[kc]e)+$", works[0])
    timed = re.findall(r"e(.)e", cold)
    assert timed.count("k") == 2 * timed.count("c") >= 18
    # Where caches are to be warm, the same call is made first, and then often.
    [warm] = re.findall(r"(?:w+(?:kek+|cec+)e)+$", works[1])
    assert set(re.findall(r"k*e(k+)e", warm)) == {"kkkk"}


FAILED = "cuMemAlloc_v2", "cuEventCreate", "cuEventRecord"

FAILING = """
before = held()
for name, number in (("cuMemAlloc_v2", 1), ("cuEventCreate", 3), ("cuEventRecord", 5)):
    cuda_stub.forget()
    assert driver.kernpack_cuda_stub_fail(name.encode(), ctypes.c_uint64(number), 2) == 0
    try:
        kp.bench(twice, x, y, seconds=0.01)
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])
    print(held() == before, events())


def fails(*args, left=[10]):
    left[0] -= 1
    twice(*args[: 1 + (left[0] > 0)])


cuda_stub.forget()
try:
    kp.bench(fails, x, y, seconds=0.01)
except TypeError as error:
    print(type(error).__name__)
print(held() == before, events())
# The device writes to the first one, and copies the others.
for number in (2, 3):
    assert driver.kernpack_cuda_stub_fail(b"cuMemAlloc_v2", ctypes.c_uint64(number), 2) == 0
    print(kp.bench(twice, x, y, seconds=0.01).copy, held() == before)
"""


def test_what_fails_leaves_nothing_behind(tmp_path):
    lines = on_stub(tmp_path, FAILING).splitlines()
    told = [f"RuntimeError {name} failed with CUDA_ERROR_OUT_OF_MEMORY (2)" for name in FAILED]
    assert lines[:8:2] == [*told, "TypeError"]
    assert lines[1:8:2] == ["True 0"] * 4
    assert lines[8:] == ["None True"] * 2


NVML = """
#include <string.h>
static int looks;
int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **handle) {
  *handle = &looks;
  return strlen(bus) == 16 && bus[8] == ':' && bus[11] == ':' && bus[14] == '.' ? 0 : 2;
}
int nvmlDeviceGetClockInfo(void *handle, int kind, unsigned *clock) {
  *clock = kind == 1 ? 1980 - 10 * (looks++ % 3) : kind == 2 ? 3201 : 0;
  return handle == &looks ? 0 : 2;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *reasons) {
  *reasons = looks == 4 ? 0x4 : looks == 5 ? 0x1 | 0x20 : 0;
  return 0;
}
"""

WATCHED = """
import sys
loaded = ctypes.CDLL(sys.argv[0].replace("program.py", "libnvidia-ml.so.1"))
measured = kp.bench(twice, x, y, seconds=0.01)
print(measured.clocks)
print(kp.compare({"a": twice, "b": twice}, (x, y), seconds=0.01).clocks)
"""


def test_clocks_are_watched(tmp_path):
    (tmp_path / "nvml.c").write_text(NVML)
    library = tmp_path / "libnvidia-ml.so.1"
    command = [
        "cc",
        "-shared",
        "-fPIC",
        f"-Wl,-soname,{library.name}",
        "-o",
        library,
        tmp_path / "nvml.c",
    ]
    subprocess.run(command, check=True)
    first, second = on_stub(tmp_path, WATCHED).splitlines()
    assert first == "multiprocessors 1960 to 1980 MHz, memory 3201 MHz, held down by power and heat"
    assert second == "multiprocessors 1960 to 1980 MHz, memory 3201 MHz"


INTERPRETED = """
import numpy

x, y = numpy.ones((2, 64), "float32")
try:
    kp.bench(twice, x, y)
except RuntimeError as error:
    print(error)
"""


def test_the_interpreter_takes_other_times(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(KERNELS + INTERPRETED)
    told = ran(path, KERNPACK_INTERPRET="1")
    assert told.startswith("nothing is measured with KERNPACK_INTERPRET=1")


OLD = """
import tvm_ffi
from kernpack import _streams

class Old:
    device = tvm_ffi.device

_streams.tvm_ffi = Old
try:
    kp.bench(twice, x, y)
except RuntimeError as error:
    print(error)
"""


def test_who_does_not_know_the_stream_says_so(tmp_path):
    told = on_stub(tmp_path, OLD)
    assert told.startswith("nothing is measured on a GPU, as this version of apache-tvm-ffi")


def test_what_the_document_shows(tmp_path):
    """Times are those of another machine."""
    programs = blocks("docs/measuring.md", "python")
    shown = "\n".join(text.rstrip("\n") for text in blocks("docs/measuring.md", "text"))
    (tmp_path / "shown.py").write_text("\n".join(programs))
    printed = ran(tmp_path / "shown.py")
    assert is_like(printed, shown), printed
