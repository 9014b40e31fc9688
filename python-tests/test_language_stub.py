# SPDX-License-Identifier: Apache-2.0
"""What editors and type checkers know of the language of kernels: it is what the language has, and
checkers find nothing in the kernels of the documents; and what Python is told that calls it.
"""

import ast
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import torch

import kernpack as kp
from kernpack import _algebra, _dtype, _language
from conftest import REPOSITORY
from test_python_documents import pieces
from test_types import require_wrong_lines

COMPUTED = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64"),
]
DOCUMENTS = (
    "README.md",
    *("docs/quick-start.md", "docs/kernels-in-python.md"),
    *("docs/from-triton.md", "docs/from-numba.md"),
)


def test_it_is_written_of_the_page():
    command = [sys.executable, REPOSITORY / "scripts/language-stub", "--check"]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_functions_of_python_have_the_parameters_of_kernels():
    """What a jit function writes can be written in Python too: the same names, in the same order."""
    known = _language.names()
    assert len(_algebra.__all__) > 30
    for name in _algebra.__all__:
        of_python = list(inspect.signature(getattr(_algebra, name)).parameters)
        assert of_python == list(inspect.signature(known[name]).parameters), name
        assert getattr(kp, name) is getattr(_algebra, name)


def attributes_of(expression):
    """The attributes that a value has in a kernel, as the help of a mistake lists them."""

    @kp.kernel
    def kernel(tensor, dtype):
        tile = kp.make_rmem_tensor(4, kp.float32)
        elements = tile.load()
        layout = tensor.layout
        kp.print_type(tensor.nothing_like_it if expression == "tensor" else 0)
        kp.print_type(dtype.nothing_like_it if expression == "dtype" else 0)
        kp.print_type(elements.nothing_like_it if expression == "elements" else 0)
        kp.print_type(layout.nothing_like_it if expression == "layout" else 0)

    @kp.jit
    def launches(tensor):
        kernel(tensor, kp.float32).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError) as raised:
        launches.check(torch.ones(4))
    [diagnostic] = [each for each in raised.value.diagnostics if each["code"] == "attribute"]
    return set(re.findall(r"`(\w+)`", diagnostic["help"]))


def members_of(name):
    """The members that a class of the stub has, but for operators."""
    stub = (REPOSITORY / "python/kernpack/_values.pyi").read_text()
    body = re.search(rf"^class {name}:\n(.*?)(?=^\S)", stub, re.DOTALL | re.MULTILINE)
    return {found for found in re.findall(r"def (\w+)\(", body[1]) if not found.startswith("__")}


def test_values_have_what_the_language_says():
    assert members_of("Tensor") == attributes_of("tensor")
    assert members_of("Elements") == attributes_of("elements")
    of_dtypes = {name for name, made in vars(_dtype.DType).items() if isinstance(made, property)}
    assert of_dtypes == attributes_of("dtype")
    assert attributes_of("layout") <= set(dir(kp.Layout))


def test_dtypes_say_in_python_what_they_say_in_kernels():
    dtypes = [getattr(kp, name) for name in COMPUTED]
    integers = [each for each in dtypes if each.is_integer]
    floats = [each for each in dtypes if each.is_float]

    @kp.kernel
    def says(facts, whole, broken):
        for i, each in enumerate(dtypes):
            facts[i, 0] = each.width
            facts[i, 1] = kp.int64(kp.bool(each.is_float))
            facts[i, 2] = kp.int64(kp.bool(each.is_integer))
            facts[i, 3] = kp.int64(kp.bool(each.signed))
        for i, each in enumerate(integers):
            whole[i, 0] = kp.bitcast(kp.convert(each.min, kp.int64), kp.uint64)
            whole[i, 1] = kp.convert(each.max, kp.uint64)
        for i, each in enumerate(floats):
            broken[i, 0] = kp.float64(each.min)
            broken[i, 1] = kp.float64(each.max)
            broken[i, 2] = kp.float64(each.inf)
            broken[i, 3] = kp.float64(each.nan)

    @kp.jit
    def f(facts, whole, broken):
        says(facts, whole, broken).launch(grid=1, block=1)

    facts = torch.zeros(len(dtypes), 4, dtype=torch.int64)
    whole = torch.zeros(len(integers), 2, dtype=torch.uint64)
    broken = torch.zeros(len(floats), 4, dtype=torch.float64)
    facts, whole, broken = f.check(facts, whole, broken, strict=True).arguments
    assert facts.tolist() == [
        [each.width, each.is_float, each.is_integer, each.signed] for each in dtypes
    ]
    assert whole.tolist() == [[each.min % 2**64, each.max] for each in integers]
    expected = [[each.min, each.max, each.inf, each.nan] for each in floats]
    torch.testing.assert_close(
        broken, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=0, equal_nan=True
    )
    assert (kp.bool.min, kp.bool.max) == (False, True)


