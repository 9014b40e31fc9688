# SPDX-License-Identifier: Apache-2.0
"""Kernels that are brought in Python: every source that a package file takes, text and files, and
what is told of mistakes.

GPU code is compiled and packaged here, and called in `tests/gpu`.
"""

import ctypes
import inspect
import os
import subprocess
import sys
import warnings
from pathlib import Path

import ml_dtypes
import numpy
import pytest
import torch
import tvm_ffi

import kernpack as kp
from kernpack import _arch
from conftest import REPOSITORY

ADD_ONE = """
#include <stdint.h>
void add_one(const float* a, float* b, int64_t n) { for (int64_t i = 0; i < n; ++i) b[i] = a[i] + 1; }
"""
SIGNATURE = "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))"
ARGS = ["a", "b", "n"]
CUDA = """
extern "C" __global__ void add_one(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i] + 1;
}
"""
GPU_ARGS = ["a", "b", "n: int32"]
LAYOUT = {"grid": "ceildiv(n, 256)", "block": 256}


def check(f):
    a, b = numpy.arange(5, dtype="float32"), numpy.zeros(5, "float32")
    f(a, b)
    numpy.testing.assert_array_equal(b, a + 1)


def test_host_text():
    check(kp.host(ADD_ONE, SIGNATURE, args=ARGS))


@pytest.mark.parametrize("as_path", [str, Path])
def test_a_host_file(tmp_path, as_path):
    (tmp_path / "add_one.c").write_text(ADD_ONE)
    check(kp.host(as_path(tmp_path / "add_one.c"), SIGNATURE, args=ARGS))


def test_host_files_of_several_kinds(tmp_path):
    (tmp_path / "one.h").write_text("#define ONE 1\n")
    (tmp_path / "one.c").write_text("#include <one.h>\nfloat one(void) { return ONE; }")
    subprocess.run(["gcc", "-c", "-fPIC", "one.c", "-I.", "-o", "one.o"], cwd=tmp_path, check=True)
    text = "float one(void); void add_one(const float* a, float* b, long n) { for (long i = 0; i < n; ++i) b[i] = a[i] + one(); }"
    check(kp.host([text, tmp_path / "one.o"], SIGNATURE, args=ARGS))
    check(kp.host([text, (tmp_path / "one.o").read_bytes()], SIGNATURE, args=ARGS))
    check(kp.host([text, tmp_path / "one.c"], SIGNATURE, args=ARGS, include=tmp_path))


def test_a_signature_that_begins_with_a_comment():
    check(kp.host(ADD_ONE, f"# b = a + 1\n  # {{\n{SIGNATURE}", args=ARGS))


def test_defines_and_another_name():
    text = "void run(const float* a, float* b, long n) { for (long i = 0; i < n; ++i) b[i] = a[i] + ONE; }"
    check(kp.host(text, SIGNATURE, kernel="run", args=ARGS, define={"ONE": 1}))


def test_a_status():
    f = kp.host("int f(int n) { return n; }", "f(n: int32)", args=["n: int32"], returns="int")
    f(0)
    with pytest.raises(RuntimeError, match="7"):
        f(7)


def test_cuda_text_and_file(tmp_path):
    (tmp_path / "add_one.cu").write_text(CUDA)
    text = kp.cuda(CUDA, SIGNATURE, args=GPU_ARGS, **LAYOUT, arch="sm_90")
    file = kp.cuda(tmp_path / "add_one.cu", SIGNATURE, args=GPU_ARGS, **LAYOUT, arch="sm_90")
    for f in (text, file):
        [launch] = f.metadata["launches"]
        assert launch["kernel"] == "add_one" and launch["source"]["kind"] == "cuda"
        assert [arch for image in launch["source"]["images"] for arch in image["archs"]] == [
            "sm_90"
        ]
        assert f.device_type == "cuda"
    with pytest.raises((RuntimeError, ValueError), match="CUDA|device_type"):
        text(numpy.zeros(1, "float32"), numpy.zeros(1, "float32"))


