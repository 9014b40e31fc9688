# SPDX-License-Identifier: Apache-2.0
"""Tuned functions with the driver of `tests/cuda-stub`, under which kernels do nothing: a clock of the
tests says how long a call takes, by the block that it launches. Which config wins, for which calls, what
is kept, and what is never tuned.
"""

import importlib
import json
import os
import subprocess
import sys
import time

import pytest
from test_documents import blocks
from test_python_documents import is_like
from test_timeline import REPOSITORY, ran

import kernpack as kp
from kernpack import _config, _race, _timings, _tune, _tuner, _tuning_key, _winners
from kernpack._device_memory import _joined

PRELUDE = '''
import cuda_stub

cuda_stub.begin()

import contextlib, json, os, re, sys, time, warnings

# TVM-FFI would import it, which takes longer than all else here.
sys.modules["torch"] = None

import kernpack as kp
from kernpack import _clocks, _graphs, _tuner

BLOCK, WIDTH = 64, 1
TAKES = {64: 2e-6, 128: 1e-6, 256: 3e-6, 32: 4e-6}
"""How long a call takes, by the size of its blocks."""
ROUNDS = []


def launched():
    """The blocks that were launched since the driver was to forget; a package launches its first call
    in two ways.
    """
    launches = "cuLaunchKernelEx", "cuGraphLaunch"
    text = json.dumps([line for line in cuda_stub.log() if line["call"] in launches])
    blocks = [int(block) for block in re.findall(r'"block": \\[(\\d+)', text)]
    return [block for block, before in zip(blocks, [None, *blocks]) if block != before]


def round(clock, calls, meanwhile):
    taken = []
    for call in calls:
        clock._restore()
        cuda_stub.forget()
        call()
        taken.append(TAKES[launched()[0]])
    ROUNDS.append(taken)
    return taken


_clocks.DeviceClock.round = round
# The driver does write and read that memory, which takes its time.
_clocks.DeviceClock._write = lambda clock, times: None
_clocks.DeviceClock._read = lambda clock: None


@kp.kernel
def fill(y, value):
    y[kp.thread_idx()[0]] = kp.float32(value)


@kp.jit("ones(n: int32) -> y: Tensor([n], float32)")
def ones(n, y):
    fill(y, 1).launch(grid=1, block=64)


@kp.kernel
def scale_elements(x, y):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = 2 * x[i]


CONFIGS = kp.Config.grid(BLOCK=(64, 128, 256, 32))


@kp.jit("plain(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
def plain(x, y):
    scale_elements(x, y).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)


def tuned(configs=CONFIGS, key=("n",), of=plain, **how):
    return kp.autotune(configs, key, **how)(of)


def call(function, *args):
    """The blocks that a call launches, those of what it measures included."""
    cuda_stub.forget()
    function(*args)
    return launched()


def compile_all(function, configs=CONFIGS):
    """Compiles before, however long it takes here."""
    for config in configs:
        part = function.with_config(config)
        part(x, y)
        with contextlib.suppress(Exception):
            # Where there is an assembler.
            part.variants[0].resources


x, y = ones(1000), ones(1000)
scale = tuned()
'''


@pytest.fixture
def on_stub(tmp_path):
    """A function that says what a program prints, line by line, whose timings are kept in a folder."""

    def run(program, prelude=PRELUDE, **environment):
        path = tmp_path / "program.py"
        path.write_text(prelude + program)
        environment = {"KERNPACK_CACHE_DIR": str(tmp_path / "cache"), **environment}
        return ran(path, **environment).splitlines()

    return run


def lines_of(folder):
    files = sorted((folder / "cache/timings").glob("*.jsonl"))
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


# Races


def race_of(*events):
    race = _race.Race()
    for event in events:
        race.apply(event)
    return race


def raced(times, *events):
    """A race that goes on until it is over, in which names take these times."""
    race = race_of(*events, {"enter": list(times)})
    rounds = 0
    while not race.is_over:
        race.apply({"round": {name: times[name] for name in race.alive}})
        rounds += 1
    return race, rounds


def test_half_stay_behind_each_rung():
    times = {f"c{number}": 1.0 + number for number in range(9)}
    race = race_of({"enter": list(reversed(times))})
    lived = []
    while not race.is_over:
        race.apply({"round": {name: times[name] for name in race.alive}})
        lived.append(len(race.alive))
    # Three rounds of nine, six of five, and twelve for each where few are left.
    assert lived == [9] * 2 + [5] * 6 + [3] * 12 + [2] * 24 + [1]
    assert race.winner == "c0" and race.seconds["c0"] == 1.0
    assert race.ratios == {name: pytest.approx(took) for name, took in times.items()}


def test_one_alone_is_measured():
    race, rounds = raced({"a": 2.0})
    assert (race.winner, race.seconds, rounds) == ("a", {"a": 2.0}, 12)


def test_medians_decide():
    race = race_of({"enter": ["a", "b", "c", "d", "e"]})
    for slow in ("a", "b", "c"):
        race.apply(
            {"round": {name: 9.0 if name == slow else 1.0 + (name > "c") for name in "abcde"}}
        )
    assert race.alive == ["a", "b", "c"]


def test_who_fails_takes_no_part():
    race = race_of({"enter": ["a", "b"]}, {"failed": {"a": "why"}})
    assert (race.alive, race.failed, race.is_over) == (["b"], {"a": "why"}, False)
    race.apply({"failed": {"b": "why"}})
    assert race.is_over and race.winner is None


def test_the_end_keeps_the_best_so_far():
    race = race_of(
        {"enter": ["a", "b", "c"]}, {"round": {"a": 3.0, "b": 1.0, "c": 2.0}}, {"end": True}
    )
    assert race.is_over and race.winner == "b" and race.ratios["c"] == 2.0
    assert _tuner.todo(race, "abc") == []


def test_what_is_new_runs_against_the_best():
    race, _ = raced({"a": 1.0, "b": 2.0, "c": 4.0})
    assert _tuner.todo(race, "abc") == [] and _tuner.todo(race, "abcd") == ["a", "d"]
    race.apply({"enter": ["a", "d"]})
    while not race.is_over:
        race.apply({"round": {name: {"a": 1.0, "d": 0.5}[name] for name in race.alive}})
    # What was slower than the best before is as much slower than what is twice as fast.
    assert race.winner == "d"
    assert race.ratios == {name: pytest.approx(at) for name, at in zip("adbc", (2, 1, 4, 8))}
    # Without the best, all that are left run again.
    assert _tuner.todo(race, "abc") == ["a", "b", "c"]


