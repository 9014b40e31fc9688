# SPDX-License-Identifier: Apache-2.0
"""The compile cache as Python sees it: what a new process finds, what is forbidden, and what
happens where it cannot be used.
"""

import os
import signal
import subprocess
import sys
import time

import pytest

# What tvm_ffi does not find, it does not import: a second for each process.
ALONE = "import sys; sys.modules['torch'] = None\n"
HOST = """
import kernpack as kp
f = kp.host({source!r}, "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)", args=["x", "n", "y"], include={include!r})
"""
SOURCE = (
    "void twice(const float* x, long n, float* y) { for (long i = 0; i < n; ++i) y[i] = 2 * x[i]; }"
)
CUDA = '''
import kernpack as kp
package = kp.Package("one").function(
    "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut))",
    kp.Launch(kp.Source.cuda("""extern "C" __global__ void add_one(const float* a, float* b, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] = a[i] + 1; }"""),
      args=["a", "b", "n: int32"], grid="ceildiv(n, 256)", block=256))
'''
# Neither a C compiler nor NVRTC is found.
NOTHING = {"PATH": "/nowhere", "CC": "", "KERNPACK_NVRTC": "/nowhere/libnvrtc.so"}


def code(source=SOURCE, include=()):
    return HOST.format(source=source, include=[str(folder) for folder in include])


def run(script, cache, expect=0, **environment):
    """What a process prints whose cache is there; its exit code is as expected."""
    environment = {**os.environ, "KERNPACK_CACHE_DIR": str(cache), **environment}
    ran = subprocess.run(
        [sys.executable, "-c", ALONE + script],
        env=environment,
        capture_output=True,
        text=True,
        cwd=cache.parent,
    )
    assert ran.returncode == expect, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def test_a_new_process_needs_no_compiler(cache):
    error = run(code(), cache, expect=1, **NOTHING)
    assert "no C compiler for" in error and "twice.c`" in error
    run(code(), cache)
    run(code() + "import numpy; assert f(numpy.ones(3, 'float32')).sum() == 6", cache, **NOTHING)
    assert "no C compiler" in run(code(SOURCE + "\n"), cache, expect=1, **NOTHING)


def test_forbidden_to_compile(cache):
    error = run(code(), cache, expect=1, KERNPACK_JIT="forbid")
    assert (
        "kernpack._errors.CompileForbidden" in error
        and "package `twice`" in error
        and "precompile" in error
    )
    run(code(), cache)
    run(code(), cache, KERNPACK_JIT="forbid")


def test_compiled_ahead_for_several_gpus(cache):
    run(
        CUDA + "kp.precompile([package], arch=['sm_80', 'sm_90'], progress=False)",
        cache,
        CUDA_VISIBLE_DEVICES="",
    )
    for arch in ("sm_80", "sm_90", "sm_86"):
        # As on a machine with such a GPU, and no compiler.
        visible = f"from kernpack import _arch; _arch._gpus = lambda: [('GPU-0', '{arch}')]\n"
        shown = run(
            visible
            + CUDA
            + "print(sorted(i['archs'][0] for i in package.add_one.metadata['launches'][0]['source']['images']))",
            cache,
            KERNPACK_JIT="forbid",
            **NOTHING,
        )
        assert shown.strip() == "['sm_80', 'sm_90']"
    visible = "from kernpack import _arch; _arch._gpus = lambda: [('GPU-0', 'sm_120')]\n"
    assert "sm_120" in run(
        visible + CUDA + "package.load()", cache, expect=1, KERNPACK_JIT="forbid"
    )


def test_a_header_that_changes_and_one_that_appears(cache, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    (second / "factor.h").write_text("#define FACTOR 2\n")
    script = code("#include <factor.h>\n" + SOURCE.replace("2 *", "FACTOR *"), [first, second])
    script += "import numpy; print(f(numpy.ones(1, 'float32'))[0])"
    assert run(script, cache).strip() == "2.0"
    (second / "factor.h").write_text("#define FACTOR 3\n")
    assert run(script, cache).strip() == "3.0"
    (first / "factor.h").write_text("#define FACTOR 4\n")
    assert run(script, cache).strip() == "4.0"
    (first / "factor.h").unlink()
    assert run(script, cache, **NOTHING).strip() == "3.0"


def test_options_name_folders_of_the_working_directory(cache, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "twice.c").write_text("#include <factor.h>\n" + SOURCE.replace("2 *", "FACTOR *"))
    (package / "p.toml").write_text(
        '[package]\nname = "p"\n[[function]]\n'
        'signature = "twice(x: Tensor([n], float32)) -> y: Tensor([n], float32)"\n'
        '[[function.launch]]\nkernel = "twice"\nsource = { host = "twice.c", options = ["-Iinc"] }\n'
        'args = ["x", "n", "y"]\n'
    )
    for folder, factor in [("one", 2), ("two", 3), ("one", 2)]:
        (tmp_path / folder / "inc").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "inc" / "factor.h").write_text(f"#define FACTOR {factor}\n")
        script = (
            f"import os; os.chdir({str(tmp_path / folder)!r})\n"
            f"import numpy, kernpack as kp; f = kp.load({str(package / 'p.toml')!r}).twice\n"
            "print(f(numpy.ones(1, 'float32'))[0])"
        )
        assert run(script, cache).strip() == f"{factor}.0"
    assert run(script, cache, KERNPACK_JIT="forbid").strip() == "2.0"