@pytest.mark.parametrize("arch, kind", [("sm_90", "cubin"), ("compute_90", "ptx")])
def test_what_is_left_out_of_cuda_does_not_show(arch, kind, tmp_path):
    """A program that includes nothing is compiled without CUDA's runtime; one that includes
    something, in vain or not, with it.
    """

    def code(text):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.so"
        kp.cuda(text, SIGNATURE, args=GPU_ARGS, **LAYOUT, arch=arch).export(path)
        return kp.load_module(path)._images(kind)

    assert list(code(CUDA)) == list(code(CUDA + "#if 0\n#include <nothing.h>\n#endif\n"))


def test_the_runtime_is_left_out_where_nothing_is_included():
    """Its names are free then, which they are not beside a line that includes something."""
    own = "typedef float cudaStream_t;" + CUDA
    layout = {"args": GPU_ARGS, **LAYOUT, "arch": "sm_90"}
    assert archs(kp.cuda(own, SIGNATURE, **layout)) == ["sm_90"]
    with pytest.raises(kp.CompileError, match="cudaStream_t"):
        kp.cuda(own + "\n#if 0\n#include <nothing.h>\n#endif\n", SIGNATURE, **layout)


@pytest.mark.parametrize(
    "uses",
    [
        "__device__ cudaStream_t stream;",
        "__device__ float f(cudaTextureObject_t t) { return tex1D<float>(t, 0); }",
    ],
)
def test_cuda_that_names_the_runtime(uses):
    assert archs(kp.cuda(uses + CUDA, SIGNATURE, args=GPU_ARGS, **LAYOUT, arch="sm_90")) == [
        "sm_90"
    ]


def test_what_cuda_is_refused_for_is_told_once():
    with pytest.raises(kp.CompileError) as caught:
        kp.cuda(
            CUDA + "__device__ cudaStream_t s = unknown;",
            SIGNATURE,
            args=GPU_ARGS,
            **LAYOUT,
            arch="sm_90",
        )
    assert str(caught.value).count("error: identifier") == 1 and '"unknown" is undefined' in str(
        caught.value
    )