def test_a_race_goes_on_where_it_was():
    race = race_of({"enter": ["a", "b", "c", "d", "e"]})
    for _ in range(4):
        race.apply({"round": {name: float(ord(name)) for name in race.alive}})
    assert race.alive == ["a", "b", "c"] == _tuner.todo(race, "abcde")
    assert _tuner.todo(race, "abcdef") == ["a", "b", "c", "f"]


# What is kept


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(_timings._native, "cache_folder", lambda: str(tmp_path / "cache"))
    return tmp_path / "cache/timings"


CALLS = {"signature": None, "key": {"n": 1}}


def test_lines_that_cannot_be_read_do_not_count(cache):
    timings = _timings.Timings("one")
    timings.add(CALLS, {"enter": ["a", "b"]})
    [file] = cache.iterdir()
    # Whoever wrote was killed, and bytes are damaged.
    with file.open("ab") as damaged:
        damaged.write(b'[1]\n{"calls": 5}\n\xff\xfe\n{"calls": ' + json.dumps(CALLS).encode())
        damaged.write(b', "round": 7}\n{"calls": {"sig')
    timings.add(CALLS, {"round": {"a": 1.0, "b": 2.0}})
    timings.add({**CALLS, "key": {"n": 2}}, {"enter": ["c"]})
    race = _timings.Timings("one").race(CALLS)
    assert race.alive == ["a", "b"] and len(race._rounds) == 1
    assert timings.race({**CALLS, "key": {"n": 2}}).alive == ["c"]
    assert _timings.Timings("two").race(CALLS).alive == []


def test_a_cache_that_cannot_be_written_is_told_once(tmp_path, cache):
    (tmp_path / "cache").write_text("no folder")
    timings = _timings.Timings("one")
    with pytest.warns(kp.TuneWarning, match="timings are not kept: .*timings"):
        timings.add(CALLS, {"enter": ["a"]})
    timings.add(CALLS, {"end": True})
    # They are known to this process.
    assert timings.race(CALLS).winner == "a"


def test_without_a_cache_timings_are_the_process_own(monkeypatch):
    monkeypatch.setattr(_timings._native, "cache_folder", lambda: None)
    timings = _timings.Timings("one")
    with timings.lock(CALLS, 0) as is_mine:
        assert is_mine
        timings.add(CALLS, {"enter": ["a"]})
    assert timings.race(CALLS).alive == ["a"]


def test_one_holds_the_lock(cache):
    one, other = _timings.Timings("one"), _timings.Timings("one")
    with one.lock(CALLS, 0) as first:
        begin = time.monotonic()
        with other.lock(CALLS, 0.2) as second:
            assert (first, second) == (True, False)
        assert time.monotonic() - begin >= 0.2
        with other.lock({**CALLS, "key": {}}, 0) as third:
            assert third
    with other.lock(CALLS, 0) as again:
        assert again


def test_what_fails_under_a_lock_comes_through(cache, monkeypatch):
    for folder in (str(cache.parent), None):
        monkeypatch.setattr(_timings._native, "cache_folder", lambda folder=folder: folder)
        with pytest.raises(OSError, match="ours"), _timings.Timings("one").lock(CALLS, 0):
            raise OSError("ours")


# Configs and keys


def test_configs_are_what_files_have():
    config = kp.Config(TILE=(128, (64, 1)), T=kp.float16, fast=True, name="a")
    assert config.plain == {"TILE": [128, [64, 1]], "T": "float16", "fast": True, "name": "a"}
    assert repr(kp.Config(B=1, C=(2,))) == "kp.Config(B=1, C=(2,))"
    assert kp.Config(a=1, b=2) == kp.Config(b=2, a=1) != kp.Config(a=1)
    grid = kp.Config.grid(A=(1, 2), B=("x", "y"))
    assert [each.values for each in grid] == [
        {"A": 1, "B": "x"},
        {"A": 1, "B": "y"},
        {"A": 2, "B": "x"},
        {"A": 2, "B": "y"},
    ]
    with pytest.raises(
        TypeError, match="`A` is None: expected a number, a text, a dtype, or a tuple"
    ):
        kp.Config(A=None)


def items(said, signature=None, names=("x", "y", "k"), defaults=()):
    described = kp._native.describe(signature) if signature else None
    known = _tuning_key.Known("f", names, dict(defaults), described)
    return _tuning_key.Items(said, known)


SIGNED = "f(x: Tensor([2*m + 1, n], T), y: Tensor([n], float32, mut), k: int64) where T in {float16, float32}"


class Array:
    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


ARGS = Array((9, 5), kp.float16), Array((5,), kp.float32), 3


def test_items_of_a_signature():
    of = items(["m", "n", "T", "k", "x.shape[-1]", "y.dtype"], SIGNED)
    key = {"m": 4, "n": 5, "T": "float16", "k": 3, "x.shape[-1]": 5, "y.dtype": "float32"}
    assert of.of(ARGS) == key
    assert of.picks == [
        {"extent": [0, 0]},
        {"extent": [0, 1]},
        {"dtype": 0},
        {"number": 2},
        {"extent": [0, -1]},
        {"dtype": 1},
    ]
    assert of.condition(key) == (
        "(x.shape[0] - 1) // 2 == 4 and x.shape[1] == 5 and x.element_type == kp.float16 and k == 3 "
        "and x.shape[-1] == 5 and y.element_type == kp.float32"
    )


def test_functions_are_items():
    def bucket(n, k):
        return n // 2 + k

    of = items([bucket], SIGNED)
    assert of.of(ARGS) == {"bucket": 5}
    assert of.picks == [{"extent": [0, 1]}, {"number": 2}]
    assert of.condition({"bucket": 5}) == "bucket(x.shape[1], k) == 5"
    of = items([lambda x: (x.shape[0], x.dtype)], SIGNED)
    assert of.of(ARGS) == {"bucket": [9, "float16"]}
    with pytest.raises(TypeError, match="is a tuple, which conditions of a package do not compare"):
        of.condition(of.of(ARGS))


