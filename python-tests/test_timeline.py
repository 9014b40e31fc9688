# SPDX-License-Identifier: Apache-2.0
"""Timelines: what records become, how they are drawn and saved, and what has none. Kernels do nothing
with the driver of `tests/cuda-stub`, so that a program writes what they would.
"""

import json
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, needs_no_driver
from test_python_documents import pieces

import kernpack as kp
from kernpack import _build, _timeline

NOWHERE = {"array": None, "left": None, "within": None}
TABLE = {
    "kernel": "k",
    "id": 7,
    "waits": [
        {**NOWHERE, "name": "barrier", "file": "a/k.py", "line": 3},
        {**NOWHERE, "name": "mbarrier.wait", "file": "a/k.py", "line": 9, "array": "full"},
        {**NOWHERE, "name": "wgmma.wait", "file": "a/k.py", "line": 9, "left": 1},
    ],
}


def record(warp, clocks, events, n_events, block=(0, 0, 0), count=None, kernel=7):
    """A record as a kernel writes it: both clocks as the warp begins and as it ends, and its events."""
    head = struct.pack("<Q4i4q2i", kernel, *block, warp, *clocks, count or len(events), 0)
    packed = b"".join(struct.pack("<2I2i", b % 2**32, e % 2**32, w, s) for b, e, w, s in events)
    return head + packed.ljust(16 * n_events, b"\0")


def decoded(records, n_events, taken=None, n_records=None):
    taken = len(records) if taken is None else taken
    head = struct.pack("<4i", taken, n_records or len(records), n_events, 0)
    return _timeline.decoded(head + b"".join(records), {7: TABLE})


def test_cycles_become_nanoseconds():
    # Two cycles are a nanosecond; the lower bits of the clock begin anew within the warp.
    begin = 2**32 * 5 - 100
    events = [(begin + 20, begin + 60, 0, -1), (begin + 90, begin + 190, 1, 3)]
    [warp], lost = decoded([record(2, (begin, 7000, begin + 400, 7200), events, 4)], 4)
    assert lost == 0
    assert (warp.kernel, warp.block, warp.number, warp.lost) == ("k", (0, 0, 0), 2, 0)
    assert (warp.begin, warp.end) == (0, 200)
    times = [(event.begin, event.end, event.stage) for event in warp.events]
    assert times == [(10, 30, None), (45, 95, 3)]
    assert [event.wait.array for event in warp.events] == [None, "full"]
    assert warp.events[1].wait.line == 9


def test_warps_of_a_block_have_a_clock_in_common():
    # What `globaltimer` says is too early by up to a step, and by another one for each warp.
    first = record(0, (1000, 50, 1200, 250), [(1100, 1150, 0, -1)], 1)
    second = record(1, (1010, 40, 1190, 220), [(1100, 1150, 0, -1)], 1)
    other = record(0, (500, 90, 700, 290), [], 1, block=(1, 0, 0))
    warps, _ = decoded([other, second, first], 1)
    assert [(warp.block[0], warp.number) for warp in warps] == [(0, 0), (0, 1), (1, 0)]
    own, same, _ = warps
    assert own.events[0].begin == pytest.approx(same.events[0].begin, abs=0.01)
    assert same.begin - own.begin == pytest.approx(10, abs=0.5)


def test_a_warp_that_comes_again_is_one_of_another_launch():
    one = record(0, (1000, 100, 1100, 200), [], 1)
    other = record(0, (50, 1000, 150, 1100), [], 1)
    warps, _ = decoded([other, one], 1)
    assert [(warp.begin, warp.end) for warp in warps] == [(0, 100), (900, 1000)]


def test_what_there_was_no_room_for():
    full = record(0, (0, 10, 100, 110), [(1, 2, 0, -1), (3, 4, 0, -1)], 2, count=5)
    unfinished = record(1, (0, 10, 0, 0), [], 2)
    of_nobody = record(2, (0, 10, 100, 110), [], 2, kernel=8)
    [warp], lost = decoded([full, unfinished, of_nobody], 2, taken=9)
    assert (len(warp.events), warp.lost, lost) == (2, 3, 6)
    text = str(_timeline.Timeline("f", None, [warp], lost))
    assert "6 more warps were not recorded" in text
    assert "1 warps waited 3 times more than was recorded" in text
    # Shares are of the time that is known: half of it waited.
    assert "50.0 %" in text


def test_nothing_was_recorded():
    assert decoded([], 4) == ([], 0)
    assert str(_timeline.Timeline("f", None, [], 0)) == "f: no warp was recorded"


