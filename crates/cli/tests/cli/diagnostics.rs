// SPDX-License-Identifier: Apache-2.0
//! Diagnostics of package files, drawn and as JSON.

use crate::bench::Bench;
use expect_test::{Expect, expect};

/// Compares what `build` says about the text of a package file.
fn expect_drawn(text: &str, expected: Expect) {
    let bench = Bench::with("p.toml", text);
    bench.expect(&["build", "p.toml", "-o", "p.so"], expected);
    assert_eq!(bench.names("."), ["p.toml"]);
}

#[test]
fn toml_that_is_none() {
    expect_drawn(
        "[package]\nname = \"p\nlink = [1\n",
        expect![[r#"
            exit 1
            err: error[toml]: invalid basic string
            err:  --> p.toml:2:10
            err:   |
            err: 2 | name = "p
            err:   |          ^ expected `"`
            err: 
            err: error[toml]: unclosed array
            err:  --> p.toml:3:10
            err:   |
            err: 3 | link = [1
            err:   |          ^ expected `]`
        "#]],
    );
}

#[test]
fn keys_that_are_missing() {
    expect_drawn(
        "[package]\nname = \"p\"\n[[function]]\nkernel = \"f\"\n",
        expect![[r#"
            exit 1
            err: error[missing-key]: the function needs a `signature`
            err:  --> p.toml:3:1
            err:   |
            err: 3 | [[function]]
            err:   | ^^^^^^^^^^^^ expected `signature`
            err: 
            err: error[missing-key]: the launch has no `source`
            err:  --> p.toml:3:1
            err:   |
            err: 3 | [[function]]
            err:   | ^^^^^^^^^^^^ expected `source`
        "#]],
    );
}

#[test]
fn dtype_variables_without_a_rule_and_without_a_tensor() {
    expect_drawn(
        r#"
[package]
name = "p"
[[function]]
signature = '''
f(a: Tensor([n], T),
  b: Tensor([n], int8)) where U in {int8}
'''
"#,
        expect![[r#"
            exit 1
            err: error[dtype-variable]: the dtype variable `T` has no rule
            err:  --> p.toml:6:18
            err:   |
            err: 6 | f(a: Tensor([n], T),
            err:   |                  ^ no rule says which dtypes it may be
            err:   |
            err:   = help: say which dtypes there are kernels for: `where T in {float16, bfloat16}`; or correct the name, if `T` should be a dtype
            err: 
            err: error[unused-dtype-variable]: no tensor has the dtype variable `U`
            err:  --> p.toml:7:31
            err:   |
            err: 7 |   b: Tensor([n], int8)) where U in {int8}
            err:   |                               ^^^^^^^^^^^ this rule says nothing
        "#]],
    );
}

#[test]
fn keys_that_are_unknown_or_of_later_versions() {
    expect_drawn(
        r#"
[package]
nam = "p"
name = "p"
[[function]]
signature = "f(x: Tensor([n], float32))"
source = { kernel = "f" }
kernel = "f"
args = ["x"]
launch = { grid = ["n"], block = [128] }
"#,
        expect![[r#"
            exit 1
            err: error[unknown-key]: the package has no key `nam`
            err:  --> p.toml:3:1
            err:   |
            err: 3 | nam = "p"
            err:   | ^^^ unknown key
            err:   |
            err:   = help: did you mean `name`?
            err: 
            err: error[source-file]: cannot read `f`: No such file or directory (os error 2)
            err:  --> p.toml:7:21
            err:   |
            err: 7 | source = { kernel = "f" }
            err:   |                     ^^^
        "#]],
    );
}

#[test]
fn values_of_other_types() {
    expect_drawn(
        r#"
[package]
name = "p"
[[function]]
signature = ["f()"]
source = "f.c"
kernel = "f"
args = ["x", 1]
returns = "float"
"#,
        expect![[r#"
            exit 1
            err: error[value-type]: `signature` is of type array
            err:  --> p.toml:5:13
            err:   |
            err: 5 | signature = ["f()"]
            err:   |             ^^^^^^^ expected a string
            err: 
            err: error[value-type]: `source` is of type string
            err:  --> p.toml:6:10
            err:   |
            err: 6 | source = "f.c"
            err:   |          ^^^^^ expected a table such as `{ host = "norm.c" }`
            err: 
            err: error[value-type]: an item of `args` is of type integer
            err:  --> p.toml:8:14
            err:   |
            err: 8 | args = ["x", 1]
            err:   |              ^ expected a string
            err: 
            err: error[bad-value]: a host function cannot return `float`
            err:  --> p.toml:9:11
            err:   |
            err: 9 | returns = "float"
            err:   |           ^^^^^^^ expected `"void"` or `"int"`
        "#]],
    );
}

#[test]
fn problems_inside_strings() {
    expect_drawn(
        r#"
[package]
name = "my package"
[[function]]
signature = '''
rms(
    x: Tensor([m, d], flot16, align=12),
    é: int32,
) where d %% 8 == 0
'''
workspace = { ws = "Tensor([4*m, uint8)" }
source = { host = "f.c" }
kernel = "rms"
args = ["x", "m: int33", "d +"]
"#,
        expect![[r#"
            exit 1
            err: error[bad-name]: the package's name, `my package`, is no C identifier
            err:  --> p.toml:3:8
            err:   |
            err: 3 | name = "my package"
            err:   |        ^^^^^^^^^^^^ expected letters, digits and `_`, no digit in front
            err: 
            err: error[unknown-dtype]: `flot16` is no dtype
            err:  --> p.toml:7:23
            err:   |
            err: 7 |     x: Tensor([m, d], flot16, align=12),
            err:   |                       ^^^^^^ expected a dtype or a dtype variable
            err:   |
            err:   = help: did you mean `float16`?
            err: 
            err: error[bad-character]: unexpected character `é`
            err:  --> p.toml:8:5
            err:   |
            err: 8 |     é: int32,
            err:   |     ^ not part of the language
            err: 
            err: error[syntax]: expected an expression, found `%`
            err:  --> p.toml:9:12
            err:   |
            err: 9 | ) where d %% 8 == 0
            err:   |            ^ expected an expression
            err: 
            err: error[syntax]: expected `]`, found `)`
            err:   --> p.toml:11:39
            err:    |
            err: 11 | workspace = { ws = "Tensor([4*m, uint8)" }
            err:    |                                       ^ expected `]`
            err: 
            err: error[source-file]: cannot read `f.c`: No such file or directory (os error 2)
            err:   --> p.toml:12:19
            err:    |
            err: 12 | source = { host = "f.c" }
            err:    |                   ^^^^^
            err: 
            err: error[syntax]: expected a C type: bool, an integer, a float or `pointer`, found `int33`
            err:   --> p.toml:14:18
            err:    |
            err: 14 | args = ["x", "m: int33", "d +"]
            err:    |                  ^^^^^ expected a C type: bool, an integer, a float or `pointer`
            err:    |
            err:    = help: did you mean `int32`?
            err: 
            err: error[syntax]: expected an expression, found the end
            err:   --> p.toml:14:30
            err:    |
            err: 14 | args = ["x", "m: int33", "d +"]
            err:    |                              ^ expected an expression
        "#]],
    );
}

#[test]
fn names_without_a_value_and_kernels_that_do_not_fit() {
    expect_drawn(
        r#"
[package]
name = "p"
[[function]]
signature = "f(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
[[function.launch]]
when = "k > 1"
source = { host = "f.c" }
kernel = "f"
args = ["x", "y", "m"]
[[function]]
signature = "f_out(n: int32)"
source = { host = "f.o", define = { W = "4" } }
kernel = "g_{T}"
args = ["n"]
"#,
        expect![[r#"
            exit 1
            err: error[unbound-symbol]: `k` in the `when` of launch 0 has no value
            err:  --> p.toml:7:9
            err:   |
            err: 7 | when = "k > 1"
            err:   |         ^
            err:   |
            err:   = help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            err: 
            err: error[source-file]: cannot read `f.c`: No such file or directory (os error 2)
            err:  --> p.toml:8:19
            err:   |
            err: 8 | source = { host = "f.c" }
            err:   |                   ^^^^^
            err: 
            err: error[unbound-symbol]: `m` in `m` of launch 0 has no value
            err:   --> p.toml:10:20
            err:    |
            err: 10 | args = ["x", "y", "m"]
            err:    |                    ^
            err:    |
            err:    = help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            err: 
            err: error[name-clash]: two functions of the package are `f_out`
            err:   --> p.toml:12:14
            err:    |
            err:  5 | signature = "f(x: Tensor([n], float32)) -> y: Tensor([n], float32)"
            err:    |              - has results, and so a variant `f_out`
            err: ...
            err: 12 | signature = "f_out(n: int32)"
            err:    |              ^^^^^ this function
            err:    |
            err:    = help: rename one
            err: 
            err: error[conflict]: `define` is for C files, and `f.o` is none
            err:   --> p.toml:13:26
            err:    |
            err: 13 | source = { host = "f.o", define = { W = "4" } }
            err:    |                          ^^^^^^ has no effect
            err:    |
            err:    = help: remove `define`
            err: 
            err: error[kernel-template]: `T` in the kernel's name is no dtype variable
            err:   --> p.toml:14:14
            err:    |
            err: 14 | kernel = "g_{T}"
            err:    |              ^ stands for no dtype
            err:    |
            err:    = help: write the name without braces
        "#]],
    );
}

/// Each number of a layout that no call can launch with, or that has no value, at its own place.
#[test]
fn layouts_that_make_no_launch() {
    expect_drawn(
        r#"
[package]
name = "p"
[[function]]
signature = "f(x: Tensor([n], float32))"
source = { ptx = "f.ptx" }
kernel = "f"
args = ["x", "n"]
launch = { gird = ["n"], block = [128] }
[[function]]
signature = "g(x: Tensor([n], float32))"
[[function.launch]]
source = { ptx = "f.ptx" }
kernel = "g"
args = ["x"]
grid = ["n", "m"]
block = [32, 0]
smem = "4*d"
attr = { cluster = ["c"], stream = "s" }
"#,
        expect![[r#"
            exit 1
            err: error[unknown-key]: a launch's layout has no key `gird`
            err:  --> p.toml:9:12
            err:   |
            err: 9 | launch = { gird = ["n"], block = [128] }
            err:   |            ^^^^ unknown key
            err:   |
            err:   = help: did you mean `grid`?
            err: 
            err: error[source-file]: cannot read `f.ptx`: No such file or directory (os error 2)
            err:   --> p.toml:13:18
            err:    |
            err: 13 | source = { ptx = "f.ptx" }
            err:    |                  ^^^^^^^
            err: 
            err: error[unbound-symbol]: `m` in `grid[1]` of launch 0 has no value
            err:   --> p.toml:16:15
            err:    |
            err: 16 | grid = ["n", "m"]
            err:    |               ^
            err:    |
            err:    = help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            err: 
            err: error[launch-range]: `block[1]` of launch 0 is out of range: expected 1 to 2147483647, found `0`
            err:   --> p.toml:17:14
            err:    |
            err: 17 | block = [32, 0]
            err:    |              ^
            err: 
            err: error[unbound-symbol]: `d` in `smem` of launch 0 has no value
            err:   --> p.toml:18:11
            err:    |
            err: 18 | smem = "4*d"
            err:    |           ^
            err:    |
            err:    = help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            err: 
            err: error[unbound-symbol]: `c` in `cluster[0]` of launch 0 has no value
            err:   --> p.toml:19:22
            err:    |
            err: 19 | attr = { cluster = ["c"], stream = "s" }
            err:    |                      ^
            err:    |
            err:    = help: name a symbol, a parameter, or a field such as `x.shape[0]` or `x.given`
            err: 
            err: error[launch]: `s`, the stream of launch 0, is no `Stream` parameter
            err:   --> p.toml:19:36
            err:    |
            err: 19 | attr = { cluster = ["c"], stream = "s" }
            err:    |                                    ^^^
            err:    |
            err:    = help: leave `stream` out to launch to the environment's stream
        "#]],
    );
}

#[test]
fn a_package_of_nothing() {
    expect_drawn(
        "",
        expect![[r#"
        exit 1
        err: error[missing-key]: this file has no `[package]`
        err:  --> p.toml:1:1
        err:   |
        err: 1 |
        err:   | ^ expected `package`
        err: 
        err: error[empty-package]: the package has no functions
        err:  --> p.toml:1:1
        err:   |
        err: 1 |
        err:   | ^ nothing to build
        err:   |
        err:   = help: add a `[[function]]` with a `signature`
    "#]],
    );
}

#[test]
fn json_has_places_in_bytes_and_in_lines() {
    let text = "[package]\nname = \"p\"\n[[function]]\ndoc = \"é\"\nsignature = \"f(x: int33)\"\nreturns = 'é'\n";
    let bench = Bench::with("p.toml", text);
    bench.expect(
        &["build", "--json", "p.toml", "-o", "p.so"],
        expect![[r#"
            exit 1
            out: {
            out:   "error": {
            out:     "source": "p.toml",
            out:     "diagnostics": [
            out:       {
            out:         "code": "missing-key",
            out:         "severity": "error",
            out:         "message": "the launch has no `source`",
            out:         "labels": [
            out:           {
            out:             "file": "p.toml",
            out:             "start": 21,
            out:             "end": 33,
            out:             "line": 3,
            out:             "column": 1,
            out:             "text": "expected `source`"
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[missing-key]: the launch has no `source`\n --> p.toml:3:1\n  |\n3 | [[function]]\n  | ^^^^^^^^^^^^ expected `source`"
            out:       },
            out:       {
            out:         "code": "missing-key",
            out:         "severity": "error",
            out:         "message": "the launch has no `kernel`",
            out:         "labels": [
            out:           {
            out:             "file": "p.toml",
            out:             "start": 21,
            out:             "end": 33,
            out:             "line": 3,
            out:             "column": 1,
            out:             "text": "expected `kernel`"
            out:           }
            out:         ],
            out:         "help": "name the function of the source that runs: `kernel = \"norm_f32\"`",
            out:         "detail": null,
            out:         "rendered": "error[missing-key]: the launch has no `kernel`\n --> p.toml:3:1\n  |\n3 | [[function]]\n  | ^^^^^^^^^^^^ expected `kernel`\n  |\n  = help: name the function of the source that runs: `kernel = \"norm_f32\"`"
            out:       },
            out:       {
            out:         "code": "syntax",
            out:         "severity": "error",
            out:         "message": "expected a type, found `int33`",
            out:         "labels": [
            out:           {
            out:             "file": "p.toml",
            out:             "start": 63,
            out:             "end": 68,
            out:             "line": 5,
            out:             "column": 19,
            out:             "text": "expected a type"
            out:           }
            out:         ],
            out:         "help": "did you mean `int32`?",
            out:         "detail": null,
            out:         "rendered": "error[syntax]: expected a type, found `int33`\n --> p.toml:5:19\n  |\n5 | signature = \"f(x: int33)\"\n  |                   ^^^^^ expected a type\n  |\n  = help: did you mean `int32`?"
            out:       },
            out:       {
            out:         "code": "bad-value",
            out:         "severity": "error",
            out:         "message": "a host function cannot return `é`",
            out:         "labels": [
            out:           {
            out:             "file": "p.toml",
            out:             "start": 81,
            out:             "end": 85,
            out:             "line": 6,
            out:             "column": 11,
            out:             "text": "expected `\"void\"` or `\"int\"`"
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[bad-value]: a host function cannot return `é`\n --> p.toml:6:11\n  |\n6 | returns = 'é'\n  |           ^^^ expected `\"void\"` or `\"int\"`"
            out:       }
            out:     ]
            out:   }
            out: }
        "#]],
    );
}

#[test]
fn pipes_have_no_colours() {
    let bench = Bench::with("p.toml", "[package]\nname = 1\n");
    let ran = bench.run(["build", "p.toml", "-o", "p.so"]);
    assert!(ran.stderr.contains("error"));
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
}

/// `script` gives a program a terminal.
#[test]
fn terminals_have_colours_unless_the_user_minds() {
    let bench = Bench::with("p.toml", "[package]\nname = 1\n");
    let in_terminal = |setting: &str| {
        let line = format!("{setting} {} build p.toml -o p.so", crate::bench::KERNPACK);
        bench.command("script").args(["-qec", &line, "/dev/null"]).output()
    };
    let Ok(output) = in_terminal("env -u NO_COLOR TERM=xterm") else {
        eprintln!("SKIPPED: there is no `script`, which gives a program a terminal");
        return;
    };
    assert!(output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
    let output = in_terminal("env NO_COLOR=1 TERM=xterm").expect("it ran before");
    assert!(!output.stdout.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stdout));
}