@pytest.mark.parametrize(
    "ask, told",
    [
        (lambda: kp.int32.inf, "`kp.int32` has no `inf`"),
        (lambda: kp.float8_e5m2.max, "kernels do not compute with `kp.float8_e5m2`: convert it"),
        (lambda: kp.block_index, "module 'kernpack' has no attribute 'block_index'"),
    ],
)
def test_what_is_not_there_is_no_attribute(ask, told):
    with pytest.raises(AttributeError, match=re.escape(told)):
        ask()


@pytest.mark.parametrize(
    "call, told",
    [
        (
            lambda: kp.block_idx(),
            "`kp.block_idx` is for kernels: functions under `@kp.kernel` call",
        ),
        (lambda: kp.exp(1.0, 2), "`kp.exp` is for kernels: functions under `@kp.kernel` call it"),
        (lambda: kp.empty((3,)), "`kp.empty` is for kernels: functions under `@kp.jit` call it"),
        (
            lambda: kp.max_blocks(None, 256),
            "`kp.max_blocks` is for kernels: functions under `@kp.jit` call it",
        ),
        (lambda: kp.float32(1), "`kp.float32(…)` converts a number of a kernel"),
        (lambda: kp.Tensor(), "`kp.Tensor` is an annotation"),
    ],
)
def test_python_is_told_whose_a_function_is(call, told):
    with pytest.raises(TypeError, match=re.escape(told)):
        call()


def test_functions_of_jit_alone_are_known():
    page = (REPOSITORY / "docs/language.md").read_text()
    of_kernels, of_jit = (
        set(re.findall(r"^\| `kp\.(\w+)\(", page.partition(begin)[2].partition(end)[0], re.M))
        for begin, end in (
            ("<!-- functions -->", "### Reserved"),
            ("<!-- packed functions -->", "<!-- end of packed"),
        )
    )
    assert len(of_kernels) > 100
    assert set(_language._OF_JIT) == of_jit - of_kernels


def test_python_can_be_asked_about_functions():
    assert {"block_idx", "atomic_add", "make_layout", "Tensor", "WARP_SIZE"} <= set(dir(kp))
    assert str(inspect.signature(kp.warp_reduction_sum)) == "(x, threads_in_group=Ellipsis)"
    assert inspect.getdoc(kp.exp) == "The exponential function."
    assert kp.warp_reduction_sum.__module__ == "kernpack"


def test_the_device_is_asked_by_jit_functions():
    @kp.kernel
    def tells(out, sm_count):
        out[kp.block_idx()[0]] = sm_count

    @kp.jit
    def asks(out):
        device = kp.device
        if device.cc >= 90:
            tells(out, device.sm_count).launch(grid=min(kp.device.sm_count, 200), block=1)

    checked = asks.check(torch.zeros(140, dtype=torch.int64))
    assert checked.ok and checked.arguments[0].tolist() == [132] * 132 + [0] * 8
    checked = asks.check(torch.zeros(140, dtype=torch.int64), device={"sm_count": 5})
    assert checked.ok and checked.arguments[0].tolist() == [5] * 5 + [0] * 135
    checked = asks.check(torch.zeros(1, dtype=torch.int64), device={"cc": 80})
    assert checked.ok and checked.arguments[0].tolist() == [0]
    for wrong, told in (({"sm_count": 0}, "a positive integer"), ({"cores": 1}, "device.cores")):
        with pytest.raises(ValueError, match=told):
            asks.check(torch.zeros(1, dtype=torch.int64), device=wrong)
    assert repr(kp.device) == "kp.device"
    with pytest.raises(AttributeError, match="`kp.device.cc` is for functions under `@kp.jit`"):
        _ = kp.device.cc


