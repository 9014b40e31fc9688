// SPDX-License-Identifier: Apache-2.0
//! The object of a package: generated code, the runtime, users' objects and the record, merged into
//! one in which only entry points can be seen.

use crate::error::CompileError;
use crate::lower::Described;
use crate::parts::Parts;
use crate::symbols;
use kernpack_codegen::link::{self, Input};
use kernpack_package::export::{self, Imports, Record, RecordContext, note};
use kernpack_package::package::Role;

/// A relocatable object, and what is in it.
#[derive(Debug)]
pub struct PackageObject {
    /// The object.
    pub bytes: Vec<u8>,
    /// The record of the package.
    pub record: Record,
}

impl PackageObject {
    /// Makes the object of these parts.
    ///
    /// # Errors
    /// Where the objects do not go together, or need what they cannot have.
    pub fn of(parts: &Parts<'_>) -> Result<PackageObject, CompileError> {
        let mut record = record(parts);
        let described = described(parts, &record);
        let program = parts.program();
        let code = match &parts.entry_code {
            Some(made) => vec![made.clone()?, program.lower_description(&described, &parts.gpu)?],
            None => vec![program.lower(&described, &parts.gpu)?],
        };
        let bytes = link(parts, &code, &mut record)?;
        Ok(PackageObject { bytes, record })
    }
}

/// The record of a package, as far as it is known before there is code.
fn record(parts: &Parts<'_>) -> Record {
    let Parts { package, target, host, gpu, .. } = parts;
    let images: Vec<_> =
        gpu.modules.iter().map(|module| (&module.source, &module.artifact.images[..])).collect();
    let undefined = symbols::needed_by_user(host);
    let on_gpu = !gpu.kernels.is_empty();
    let context = RecordContext {
        target: target.name,
        sources: &parts.source_bytes(),
        libraries: &symbols::libraries(&undefined, &package.link, on_gpu, target),
        undefined: &undefined,
        images: &images,
    };
    export::record(package, &context)
}

/// The descriptions of the entry points that a user described.
fn described<'p>(parts: &'p Parts<'_>, record: &Record) -> Vec<Described<'p>> {
    let calls = parts.entry_points.iter().filter(|entry_point| entry_point.role == Role::Call);
    let described = calls.map(|entry_point| {
        let function = &entry_point.function;
        let metadata = export::function_metadata(function, record);
        Described { name: &function.signature.name, metadata, doc: function.doc.as_deref() }
    });
    described.collect()
}

/// Merges everything. The record learns what the others need.
fn link(parts: &Parts<'_>, code: &[Vec<u8>], record: &mut Record) -> Result<Vec<u8>, CompileError> {
    let _span = tracing::debug_span!("merge").entered();
    let Parts { target, host, gpu, .. } = parts;
    let names: Vec<_> = host.modules.iter().map(|module| module.source.name()).collect();
    let generated = code.iter().map(|bytes| Input { name: "generated code", bytes });
    let mut inputs: Vec<_> = generated.collect();
    let runtime = kernpack_runtime::object(target.runtime);
    inputs.push(Input { name: "kernpack runtime", bytes: runtime });
    if !gpu.kernels.is_empty() {
        let bytes = kernpack_runtime::cuda_object(target.runtime);
        inputs.push(Input { name: "kernpack runtime for CUDA", bytes });
    }
    let modules = host.modules.iter().zip(&names);
    inputs.extend(modules.map(|(module, name)| Input { name, bytes: &module.object }));
    symbols::check_reserved(host, &inputs)?;
    record.imports = Imports::of(&link::needs(&inputs)?);
    let note = link::note(target.elf, note::SECTION, &note::encode(record), note::ALIGN)?;
    inputs.push(Input { name: "record", bytes: &note });
    let merged = link::merge(target.elf, &inputs)?;
    let object = link::localise(&merged, &symbols::is_entry_point, &host.own_names())?;
    symbols::check_undefined(&object, &inputs, &record.undefined)?;
    Ok(object)
}
