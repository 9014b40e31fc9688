# SPDX-License-Identifier: Apache-2.0
"""What is in the files: symbols, libraries, bytes; and that they load where they should."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import everything
import pytest

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ("x86_64-linux-gnu", "aarch64-linux-gnu")
# What every package may leave to the process; the user's C file adds sqrt.
ALLOWED = set(
    "dlopen dlsym dlerror malloc free memcpy memmove memset memcmp strlen strcmp snprintf syscall".split()
)


def run(*command, **options):
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def build(kernpack, folder, *outputs, package=everything.PACKAGE, target=TARGETS[0], **options):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.toml").write_text(package)
    (folder / "everything.c").write_text(everything.KERNELS)
    named = [part for output in outputs for part in ("-o", output)]
    run(kernpack, "build", "package.toml", "--target", target, *named, cwd=folder, **options)
    return [folder / output for output in outputs]


@pytest.mark.parametrize("target", TARGETS)
def test_symbols(kernpack, tmp_path, target):
    shared, object_file = build(kernpack, tmp_path, "package.so", "package.o", target=target)
    for file, flag in ((object_file, ()), (shared, ("-D",))):
        undefined = {line.split()[-1] for line in run("nm", "-u", *flag, file).splitlines()}
        assert {name for name in undefined - ALLOWED if not name.startswith("TVMFFI")} <= {"sqrt"}
        defined = run("nm", *flag, "--defined-only", "--extern-only", file).split()[2::3]
        assert defined and all(name.startswith("__tvm_ffi_") for name in defined)
    dynamic = run("readelf", "-d", shared)
    assert re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic) in ([], ["libm.so.6"])
    assert "RPATH" not in dynamic and "RUNPATH" not in dynamic
    assert "GLIBC" not in run("readelf", "-V", shared)


@pytest.mark.parametrize("target", TARGETS)
def test_inspect_lists_what_nm_does(kernpack, tmp_path, target):
    for file, flag in zip(
        build(kernpack, tmp_path, "package.so", "package.o", target=target), ("-D", "-a")
    ):
        undefined = {line.split()[-1] for line in run("nm", "-u", flag, file).splitlines()}
        [package] = json.loads(run(kernpack, "inspect", "--json", file))["packages"]
        imports = package["imports"]
        assert undefined == {*imports["libtvm_ffi"], *imports["libc"], *package["undefined"]}
        assert {name for name in undefined if name.startswith("TVMFFI")} == set(
            imports["libtvm_ffi"]
        )
        assert package["undefined"] == ["sqrt"]
        shown = run(kernpack, "inspect", file)
        assert f"from libc: {', '.join(imports['libc'])}\n" in shown and "others: sqrt\n" in shown


def test_packages_that_define_one_function_link_together(kernpack, tmp_path):
    twin = (
        everything.PACKAGE.replace("everything(", "everything2(")
        .replace("add_one(", "add_two(")
        .replace('"everything"', '"twin"')
    )
    [one] = build(kernpack, tmp_path / "one", "one.o")
    [two] = build(kernpack, tmp_path / "two", "two.o", package=twin)
    linked = tmp_path / "both.so"
    run("cc", "-shared", "-o", linked, one, two, "-lm")
    script = f"""
import torch, tvm_ffi
module, y = tvm_ffi.load_module({str(linked)!r}), torch.zeros(4)
module.add_one(torch.zeros(4), y); module.add_two(y.clone(), y)
assert y.tolist() == [2.0] * 4
"""
    run(sys.executable, "-c", script)
    assert run(kernpack, "inspect", linked).count("\npackage ") == 2


# Where a C compiler writes paths: names of files, of headers looked up in folders, and debug
# information.
PATHS_PACKAGE = """
[package]
name = "paths"

[[function]]
signature = "letter(n: int64)"
source = { host = "paths.c", include = ["headers", "sub/"], options = ["-g"] }
symbol = "letter"
args = ["n"]
returns = "int"

