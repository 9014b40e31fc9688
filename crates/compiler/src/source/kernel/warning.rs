// SPDX-License-Identifier: Apache-2.0
//! Remarks on slow kernels, at their lines: what stays in a thread's memory, and what the assembler
//! remarks on. They are warnings, unless matrix units do not do what they are for.

use super::build::Code;
use crate::source::assembler::{
    Advisory, AssemblerKind, FunctionReport, LineTable, Matter, Remark, Report, Severity,
};
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::kernel::Local;
use kernpack_kernel_ir::op::{Op, OpKind, Region};
use kernpack_package::source::KernelSource;
use kernpack_syntax::{Diagnostic, Span};

/// Remarks on kernels, each once, though several architectures have it.
pub(super) fn remarks(
    source: &KernelSource,
    kernels: &[&Kernel],
    codes: &[Code],
) -> Vec<Diagnostic> {
    let mut warnings: Vec<Diagnostic> = Vec::new();
    // Of PTX nobody knows more than the assembler says of machine code.
    let is_assembled = codes.iter().any(|code| code.report.is_some());
    for code in codes.iter().filter(|code| code.report.is_some() || !is_assembled) {
        let of_kernels = kernels.iter().enumerate().flat_map(|(number, kernel)| {
            let report = code.report.as_ref().and_then(|report| report.function(&kernel.name));
            let kept = &code.lowered.kept[number];
            in_memory(kernel, kept, code, report).into_iter().chain(spilled(kernel, code, report))
        });
        let told = code.report.iter().flat_map(|report| assemblers(kernels, code, report));
        for warning in of_kernels.chain(told).chain(unassembled(kernels, code)) {
            let warning = warning.at(source.path.span);
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

/// Register tensors that are not in registers. What LLVM leaves in memory the assembler may yet
/// take out of it, and says then that there is none.
fn in_memory(
    kernel: &Kernel,
    kept: &[Local],
    code: &Code,
    report: Option<&FunctionReport>,
) -> Vec<Diagnostic> {
    if report.is_some_and(|report| report.least_local_bytes() == 0) {
        return vec![];
    }
    let kept = kept.iter().map(|local| {
        let array = &kernel.locals[local.index()];
        let message = format!(
            "the register tensor `{}` stays in local memory for {}, as an index of it is known only when the kernel runs",
            array.name, code.arch
        );
        Diagnostic::warning("local-memory", message)
            .mark(kernel.place(array.place).span, "")
            .help("index it with constants, and run loops over it with `range_constexpr`")
    });
    kept.collect()
}

fn spilled(kernel: &Kernel, code: &Code, report: Option<&FunctionReport>) -> Option<Diagnostic> {
    let report = report.filter(|report| report.has_spills())?;
    let bytes = report.spill_store_bytes.max(report.spill_load_bytes).unwrap_or_default();
    let message = format!(
        "`{}` has more values than registers for {}: {bytes} bytes of a thread go to memory and back",
        kernel.name, code.arch
    );
    let warning = Diagnostic::warning("register-spills", message).at(kernel_place(kernel));
    Some(warning.help("keep less at once: smaller tiles, or more threads for one"))
}

/// That the driver has to make machine code.
fn unassembled(kernels: &[&Kernel], code: &Code) -> Option<Diagnostic> {
    let words = code.missing.as_ref()?.to_string();
    let (looked, places) = words.split_once(":\n").unwrap_or((&words, ""));
    let message = format!(
        "for {} there is PTX, which the driver assembles where it is loaded: {looked}",
        code.arch
    );
    let place = kernels.iter().find_map(|kernel| uses(kernel)).unwrap_or_default();
    Some(Diagnostic::warning("no-assembler", message).at(place).detail(places))
}

/// Remarks of the assembler that are worth telling.
fn assemblers(kernels: &[&Kernel], code: &Code, report: &Report) -> Vec<Diagnostic> {
    let lines = LineTable::read(&code.lowered.text);
    let told = report.remarks.iter().filter_map(|remark| {
        let advisory = Advisory::of(remark);
        let of = remark.function.as_ref();
        // A remark without a name is of the only kernel that it can be of.
        let only = || kernels.iter().find(|kernel| advisory.is_some() && uses(kernel).is_some());
        let kernel = kernels.iter().find(|kernel| Some(&kernel.name) == of).or_else(only);
        let place = || {
            let kernel = kernel?;
            let line = line_place(kernel, &lines, remark);
            let used = || advisory.and_then(|_| uses(kernel));
            Some(line.or_else(used).unwrap_or_else(|| kernel_place(kernel)))
        };
        let diagnostic = match advisory {
            Some(advisory) => advised(advisory, kernel.map(|kernel| &kernel.name[..]), code),
            None => plain(remark, code)?,
        };
        Some(diagnostic.at(place().unwrap_or_default()).detail(remark.text.clone()))
    });
    told.collect()
}

/// A remark about matrix units.
fn advised(advisory: Advisory, kernel: Option<&str>, code: &Code) -> Diagnostic {
    let kernel = kernel.map_or("a kernel".to_string(), |name| format!("`{name}`"));
    let Advisory { matter, reason, help } = advisory;
    let arch = code.arch;
    let diagnostic = match matter {
        Matter::Serialized => {
            let message = format!("products of {kernel} wait for one another for {arch}: {reason}");
            Diagnostic::new("serialized-products", message)
        }
        Matter::Registers => {
            let message = format!("`setmaxnreg` of {kernel} has no effect for {arch}: {reason}");
            Diagnostic::new("setmaxnreg-ignored", message)
        }
        Matter::Injected => {
            let message = format!("products of {kernel} are waited for early for {arch}: {reason}");
            Diagnostic::warning("injected-wait", message)
        }
    };
    diagnostic.help(help)
}

/// Another remark, where it is about speed or about what may be wrong.
fn plain(remark: &Remark, code: &Code) -> Option<Diagnostic> {
    let message = match remark.is_performance_loss() {
        true => format!("the assembler had instructions wait for one another for {}", code.arch),
        false if remark.severity >= Severity::Warning => {
            format!("the assembler warns of code for {}", code.arch)
        }
        false => return None,
    };
    Some(Diagnostic::warning("assembler-warning", message))
}

/// Where a kernel first has an instruction of matrix units.
fn uses(kernel: &Kernel) -> Option<Span> {
    fn first(region: &Region) -> Option<&Op> {
        region.0.iter().find_map(|op| match &op.kind {
            OpKind::Asm(asm) if AssemblerKind::of(&asm.text) == AssemblerKind::Ptxas => Some(op),
            kind => kind.regions().find_map(first),
        })
    }
    first(&kernel.body).map(|op| kernel.place(op.place).span)
}

/// The place of the line that a remark is about, where the PTX has lines.
fn line_place(kernel: &Kernel, lines: &LineTable, remark: &Remark) -> Option<Span> {
    let written = lines.place(remark.line?)?;
    let places = kernel.places.iter().filter(|place| place.file.is_some());
    let of_line = places.filter(|place| place.line == written.line);
    let of_column = of_line.clone().find(|place| place.column == written.column);
    of_column.or_else(|| of_line.min_by_key(|place| place.column)).map(|place| place.span)
}

/// Where a kernel begins: its first operation that somebody wrote.
fn kernel_place(kernel: &Kernel) -> Span {
    let places = kernel.body.0.iter().map(|op| kernel.place(op.place));
    let mut written = places.filter(|place| place.file.is_some());
    written.next().map_or_else(Span::default, |place| place.span)
}
