# SPDX-License-Identifier: Apache-2.0
"""What documents show of Python and C, run as it stands there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import REPOSITORY


def blocks(document, info):
    """The text of every block of that kind."""
    text = (REPOSITORY / document).read_text()
    return re.findall(rf"^```{info}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def block(document, info, word):
    """The one block of that kind that has the word in it."""
    [found] = [text for text in blocks(document, info) if word in text]
    return found


@pytest.fixture
def folder(tmp_path, kernpack):
    """A folder with the package that the documents speak of, built, and the commands they name."""
    for file in ("add_one.toml", "add_one.c"):
        shutil.copy(REPOSITORY / "examples/add_one" / file, tmp_path)
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "kernpack").symlink_to(kernpack)
    run(tmp_path, "kernpack build add_one.toml -o add_one.so -o add_one.o -o add_one.h")
    return tmp_path


def run(folder, line):
    """What a line of a shell prints."""
    path = [str(folder / "commands"), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(path)}
    command = ["bash", "-euc", line]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, f"{line}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def run_python(folder, script):
    """What a script prints."""
    (folder / "script.py").write_text(script)
    return run(folder, f"{sys.executable} script.py")


def test_the_package_file_of_the_first_page(folder):
    for name, info in (("add_one.c", "c"), ("add_one.toml", "toml")):
        [text] = blocks("README.md", info)
        (folder / name).write_text(text)
    shown = run(folder, block("README.md", "sh", "kernpack build add_one.toml"))
    assert "package add_one" in shown
    run_python(
        folder, block("README.md", "python", "import numpy, tvm_ffi") + "assert (b == 1).all()\n"
    )


def test_the_kernel_of_the_first_page(folder):
    (folder / "scale.py").write_text(block("README.md", "python", '@kp.jit("scale'))
    shown = run(folder, block("README.md", "sh", "kernpack build scale.py"))
    assert shown.endswith(block("README.md", "text", "scale_elements"))


def test_calls_from_python(folder):
    first, keywords = (
        block("docs/hosts.md", "python", word) for word in ("import numpy", "make_kwargs_wrapper")
    )
    script = f"{first}assert b.tolist() == [1, 2, 3, 4]\na += 1\n{keywords}assert b.tolist() == [2, 3, 4, 5]\n"
    (folder / "script.py").write_text(script)
    run(folder, f"{sys.executable} script.py")


def test_a_package_that_editors_know(folder):
    (folder / "add_one.so").unlink()
    run(folder, block("docs/hosts.md", "sh", "__init__.pyi"))
    module = block("docs/hosts.md", "python", "def __getattr__")
    (folder / "add_one/__init__.py").write_text(module)
    script = "import numpy, add_one\na = numpy.zeros(3, 'float32')\nb = a.copy()\nadd_one.add_one(a, b)\nprint(b.sum())"
    assert run(folder, f'{sys.executable} -c "{script}"') == "3.0\n"
    stubs = (folder / "add_one/__init__.pyi").read_text()
    assert "def add_one(a: _Tensor, b: _Tensor) -> None:" in stubs
    compile(stubs, "__init__.pyi", "exec")


def test_a_program_in_c(folder):
    (folder / "main.c").write_text(block("docs/hosts.md", "c", "int main"))
    variable, *links = block("docs/hosts.md", "sh", "gcc main.c").splitlines()
    assert len(links) == 2
    for link in links:
        assert run(folder, f"{variable}\n{link}\n./main") == "2\n"