def test_items_without_a_signature():
    of = items(["x.shape[0]", "k", lambda y: y.shape[0]], defaults={"k": 7})
    assert of.of(ARGS) == {"x.shape[0]": 9, "k": 3, "bucket": 5}
    assert of.of(ARGS[:2]) == {"x.shape[0]": 9, "k": 7, "bucket": 5}
    assert of.of((None, *ARGS[1:]))["x.shape[0]"] == "none"
    assert of.condition({"x.shape[0]": "none", "k": 1.5}) == "x is None and k == 1.5"
    with pytest.raises(TypeError, match="tuned for `k`, which is a Array: expected a number"):
        of.of((*ARGS[:2], ARGS[0]))
    with pytest.raises(ValueError, match="#0 has 0 dims, and is tuned for `x.shape"):
        of.of((Array((), "float32"), *ARGS[1:]))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (["q"], "`f` has no `q` to be tuned for: expected a symbol of its signature"),
        (["q.shape[0]"], "`f` has no parameter `q`, which `q.shape"),
        ([lambda q: 1], "`f` has no `q` to be tuned for"),
        (["n", "n"], "`f` has two items of its key by the name `n`"),
        (["x.stride[0]"], "has no `x.stride"),
    ],
)
def test_what_is_no_item(said, message):
    with pytest.raises(TypeError, match=message):
        items(said, SIGNED)


def test_what_is_pruned():
    prune = kp.prune(lambda config, key: config.values["A"] < key["n"], most_spilled=0)
    assert prune.of_config(kp.Config(A=1), {"n": 2}) is None
    assert prune.of_config(kp.Config(A=2), {"n": 2}) == "pruned"
    kernel = kp.Resources("k", "sm_90", 64, 99, 8, 8, 4096, 1, 4, 0.125)
    unknown = kp.Resources("k", "sm_90", None, None, None, None, 0, None, None, None)
    assert prune.of_resources([unknown, kernel]) == "pruned: k has 8 spilled bytes"
    for limits, why in (
        ({"most_registers": 98}, "pruned: k has 99 registers"),
        ({"most_shared": 4095}, "pruned: k has 4096 bytes of shared memory"),
        ({"least_occupancy": 0.25}, "pruned: k has an occupancy of 0.12"),
        ({"most_registers": 99, "most_shared": 4096, "least_occupancy": 0.125}, None),
    ):
        assert _config.prune(**limits).of_resources([unknown, kernel]) == why


def test_memory_that_overlaps_is_copied_once():
    assert _joined([(100, 10), (50, 20), (105, 20), (60, 5), (125, 5)]) == [(50, 20), (100, 30)]
    assert _joined([]) == []


# Winners in files


def winner(function, key, config, device="A", kernel="1", seconds=1e-6, signature=None):
    return _winners.Winner(function, device, kernel, signature, key, config, seconds)


def test_winners_are_read_as_they_were_written(tmp_path):
    winners = [
        winner(
            "f", {"m": 1, "T": "float16", "x.shape[0]": 2, "e": 0.5}, {"B": [[1, True]], "é": 'a"b'}
        ),
        winner("f", None, {}, seconds=None),
        winner("g", {}, {"B": 1}, "B", signature="g(x: float32)"),
    ]
    _winners.write(tmp_path / "tuned.toml", winners)
    assert _winners.read(tmp_path / "tuned.toml") == winners
    assert _winners.read(tmp_path / "none.toml") == []
    assert [file.name for file in tmp_path.iterdir()] == ["tuned.toml"]
    # What people have written above all tables stays.
    (tmp_path / "tuned.toml").write_text("# Ours.\n#\n\n[[g]]\n")
    _winners.write(tmp_path / "tuned.toml", winners)
    assert (tmp_path / "tuned.toml").read_text().startswith("# Ours.\n#\n\n[[f]]\n")
    with pytest.raises(FileNotFoundError):
        _winners.write(tmp_path / "nowhere" / "tuned.toml", winners)


def test_winners_of_other_devices_stay():
    known = [winner("f", {"m": 1}, {}), winner("f", {"m": 2}, {}), winner("f", {"m": 1}, {}, "B")]
    again = winner("f", {"m": 1}, {"B": 2})
    assert _winners.merge(known, [again]) == [again, *known[1:]]
    # What was measured of another text says nothing of this one.
    other = winner("f", {"m": 3}, {"B": 2}, kernel="2")
    assert _winners.merge(known, [other]) == [other, known[2]]
    last = winner("f", None, {})
    assert _winners.merge([last], known) == [known[0], known[1], last, known[2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "is no file of winners: TOML parse error at line 1, column"),
        ("f = 1", r"expected tables `\[\[f\]\]`"),
        ("f = [1]", "table 1 of `f` is no table"),
        ("[[f]]\nkernel = '1'\nconfig = {}", "table 1 of `f` has no `device`"),
        ("[[f]]\ndevice = 1", "table 1 of `f` has 1 for `device`: expected a text"),
        ("[[f]]\nconfigs = {}", "has `configs`: expected device, kernel, signature, key, config"),
    ],
)
def test_what_is_no_file_of_winners(tmp_path, text, message):
    (tmp_path / "tuned.toml").write_text(text)
    with pytest.raises(ValueError, match=message):
        _winners.read(tmp_path / "tuned.toml")


# Calls


def test_a_call_is_made_once_with_the_fastest(on_stub, tmp_path):
    program = """
blocks = call(scale, x, y)
print(blocks[-1], len(ROUNDS), call(scale, x, y), call(scale, y, x))
tuning = scale.tune(x, y)
print(tuning)
print(len(ROUNDS), call(scale.prepare(x, y)), scale.with_config(CONFIGS[0]), repr(scale))
small = ones(10), ones(10)
print(call(scale, *small)[-1], len(ROUNDS), call(scale, *small))
"""
    printed = on_stub(program)
    # Three rounds of all, and twelve of those that are few.
    assert printed[0] == "128 24 [128] [128]"
    assert printed[1:6] == [
        "plain for n=1000 on NVIDIA H200: 1.00 µs",
        "  1.000  BLOCK=128",
        "  2.000  BLOCK=64",
        "  3.000  BLOCK=256",
        "  4.000  BLOCK=32",
    ]
    assert printed[6] == (
        "24 [128] <kernpack jit function plain given BLOCK=64: 1 variants> "
        "<kernpack tuned function plain: 4 configs>"
    )
    assert printed[7] == "128 48 [128]"
    # A second process tunes nothing.
    assert on_stub("print(call(scale, x, y), len(ROUNDS))") == ["[128] 0"]
    [lines] = lines_of(tmp_path)
    assert sum("enter" in line for line in lines) == 2


