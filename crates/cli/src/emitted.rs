// SPDX-License-Identifier: Apache-2.0
//! The kernels of a package in a form that people read: what `kernpack emit` shows, and Python's
//! `f.ir`. Not here: how these forms are made.

use clap::ValueEnum;
use kernpack_compiler::source::kernel::{self, LineAccesses, Resources};
use kernpack_compiler::{CompileError, kernel_sources};
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::kernel::PlaceData;
use kernpack_kernel_ir::op::Qualifier;
use kernpack_kernel_ir::timeline::{self, Wait};
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::file::Held;
use kernpack_package::source::KernelSource;
use kernpack_package::{SourceError, WrittenPackage};
use kernpack_syntax::Placed;
use serde_json::{Value as Json, json};

/// The form that kernels are shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// The operations of each kernel, with their lines.
    Ir,
    /// LLVM's text before its passes.
    Llvm,
    /// PTX.
    Ptx,
    /// Machine code, as NVIDIA's disassembler writes it.
    Sass,
    /// Registers, spills, memory, and how many blocks run at once.
    Resources,
    /// How many bytes each line accesses at once, and what is missing for more.
    Accesses,
    /// Where each kernel waits, and for what.
    Waits,
}

impl Form {
    /// The form of that name.
    pub fn of(name: &str) -> Option<Form> {
        Form::from_str(name, false).ok()
    }
}

/// The kernels of one file for one architecture.
#[derive(Debug)]
pub struct Part {
    /// The text for people.
    pub text: String,
    /// The same for programs.
    pub json: Json,
}

/// Why kernels are not shown.
#[derive(Debug)]
pub enum EmitError {
    /// The package, or its kernels, are no good.
    Compile(CompileError),
    /// What is asked for is not there.
    Other(String),
}

/// The kernels of a package, or those of one function, in a form.
///
/// # Errors
/// Where the package is no good, has no such function or no kernel that is written here, or what
/// makes the form is not there.
pub fn emitted(
    package: &WrittenPackage,
    form: Form,
    function: Option<&str>,
    held: &Held,
) -> Result<Vec<Part>, EmitError> {
    let package = match function {
        Some(name) => &of_function(package, name)?,
        None => package,
    };
    let problems = |problems| EmitError::Compile(CompileError::Problems(problems));
    let sources = kernel_sources(package, held).map_err(problems)?;
    if sources.is_empty() {
        return Err(EmitError::Other("no kernel of it is written here".to_string()));
    }
    let mut parts = Vec::new();
    for (source, archs) in &sources {
        for arch in shown_archs(form, archs) {
            parts.push(part(source, arch, form)?);
        }
    }
    Ok(parts)
}

/// The narrowest accesses in a loop of a package's kernels that could be wider, in words.
pub fn narrowest(package: &WrittenPackage, held: &Held) -> Option<String> {
    let mut all = Vec::new();
    for (source, archs) in kernel_sources(package, held).ok()? {
        for arch in shown_archs(Form::Accesses, &archs) {
            all.extend(kernel::accesses(&source, arch).ok()?);
        }
    }
    kernel::narrowest(&all).map(|one| format!("the narrowest loop of `{}`: {one}", one.kernel))
}

fn of_function(package: &WrittenPackage, name: &str) -> Result<WrittenPackage, EmitError> {
    let mut package = package.clone();
    let names = package.functions.iter().map(|one| format!("`{}`", one.signature.name));
    let names = names.collect::<Vec<_>>().join(", ");
    package.functions.retain(|function| function.signature.name == name);
    match package.functions.is_empty() {
        true => {
            let message = format!("there is no function `{name}`; there is {names}");
            Err(EmitError::Other(message))
        }
        false => Ok(package),
    }
}

/// The architectures that kernels are shown for: operations are the same for every one, and code
/// is for a machine.
fn shown_archs(form: Form, archs: &[Placed<Arch>]) -> Vec<Arch> {
    let archs = archs.iter().map(|arch| arch.value);
    if matches!(form, Form::Ir | Form::Waits) {
        return archs.take(1).collect();
    }
    let mut shown: Vec<Arch> = Vec::new();
    for arch in archs.map(|arch| Arch { kind: ArchKind::Sm, ..arch }) {
        if !shown.contains(&arch) {
            shown.push(arch);
        }
    }
    shown
}

