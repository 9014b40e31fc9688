// SPDX-License-Identifier: Apache-2.0
//! Expressions, each on a line with what it gives, as a person would write them in Python:
//!
//! ```text
//! kp.int32(-7) // kp.int32(2)     # int32 -4
//! kp.int32(1) + kp.uint32(1)      # error[type]: `+` of int32 and uint32
//! ```
//! Each is computed twice: as it stands, which the compiler does, and with numbers that are written
//! with their type passed to the kernel, which the interpreter does. Both have to give the same.

use super::argument::{Given, constant_of};
use super::{Call, KernelText};
use kernpack_kernel_ir::{Const, Scalar};

/// Where results stand, if the expression is not longer.
const RESULT_COLUMN: usize = 44;

/// The block with what its expressions give now.
///
/// # Errors
/// An expression that gives one thing while compiling and another in the kernel.
pub fn rewritten(block: &str) -> Result<String, String> {
    let line = |line: &str| {
        let expression = line.split("  #").next().unwrap_or_default().trim_end();
        if expression.is_empty() || expression.starts_with('#') {
            return Ok(line.to_string());
        }
        Ok(format!("{expression:RESULT_COLUMN$}  # {}", given(expression)?))
    };
    Ok(block.lines().map(line).collect::<Result<Vec<_>, String>>()?.join("\n"))
}

/// What an expression gives, with its type, or what is wrong with it.
fn given(expression: &str) -> Result<String, String> {
    let compiled = computed(expression, &[]);
    let (lifted, operands) = lifted(expression);
    if operands.is_empty() {
        return Ok(compiled);
    }
    let run = computed(&lifted, &operands);
    match compiled == run || is_same_error(&compiled, &run) {
        true => Ok(run),
        false => {
            Err(format!("`{expression}` is {compiled} while compiling, and {run} in a kernel"))
        }
    }
}

/// Whether both are errors of one code, which may differ in what they call the operands.
fn is_same_error(one: &str, other: &str) -> bool {
    let code = |told: &str| told.split_once("]: ").map(|(code, _)| code.to_string());
    code(one).is_some() && code(one) == code(other)
}

/// Of all types the one that a name has which is given the value. A literal would take any that it
/// fits: first come those that it has alone.
fn computed(expression: &str, operands: &[Const]) -> String {
    let mut problem = String::new();
    for scalar in [Scalar::I64, Scalar::U64, Scalar::F32].iter().chain(Scalar::ALL) {
        match stored(expression, operands, *scalar) {
            Ok(value) => return format!("{scalar} {value}"),
            Err(told) if told.starts_with("error[element-type]") => {}
            Err(told) => problem = told.lines().next().unwrap_or_default().to_string(),
        }
    }
    problem
}

fn stored(expression: &str, operands: &[Const], scalar: Scalar) -> Result<Const, String> {
    let named = |i: usize| format!("operand{i}");
    let params: String = (0..operands.len()).map(|i| format!(", {}", named(i))).collect();
    let text = format!("@kp.kernel\ndef k(out{params}):\n    r = {expression}\n    out[0] = r");
    let numbers = operands.iter().enumerate().map(|(i, value)| Given::number(named(i), *value));
    let given = [Given::result("out", scalar)].into_iter().chain(numbers).collect();
    let call =
        Call { kernel: "k".to_string(), grid: [1; 3], block: [1; 3], cluster: [1; 3], given };
    let ran = KernelText::new(&text).run(&call)?;
    match ran.told.is_empty() {
        true => Ok(ran.written[0].1[0]),
        false => Err(ran.told),
    }
}

/// The expression with names instead of numbers that have a type, and these numbers.
fn lifted(expression: &str) -> (String, Vec<Const>) {
    let (mut lifted, mut operands) = (String::new(), Vec::new());
    let mut rest = expression;
    while let Some((before, after)) = rest.split_once("kp.") {
        lifted.push_str(before);
        match typed(after) {
            Some((value, behind)) => {
                lifted.push_str(&format!("operand{}", operands.len()));
                operands.push(value);
                rest = behind;
            }
            None => {
                lifted.push_str("kp.");
                rest = after;
            }
        }
    }
    lifted.push_str(rest);
    (lifted, operands)
}

/// `int32(-7)` or `float32.inf`, and what stands behind it.
fn typed(text: &str) -> Option<(Const, &str)> {
    let end = text.find(['(', '.'])?;
    let scalar = Scalar::parse(&text[..end])?;
    let behind = &text[end + 1..];
    if text.as_bytes()[end] == b'.' {
        let word = ["inf", "nan"].into_iter().find(|word| behind.starts_with(word))?;
        return Some((constant_of(scalar, word).ok()?, &behind[word.len()..]));
    }
    let (number, behind) = behind.split_once(')')?;
    Some((constant_of(scalar, number).ok()?, behind))
}