def test_what_a_call_writes_is_restored_in_front_of_each_run(on_stub):
    program = """
copies = []
for name, of in (("plain", tuned()), ("restore", tuned(restore=["x"], key=["x.shape[0]"]))):
    cuda_stub.forget()
    real, log = _clocks.DeviceClock.round, []
    _clocks.DeviceClock.round = lambda *args: log.append(cuda_stub.log()) or real(*args)
    of(x, y)
    log.append(cuda_stub.log())
    _clocks.DeviceClock.round = real
    # In front of each call that a clock makes for the first time, and in the end.
    calls = [line["call"] for lines in log[:1] + log[-1:] for line in lines]
    words = {"cuMemcpyDtoDAsync_v2": "c", "cuLaunchKernelEx": "k", "cuGraphLaunch": "k", "cuMemAlloc_v2": "a", "cuMemFree_v2": "f"}
    print(name, "".join(words.get(call, "") for call in calls))
"""
    plain, restore = on_stub(program)
    # A copy is made, and after the first call, which tells whether its arguments are right, in front
    # of four calls of each config; the last call is that of the user.
    assert plain == "plain aca" + "k" + "ck" * 16 + "cff" + "k"
    assert restore == "restore aacca" + "k" + "cck" * 16 + "ccfff" + "k"


def test_what_another_thread_captures_stays_whole(on_stub):
    program = """
import ctypes, threading
driver, begun, is_tuned, ended = ctypes.CDLL("libcuda.so.1"), threading.Event(), threading.Event(), []

def capture():
    context, stream, graph = (ctypes.c_void_p() for _ in range(3))
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    # One that waits for no other, in the mode that is PyTorch's.
    assert driver.cuStreamCreate(ctypes.byref(stream), 1) == 0
    assert driver.cuStreamBeginCapture_v2(stream, 0) == 0
    begun.set()
    is_tuned.wait()
    ended.append(driver.cuStreamEndCapture(stream, ctypes.byref(graph)))

thread = threading.Thread(target=capture)
thread.start()
begun.wait()
print(call(scale, x, y)[-1], len(ROUNDS) > 0)
is_tuned.set()
thread.join()
print(ended)
"""
    assert on_stub(program) == ["128 True", "[0]"]


def test_what_every_config_gives_is_not_looked_for(on_stub):
    program = """
print(call(scale, x, y)[-1], call(plain, x, y))
n = len(ROUNDS)
BLOCK = object()
print(call(scale, x, y), len(ROUNDS) == n)
try:
    plain(x, y)
except kp.CompileError:
    print("looked for")
"""
    assert on_stub(program) == ["128 [64]", "[128] True", "looked for"]


def test_a_dict_that_is_given_is_looked_for(on_stub):
    program = """
SETTINGS = {"by": 2}

@kp.kernel
def scale_by(x, y):
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = SETTINGS["by"] * x[i]

@kp.jit("scale_given(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
def scale_given(x, y):
    scale_by(x, y).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)

given = {"by": 3}
of = tuned(of=scale_given).given(SETTINGS=given)
print(call(of, x, y)[-1], len(of._programs))
given["by"] = 4
print(call(of, x, y)[-1], len(of._programs))
"""
    assert on_stub(program) == ["128 1", "128 2"]


def test_functions_without_a_signature(on_stub):
    program = """
@kp.jit
def scale_any(x, y, times, B: kp.Constexpr = 64, W: kp.Constexpr = 1):
    assert x.shape == y.shape
    scale_elements(x, y).launch(grid=kp.ceil_div(x.shape[0], B), block=B)

of = tuned(kp.Config.grid(B=(64, 128, 256), W=(1,)), ["x.shape[0]", "x.dtype", "times"], of=scale_any)
print(of.__signature__, call(of, x, y, 2)[-1], call(of, x, y, 2), of(x=x, y=y, times=2))
n = len(ROUNDS)
print(call(of, x, y, 3)[-1], len(ROUNDS) > n, of.tune(x, y, 3).key)
print(of.given(B=32), call(of.given(B=32), x, y, 2))
try:
    of(x, y, 2, 64)
except TypeError as error:
    print(error)
"""
    printed = on_stub(program)
    assert printed[0] == "(x, y, times) 128 [128] None"
    assert printed[1] == "128 True {'x.shape[0]': 1000, 'x.dtype': 'float32', 'times': 3}"
    assert printed[2] == "<kernpack jit function scale_any given B=32, W=1: 0 variants> [32]"
    assert "Expected 3 arguments" in printed[3] or "positional" in printed[3]


def test_arguments_that_say_more_than_is_passed(on_stub):
    program = """
import collections, numpy
Pair = collections.namedtuple("Pair", "x y")

@kp.jit
def scale_pair(pair, times):
    assert pair.x.shape == pair.y.shape
    scale_elements(pair.x, pair.y).launch(grid=kp.ceil_div(pair.x.shape[0], BLOCK), block=BLOCK)

of = tuned(key=["times"], of=scale_pair)
pair = Pair(x, y)
print(call(of, pair, numpy.float16(2))[-1], call(of, pair, numpy.float16(2)), len(ROUNDS))
print(call(of, pair, numpy.float16(3))[-1], len(ROUNDS))
"""
    assert on_stub(program) == ["128 [128] 24", "128 48"]


