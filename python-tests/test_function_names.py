# SPDX-License-Identifier: Apache-2.0
"""Functions that `module.name` would not find, since a module has an attribute of that name
already, are refused.
"""

import json
import re
import subprocess

import tvm_ffi
from conftest import REPOSITORY

SOURCE = REPOSITORY / "crates/validators/src/parse/function_name.rs"
SCRIPT = "import json, tvm_ffi; print(json.dumps(dir(tvm_ffi.Module)))"


def attributes(names):
    return {name for name in names if not name.startswith("__")}


def test_the_list_is_what_modules_have(oldest_python):
    [listed] = re.findall(
        r"MODULE_ATTRIBUTES: &\[&str\] = &\[(.*?)\];", SOURCE.read_text(), re.DOTALL
    )
    ran = subprocess.run([oldest_python, "-c", SCRIPT], capture_output=True, text=True, check=True)
    has = attributes(dir(tvm_ffi.Module)) | attributes(json.loads(ran.stdout))
    assert re.findall(r'"(\w+)"', listed) == sorted(has)


def test_they_are_refused(kernpack, tmp_path):
    names = sorted(dir(tvm_ffi.Module))
    functions = (f'[[function]]\nsignature = "{name}(n: int32)"\nlaunch = []\n' for name in names)
    package = tmp_path / "package.toml"
    package.write_text('[package]\nname = "p"\n' + "".join(functions))
    ran = subprocess.run(
        [kernpack, "build", package, "-o", tmp_path / "p.so"], capture_output=True, text=True
    )
    assert ran.returncode == 1
    refused = re.findall(
        r"error\[reserved-name\]: a function cannot have the name `(\w+)`", ran.stderr
    )
    assert refused == names