fn part(source: &KernelSource, arch: Arch, form: Form) -> Result<Part, EmitError> {
    let mut json = json!({ "file": source.path.display().to_string(), "arch": arch.to_string() });
    let text = match form {
        Form::Ir => {
            let kernels = source.instances.iter().map(|kernel| Kernel::to_string(kernel));
            kernels.collect::<Vec<_>>().join("\n")
        }
        Form::Llvm => kernel::llvm_text(source, arch).map_err(of_source)?,
        Form::Ptx => kernel::ptx_text(source, arch).map_err(of_source)?,
        Form::Sass => {
            let cubin = kernel::cubin(source, arch).map_err(of_source)?;
            kernel::sass(&cubin).map_err(|error| EmitError::Other(error.to_string()))?
        }
        Form::Resources => {
            let all = kernel::resources(source, arch).map_err(of_source)?;
            json["resources"] = all.iter().map(of_kernel).collect();
            all.iter().map(Resources::to_string).collect::<Vec<_>>().join("\n")
        }
        Form::Waits => {
            json["waits"] = source.instances.iter().map(|kernel| of_waits(kernel)).collect();
            let texts = source.instances.iter().map(|kernel| waits_text(kernel));
            texts.collect::<Vec<_>>().join("\n")
        }
        Form::Accesses => {
            let all = kernel::accesses(source, arch).map_err(of_source)?;
            json["accesses"] = all.iter().map(of_line).collect();
            let of_kernels = all.chunk_by(|one, other| one.kernel == other.kernel);
            let texts = of_kernels.map(|lines| {
                let rows = lines.iter().map(|line| format!("\n  {line}"));
                format!("{} for {arch}{}", lines[0].kernel, rows.collect::<String>())
            });
            texts.collect::<Vec<_>>().join("\n")
        }
    };
    json["text"] = text.clone().into();
    Ok(Part { text, json })
}

fn of_source(errors: Vec<SourceError>) -> EmitError {
    EmitError::Compile(CompileError::Problems(SourceError::diagnostics(errors)))
}

fn of_line(of: &LineAccesses) -> Json {
    json!({
        "kernel": of.kernel, "file": of.file, "line": of.line, "column": of.column,
        "tensor": of.site.tensor, "memory": of.site.space.name(), "is_write": of.site.is_write,
        "qualifier": of.site.qualifier.map(Qualifier::name),
        "bytes": of.bytes, "adjacent_bytes": of.site.adjacent_bytes, "missing": of.reason(),
    })
}

/// Where a kernel waits, and the number by which its timelines know it.
fn of_waits(kernel: &Kernel) -> Json {
    let waits = timeline::waits(kernel);
    let waits: Vec<_> = waits.iter().map(|wait| of_wait(kernel, wait)).collect();
    json!({ "kernel": kernel.name, "id": timeline::id(kernel), "waits": waits })
}

/// A wait, at the place of its user, and at that in the library where it is another.
fn of_wait(kernel: &Kernel, wait: &Wait) -> Json {
    let file = |place: &PlaceData| Some(kernel.files.get(place.file?.index())?.as_str());
    let (place, own) = (kernel.place_of_user(wait.place), kernel.place(wait.place));
    let within = (own != place).then(|| Some(format!("{}:{}", file(own)?, own.line))).flatten();
    let array = wait.array.map(|array| &kernel.shared[array.index()].name);
    json!({
        "name": wait.row.name, "left": wait.n_left, "array": array,
        "file": file(place), "line": place.line, "within": within,
    })
}

fn waits_text(kernel: &Kernel) -> String {
    let of_each = timeline::waits(kernel).into_iter().map(|wait| {
        let Wait { row, n_left, array, place } = wait;
        let place = kernel.place_of_user(place);
        let array = array.map(|array| format!(" {}", kernel.shared[array.index()].name));
        let left = n_left.map(|left| format!(" {left}"));
        let line = place.line;
        format!("\n  line {line}: {}{}", row.name, array.or(left).unwrap_or_default())
    });
    format!("{}{}", kernel.name, of_each.collect::<String>())
}

fn of_kernel(of: &Resources) -> Json {
    json!({
        "kernel": of.kernel, "threads": of.threads, "registers": of.registers,
        "spilled_bytes": of.spilled_bytes, "local_bytes": of.local_bytes,
        "shared_bytes": of.shared_bytes, "barriers": of.barriers,
        "blocks_at_once": of.blocks_at_once, "occupancy": of.occupancy.map(|share| share.value()),
    })
}
