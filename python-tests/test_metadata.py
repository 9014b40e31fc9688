# SPDX-License-Identifier: Apache-2.0
"""What a loaded module says about its functions, to this TVM-FFI and to the oldest."""

import json
import subprocess

import pytest
import tvm_ffi
from tvm_ffi.core import TypeSchema

from conftest import REPOSITORY

HOSTS = REPOSITORY / "examples/hosts"


@pytest.fixture(scope="module")
def library(tmp_path_factory, kernpack):
    path = tmp_path_factory.mktemp("table") / "table.so"
    subprocess.run([kernpack, "build", HOSTS / "table.toml", "-o", path], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
def module(library):
    return tvm_ffi.load_module(str(library))


@pytest.mark.parametrize(
    ("function", "schema"),
    [
        ("scale", "Callable[[Tensor, Tensor, float], None]"),
        ("describe", "Callable[[Shape, tuple[int, int], Tensor, int | None], None]"),
        ("add", "Callable[[Tensor, Tensor | None, float], Tensor]"),
        ("add_out", "Callable[[Tensor, Tensor | None, float, Tensor], None]"),
        ("take", "Callable[[Tensor, int, bool, Tensor], None]"),
    ],
)
def test_types_are_as_tvm_ffi_reads_them(module, function, schema):
    metadata = module.get_function_metadata(function)
    read = repr(TypeSchema.from_json_str(metadata["type_schema"]))
    assert read.replace("ffi.", "") == schema


def test_what_keyword_callers_need(module):
    about = {name: module.get_function_metadata(name)["kernpack"] for name in ("scale", "describe", "add", "add_out")}
    assert about["scale"]["args"] == ["x", "y", "alpha"]
    assert {name: keys["defaults"] for name, keys in about.items()} == {
        "scale": {"alpha": 2.0},
        "describe": {"step": None},
        "add": {"b": None, "bias": 0.0},
        "add_out": {},
    }
    assert about["add"]["results"] == ["y: Tensor([n], float32)"]
    assert {keys["format"].split(".")[0] for keys in about.values()} == {"1"}


def test_the_signature_is_the_whole_text(module, kernpack):
    for name in ("scale", "describe", "add", "add_out", "take"):
        signature = module.get_function_metadata(name)["kernpack"]["signature"]
        ran = subprocess.run([kernpack, "plan", signature], capture_output=True, text=True)
        assert ran.returncode == 0 and name in ran.stdout, ran.stderr


def test_documentation(module):
    assert module.get_function_doc("scale") == "y = alpha * x"
    assert module.get_function_doc("add_out") == "y = a + b + bias"
    assert module.get_function_doc("no_such_function") is None
    assert module.get_function_metadata("no_such_function") is None
    with pytest.raises(AttributeError):
        module.no_such_function


def test_inspect_says_the_same_without_loading(module, library, kernpack):
    ran = subprocess.run([kernpack, "inspect", "--json", library], capture_output=True, text=True, check=True)
    [package] = json.loads(ran.stdout)["packages"]
    for function in package["functions"]:
        keys = module.get_function_metadata(function["name"])["kernpack"]
        assert {key: keys[key] for key in function} == function
        assert keys["sources"] == package["sources"]


def test_the_oldest_tvm_ffi_can_ask_too(module, library, oldest_python):
    # It has no method for it, but what answers is a function like any other.
    script = f"""
import json, tvm_ffi
module = tvm_ffi.load_module({str(library)!r})
print(json.dumps([[str(module["_metadata_" + name]()), str(module["_doc_" + name]())] for name in ("scale", "add_out")]))
"""
    ran = subprocess.run([oldest_python, "-c", script], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    for name, (metadata, doc) in zip(("scale", "add_out"), json.loads(ran.stdout)):
        assert json.loads(metadata) == module.get_function_metadata(name)
        assert doc == module.get_function_doc(name)
