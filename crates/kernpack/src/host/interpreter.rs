// SPDX-License-Identifier: Apache-2.0
//! The interpreter as the place where functions run: the feature `check`.
//!
//! The package's plan checks the arguments as a call does. Its kernels then run on copies of the
//! tensors, and what they have written is put back. Not here: the interpreter itself.

#![expect(unsafe_code, reason = "arguments and tensors are C's")]

use super::array::array;
use super::lend::view_with;
use super::library::other_signature;
use super::tensor::object_of;
use crate::call::{Any, Entry, Returned};
use crate::package::{drawn, problems};
use crate::{Error, Package, Place, Result};
use core::ffi::c_void;
use core::ptr;
use kernpack_ffi_abi::{DeviceType, ErrorKind, ManagedTensor, TypeIndex};
use kernpack_package::interpret::values::{self, NotOnHost};
use kernpack_package::interpret::{
    InterpretError, Interpretable, InterpretedPassed, Passed, PassedOptions, PassedResult,
};
use kernpack_package::{Held, WrittenPackage};
use kernpack_process::memory;
use kernpack_syntax::{Diagnostics, Told};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The interpreter of kernels, in the place of a stream: calls run on the CPU, without a GPU, and
/// what is wrong with a kernel is the error of the call: races, what is read or written where no
/// tensor is, results that nobody has written, each with its line.
///
/// ```ignore
/// #[test]
/// fn rows_have_unit_norm() -> kernpack::Result<()> {
///     let kernels = kernpack::Interpreter::open("src/norm.py")?;
///     let x = Array2::from_elem((3, 1000), 2.0f32);
///     let mut y = Array2::zeros((3, 1000));
///     norm::rms_norm(&kernels, &x, &mut y).eps(1e-5).call()?;
///     assert!(y.iter().all(|y| (y - 1.0).abs() < 1e-4));
///     Ok(())
/// }
/// ```
///
/// It takes tensors on the CPU: arrays of `ndarray`, [`View`](crate::View)s, what functions
/// returned.
#[derive(Debug)]
pub struct Interpreter {
    package: WrittenPackage,
    held: Held,
    /// The texts of the package, and what there is to be said of them.
    told: Told,
    seed: u64,
    /// The functions that were called.
    functions: Mutex<BTreeMap<String, Arc<Interpretable>>>,
}

impl Package {
    /// The interpreter of the package's kernels.
    ///
    /// # Errors
    /// All that is wrong with the text. What is wrong with a kernel is told when it is called.
    pub fn interpreter(&self) -> Result<Interpreter> {
        let held = self.held.below(&self.base);
        let (package, told) = self.read(&held)?;
        Ok(Interpreter { package, held, told, seed: 0, functions: Mutex::default() })
    }
}

impl Interpreter {
    /// The interpreter of the kernels of a package file or a kernel file. Under `cargo test` a
    /// relative path begins at the folder of `Cargo.toml`.
    ///
    /// # Errors
    /// Where it cannot be read; all that is wrong with its text.
    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Interpreter> {
        Package::open(path)?.interpreter()
    }

    /// The same, with warps and blocks in another order for each seed. 0 is the plain one.
    #[must_use]
    pub fn seed(self, seed: u64) -> Interpreter {
        Interpreter { seed, ..self }
    }

    /// A function, which has to have that signature.
    fn function(&self, signature: &str) -> Result<Arc<Interpretable>> {
        let name = signature.split('(').next().unwrap_or_default();
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = functions.get(name) {
            return Ok(function.clone());
        }
        let function = Interpretable::of(&self.package, name, &self.held);
        let function = Arc::new(function.map_err(|error| self.error(error))?);
        let found = function.function.signature.to_string();
        if found != signature {
            return Err(other_signature(name, &self.told.name, signature, &found));
        }
        functions.insert(name.to_string(), function.clone());
        Ok(function)
    }

    /// The error of a call that was not made.
    fn error(&self, error: InterpretError) -> Error {
        match error {
            InterpretError::Problems(found) => problems(self.told.clone().and(found)),
            InterpretError::Refused { kind: ErrorKind::TypeError, message } => Error::Type(message),
            InterpretError::Refused { kind: ErrorKind::ValueError, message } => {
                Error::Value(message)
            }
            InterpretError::Refused { kind: ErrorKind::RuntimeError, message }
            | InterpretError::Other(message) => Error::Runtime(message),
        }
    }

    /// The error of kernels in which something is wrong.
    fn found(&self, findings: Diagnostics) -> Result<()> {
        match findings.0.is_empty() {
            true => Ok(()),
            false => Err(Error::Check(drawn(&self.told.clone().and(findings)))),
        }
    }
}

// SAFETY: a call reads and writes what the caller vouches for.
unsafe impl Place for Interpreter {
    unsafe fn call(&self, entry: Entry<'_>, args: &[Any]) -> Result<Returned> {
        let function = self.function(entry.signature())?;
        // SAFETY: the caller's arguments are what the signature asks for.
        let arguments = unsafe { values::read(args, &[]) }.map_err(not_on_host)?;
        let most_memory = memory::usual();
        // SAFETY: tensors have the elements that they say.
        let mut copy = |address, bytes: &mut [u8]| unsafe { values::copy(address, bytes) };
        let passed = Passed::of(arguments, most_memory, &mut copy);
        let passed = passed.map_err(|error| self.error(error))?;
        let options = PassedOptions { seed: self.seed, most_memory, ..PassedOptions::default() };
        let done = function.call(passed, &options).map_err(|error| self.error(error))?;
        let InterpretedPassed { findings, results, tensors, memories, .. } = done;
        // SAFETY: the caller has the tensors that the function writes to himself.
        unsafe { values::put_back(&tensors, &memories) };
        self.found(findings)?;
        returned(&results)
    }

    fn passed(&self) -> *mut c_void {
        ptr::null_mut()
    }
}

/// The error of a tensor on a GPU.
fn not_on_host(NotOnHost(device): NotOnHost) -> Error {
    Error::Type(format!(
        "the interpreter runs on the CPU, and a tensor is on {device}: pass a copy of it on the CPU"
    ))
}

/// The value that a call returns: nothing, a tensor, or an array of them.
fn returned(results: &[PassedResult]) -> Result<Returned> {
    let tensors = results.iter().map(tensor).collect::<Result<Vec<_>>>()?;
    match tensors.len() {
        0 => Ok(Returned::none()),
        1 => Ok(tensors.into_iter().next().unwrap_or_else(Returned::none)),
        _ => array(&tensors),
    }
}

/// A tensor of its own with these contents.
fn tensor(PassedResult { dtype, shape, bytes }: &PassedResult) -> Result<Returned> {
    // Words that no element of any type lies askew in.
    let mut memory = vec![0u128; bytes.len().div_ceil(size_of::<u128>())];
    let to = memory.as_mut_ptr();
    // SAFETY: there are as many bytes or more, and they are nobody else's.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), bytes.len()) };
    let (device, extents) = ((DeviceType::CPU, 0), shape.as_ptr() as u64);
    let view = view_with(*dtype, to as u64, device, extents, 0, shape.len());
    // SAFETY: the view has as many extents as it says.
    let managed = unsafe { ManagedTensor::over(&view, memory) };
    // SAFETY: it has just been made.
    let object = unsafe { object_of(managed) }?;
    Ok(Returned::object(TypeIndex::TENSOR, object))
}
