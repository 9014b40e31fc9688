// SPDX-License-Identifier: Apache-2.0
//! Whatever the text is, reading and elaborating it ends with operations or diagnostics.

use super::{elaborate_k, int, read, scalar, written};
use crate::file::KernelFiles;
use kernpack_kernel_ir::Scalar::{F16, F32, I32};
use kernpack_syntax::Texts;
use std::path::Path;

/// Numbers that look random, always the same.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// The pieces that kernels are made of.
const PIECES: &[&str] = &[
    "x",
    "h",
    "out",
    "n",
    "c",
    "a",
    "b",
    "i",
    "kp",
    ".",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "=",
    "+",
    "-",
    "*",
    "//",
    "/",
    "%",
    "<",
    "==",
    "not",
    "and",
    "or",
    "if",
    "else",
    "for",
    "in",
    "while",
    "return",
    "break",
    "continue",
    "lambda",
    "0",
    "1",
    "4",
    "2.5",
    "None",
    "True",
    "'t'",
    "range",
    "float32",
    "shared",
    "range_constexpr",
    "local_tile",
    "zipped_divide",
    "load",
    "store",
    "shape",
    "copy",
    "make_layout",
    "exp",
    "int32",
    "\n    ",
    "\n        ",
    "is",
    "+=",
    "**",
    "def",
    "pass",
    "@",
    "{",
    "warp_reduction_sum",
    "make_rmem_tensor",
    "composition",
    "-1",
    "99999999999999999999",
];

fn survives(body: &str) {
    let source = format!("@kp.kernel\ndef k(x, h, out, n, c):\n    {body}\n");
    let arguments = [
        read("x", F32, &["m", "n"]),
        read("h", F16, &["8", "n % 8"]),
        written("out", F32, &["n"]),
        scalar("i", I32),
        int(4),
    ];
    if let Ok(instance) = elaborate_k(&source, &arguments, 128) {
        let verified = kernpack_kernel_ir::verify::verify(&instance.kernel);
        // What threads do together is the verifier's to say; anything else would be a mistake here.
        if let Err(problems) = verified {
            let text = problems.to_string();
            assert!(text.lines().all(is_of_threads), "{text}\n{source}\n{}", instance.kernel);
        }
    }
}

fn is_of_threads(line: &str) -> bool {
    !line.starts_with("error") || line.contains("error[kernel-divergence]")
}

#[test]
fn random_text_is_read_or_refused() {
    let mut random = Random(1);
    for _ in 0..3000 {
        let n_pieces = random.below(24);
        let mut body = String::new();
        for _ in 0..n_pieces {
            body += PIECES[random.below(PIECES.len())];
            if random.below(2) == 0 {
                body += " ";
            }
        }
        survives(&body);
    }
}

/// Expressions that are well formed, more or less.
fn expression(random: &mut Random, depth: usize) -> String {
    const LEAVES: &[&str] = &[
        "n",
        "c",
        "1",
        "2.5",
        "x[0, 1]",
        "h[1, 2]",
        "x[n, n]",
        "None",
        "True",
        "x",
        "h[None, 0]",
        "kp.float32",
        "x.shape",
        "x.shape[1]",
        "(1, n)",
        "kp.thread_idx()[0]",
        "x[0, None]",
        "out",
        "h[None, 3].load()",
        "kp.make_layout((4, 2))",
        "kp.make_rmem_tensor((2, 2), kp.float16)",
    ];
    const BINARY: &[&str] =
        &["+", "-", "*", "//", "%", "/", "<", "==", "and", "or", "&", "<<", ">>", "in", "is"];
    const CALLS: &[&str] = &[
        "kp.exp",
        "kp.float32",
        "kp.int8",
        "kp.min",
        "kp.abs",
        "kp.size",
        "kp.zipped_divide",
        "kp.composition",
        "kp.warp_reduction_sum",
        "kp.local_tile",
        "kp.where",
        "kp.coalesce",
        "kp.shuffle_sync",
        "kp.bitcast",
        "kp.fma",
        "kp.ceil_div",
        "len",
        "kp.recast_tensor",
        "kp.copy",
        "kp.right_inverse",
        "kp.group_modes",
        "kp.atomic_add",
        "(lambda a, b=1: a)",
    ];
    if depth == 0 {
        return LEAVES[random.below(LEAVES.len())].to_string();
    }
    let part = |random: &mut Random| expression(random, depth - 1);
    match random.below(8) {
        0..=2 => {
            let op = BINARY[random.below(BINARY.len())];
            format!("({} {op} {})", part(random), part(random))
        }
        3..=4 => {
            let call = CALLS[random.below(CALLS.len())];
            let args: Vec<_> = (0..1 + random.below(3)).map(|_| part(random)).collect();
            format!("{call}({})", args.join(", "))
        }
        5 => format!("({} if {} else {})", part(random), part(random), part(random)),
        6 => format!("({}, {})", part(random), part(random)),
        _ => format!("{}[{}]", part(random), part(random)),
    }
}

