// SPDX-License-Identifier: Apache-2.0
//! Has random kernels read by everything that reads kernels: the verifier, the printer and the
//! parser, the interpreter in two orders, and the compiler for those architectures that have what a
//! kernel calls. All of them have to accept what the generator makes, and agree.

use super::generated;
use super::image::{arch, image};
use super::interpreted::{Interpreted, interpret};
use super::{Argument, Case};
use kernpack_kernel_ir::generate::{first_difference, generate};
use kernpack_kernel_ir::text::{Item, parse};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What kernels are compiled for, as PTX and as machine code.
const ARCHS: [[&str; 2]; 3] =
    [["compute_80", "sm_80"], ["compute_90", "sm_90"], ["compute_100", "sm_100"]];
/// The assembler is slow: it gets one kernel of so many.
const ONE_ASSEMBLED_OF: u64 = 16;

/// Reads the kernel of a seed.
///
/// # Errors
/// What went wrong, with how to repeat it.
pub fn read(seed: u64) -> Result<(), String> {
    let read = AssertUnwindSafe(|| read_kernel(seed));
    let outcome = catch_unwind(read).unwrap_or_else(|_| Err("it panics".to_string()));
    outcome.map_err(|problem| format!("kernels soak --seed {seed} --count 1\n{problem}"))
}

fn read_kernel(seed: u64) -> Result<(), String> {
    printed_and_parsed(seed)?;
    let case = generated::case(seed)?;
    interpreted(&case, seed)?;
    for (place, [ptx, machine]) in ARCHS.into_iter().enumerate() {
        let is_assembled = seed % ONE_ASSEMBLED_OF == place as u64;
        let arch = arch(if is_assembled { machine } else { ptx });
        if case.is_for(arch) {
            image(&[&case.kernel], arch)?;
        }
    }
    Ok(())
}

fn printed_and_parsed(seed: u64) -> Result<(), String> {
    let text = generate(seed).kernel.to_string();
    let items = parse(&text.as_str().into()).map_err(|problems| format!("{problems}\n{text}"))?;
    let again = match items.as_slice() {
        [Item::Kernel(kernel)] => kernel.to_string(),
        _ => String::new(),
    };
    if again == text {
        Ok(())
    } else {
        Err(format!("it is read as another:\n{again}\nof:\n{text}"))
    }
}

/// Whatever the order, a kernel leaves the same in its buffers, and nothing is wrong with it.
fn interpreted(case: &Case, seed: u64) -> Result<(), String> {
    let [plain, other] = [0, seed | 1].map(|order| interpret(case, order));
    for Interpreted { outcome, .. } in [&plain, &other] {
        if let Some(finding) = outcome.findings.first() {
            return Err(format!("the interpreter finds: {}", finding.message));
        }
        if !outcome.is_complete {
            return Err("it does not end".to_string());
        }
    }
    let buffers = case.arguments.iter().filter_map(Argument::buffer);
    let elements = buffers.map(|buffer| buffer.element);
    for ((element, plain), other) in elements.zip(&plain.buffers).zip(&other.buffers) {
        if let Some(place) = first_difference(element, plain, other) {
            return Err(format!("element {place} of a {element} buffer depends on the order"));
        }
    }
    Ok(())
}