[[function]]
signature = "other(n: int64)"
source = { host = "sub/other.c", include = ["headers", "."] }
symbol = "other"
args = ["n"]
returns = "int"
"""
PATHS_FILES = {
    "headers/long_name.h": "static const char *header(void) { return __FILE__; }\n",
    "sub/beside.h": "static const char *beside(void) { return __FILE__; }\n",
    "paths.c": '#include "long_name.h"\n#include "sub/beside.h"\n#include <string.h>\n'
    "int letter(long n) { return header()[n] + beside()[n] + __FILE__[n] == 0; }\n",
    "sub/other.c": '#include "beside.h"\n#include "../headers/long_name.h"\n'
    "int other(long n) { return header()[n] + beside()[n] + __FILE__[n] == 0; }\n",
}


def clone(folder):
    """A clone of this repository, with the two packages of these tests beside the examples."""
    run("git", "clone", "--quiet", "--local", ROOT, folder)
    files = {
        "everything/package.toml": everything.PACKAGE,
        "everything/everything.c": everything.KERNELS,
    }
    files |= {
        "paths/package.toml": PATHS_PACKAGE,
        **{f"paths/{name}": text for name, text in PATHS_FILES.items()},
    }
    for name, text in files.items():
        path = folder / "examples" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def packages(folder):
    """Every package file below the examples, by its path there."""
    found = (folder / "examples").rglob("*.toml")
    return sorted(
        str(path.relative_to(folder / "examples"))
        for path in found
        if path.name not in ("Cargo.toml", "pyproject.toml", "shapes.toml", "tuned.toml")
    )


def build_in(kernpack, tree, name, out, target, *, absolute, environment, wrapper=()):
    """Builds one package of a clone, from its own folder by a bare name, or from elsewhere by its
    whole path.
    """
    path = tree / "examples" / name
    out.mkdir(parents=True)
    named = [part for output in everything.OUTPUTS for part in ("-o", out / output)]
    package, cwd = (path, out) if absolute else (path.name, path.parent)
    run(
        *wrapper,
        kernpack,
        "build",
        package,
        "--target",
        target,
        *named,
        cwd=cwd,
        env={**os.environ, **environment},
    )
    return {output: (out / output).read_bytes() for output in everything.OUTPUTS}


@pytest.mark.parametrize("target", TARGETS)
def test_two_clones_give_the_same_bytes(kernpack, tmp_path, target):
    one, two = clone(tmp_path / "one"), clone(tmp_path / "much" / "deeper" / "the other clone")
    assert packages(one) == packages(two) and len(packages(one)) >= 7
    first = {
        "HOME": str(tmp_path),
        "TZ": "Asia/Tokyo",
        "LANG": "C",
        "RAYON_NUM_THREADS": "1",
        "TMPDIR": str(tmp_path),
    }
    second = {
        "HOME": "/nonexistent",
        "TZ": "UTC",
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "de_DE.UTF-8",
        "RAYON_NUM_THREADS": "7",
    }
    alone = ("taskset", "--cpu-list", str(min(os.sched_getaffinity(0))))
    for i, name in enumerate(packages(one)):
        x = build_in(
            kernpack,
            one,
            name,
            tmp_path / "x" / str(i),
            target,
            absolute=False,
            environment=first,
            wrapper=alone,
        )
        y = build_in(
            kernpack,
            two,
            name,
            tmp_path / "y" / "out" / str(i),
            target,
            absolute=True,
            environment=second,
        )
        for output in everything.OUTPUTS:
            assert x[output] == y[output], f"{output} of {name}"
            assert str(tmp_path).encode() not in x[output], f"{output} of {name} has a path"


def test_it_runs_under_the_oldest_tvm_ffi(kernpack, oldest_python, tmp_path):
    [shared] = build(kernpack, tmp_path, "package.so")
    script = f"""
