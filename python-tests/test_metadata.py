# SPDX-License-Identifier: Apache-2.0
"""What a loaded module says about its functions, to this TVM-FFI and to the oldest."""

import json
import subprocess

import pytest
import tvm_ffi
from tvm_ffi import libinfo
from tvm_ffi.core import TypeSchema

from conftest import REPOSITORY

HOSTS = REPOSITORY / "examples/hosts"


@pytest.fixture(scope="module")
def library(tmp_path_factory, kernpack):
    path = tmp_path_factory.mktemp("table") / "table.so"
    subprocess.run(
        [kernpack, "build", HOSTS / "table.toml", "-o", path], check=True, capture_output=True
    )
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


# The same functions twice: packaged, and in C++ with TVM-FFI's own macros.
ALIKE = {
    "nothing()": "void nothing() {}",
    "scalars(a: bool, b: int8, c: float16, d: float64)": "void scalars(bool, int64_t, double, double) {}",
    "others(s: Shape([2]), p: Pointer)": "void others(Shape, void*) {}",
    "tuples(a: Tuple(int32, Tuple(bool)))": "void tuples(Tuple<int64_t, Tuple<bool>>) {}",
    "maybe(a: Optional[int32], b: Optional[Tensor([n], int8)])": "void maybe(Optional<int64_t>, Optional<Tensor>) {}",
    "one(x: Tensor([n], int8)) -> y: Tensor([n], int8)": "Tensor one(Tensor x) { return x; }",
    "two(x: Tensor([n], int8)) -> y: Tensor([n], int8), z: Tensor([n], int8)": (
        "Tuple<Tensor, Tensor> two(Tensor x) { return Tuple<Tensor, Tensor>(x, x); }"
    ),
}


@pytest.fixture(scope="module")
def alike(tmp_path_factory, kernpack):
    """The packaged functions, and those of C++."""
    folder = tmp_path_factory.mktemp("alike")
    package = '[package]\nname = "alike"\n'
    code = ["#define TVM_FFI_DLL_EXPORT_INCLUDE_METADATA 1"]
    code += [
        f"#include <tvm/ffi/{name}.h>"
        for name in ("container/shape", "container/tensor", "container/tuple", "function")
    ]
    code += ["using namespace tvm::ffi;"]
    for signature, definition in ALIKE.items():
        name = signature.split("(")[0]
        package += f'[[function]]\nsignature = "{signature}"\n'
        results = signature.partition("->")[2]
        if results:
            args = [name for name in ("y", "z") if f"{name}:" in results]
            package += f'source = {{ host = "fill.c" }}\nkernel = "{name}"\nargs = {args}\n'
        code += [definition, f"TVM_FFI_DLL_EXPORT_TYPED_FUNC({name}, {name});"]
    (folder / "alike.toml").write_text(package)
    (folder / "fill.c").write_text("void one(void *y) {}\nvoid two(void *y, void *z) {}\n")
    (folder / "theirs.cc").write_text("\n".join(code) + "\n")
    subprocess.run([kernpack, "build", "alike.toml", "-o", "ours.so"], cwd=folder, check=True)
    includes = [f"-I{libinfo.find_include_path()}", f"-I{libinfo.find_dlpack_include_path()}"]
    subprocess.run(
        ["g++", "-std=c++17", "-shared", "-fPIC", *includes, "theirs.cc", "-o", "theirs.so"],
        cwd=folder,
        check=True,
    )
    return [tvm_ffi.load_module(str(folder / name)) for name in ("ours.so", "theirs.so")]


@pytest.mark.parametrize("signature", ALIKE)
def test_types_are_as_tvm_ffi_writes_them(alike, signature):
    name = signature.split("(")[0]
    ours, theirs = (module.get_function_metadata(name)["type_schema"] for module in alike)
    assert json.loads(ours) == json.loads(theirs)
    # Nothing is lost on the way through `tvm_ffi`, which refuses what it does not understand.
    assert TypeSchema.from_json_str(ours).to_json() == TypeSchema.from_json_str(theirs).to_json()


def test_what_keyword_callers_need(module):
    about = {
        name: module.get_function_metadata(name)["kernpack"]
        for name in ("scale", "describe", "add", "add_out")
    }
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
    ran = subprocess.run(
        [kernpack, "inspect", "--json", library], capture_output=True, text=True, check=True
    )
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
