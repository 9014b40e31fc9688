// SPDX-License-Identifier: Apache-2.0
//! Packages with GPU kernels, built in this process and called as hosts call them. The driver they
//! find is [`cuda_stub`](crate::cuda_stub)'s, where that is loaded.
#![expect(unsafe_code, reason = "loads generated code and calls it")]

use crate::fake_ffi::{self, Record, SafeCall};
use crate::memory::Arguments;
use crate::value::{Arrival, Tensor, Value};
use kernpack_compiler::{Compiled, Options, compile};
use kernpack_ffi_abi::layout::Any;
use kernpack_ffi_abi::{DType, DeviceType, FUNCTION_PREFIX};
use kernpack_machine::Arch;
use kernpack_package::file::Files;
use kernpack_package::settle::settle;
use kernpack_package::{GpuSource, Held, Language, Package, PackageText, Site, package_file};
use kernpack_syntax::Texts;
use libloading::Library;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A package in a file, which can be loaded any number of times.
pub struct GpuPackage {
    folder: TempDir,
}

impl GpuPackage {
    /// Builds the package that a text describes, with these files beside it.
    pub fn build(text: &str, files: &[(&str, &[u8])]) -> GpuPackage {
        let bytes =
            GpuPackage::compile(text, files).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("package.so"), bytes).expect("the folder can be written");
        GpuPackage { folder }
    }

    /// Builds the package that a file of kernels is. Its name is the package's, and `base` has the
    /// files that it takes in.
    pub fn of_kernels(base: &Path, name: &str, text: &str) -> GpuPackage {
        GpuPackage::of_package(&kernels(base, name, text))
    }

    /// Builds the package that a file of kernels is, as [`of_kernels`](GpuPackage::of_kernels)
    /// does, with PTX in place of machine code: what calls ask the driver for is the same, and a
    /// build takes most of its time to assemble. The sources are those that it would assemble.
    pub fn of_ptx(base: &Path, name: &str, text: &str) -> (GpuPackage, Vec<GpuSource>) {
        let mut package = kernels(base, name, text);
        let mut sources = Vec::new();
        for launch in package.functions.iter_mut().flat_map(|function| &mut function.launches) {
            let Site::Gpu { source, .. } = &mut launch.site else { continue };
            let archs: Vec<_> =
                source.archs().into_iter().flatten().map(|arch| arch.value).collect();
            if !sources.contains(source) {
                sources.push(source.clone());
            }
            source.set_archs(&archs.into_iter().map(Arch::compute).collect::<Vec<_>>());
        }
        (GpuPackage::of_package(&package), sources)
    }

    fn of_package(package: &Package) -> GpuPackage {
        let compiled = compile(package, &Options::default());
        let shared = compiled.unwrap_or_else(|error| panic!("{error}")).shared_object();
        let folder = tempfile::tempdir().expect("a folder");
        let bytes = shared.unwrap_or_else(|error| panic!("{error}")).bytes;
        std::fs::write(folder.path().join("package.so"), bytes).expect("the folder can be written");
        GpuPackage { folder }
    }

    /// Builds a package as [`build`](GpuPackage::build) does, linked by the C compiler with a C
    /// file, whose functions it calls in place of those of the C library.
    pub fn build_beside(text: &str, files: &[(&str, &[u8])], beside: &str) -> GpuPackage {
        let folder = tempfile::tempdir().expect("a folder");
        let compiled = GpuPackage::compile_in(&folder, text, files);
        let compiled = compiled.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let paths = ["package.o", "beside.c", "package.so"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], &compiled.object).expect("the folder can be written");
        std::fs::write(&paths[1], beside).expect("the folder can be written");
        let mut linker = Command::new("cc");
        linker.args(["-shared", "-fPIC", "-fno-builtin", "-Wl,-Bsymbolic", "-o"]);
        let status =
            linker.arg(&paths[2]).args(&paths[..2]).status().expect("there is a C compiler");
        assert!(status.success());
        GpuPackage { folder }
    }

    /// Its shared object, or why there is none.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn compile(text: &str, files: &[(&str, &[u8])]) -> Result<Vec<u8>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let shared = GpuPackage::compile_in(&folder, text, files)?.shared_object();
        shared.map(|shared| shared.bytes).map_err(|error| error.to_string())
    }

    fn compile_in(
        folder: &TempDir,
        text: &str,
        files: &[(&str, &[u8])],
    ) -> Result<Compiled, String> {
        for (name, bytes) in files {
            std::fs::write(folder.path().join(name), bytes).expect("the folder can be written");
        }
        let package =
            package_file::parse(text, folder.path()).map_err(|error| format!("{error:?}"))?;
        compile(&package, &Options::default()).map_err(|error| error.to_string())
    }

    /// Loads it, once more where it is loaded: the loader tells modules apart by their files.
    pub fn load(&self) -> Loaded {
        assert!(fake_ffi::exports().iter().all(|address| *address != 0));
        let copy =
            tempfile::NamedTempFile::new_in(&self.folder).expect("the folder can be written");
        std::fs::copy(self.folder.path().join("package.so"), &copy).expect("it was built");
        // SAFETY: the module was just compiled; loading it runs nothing.
        let library = unsafe { Library::new(copy.path()) };
        Loaded(library.unwrap_or_else(|error| panic!("{error}")))
    }
}