def two_roles():
    """Two blocks with a role of one warp and one of two."""
    records = []
    for block in ((0, 0, 0), (1, 0, 0)):
        at = 100 * block[0]
        clocks = (at, at + 5000, at + 720, at + 5720)
        barrier = (at + 10, at + 40, 0, -1)
        records.append(record(0, clocks, [barrier], 3, block))
        for warp in (1, 2):
            waits = [(at + 100, at + 300, 1, 0), (at + 300, at + 600, 2, -1)]
            records.append(record(warp, clocks, [barrier, *waits], 3, block))
    warps, lost = decoded(records, 3)
    return _timeline.Timeline("f", None, warps, lost)


def test_a_timeline_is_drawn():
    assert two_roles().draw(width=36) == DRAWN
    assert two_roles().draw((1, 0, 0), width=36).splitlines()[1:] == DRAWN.splitlines()[1:]
    assert str(two_roles()) == two_roles().draw()
    with pytest.raises(ValueError, match=r"no warp of block \(2, 0, 0\) was recorded"):
        two_roles().draw((2, 0, 0))
    with pytest.raises(ValueError, match="`width` is 0: expected 1 at least"):
        two_roles().draw(width=0)


DRAWN = """\
k: block (0, 0, 0) of 2, 720 ns in columns of 20 ns
  warp 0    |aa----------------------------------|
  warps 1-2 |aa---bbbbbbbbbbccccccccccccccc------|
                waits for                   share  times    mean  longest
  warp 0     a  k.py:3 barrier              4.2 %      2   30 ns    30 ns
             -  runs                       95.8 %
  warps 1-2  a  k.py:3 barrier              4.2 %      4   30 ns    30 ns
             b  k.py:9 mbarrier.wait full  27.8 %      4  200 ns   200 ns
             c  k.py:9 wgmma.wait 1        41.7 %      4  300 ns   300 ns
             -  runs                       26.4 %"""


def test_a_timeline_is_saved(tmp_path):
    two_roles().save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert trace["displayTimeUnit"] == "ns"
    slices = [each for each in trace["traceEvents"] if each["ph"] == "X"]
    named = [each for each in trace["traceEvents"] if each["ph"] == "M"]
    assert len(slices) == 6 + 14 and len(named) == 12
    assert {each["pid"] for each in slices} == {0, 1}
    assert {each["tid"] for each in slices} == {0, 1, 2}
    wait = next(each for each in slices if each["cat"] == "mbarrier.wait")
    assert wait["name"] == "k.py:9 mbarrier.wait full"
    assert (wait["ts"], wait["dur"]) == (0.1, 0.2)
    assert wait["args"] == {"file": "a/k.py", "line": 9, "stage": 0, "within": None}
    # Waits are within their warp.
    for each in slices:
        assert 0 <= each["ts"] and each["ts"] + each["dur"] <= 0.82


@kp.kernel
def meet(n):
    kp.sync_threads()


@kp.jit("met(n: int32)")
def met(n):
    meet(n).launch(grid=1, block=64)


@needs_no_driver
def test_there_is_no_gpu():
    with pytest.raises(RuntimeError, match="`met` has no timeline: there is no GPU: "):
        met.timeline(1)


def test_what_has_no_timeline():
    with pytest.raises(ValueError, match="`events` is 0: expected 1 at least"):
        met.timeline(1, events=0)
    with pytest.raises(ValueError, match="`warps` is -1: expected 1 at least"):
        met.timeline(1, warps=-1)
    # Another process has no text of it.
    again = pickle.loads(pickle.dumps(kp.compile(met)))
    again.package.request = None
    with pytest.raises(
        TypeError, match="`met` has no timeline: it has no kernels that are written"
    ):
        again.timeline(1)


def ran(program, **environment):
    """What a program prints."""
    path = [str(REPOSITORY / "python-tests"), str(REPOSITORY / "python")]
    path.append(os.environ.get("PYTHONPATH", ""))
    done = subprocess.run(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), **environment},
        capture_output=True,
        text=True,
        cwd=program.parent,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_interpreter_knows_no_time(tmp_path):
    program = tmp_path / "met.py"
    program.write_text(
        "import kernpack as kp\n\n\n"
        "@kp.kernel\ndef meet(n):\n    kp.sync_threads()\n\n\n"
        '@kp.jit("met(n: int32)")\ndef met(n):\n    meet(n).launch(grid=1, block=64)\n\n\n'
        "try:\n    met.timeline(1)\nexcept RuntimeError as error:\n    print(error)\n"
    )
    assert ran(program, KERNPACK_INTERPRET="1") == (
        "`met` has no timeline: KERNPACK_INTERPRET=1 has its kernels run on the interpreter, which "
        "knows no time\n"
    )