import numpy, traceback, tvm_ffi
module = tvm_ffi.load_module({str(shared)!r})
a, b = numpy.arange(4, dtype="float32"), numpy.zeros(4, "float32")
module["add_one"](tvm_ffi.from_dlpack(a), tvm_ffi.from_dlpack(b))
assert b.tolist() == [1, 2, 3, 4], b
try:
    module["add_one"](tvm_ffi.from_dlpack(a), 3)
except TypeError as error:
    assert str(error).endswith("expected Tensor, got int"), error
    assert traceback.extract_tb(error.__traceback__)[-1].name == "__tvm_ffi_add_one"
else:
    raise SystemExit("accepted")
"""
    run(oldest_python, "-c", script)


# In a process of its own, where the package is loaded behind the first error: libtvm_ffi learns
# then, and never again, which functions there are to be found on the stack.
TRACEBACKS = """
import re, sys, traceback, everything, torch, tvm_ffi
try:
    tvm_ffi.load_module("no.so")
except RuntimeError:
    module = tvm_ffi.load_module(sys.argv[1])
a, x = torch.zeros(4), torch.ones(2, 2)
calls = [
    ("add_one", (a, 3)),  # the last argument has another type
    ("add_one", (a,)),  # it is left out
    ("add_one", (a[:3], a[:3])),  # a rule does not hold
    ("everything", everything.arguments(x, u64=-1)),  # many checks have held before
    ("everything", everything.arguments(torch.ones(5, 2))),  # the kernel itself refuses
    ("everything_out", (*everything.arguments(x), 0.5, a)),
]
for name, arguments in calls:
    try:
        module[name](*arguments)
    except (TypeError, ValueError, RuntimeError) as error:
        caller, tvm_ffi_frame, *package = traceback.extract_tb(error.__traceback__)
        assert tvm_ffi_frame.name.endswith("Function.__call__"), tvm_ffi_frame
        assert [(frame.filename, frame.lineno, frame.name) for frame in package] == [("<unknown>", 0, "__tvm_ffi_" + name)]
        assert not re.search("0x[0-9a-f]", "".join(traceback.format_exception(error)))
    else:
        raise SystemExit(f"{name} accepts {arguments}")
"""


def test_the_traceback_of_a_refused_call_ends_at_the_entry_point(kernpack, tmp_path):
    shared, object_file = build(kernpack, tmp_path, "package.so", "package.o")
    # Another linker keeps the names of local functions, which would be frames too.
    linked = tmp_path / "linked.so"
    run("cc", "-shared", "-o", linked, object_file, "-lm")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python-tests")}
    for library in (shared, linked):
        run(sys.executable, "-c", TRACEBACKS, library, env=environment)


# Raises what the package does, as libtvm_ffi does it, which finds the entry point on the stack.
WALKED = """
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int n_parts);
int __tvm_ffi_add_one(void *handle, const void *args, int n_args, void *result) {
    const char *parts[] = {"Mismatched type on argument #1 when calling: ",
                           "`add_one(a: Tensor([n], float32), b: Tensor([n], float32))`", ", expected Tensor, got int"};
    TVMFFIErrorSetRaisedFromCStrParts("TypeError", parts, 3);
    return -1;
}
"""
TEXTS = """
import json, numpy, sys, traceback, tvm_ffi
modules, texts = [tvm_ffi.load_module(path) for path in sys.argv[1:]], []
for module in modules:
    try:
        module["add_one"](tvm_ffi.from_dlpack(numpy.zeros(4, "float32")), 3)
    except TypeError as error:
        texts.append([traceback.format_exc(), error.__tvm_ffi_error__.backtrace])
