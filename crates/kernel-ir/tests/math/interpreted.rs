// SPDX-License-Identifier: Apache-2.0
//! Runs a function on the interpreter: in a kernel that calls it, a thread for each argument.

use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::interp::{Memory, Trial};
use std::fmt::Write;

const THREADS: usize = 128;

/// The results of a function. There are as many of each argument.
pub fn compute(name: &str, arguments: &[&[f32]]) -> Vec<f32> {
    let count = arguments[0].len();
    let n_blocks = count.div_ceil(THREADS);
    let trial = caller(name, arguments.len());
    let trial = trial.grid([n_blocks as u32, 1, 1]).block([THREADS as u32, 1, 1]);
    let given = arguments.iter().fold(trial, |trial, floats| {
        let mut bytes: Vec<_> = floats.iter().flat_map(|float| float.to_le_bytes()).collect();
        bytes.resize(n_blocks * THREADS * 4, 0);
        trial.tensor(Memory::new("x", Scalar::F32, bytes))
    });
    let mut run = given.tensor(Memory::fresh("out", Scalar::F32, n_blocks * THREADS * 4));
    assert!(run.clean().is_exact, "`{name}`");
    let results = run.left(arguments.len()).bytes.chunks_exact(4).take(count);
    results.map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes"))).collect()
}

/// A launch of a kernel that calls a function of so many arguments.
fn caller(name: &str, n_arguments: usize) -> Trial {
    let kernel = Trial::of_text(&text(name, n_arguments)).kernel;
    Trial::of_verified(kernel).unwrap_or_else(|problems| panic!("{problems}"))
}

fn text(name: &str, n_arguments: usize) -> String {
    let param = |number| format!("v{number} x{number}: pointer.global float32 align 4");
    let params: Vec<_> = (0..=n_arguments).map(param).collect();
    let mut text = format!(
        "kernel caller({} written) {{
           v10: int64 = call block_idx.x()
           v11: int64 = const {THREADS}
           v12: int64 = mul v10, v11
           v13: int64 = call thread_idx.x()
           v14: int64 = add v12, v13
           v15: int64 = const 4
           v16: int64 = mul v14, v15\n",
        params.join(", "),
    );
    let mut operands = Vec::new();
    for argument in 0..n_arguments {
        let (at, x) = (20 + argument, 30 + argument);
        let load = format!("v{x}: float32 = load v{at} align 4\n");
        write!(text, "v{at}: pointer.global = offset v{argument}, v16 {load}").expect("a string");
        operands.push(format!("v{x}"));
    }
    text + &format!(
        "v40: float32 = call {name}({})
         v41: pointer.global = offset v{n_arguments}, v16
         store v41, v40 align 4
         }}",
        operands.join(", "),
    )
}
