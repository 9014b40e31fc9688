# SPDX-License-Identifier: Apache-2.0
"""What docs/pytorch.md shows, run as it stands there."""

import re
import subprocess

import pytest
from conftest import REPOSITORY

DOCUMENT = REPOSITORY / "docs/pytorch.md"


def blocks():
    """Every block of the document: its kind, and its text."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(kernpack, tmp_path, monkeypatch):
    """A folder with the package of the document."""
    for name, kind in (("kernels.toml", "toml"), ("kernels.c", "c")):
        [text] = [text for info, text in blocks() if info == kind]
        (tmp_path / name).write_text(text)
    subprocess.run(
        [kernpack, "build", "kernels.toml", "-o", "kernels.so"], cwd=tmp_path, check=True
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_examples(folder, capsys):
    scope = {}
    shown = blocks()
    for at, (kind, text) in enumerate(shown):
        if kind != "python":
            continue
        capsys.readouterr()
        # Kernels are read from their file.
        path = folder / f"block_{at}.py"
        path.write_text(text)
        exec(compile(text, str(path), "exec"), scope)
        printed = capsys.readouterr().out
        if "print(" in text:
            assert (printed and shown[at + 1]) == ("text", printed)
