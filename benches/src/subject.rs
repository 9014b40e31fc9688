// SPDX-License-Identifier: Apache-2.0
//! The two functions that calls are measured on: two vectors, and the nineteen arguments of a large
//! kernel.

use crate::ffi::Library;
use crate::toolchain;
use anyhow::{Context, Result};
use kernpack_compiler::{Options, compile};
use kernpack_package::{Function, HostSource, Launch, Package, WrittenLaunch};
use kernpack_validators::{KernelName, Signature, parse_kernel_arg};
use std::path::{Path, PathBuf};

/// A function that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Two checked vectors.
    AddOne,
    /// Five checked tensors of rank 4, nine integers, five floats.
    Blend,
}

impl Subject {
    /// Both.
    pub const ALL: [Subject; 2] = [Subject::AddOne, Subject::Blend];

    /// The function's name.
    pub fn name(self) -> &'static str {
        match self {
            Subject::AddOne => "add_one",
            Subject::Blend => "blend",
        }
    }

    /// The function, for tables.
    pub fn title(self) -> &'static str {
        match self {
            Subject::AddOne => "2 tensors",
            Subject::Blend => "19 arguments",
        }
    }

    /// The signature as text, for a function of any name.
    pub fn signature(self, name: &str) -> String {
        match self {
            Subject::AddOne => format!(
                "{name}(a: Tensor([n], float32, align=16), b: Tensor([n], float32, align=16, mut)) \
                 where n % 16 == 0"
            ),
            Subject::Blend => {
                let tensor = "Tensor([n, c, h, w], float32, align=16";
                let tensors = (0..4).map(|i| format!("x{i}: {tensor})"));
                let tensors = tensors.chain([format!("y: {tensor}, mut)")]);
                let ints = (0..9).map(|i| format!("i{i}: int32"));
                let floats = (0..5).map(|i| format!("f{i}: float32"));
                let params: Vec<_> = tensors.chain(ints).chain(floats).collect();
                format!("{name}({})", params.join(", "))
            }
        }
    }

    /// The kernel's arguments.
    fn kernel_args(self) -> Vec<String> {
        match self {
            Subject::AddOne => ["a", "b", "n"].map(String::from).to_vec(),
            Subject::Blend => {
                let tensors = (0..4).map(|i| format!("x{i}")).chain(["y".to_string()]);
                let ints = (0..9).map(|i| format!("i{i}"));
                tensors.chain(ints).chain((0..5).map(|i| format!("f{i}"))).collect()
            }
        }
    }

    /// The function under another name, with its kernel from the object file `kernels`.
    ///
    /// # Panics
    /// Where the text above is no signature.
    pub fn function(self, name: &str, kernels: &Path) -> Function {
        let signature: Result<Signature, _> = self.signature(name).parse();
        let args = self.kernel_args();
        let args = args.iter().map(|arg| parse_kernel_arg(arg).expect("an argument is a name"));
        let kernel = KernelName::plain(format!("{}_kernel", self.name()));
        let launch = Launch::on_host(HostSource::new(kernels), kernel, args.collect());
        let mut function = Function::new(signature.unwrap_or_else(|error| panic!("{error}")));
        function.launches.push(launch);
        function
    }

    /// The package of this function alone.
    pub fn package(self, kernels: &Path) -> Package {
        let functions = vec![self.function(self.name(), kernels)];
        Package::new(self.name(), functions)
    }

    /// The package of all functions.
    pub fn package_of_all(kernels: &Path) -> Package {
        let functions = Subject::ALL.map(|subject| subject.function(subject.name(), kernels));
        Package::new("subjects", functions.to_vec())
    }
}

/// Signature to shared object.
///
/// # Errors
/// Where kernpack refuses the package.
pub fn build<L: Clone + Into<WrittenLaunch>>(package: &Package<L>) -> Result<Vec<u8>> {
    Ok(compile(package, &Options::default())?.shared_object()?.bytes)
}

/// Both sides of a comparison, loaded.
#[derive(Debug)]
pub struct Sides {
    /// Kernpack's library.
    pub ours: Library,
    /// `reference.c`.
    pub reference: Library,
    /// The kernels of both, as an object file.
    pub kernels: PathBuf,
}

impl Sides {
    /// Builds both sides in `folder`, with the kernels of the C file `kernels`.
    ///
    /// # Errors
    /// Where a part of the toolchain is missing, or refuses its input.
    pub fn build(folder: &Path, kernels: &Path) -> Result<Sides> {
        let (source, kernels) = (kernels, folder.join("kernels.o"));
        toolchain::compile_object(source, &kernels)?;
        let reference = folder.join("reference.so");
        toolchain::compile_reference(&toolchain::tvm_ffi()?, &kernels, &reference)?;
        let package = Subject::package_of_all(&kernels);
        let ours = folder.join("ours.so");
        std::fs::write(&ours, build(&package)?).with_context(|| ours.display().to_string())?;
        Ok(Sides { ours: Library::load(&ours)?, reference: Library::load(&reference)?, kernels })
    }
}
