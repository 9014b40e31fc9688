// SPDX-License-Identifier: Apache-2.0
//! Arguments of kernels, as package files have them: constants, and those of a launch without
//! `args`.

use super::{HEADER, expect_package, expect_problems};
use crate::package::WrittenLaunch;
use expect_test::{Expect, expect};

/// A function with one launch of a C function that has these lines.
fn one(signature: &str, lines: &str) -> String {
    format!(
        "{HEADER}[[function]]\nsignature = '{signature}'\nsource = {{ host = 'f.c' }}\nkernel = 'f'\n{lines}\n"
    )
}

fn args(text: &str) -> Vec<Vec<String>> {
    let package = expect_package(text);
    let args = |launch: &WrittenLaunch| match launch {
        WrittenLaunch::Whole(launch) => launch.args.iter().map(ToString::to_string).collect(),
        WrittenLaunch::Triton(launch) => launch.args.iter().map(ToString::to_string).collect(),
        launch => panic!("{launch:?}"),
    };
    package.functions.iter().flat_map(|function| function.launches.iter().map(args)).collect()
}

fn expect_of_args(args: &str, expected: Expect) {
    expect_problems(&one("f(x: Tensor([n], float32))", &format!("args = [{args}]")), expected);
}

#[test]
fn constants_that_do_not_fit_their_types() {
    expect_of_args(
        "'x', '300: uint8', '0.5', 'struct(n, 2: bool)', '1e400: float32', '0.5: int33'",
        expect![[r#"
            error[constant]: `300` is no value of the C type uint8, expected to be in uint8 range [0, 255]
              7:15 `300` does not fit
            error[constant]: the constant `0.5` has no C type
              7:29 `0.5` expected a colon and a type behind it
              help: write `0.5: float32`, or another type
            error[constant]: `2` is no value of the C type bool, expected `true` or `false`
              7:46 `2` does not fit
            error[bad-number]: not a number that fits 64 bits
              7:58 `1e400` expected a decimal integer or float
            error[syntax]: expected a C type: bool, an integer, a float or `pointer`, found `int33`
              7:81 `int33` expected a C type: bool, an integer, a float or `pointer`
              help: did you mean `int32`?"#]],
    );
    expect_of_args(
        "'x', 'True: bool', 'n + false', '255 + 1: uint8'",
        expect![[r#"
            error[unbound-symbol]: `True` in `True: bool` of launch 0 is a constant, not an integer
              7:15 `True`
              help: pass it to a kernel as `true: bool`: expressions are of integers
            error[unbound-symbol]: `false` in `n + false` of launch 0 is a constant, not an integer
              7:33 `false`
              help: pass it to a kernel as `false: bool`: expressions are of integers
            error[constant]: `256` is no value of the C type uint8, expected to be in uint8 range [0, 255]
              7:41 `'255 + 1: uint8'`"#]],
    );
}

#[test]
fn without_args_a_kernel_is_passed_all_that_the_function_takes() {
    let signature =
        "f(x: Tensor([n], T), k: int8, p: Pointer) -> y: Tensor([n], T) where T in {int8, float32}";
    assert_eq!(args(&one(signature, "")), [["x", "k", "p", "y"]]);
    assert_eq!(args(&one("f(k: uint64 = 3)", "args = []")), [[""; 0]]);
    let launch = "[[function.launch]]\nsource = { host = 'f.c' }\nkernel = 'f'\n";
    let listed = format!(
        "{HEADER}[[function]]\nsignature = 'f(x: Tensor([n], int8), b: bool)'\n{launch}{launch}args = ['n']\n\
         [[function]]\nsignature = 'g()'\n{launch}"
    );
    assert_eq!(args(&listed), [vec!["x", "b"], vec!["n"], vec![]]);
    let triton = "[[function]]\nsignature = 'f(x: Tensor([n], int8, mut), b: int32)'\n\
        source = { triton = 'f.cubin' }\nlaunch = { grid = [1] }\n";
    assert_eq!(args(&format!("{HEADER}{triton}")), [["x", "b"]]);
}

#[test]
fn args_are_written_where_they_could_be_several_things() {
    expect_problems(
        &one("f(x: Tensor([n], int8), s: Shape([2]), o: Optional[int32] = None)", ""),
        expect![[r#"
            error[missing-key]: the launch has no `args`, and the parameter `s` is no tensor, scalar or pointer
              3:1 `[[function]]` expected `args`
              help: write what the kernel takes, in order; `args = []` for nothing"#]],
    );
    let workspace = "workspace = { ws = 'Tensor([n], int8)', other = 'Tensor([n], int8)' }";
    expect_problems(
        &one("f(x: Tensor([n], int8))", workspace),
        expect![[r#"
            error[missing-key]: the launch has no `args`, and the function has the workspace `ws`
              3:1 `[[function]]` expected `args`
              help: write what the kernel takes, in order; `args = []` for nothing"#]],
    );
}

#[test]
fn other_problems_do_not_ask_for_args() {
    let misspelt = one("f(x: Tensor([n], int8), s: Stream)", "arg = ['x']");
    expect_problems(
        &misspelt,
        expect![[r#"
            error[unknown-key]: a function has no key `arg`
              7:1 `arg` unknown key
              help: did you mean `args`?"#]],
    );
    expect_problems(
        &one("f(x: Tensor([n], in8))", ""),
        expect![[r#"
            error[unknown-dtype]: `in8` is no dtype
              4:31 `in8` expected a dtype or a dtype variable
              help: did you mean `int8`?"#]],
    );
}
