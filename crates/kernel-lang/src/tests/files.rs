// SPDX-License-Identifier: Apache-2.0
//! Files that import others, and what may stand in them.

use crate::file::{Decorator, DefinitionKind, KernelFiles};
use expect_test::{Expect, expect};
use kernpack_syntax::Texts;
use std::path::Path;

/// Expects what the functions of the first file are, or what is wrong.
fn check(files: &[(&str, &str)], expected: Expect) {
    let mut texts = Texts::default();
    let mut asked = Vec::new();
    let mut door = |path: &Path| {
        let path = path.to_str().unwrap_or_default();
        asked.push(path.to_string());
        match files.iter().find(|(name, _)| *name == path) {
            Some((_, text)) => Ok(text.as_bytes().to_vec()),
            None => Err(std::io::ErrorKind::NotFound.into()),
        }
    };
    let read = KernelFiles::read(Path::new(files[0].0), &mut door, &mut texts);
    let mut shown = match &read {
        Err(problems) => problems.in_texts(&texts) + "\n",
        Ok(files) => files.modules().iter().map(functions).collect(),
    };
    shown += &format!("asked for {}\n", asked.join(", "));
    expected.assert_eq(&shown);
}

fn functions(module: &crate::file::Module) -> String {
    let function = |one: &std::sync::Arc<crate::file::Definition>| {
        let kind = match &one.kind {
            DefinitionKind::Device => "device".to_string(),
            DefinitionKind::Kernel => "kernel".to_string(),
            DefinitionKind::Packed(Decorator::Written(call)) => {
                format!("packed, {} arguments", call.args.len())
            }
            DefinitionKind::Packed(Decorator::Said(_)) => "packed, as a program says".to_string(),
            DefinitionKind::Bare => "packed, without a signature".to_string(),
            DefinitionKind::Python(_) => "Python's".to_string(),
        };
        format!("  {}: {kind}\n", one.name())
    };
    let functions: String = module.functions.iter().map(function).collect();
    format!("{}\n{functions}", module.path.display())
}