PLANTED = '''
import cuda_stub

cuda_stub.begin()

import ctypes, json, struct
from kernpack import _build, _device_memory, _emitted

N_EVENTS = 1024
EMPTY = (220, 224), (250, 254), (280, 620), (650, 980)
FULL = (220, 250), (600, 604), (960, 964), (1320, 1324)


def plant(buffer, n_bytes):
    """Writes what the kernel would."""
    timed, asked = _build.timed(pass_on.variants[0].request)
    [table] = _emitted.waits(timed["pass_on"], asked)
    waits = [(each["name"], each["array"]) for each in table["waits"]]
    barrier = waits.index(("barrier", None))
    full, empty = (waits.index(("mbarrier.wait", name)) for name in ("full", "empty"))
    records = []
    for block in range(2):
        at = 1000 + 90 * block
        clocks = at, 50_000 + at, at + 1600, 50_800 + at
        # Who uses a stage takes long, and who fills the next one waits for that.
        filled = [(at + 60, at + 200, barrier, -1)]
        filled += [(at + b, at + e, empty, i % 2) for i, (b, e) in enumerate(EMPTY)]
        used = [(at + 80, at + 200, barrier, -1)]
        used += [(at + b, at + e, full, i % 2) for i, (b, e) in enumerate(FULL)]
        for warp, events in enumerate((filled, used)):
            head = struct.pack("<Q4i4q2i", table["id"], block, 0, 0, warp, *clocks, len(events), 0)
            events = b"".join(struct.pack("<2I2i", *event) for event in events)
            records.append(head + events.ljust(16 * N_EVENTS, b"\\0"))
    content = struct.pack("<4i", 4, 2048, N_EVENTS, 0) + b"".join(records)
    ctypes.memmove(buffer.address, content, len(content))
    return read(buffer, n_bytes)


read, _device_memory.Buffer.read = _device_memory.Buffer.read, plant
'''

ASKED = """
plain = pass_on.variants[0].function
timed, asked = _build.timed(pass_on.variants[0].request)
print(json.dumps({
    "plain": plain.ptx, "timed": timed["pass_on"].ptx, "signature": timed["pass_on"].signature,
    "digests": [plain.package.digest, timed.digest],
    "again": kp.compile(pass_on).package.digest,
    "results": timeline.results, "events": len(timeline.events),
}))
"""


def test_what_the_documents_show(tmp_path):
    found = [piece for piece in pieces("docs/debugging.md") if piece[0] == "## Timelines"]
    assert [info for _, info, _ in found] == ["python", "python", "text"]
    (kernels, calls, shown) = (text for _, _, text in found)
    program = tmp_path / "ring.py"
    program.write_text(f"{kernels}\n{PLANTED}\n{calls}\n{ASKED}")
    printed, told = ran(program).rstrip("\n").rsplit("\n", 1)
    assert printed == shown.rstrip("\n")
    assert (tmp_path / "trace.json").is_file()
    told = json.loads(told)
    assert told["results"] is None and told["events"] == 20
    assert told["signature"] == "pass_on(turns: int32, timeline: Pointer)"
    # What is not timed has nothing of it, and is what it was before.
    assert told["digests"][0] == told["again"] != told["digests"][1]
    for arch, text in told["plain"].items():
        assert "globaltimer" not in text and "clock64" not in text
        timed = told["timed"][arch]
        # As a warp begins, and as it ends; and around each of the three waits.
        assert timed.count("%globaltimer") == 2
        assert timed.count("%clock64") == 2 + 2 * 3


@kp.jit("met_often(n: int32, turns: int32 = 2)")
def met_often(n, turns):
    meet(turns).launch(grid=n, block=64)


def test_the_address_follows_what_calls_may_leave_out():
    timed, _ = _build.timed(kp.compile(met_often).package.request)
    signature = timed["met_often"].signature
    assert signature == "met_often(n: int32, turns: int32, timeline: Pointer)"


PTXAS = Path(os.environ.get("KERNPACK_PTXAS", "")).is_file()


@pytest.mark.skipif(not PTXAS, reason="KERNPACK_PTXAS names none")
@pytest.mark.parametrize(("name", "most"), [("gemm", 0), ("attention", 24)])
def test_timed_kernels_spill_no_more_than_is_told(kernpack, name, most):
    file = REPOSITORY / f"examples/kernels/{name}.py"
    command = [kernpack, "emit", file, "--function", name, "--arch", "sm_90a", "--timed", "--json"]
    done = subprocess.run([*command, "--as", "resources"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    parts = json.loads(done.stdout)["kernels"]
    spilled = [each["spilled_bytes"] for part in parts for each in part["resources"]]
    assert spilled and max(spilled) <= most
