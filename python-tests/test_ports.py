# SPDX-License-Identifier: Apache-2.0
"""What CuTe DSL's guides show, as programs of ours: examples/cute_dsl on the interpreter, and what
stands beside it in the package. `tests/gpu/test_ports.py` runs them on a GPU.
"""

import ctypes
import importlib
import re
import subprocess
import sys
import types
from typing import Tuple

import numpy
import pytest
import torch
import tvm_ffi

import kernpack as kp
from conftest import REPOSITORY

EXAMPLES = REPOSITORY / "examples/cute_dsl"
NAMES = sorted({path.stem for path in EXAMPLES.glob("*.py")} - {"calls"})


@pytest.fixture(autouse=True)
def beside(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))


def example(name):
    return importlib.import_module(name)


def test_every_example_is_in_its_list():
    listed = re.findall(r"^\| `(\w+)\.py`", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == NAMES


@pytest.mark.parametrize("name", [name for name in NAMES if name != "exporting"])
def test_an_example_runs(name, capsys):
    example(name).main()
    assert capsys.readouterr().out


# Fake tensors, stride orders, streams, tuples


def test_add_one():
    module = example("add_one")
    a = torch.arange(200.0)
    for function in (module.add_one, module.compiled()):
        assert torch.equal(function.check(a, torch.empty(200), strict=True).arguments[1], a + 1)
    assert module.compiled().signature.startswith("add_one(a: Tensor([n], float32")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_dims_in_any_order(order):
    function = example("add_one").in_order(*order)
    slowest_first = sorted(range(3), key=lambda dim: -order[dim])
    back = sorted(range(3), key=slowest_first.__getitem__)
    shape = [(2, 3, 4)[dim] for dim in slowest_first]
    a, b = torch.randn(shape).permute(back), torch.empty(shape).permute(back)
    assert torch.equal(function.check(a, b, strict=True).arguments[1], a + 1)
    if order == (0, 1, 2):
        assert a.stride() == (1, 2, 6)
    other = torch.randn(3, 4, 2).permute(2, 0, 1)
    with pytest.raises(ValueError, match="strides"):
        function.check(other, b)


def test_a_stream_is_passed_or_is_the_environments():
    module = example("streams")
    a, b = torch.arange(10.0), torch.empty(10)
    passed = module.compiled(kp.fake_stream())
    assert torch.equal(passed.check(a, b, ctypes.c_void_p(0)).arguments[1], a + 1)
    with pytest.raises(TypeError, match="expected 3 arguments, got 2"):
        passed.check(a, b)
    kept = module.compiled(kp.fake_stream(env=True))
    assert torch.equal(kept.check(a, b).arguments[1], a + 1)


def test_tuples():
    module = example("tuples")
    function = module.compiled()
    assert function.signature == (
        "add_of_tuple(of: Tuple(Tensor([n], float32), Tensor([n], float32, mut), float32))"
    )
    a, b = torch.arange(10.0), torch.empty(10)
    ((_, left, _),) = function.check((a, b, 5)).arguments
    assert torch.equal(left, a + 5)
    with pytest.raises(ValueError, match=r"tuple size=3, got 2"):
        function.check((a, b))
    with pytest.raises(ValueError, match=r"of\[1\].shape\[0\].*expected to match of\[0\].shape"):
        function.check((a, b[:3], 5))
    with pytest.raises(ValueError, match=r"of\.b\.shape\[0\]"):
        module.add_of_fields.check(module.Sum(a, b[:3], 4))


def test_types_within_tuples_of_specs():
    vector = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))

    device_add = example("tuples").device_add

    @kp.jit
    def g(of, threads):
        (a, b), c = of
        device_add(a, b, c).launch(grid=1, block=threads)

    assert kp.compile(g, ((vector, vector), 2.0), kp.int32).signature == (
        "g(of: Tuple(Tuple(Tensor([n], float32), Tensor([n], float32, mut)), float32), threads: int32)"
    )
    # What stands for no type is a value, as outside of tuples.
    x = torch.zeros(3)
    made = kp.compile(g, ((kp.fake_tensor(kp.float32, (3,)), x), 2.0), kp.int32)
    assert made.signature.startswith("g(of: Tuple(Tuple(Tensor([3], float32), Tensor([n0], float32")


# Types

NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64"
NUMBERS = NUMBERS.split()


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers(dtype):
    module = example("argument_types")
    assert [str(each) for each in module.NUMBERS] == NUMBERS
    function = module.store_of(getattr(kp, dtype))
    assert function.signature == f"store(out: Tensor([4], float64, mut), number: {dtype})"
    value = True if dtype == "bool" else 3
    left = function.check(torch.zeros(4, dtype=torch.float64), value).arguments[0]
    assert left.tolist() == [float(value)] * 4
    if dtype.startswith(("int", "uint")) and dtype[-2:] != "64":
        with pytest.raises(ValueError, match=f"expected to be in {dtype} range"):
            function.check(torch.zeros(4, dtype=torch.float64), 1 << 40)


def test_an_annotation_that_is_a_dtype_says_the_type():
    """This file's annotations are values, and not texts: a dtype is a text too."""

    @kp.kernel
    def store(out, a, b):
        out[0] = kp.float32(a) + kp.float32(b)

    @kp.jit
    def f(out, a: kp.int8, of: Tuple[kp.float16, kp.int16], plain: tuple[kp.int16, kp.float64]):
        store(out, a, of[0]).launch(grid=1, block=1)
        store(out, of[1], plain[0]).launch(grid=1, block=1)

    f.check(torch.zeros(1), 1, (2, 3), (4, 5))
    assert f.variants[0].signature.endswith(
        "a: int8, of: Tuple(float16, int16), plain: Tuple(int16, float64))"
    )


def test_shapes():
    module = example("argument_types")
    expected = torch.zeros(12)
    expected[:3], expected[6:9] = torch.tensor([0.0, 2, 4]), torch.tensor([1.0, 3, 5])
    for shape in ((2, 3), tvm_ffi.Shape((2, 3))):
        assert torch.equal(module.fill.check(torch.zeros(12), shape).arguments[0], expected)
    nested = module.fill_nested.check(torch.zeros(12), (2, (3, 6)), strict=True)
    assert torch.equal(nested.arguments[0], expected)
    with pytest.raises(ValueError, match="out.shape"):
        module.fill.check(torch.zeros(8), (2, 3))
    m, n = kp.sym_int("m"), kp.sym_int("n")
    made = kp.compile(module.fill, kp.fake_tensor(kp.float32, (12,)), kp.shape((m, n)))
    assert "shape: Shape([m, n])" in made.signature
    made = kp.compile(module.fill, kp.fake_tensor(kp.float32, (12,)), tvm_ffi.Shape((2, 3)))
    assert "shape: Shape([m, n])" in made.signature


# Pointers


def test_a_pointer_leads_to_the_array_that_is_passed():
    function = example("argument_types").add_one_behind
    for module in (torch, numpy):
        a = module.arange(10, dtype=module.float32)
        checked = function.check(a, module.zeros(10, dtype=module.float32), 10, strict=True)
        assert checked.arguments[1].tolist() == [*range(1, 11)]
    # Nothing in the signature says what is written.
    (variant,) = function.variants
    assert variant.signature == (
        "add_one_behind(a: Pointer(float32, align=4), b: Pointer(float32, align=4), n: int32)"
    )


def test_what_is_beyond_that_array_is_found():
    function = example("argument_types").add_one_behind
    a, b = torch.arange(10.0), torch.zeros(16)
    found = function.check(a, b, 11).findings
    assert [each.message.partition(",")[0] for each in found] == ["reads element 10 of `a`"]
    # Between the elements of a view nothing is reached for either.
    found = function.check(a[:6], b[::2], 6).findings
    assert found[0].message.startswith("writes what lies at 1 in `b`, between elements")


def test_null_leads_nowhere():
    function = example("argument_types").add_one_behind
    for null in (None, 0, ctypes.c_void_p(None)):
        assert function.check(null, null, 0).ok
    with pytest.raises(ValueError, match="expected a non-NULL pointer"):
        pointer = kp.pointer(kp.float32, nonnull=True)
        kp.compile(function, pointer, pointer, kp.int32).check(0, 0, 0)


def test_an_address_is_known_where_an_array_of_the_call_has_it():
    device_add_one = example("argument_types").device_add_one

    @kp.jit
    def within(x, p: kp.pointer(kp.float32), n: kp.int32):
        assert x.shape[0] > 0
        device_add_one(p, p, n).launch(grid=1, block=32)

    x = torch.arange(8.0)
    address = x.data_ptr() + 8
    for passed in (ctypes.c_void_p(address), address):
        checked = within.check(x, passed, 4)
        assert checked.ok and torch.equal(x, torch.arange(8.0))
    assert within.check(x, ctypes.c_void_p(address), 7).findings
    elsewhere = torch.zeros(4)
    with pytest.raises(ValueError, match="`p` is an address at which the interpreter knows of no"):
        within.check(x, ctypes.c_void_p(elsewhere.data_ptr()), 4)
    with pytest.raises(TypeError, match="`p` leads to float32, and the array is int32"):
        within.check(x, torch.zeros(4, dtype=torch.int32), 4)


