// SPDX-License-Identifier: Apache-2.0
//! The facts where a kernel is launched reach its code: the accesses that it has there.

use super::Kernels;
use crate::file::KernelFiles;
use crate::packed::functions;
use expect_test::{Expect, expect};
use kernpack_kernel_ir::Kernel;
use kernpack_syntax::Texts;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Expects the accesses to memory, and the conditions around, of each launch's kernel. Above the
/// packed function stands a kernel that copies four elements with each thread.
fn check(packed: &str, expected: Expect) {
    let kernel = "\
import kernpack as kp
@kp.kernel
def copy(x, y):
    row, i = kp.block_idx()[0], kp.thread_idx()[0]
    if i < x.shape[1] // 4:
        tile, place = (1, 4), (row, i)
        kp.autovec_copy(kp.local_tile(x, tile, place), kp.local_tile(y, tile, place))
";
    let kernels = launched(&format!("{kernel}{packed}"));
    expected.assert_eq(&kernels.iter().map(|kernel| accesses(kernel)).collect::<String>());
}

/// The first line of each launch's kernel.
fn heads(packed: &str) -> Vec<String> {
    let kernels = launched(&format!("import kernpack as kp\n{packed}"));
    let head = |kernel: &Arc<Kernel>| kernel.to_string().lines().next().map(str::to_string);
    kernels.iter().filter_map(head).collect()
}