def test_more_keys_than_are_kept_ask_anew(on_stub):
    program = """
from kernpack import _tuned
_tuned._MOST_KEPT = 1
asked, real = [], _tuned.TunedFunction._chosen
_tuned.TunedFunction._chosen = lambda *args: asked.append(1) or real(*args)
small = ones(10), ones(10)
for args in ((x, y), (x, y), small, small):
    scale(*args)
    print(len(asked), len(ROUNDS))
"""
    assert on_stub(program) == ["1 24", "1 24", "2 48", "3 48"]


def test_methods_are_tuned(on_stub):
    program = """
class Scaler:
    def __init__(self, by):
        self.by = by

    @kp.autotune(CONFIGS, ["x.shape[0]"])
    @kp.jit
    def scale(self, x, y):
        assert x.shape == y.shape
        scale_elements(x, y).launch(grid=kp.ceil_div(x.shape[0], BLOCK * self.by), block=BLOCK)


one = Scaler(1)
print(call(one.scale, x, y)[-1], call(one.scale, x, y), one.scale is one.scale)
print(call(Scaler(2).scale, x, y)[-1], len(ROUNDS))
"""
    # What the object has is part of the text: the other one is tuned by itself.
    assert on_stub(program) == ["128 [128] True", "128 48"]


def test_a_new_config_is_measured_beside_the_best(on_stub, tmp_path):
    assert on_stub("tuned(CONFIGS[::2])(x, y); print(sorted(ROUNDS[0]))") == ["[2e-06, 3e-06]"]
    [before] = lines_of(tmp_path)
    assert on_stub("tuned(CONFIGS[:3])(x, y); print(sorted(ROUNDS[0]))") == ["[1e-06, 2e-06]"]
    [after] = lines_of(tmp_path)
    assert after[: len(before)] == before
    printed = on_stub("print(tuned(CONFIGS[:3]).tune(x, y), len(ROUNDS))")
    assert printed == [
        "plain for n=1000 on NVIDIA H200: 1.00 µs",
        "  1.000  BLOCK=128",
        "  2.000  BLOCK=64",
        "  3.000  BLOCK=256 0",
    ]


def test_another_text_is_tuned_anew(on_stub, tmp_path):
    on_stub("scale(x, y)")
    changed = (
        'WIDTH = 2\n\n\n@kp.jit("plain(x: Tensor([n], float32), y: Tensor([n], float32, mut))")\n'
    )
    changed += "def plain(x, y):\n    scale_elements(x, y).launch(grid=WIDTH, block=BLOCK)\n\n\n"
    assert on_stub(changed + "tuned(of=plain)(x, y)\nprint(len(ROUNDS))") == ["24"]
    assert len(lines_of(tmp_path)) == 2


def test_decorators_are_no_part_of_the_text(on_stub, tmp_path):
    decorated = """
@kp.autotune(CONFIGS[:{n}], ["n"])
@kp.jit("other(x: Tensor([n], float32), y: Tensor([n], float32, mut))")
def other(x, y):
    scale_elements(x, y).launch(grid=kp.ceil_div(x.shape[0], BLOCK), block=BLOCK)

other(x, y)
print(len(ROUNDS))
"""
    assert on_stub(decorated.format(n=2)) == ["12"]
    assert on_stub(decorated.format(n=2)) == ["0"]
    assert on_stub(decorated.format(n=3)) == ["12"]
    assert len(lines_of(tmp_path)) == 1


def test_what_fails_takes_no_part(on_stub):
    program = """
from kernpack import _build
real = _build.get_program

def failing(request, ask=None):
    if '"n": 256' in request["text"] or 'BLOCK' in request["text"] and "256" in request["text"]:
        raise kp.CompileError("no room\\nat all")
    return real(request, ask)

_build.get_program = failing
know = _clocks.DeviceClock.know

def knows(clock, call):
    cuda_stub.forget()
    know(clock, call)
    if launched()[0] == 32:
        raise RuntimeError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")

_clocks.DeviceClock.know = knows
print(scale.tune(x, y))
"""
    assert on_stub(program)[1:] == [
        "  1.000  BLOCK=128",
        "  2.000  BLOCK=64",
        "          BLOCK=256: CompileError: no room",
        "          BLOCK=32: RuntimeError: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
    ]


def test_where_all_fail_the_first_says_why(on_stub):
    program = """
def knows(clock, call):
    raise RuntimeError("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")

_clocks.DeviceClock.know = knows
for _ in range(2):
    try:
        scale(x, y)
    except RuntimeError as error:
        print(str(error).splitlines()[0])
"""
    assert on_stub(program) == [
        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        "`plain` runs with none of its configs:",
    ]


def test_wrong_arguments_are_refused_before_anything_is_compiled(on_stub):
    program = """
for args in ((x, ones(999)), (x,), (x, 5)):
    try:
        scale(*args)
    except (TypeError, ValueError) as error:
        print(type(error).__name__, str(error).splitlines()[0])
print(len(scale.variants), len(ROUNDS))
"""
    *errors, last = on_stub(program)
    assert [line.split()[0] for line in errors] == ["ValueError", "TypeError", "TypeError"]
    assert "expected to be 1000" in errors[0] or "y.shape[0]" in errors[0]
    assert last == "1 0"


def test_the_end_of_the_time_keeps_the_best(on_stub):
    program = """
of = tuned(seconds=2.0)
compile_all(of)
slow = round

def slower(*args):
    taken = slow(*args)
    time.sleep(0.5)
    return taken

_clocks.DeviceClock.round = slower
begin = time.monotonic()
print(of.tune(x, y).config, len(ROUNDS) < 8, time.monotonic() - begin < 6)
"""
    assert on_stub(program) == ["BLOCK=128 True True"]
    assert on_stub("print(call(scale, x, y), len(ROUNDS))") == ["[128] 0"]


def test_what_there_is_no_time_to_compile_takes_no_part(on_stub):
    program = """
from kernpack import _build
of = tuned(seconds=3.0)
compile_all(of, CONFIGS[:3])
real = _build.get_program

def slow(request, ask=None):
    if "32" in json.dumps(json.loads(request["text"])["sources"][0]["names"]):
        time.sleep(6)
    return real(request, ask)

_build.get_program = slow
tuning = of.tune(x, y)
print(tuning.config, [each.failed for each in tuning.contenders if each.failed])
"""
    assert on_stub(program) == ["BLOCK=128 ['there was no time to compile it']"]