def test_a_pointer_is_as_aligned_as_its_elements():
    function = example("argument_types").add_one_behind
    bytes_ = numpy.zeros(17, "uint8")
    misaligned = bytes_[1:].view("float32")
    with pytest.raises(
        ValueError, match=r"Misaligned pointer .*alignment=4 bytes, got address % 4"
    ):
        function.check(misaligned, misaligned, 4)
    wide = kp.pointer(kp.float32, align=16)
    assert "align=16" in kp.compile(function, wide, wide, kp.int32).signature


def test_an_object_that_says_its_address():
    class Holder:
        def __init__(self, address):
            self.address = address

        def __tvm_ffi_opaque_ptr__(self):
            return self.address

    function = example("argument_types").add_one_behind
    assert function.check(Holder(0), Holder(0), 0).ok


RUN = """
import kernpack as kp

@kp.kernel
def double(p, n):
    x = kp.make_tensor(p, n)
    i = kp.thread_idx()[0]
    if i < n:
        x[i] = x[i] * 2.0

@kp.jit("doubled(p: Pointer(float32, align=4), n: int32)")
def doubled(p, n):
    double(p, n).launch(grid=1, block=32)
"""


def test_the_command_line_is_told_how_much_lies_there(kernpack, tmp_path):
    (tmp_path / "double.py").write_text(RUN)
    numpy.save(tmp_path / "x.npy", numpy.float32([1, 2, 3]))
    numpy.save(tmp_path / "i.npy", numpy.int32([1, 2, 3]))

    def run(*words):
        command = [kernpack, "run", "double.py", "doubled", *words]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return ran.returncode, ran.stdout + ran.stderr

    assert run("p=4", "n=3", "--fill", "ones") == (
        0,
        "double: grid [1], block [32]\np: float32 [4] = 2.0 2.0 2.0 1.0\n",
    )
    code, said = run("p=@x.npy", "n=3")
    assert code == 0 and "p: float32 [3] = 2.0 4.0 6.0" in said
    code, said = run("p=3", "n=4")
    assert code == 1 and "reads element 3 of `p`, which has 3" in said
    assert run("p=None", "n=0")[0] == 0
    for words, expected in (
        (["n=3"], "`doubled` needs `p`"),
        (["p=x", "n=3"], "`p` is how many elements lie there, or `None`, found `x`"),
        (["p=@i.npy", "n=3"], "`p` is of float32, and `i.npy` of int32"),
    ):
        code, said = run(*words)
        assert code != 0 and expected in said, said


# Errors


def test_each_call_that_is_refused_says_why():
    module = example("errors")
    function = module.compiled()
    signature = "`add_one(a: Tensor([n], float32), b: Tensor([n], float32))`"
    expected = [
        f"TypeError: Mismatched type on argument #1 when calling: {signature}, expected Tensor, got int",
        f"ValueError: Mismatched b.shape[0] on argument #1 when calling: {signature}, expected to match "
        "a.shape[0], got 126 (a.shape[0] is 128)",
        f"ValueError: Invalid a.shape[0] on argument #0 when calling: {signature}, expected to be "
        "divisible by 16, got 126",
        f"ValueError: Misaligned Tensor data on argument #0 when calling: {signature}, expected data "
        "alignment=16 bytes, got address % 16 == ",
        f"TypeError: Mismatched Tensor on argument #1 when calling: {signature}, expected "
        "dtype=float32, got float64",
        f"ValueError: Mismatched Tensor on argument #1 when calling: {signature}, expected ndim=1, got 2",
        f"TypeError: Mismatched number of arguments when calling: {signature}, expected 2 arguments, got 1",
    ]
    said = [module.said(function, *args) for args in module.refused()]
    assert len(said) == len(expected)
    for one, other in zip(said, expected):
        assert one.startswith(other), one


def test_a_launch_that_no_gpu_takes():
    module = example("errors")
    a, b = torch.zeros(10), torch.zeros(10)
    with pytest.raises(kp.CompileError) as error:
        module.too_many_threads.check(a, b)
    (told,) = [each for each in error.value.diagnostics if each["severity"] == "error"]
    assert told["code"] == "launch-range" and "more threads than any GPU takes" in told["message"]
    assert module.said(module.as_many_threads, a, b, 4096).startswith(
        "CheckError: error[bad-launch]: a block of [4096, 1, 1] threads: there are 1 to 1024"
    )


