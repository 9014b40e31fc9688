// SPDX-License-Identifier: Apache-2.0
//! A package with GPU kernels, built from the text of its package file, loaded into this process and called as hosts call it. Its driver is
//! [`cuda_stub`](crate::cuda_stub).
#![expect(unsafe_code, reason = "loads generated code and calls it")]

use crate::fake_ffi;
use crate::memory::Arguments;
use crate::value::{Arrival, Value};
use kernpack_compiler::{Options, compile, package_file};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_ffi_abi::layout::Any;
use libloading::Library;
use std::ffi::c_void;

type EntryPoint = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> i32;

/// A loaded package.
pub struct GpuPackage(Library);

impl GpuPackage {
    /// Builds a package; `files` lie beside its package file.
    ///
    /// # Errors
    /// Why it does not build.
    ///
    /// # Panics
    /// Where the package file cannot be read.
    pub fn build(text: &str, files: &[(&str, &str)]) -> Result<Vec<u8>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).expect("a file");
        }
        let package = package_file::parse(text, folder.path());
        let package = package.unwrap_or_else(|problems| panic!("{problems}"));
        let compiled = compile(&package, &Options::default());
        compiled.and_then(|compiled| compiled.shared_object()).map_err(|error| error.to_string())
    }

    /// Builds and loads a package.
    ///
    /// # Panics
    /// Where it does not build or load.
    pub fn load(text: &str, files: &[(&str, &str)]) -> GpuPackage {
        let bytes = GpuPackage::build(text, files).unwrap_or_else(|error| panic!("{error}"));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("package.so");
        std::fs::write(&path, bytes).expect("a file");
        assert!(fake_ffi::exports().iter().all(|address| *address != 0));
        // SAFETY: the module was just compiled; loading it runs nothing.
        GpuPackage(unsafe { Library::new(&path) }.expect("the package loads"))
    }

    /// Calls a function; the kind and message of an error.
    ///
    /// # Errors
    /// What the function raises.
    ///
    /// # Panics
    /// Where it breaks the ABI.
    pub fn call(&self, name: &str, values: &[Value]) -> Result<(), String> {
        let arguments = Arguments::new(values, Arrival::DLTensor);
        let symbol = format!("{FUNCTION_PREFIX}{name}");
        // SAFETY: the compiler gives every entry point this type.
        let entry = unsafe { self.0.get::<EntryPoint>(symbol.as_bytes()) };
        let entry = *entry.unwrap_or_else(|error| panic!("{error}"));
        let args = std::ptr::with_exposed_provenance(arguments.address() as usize);
        let mut result = Any::default();
        fake_ffi::take_record();
        // SAFETY: the arguments follow the ABI, and the result is an empty value.
        let status = unsafe { entry(std::ptr::null_mut(), args, arguments.count(), &mut result) };
        fake_ffi::drop_result(&result);
        let record = fake_ffi::take_record();
        assert!(record.broken.is_empty(), "{:?}", record.broken);
        match (status, record.error) {
            (0, None) => Ok(()),
            (-1, Some((kind, message))) => Err(format!("{kind}: {message}")),
            other => panic!("{other:?}"),
        }
    }
}
