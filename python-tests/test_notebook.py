# SPDX-License-Identifier: Apache-2.0
"""The notebook of the examples, run by IPython cell by cell: what it shows is what it is to show.
`BLESS=1` writes the outputs anew. And errors in cells, which IPython draws.
"""

import json
import os

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import kernpack as kp
from conftest import REPOSITORY

NOTEBOOK = REPOSITORY / "examples/notebook/kernels.ipynb"
# The forms of a result that a notebook keeps.
FORMS = ("text/plain", "image/svg+xml")


@pytest.fixture
def shell():
    """IPython, without a history and without colours."""
    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    made = InteractiveShell.instance(config=settings)
    yield made
    InteractiveShell.clear_instance()


def lines(text):
    return text.splitlines(keepends=True)


def ran(shell, text):
    """What a notebook shows below a cell."""
    drawn = []
    shell._showtraceback = lambda _, __, traceback: drawn.extend(traceback)
    with capture_output() as captured:
        result = shell.run_cell(text, store_history=True)
    outputs = []
    if result.result is None and captured.stdout:
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(captured.stdout)})
    if result.result is not None:
        data, _ = shell.display_formatter.format(result.result)
        data = {form: lines(data[form]) for form in FORMS if form in data}
        number = result.execution_count
        outputs.append(
            {
                "data": data,
                "execution_count": number,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    error = result.error_in_exec or result.error_before_exec
    if error is not None:
        outputs.append(
            {
                "ename": type(error).__name__,
                "evalue": str(error).splitlines()[0],
                "output_type": "error",
                "traceback": drawn,
            }
        )
    return outputs


def test_the_notebook_shows_what_it_is_to_show(shell):
    notebook = json.loads(NOTEBOOK.read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, 1):
        shown = ran(shell, "".join(cell["source"]))
        if os.environ.get("BLESS"):
            cell["outputs"], cell["execution_count"] = shown, number
        assert cell["outputs"] == shown, "".join(cell["source"])
        assert cell["execution_count"] == number
    if os.environ.get("BLESS"):
        NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    kinds = [output["output_type"] for cell in cells for output in cell["outputs"]]
    assert kinds.count("error") == 2 and kinds.count("execute_result") == 4


KERNEL = """
import torch
import kernpack as kp

@kp.kernel
def clear(x):
    x[kp.thread_idx()[0]] = {value}

@kp.jit
def cleared(x):
    clear(x).launch(grid=1, block=4)
"""


def test_an_error_shows_the_users_lines_alone(shell):
    """Those of cells by the numbers of these, those of modules by their files."""
    assert ran(shell, KERNEL.format(value="nothing")) == []
    assert ran(shell, "def tries(x):\n    return cleared.check(x)\n") == []
    [error] = ran(shell, "tries(torch.ones(4))")
    assert error["ename"] == "CompileError"
    assert error["evalue"] == "error[unknown-name]: `nothing` is not defined"
    led, shown = error["traceback"][:6], error["traceback"][6:]
    assert led == [
        "  Cell In[3], line 1, in <module>",
        "    tries(torch.ones(4))",
        "  Cell In[2], line 2, in tries",
        "    return cleared.check(x)",
        "CompileError:",
        "error[unknown-name]: `nothing` is not defined",
    ]
    assert shown[0] == "  --> Cell In[1]:6:29"
    assert not [line for line in error["traceback"] if "ipython-input" in line or "_jit" in line]


def test_findings_are_shown_as_they_are(shell):
    assert ran(shell, KERNEL.format(value="0.0")) == []
    [shown] = ran(shell, "cleared.check(torch.ones(3))")
    assert "".join(shown["data"]["text/plain"]).startswith(
        "error[index-out-of-bounds]: index 3 is out of bounds: the extent is 3, in thread (3, 0, 0) "
        "of block (0, 0, 0)\n --> Cell In[1]:6:5\n"
    )
    [shown] = ran(shell, "cleared.check(torch.ones(4))")
    assert shown["data"]["text/plain"] == ["nothing found"]


def test_a_kernel_is_another_where_its_cell_is(shell):
    """What was defined again is compiled again, and what is as before is found."""
    assert ran(shell, KERNEL.format(value="1.0")) == []
    for value in ("2.0", "1.0"):
        cell = KERNEL.format(value=value).partition("@kp.jit")[0]
        assert ran(shell, cell) == []
        ran(shell, "made = cleared.check(torch.zeros(4)).arguments[0].tolist()")
        assert shell.user_ns["made"] == [float(value)] * 4


def test_an_error_elsewhere_shows_its_file(tmp_path):
    """Without IPython, too: what it would draw names files."""
    path = tmp_path / "module.py"
    path.write_text(KERNEL.format(value="nothing") + "cleared.check(torch.ones(4))\n")
    code = compile(path.read_text(), str(path), "exec")
    with pytest.raises(kp.CompileError) as raised:
        exec(code, {"__name__": "module"})
    lines_of_it = raised.value._render_traceback_()
    assert f'  File "{path}", line 12, in <module>' in lines_of_it
    assert f"  --> {path}:7:29" in lines_of_it