def test_options_of_another_compiler_are_told():
    with pytest.raises(TypeError, match="leave out `--enable-tvm-ffi`"):
        kp.compile(example("add_one").add_one, options="--enable-tvm-ffi")


# Files


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    sys.path.insert(0, str(EXAMPLES))
    try:
        example("exporting").exported(folder)
    finally:
        sys.path.remove(str(EXAMPLES))
    return folder


def test_files_have_the_functions(files, capsys):
    example("exporting").loaded(files)
    assert capsys.readouterr().out.startswith("['add_one', 'add_of_tuple']\n")
    module = kp.load_module(files / "both.so")
    assert module.functions == ["add_one", "add_of_tuple"]
    assert kp.load_module(files / "add_one.so").functions == ["add_one"]
    assert "add_one" in (files / "add_one.h").read_text()
    symbols = subprocess.run(["nm", files / "add_one.o"], capture_output=True, text=True).stdout
    assert "__tvm_ffi_add_one" in symbols


def test_an_object_is_linked_without_more_libraries(files):
    assert kp.find_runtime_libraries() == []
    linked = files / "linked.so"
    subprocess.run(["cc", "-shared", "-o", linked, files / "add_one.o"], check=True)
    x = torch.zeros(8)
    with pytest.raises(ValueError, match="expected device_type=cuda, got cpu"):
        tvm_ffi.load_module(str(linked)).add_one(x, x)


def test_functions_are_joined_as_they_were_compiled(tmp_path):
    add_one, tuples = example("add_one"), example("tuples")
    first = add_one.compiled()
    with pytest.raises(ValueError, match="joined with others of `@kp.jit` alone"):
        c = kp.host("void f(void) {}", "f()", args=[])
        kp.export([first, c], tmp_path / "all.so")
    vector = kp.fake_tensor(kp.float32, (kp.sym_int("n"),))
    other = kp.compile(tuples.add_of_tuple, (vector, vector, kp.float32), arch="sm_80")
    with pytest.raises(ValueError, match="compiled for different architectures"):
        kp.export([first, other], tmp_path / "all.so")
    with pytest.raises(kp.CompileError, match="two functions of the package are `add_one`"):
        kp.export([first, first], tmp_path / "all.so")


def test_a_jit_function_is_joined_as_what_it_was_compiled_to(tmp_path):
    @kp.jit("said(a: Tensor([n], float32), b: Tensor([n], float32, mut))")
    def said(a, b):
        kernel(a, b).launch(grid=1, block=32)

    kernel = example("add_one").device_add_one
    kp.export([said, example("add_one").compiled()], tmp_path / "joined.so", name="joined")
    module = kp.load_module(tmp_path / "joined.so")
    assert module.functions == ["said", "add_one"]


# The sum of rows: two traps that are none here


def test_a_function_is_compiled_once_for_all_its_calls(monkeypatch):
    module = example("reduce_sum")
    module.off(module.sum_rows, 2, 64)
    monkeypatch.setenv("KERNPACK_JIT", "forbid")
    before = len(module.sum_rows.variants)
    for m, n in ((2, 64), (5, 64), (2, 64)):
        assert module.off(module.sum_rows, m, n) < 1e-6
    assert len(module.sum_rows.variants) == before == 1


@pytest.mark.parametrize("name", ["sum_rows", "sum_tiles"])
def test_other_extents_are_the_same_function(name):
    module = example("reduce_sum")
    function = getattr(module, name)
    for m, n in ((3, 300), (3, 32), (1, 1), (2, 513)):
        assert module.off(function, m, n) < 1e-6, (m, n)
    assert len(function.variants) == 1


def test_an_extent_that_is_part_of_the_code_is_asked_for():
    module = example("reduce_sum")
    function = module.sum_rows_of(300)
    assert module.off(function, 3, 300) < 1e-6
    with pytest.raises(ValueError, match=r"Mismatched x.shape\[1\].*expected to be 300, got 32"):
        module.off(function, 3, 32)


def test_layouts_of_threads_and_values():
    (width,), tv = kp.make_layout_tv(kp.make_layout((128,)), kp.make_layout((4,)))
    assert (width, str(tv)) == (512, "(128,4):(4,1)")
    x = kp.make_layout((8, 2048), stride=(2048, 1))
    assert str(kp.zipped_divide(x, (1, 512))) == "((1,512),(8,4)):((0,1),(2048,512))"


# Names of CuTe DSL's

