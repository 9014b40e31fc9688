// SPDX-License-Identifier: Apache-2.0
//! Arguments of a package file in a kernel.

use super::{Described, WrittenArg, WrittenKernel, launch};
use crate::file::KernelFiles;
use crate::packed::tests::show_arg;
use expect_test::{Expect, expect};
use kernpack_syntax::{Diagnostics, Placed, Texts};
use kernpack_validators::{Geometry, Signature, When, parse_kernel_arg, parse_literal};
use std::fmt::Write;
use std::path::Path;

const SIGNATURE: &str = "f(x: Tensor([m, n], T), s: String, k: int32, w: Optional[Tensor([n], T)] \
                         = None, o: DataType = float32) where T in {float16, float32}, \
                         o in {float16, float32}, m == 4";

/// Expects what a kernel with one parameter is passed for each text, for the first combination of
/// dtypes, or why it is passed nothing.
fn check(args: &[&str], expected: Expect) {
    let mut shown = String::new();
    for arg in args {
        writeln!(shown, "{arg} => {}", passed(arg)).expect("writing to a string");
    }
    expected.assert_eq(&shown);
}

fn passed(text: &str) -> String {
    let arg = match parse_literal(text) {
        Ok(literal) => WrittenArg::Literal(literal),
        Err(_) => match parse_kernel_arg(text) {
            Ok(arg) => WrittenArg::Arg(arg),
            Err(problems) => return problems.to_string(),
        },
    };
    let source = b"import kernpack as kp\n@kp.kernel\ndef k(a):\n    pass\n";
    let mut door = |_: &Path| Ok(source.to_vec());
    let files = KernelFiles::read(Path::new("k.py"), &mut door, &mut Texts::default());
    let files = files.unwrap_or_else(|problems| panic!("{problems}"));
    let signature: Signature = SIGNATURE.parse().expect("it is one");
    let kernel = Placed::from("k".to_string());
    let (args, geometry) = ([Placed::from(arg)], Geometry::new(vec![], vec![]));
    let written = WrittenKernel { kernel: &kernel, args: &args, geometry: &geometry };
    let whens = [&When::Always];
    let described = Described { signature: &signature, workspaces: &[], whens: &whens, index: 0 };
    let told = |problems: Diagnostics| {
        let told = problems.into_iter().map(|one| match one.help {
            Some(help) => format!("[{}] {}; {help}", one.code, one.message),
            None => format!("[{}] {}", one.code, one.message),
        });
        told.collect::<Vec<_>>().join(" ")
    };
    match launch(&files, written, described) {
        Ok(rows) => show_arg(&rows[0].launches[0].args[0]),
        Err(problems) => told(problems),
    }
}

#[test]
fn constants_are_part_of_the_code() {
    check(
        &[
            "4",
            "-7",
            "1.5",
            "1e-6",
            "True",
            "None",
            "\"relu\"",
            "float16",
            "bool",
            "T",
            "m",
            "7: uint8",
            "1: float16",
            "inf: float32",
            "true: bool",
            "1: bool",
        ],
        expect![[r#"
            4 => 4
            -7 => -7
            1.5 => 1.5
            1e-6 => 1e-6
            True => true
            None => None
            "relu" => "relu"
            float16 => float16
            bool => bool
            T => float16
            m => 4
            7: uint8 => uint8 7
            1: float16 => float16 1.0
            inf: float32 => float32 inf
            true: bool => bool true
            1: bool => bool true
        "#]],
    );
}

#[test]
fn tensors_and_numbers_are_the_calls_own() {
    check(
        &["x", "w", "k", "n", "n // 2", "n: int32", "x.shape[1]"],
        expect![[r#"
        x => x: float16 (4,n):(n,1) align 2 alone
        w => w.given ? w: float16 (n):(1) align 2 alone
        k => k: int32 -2147483648..2147483647
        n => n: int64 0..
        n // 2 => n // 2: int64 0..4611686018427387903
        n: int32 => n: int32 0..
        x.shape[1] => n: int64 0..
    "#]],
    );
}

#[test]
fn what_enters_no_kernel_is_named() {
    check(
        &["s", "o", "0: pointer", "x: pointer", "struct(n: int32)", "float8_e4m3fn", "y"],
        expect![[r#"
            s => [packed-argument] the String `s` chooses launches, and enters no kernel; ask for it by an `if`, and pass a constant
            o => [packed-argument] the DataType `o` chooses launches, and enters no kernel; name the dtype of a tensor, `x.element_type`
            0: pointer => [packed-argument] `0: pointer` enters no kernel that is written here; pass a tensor, or an Optional that is `None`
            x: pointer => [packed-argument] `x: pointer` enters no kernel that is written here; pass the tensor itself
            struct(n: int32) => [packed-argument] `struct(n: int32)` enters no kernel that is written here; pass its parts as arguments
            float8_e4m3fn => [packed-argument] kernels have no float8_e4m3fn yet; choose another dtype
            y => y: int64 ..
        "#]],
    );
}