def test_triton_is_compiled_for_what_rules_allow(tmp_path, monkeypatch):
    pytest.importorskip("triton")
    (tmp_path / "triton_cast.py").write_text(
        "import triton, triton.language as tl\n@triton.jit\ndef cast(x, y, n, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(y + at, tl.load(x + at, at < n), at < n)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from triton_cast import cast

    signature = "cast(x: Tensor([n], T), y: Tensor([n], U, mut)) where (T, U) in {(float32, float16), (float16, float32)}"
    f = kp.triton(cast, signature, grid="ceildiv(n, 256)", constexprs={"BLOCK": 256}, arch="sm_90")
    assert [when for launch in f.metadata["launches"] for when in launch["when"]] == [
        "T in {float32} and U in {float16}",
        "T in {float16} and U in {float32}",
    ]


def test_triton_is_told_what_calls_are_checked_for(tmp_path, monkeypatch):
    triton = pytest.importorskip("triton")
    (tmp_path / "triton_rows.py").write_text(
        "import triton, triton.language as tl\n@triton.jit\ndef rows(x, y, n, s, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) * s + tl.arange(0, BLOCK)\n    tl.store(y + at, tl.load(x + at, at < n), at < n)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from triton_rows import rows

    told = []

    class Source(triton.compiler.ASTSource):
        def __init__(self, kernel, types, constexprs, aligned):
            told.append(sorted(kernel.arg_names[place] for (place,) in aligned or ()))
            super().__init__(kernel, types, constexprs, aligned)

    monkeypatch.setattr(triton.compiler, "ASTSource", Source)
    signature = (
        "rows(x: Tensor([m, n], float32, strides=[s, 1], align=16), y: Tensor([m, n], float32, mut)) "
        "where s % 16 == 0, n % 16 == 0"
    )
    args = ["x", "y", "n: int32", "s: int32"]
    kp.triton(rows, signature, args=args, grid="m", constexprs={"BLOCK": 256}, arch="sm_90")
    # The stride of a single row counts as meeting its rule, and is passed as it is.
    assert told == [["n", "x"]]


def test_triton_compiles_nothing_where_that_is_forbidden(tmp_path, monkeypatch):
    pytest.importorskip("triton")
    (tmp_path / "triton_copy.py").write_text(
        "import triton, triton.language as tl\n@triton.jit\ndef copied(x, y, n, BLOCK: tl.constexpr):\n"
        "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(y + at, tl.load(x + at, at < n), at < n)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    from triton_copy import copied

    def make(block):
        signature = "copied(x: Tensor([n], T), y: Tensor([n], T, mut)) where T in {float32, int32}"
        more = {"constexprs": {"BLOCK": block}, "arch": "sm_90"}
        return kp.triton(copied, signature, grid=f"ceildiv(n, {block})", **more)

    made = make(256)
    monkeypatch.setenv("KERNPACK_JIT", "forbid")
    # Triton's cache has the kernel, and kernpack's the package.
    assert make(256).package.digest == made.package.digest
    with pytest.raises(kp.CompileForbidden, match="compile `copied`, which is not in its cache"):
        make(128)


def archs(f):
    return [
        arch
        for launch in f.metadata["launches"]
        for image in launch["source"]["images"]
        for arch in image["archs"]
    ]


def test_what_cuda_is_compiled_for(monkeypatch):
    monkeypatch.setenv("KERNPACK_ARCH", "sm_80,compute_90")
    assert archs(kp.cuda(CUDA, SIGNATURE, args=GPU_ARGS, **LAYOUT)) == ["sm_80", "compute_90"]
    assert archs(kp.cuda(CUDA, SIGNATURE, args=GPU_ARGS, **LAYOUT, arch=["sm_86"])) == ["sm_86"]
    monkeypatch.delenv("KERNPACK_ARCH")
    monkeypatch.setattr("kernpack._arch._gpus", lambda: [("GPU-a", "sm_89"), ("GPU-b", "sm_90")])
    _arch.visible.cache_clear()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-b")
    assert archs(kp.cuda(CUDA, SIGNATURE, args=GPU_ARGS, **LAYOUT, doc="for one")) == ["sm_90"]
    for names, order, found in [
        (None, None, ["sm_89", "sm_90"]),
        ("0", "PCI_BUS_ID", ["sm_89"]),
        ("", None, []),
        ("-1", None, []),
        ("GPU-a,1", "PCI_BUS_ID", ["sm_89", "sm_90"]),
    ]:
        assert _arch.visible(names, order) == found
    _arch.visible.cache_clear()


def test_what_nvml_says_is_kept_until_the_machine_changes(monkeypatch, tmp_path):
    boot, driver, asked = tmp_path / "boot", tmp_path / "driver", []
    (driver / "gpus" / "0000:01").mkdir(parents=True)
    (driver / "version").write_text("580")
    boot.write_text("first")
    monkeypatch.setattr(_arch, "_BOOT", boot)
    monkeypatch.setattr(_arch, "_DRIVER", driver)
    monkeypatch.setattr(_arch, "_gpus", lambda: asked.append(1) or [("GPU-a", "sm_90")])
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(tmp_path / "cache"))

    def look(expected):
        assert _arch._known_gpus() == [("GPU-a", "sm_90")] and len(asked) == expected

    look(1), look(1)
    boot.write_text("second")
    look(2), look(2)
    (driver / "gpus" / "0000:02").mkdir()
    look(3)
    for kept in (tmp_path / "cache").glob("gpus-*.json"):
        kept.write_text("damaged")
    look(4), look(4)
    monkeypatch.setenv("KERNPACK_CACHE", "off")
    look(5)
    monkeypatch.setattr(_arch, "_DRIVER", tmp_path / "missing")
    look(6)


def test_ptx_and_cubin_from_text_bytes_and_files(tmp_path):
    images = REPOSITORY / "tests" / "images"
    ptx = (REPOSITORY / "tests" / "gpu" / "add_one.ptx").read_text()
    assert images.is_dir()
    f = kp.ptx(ptx, SIGNATURE, args=GPU_ARGS, **LAYOUT)
    (tmp_path / "add_one.ptx").write_text(ptx)
    g = kp.ptx(tmp_path / "add_one.ptx", SIGNATURE, args=GPU_ARGS, **LAYOUT)
    assert archs(f) == archs(g) and archs(f)[0].startswith("compute_")


def test_what_sources_of_compiled_code_take():
    assert inspect.signature(kp.ptx) == inspect.signature(kp.cubin) == inspect.signature(kp.fatbin)
    names = set(inspect.signature(kp.ptx).parameters)
    assert names == set(inspect.signature(kp.cuda).parameters) - {
        "include",
        "define",
        "options",
        "line_info",
    }
    with pytest.raises(TypeError, match=r"^ptx\(\) got an unexpected keyword argument 'include'"):
        kp.ptx("", SIGNATURE, **LAYOUT, include=())


def test_a_package_file(tmp_path):
    module = kp.load(REPOSITORY / "examples" / "add_one" / "add_one.toml")
    check(module.add_one)


def test_a_package_is_what_its_text_says(tmp_path):
    """The package, and the package file that it writes, with its sources beside: the same bytes."""
    package = kp.Package("both", submit=None).function(
        SIGNATURE,
        kp.Launch(kp.Source.host(ADD_ONE), args=ARGS, when="n > 4"),
        kp.Launch(kp.Source.host(ADD_ONE), args=ARGS, when="otherwise"),
        doc='b = a + 1\nby an engineer\'s "hand"',
    )
    written = package.written()
    for name, content in written.held.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "both.toml").write_text(written.text)
    assert written.text == package.toml() and list(written.held) == ["both.c"]
    assert kp.load(tmp_path / "both.toml").read() == package.load().read()
    with pytest.raises(RuntimeError, match="compiled already"):
        package.function(SIGNATURE)


def test_all_mistakes_at_once():
    with pytest.raises(kp.CompileError) as error:
        kp.host("void f(void) {}", "f(x: Tensor([n], floot32), y: Tensor([m, float32))")
    assert "floot32" in str(error.value) and "signature =" in str(error.value)
    assert error.value.diagnostics and all(
        each["severity"] in ("error", "warning") for each in error.value.diagnostics
    )


def test_what_a_compiler_says():
    with pytest.raises(kp.CompileError, match="add_one.c"):
        kp.host("void add_one(", SIGNATURE, args=ARGS)
    with pytest.raises(kp.CompileError, match="add_one.cu"):
        kp.cuda('extern "C" __global__ void add_one(', SIGNATURE, args=GPU_ARGS, **LAYOUT)


def test_a_text_has_no_path():
    """What is said of it names no file of the working directory, where there is none."""
    host, cuda = {"args": ARGS}, {"args": GPU_ARGS, **LAYOUT}
    for make, layout, name in ((kp.host, host, "add_one.c"), (kp.cuda, cuda, "add_one.cu")):
        with pytest.raises(kp.CompileError, match=f"refused `{name}`") as caught:
            make(f"{ADD_ONE if make is kp.host else CUDA} nothing", SIGNATURE, **layout)
        assert os.getcwd() not in str(caught.value)
    for _ in range(2):
        with pytest.warns(kp.CompileWarning, match=r"\nadd_one.c:1:2: warning: #warning mind"):
            kp.host("#warning mind the path\n" + ADD_ONE, SIGNATURE, args=ARGS)


def test_warnings_are_shown_each_time():
    text = "#warning mind the gap\n" + ADD_ONE
    for _ in range(2):
        with pytest.warns(kp.CompileWarning, match="mind the gap"):
            check(kp.host(text, SIGNATURE, args=ARGS))
    with pytest.warns(kp.CompileWarning) as caught:
        kp.host(text, SIGNATURE, args=ARGS)
        kp.Package("p").function(SIGNATURE, kp.Launch(kp.Source.host(text), args=ARGS)).add_one
        kp.Package("p").function(SIGNATURE, kp.Launch(kp.Source.host(text), args=ARGS)).load()
    assert [warning.filename for warning in caught] == [__file__] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(kp.host(ADD_ONE, SIGNATURE, args=ARGS))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(kp.CompileError, match="missing.c"):
        kp.host(tmp_path / "missing.c", SIGNATURE, args=ARGS)
    with pytest.raises(FileNotFoundError):
        kp.load(tmp_path / "missing.toml")


def run(code, **environment):
    """What a process of its own prints."""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_process_can_fork_after_a_compile():
    """Compiling asks NVML for the GPUs, and never the driver; the child goes on."""
    code = f"""
import os, sys
import kernpack as kp
from kernpack import _arch
kp.cuda({CUDA!r}, {SIGNATURE!r}, args={GPU_ARGS!r}, grid="ceildiv(n, 256)", block=256)
assert "libcuda.so" not in open("/proc/self/maps").read()
if os.fork() == 0:
    f = kp.host({ADD_ONE!r}, {SIGNATURE!r}, args={ARGS!r})
    import numpy
    a, b = numpy.zeros(3, "float32"), numpy.zeros(3, "float32")
    f(a, b)
    os._exit(int(b.sum()))
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    assert run(code).strip() == "3"


DRIVER = """
#include <stdlib.h>
int cuInit(unsigned flags) { abort(); }
int cuGetProcAddress_v2(void) { abort(); }
"""
NVML = """
#include <string.h>
int nvmlInit(void) { return 0; }
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = 0; return 0; }
int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor) { *major = 9; *minor = 0; return 0; }
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned size) { strcpy(uuid, "GPU-0"); return 0; }
"""


@pytest.fixture
def gpu(tmp_path):
    """The environment of a machine with a GPU of NVML's, whose driver ends the process that
    initialises it.
    """
    for name, text in {"libcuda.so.1": DRIVER, "libnvidia-ml.so.1": NVML}.items():
        (tmp_path / "library.c").write_text(text)
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "library.c", "-o", name], cwd=tmp_path, check=True
        )
    return {"LD_LIBRARY_PATH": str(tmp_path), "KERNPACK_CACHE": "off"}


def test_the_driver_is_left_to_whoever_forks(gpu):
    """Neither the import nor a compile initialises it: TVM-FFI has PyTorch do so, and NVRTC does
    for a cache of its own.
    """
    code = f"""
