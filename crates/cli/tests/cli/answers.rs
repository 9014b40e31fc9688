// SPDX-License-Identifier: Apache-2.0
//! The commands that answer questions, and what they say where there is no answer.

use crate::bench::{Bench, CHECKS, KERNPACK};
use expect_test::{Expect, expect};
use std::fs::File;
use std::process::Stdio;

const SIGNATURE: &str = "f(x: Tensor([n], float32), k: int8)";

#[test]
fn a_plan_is_its_checks_in_order() {
    Bench::new().expect(&["plan", SIGNATURE], expect![[r#"
        exit 0
        out: plan f(x: Tensor([n], float32), k: int8)
        out:   require num_args == 2
        out:     else TypeError arity: Mismatched number of arguments, expected 2 arguments, got {num_args}
        out:   require (args[0].type_index == 70) or (args[0].type_index == 7)
        out:     else TypeError type: Mismatched type on argument #0, expected Tensor, got {args[0].type_index}
        out:   let x = args[0].payload + select(args[0].type_index == 70, 24, 0)
        out:   require x.ndim == 1
        out:     else ValueError tensor-rank: Mismatched Tensor on argument #0, expected ndim=1, got {x.ndim}
        out:   require x.dtype == float32
        out:     else TypeError tensor-dtype: Mismatched Tensor on argument #0, expected dtype=float32, got {x.dtype}
        out:   require x.device_type == cpu
        out:     else ValueError device-type: Mismatched Tensor on argument #0, expected device_type=cpu, got {x.device_type}
        out:   require (x.data != 0) or (x.shape[0] == 0)
        out:     else ValueError null-data: Invalid Tensor data on argument #0, expected a non-NULL data pointer, got NULL
        out:   let x.shape[0]
        out:   require 0 <= x.shape[0]
        out:     else ValueError negative-dim: Invalid x.shape[0] on argument #0, expected a non-negative value, got {x.shape[0]}
        out:   when x.strides != 0
        out:     require (x.strides[0] == 1) or ((x.shape[0] == 1) or (x.shape[0] == 0))
        out:       else ValueError stride: Mismatched x.strides[0] on argument #0, expected to be 1 for row-major order, got {x.strides[0]}
        out:   require (((x.data + x.byte_offset) & 3) == 0) or (x.shape[0] == 0)
        out:     else ValueError alignment: Misaligned Tensor data on argument #0, expected data alignment=4 bytes, got address % 4 == {(x.data + x.byte_offset) & 3}
        out:   require ((args[1].type_index == 1) or (args[1].type_index == 2)) or (args[1].type_index == 78)
        out:     else TypeError type: Mismatched type on argument #1, expected int, got {args[1].type_index}
        out:   require args[1].type_index != 78
        out:     else ValueError scalar-range: Out of bound value on argument #1, expected to be in int8 range [-128, 127], got an integer beyond 64 bits
        out:   require (-128 <= args[1].payload) and (args[1].payload <= 127)
        out:     else ValueError scalar-range: Out of bound value on argument #1, expected to be in int8 range [-128, 127], got {args[1].payload}
    "#]]);
}

#[test]
fn a_plan_may_be_for_another_device() {
    let ran = Bench::new().run(["plan", "--device", "cuda", SIGNATURE]);
    assert!(ran.stdout.contains("expected device_type=cuda"), "{ran}");
}

#[test]
fn a_plan_as_json() {
    Bench::new().expect(&["plan", "--json", "f(k: uint8) where k % 2 == 0"], expect![[r#"
        exit 0
        out: {
        out:   "signature": "f(k: uint8) where k % 2 == 0",
        out:   "short": "f(k: uint8)",
        out:   "plan": "plan f(k: uint8)\n  require num_args == 1\n    else TypeError arity: Mismatched number of arguments, expected 1 argument, got {num_args}\n  require ((args[0].type_index == 1) or (args[0].type_index == 2)) or (args[0].type_index == 78)\n    else TypeError type: Mismatched type on argument #0, expected int, got {args[0].type_index}\n  require args[0].type_index != 78\n    else ValueError scalar-range: Out of bound value on argument #0, expected to be in uint8 range [0, 255], got an integer beyond 64 bits\n  require (0 <= args[0].payload) and (args[0].payload <= 255)\n    else ValueError scalar-range: Out of bound value on argument #0, expected to be in uint8 range [0, 255], got {args[0].payload}\n  let k = args[0].payload\n  require (k & 1) == 0\n    else ValueError divisibility: Invalid k on argument #0, expected to be divisible by 2, got {k}\n",
        out:   "faults": [
        out:     {
        out:       "name": "arity",
        out:       "kind": "TypeError",
        out:       "message": "Mismatched number of arguments when calling: `f(k: uint8)`, expected 1 argument, got {int}"
        out:     },
        out:     {
        out:       "name": "type",
        out:       "kind": "TypeError",
        out:       "message": "Mismatched type on argument #0 when calling: `f(k: uint8)`, expected int, got {type}"
        out:     },
        out:     {
        out:       "name": "scalar-range",
        out:       "kind": "ValueError",
        out:       "message": "Out of bound value on argument #0 when calling: `f(k: uint8)`, expected to be in uint8 range [0, 255], got an integer beyond 64 bits"
        out:     },
        out:     {
        out:       "name": "scalar-range",
        out:       "kind": "ValueError",
        out:       "message": "Out of bound value on argument #0 when calling: `f(k: uint8)`, expected to be in uint8 range [0, 255], got {int}"
        out:     },
        out:     {
        out:       "name": "divisibility",
        out:       "kind": "ValueError",
        out:       "message": "Invalid k on argument #0 when calling: `f(k: uint8)`, expected to be divisible by 2, got {int}"
        out:     }
        out:   ],
        out:   "description": {
        out:     "name": "f",
        out:     "text": "f(k: uint8) where k % 2 == 0",
        out:     "short": "f(k: uint8)",
        out:     "params": [
        out:       {
        out:         "name": "k",
        out:         "type": {
        out:           "kind": "int",
        out:           "dtype": "uint8"
        out:         }
        out:       }
        out:     ],
        out:     "results": [],
        out:     "symbols": [
        out:       {
        out:         "name": "k",
        out:         "path": "k",
        out:         "scale": 1,
        out:         "offset": 0,
        out:         "optional": null
        out:       }
        out:     ],
        out:     "dtypes": [],
        out:     "combinations": [],
        out:     "stars": [],
        out:     "rules": [
        out:       "k % 2 == 0"
        out:     ],
        out:     "solution": {
        out:       "symbols": [
        out:         {
        out:           "name": "k",
        out:           "uses": [
        out:             {
        out:               "of": "k",
        out:               "scale": 1,
        out:               "offset": 0
        out:             }
        out:           ]
        out:         }
        out:       ],
        out:       "stars": [],
        out:       "dtypes": [],
        out:       "multiples": [
        out:         {
        out:           "name": "k",
        out:           "of": 2
        out:         }
        out:       ]
        out:     }
        out:   }
        out: }
    "#]]);
}

/// Compares what `plan` says about a signature.
fn expect_planned(signature: &str, expected: Expect) {
    Bench::new().expect(&["plan", signature], expected);
}

#[test]
fn dtype_variables_that_have_no_value() {
    expect_planned(
        "f(a: Tensor([n], int8), b: Tensor([n], T), c: Tensor([n], T))",
        expect![[r#"
        exit 1
        err: error[dtype-variable]: the dtype variable `T` has no rule
        err:  --> signature:1:40
        err:   |
        err: 1 | f(a: Tensor([n], int8), b: Tensor([n], T), c: Tensor([n], T))
        err:   |                                        ^ no rule says which dtypes it may be
        err:   |
        err:   = help: say which dtypes there are kernels for: `where T in {float16, bfloat16}`; or correct the name, if `T` should be a dtype
    "#]],
    );
    expect_planned(
        "f(a: Optional[Tensor([n], T)]) where T in {int8}",
        expect![[r#"
        exit 1
        err: error[dtype-variable]: the dtype variable `T` is bound only inside an `Optional`
        err:  --> signature:1:27
        err:   |
        err: 1 | f(a: Optional[Tensor([n], T)]) where T in {int8}
        err:   |                           ^ has a value only where `a` is given
        err:   |
        err:   = help: use it in a required tensor too, or write a dtype
    "#]],
    );
    expect_planned(
        "f(a: Tensor([T], int8), b: Tensor([T], T)) where T in {int8}",
        expect![[r#"
        exit 1
        err: error[name-clash]: `T` means two things
        err:  --> signature:1:40
        err:   |
        err: 1 | f(a: Tensor([T], int8), b: Tensor([T], T)) where T in {int8}
        err:   |                                        ^ a dtype variable needs a name of its own
        err:   |
        err:   = help: parameters, symbols and dtype variables share one name space: rename one
    "#]],
    );
}

#[test]
fn dtype_variables_with_too_few_and_too_many_combinations() {
    expect_planned(
        "f(a: Tensor([n], T)) where T in {int8},\n  n > 1, T in {int16}",
        expect![[r#"
        exit 1
        err: error[dtype-rules]: no combination of dtypes satisfies the rules
        err:  --> signature:1:28
        err:   |
        err: 1 | f(a: Tensor([n], T)) where T in {int8},
        err:   |                            ^^^^^^^^^^^ must hold
        err: 2 |   n > 1, T in {int16}
        err:   |          ------------ must hold
        err:   |
        err:   = help: make the sets of the dtype variables overlap
    "#]],
    );
    expect_planned(
        "f(a: Tensor([n], T), b: Tensor([n], U), c: Tensor([n], T))\n\
        where T in {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool},\n  \
        U in {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",
        expect![[r#"
            exit 1
            err: error[too-many-dtypes]: the dtype variables have 72 combinations, at most 64 are allowed
            err:  --> signature:1:18
            err:   |
            err: 1 | f(a: Tensor([n], T), b: Tensor([n], U), c: Tensor([n], T))
            err:   |                  ^ 9 dtypes         - 8 dtypes
            err:   |
            err:   = help: list the combinations that are needed: `(T, U) in {(…), …}`
        "#]],
    );
}

#[test]
fn a_signature_with_problems() {
    let signature = "f(x: Tensor([n], flot32),\n  y: Tensor([2*k], float32)) where k ==";
    Bench::new().expect(
        &["plan", signature],
        expect![[r#"
        exit 1
        err: error[unknown-dtype]: `flot32` is no dtype
        err:  --> signature:1:18
        err:   |
        err: 1 | f(x: Tensor([n], flot32),
        err:   |                  ^^^^^^ expected a dtype or a dtype variable
        err:   |
        err:   = help: did you mean `float32`?
        err: 
        err: error[syntax]: expected an expression, found the end
        err:  --> signature:2:40
        err:   |
        err: 2 |   y: Tensor([2*k], float32)) where k ==
        err:   |                                        ^ expected an expression
    "#]],
    );
    Bench::new().expect(
        &["plan", "--json", "f(x)"],
        expect![[r#"
            exit 1
            out: {
            out:   "error": {
            out:     "source": "signature",
            out:     "diagnostics": [
            out:       {
            out:         "code": "syntax",
            out:         "severity": "error",
            out:         "message": "expected `:`, found `)`",
            out:         "labels": [
            out:           {
            out:             "file": "signature",
            out:             "start": 3,
            out:             "end": 4,
            out:             "line": 1,
            out:             "column": 4,
            out:             "text": "expected `:`"
            out:           }
            out:         ],
            out:         "help": null,
            out:         "detail": null,
            out:         "rendered": "error[syntax]: expected `:`, found `)`\n --> signature:1:4\n  |\n1 | f(x)\n  |    ^ expected `:`"
            out:       }
            out:     ]
            out:   }
            out: }
        "#]],
    );
}

#[test]
fn a_check_is_explained_by_its_name() {
    Bench::new().expect(&["explain", "tensor-rank"], expect![[r#"
        exit 0
        out: tensor-rank (ValueError)
        out: 
        out: The tensor has as many dims as the signature gives it, and where `*b` stands among them, as many more as `*b` has elsewhere in the call; never more than 64.
        out: 
        out: example: Mismatched Tensor on argument #0 when calling: `f(a: Tensor([m, n], float32))`, expected ndim=2, got 3
    "#]]);
    Bench::new().expect(&["explain", "--json", "tensor-rank"], expect![[r#"
        exit 0
        out: {
        out:   "pages": [
        out:     {
        out:       "name": "tensor-rank",
        out:       "kind": "ValueError",
        out:       "doc": "The tensor has as many dims as the signature gives it, and where `*b` stands among them, as many more as `*b` has elsewhere in the call; never more than 64.",
        out:       "example": "Mismatched Tensor on argument #0 when calling: `f(a: Tensor([m, n], float32))`, expected ndim=2, got 3"
        out:     }
        out:   ]
        out: }
    "#]]);
}

#[test]
fn a_check_is_explained_by_a_message() {
    let message = "ValueError: Mismatched b.shape[1] on argument #1 when calling: \
                   `add(a: Tensor([n, m], float32), b: Tensor([n, 2*m], float32))`, expected 2*m, got 126 (m is 64)";
    Bench::new().expect(&["explain", message], expect![[r#"
        exit 0
        out: dim (ValueError)
        out: 
        out: The extent is what the signature says: a constant, the same as another extent, or the value of an expression.
        out: 
        out: example: Mismatched b.shape[0] on argument #1 when calling: `f(a: Tensor([n], float32), b: Tensor([n], float32))`, expected to match a.shape[0], got 126 (a.shape[0] is 128)
    "#]]);
}

#[test]
fn what_is_no_check() {
    Bench::new().expect(
        &["explain", "tensor-rnk"],
        expect![[r#"
            exit 1
            err: error: nothing is called `tensor-rnk`; did you mean `tensor-rank`?
        "#]],
    );
    Bench::new().expect(
        &["explain", "division", "by", "zero"],
        expect![[r#"
            exit 1
            err: error: nothing is called `division by zero` or says so; docs/faults.md, docs/diagnostics.md, docs/debugging.md and docs/errors.md have all that there is
        "#]],
    );
    Bench::new().expect(
        &["explain", "--json", "tensor-rnk"],
        expect![[r#"
            exit 1
            out: {
            out:   "error": {
            out:     "message": "nothing is called `tensor-rnk`; did you mean `tensor-rank`?"
            out:   }
            out: }
        "#]],
    );
}

#[test]
fn targets_are_listed() {
    let ran = Bench::new().run(["targets"]);
    let names: Vec<_> = ran.stdout.lines().map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, [Some("x86_64-linux-gnu"), Some("aarch64-linux-gnu")]);
    assert_eq!(ran.stdout.matches("(this machine)").count(), 1, "{ran}");

    let ran = Bench::new().run(["targets", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(json["targets"][0]["name"], "x86_64-linux-gnu");
    assert_eq!(json["targets"][1]["triple"], "aarch64-unknown-linux-gnu");
}

#[test]
fn a_package_is_inspected_without_loading_it() {
    let bench = Bench::with("checks.toml", CHECKS);
    for target in ["x86_64-linux-gnu", "aarch64-linux-gnu"] {
        let args =
            ["build", "checks.toml", "-o", "checks.so", "-o", "checks.o", "--target", target];
        assert_eq!(bench.run(args).code, Some(0));
        for (file, kind) in [("checks.so", "shared_object"), ("checks.o", "relocatable_object")] {
            let ran = bench.run(["inspect", file]);
            assert!(
                ran.stdout.contains("check(x: Tensor([n], float32)) where n % 8 == 0"),
                "{ran}"
            );
            let ran = bench.run(["inspect", "--json", file]);
            let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
            assert_eq!(json["kind"], kind);
            assert_eq!(json["packages"][0]["targets"][0], target);
        }
    }
}

#[test]
fn what_cannot_be_inspected() {
    let bench = Bench::with("p.so", "no ELF file");
    bench.expect(&["inspect", "p.so"], expect![[r#"
        exit 1
        err: error: cannot inspect `p.so`: not an ELF file that kernpack can read: Invalid ELF header size or alignment
    "#]]);
    bench.expect(
        &["inspect", "q.so"],
        expect![[r#"
        exit 1
        err: error: cannot read `q.so`: No such file or directory (os error 2)
    "#]],
    );
    bench.expect(
        &["inspect", "--json", "q.so"],
        expect![[r#"
        exit 1
        out: {
        out:   "error": {
        out:     "message": "cannot read `q.so`: No such file or directory (os error 2)"
        out:   }
        out: }
    "#]],
    );
}

#[test]
fn what_may_be_without_end_is_not_inspected() {
    let bench = Bench::new();
    assert!(bench.command("mkfifo").arg("fifo").status().expect("it runs").success());
    for endless in ["/dev/zero", "fifo"] {
        let expected = format!(
            "exit 1\nerr: error: cannot read `{endless}`: it is no file, but a device, a FIFO or a socket\n"
        );
        assert_eq!(bench.run(["inspect", endless]).to_string(), expected);
    }
    bench.expect(
        &["inspect", "."],
        expect![[r#"
            exit 1
            err: error: cannot read `.`: it is a folder
        "#]],
    );
}

/// Much more than there is memory for, and nearly all of it a hole.
fn make_huge(bench: &Bench, name: &str) {
    let file = std::fs::OpenOptions::new().write(true).open(bench.path(name));
    file.and_then(|file| file.set_len(1 << 43)).expect("a file of ours");
}

#[test]
fn a_huge_file_is_looked_at_and_not_read() {
    let bench = Bench::with("checks.toml", CHECKS);
    assert_eq!(bench.run(["build", "checks.toml", "-o", "huge.so"]).code, Some(0));
    let before = bench.run(["inspect", "huge.so"]).to_string();
    let mut bytes = std::fs::read(bench.path("huge.so")).expect("it was written");
    make_huge(&bench, "huge.so");
    assert_eq!(bench.run(["inspect", "huge.so"]).to_string(), before);

    // Its sections are said to be 2^36: no number in the header, but in the first section's place.
    let table = bytes.len();
    bytes[0x28..0x30].copy_from_slice(&(table as u64).to_le_bytes());
    bytes[0x3c..0x40].fill(0);
    bytes.resize(table + 64, 0);
    bytes[table + 32..table + 40].copy_from_slice(&(1u64 << 36).to_le_bytes());
    let bench = bench.and("huge.so", bytes);
    make_huge(&bench, "huge.so");
    let ran = bench.run(["inspect", "huge.so"]);
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.stderr.starts_with("error: cannot inspect `huge.so`: not an ELF file"), "{ran}");
}

#[test]
fn a_wrong_command_line_is_something_else_than_a_wrong_input() {
    let bench = Bench::with("checks.toml", CHECKS);
    let wrong: &[&[&str]] = &[
        &[],
        &["bild"],
        &["build"],
        &["build", "checks.toml"],
        &["build", "checks.toml", "-o", "checks.dll"],
        &["build", "checks.toml", "-o", "checks.so", "--target", "x86_64-apple-darwin"],
        &["plan"],
        &["plan", SIGNATURE, "--device", "tpu"],
        &["explain"],
        &["inspect"],
        &["targets", "x86_64"],
    ];
    for args in wrong {
        assert_eq!(bench.run(*args).code, Some(2), "{args:?}");
    }
    bench.expect(
        &["build", "checks.toml"],
        expect![[r#"
        exit 2
        err: error: the following required arguments were not provided:
        err:   <--output <OUT>|--out-dir <DIR>>
        err: 
        err: Usage: kernpack build <--output <OUT>|--out-dir <DIR>> <FILE>
        err: 
        err: For more information, try '--help'.
    "#]],
    );
    bench.expect(&["build", "checks.toml", "-o", "checks.dll"], expect![[r#"
        exit 2
        err: error: invalid value 'checks.dll' for '--output <OUT>': the name must end in .o, .so, .h, .pyi or .rs
        err: 
        err: For more information, try '--help'.
    "#]]);
    let darwin = ["build", "checks.toml", "-o", "c.so", "--target", "x86_64-apple-darwin"];
    bench.expect(&darwin, expect![[r#"
        exit 2
        err: error: invalid value 'x86_64-apple-darwin' for '--target <TARGET>': unknown target `x86_64-apple-darwin`; the targets are x86_64-linux-gnu, aarch64-linux-gnu (Mach-O objects are not made yet)
        err: 
        err: For more information, try '--help'.
    "#]]);
    bench.expect(&["build", "checks.toml", "-o", "c.so", "--target", "sm_90a"], expect![[r#"
        exit 2
        err: error: invalid value 'sm_90a' for '--target <TARGET>': unknown target `sm_90a`; the targets are x86_64-linux-gnu, aarch64-linux-gnu (`sm_90a` is an architecture of GPUs, which `arch` names in a source)
        err: 
        err: For more information, try '--help'.
    "#]]);
}

#[test]
fn a_wrong_command_line_as_json() {
    let bench = Bench::with("checks.toml", CHECKS);
    bench.expect(&["build", "--json", "checks.toml"], expect![[r#"
        exit 2
        out: {
        out:   "error": {
        out:     "message": "the following required arguments were not provided:\n  <--output <OUT>|--out-dir <DIR>>\n\nUsage: kernpack build --json <--output <OUT>|--out-dir <DIR>> <FILE>\n\nFor more information, try '--help'."
        out:   }
        out: }
    "#]]);
    let wrong: &[&[&str]] = &[
        &["--json"],
        &["bild", "--json"],
        &["--json", "plan"],
        &["build", "checks.toml", "-o", "checks.dll", "--json"],
        &["plan", "--jso", "--json"],
    ];
    for args in wrong {
        let ran = bench.run(*args);
        assert_eq!((ran.code, &ran.stderr[..]), (Some(2), ""), "{args:?}: {ran}");
        let json: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert!(json["error"]["message"].is_string(), "{ran}");
    }
    // Behind `--` it is the name of a file; and help is no error.
    let ran = bench.run(["build", "--", "--json"]);
    assert_eq!((ran.code, &ran.stdout[..]), (Some(2), ""), "{ran}");
    let ran = bench.run(["--json", "--help"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("Usage: kernpack"), "{ran}");
}

#[test]
fn an_output_that_cannot_be_written_is_an_error_and_a_closed_one_is_not() {
    let run = |stdout: Stdio| {
        Bench::new().command(KERNPACK).arg("targets").stdout(stdout).output().expect("it runs")
    };
    let full = File::options().write(true).open("/dev/full").expect("every Linux has /dev/full");
    let output = run(full.into());
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(message, "error: cannot write the output: No space left on device (os error 28)\n");

    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = run(writer.into());
    assert_eq!((output.status.code(), output.stderr), (Some(0), vec![]));
}

#[test]
fn the_exit_code_stands_where_the_standard_error_cannot_be_written() {
    let code = |args: &[&str]| {
        let full = File::options().write(true).open("/dev/full").expect("every Linux has it");
        let bench = Bench::new();
        let output = bench.command(KERNPACK).args(args).stderr(full).output().expect("it runs");
        output.status.code()
    };
    assert_eq!(code(&["check", "nowhere.toml"]), Some(1));
    assert_eq!(code(&["no-command"]), Some(2));
    assert_eq!(code(&["targets"]), Some(0));
}
