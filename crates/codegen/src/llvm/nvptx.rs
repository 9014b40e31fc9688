// SPDX-License-Identifier: Apache-2.0
//! From a module of kernels to PTX, the text that NVIDIA's assembler and driver read.
//!
//! Few passes run before the code generator: it has those itself that kernels gain from, and one
//! that some do without (`strength`); the assembler optimises once more. Variables become values,
//! what is computed twice is computed once, and what can be known is; more made no machine code
//! better. What LLVM's larger passes would bring into the form that its code generator likes, the
//! lowering writes so at once.
//!
//! The module must be right, and must use nothing that the architecture has not: an instruction
//! that LLVM cannot select ends the process. Not here: which version of PTX an instruction needs.

use super::cache_hint::JOINING;
use super::{Emitter, strength};
use inkwell::OptimizationLevel;
use inkwell::passes::PassBuilderOptions;
use inkwell::support::LLVMString;
use inkwell::targets::{
    CodeModel, FileType, RelocMode, Target as LlvmTarget, TargetMachine, TargetTriple,
};
use kernpack_machine::{Arch, ArchKind, PtxVersion};

/// NVIDIA's GPUs, with 64-bit addresses.
const TRIPLE: &str = "nvptx64-nvidia-cuda";
/// The passes that make values of variables: of arrays too, or where there are none.
const TO_VALUES: [&str; 2] = ["sroa", "mem2reg"];
/// The passes behind it.
const PASSES: &str = "early-cse,instsimplify";
/// The pass that takes away what nobody uses.
const UNUSED: &str = "dce";
/// The versions of PTX that LLVM writes.
const VERSIONS: &[PtxVersion] = &[
    PtxVersion::new(4, 0),
    PtxVersion::new(4, 1),
    PtxVersion::new(4, 2),
    PtxVersion::new(4, 3),
    PtxVersion::new(5, 0),
    PtxVersion::new(6, 0),
    PtxVersion::new(6, 1),
    PtxVersion::new(6, 2),
    PtxVersion::new(6, 3),
    PtxVersion::new(6, 4),
    PtxVersion::new(6, 5),
    PtxVersion::new(7, 0),
    PtxVersion::new(7, 1),
    PtxVersion::new(7, 2),
    PtxVersion::new(7, 3),
    PtxVersion::new(7, 4),
    PtxVersion::new(7, 5),
    PtxVersion::new(7, 6),
    PtxVersion::new(7, 7),
    PtxVersion::new(7, 8),
    PtxVersion::new(8, 0),
    PtxVersion::new(8, 1),
    PtxVersion::new(8, 2),
    PtxVersion::new(8, 3),
    PtxVersion::new(8, 4),
    PtxVersion::new(8, 5),
    PtxVersion::new(8, 6),
    PtxVersion::new(8, 7),
    PtxVersion::new(8, 8),
    PtxVersion::new(9, 0),
];
/// The newest of them.
pub const NEWEST: PtxVersion = VERSIONS[VERSIONS.len() - 1];

/// How PTX is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PtxOptions {
    /// The least version of PTX, where something in the module needs a later one than the
    /// architecture does.
    pub version: Option<PtxVersion>,
    /// Whether sums and products stay as they are written, without strength reduction, which takes
    /// long where there are very many.
    pub as_written: bool,
}

/// Why there is no PTX.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PtxError {
    /// Nobody knows the architecture.
    #[error("LLVM writes no PTX for {0}")]
    Arch(Arch),
    /// That version is too new.
    #[error("LLVM writes no PTX of version {0}, which is newer than it knows")]
    Version(PtxVersion),
    /// LLVM's own words for what it could not do: a bug of kernpack's.
    #[error("LLVM refused the generated kernels: {0}")]
    Refused(String),
}

/// PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// The text.
    pub text: String,
    /// Of each function, by its name, the [arrays of threads](Emitter::thread_array) that have not
    /// become values.
    pub arrays: Vec<(String, Vec<String>)>,
}

/// Writes the module as PTX for an architecture, `sm_90a` and `compute_90a` alike. The module is
/// spent: passes have changed it for this architecture.
///
/// # Errors
/// Where LLVM has no such architecture or version, and where it finds the module malformed.
pub fn ptx(emitter: &Emitter<'_>, arch: Arch, options: &PtxOptions) -> Result<Ptx, PtxError> {
    let refused = |error: LLVMString| PtxError::Refused(error.to_string());
    let module = &emitter.module;
    let machine = machine(arch, options)?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    module.verify().map_err(refused)?;
    let to_values = TO_VALUES[usize::from(emitter.thread_arrays().is_empty())];
    let passes = format!("function({to_values},{PASSES})");
    module.run_passes(&passes, &machine, PassBuilderOptions::create()).map_err(refused)?;
    if emitter.pair_conversions() {
        let unused = format!("function({UNUSED})");
        module.run_passes(&unused, &machine, PassBuilderOptions::create()).map_err(refused)?;
    }
    if emitter.has_hints() {
        let joining = format!("function({JOINING})");
        module.run_passes(&joining, &machine, PassBuilderOptions::create()).map_err(refused)?;
        emitter.write_hints();
    }
    let arrays = emitter.thread_arrays();
    emitter.hide_confused();
    if options.as_written {
        strength::leave_out(emitter.context);
    }
    let text = machine.write_to_memory_buffer(module, FileType::Assembly).map_err(refused)?;
    Ok(Ptx { text: String::from_utf8_lossy(text.as_slice()).into_owned(), arrays })
}

fn machine(arch: Arch, options: &PtxOptions) -> Result<TargetMachine, PtxError> {
    crate::link::initialize_llvm();
    let version = version(arch, options)?;
    let triple = TargetTriple::create(TRIPLE);
    let llvm =
        LlvmTarget::from_triple(&triple).map_err(|error| PtxError::Refused(error.to_string()))?;
    let machine = llvm.create_target_machine(
        &triple,
        &Arch { kind: ArchKind::Sm, ..arch }.to_string(),
        &format!("+ptx{}{}", version.major, version.minor),
        OptimizationLevel::Default,
        RelocMode::Default,
        CodeModel::Default,
    );
    let machine = machine.ok_or_else(|| PtxError::Refused(format!("no machine for {arch}")))?;
    machine.set_asm_verbosity(false);
    Ok(machine)
}

/// The version to write: the first that has the architecture, or what is asked for beyond that.
fn version(arch: Arch, options: &PtxOptions) -> Result<PtxVersion, PtxError> {
    let first = arch.first_ptx().ok_or(PtxError::Arch(arch))?;
    let least = first.max(options.version.unwrap_or(first));
    let enough = VERSIONS.iter().copied().find(|version| *version >= least);
    enough.ok_or(PtxError::Version(least))
}

#[cfg(test)]
mod tests;