def test_so_do_options_of_nvrtc(cache, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "put.cu").write_text(
        '#include <value.h>\nextern "C" __global__ void put(float* x) { *x = VALUE; }'
    )
    (package / "p.toml").write_text(
        '[package]\nname = "p"\n[[function]]\nsignature = "put(x: Tensor([n], float32, mut))"\n'
        '[[function.launch]]\nkernel = "put"\nargs = ["x"]\ngrid = [1]\nblock = [1]\n'
        'source = { cuda = "put.cu", options = ["-Iinc"] }\n'
    )
    digests = []
    for folder, value in [("one", 2), ("two", 3), ("one", 2)]:
        (tmp_path / folder / "inc").mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "inc" / "value.h").write_text(f"#define VALUE {value}\n")
        script = (
            f"import os; os.chdir({str(tmp_path / folder)!r})\nimport kernpack as kp\n"
            f"print(kp.load({str(package / 'p.toml')!r}, arch='compute_80').digest)"
        )
        digests.append(run(script, cache))
    assert digests[0] == digests[2] != digests[1]


def test_a_symbol_of_a_later_library_is_told_again(cache):
    source = "#include <sys/random.h>\nvoid later(char* x) { getrandom(x, 1, 0); }"
    script = (
        "import kernpack as kp\n"
        f"kp.host({source!r}, 'later(x: Tensor([n], int8, mut))', args=['x']).package.functions"
    )
    assert "later-symbol" in run(script, cache)
    assert "later-symbol" in run(script, cache, KERNPACK_JIT="forbid")


def test_a_cache_that_cannot_be_used_is_told_once(cache):
    cache.write_text("a file where the folder should be")
    script = "import warnings; warnings.simplefilter('always')\n" + code() + code(SOURCE + "\n")
    shown = run(script + "import numpy; assert f(numpy.ones(3, 'float32')).sum() == 6", cache)
    assert shown.count("CompileWarning") == 1 and str(cache) in shown
    off = run(code() + "print(f.package.path)", cache, KERNPACK_CACHE="off")
    assert off.startswith("/proc/self/fd/")


def test_a_damaged_entry_is_never_loaded(cache):
    run(code(), cache)
    [library] = cache.glob("**/package.so")
    content = bytearray(library.read_bytes())
    content[len(content) // 2] ^= 1
    library.chmod(0o600)
    library.write_bytes(content)
    shown = run(
        "import warnings; warnings.simplefilter('always')\n"
        + code()
        + "import numpy; assert f(numpy.ones(3, 'float32')).sum() == 6",
        cache,
    )
    assert "damaged" in shown
    assert run(code(), cache, **NOTHING) == ""


def test_eight_processes_compile_once(cache, tmp_path):
    """The C compiler counts how often it is run, and takes its time."""
    count, compiler = tmp_path / "count", tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho >> "{count}"\nsleep 0.5\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    environment = {**os.environ, "KERNPACK_CACHE_DIR": str(cache), "CC": str(compiler)}
    processes = [
        subprocess.Popen([sys.executable, "-c", ALONE + code()], env=environment) for _ in range(8)
    ]
    assert [process.wait() for process in processes] == [0] * 8
    assert len(count.read_text().splitlines()) == 1


def test_sixteen_threads_compile_once(cache, tmp_path):
    count, compiler = tmp_path / "count", tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho >> "{count}"\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    body = "\n    ".join(code().strip().splitlines())
    script = f"""
import threading, numpy
def work():
    {body}
    assert f(numpy.ones(3, 'float32')).sum() == 6
    done.append(f)
done = []
threads = [threading.Thread(target=work) for _ in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(done) == 16
"""
    run(script, cache, CC=str(compiler))
    assert len(count.read_text().splitlines()) == 1


def test_ctrl_c_ends_a_compile_and_leaves_nothing(cache, tmp_path):
    compiler, temporary = tmp_path / "cc", tmp_path / "temporary"
    temporary.mkdir()
    compiler.write_text('#!/bin/sh\nsleep 60\nexec gcc "$@"\n')
    compiler.chmod(0o755)
    # Whoever starts the tests in the background has the signal ignored.
    script = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\ntry:\n    "
        + "\n    ".join(code().strip().splitlines())
        + "\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    environment = {
        **os.environ,
        "KERNPACK_CACHE_DIR": str(cache),
        "CC": str(compiler),
        "TMPDIR": str(temporary),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", ALONE + script], env=environment, stdout=subprocess.PIPE, text=True
    )
    while not list(temporary.iterdir()) and process.poll() is None:
        time.sleep(0.05)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    shown, _ = process.communicate(timeout=50)
    assert shown == "interrupted\n" and process.returncode == 0
    assert time.monotonic() - begin < 20 and not list(temporary.iterdir())
    assert subprocess.run(["pgrep", "-f", str(compiler)]).returncode == 1
    # Whoever comes next is not kept waiting.
    run(code(), cache)


