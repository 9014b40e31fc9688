// SPDX-License-Identifier: Apache-2.0
//! Kernels that are written as operations, in the text form of kernel-ir: whether they keep the
//! rules, and what a launch of one needs. A parameter is given what stands at its place.

use super::{Call, FILE, Made, Passed};
use kernpack_codegen::kernel::nvptx::check_needs;
use kernpack_kernel_ir::text::{Item, parse};
use kernpack_kernel_ir::{Kernel, verify};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Diagnostics, Texts};

/// The oldest GPU that code is made for, and the oldest PTX: for those code is asked for, where the
/// kernel says for none.
const OLDEST: (Arch, u32) = (Arch::OLDEST_OF_KERNELS, 70);

/// What the verifier says of each kernel and function of a text: that it keeps the rules, or what
/// is wrong with it, and what it needs that the oldest GPU has not, or the one that it is for.
pub fn verdicts(text: &str) -> String {
    let mut texts = Texts::default();
    match read(text, &mut texts) {
        Ok(items) => {
            let verdicts: Vec<_> = items.iter().map(|item| verdict(item, &texts)).collect();
            verdicts.join("\n")
        }
        Err(problems) => problems.in_texts(&texts),
    }
}

fn verdict(item: &Item, texts: &Texts) -> String {
    let (kernel, verified) = match item {
        Item::Kernel(kernel) => (kernel, verify::verify(kernel).map(|_| ())),
        Item::Function(function) => (&function.kernel, verify::verify_function(function)),
    };
    if let Err(problems) = verified {
        return problems.in_texts(texts);
    }
    let (arch, ptx) = kernel.archs.first().map_or(OLDEST, |arch| (*arch, u32::MAX));
    let needs = check_needs(kernel, arch, ptx).err().unwrap_or_default();
    format!("{} keeps the rules\n{}", kernel.name, needs.in_texts(texts)).trim_end().to_string()
}

fn read(text: &str, texts: &mut Texts) -> Result<Vec<Item>, Diagnostics> {
    let id = texts.add(FILE, text);
    parse(&texts.snippet(id))
}

fn kernel(text: &str, name: &str, texts: &mut Texts) -> Result<Kernel, Diagnostics> {
    let kernels = read(text, texts)?.into_iter().filter_map(|item| match item {
        Item::Kernel(kernel) => Some(kernel),
        Item::Function(_) => None,
    });
    let found = kernels.into_iter().find(|kernel| kernel.name == name);
    found.ok_or_else(|| Diagnostic::new("missing-kernel", format!("no kernel `{name}`")).into())
}

/// The kernel of a launch, and what its parameters are given.
pub(super) fn made(text: &str, call: &Call, texts: &mut Texts) -> Result<Made, Diagnostics> {
    let kernel = kernel(text, &call.kernel, texts)?;
    let passed = call.given.iter().map(|given| match given.scalar() {
        Some(number) => Passed::Number(number),
        None => Passed::Tensor(given.name.clone()),
    });
    Ok(Made { passed: passed.collect(), kernel, warnings: Diagnostics::default() })
}

/// The names of a kernel's parameters.
pub(super) fn parameters(text: &str, name: &str) -> Vec<String> {
    let found = kernel(text, name, &mut Texts::default());
    found.map_or(Vec::new(), |kernel| kernel.params.into_iter().map(|param| param.name).collect())
}
