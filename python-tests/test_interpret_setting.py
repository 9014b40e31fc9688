# SPDX-License-Identifier: Apache-2.0
"""Programs in an environment with `KERNPACK_INTERPRET`."""

import os
import subprocess
import sys
import textwrap
import types

import pytest

from kernpack import _graphs, _interpreted

HEAD = """
import kernpack as kp, numpy as np, torch

@kp.kernel
def scale_elements(x, y, by):
    i = kp.block_idx()[0] * 64 + kp.thread_idx()[0]
    if i < x.shape[0]:
        y[i] = x[i] * by

@kp.jit
def scale(x, y, by=2.0):
    assert x.shape == y.shape
    scale_elements(x, y, by).launch(grid=kp.ceil_div(x.shape[0], 64), block=64)

@kp.jit
def scaled(x):
    y = kp.zeros(x.shape, x.element_type)
    scale_elements(x, y, 3.0).launch(grid=kp.ceil_div(x.shape[0], 64), block=64)
    return y

@kp.jit("past(x: Tensor([n], float32, mut))")
def past(x):
    scale_elements(x, kp.view(x, kp.make_layout(1)), 1.0).launch(grid=1, block=64)
"""


def run(program, setting="1"):
    text = HEAD + textwrap.dedent(program)
    program = (
        "import linecache, sys\n"
        "text = sys.stdin.read()\n"
        "linecache.cache['p.py'] = (len(text), None, text.splitlines(True), 'p.py')\n"
        "exec(compile(text, 'p.py', 'exec'))\n"
    )
    command = [sys.executable, "-c", program]
    environment = {**os.environ, "KERNPACK_INTERPRET": setting}
    return subprocess.run(
        command, input=text, env=environment, capture_output=True, text=True, timeout=300
    )


def expect(program, output, setting="1"):
    ran = run(program, setting)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == output


def test_calls_write_and_return_what_the_kernels_do():
    expect(
        """
        x, y = torch.arange(4.0), torch.zeros(4)
        print(scale(x, y), y.tolist())
        scale(x, y, by=-1.0)
        print(y.tolist())
        a = np.arange(6, dtype="float32")
        scale(a[:3], a[3:])
        print(a.tolist(), scaled(a).tolist(), type(scaled(x)).__name__)
        # A view with strides, whose gaps stay as they are.
        t = torch.zeros(4, 2)
        scale(x, t[:, 1])
        print(t.tolist())
        leaf = torch.zeros(4, requires_grad=True)
        scale(x, leaf)
        print(leaf.tolist())
        made = kp.compile(scale, kp.fake_tensor(kp.float32, ("n",)), kp.fake_tensor(kp.float32, ("n",)))
        made(x, y, 5.0)
        made.prepare(y, x)()
        print(y.tolist(), x.tolist())
        import tvm_ffi
        held = np.zeros(4, "float32")
        scale(x, tvm_ffi.from_dlpack(held))
        print(held.tolist())
        """,
        "None [0.0, 2.0, 4.0, 6.0]\n"
        "[-0.0, -1.0, -2.0, -3.0]\n"
        "[0.0, 1.0, 2.0, 0.0, 2.0, 4.0] [0.0, 3.0, 6.0, 0.0, 6.0, 12.0] Tensor\n"
        "[[0.0, 0.0], [0.0, 2.0], [0.0, 4.0], [0.0, 6.0]]\n"
        "[0.0, 2.0, 4.0, 6.0]\n"
        "[0.0, 5.0, 10.0, 15.0] [0.0, 10.0, 20.0, 30.0]\n"
        "[0.0, 20.0, 40.0, 60.0]\n",
    )


def test_what_is_found_is_raised_and_nothing_is_written():
    expect(
        """
        x = torch.ones(3)
        try:
            past(x)
        except kp.CheckError as error:
            print(error.findings[0].code, error.findings[0].line, x.tolist())
        try:
            scale(x, torch.ones(2))
        except ValueError as error:
            print(str(error)[:23])
        """,
        "index-out-of-bounds 8 [1.0, 1.0, 1.0]\nMismatched y.shape[0] o\n",
    )


def test_what_has_no_text_of_kernels_says_so(tmp_path):
    expect(
        f"""
        made = kp.compile(past, past.signature)
        made.export({str(tmp_path / "past.so")!r})
        try:
            kp.load_module({str(tmp_path / "past.so")!r}).past(torch.ones(3))
        except TypeError as error:
            print("is not known" in str(error))
        import kernpack.jax, jax.numpy as jnp
        try:
            kp.jax.call(made)
        except TypeError as error:
            print(error)
        host = kp.host("void f(float* x) {{ x[0] = 5; }}", "f(x: Tensor([1], float32, mut))", args=["x"])
        x = torch.zeros(1)
        host(x)
        print(x.tolist(), kp.jax.call(host)())
        try:
            scale(jnp.ones(2), jnp.ones(2))
        except TypeError as error:
            print("immutable" in str(error))
        """,
        "True\n"
        "`past` cannot stand in programs of JAX: KERNPACK_INTERPRET=1 has its kernels run on the"
        " interpreter; call it by itself, or unset that\n"
        "[5.0] [5.]\n"
        "True\n",
    )


def test_operators_of_pytorch_run_there():
    expect(
        """
        import kernpack.torch
        made = kp.compile(scaled, kp.fake_tensor(kp.float32, ("n",)))
        op = kp.torch.op("interpreted::scaled", made)
        print(op(torch.arange(3.0)).tolist())
        compiled = torch.compile(lambda x: op(x) + 1, fullgraph=True, backend="eager")
        print(compiled(torch.arange(3.0)).tolist())
        """,
        "[0.0, 3.0, 6.0]\n[1.0, 4.0, 7.0]\n",
    )


@pytest.mark.parametrize("setting", ["", "0"])
def test_it_is_off(setting):
    program = """
        try:
            scale(torch.ones(2), torch.ones(2))
        except ValueError as error:
            print("expected cuda, got cpu" in str(error))
        """
    expect(program, "True\n", setting)


def test_no_graph_holds_a_call_that_is_interpreted(monkeypatch):
    monkeypatch.setattr(_graphs, "is_capturing", lambda: True)
    function = types.SimpleNamespace(name="f", device_type="cuda")
    with pytest.raises(RuntimeError, match="`f` is called while a CUDA graph is captured"):
        _interpreted.call(function, ())
    # Programs of JAX may have it here, as the setting is off.
    _interpreted.refuse_program(function)


def test_another_setting_is_refused():
    ran = run("", "yes")
    assert ran.returncode == 1
    assert "KERNPACK_INTERPRET is `yes`: expected `1`, `0`, or nothing" in ran.stderr