OF_GUIDES = """
from_dlpack mark_layout_dynamic mark_compact_shape_dynamic make_fake_tensor
make_fake_compact_tensor make_fake_stream sym_int32 sym_int64 FakeTensor Pointer make_ptr
nullptr Shape Stride Coord Tile IntTuple Boolean Int4 Int8 Int16 Int32 Int64 Uint8 Uint16 Uint32 Uint64
Float16 BFloat16 Float32 TFloat32 Float64 Float8E4M3FN Float8E5M2 Float8E8M0FNU Float4E2M1FN
Float4E2M1FNx2 Float6E2M3FN Float6E3M2FN CUstream export_to_c cutlass_call compile_to EnableTVMFFI
OptLevel PtxasOptions GPUArch KeepPTX arch utils runtime testing nvgpu pipeline SmemAllocator alloc_smem
allocate_tensor allocate_array TmemAllocator struct union native_struct print_tensor print_latex
print_latex_tv pretty_str render_tv_layout_svg basic_copy_if slice_ make_rmem_tensor_like recast_ptr
shape_div full zeros_like prepend append dice ScaledBasis E FastDivmodDivisor make_copy_atom
make_tiled_copy make_tiled_copy_tv CopyAtom TiledCopy MmaAtom make_mma_atom
PipelineTmaUmma NamedBarrier StaticPersistentTileScheduler HardwareInfo
register_jit_arg_adapter benchmark autotune_jit tune assert_ inline_ptx
""".split()
"""What the guides and their reference name, and is called otherwise here, or is not here."""


@pytest.mark.parametrize("name", OF_GUIDES)
def test_a_name_of_cute_dsl_is_told_in_python(name):
    with pytest.raises(AttributeError) as error:
        getattr(kp, name)
    said = str(error.value)
    assert said.startswith(f"module 'kernpack' has no attribute '{name}': ")
    told = said.partition(": ")[2]
    # What it names is there: in Python, or in the language.
    named = re.findall(r"\bkp\.(\w+)", told)
    reference = (REPOSITORY / "docs/language.md").read_text()
    assert all(hasattr(kp, each) or f"`kp.{each}" in reference for each in named), told


def test_other_names_are_told_nothing_of():
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        kp.nonsense  # noqa: B018
    assert not hasattr(kp, "Float33") and hasattr(kp, "float32")


def told(function):
    """The message of what is wrong with a function, and what to do."""
    with pytest.raises(kp.CompileError) as error:
        kp.compile(function, kp.fake_tensor(kp.float32, (4,)))
    return [(each["message"], each["help"]) for each in error.value.diagnostics]


def test_names_in_kernels_of_programs():
    @kp.kernel
    def kernel(x):
        i, _, _ = cute.arch.thread_idx()  # noqa: F821
        x[i] = kp.Float32(1.0)

    @kp.jit
    def f(x):
        kernel(x).launch(grid=1, block=1)

    assert told(f) == [
        ("kernpack has no `cute.arch.thread_idx`", "write `kp.thread_idx`"),
        ("kernpack has no `Float32`", "write `kp.float32`"),
    ]


def test_what_is_captured_of_cute_dsl():
    """Where it is installed, names of it lead somewhere: to what kernels cannot use."""
    cute = types.ModuleType("cutlass.cute")
    cute.arch = types.ModuleType("cutlass.cute.arch")
    exec("def thread_idx(): ...", {"__name__": "cutlass.cute.arch"}, vars(cute.arch))
    cute.Float32 = type("Float32", (), {"__module__": "cutlass.base_dsl.typing"})

    @kp.kernel
    def kernel(x):
        x[cute.arch.thread_idx()[0]] = cute.Float32(2)

    @kp.jit
    def f(x):
        kernel(x).launch(grid=1, block=1)

    said = told(f)
    assert [help_ for _, help_ in said] == ["write `kp.thread_idx`", "write `kp.float32`"], said
    assert "`cutlass.cute.arch.thread_idx` of CuTe DSL's" in said[0][0]


def test_what_else_is_captured_of_an_object_is_no_matter():
    """A part that is no constant is told where it is used alone."""
    config = types.SimpleNamespace(width=3, weights=torch.ones(2))

    @kp.kernel
    def kernel(x, which: kp.Constexpr):
        x[0] = kp.float32(config.width)
        if which:
            x[1] = config.weights

    @kp.jit
    def f(x, which: kp.Constexpr = False):
        kernel(x, which).launch(grid=1, block=1)

    assert f.check(torch.zeros(2)).arguments[0].tolist() == [3, 0]
    with pytest.raises(kp.CompileError) as error:
        f.check(torch.zeros(2), True)
    (only,) = error.value.diagnostics
    assert only["message"] == "this is a torch.Tensor, which is no constant of kernels"