#[test]
fn a_file_may_hold_what_python_uses() {
    let text = "\
\"\"\"Doc.\"\"\"
from __future__ import annotations
import torch, numpy as np
import kernpack as kp
from kernpack import kernel as gpu, jit

A, B = 1, 2
C = torch.zeros(3)

@gpu
def k(x): pass

@kp.kernel
def l(x): pass

@jit(\"f(x: Tensor([n], float32))\")
def f(x): pass

@torch.compile
def g(x): return {**x}

def test():
    with torch.no_grad():
        k(1)

if __name__ == \"__main__\":
    test()
";
    check(
        &[("dir/k.py", text)],
        expect![[r#"
        dir/k.py
          k: kernel
          l: kernel
          f: packed, 1 arguments
          g: Python's
          test: device
        asked for dir/k.py, dir/__future__.py, dir/torch.py, dir/numpy.py
    "#]],
    );
}

#[test]
fn kernel_files_beside_are_read_once() {
    check(
        &[
            (
                "dir/k.py",
                "import kernpack as kp\nfrom rows import WARP, f\nimport more.cols as cols\nfrom . import rows\nfrom ..up import g",
            ),
            ("dir/rows.py", "import kernpack as kp\nfrom up import h\nWARP = 32\ndef f(): pass"),
            ("dir/more/cols.py", "def c(): pass\nclass Any: pass"),
            ("up.py", "def g(): pass"),
        ],
        expect![[r#"
            dir/k.py
            dir/rows.py
              f: device
            dir/more/cols.py
              c: device
            up.py
              g: device
            asked for dir/k.py, dir/rows.py, dir/up.py, dir/more/cols.py, up.py
        "#]],
    );
}

#[test]
fn imports_that_lead_nowhere_are_named() {
    check(
        &[
            (
                "k.py",
                "import kernpack as kp\nfrom rows import WARP, f\nfrom .gone import a\nfrom kernpack import *",
            ),
            ("rows.py", "WARP = 32"),
        ],
        expect![[r#"
            error[import]: `rows.py` has no `f`
              2:24 `f` imported here
              help: define `f` there
            error[source-file]: cannot read `gone.py`: entity not found
              3:19 `a` imported here
            error[import]: names of kernpack are imported one by one
              4:22 `*`
              help: write `import kernpack as kp`
            asked for k.py, rows.py, gone.py
        "#]],
    );
    check(
        &[("a.py", "from b import x"), ("b.py", "from c import x"), ("c.py", "import b\nx = 1")],
        expect![[r#"
            error[import-cycle]: `b.py` imports itself
              c.py:1:8 `b` by this import
              help: move what both files need into a third
            asked for a.py, b.py, c.py
        "#]],
    );
}

#[test]
fn statements_and_decorators_that_do_nothing_are_named() {
    let text = "\
import kernpack as kp
print(1)
for i in range(3): pass
x.y = 1
a, b.c = 1, 2
class A: pass
@kp.kernel(1)
def k(): pass
@kp.jit
def l(): pass
@kp.exp
def m(): pass
";
    check(
        &[("k.py", text)],
        expect![[r#"
            error[module-statement]: a kernel file has imports, functions, classes and constants
              2:1 `print(1)` this is something else
              help: move it into a function, or behind `if __name__ == "__main__":`
            error[module-statement]: a kernel file has imports, functions, classes and constants
              3:1 `for i in range(3): pass` this is something else
              help: move it into a function, or behind `if __name__ == "__main__":`
            error[module-statement]: a kernel file has imports, functions, classes and constants
              4:1 `x.y` this is something else
              help: assign to a name
            error[module-statement]: a kernel file has imports, functions, classes and constants
              5:1 `a, b.c` this is something else
              help: assign to a name
            error[decorator]: `kp.kernel` takes no arguments
              7:2 `kp.kernel(1)`
              help: write `@kp.kernel`
            error[decorator]: `kp.exp` is no decorator
              11:2 `kp.exp`
              help: write `@kp.kernel`, or `@kp.jit("…")` with a signature
            asked for k.py
        "#]],
    );
}

#[test]
fn tuned_functions_are_read_as_if_they_were_not() {
    let text = "import kernpack as kp\n\n\n\
                @kp.autotune([kp.Config(B=b) for b in (1, 2)] + [*GRID], key=[lambda n: n])\n\
                @kp.jit(\"f(x: Tensor([n], float32))\")\ndef f(x):\n    pass\n";
    check(
        &[("k.py", text)],
        expect![[r#"
        k.py
          f: packed, 1 arguments
        asked for k.py
    "#]],
    );
}

#[test]
fn a_file_that_is_no_text_is_named() {
    let mut texts = Texts::default();
    let mut door = |_: &Path| Ok(b"a = '\xff'".to_vec());
    let read = KernelFiles::read(Path::new("k.py"), &mut door, &mut texts);
    let problems = read.expect_err("it is no text");
    assert_eq!(problems.0[0].code, "encoding");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let mut door = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
    let read = KernelFiles::read(Path::new("k.py"), &mut door, &mut Texts::default());
    let problems = read.expect_err("nobody has it").to_string();
    assert!(problems.contains("[source-file]: cannot read `k.py`"), "{problems}");
}

#[test]
fn names_of_other_files_are_used() {
    let mut texts = Texts::default();
    let files = [
        (
            "k.py",
            "import kernpack as kp\nimport rows\nfrom rows import double as twice\n@kp.kernel\ndef k(out):\n    out[0] = twice(rows.ONE) + rows.TABLE[1]\n",
        ),
        (
            "rows.py",
            "ONE, TWO = 1, 2.5\nTABLE = (ONE, TWO * ONE)\ndef double(a):\n    return a + a\n",
        ),
    ];
    let mut door = |path: &Path| match files.iter().find(|(name, _)| Path::new(name) == path) {
        Some((_, text)) => Ok(text.as_bytes().to_vec()),
        None => Err(std::io::ErrorKind::NotFound.into()),
    };
    let files =
        KernelFiles::read(Path::new("k.py"), &mut door, &mut texts).expect("they are right");
    let kernel = files.function("k").expect("it is there");
    let arguments = [super::written("out", kernpack_kernel_ir::Scalar::F32, &["n"])];
    let (block, symbol) = ([None; 3], "k");
    let request = crate::elaborate::Request {
        kernel,
        arguments: &arguments,
        dtypes: &[],
        block,
        archs: &[],
        symbol,
        surroundings: None,
        is_checked: false,
    };
    let instance = crate::elaborate::elaborate(&files, &request);
    let instance = instance.unwrap_or_else(|problems| panic!("{}", problems.in_texts(&texts)));
    assert!(instance.kernel.to_string().contains("const 4.5"), "{}", instance.kernel);
}