def test_grids_of_all_blocks_that_run_at_once_are_computed_in_jit_functions():
    @kp.kernel
    def tells(out, room: kp.Constexpr):
        kept = kp.shared(kp.int32, room)
        kept[kp.thread_idx()[0]] = kp.int32(kp.grid_dim()[0])
        kp.grid_sync()
        out[kp.block_idx()[0], kp.thread_idx()[0]] = kept[kp.thread_idx()[0]]

    def launched(call, most):
        blocks = kp.max_blocks(call, block=64)
        call.launch(grid=min(blocks, most), block=64, cooperative=True)

    @kp.jit
    def asks(out, room: kp.Constexpr):
        launched(tells(out, room), out.shape[0])

    for room, blocks in ((64, 96), (15000, 9), (30000, 3)):
        out = torch.zeros((200, 64), dtype=torch.int32)
        checked = asks.check(out, room, device={"sm_count": 3})
        assert checked.ok, checked
        written = checked.arguments[0]
        assert bool((written[:blocks] == blocks).all()) and not bool(written[blocks:].any())
    checked = asks.check(torch.zeros((5, 64), dtype=torch.int32), 64)
    assert checked.ok and bool((checked.arguments[0] == 5).all())


def test_a_warp_has_as_many_threads_in_python():
    @kp.kernel
    def tells(x):
        x[0] = kp.WARP_SIZE

    @kp.jit
    def f(x: kp.Tensor):
        tells(x).launch(grid=1, block=1)

    assert f.check(torch.zeros(1, dtype=torch.int64)).arguments[0].tolist() == [kp.WARP_SIZE]


def test_constants_of_classes_are_those_of_the_library():
    library = ast.parse((REPOSITORY / "crates/kernel-lang/library/pipeline.py").read_text())
    [users] = [each for each in library.body if getattr(each, "name", "") == "PipelineUserType"]
    constants = {
        each.targets[0].id: ast.literal_eval(each.value)
        for each in users.body
        if isinstance(each, ast.Assign)
    }
    assert [*constants] == ["Producer", "Consumer"]
    assert {name: getattr(kp.PipelineUserType, name) for name in constants} == constants


def test_copies_that_go_on_by_themselves_say_so_in_python():
    @kp.kernel
    def through_shared(x, y):
        tile = kp.shared(x.dtype, 4)
        kp.copy(kp.make_tensor(x.iterator, 4), tile, to=kp.async_group)
        kp.commit_group()
        kp.wait_group(0)
        for i in kp.range_constexpr(4):
            y[i] = tile[i]

    @kp.jit
    def f(x: kp.Tensor, y: kp.Tensor):
        assert x.shape[0] == 4 and x.shape == y.shape
        through_shared(x, y).launch(grid=1, block=1)

    assert repr(kp.async_group) == "kp.async_group"
    x = torch.arange(4.0)
    assert f.check(x, torch.zeros(4)).arguments[1].tolist() == x.tolist()


def test_functions_by_other_names_are_told():
    """A function of kernpack's in a name of its own is none of the program's."""
    exponential, layout = kp.exp, kp.make_layout

    @kp.kernel
    def kernel(x):
        x[0] = exponential(x[layout(1)(0)])

    @kp.jit
    def f(x):
        kernel(x).launch(grid=1, block=1)

    with pytest.raises(kp.CompileError) as raised:
        f.check(torch.ones(1))
    assert {each["help"] for each in raised.value.diagnostics} == {
        "write `kp.exp`",
        "write `kp.make_layout`",
    }


def test_annotations_stand_behind_types():
    """What checkers take for a type, with what the compiler reads behind it."""

    @kp.kernel
    def store(x: kp.Tensor, by: Annotated[float, kp.float16]):
        x[0] = x.element_type(by)

    @kp.jit
    def f(
        x: Annotated[kp.Tensor, "of one", kp.fake_tensor(kp.float32, ("m",))],
        y: Annotated[kp.Tensor, kp.mut],
        by: Annotated[float, kp.float16],
        also: Annotated[int, "nothing of ours"],
    ):
        store(x, by).launch(grid=1, block=1)

    x = torch.zeros(1)
    assert f.check(x, x.clone(), 1.5, 2).arguments[0].tolist() == [1.5]
    [variant] = f.variants
    assert variant.signature.startswith(
        "f(x: Tensor([m], float32, mut), y: Tensor([n0], float32, mut), by: float16, also: int64)"
    )


