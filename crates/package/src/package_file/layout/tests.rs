// SPDX-License-Identifier: Apache-2.0
//! Layouts of launches as package files have them, in both of the forms that a launch may have.

use crate::package_file::tests::parse;
use crate::package_file::tests::{FUNCTION, HEADER, expect_problems, on_gpu};
use expect_test::{Expect, expect};
use std::path::Path;

/// Compares the problems of a launch of PTX that is written in short, with these keys.
fn expect_short(keys: &str, expected: Expect) {
    expect_problems(&on_gpu(&format!("source = {{ ptx = 'b' }}\n{keys}")), expected);
}

/// Compares the problems of a `[[function.launch]]` of PTX with these keys.
fn expect_listed(keys: &str, expected: Expect) {
    let launch = "[[function.launch]]\nsource = { ptx = 'b' }\nkernel = 'k'\nargs = ['x']";
    expect_problems(&format!("{HEADER}{FUNCTION}{launch}\n{keys}"), expected);
}

#[test]
fn a_launch_in_short_has_its_layout_in_launch() {
    expect_short(
        "",
        expect![[r#"
            error[missing-key]: a launch on a GPU needs a layout
              3:1 `[[function]]` expected `launch`
              help: write `launch = { grid = […], block = […] }`"#]],
    );
    expect_short(
        "grid = [1]\nblock = [32]",
        expect![[r#"
            error[unknown-key]: a function has no key `grid`
              8:1 `grid` unknown key
              help: write `launch = { grid = …, block = … }`
            error[unknown-key]: a function has no key `block`
              9:1 `block` unknown key
              help: write `launch = { grid = …, block = … }`"#]],
    );
    expect_short(
        "smem = 16\nlaunch = { grid = [1], block = [32] }",
        expect![[r#"
            error[unknown-key]: a function has no key `smem`
              8:1 `smem` unknown key
              help: move `smem` into `launch = { … }`"#]],
    );
    expect_short(
        "lunch = { grid = [1], block = [32] }",
        expect![[r#"
            error[unknown-key]: a function has no key `lunch`
              8:1 `lunch` unknown key
              help: did you mean `launch`?"#]],
    );
    expect_short(
        "launch = 1",
        expect![[r#"
            error[value-type]: `launch` is of type integer
              8:10 `1` expected a table such as `{ grid = ["n"], block = [128] }`"#]],
    );
    expect_short(
        "launch = {}",
        expect![[r#"
            error[missing-key]: a launch on a GPU needs `grid`
              8:10 `{}` expected `grid`
              help: one to three numbers or expressions, x first
            error[missing-key]: a launch on a GPU needs `block`
              8:10 `{}` expected `block`
              help: one to three numbers or expressions, x first"#]],
    );
}

#[test]
fn conditions_stand_in_lists() {
    expect_short(
        "when = 'n > 1'\nlaunch = { grid = [1], block = [32] }",
        expect![[r#"
            error[unknown-key]: a function has no key `when`
              8:1 `when` unknown key
              help: write a launch with `when` as a `[[function.launch]]`"#]],
    );
    expect_short(
        "launch = { grid = [1], block = [32], when = 'n > 1' }",
        expect![[r#"
            error[unknown-key]: a launch's layout has no key `when`
              8:38 `when` unknown key
              help: write a launch with `when` as a `[[function.launch]]`"#]],
    );
    let host = "source = { host = 'f.c' }\nkernel = 'f'\nargs = []\nwhen = 'n > 1'";
    expect_problems(
        &format!("{HEADER}{FUNCTION}{host}"),
        expect![[r#"
            error[unknown-key]: a function has no key `when`
              8:1 `when` unknown key
              help: write a launch with `when` as a `[[function.launch]]`"#]],
    );
}

#[test]
fn keys_beside_a_list_belong_into_it() {
    let launch = "[[function.launch]]\nsource = { ptx = 'b' }\nkernel = 'k'\nargs = []\ngrid = [1]\nblock = [1]";
    expect_problems(
        &format!("{HEADER}{FUNCTION}grid = [1]\nwhen = 'n > 1'\n{launch}"),
        expect![[r#"
            error[unknown-key]: a function has no key `grid`
              5:1 `grid` unknown key
              help: move `grid` into a `[[function.launch]]`
            error[unknown-key]: a function has no key `when`
              6:1 `when` unknown key
              help: write a launch with `when` as a `[[function.launch]]`"#]],
    );
    expect_problems(
        &format!("{HEADER}{FUNCTION}block = [1]"),
        expect![[r#"
            error[unknown-key]: a function has no key `block`
              5:1 `block` unknown key
              help: write `launch = { block = … }`"#]],
    );
}

#[test]
fn a_misspelt_key_is_the_only_problem() {
    expect_short(
        "launch = { gird = [1], block = [32] }",
        expect![[r#"
            error[unknown-key]: a launch's layout has no key `gird`
              8:12 `gird` unknown key
              help: did you mean `grid`?"#]],
    );
    expect_short(
        "launch = { grid = [1], block = [32], shared = 4 }",
        expect![[r#"
            error[unknown-key]: a launch's layout has no key `shared`
              8:38 `shared` unknown key
              help: use one of `grid`, `block`, `smem`, `attr`"#]],
    );
    expect_listed(
        "gird = [1]\nblock = [32]",
        expect![[r#"
            error[unknown-key]: a launch has no key `gird`
              9:1 `gird` unknown key
              help: did you mean `grid`?"#]],
    );
    expect_problems(
        &format!("{HEADER}[[functions]]\nsignature = 'f(n: int32)'"),
        expect![[r#"
            error[unknown-key]: a package file has no key `functions`
              3:3 `functions` unknown key
              help: did you mean `function`?"#]],
    );
}

#[test]
fn every_key_is_read() {
    expect_listed(
        "grid = [true, 'n +']\nblock = 1\nsmem = []\nattr = { cluster = 2, cooperative = 1, pdl = 1, priority = true, stream = 1, warps = 4 }",
        expect![[r#"
            error[value-type]: an item of `grid` is of type boolean
              9:9 `true` expected an integer, or an expression in a string
            error[syntax]: expected an expression, found the end
              9:19 `'` expected an expression
            error[value-type]: `block` is of type integer
              10:9 `1` expected an array such as `["ceildiv(n, 256)", 2]`
            error[value-type]: `smem` is of type array
              11:8 `[]` expected an integer, or an expression in a string
            error[value-type]: `cluster` is of type integer
              12:20 `2` expected an array such as `["ceildiv(n, 256)", 2]`
            error[value-type]: `cooperative` is of type integer
              12:37 `1` expected `true` or `false`
            error[value-type]: `pdl` is of type integer
              12:46 `1` expected `true` or `false`
            error[value-type]: `priority` is of type boolean
              12:60 `true` expected an integer, or an expression in a string
            error[value-type]: `stream` is of type integer
              12:75 `1` expected a string
            error[unknown-key]: `attr` has no key `warps`
              12:78 `warps` unknown key
              help: use one of `cluster`, `cooperative`, `pdl`, `priority`, `stream`"#]],
    );
}

#[test]
fn problems_of_the_plan_are_found_at_their_number() {
    expect_listed(
        "grid = ['n', 'm']\nblock = [1, 'zz']\nsmem = 'qq'\nattr = { cluster = [1, 2, 'c'], priority = 'p', stream = 's' }",
        expect![[r#"
            error[unbound-symbol]: `m` in `grid[1]` of launch 0 has no value
              9:15 `m`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[unbound-symbol]: `zz` in `block[1]` of launch 0 has no value
              10:14 `zz`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[unbound-symbol]: `qq` in `smem` of launch 0 has no value
              11:9 `qq`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[unbound-symbol]: `c` in `cluster[2]` of launch 0 has no value
              12:28 `c`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[unbound-symbol]: `p` in `priority` of launch 0 has no value
              12:45 `p`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[launch]: `s`, the stream of launch 0, is no `Stream` parameter
              12:58 `'s'`
              help: leave `stream` out to launch to the environment's stream"#]],
    );
    expect_short(
        "launch = { grid = ['n', 'm', 'k'], block = [1] }",
        expect![[r#"
            error[unbound-symbol]: `m` in `grid[1]` of launch 0 has no value
              8:26 `m`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            error[unbound-symbol]: `k` in `grid[2]` of launch 0 has no value
              8:31 `k`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`"#]],
    );
}

/// An attribute of the device has a value in every condition of a function that launches on a GPU,
/// where something else is wrong too.
#[test]
fn facts_of_the_device_are_not_among_the_problems() {
    expect_listed(
        "when = 'device.cc >= 90'\ngrid = ['device.sm_count']\nblock = ['b']",
        expect![[r#"
            error[unbound-symbol]: `b` in `block[0]` of launch 0 has no value
              11:11 `b`
              help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`"#]],
    );
}

#[test]
fn numbers_that_no_call_can_launch_with() {
    expect_listed(
        "grid = [-1]\nblock = [0]\nsmem = -1\nattr = { cluster = [0], priority = 99999999999 }",
        expect![[r#"
            error[launch-range]: `grid[0]` of launch 0 is out of range: expected 0 to 2147483647, found `-1`
              9:9 `-1`
            error[launch-range]: `block[0]` of launch 0 is out of range: expected 1 to 2147483647, found `0`
              10:10 `0`
            error[launch-range]: `smem` of launch 0 is out of range: expected 0 to 2147483647, found `-1`
              11:8 `-1`
            error[launch-range]: `cluster[0]` of launch 0 is out of range: expected 1 to 2147483647, found `0`
              12:21 `0`
            error[launch-range]: `priority` of launch 0 is out of range: expected -2147483648 to 2147483647, found `99999999999`
              12:36 `99999999999`"#]],
    );
    expect_listed(
        "grid = [1, 65536]\nblock = ['4 - 4']\nsmem = '9223372036854775807 + 1'",
        expect![[r#"
            error[launch-range]: `grid[1]` of launch 0 is out of range: expected 0 to 65535, found `65536`
              9:12 `65536`
            error[launch-range]: `block[0]` of launch 0 is out of range: expected 1 to 2147483647, found `4 - 4`
              10:10 `'4 - 4'`
            error[launch-range]: `smem` of launch 0 is out of range: expected 0 to 2147483647, found `9223372036854775807 + 1`
              11:8 `'9223372036854775807 + 1'`"#]],
    );
    expect_listed(
        "grid = ['min(n, 0 - 1)']\nblock = ['1 + max(n, 2147483647)']",
        expect![[r#"
            error[launch-range]: `grid[0]` of launch 0 is out of range: expected 0 to 2147483647, found `min(n, 0 - 1)`
              9:9 `'min(n, 0 - 1)'`
            error[launch-range]: `block[0]` of launch 0 is out of range: expected 1 to 2147483647, found `1 + max(n, 2147483647)`
              10:10 `'1 + max(n, 2147483647)'`"#]],
    );
    // These only look alike.
    let text = on_gpu(
        "source = { ptx = 'b' }\nlaunch = { grid = [0, 65535], block = ['n - n'], smem = 0, attr = { priority = -5 } }",
    );
    parse(&text, Path::new("")).expect("a call may launch with these");
}

#[test]
fn a_workspace_is_for_the_environments_stream() {
    let parsed = |args: &str, attr: &str| {
        let text = format!(
            "{HEADER}[[function]]\nsignature = 'f(x: Tensor([n], float32), s: Stream)'\nworkspace = {{ w = 'Tensor([n], float32, align=16)' }}\n\
            source = {{ ptx = 'a' }}\nkernel = 'k'\nargs = [{args}]\nlaunch = {{ grid = [1], block = [1]{attr} }}"
        );
        parse(&text, Path::new("")).map(drop).map_err(|found| found.to_string())
    };
    let attr = ", attr = { stream = 's' }";
    assert_eq!(parsed("'x'", attr), Ok(()));
    assert_eq!(parsed("'w'", ""), Ok(()));
    for args in ["'x', 'w'", "'struct(n, w)'", "'tma(w, box=[64])'"] {
        let found = parsed(args, attr).expect_err("the memory may be in use");
        let expected = "launch 0 passes the workspace `w` on the stream `s`: its memory goes back to the environment's stream";
        assert!(found.contains(expected), "{args}: {found}");
        assert_eq!(found.matches("error").count(), 1, "{found}");
    }
}