import kernpack as kp, os
f = kp.cuda({CUDA!r}, {SIGNATURE!r}, args={GPU_ARGS!r}, grid="ceildiv(n, 256)", block=256)
print([arch for launch in f.metadata["launches"] for image in launch["source"]["images"] for arch in image["archs"]])
assert "PYTORCH_NVML_BASED_CUDA_CHECK" not in os.environ
"""
    assert run(code, **gpu).strip() == "['sm_90']"
    with pytest.raises(AssertionError):
        run("import tvm_ffi", **gpu)


def test_two_versions_of_one_kernel():
    one = kp.host(ADD_ONE, SIGNATURE, args=ARGS)
    two = kp.host(ADD_ONE.replace("+ 1", "+ 2"), SIGNATURE, args=ARGS)
    b = numpy.zeros(1, "float32")
    for f, expected in ((one, 1), (two, 2), (one, 1)):
        f(numpy.zeros(1, "float32"), b)
        assert b[0] == expected


def test_a_module_that_was_built_again(tmp_path):
    path = tmp_path / "add.so"
    b, modules = numpy.zeros(1, "float32"), []
    for number in (1, 2, 3):
        kp.host(ADD_ONE.replace("+ 1", f"+ {number}"), SIGNATURE, args=ARGS).export(path)
        modules.append(kp.load_module(path))
    for number, module in enumerate(modules, 1):
        module.add_one(numpy.zeros(1, "float32"), b)
        assert b[0] == number
    assert len({module.digest for module in modules}) == 3


def test_no_framework_is_imported():
    """NumPy and PyTorch are only looked at where somebody else has imported them."""
    code = "import sys, kernpack; kernpack.host; print([name for name in ('numpy', 'jax', 'triton') if name in sys.modules])"
    assert run(code, TVM_FFI_DISABLE_TORCH_C_DLPACK="1").strip() in ("[]", "['numpy']")


def test_names_of_others_lead_here():
    with pytest.raises(AttributeError, match="write `kp.fake_tensor`"):
        kp.make_fake_tensor


def test_dtypes_of_every_framework():
    for value in (
        torch.bfloat16,
        numpy.dtype(ml_dtypes.bfloat16),
        ml_dtypes.bfloat16,
        "bfloat16",
        tvm_ffi.dtype("bfloat16"),
        kp.bfloat16,
    ):
        assert kp.dtype(value) == "bfloat16", value
    assert (
        kp.dtype(float) == "float32"
        and kp.dtype(numpy.int64) == "int64"
        and kp.dtype(bool) == "bool"
    )
    assert kp.dtype(torch.float4_e2m1fn_x2) == "float4_e2m1fnx2"
    with pytest.raises(TypeError, match="names no dtype"):
        kp.dtype("floot")


def test_signatures_from_objects():
    n, unnamed = kp.sym_int("n", divisibility=16), kp.sym_int()
    a = kp.fake_tensor(kp.float32, (n, unnamed), align=16)
    text = kp.signature(
        "f",
        a=a,
        b=kp.mut(a),
        k=kp.int32,
        o=kp.optional(kp.fake_compact_tensor(torch.float16, (unnamed, 4))),
        p=(kp.float32, kp.shape([n, 2])),
        s=kp.fake_stream(),
        results={"r": kp.fake_tensor("T", (n,))},
        where="T in {float16, float32}",
    )
    assert text == (
        "f(a: Tensor([n, n0], float32, align=16), b: Tensor([n, n0], float32, align=16, mut), k: int32, "
        "o: Optional[Tensor([n0, 4], float16, order=col)], p: Tuple(float32, Shape([n, 2])), s: Stream) -> r: Tensor([n], T) "
        "where n % 16 == 0, T in {float16, float32}"
    )
    tied = kp.signature("f", a="Tensor([n0], float32)", b=kp.fake_tensor(kp.float32, (unnamed,)))
    assert tied == "f(a: Tensor([n0], float32), b: Tensor([n1], float32))"
    optional = kp.mut(kp.optional(kp.fake_tensor(kp.float32, (n,))))
    assert kp.signature("f", a=optional).startswith("f(a: Optional[Tensor([n], float32, mut)])")
    m = kp.sym_int()
    tensor = kp.fake_tensor(numpy.float32, (m,))
    check(
        kp.host(ADD_ONE, kp.signature("add_one", a=tensor, b=kp.mut(tensor)), args=["a", "b", "n0"])
    )


SCALED = """
#include <math.h>
double cblas_dnrm2_of_test(int n, const double *x, int step);
void scaled(const double *x, long n, double *y) { *y = 2 * cblas_dnrm2_of_test((int)n, x, 1); }
"""


@pytest.mark.filterwarnings("ignore::kernpack.CompileWarning")
def test_a_host_kernel_needs_a_library(tmp_path, monkeypatch):
    source = (
        "double cblas_dnrm2_of_test(int n, const double *x, int step) { return n + x[0] * step; }"
    )
    (tmp_path / "blas.c").write_text(source)
    library = tmp_path / "libblas-of-test.so.3"
    command = ["cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", "-o", library]
    subprocess.run([*command, tmp_path / "blas.c"], check=True)
    # The loader knows a library by its soname once it is loaded.
    ctypes.CDLL(str(library))
    signature = "scaled(x: Tensor([n], float64), y: Tensor([], float64, mut))"
    arguments = {"args": ["x", "n", "y"]}
    for link in ([library.name], library.name):
        scaled = kp.host(SCALED, signature, **arguments, link=link)
        y = numpy.zeros(())
        scaled(numpy.ones(3), y)
        assert y == 8
    # A package of several functions needs what each of them needs.
    other = kp.host("void other(void) {}", "other()", args=[])
    kp.export(scaled, tmp_path / "one.so", name="called_so")
    assert kp.inspect(tmp_path / "one.so")["packages"][0]["package"] == "called_so"
    with pytest.raises(ValueError, match="the package is called"):
        kp.export(kp.Package("mine"), tmp_path / "one.so", name="yours")
    kp.export([scaled, other], tmp_path / "both.so")
    text = subprocess.run(["readelf", "-d", tmp_path / "both.so"], capture_output=True, text=True)
    assert library.name in text.stdout


KERNEL_FILE = """
import kernpack as kp


