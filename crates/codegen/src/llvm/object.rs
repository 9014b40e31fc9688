// SPDX-License-Identifier: Apache-2.0
//! From a module to an object file.

use super::Emitter;
use inkwell::OptimizationLevel;
use inkwell::targets::{
    CodeModel, FileType, InitializationConfig, RelocMode, Target as LlvmTarget, TargetMachine,
    TargetTriple,
};
use kernpack_package::target::Target;
use std::sync::Once;

/// LLVM's own words for what it could not do: a bug of kernpack's.
#[derive(Clone, Debug, thiserror::Error)]
#[error("LLVM refused the generated code: {0}")]
pub struct CodegenError(String);

/// The effort of the code generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Code that is there soon: values go through memory between blocks.
    Quick,
    /// Code that is as quick as written C: the code generator's first level.
    Careful,
}

/// Compiles the module for a target.
///
/// No passes run over the module: the lowering emits each value once and nothing that is not
/// needed, and what passes found in entry points did not change a byte of the result.
///
/// # Errors
/// Where LLVM finds the module malformed.
pub fn write_object(
    emitter: &Emitter<'_>,
    target: &Target,
    effort: Effort,
) -> Result<Vec<u8>, CodegenError> {
    let failed = |error: inkwell::support::LLVMString| CodegenError(error.to_string());
    let machine = machine(target, effort)?;
    let module = &emitter.module;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    if cfg!(debug_assertions) {
        module.verify().map_err(failed)?;
    }
    let buffer = machine.write_to_memory_buffer(module, FileType::Object).map_err(failed)?;
    Ok(buffer.as_slice().to_vec())
}

fn machine(target: &Target, effort: Effort) -> Result<TargetMachine, CodegenError> {
    static INITIALIZED: Once = Once::new();
    INITIALIZED.call_once(|| {
        crate::link::initialize_llvm();
        LlvmTarget::initialize_x86(&InitializationConfig::default());
        LlvmTarget::initialize_aarch64(&InitializationConfig::default());
    });
    let triple = TargetTriple::create(target.triple);
    let llvm = LlvmTarget::from_triple(&triple).map_err(|error| CodegenError(error.to_string()))?;
    let machine = llvm.create_target_machine(
        &triple,
        target.cpu,
        target.features,
        match effort {
            Effort::Quick => OptimizationLevel::None,
            Effort::Careful => OptimizationLevel::Less,
        },
        RelocMode::PIC,
        CodeModel::Default,
    );
    machine.ok_or_else(|| CodegenError(format!("no machine for {}", target.triple)))
}
