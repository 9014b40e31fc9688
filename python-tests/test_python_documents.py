# SPDX-License-Identifier: Apache-2.0
"""What documents show of the Python package, run from top to bottom as it stands there.

Blocks of Python share their names. A block of another language whose first line is a comment with a name, `// scale.cu`, is a file
of that name. A block of `text` is what the block above it prints, with the exception that it ends with; `…` in it stands for anything.
Blocks that put something on a GPU run where there is one.
"""

import contextlib
import io
import re
import shutil
from pathlib import Path

import pytest
import torch

import kernpack as kp
from conftest import REPOSITORY
from test_documents import blocks, run

# What begins lines of a shell that are not run: they install, or compile with what CI does not have.
NOT_RUN = ("pip ", "nvcc ", "make ", "cd ", "ptxas ")
FILE = re.compile(r"(?://|/\*|#) (\w+\.\w+)(?: \*/)?\n")


def pieces(document):
    """Each block of a document: its heading, its kind and its text."""
    heading, found = "", []
    for line in re.finditer(r"^(#+ [^\n]*)$|^```(\w*)\n(.*?)^```$", (REPOSITORY / document).read_text(), re.DOTALL | re.MULTILINE):
        if line[1] is not None:
            heading = line[1]
        else:
            found.append((heading, line[2], line[3]))
    return found


def outputs(found):
    """What each block is to print: the block of text behind it, under the same heading."""
    following = [*found[1:], ("", "", "")]
    return [after[2] if after[:2] == (piece[0], "text") else None for piece, after in zip(found, following)]


def is_like(printed, expected):
    """Whether a text is another, in which `…` stands for anything."""
    parts = map(re.escape, expected.rstrip().split("…"))
    return re.fullmatch(".*?".join(parts), printed.rstrip(), re.DOTALL) is not None


class Document:
    """A document that is run in a folder."""

    def __init__(self, name, folder):
        self.name, self.folder, self.names = name, folder, {"__name__": "shown"}
        self.files = []

    def run(self):
        found = pieces(self.name)
        for number, ((_, info, text), expected) in enumerate(zip(found, outputs(found))):
            self.write(text, info)
            if info == "python":
                printed = self.python(text, number, expected or "")
            elif info == "sh" and not text.startswith(NOT_RUN):
                printed = run(self.folder, text)
            else:
                continue
            if expected is not None and printed is not None:
                assert is_like(printed, expected), f"{self.name} shows\n{expected}\nbut this was printed:\n{printed}"

    def write(self, text, info):
        """Writes the file that a block is."""
        named = FILE.match(text)
        if named and info not in ("sh", "text"):
            (self.folder / named[1]).write_text(text)
            self.files.append(named[1])

    def python(self, text, number, expected):
        """What a block prints; nothing is known where it needs a GPU that is not there."""
        path = self.folder / f"block_{number}.py"
        path.write_text(text)
        code = compile(text, str(path), "exec")
        if '"cuda"' in text and not torch.cuda.is_available():
            return None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(code, self.names)
            except Exception as error:
                if f"{type(error).__name__}: " not in expected:
                    raise
                print(f"{type(error).__name__}: {error}")
        return printed.getvalue()


@pytest.fixture
def folder(tmp_path, kernpack, monkeypatch):
    """A folder to work in, with the command line tool on the path."""
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "kernpack").symlink_to(kernpack)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("KERNPACK_ARCH", raising=False)
    return tmp_path


def test_quick_start(folder):
    Document("docs/quick-start.md", folder).run()


HALVE = """
extern "C" __global__ void halve(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] /= 2;
}
"""


def built(made):
    """The package of a function or a description."""
    return made.load() if isinstance(made, kp.Package) else made.package


def test_bring_your_kernel(folder):
    """What stands in Python makes the bytes that the package file beside it makes."""
    for arch, kind in (("sm_90", "cubin"), ("compute_80", "ptx")):
        f = kp.cuda(HALVE, "halve(x: Tensor([n], float32, mut))", args=["x", "n: int32"], grid=1, block=32, arch=arch)
        [(_, image)] = f.package._images(kind)
        (folder / f"halve.{kind}").write_bytes(image.rstrip(b"\0") if kind == "ptx" else image)
    shutil.copy(REPOSITORY / "tests/images/three.fatbin", folder / "one.fatbin")
    shutil.copy(REPOSITORY / "tests/gpu/add_one.ptx", folder)
    document = Document("docs/bring-your-kernel.md", folder)
    document.run()
    packages = [Path(name) for name in document.files if name.endswith(".toml")]
    assert len(packages) == 8
    for package in packages:
        made = document.names[package.stem]
        described = made if isinstance(made, kp.Package) else made.origin
        for name, content in described.written().held.items():
            (folder / name).write_bytes(content)
        assert kp.load(package).read() == built(made).read(), package
