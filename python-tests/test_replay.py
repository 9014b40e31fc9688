# SPDX-License-Identifier: Apache-2.0
"""The replay of recorded calls, tests/gpu/replay.py, on the driver that they were recorded on, and
on one that answers otherwise.
"""

import json

import pytest

from conftest import REPOSITORY

# Scenes of tests/gpu/record.py that need no built package.
SCENES = {
    "contexts": 1,
    "libraries": 1,
    "launches": 1,
    "streams": 1,
    "events": 1,
    "memory": 1,
    "tensor_maps": 1,
    "two_devices": 2,
}


@pytest.fixture
def recorded(driver, tmp_path):
    folder = tmp_path / "calls"
    (folder / "images").mkdir(parents=True)
    for scene, devices in SCENES.items():
        told = f"devices {devices}\nlog {folder / scene}.jsonl\nimages {folder / 'images'}"
        ran = driver(told, "record.py", REPOSITORY / "tests/images", "", scene)
        assert ran.returncode == 0, ran.stderr
    return folder


def total(printed):
    """Calls, differences, known ones, and calls that were left out."""
    line = next(line for line in printed.splitlines() if line.startswith("all "))
    return [int(number) for number in line.split()[1:]]


def n_calls(folder, *but):
    return sum(
        len(log.read_text().splitlines()) for log in folder.glob("*.jsonl") if log.stem not in but
    )


def test_the_same_driver_answers_the_same(driver, recorded):
    ran = driver("devices 2", "replay.py", recorded)
    assert ran.returncode == 0, ran.stdout
    # An unloaded library, its kernel and a launch of that.
    assert total(ran.stdout) == [n_calls(recorded), 0, 0, 3]


def test_what_needs_more_devices_is_left_out(driver, recorded):
    for log in recorded.glob("*.jsonl"):
        if log.stem not in ("memory", "two_devices"):
            log.unlink()
    ran = driver("devices 1", "replay.py", recorded)
    assert ran.returncode == 0, ran.stdout
    assert "two_devices.jsonl: left out, " in ran.stdout
    assert total(ran.stdout) == [n_calls(recorded, "two_devices"), 0, 0, 0]


@pytest.mark.parametrize(
    ("scene", "told", "difference"),
    [
        (
            "launches",
            "device 0 attribute 1 256",
            "CUDA_SUCCESS from the stub, CUDA_ERROR_INVALID_VALUE from the driver",
        ),
        (
            "launches",
            "device 0 attribute 97 100000",
            "CUDA_SUCCESS from the stub, CUDA_ERROR_INVALID_VALUE from the driver",
        ),
        ("contexts", "device 0 attribute 16 7", "value: 132 from the stub, 7 from the driver"),
        (
            "tensor_maps",
            "device 0 compute 10.0",
            "CUDA_ERROR_INVALID_VALUE from the stub, CUDA_SUCCESS from the driver",
        ),
        (
            "memory",
            "fail cuMemFree_v2 1 with 719",
            "CUDA_ERROR_INVALID_VALUE from the stub, CUDA_ERROR_LAUNCH_FAILED from the driver",
        ),
    ],
)
def test_another_driver_is_noticed(driver, recorded, scene, told, difference):
    for log in recorded.glob("*.jsonl"):
        if log.stem != scene:
            log.unlink()
    ran = driver(f"devices 1\n{told}", "replay.py", recorded)
    assert ran.returncode == 1
    assert total(ran.stdout)[1] > 0
    assert difference in ran.stdout.split("\ndifferences:")[1]


def test_calls_that_were_told_to_fail_are_left_out(driver, tmp_path):
    folder = tmp_path / "calls"
    folder.mkdir()
    told = f"devices 1\nlog {folder}/memory.jsonl\nfail cuMemFree_v2 2 with 719"
    assert driver(told, "record.py", REPOSITORY / "tests/images", "", "memory").returncode == 0
    marked = [
        json.loads(line)
        for line in (folder / "memory.jsonl").read_text().splitlines()
        if '"told":true' in line
    ]
    assert [line["result"] for line in marked] == ["CUDA_ERROR_LAUNCH_FAILED"]
    ran = driver("devices 1", "replay.py", folder)
    assert "left out, 1 times: cuMemFree_v2: the stub was told to fail" in ran.stdout


def test_a_driver_that_ends_the_process_is_a_difference(driver, recorded):
    for log in recorded.glob("*.jsonl"):
        if log.stem != "memory":
            log.unlink()
    (recorded / "memory.jsonl").write_text(
        '{"call":"cuNothing","thread":1,"device":null,"args":{},"result":"CUDA_SUCCESS","out":{}}\n'
    )
    ran = driver("devices 1", "replay.py", recorded)
    assert ran.returncode == 1
    assert "memory.jsonl:1: cuNothing {}\n    the replay ended here" in ran.stdout
