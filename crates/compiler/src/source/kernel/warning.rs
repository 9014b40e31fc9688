// SPDX-License-Identifier: Apache-2.0
//! Warnings about slow kernels, at their lines: what stays in a thread's memory, and what the
//! assembler remarks on.

use super::build::Code;
use crate::source::nvjitlink::{FunctionReport, LineTable, Remark, Report, Severity};
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::kernel::Local;
use kernpack_package::source::KernelSource;
use kernpack_syntax::{Diagnostic, Span};

/// Warnings about kernels, each once, though several architectures have it.
pub(super) fn warnings(
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
        let remarks = code.report.iter().flat_map(|report| remarks(kernels, code, report));
        for warning in of_kernels.chain(remarks) {
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

/// Remarks of the assembler that are worth a warning.
fn remarks(kernels: &[&Kernel], code: &Code, report: &Report) -> Vec<Diagnostic> {
    let is_told =
        |remark: &&Remark| remark.is_performance_loss() || remark.severity >= Severity::Warning;
    let told = report.remarks.iter().filter(is_told);
    let lines = LineTable::read(&code.lowered.text);
    let told = told.map(|remark| {
        let message = match remark.is_performance_loss() {
            true => {
                format!("the assembler had instructions wait for one another for {}", code.arch)
            }
            false => format!("the assembler warns of code for {}", code.arch),
        };
        let of = remark.function.as_ref();
        let kernel = kernels.iter().find(|kernel| Some(&kernel.name) == of);
        let line = kernel.and_then(|kernel| line_place(kernel, &lines, remark));
        let place = line.or_else(|| kernel.map(|kernel| kernel_place(kernel)));
        Diagnostic::warning("assembler-warning", message)
            .at(place.unwrap_or_default())
            .detail(remark.text.clone())
    });
    told.collect()
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