def test_what_a_fork_and_a_spawn_find(cache):
    script = (
        code()
        + """
import multiprocessing, numpy
def work(_):
    return float(f(numpy.ones(3, 'float32')).sum())
def again(_):
    global f
"""
        + "\n".join("    " + line for line in code().strip().splitlines()[1:])
        + """
    return work(_)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert pool.map(work, range(8)) == [6.0] * 8
        assert pool.map(again, range(8)) == [6.0] * 8
"""
    )
    run(script, cache)


def test_a_compiler_that_is_named_and_not_there_is_no_other(cache):
    run(code(), cache, CC="gcc")
    error = run(code(), cache, expect=1, CC="/nowhere/cc")
    assert "cannot run `/nowhere/cc`" in error
    assert "/nowhere/other" in run(code(), cache, expect=1, CC="/nowhere/other")
    assert "`clang-of-none`" in run(code(), cache, expect=1, CC="clang-of-none", PATH="/nowhere")
    # What was made by a compiler of that name stands.
    run(code(), cache, CC="gcc", PATH="/nowhere")


def test_a_compiler_that_is_a_script_and_changes_at_once(cache, tmp_path):
    compiler = tmp_path / "cc"
    script = code(SOURCE.replace("2 *", "FACTOR *"))
    script += "import numpy; print(f(numpy.ones(1, 'float32'))[0])"
    compiler.touch(mode=0o700)
    for factor in (2, 3, 4):
        compiler.write_text(f'#!/bin/sh\nexec gcc -DFACTOR={factor} "$@"\n')
        assert run(script, cache, CC=str(compiler)).strip() == f"{factor}.0"


@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
def test_a_header_that_appears_in_a_folder_of_a_variable(cache, tmp_path, variable):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir(), second.mkdir()
    (second / "factor.h").write_text("#define FACTOR 2\n")
    script = code("#include <factor.h>\n" + SOURCE.replace("2 *", "FACTOR *"))
    script += "import numpy; print(f(numpy.ones(1, 'float32'))[0])"
    folders = {variable: f"{first}:{second}"}
    assert run(script, cache, **folders).strip() == "2.0"
    (second / "factor.h").write_text("#define FACTOR 3\n")
    assert run(script, cache, **folders).strip() == "3.0"
    (first / "factor.h").write_text("#define FACTOR 4\n")
    assert run(script, cache, **folders).strip() == "4.0"


def test_a_folder_whose_name_is_no_text(tmp_path):
    cache = os.fsdecode(os.fsencode(tmp_path) + b"/cache-\xe9")
    environment = {**os.environ, "KERNPACK_CACHE_DIR": cache}
    for _ in range(2):
        script = ALONE + code() + "import numpy; assert f(numpy.ones(3, 'float32')).sum() == 6"
        subprocess.run([sys.executable, "-c", script], env=environment, check=True)
    assert os.listdir(cache) == ["v1"]


def test_a_folder_that_was_removed_under_the_process(cache, tmp_path):
    gone = tmp_path / "gone"
    script = (
        f"import os; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})\n"
    )
    script += code() + "import numpy; assert f(numpy.ones(3, 'float32')).sum() == 6"
    # The folder of this package is found by its path.
    source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "python"))
    for _ in range(2):
        run(script, cache, PYTHONPATH=source)


def test_a_folder_from_which_nothing_can_be_run(tmp_path):
    folder = tmp_path / "noexec"
    folder.mkdir(mode=0o700)
    options = ["-t", "tmpfs", "-o", "noexec,mode=700", "tmpfs", str(folder)]
    if subprocess.run(["mount", *options], capture_output=True).returncode != 0:
        pytest.skip("only root can mount")
    try:
        script = ALONE + code() + "import numpy; assert f(numpy.ones(3, 'float32')).sum() == 6"
        environment = {**os.environ, "KERNPACK_CACHE_DIR": str(folder)}
        for _ in range(2):
            subprocess.run([sys.executable, "-c", script], env=environment, check=True)
        assert list(folder.glob("v1/entries/*/package.so"))
    finally:
        subprocess.run(["umount", str(folder)], check=True)