def test_an_interrupt_keeps_what_was_measured(on_stub, tmp_path):
    program = """
real = round

def interrupted(*args):
    if len(ROUNDS) == 5:
        raise KeyboardInterrupt
    return real(*args)

_clocks.DeviceClock.round = interrupted
try:
    scale(x, y)
except KeyboardInterrupt:
    print(len(ROUNDS))
"""
    assert on_stub(program) == ["5"]
    [lines] = lines_of(tmp_path)
    assert sum("round" in line for line in lines) == 5
    # The next one goes on there.
    assert on_stub("print(call(scale, x, y)[-1], len(ROUNDS))") == ["128 19"]


# Where nothing may be tuned

WARNED = """
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for _ in range(2):
        print(call(scale, x, y))
print(*[f"{each.category.__name__}: {each.message}" for each in told], len(ROUNDS), sep="\\n")
"""


def test_nothing_is_tuned_in_a_capture(on_stub):
    program = (
        "scale.with_config(CONFIGS[0])(x, y)\n_graphs.is_capturing = lambda: True\n"
        + WARNED
        + "_graphs.is_capturing = lambda: False\nprint(call(scale, x, y)[-1])"
    )
    first, second, warning, n_rounds, later = on_stub(program)
    assert (first, second, n_rounds, later) == ("[64]", "[64]", "0", "128")
    assert warning == (
        "TuneWarning: `plain` is not tuned for n=1000 on NVIDIA H200, as a CUDA graph is being "
        "captured: it is called with kp.Config(BLOCK=64); `plain.tune(…)` tunes ahead"
    )


def test_nothing_is_tuned_where_nothing_is_compiled(on_stub):
    on_stub("scale.with_config(CONFIGS[0])(x, y)\nscale.with_config(CONFIGS[3])(x, y)")
    printed = on_stub(WARNED, KERNPACK_JIT="forbid")
    assert printed[:2] == ["[64]"] * 2 and "KERNPACK_JIT=forbid says so" in printed[2]
    assert printed[3:] == ["0"]


def test_the_interpreter_tunes_nothing(on_stub):
    program = """
import numpy
x, y = numpy.ones(1000, "float32"), numpy.zeros(1000, "float32")
with warnings.catch_warnings():
    warnings.simplefilter("error", kp.TuneWarning)
    scale(x, y)
print(y.min(), y.max(), len(ROUNDS))
"""
    prelude = PRELUDE.replace("x, y = ones(1000), ones(1000)\n", "")
    assert on_stub(program, prelude, KERNPACK_INTERPRET="1") == ["2.0 2.0 0"]


def test_memory_that_there_is_not_leaves_the_first(on_stub):
    program = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    scale.with_config(CONFIGS[0])(x, y)
    driver.kernpack_cuda_stub_fail(b"cuMemAlloc_v2", ctypes.c_uint64(1), 2)
    print(call(scale, x, y))
print(told[0].message, len(ROUNDS), call(scale, x, y)[-1])
"""
    first, warning = on_stub(program)
    assert first == "[64]" and "cuMemAlloc_v2 failed with CUDA_ERROR_OUT_OF_MEMORY" in warning
    assert warning.endswith("0 128")


# Processes


def test_one_of_many_processes_measures(on_stub, tmp_path):
    program = PRELUDE + "print(call(scale, x, y)[-1], len(ROUNDS) > 0)"
    path = tmp_path / "many.py"
    path.write_text(program)
    folders = [str(REPOSITORY / "python-tests"), str(REPOSITORY / "python")]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")]),
        "KERNPACK_CACHE_DIR": str(tmp_path / "cache"),
    }
    processes = [
        subprocess.Popen([sys.executable, path], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(8)
    ]
    printed = [process.communicate()[0].strip() for process in processes]
    assert sorted(printed) == ["128 False"] * 7 + ["128 True"]


def test_what_is_killed_loses_no_round(on_stub, tmp_path):
    program = """
import signal
real = round

def killed(*args):
    if len(ROUNDS) == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args)

_clocks.DeviceClock.round = killed
scale(x, y)
"""
    with pytest.raises(AssertionError):
        on_stub(program)
    [before] = lines_of(tmp_path)
    assert sum("round" in line for line in before) == 7
    assert on_stub("print(call(scale, x, y)[-1], len(ROUNDS))") == ["128 17"]
    [after] = lines_of(tmp_path)
    assert after[: len(before)] == before


def test_who_waits_too_long_goes_on_with_the_first(on_stub):
    program = """
from kernpack import _tuned
_tuned._WAIT = 0.01
calls = {"signature": None, "key": {"n": 1000}}
scale._renew()
timings = scale._timings_of(scale._number, "NVIDIA H200")
with timings.lock(calls, 0):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        print(call(scale, x, y), "another process tunes it for such calls" in str(told[0].message))
print(call(scale, x, y)[-1])
"""
    assert on_stub(program) == ["[64] True", "128"]


def test_other_processes_compile(on_stub, tmp_path):
    program = """
import concurrent.futures, threading
from kernpack import _build

class Executor(concurrent.futures.Executor):
    def __init__(self):
        self.asked = []

    def submit(self, function, *args):
        self.asked.append((function.__name__, args[0]["name"]))
        future = concurrent.futures.Future()
        future.set_result(function(*args))
        return future


executor = Executor()
of = tuned(executor=executor)
of(x, y)
print(sorted(executor.asked), [variant.is_cached for variant in of.variants].count(True))
"""
    # The first config is compiled before: it tells whether the arguments are right.
    assert on_stub(program) == [f"{[('precompile_program', 'plain')] * 4} 3"]


# Files of winners

FILED = """
import pathlib
from kernpack import _winners

def file(*winners):
    path = pathlib.Path("tuned.toml").absolute()
    path.unlink(missing_ok=True)
    given = tuned(file="tuned.toml")
    given._renew()
    made = [
        _winners.Winner("plain", each.get("device", "NVIDIA H200"), each.get("kernel", given._kernel(0)),
                        None, each["key"], each["config"], None)
        for each in winners
    ]
    _winners.write(path, made)
    return tuned(file="tuned.toml")


