# SPDX-License-Identifier: Apache-2.0
"""The replay of recorded kernels, tests/gpu/replay_kernels.py, on a driver that runs no kernel: what
was recorded of one that writes nothing has to be what it finds.
"""

import hashlib
import json
import struct
import sys
import tarfile

import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests/gpu"))
from replay_kernels import BETWEEN, SIZES, Case, Inputs, is_nan

PTX = """.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 a, .param .f32 b, .param .u64 c) { ret; }
"""
RULES = [
    {"listed": "0102ff", "each": 2},
    {"drawn": "small", "seed": 1},
    {"drawn": "wide", "seed": 1},
]


def numbers(element, rule, count=8):
    """What a rule gives, as numbers."""
    content = Inputs(RULES).bytes(element, count, rule)
    if element == "bfloat16":
        halves = struct.unpack(f"<{count}H", content)
        return [struct.unpack("<f", struct.pack("<I", bits << 16))[0] for bits in halves]
    return list(
        struct.unpack(
            f"<{count}{ {'int8': 'b', 'uint8': 'B', 'int64': 'q', 'float16': 'e'}[element] }",
            content,
        )
    )


def test_rules_give_what_those_of_the_recorder_do():
    # As tests/src/gpu_proof/input.rs has it.
    assert numbers("int8", 0) == [1, 1, 2, 2, -1, -1, 1, 1]
    assert numbers("int64", 1)[:6] == [3, 13, 7, -13, -3800091893662914666, 0]
    assert numbers("bfloat16", 1)[:5] == [6.375, 7.125, 0.0625, 3.75, 1.4167099448608936e24]
    assert numbers("float16", 2)[:4] == [
        -0.0010747909545898438,
        -10.0859375,
        -6.5,
        -0.08526611328125,
    ]
    assert numbers("uint8", 2) == [103, 11, 128, 117, 150, 254, 138, 59]


def test_fewer_elements_are_the_first_of_more():
    inputs = Inputs(RULES)
    few, many = inputs.bytes("float32", 3, 1), inputs.bytes("float32", 100, 1)
    assert many[:12] == few == inputs.bytes("float32", 3, 1)


@pytest.mark.parametrize(
    ("element", "infinity"),
    [("float16", 0x7C00), ("bfloat16", 0x7F80), ("float32", 0x7F80_0000), ("float64", 0x7FF << 52)],
)
def test_nan(element, infinity):
    sign = 1 << (8 * SIZES[element] - 1)
    assert is_nan(element, infinity + 1) and is_nan(element, (infinity | sign) + 1)
    assert not is_nan(element, infinity) and not is_nan(element, infinity | sign)
    assert not is_nan("uint" + str(8 * SIZES[element]), infinity + 1)


@pytest.fixture
def recorded(tmp_path):
    """A function that records a kernel that writes nothing, with this outcome of its first tensor."""

    def record(outcome=None):
        folder = tmp_path / "kernels"
        folder.mkdir()
        (folder / "kernels00.ptx").write_text(PTX)
        content = Inputs(RULES).bytes("float32", 40, 1)
        (folder / "outcomes.bin").write_bytes(b"before" + (outcome or content))
        arguments = [
            {"element": "float32", "count": 40, "input": 1, "outcome": 6},
            {"scalar": "0000803f"},
            {"element": "int8", "count": 3, "input": 0},
        ]
        case = {
            "symbol": "nothing",
            "origin": "seed 7",
            "grid": [2, 1, 1],
            "block": [32, 1, 1],
            "cluster": [1, 1, 1],
            "cooperative": False,
            "shared": 50_000,
            "names": ["a", "b", "c"],
            "arguments": arguments,
        }
        digest = hashlib.sha256(content + bytes([1, 1, 2])).hexdigest()
        image = {"file": "kernels00.ptx", "digest": digest, "cases": [case]}
        manifest = {"arch": "compute_80", "inputs": RULES, "images": [image]}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder

    return record


def test_what_is_as_recorded_passes(driver, recorded):
    ran = driver("devices 1", "replay_kernels.py", recorded())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "1 kernels launched, 0 of them differ" in ran.stdout


def test_an_archive_is_a_folder(driver, recorded, tmp_path):
    folder = recorded()
    with tarfile.open(tmp_path / "kernels.tar.xz", "w:xz") as archive:
        for path in folder.iterdir():
            archive.add(path, path.name)
    ran = driver("devices 1", "replay_kernels.py", tmp_path / "kernels.tar.xz")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_kernel_is_given_its_arguments(driver, recorded, tmp_path):
    log = tmp_path / "log.jsonl"
    ran = driver(f"devices 1\nlog {log}", "replay_kernels.py", recorded())
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    (launch,) = [line["launch"] for line in lines if line["call"] == "cuLaunchKernelEx"]
    first, number, second = (argument["bytes"] for argument in launch["arguments"])
    addresses = [int.from_bytes(bytes.fromhex(text), "little") for text in (first, second)]
    # 160 bytes, up to the next 256, and what lies between.
    assert addresses[1] - addresses[0] == 256 + len(BETWEEN)
    assert number == "0000803f"


def test_a_difference_is_told(driver, recorded):
    content = bytearray(Inputs(RULES).bytes("float32", 40, 1))
    content[8:12] = struct.pack("<f", 1.5)
    ran = driver("devices 1", "replay_kernels.py", recorded(bytes(content)))
    assert ran.returncode == 1
    assert "seed 7 (`nothing`): 1 differ" in ran.stdout
    assert "a[2]: 0x3fc00000 expected, 0x3d800000 found" in ran.stdout


def test_other_inputs_than_recorded_are_refused(driver, recorded):
    folder = recorded()
    manifest = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(manifest.replace('"seed": 1', '"seed": 2'))
    ran = driver("devices 1", "replay_kernels.py", folder)
    assert ran.returncode == 1
    assert "other inputs than when it was recorded" in ran.stderr


def test_a_driver_that_refuses_is_told(driver, recorded):
    ran = driver("devices 1\nfail cuLaunchKernelEx 1 with 719", "replay_kernels.py", recorded())
    assert ran.returncode == 1
    assert "cuLaunchKernelEx: CUDA_ERROR_LAUNCH_FAILED" in ran.stdout


def differences(outcome, got):
    """What a case of one float says."""
    recorded = {
        "names": ["x"],
        "arguments": [{"element": "float32", "count": 1, "input": 0, "outcome": 0}],
    }
    case = Case(recorded, Inputs([{"listed": "00000000", "each": 1}]), outcome)
    return case.differences(case.before[: len(BETWEEN)] + got + case.before[len(BETWEEN) + 4 :])


def test_one_nan_is_like_any_other():
    quiet, other = (bits.to_bytes(4, "little") for bits in (0x7FC0_0000, 0xFFFF_FFFF))
    assert differences(quiet, other) == []
    assert len(differences(quiet, bytes(4))) == 1


def test_what_is_written_between_buffers_is_told():
    recorded = {"names": [], "arguments": []}
    case = Case(recorded, Inputs([]), b"")
    (told,) = case.differences(b"\0" + case.before[1:])
    assert "between buffers" in told