print(json.dumps(texts))
"""


@pytest.mark.parametrize("version", ["current", "oldest"])
def test_an_error_reads_as_one_for_which_the_stack_is_walked(
    kernpack, oldest_python, tmp_path, version
):
    [shared] = build(kernpack, tmp_path, "package.so")
    (tmp_path / "walked.c").write_text(WALKED)
    run("cc", "-shared", "-fPIC", "-O2", "-o", tmp_path / "walked.so", tmp_path / "walked.c")
    python = {"current": sys.executable, "oldest": oldest_python}[version]
    walked, ours = json.loads(run(python, "-c", TEXTS, tmp_path / "walked.so", shared))
    assert ours == walked
    text, backtrace = ours
    assert backtrace == '  File "<unknown>", line 0, in __tvm_ffi_add_one\n'
    called, raised = text.split("Function.__call__\n")
    assert called.startswith("Traceback (most recent call last):\n")
    assert raised == (
        '  File "<unknown>", line 0, in __tvm_ffi_add_one\n'
        "TypeError: Mismatched type on argument #1 when calling: `add_one(a: Tensor([n], float32), b: Tensor([n], float32))`, "
        "expected Tensor, got int\n"
    )


def test_loading_and_unloading_leaves_nothing(kernpack, tmp_path):
    [shared] = build(kernpack, tmp_path, "package.so")
    script = f"""
import gc, os, torch, tvm_ffi
def once():
    module = tvm_ffi.load_module({str(shared)!r}, keep_module_alive=False)
    b = torch.zeros(4)
    module.add_one(torch.zeros(4), b)
    try: module.add_one(b, 1)
    except TypeError: pass
    assert b.tolist() == [1.0] * 4
def count():
    gc.collect()
    with open("/proc/self/maps") as maps: lines = maps.read()
    return lines.count("package.so"), len(os.listdir("/proc/self/fd"))
for _ in range(20): once()
before = count()
for _ in range(1000): once()
assert count() == before, (before, count())
"""
    run(sys.executable, "-c", script)


HOST = """
#include <stdio.h>
#include "package.h"
int main(void) {
    float a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, b[8] = {0};
    int64_t eight[1] = {8}, seven[1] = {7}, one[1] = {1};
    kernpack_tensor in = {a, 1, 0, 1, 2, 32, 1, eight, one, 0}, out = {b, 1, 0, 1, 2, 32, 1, eight, one, 0};
    char message[512] = "";
    int status = everything_add_one(&in, &out, message, sizeof message);
    printf("%d %s %g %g\\n", status, message, b[0], b[7]);
    in.shape = seven;
    status = everything_add_one(&in, &out, message, sizeof message);
    printf("%d %s\\n", status, message);
    return 0;
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_c_host_links_the_object(kernpack, tmp_path, target):
    import tvm_ffi.libinfo

    native = target == TARGETS[0]
    aarch64 = ROOT / ".cache" / "aarch64" / "tvm_ffi" / "lib"
    library = Path(tvm_ffi.libinfo.find_libtvm_ffi()).parent if native else aarch64
    compiler, runner = (
        ("gcc", [])
        if native
        else ("aarch64-linux-gnu-gcc", ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"])
    )
    assert shutil.which(compiler) and (not runner or shutil.which(runner[0])), (
        f"run `scripts/setup aarch64` for {compiler}"
    )
    build(kernpack, tmp_path, "package.o", "package.h", target=target)
    (tmp_path / "host.c").write_text(HOST)
    flags = [
        "-O1",
        "-Wall",
        "-Werror",
        "host.c",
        "package.o",
        "-o",
        "host",
        f"-L{library}",
        "-ltvm_ffi",
        "-lm",
        "-Wl,--allow-shlib-undefined",
    ]
    run(compiler, *flags, cwd=tmp_path)
    paths = (
        {"LD_LIBRARY_PATH": str(library)}
        if native
        else {"QEMU_SET_ENV": f"LD_LIBRARY_PATH={library}:/usr/aarch64-linux-gnu/lib"}
    )
    printed = run(*runner, "./host", cwd=tmp_path, env={**os.environ, **paths})
    short = "add_one(a: Tensor([n], float32), b: Tensor([n], float32))"
    refused = f"ValueError: Invalid a.shape[0] on argument #0 when calling: `{short}`, expected to be divisible by 4, got 7"
    assert printed.splitlines() == ["0  2 9", f"-1 {refused}"]