def told(function, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        blocks = call(function, *args)
    print(blocks[-1], len(ROUNDS), *[each.message for each in found])

"""


def test_winners_of_a_file_are_called(on_stub):
    program = """
of = file({"key": {"n": 1000}, "config": {"BLOCK": 256}}, {"key": None, "config": {"BLOCK": 32}})
told(of, x, y)
told(of, ones(10), ones(10))
small = ones(11), ones(11)
of.with_config(CONFIGS[3])(x, y)
_graphs.is_capturing = lambda: True
told(of, *small)
"""
    known, new, captured = on_stub(FILED + program)
    # As the file says so, if it is slower here; other keys are tuned.
    assert known == "256 0" and new == "128 24"
    assert captured.startswith("32 24 `plain` is not tuned for n=11 on NVIDIA H200")


def test_a_winner_for_another_device_is_never_used(on_stub):
    program = """
of = file({"key": {"n": 1000}, "config": {"BLOCK": 256}, "device": "NVIDIA B200"})
of.with_config(CONFIGS[0])(x, y)
_graphs.is_capturing = lambda: True
told(of, x, y)
_graphs.is_capturing = lambda: False
told(of, x, y)
"""
    captured, later = on_stub(FILED + program)
    assert captured.startswith("64 0 ") and captured.endswith("has winners for NVIDIA B200")
    assert later == "128 24"


def test_winners_of_another_text_warn(on_stub):
    program = """
told(file({"key": {"n": 1000}, "config": {"BLOCK": 256}, "kernel": "0"}), x, y)
told(file({"key": {"n": 1000}, "config": {"BLOCK": 7}}), x, y)
pathlib.Path("tuned.toml").write_text("[[plain]]")
try:
    tuned(file="tuned.toml")(x, y)
except ValueError as error:
    print(error)
"""
    other, gone, wrong = on_stub(FILED + program)
    assert other.startswith("256 0 ") and "has winners for another text of `plain`" in other
    assert gone.startswith("128 24 ") and "that is no config of `plain` any more" in gone
    assert "tuned.toml: table 1 of `plain` has no `device`" in wrong


def test_packages_have_winners_behind_conditions(on_stub, tmp_path):
    program = """
of = file(
    {"key": {"n": 1000}, "config": {"BLOCK": 256}},
    {"key": {"n": 500}, "config": {"BLOCK": 128}},
    {"key": {"n": 501}, "config": {"BLOCK": 128}},
    {"key": {"n": 1}, "config": {"BLOCK": 32}, "device": "NVIDIA B200"},
    {"key": None, "config": {"BLOCK": 64}},
)
of.export("scale.so")
module = kp.load_module("scale.so")
sizes = 1000, 500, 501, 1, 7
print([call(module.plain, ones(n), ones(n)) for n in sizes], len(ROUNDS))
compiled = kp.compile(of)
print([call(compiled, ones(n), ones(n)) for n in sizes])
other = kp.compile(of.tuned_for("NVIDIA B200"))
print([call(other, ones(n), ones(n)) for n in sizes])
print(call(kp.compile(tuned()), x, y))
kp.export([of], "several.so")
print(call(kp.load_module("several.so").plain, x, y), len(of.metadata["launches"]))
# Operators of PyTorch, and calls of JAX.
print(call(of.of_annotations().function, x, y), call(of.of_classes([], "a call of JAX").function, x, y))
"""
    assert on_stub(FILED + program) == [
        "[[256], [128], [128], [64], [64]] 0",
        "[[256], [128], [128], [64], [64]]",
        "[[64], [64], [64], [32], [64]]",
        "[64]",
        "[256] 3",
        "[256] [256]",
    ]


def test_packages_of_functions_without_a_signature(on_stub):
    program = """
@kp.jit
def some(x, y, B: kp.Constexpr):
    assert x.shape == y.shape
    scale_elements(x, y).launch(grid=kp.ceil_div(x.shape[0], B), block=B)

def half(n):
    return n // 2

how = dict(configs=kp.Config.grid(B=(64, 128)), key=[lambda x: x.shape[0] // 2], of=some, file="some.toml")
t = kp.fake_tensor(kp.float32, (kp.sym_int(),))
of = tuned(**how)
of._renew()
signature = of._said(of._canonical(of._described((t, t)))).signature
winner = _winners.Winner("some", "NVIDIA H200", of._kernel(0), signature, {"bucket": 500}, {"B": 128}, None)
_winners.write(pathlib.Path("some.toml").absolute(), [winner])
compiled = kp.compile(tuned(**how), t, t)
print([call(compiled, ones(n), ones(n)) for n in (1000, 1001, 1002)])
"""
    assert on_stub(FILED + program) == ["[[128], [128], [64]]"]


# The command


def tune(folder, shapes, program="", words=()):
    (folder / "shapes.toml").write_text(shapes)
    (folder / "kernels.py").write_text(
        PRELUDE.replace("cuda_stub.begin()", "").replace("x, y = ones(1000), ones(1000)", "")
        + "tuned_scale = tuned(file='tuned.toml')\n"
        + "def make(n):\n    return ones(n), ones(n)\n\n"
        + program
    )
    runner = folder / "runner.py"
    runner.write_text(
        "import cuda_stub\ncuda_stub.begin()\nimport sys\n"
        "sys.modules['torch'] = None\nfrom kernpack import _tune\n"
        f"sys.exit(_tune.main(['kernels.py', '--shapes', 'shapes.toml', *{list(words)!r}]))\n"
    )
    folders = [str(REPOSITORY / "python-tests"), str(REPOSITORY / "python")]
    path = os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "KERNPACK_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, runner], env=environment, cwd=folder, capture_output=True, text=True
    )


def test_the_command_writes_winners(tmp_path):
    done = tune(tmp_path, "[[tuned_scale]]\narguments = 'make'\nn = [100, 200]\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        "plain for n=100 on NVIDIA H200: 1.00 µs",
        "  1.000  BLOCK=128",
    ]
    winners = _winners.read(tmp_path / "tuned.toml")
    assert [(each.function, each.key, each.config) for each in winners] == [
        ("plain", {"n": 100}, {"BLOCK": 128}),
        ("plain", {"n": 200}, {"BLOCK": 128}),
        ("plain", None, {"BLOCK": 128}),
    ]
    assert {each.device for each in winners} == {"NVIDIA H200"} and winners[0].seconds == 1e-6
    # Again it has nothing to measure, and what other calls have won stays.
    assert tune(tmp_path, "[tuned_scale]\narguments = 'make'\nn = 300\n").returncode == 0
    keys = [each.key for each in _winners.read(tmp_path / "tuned.toml")]
    assert keys == [{"n": 100}, {"n": 200}, {"n": 300}, None]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ("a = ", "shapes.toml: TOML parse error at line 1"),
        ("[[plain]]\nn = 1", "names `plain`, which is no tuned function of kernels.py"),
        (
            "[[scale]]\nn = 1",
            r"`scale` has no file for its winners: write `kp.autotune(…, file=…)`",
        ),
        ("tuned_scale = 5", "expected tables `[[tuned_scale]]`"),
        ("[[tuned_scale]]\narguments = 'no'", "`no`, which makes the arguments of `tuned_scale`"),
        ("[[tuned_scale]]\nm = 1", "a call of `tuned_scale` lacks `n`"),
        ("[[tuned_scale]]\nn = 1", "arguments are made by PyTorch, which is not installed"),
    ],
)
def test_what_the_command_refuses(tmp_path, shapes, message):
    done = tune(tmp_path, shapes)
    assert done.returncode == 1 and message in done.stderr, done.stderr
    assert not (tmp_path / "tuned.toml").exists()


def test_the_best_over_all_keys():
    def tuning(**ratios):
        configs = {name: kp.Config(A=name) for name in ratios}
        contenders = [
            kp.Contender(configs[name], ratio, 0, None if ratio else "why")
            for name, ratio in ratios.items()
        ]
        best = min((each for each in contenders if each.ratio), key=lambda each: each.ratio)
        return kp.Tuning("f", "A", "1", "f(x)", {"n": len(ratios)}, best.config, 1.0, contenders)

    of = _tune._otherwise([tuning(a=1.0, b=1.1, c=1.3), tuning(a=1.5, b=1.2, c=1.0)])
    assert (of.config, of.key, of.signature, of.seconds) == ({"A": "c"}, None, None, None)
    # What cannot run for one of them is none for all others.
    assert _tune._otherwise([tuning(a=1.0, b=1.9), tuning(a=None, b=1.0)]).config == {"A": "b"}


# What is no tuned function


@kp.jit("f(x: Tensor([n], float32))")
def signed(x):
    pass


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: kp.autotune([])(signed), TypeError, "there is no config to tune over"),
        (lambda: kp.autotune([{"A": 1}])(signed), TypeError, "a config is a `kp.Config"),
        (lambda: kp.autotune([kp.Config()], seconds=0)(signed), ValueError, "`seconds` is 0"),
        (lambda: kp.autotune([kp.Config()])(len), TypeError, "above `@kp.jit`"),
        (
            lambda: kp.autotune([kp.Config()])(kp.autotune([kp.Config()])(signed)),
            TypeError,
            "is no jit function",
        ),
        (
            lambda: kp.autotune([kp.Config()], ["q"])(signed),
            TypeError,
            "has no `q` to be tuned for",
        ),
        (
            lambda: kp.autotune([kp.Config()], restore=["q"])(signed),
            TypeError,
            "`signed` has no parameter `q` to restore",
        ),
    ],
)
def test_what_cannot_be_tuned(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_config_lacks_what_has_no_default():
    @kp.jit
    def unsigned(x, B: kp.Constexpr):
        pass

    with pytest.raises(TypeError, match=r"kp.Config\(\) lacks `B`, which has no default"):
        kp.autotune([kp.Config(B=1), kp.Config()])(unsigned)


def test_tensors_of_other_ranks_are_not_tuned():
    @kp.jit("f(x: Tensor([n], float32, peer))")
    def peers(x):
        pass

    with pytest.raises(TypeError, match="has tensors of other ranks, which would wait"):
        kp.autotune([kp.Config()])(peers)


DOCUMENT = """
import contextlib

ones = globals()["ones"]


@contextlib.contextmanager
def capture():
    scale.with_config(scale.configs[0])(ones(4096), ones(4096))
    capturing, _graphs.is_capturing = _graphs.is_capturing, lambda: True
    yield
    _graphs.is_capturing = capturing


TAKES[512] = 5e-7
"""


def test_what_the_document_shows(on_stub):
    """Times are those of another machine."""
    programs = blocks("docs/tuning.md", "python")
    shown = [text for text in blocks("docs/tuning.md", "text") if not text.startswith("[[")]
    printed = on_stub(DOCUMENT + "\n".join(programs))
    assert is_like("\n".join(printed), "\n".join(text.rstrip("\n") for text in shown)), printed


def test_the_files_of_the_document_are_read(tmp_path):
    file, shapes = [text for text in blocks("docs/tuning.md", "text") if text.startswith("[[")]
    (tmp_path / "tuned.toml").write_text(file)
    [found] = _winners.read(tmp_path / "tuned.toml")
    assert found.config == {"BLOCK": 512, "EACH": 4} and found.key == {"n": 1 << 20}
    calls = kp._native.read_toml(shapes)
    assert [call["n"] for call in _tune._combinations(calls["scale"][0])] == [4096, 1 << 20]
    assert list(_tune._combinations(calls["attend"][0])) == calls["attend"]


def test_the_winners_of_the_examples_are_of_their_texts(monkeypatch):
    folder = REPOSITORY / "examples/kernels"
    monkeypatch.syspath_prepend(str(folder))
    tuned = importlib.import_module("tuned")
    functions = {
        each.__name__: each for each in vars(tuned).values() if isinstance(each, kp.TunedFunction)
    }
    winners = _winners.read(folder / "tuned.toml")
    assert {each.function for each in winners} == {*functions}
    for each in winners:
        function = functions[each.function]
        function._renew()
        assert each.kernel == function._kernel(function._number)
        assert json.dumps(each.config, sort_keys=True) in [one.text for one in function.configs]
    # Each has what is best over all keys.
    assert sum(each.key is None for each in winners) == len(functions)
    shapes = kp._native.read_toml((folder / "shapes.toml").read_text())
    assert {*shapes} == {*functions}