/// What a file of kernels describes.
fn kernels(base: &Path, name: &str, text: &str) -> Package {
    let language = Language::Kernels;
    let reading = PackageText { language, name, text, base, places: &[], specs: &[] }
        .read(&mut Texts::default(), Held::nothing());
    let (mut files, mut problems) = (Files::new(Held::nothing()), reading.problems);
    let settled = settle(&reading.package, &reading.unsound, &mut files, &mut problems);
    assert!(!problems.has_errors(), "{problems}");
    settled.package
}

/// A loaded package. It is unloaded where this is dropped.
pub struct Loaded(Library);

impl Loaded {
    /// Whether it has the function.
    pub fn has(&self, name: &str) -> bool {
        // SAFETY: nothing is called.
        unsafe { self.0.get::<SafeCall>(format!("{FUNCTION_PREFIX}{name}").as_bytes()) }.is_ok()
    }

    /// Calls a function: nothing, or kind and message of the error.
    pub fn call(&self, name: &str, values: &[Value]) -> Result<(), String> {
        self.call_recorded(name, values).0
    }

    /// Calls a function, and says what it asked of the environment too.
    pub fn call_recorded(&self, name: &str, values: &[Value]) -> (Result<(), String>, Record) {
        let (status, result) = self.invoke(name, &Arguments::new(values, Arrival::DLTensor));
        fake_ffi::drop_result(&result);
        outcome(status)
    }

    /// Calls a function; its status, and its result for the caller to drop.
    pub fn invoke(&self, name: &str, arguments: &Arguments) -> (i32, Any) {
        let symbol = format!("{FUNCTION_PREFIX}{name}");
        // SAFETY: the compiler gives every entry point this type.
        let entry = unsafe { self.0.get::<SafeCall>(symbol.as_bytes()) };
        let entry = *entry.unwrap_or_else(|error| panic!("{error}"));
        let args = std::ptr::with_exposed_provenance(arguments.address() as usize);
        let mut result = Any::default();
        fake_ffi::take_record();
        fake_ffi::enter(&symbol);
        // SAFETY: the arguments follow the ABI, and the result is an empty value.
        let status = unsafe { entry(std::ptr::null_mut(), args, arguments.count(), &mut result) };
        (status, result)
    }
}

/// How a call of that status has ended: nothing, or kind and message of the error; and what it
/// asked of the environment.
pub fn outcome(status: i32) -> (Result<(), String>, Record) {
    let mut record = fake_ffi::take_record();
    assert!(record.broken.is_empty(), "{:?}", record.broken);
    match (status, record.error.take()) {
        (0, None) => (Ok(()), record),
        (-1, Some((kind, message))) => (Err(format!("{kind}: {message}")), record),
        other => panic!("{other:?}"),
    }
}

/// A float32 tensor of one dim on a GPU.
pub fn tensor(n: i64, device: i32) -> Value {
    tensor_on(DeviceType::CUDA, n, device)
}

/// The same, on a device of another type.
pub fn tensor_on(device_type: DeviceType, n: i64, device: i32) -> Value {
    Value::Tensor(Tensor {
        device: (device_type.0, device),
        dtype: DType::FLOAT32,
        shape: vec![n],
        strides: None,
        ..Tensor::default()
    })
}