@kp.kernel
def scale_elements(x, y):
    block, _, _ = kp.block_idx()
    thread, _, _ = kp.thread_idx()
    i = block * 256 + thread
    if i < x.shape[0]:
        y[i] = x[i] * 2
"""
KERNEL_PACKAGE = """
[package]
name = "scaling"

[[function]]
signature = "scale(x: Tensor([n], float32), y: Tensor([n], float32, mut))"

[[function.launch]]
source = { kernel = "scaling.py" }
kernel = "scale_elements"
args = ["x", "y"]
grid = ["ceildiv(n, 256)"]
block = [256]
"""


def test_what_a_kernel_file_is_compiled_for(tmp_path, monkeypatch):
    (tmp_path / "scaling.py").write_text(KERNEL_FILE)
    (tmp_path / "scaling.toml").write_text(KERNEL_PACKAGE)
    path = tmp_path / "scaling.toml"
    monkeypatch.setattr("kernpack._arch._gpus", lambda: [("GPU-a", "sm_89")])
    _arch.visible.cache_clear()
    assert archs(kp.load(path).scale) == ["sm_89"]
    _arch.visible.cache_clear()
    assert archs(kp.load(path, arch=["sm_90", "compute_86"]).scale) == ["sm_90", "compute_86"]
    monkeypatch.setenv("KERNPACK_ARCH", "compute_90")
    assert archs(kp.load(path).scale) == ["compute_90"]
    kp.precompile([path], arch="sm_80", progress=False)
    monkeypatch.setenv("KERNPACK_JIT", "forbid")
    assert archs(kp.load(path, arch="sm_80").scale) == ["sm_80"]


def test_a_package_for_the_processor_takes_no_architecture(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNPACK_ARCH", "sm_90")
    f = kp.host(ADD_ONE + "// cuda and kernel = norm.py", SIGNATURE, args=ARGS)
    assert f.device_type == "cpu"


def test_what_is_printed_while_compiling_goes_to_the_standard_output(tmp_path, capsys):
    text = KERNEL_FILE.replace("    if i <", "    kp.print_type(x, i)\n    if i <")
    (tmp_path / "scaling.py").write_text(text)
    (tmp_path / "scaling.toml").write_text(KERNEL_PACKAGE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            # The second time it comes from the cache.
            kp.precompile([tmp_path / "scaling.toml"], arch="compute_80", progress=False)
            told = capsys.readouterr().out
            assert told.startswith("note[print]: tensor<float32, global, align 4> (?):(1) int64\n")
            assert "kp.print_type(x, i)" in told and told.count("note[print]") == 1