/// The kernel of each launch of a file.
fn launched(text: &str) -> Vec<Arc<Kernel>> {
    let mut texts = Texts::default();
    let mut door = |path: &Path| match path.to_str() {
        Some("f.py") => Ok(text.as_bytes().to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let files = KernelFiles::read(Path::new("f.py"), &mut door, &mut texts);
    let files = files.unwrap_or_else(|problems| panic!("{problems}"));
    let (functions, problems) = functions(&files);
    assert!(problems.0.is_empty(), "{problems}");
    let mut kernels = Kernels::default();
    let mut launched = Vec::new();
    for function in &functions {
        let launches = kernels.settle(&files, &function.rows, function.unrelated);
        for launch in launches.unwrap_or_else(|problems| panic!("{problems}")) {
            let name = launch.kernel.to_string();
            let kernel = kernels.kernels.iter().find(|kernel| kernel.name == name);
            launched.push(kernel.expect("every launch has its kernel").clone());
        }
    }
    launched
}

fn accesses(kernel: &Kernel) -> String {
    let text = kernel.to_string();
    let words = ["load", "store"];
    let told = text.lines().filter_map(|line| {
        let line = line.split('@').next()?.trim();
        let at = words.iter().find_map(|word| line.find(word))?;
        let ty = line.split(" = ").next().and_then(|left| left.split(": ").nth(1));
        let tail = line.rfind("align").map_or("", |at| &line[at..]);
        let what = line[at..].split(' ').next()?;
        Some(format!("  {what} {} {tail}", ty.unwrap_or_default()).trim_end().to_string() + "\n")
    });
    format!("{}\n{}", kernel.name, told.collect::<String>())
}

#[test]
fn what_an_if_says_is_known_on_that_side_alone() {
    check(
        "\
@kp.jit(\"f(x: Tensor([m, n], float32, align=16), y: Tensor([m, n], float32, align=16, mut))\")
def f(x, y):
    m, n = x.shape
    if n % 8 == 0:
        copy(x, y).launch(grid=m, block=32)
    else:
        copy(x, y).launch(grid=m, block=32)
    if n == 64:
        copy(x, y).launch(grid=m, block=32)
    copy(x, y).launch(grid=m, block=32)
",
        expect![[r#"
            copy
              load float32x4 align 16
              store  align 16
            copy_2
              load float32 align 4
              load float32 align 4
              load float32 align 4
              load float32 align 4
              store  align 4
              store  align 4
              store  align 4
              store  align 4
            copy_3
              load float32x4 align 16
              store  align 16
            copy_2
              load float32 align 4
              load float32 align 4
              load float32 align 4
              load float32 align 4
              store  align 4
              store  align 4
              store  align 4
              store  align 4
        "#]],
    );
}

#[test]
fn what_was_named_before_the_if_is_known_too() {
    check(
        "\
@kp.jit(\"f(x: Tensor([m, n], float32), y: Tensor([m, n], float32, mut))\")
def f(x, y):
    a, b, n = kp.group_modes(x, 0, 1), y, x.shape[1]
    if kp.aligned(x, 16) and kp.aligned(y, 8):
        if n % 2 == 0:
            copy(a, b).launch(grid=1, block=32)
        elif n > 4:
            copy(a, b).launch(grid=2, block=32)
    elif n == 64:
        copy(a, b).launch(grid=3, block=32)
",
        expect![[r#"
            copy
              load float32x2 align 8
              load float32x2 align 8
              store  align 8
              store  align 8
            copy_2
              load float32 align 4
              load float32 align 4
              load float32 align 4
              load float32 align 4
              store  align 4
              store  align 4
              store  align 4
              store  align 4
            copy_3
              load float32 align 4
              load float32 align 4
              load float32 align 4
              load float32 align 4
              store  align 4
              store  align 4
              store  align 4
              store  align 4
        "#]],
    );
}

/// Rows of which each begins at a multiple of 16 bytes, as far as there are others.
#[test]
fn a_stride_that_no_step_takes_hinders_no_access() {
    check(
        "\
@kp.jit(\"f(x: Tensor([m, n], float32, strides=[s, 1], align=16), y: Tensor([m, n], float32, strides=[s, 1], align=16, mut)) where s % 4 == 0\")
def f(x, y):
    copy(x, y).launch(grid=x.shape[0], block=32)

@kp.jit(\"g(x: Tensor([m, n], float32, strides=[s, 1], align=16), y: Tensor([m, n], float32, strides=[t, 1], align=16, mut)) where s % 4 == 0 and t % 4 == 0\")
def g(x, y):
    copy(x, y).launch(grid=x.shape[0], block=32)
",
        expect![[r#"
            copy
              load float32x4 align 16
              store  align 16
            copy_2
              load float32 align 4
              load float32 align 4
              load float32 align 4
              load float32 align 4
              store  align 4
              store  align 4
              store  align 4
              store  align 4
        "#]],
    );
}

#[test]
fn what_an_absent_optional_leaves_of_a_rule_is_known() {
    check(
        "\
@kp.jit(\"f(x: Tensor([m, n], float32, align=16), y: Tensor([m, n], float32, align=16, mut), z: Optional[Tensor([n], float32)] = None) where n % 4 == 0 and aligned(z, 16)\")
def f(x, y, z):
    copy(x, y).launch(grid=x.shape[0], block=32)

@kp.jit(\"g(x: Tensor([m, n], float32, align=16), y: Tensor([m, n], float32, align=16, mut), z: Optional[Tensor([n], float32)] = None) where n % 4 == 0 or aligned(z, 16)\")
def g(x, y, z):
    copy(x, y).launch(grid=x.shape[0], block=32)
",
        expect![[r#"
            copy
              load float32x4 align 16
              store  align 16
            copy_2
              load float32 align 4
              load float32 align 4
              load float32 align 4
              load float32 align 4
              store  align 4
              store  align 4
              store  align 4
              store  align 4
        "#]],
    );
}

#[test]
fn a_launch_that_demands_something_has_a_kernel_of_its_own() {
    let packed = "\
@kp.kernel
def one(x):
    x[0] = 1
@kp.jit(\"f(x: Tensor([n], int32, mut))\")
def f(x):
    for registers in (None, 64, 128, 64):
        one(x).launch(grid=1, block=32, max_registers=registers)
    if x.shape[0] > 4:
        one(x).launch(grid=1, block=32, min_blocks=8)
    else:
        one(x).launch(grid=1, block=32, min_blocks=4)
";
    let heads: Vec<_> = heads(packed);
    expect![[r#"
        kernel one(v0 x: pointer.global int32 align 4 alone written, v1 n: int64 0..) block [32, 1, 1] files "f.py" {
        kernel one_2(v0 x: pointer.global int32 align 4 alone written, v1 n: int64 0..) block [32, 1, 1] max_registers 64 files "f.py" {
        kernel one_3(v0 x: pointer.global int32 align 4 alone written, v1 n: int64 0..) block [32, 1, 1] max_registers 128 files "f.py" {
        kernel one_2(v0 x: pointer.global int32 align 4 alone written, v1 n: int64 0..) block [32, 1, 1] max_registers 64 files "f.py" {
        kernel one_4(v0 x: pointer.global int32 align 4 alone written) block [32, 1, 1] min_blocks 8 files "f.py" {
        kernel one_5(v0 x: pointer.global int32 align 4 alone written, v1 n: int64 0..4) block [32, 1, 1] min_blocks 4 files "f.py" {"#]].assert_eq(&heads.join("\n"));
}