#[test]
fn random_expressions_are_elaborated_or_refused() {
    let mut random = Random(7);
    for _ in 0..4000 {
        let depth = 1 + random.below(3);
        let first = expression(&mut random, depth);
        let second = expression(&mut random, depth);
        let body = match random.below(4) {
            0 => format!("a = {first}\n    b = {second}"),
            1 => format!("a = {first}\n    if {second}:\n        a = {first}\n    out[0] = a"),
            2 => format!("a = {first}\n    for i in range({second}):\n        a += {first}"),
            _ => format!("out[{first}] = {second}"),
        };
        survives(&body);
    }
}

#[test]
fn deep_text_is_refused() {
    let many = 100_000;
    let texts = [
        format!("a = {}1", "-".repeat(many)),
        format!("a = {}1", "1+".repeat(many)),
        format!("a = {}1{}", "(".repeat(300), ")".repeat(300)),
        format!("a = {}", "f(".repeat(many)),
        format!("a = x{}", ".y".repeat(many)),
        format!("match x:\n    case {}1:\n        pass", "1|".repeat(many)),
    ];
    for text in texts {
        let mut texts = Texts::default();
        let mut door = |_: &Path| Ok(text.clone().into_bytes());
        let read = KernelFiles::read(Path::new("k.py"), &mut door, &mut texts);
        if let Err(problems) = read {
            assert!(problems.in_texts(&texts).contains("error"));
        }
    }
}

/// A kernel of that many levels is elaborated or refused, on the stack of a test's thread.
#[test]
fn deep_kernels_are_elaborated_or_refused() {
    for depth in [50, 150, 190, 400, 5000] {
        let elifs: String =
            (0..depth).map(|i| format!("    elif n == {i}:\n        a = {i}\n")).collect();
        let constants = elifs.replace("n ==", "c ==");
        let nested: String =
            (0..depth.min(400)).map(|i| format!("{}if n > {i}:\n", " ".repeat(4 + i))).collect();
        let functions: String = (1..depth)
            .map(|i| format!("def f{i}(a):\n    return f{}(a) + (1 + (2 + a))\n", i - 1))
            .collect();
        let ands: String = (0..depth).map(|i| format!(" and x[n, {i}] > 0.0")).collect();
        let bodies = [
            format!("    a = n\n    if n == -1:\n        a = -1\n{elifs}"),
            format!("    a = n\n    if n == -1:\n        a = -1\n{constants}"),
            format!("{nested}{}pass\n", " ".repeat(4 + depth.min(400))),
            format!("    f{}(n)\n", depth - 1),
            format!("    a = n > 0{ands}\n"),
            format!("    a = [1{}]\n", " for i in (1,)".repeat(depth)),
            format!("    a = {}n{}\n", "(1 + ".repeat(depth), ")".repeat(depth)),
            format!("    a = {}1{}\n", "n if n > 0 else (".repeat(depth), ")".repeat(depth)),
        ];
        for body in bodies {
            let source =
                format!("def f0(a):\n    return a\n{functions}@kp.kernel\ndef k(x, n, c):\n{body}");
            let arguments = [read("x", F32, &["m", "n"]), scalar("i", I32), int(4)];
            match elaborate_k(&source, &arguments, 32) {
                Ok(instance) => {
                    kernpack_kernel_ir::verify::verify(&instance.kernel)
                        .expect("it is well formed");
                }
                Err(problems) => assert!(problems.contains("too-deep"), "{problems}"),
            }
        }
    }
}

#[test]
fn random_bytes_are_read_or_refused() {
    let mut random = Random(3);
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
        let mut texts = Texts::default();
        let mut door = |_: &Path| Ok(bytes.clone());
        let _ = KernelFiles::read(Path::new("k.py"), &mut door, &mut texts);
    }
}
