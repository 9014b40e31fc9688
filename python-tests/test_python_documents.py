# SPDX-License-Identifier: Apache-2.0
"""What documents show of the Python package, run from top to bottom as it stands there.

Blocks of Python share their names. A block of another language whose first line is a comment with a
name, `// scale.cu`, is a file of that name. A block of `text` is what the block above it prints,
with the exception that it ends with; `…` in it stands for anything. Blocks that put something on a
GPU run where there is one.
"""

import ast
import contextlib
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
import tvm_ffi

import kernpack as kp
from kernpack import _api_packages, _api_programs, _native
from conftest import REPOSITORY
from test_documents import blocks, run

# What begins blocks of a shell that are not run: they install, or compile with what the tests do
# not have.
NOT_RUN = ("pip ", "nvcc ")
FILE = re.compile(r"(?://|/\*|#) (\w+\.\w+)(?: \*/)?\n")


def pieces(document):
    """Each block of a document: its heading, its kind and its text."""
    heading, found = "", []
    for line in re.finditer(
        r"^(#+ [^\n]*)$|^```(\w*)\n(.*?)^```$",
        (REPOSITORY / document).read_text(),
        re.DOTALL | re.MULTILINE,
    ):
        if line[1] is not None:
            heading = line[1]
        else:
            found.append((heading, line[2], line[3]))
    return found


def outputs(found):
    """What each block is to print: the block of text behind it, under the same heading."""
    following = [*found[1:], ("", "", "")]
    return [
        after[2] if after[:2] == (piece[0], "text") else None
        for piece, after in zip(found, following)
    ]


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
                assert is_like(printed, expected), (
                    f"{self.name} shows\n{expected}\nbut this was printed:\n{printed}"
                )

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


def test_the_first_example(folder):
    """The first block of Python; what else is on that page is run by `test_documents.py`."""
    document = Document("README.md", folder)
    found = [piece for piece in pieces("README.md") if piece[0] == "## A kernel that you have"]
    assert [info for _, info, _ in found] == ["python", "text"]
    assert is_like(document.python(found[0][2], 0, found[1][2]), found[1][2])


def test_the_first_kernel(folder):
    document = Document("README.md", folder)
    found = [piece for piece in pieces("README.md") if piece[0] == "## A kernel in Python"]
    assert [info for _, info, _ in found] == ["sh", "python", "text", "rust", "python"]
    assert is_like(document.python(found[1][2], 0, found[2][2]), found[2][2])
    assert (folder / "scale.so").stat().st_size > 0
    document.python(found[4][2], 1, "")
    shown = (REPOSITORY / "docs/images/threads.svg").read_text()
    assert (folder / "threads.svg").read_text() == shown


def test_the_chart_is_what_the_benchmarks_say():
    ran = subprocess.run([sys.executable, REPOSITORY / "scripts/chart", "--check"])
    assert ran.returncode == 0


def test_the_first_demo():
    environment = os.environ | {"KERNPACK_PYTHON": sys.executable}
    ran = subprocess.run(
        [REPOSITORY / "examples/quick_start/demo.sh"],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


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
        f = kp.cuda(
            HALVE,
            "halve(x: Tensor([n], float32, mut))",
            args=["x", "n: int32"],
            grid=1,
            block=32,
            arch=arch,
        )
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


def test_the_reference(folder):
    Document("docs/python.md", folder).run()


def test_layouts(folder):
    Document("docs/layouts.md", folder).run()
    assert {path.stem for path in folder.glob("*.svg")} >= {"layout", "owners", "tiles", "padded"}


def test_the_reference_names_everything():
    text = (REPOSITORY / "docs/python.md").read_text()
    every = [*_api_packages.__all__, *_api_programs.__all__]
    names = [name for name in every if not isinstance(getattr(kp, name), kp.DType)]
    missing = [
        f"kp.{name}"
        for name in [*names, "jax", "torch", "triton"]
        if not re.search(rf"`kp\.{name}\b", text)
    ]
    of_functions = {*vars(kp.Function.__mro__[1]), "package", "metadata", "origin"} - set(
        dir(tvm_ffi.Function)
    )
    # How the package itself tells a function of its parameters.
    of_functions -= {"know_keywords", "know_written", "interpretable", "returned"}
    missing += [
        f"f.{name}"
        for name in of_functions
        if not name.startswith("_") and f"`f.{name}" not in text
    ]
    assert not missing


def test_the_reference_names_every_argument():
    """Those of the functions that make functions, each with which of them take it."""
    text = (REPOSITORY / "docs/python.md").read_text()
    table = text.partition("| argument | of | |\n")[2].partition("\n\n")[0]
    named = {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split(" | ")[0])
    }
    taken = {
        name
        for make in (kp.host, kp.cuda, kp.triton, kp.ptx, kp.cubin, kp.fatbin)
        for name in inspect.signature(make).parameters
    }
    assert taken - named == {"source"} and named - taken == set()


def test_the_reference_names_the_environment():
    text = (REPOSITORY / "docs/python.md").read_text()
    read = {
        name
        for path in (REPOSITORY / "python/kernpack").glob("*.py")
        for name in re.findall(r'"(KERNPACK_\w+)"', path.read_text())
    }
    read |= set(
        re.findall(r'"(KERNPACK_\w+)"', (REPOSITORY / "crates/cache/src/settings.rs").read_text())
    )
    assert {name for name in read if f"`{name}" not in text} == set() and len(read) > 6


def test_kernels_in_python(folder):
    with warnings.catch_warnings():
        # The page says so itself.
        warnings.filterwarnings("ignore", ".*unrelated-extents", kp.CompileWarning)
        Document("docs/kernels-in-python.md", folder).run()


@pytest.mark.parametrize("other", ["triton", "numba"])
def test_from_another_language(folder, other):
    """Ten kernels of theirs, which are texts, and ours behind each, which run."""
    name = f"docs/from-{other}.md"
    found = [piece for piece in pieces(name) if piece[1] != "text"]
    assert [info for _, info, _ in found] == ["py", "python"] * 10
    for (heading, _, theirs), (same, _, ours) in zip(found[::2], found[1::2]):
        assert heading == same and "@kp.kernel" in ours and "check(" in ours, heading
        ast.parse(theirs)
    Document(name, folder).run()


def test_from_cute_dsl(folder):
    Document("docs/from-cute-dsl.md", folder).run()


def test_cute_dsl_guides(folder):
    Document("docs/cute-dsl-guides.md", folder).run()


DOCUMENTS = [
    "README.md",
    *sorted(str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "docs").rglob("*.md")),
]


def names_in(document):
    """What a document calls `kp.…`."""
    return set(re.findall(r"\bkp\.([A-Za-z_]\w*)", (REPOSITORY / document).read_text()))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_names_are_names(document):
    """What a document calls `kp.…` is there, or is the kernel language's: the tests in Rust hold the
    page of that, and the files that others show, to the program.
    """
    unknown = names_in(document) - names_in("docs/language.md")
    if document == "docs/from-cute-dsl.md":
        unknown = {name for name in unknown if _native.foreign_help(name) is None}
    assert {name for name in unknown if not hasattr(kp, name)} == set()