USE = """\
from typing import Annotated, Any

import kernpack as kp

BLOCK = 256
TILE = kp.make_layout((4, 8), stride=(8, 1))


@kp.kernel
def kernel(x: kp.Tensor, out: kp.Tensor, by: kp.Constexpr, width: kp.Constexpr[int]) -> None:
    i = kp.block_idx()[0] * BLOCK + kp.thread_idx()[0]
    total = kp.float32(0)
    for j in range(i, x.shape[0], width // 2):
        total = kp.fma(x[j], by, total)
    total = kp.exp(total if total < 1.0 else 0.0)
    tile = kp.local_tile(x, (4,), (i,))
    values = kp.sqrt(tile.load() * 2.0)
    tile.store(values.to(kp.float32))
    shared = kp.shared(kp.float32, TILE)
    shared[TILE((1, 2))] = kp.ptx("mov.f32 {0}, {1};", total, result=kp.float32)
    low, high = kp.ptx("…", result=(kp.uint32, kp.uint32), model=lambda: (0, 1))
    kp.prefetch(x, (i, low + high), level="L1")
    kp.volatile(out)[i, 0] = kp.cached(x, "stream")[i, 0]
    kp.atomic_add(out, (0, None), total.to(kp.float32), scope="block")
    kp.copy(tile, kp.make_fragment_like(tile), pred=kp.elem_less((i,), x.shape))


@kp.jit
def launches(x: Annotated[kp.Tensor, kp.mut], n: Annotated[int, kp.int32]) -> Any:
    out = kp.empty((n, x.shape[0]), x.element_type)
    width = kp.static(x.shape[0], (64, 128))
    kernel(x, out, 2.0, width).launch(grid=kp.ceil_div(n, BLOCK), block=(BLOCK, 1))
    return out


made = kp.ptx("…", "f(x: Tensor([n], float32))", grid=1, block=32).package
size: int = TILE.rank + kp.size(TILE) + kp.float16.width
part: kp.Layout = kp.zipped_divide(TILE, (2, 2))
"""
WRONG = """
kp.exp("1")
kp.block_idx(0)
kp.float32("1")
kp.make_layout(object())
kernel(1).launch(grid=1)
kernel(1).launch(grid=1, block=1, threads=2)
kp.local_tile(TILE, (2, 2), (0, 0)).load()
kp.block_index()
kp.float32.largest
kp.ptx(1)
kp.shared(kp.float32)
"""


def kernels(folder):
    """The kernels of documents and examples. Blocks of a document are a file up to the one that
    imports again.
    """
    for name in DOCUMENTS:
        blocks = [text for _, info, text in pieces(name) if info == "python"]
        made = "\n\n".join(each for each in blocks if "kp." in each).split("import kernpack")
        for number, text in enumerate(made[1:]):
            path = folder / f"{Path(name).stem.replace('-', '_')}_{number}.py"
            path.write_text(f"import kernpack{text}")
    for path in (REPOSITORY / "examples").rglob("*.py"):
        # Annotations that are values, as those who come from CuTe DSL write, are no types.
        if "@kp.kernel" in path.read_text() and path.parent.name != "cute_dsl":
            (folder / path.name).write_text(path.read_text())


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What pyright and mypy say of the use above and of all kernels. Neither reads PyTorch, which
    takes longer than all else.
    """
    folder = tmp_path_factory.mktemp("checked")
    (folder / "use.py").write_text(USE + WRONG)
    kernels(folder)
    paths = sorted(folder.glob("*.py"))
    assert len(paths) > 12
    settings = {"extraPaths": [str(REPOSITORY / "python")], "strict": ["use.py"]}
    settings["reportMissingImports"] = False
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    (folder / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {REPOSITORY / 'python'}\n"
        "check_untyped_defs = True\ndisable_error_code = var-annotated\n"
        "[mypy-torch.*,numpy.*,jax.*]\nfollow_imports = skip\nignore_missing_imports = True\n"
        "[mypy-kernpack.*]\nignore_errors = True\n[mypy-use]\ndisallow_any_generics = True\n"
    )
    commands = [
        [sys.executable, "-m", "pyright", "--pythonpath", "/usr/bin/python3", *paths],
        [sys.executable, "-m", "mypy", "--python-executable", sys.executable, *paths],
    ]
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    running = [
        subprocess.Popen(each, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        for each in commands
    ]
    return [each.communicate()[0] for each in running]


def test_checkers_know_what_kernels_call(told):
    for each in told:
        require_wrong_lines(each, USE, WRONG)


def test_checkers_find_nothing_in_kernels(told):
    for each in told:
        errors = [line for line in each.splitlines() if re.search(r"\.py:\d+.* error", line)]
        assert len(errors) >= WRONG.count("\n") - 1
        assert [line for line in errors if "use.py:" not in line] == []
