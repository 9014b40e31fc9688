// SPDX-License-Identifier: Apache-2.0
//! What the interpreter says of a case: what its buffers hold behind the launch.

use super::{Argument, Buffer, Case, Mapped};
use kernpack_kernel_ir::interp::{self, MappedTensor, Memory, Outcome, Trial};

/// What came of a launch.
#[derive(Debug)]
pub struct Interpreted {
    /// What each buffer holds, in the order of the arguments.
    pub buffers: Vec<Vec<u8>>,
    /// What the interpreter says of the run.
    pub outcome: Outcome,
}

/// Runs a case in the order that a seed gives; 0 is the plain one.
pub fn interpret(case: &Case, schedule: u64) -> Interpreted {
    let trial = Trial::of(case.kernel.clone()).grid(case.grid).block(case.block);
    let trial = trial.cluster(case.cluster).seed(schedule);
    let mut trial = case.arguments.iter().fold(trial, |trial, argument| match argument {
        Argument::Scalar(number) => trial.number(*number),
        Argument::Buffer(buffer) => {
            let memory = held(trial.next_name(), buffer);
            trial.tensor(memory)
        }
        Argument::Map(Mapped { buffer, extents, strides }) => {
            let (memory, mut trial) = (held(trial.next_name(), buffer), trial);
            let (memory, extents, strides) = (trial.hold(memory), *extents, *strides);
            let tensor = MappedTensor { memory, offset: 0, extents, strides };
            trial.arguments.push(interp::Argument::Map(tensor));
            trial
        }
    });
    let outcome = trial.run();
    let is_buffer = |i: &usize| case.arguments[*i].buffer().is_some();
    let buffers = (0..case.arguments.len()).filter(is_buffer).map(|i| trial.left(i).bytes.clone());
    Interpreted { buffers: buffers.collect(), outcome }
}

fn held(name: &str, buffer: &Buffer) -> Memory {
    Memory::new(name, buffer.element, buffer.bytes())
}

/// What a case's buffers hold behind its launch, on every machine.
///
/// # Errors
/// Where something is wrong with the launch, or machines may differ.
pub fn outcome(case: &Case) -> Result<Vec<Vec<u8>>, String> {
    let Interpreted { buffers, outcome } = interpret(case, 0);
    let findings: Vec<_> = outcome.findings.iter().map(|it| it.message.as_str()).collect();
    match (findings.as_slice(), outcome.is_complete, outcome.is_exact) {
        ([], true, true) => Ok(buffers),
        ([], true, false) => Err("its result may differ from machine to machine".to_string()),
        ([], false, _) => Err("it does not end".to_string()),
        _ => Err(findings.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_proof::{arrays, operations, rows};
    use expect_test::{Expect, expect};
    use std::collections::BTreeMap;

    /// How many cases there are by the first word of their names, and what is wrong with any.
    fn expect_cases(cases: Vec<Case>, expected: &Expect) {
        let mut counts = BTreeMap::<&str, usize>::new();
        let mut problems = String::new();
        for case in &cases {
            let word = case.kernel.name.split('_').next().unwrap_or_default();
            *counts.entry(word).or_default() += 1;
            if let Err(problem) = outcome(case) {
                problems += &format!("{}: {problem}\n", case.kernel.name);
            }
        }
        let counts: Vec<_> = counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
        expected.assert_eq(&format!("{}\n{problems}", counts.join(", ")));
    }

    #[test]
    fn operations_give_something() {
        expect_cases(
            operations::all(),
            &expect![[r#"
            abs 12, add 17, and 14, bitcast 26, convert 396, div 4, eq 18, floordiv 85, floormod 85, ge 17, gt 17, le 17, lt 17, max 17, min 17, mul 89, mulhigh 85, ne 18, neg 12, not 9, or 14, select 13, shl 85, shr 85, sub 17, xor 14
        "#]],
        );
    }

    #[test]
    fn arrays_give_something() {
        expect_cases(
            arrays::all(),
            &expect![[r#"
            array 77
        "#]],
        );
    }

    #[test]
    fn rows_give_something() {
        expect_cases(
            rows::all(),
            &expect![[r#"
            atomic 250, ceil 2, clz 8, cos 2, ctz 8, erf 2, exp 2, exp2 2, floor 2, fma 8, geometry 2, log 2, log2 2, match 13, matrix 6, mma 7, popcount 8, pow 2, reverse 8, round 2, rsqrt 2, shuffle 156, sin 2, sqrt 2, tanh 2, trunc 2, vote 3
        "#]],
        );
    }
}
