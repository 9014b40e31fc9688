// SPDX-License-Identifier: Apache-2.0
//! What a user describes: a package of functions, each a signature with the launches that it becomes. Built in Rust, or read from a
//! package file by [`package_file`](crate::package_file).

use crate::source::Source;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_validators::plan::Combinations;
use kernpack_validators::{LaunchSpec, Signature, Workspace};

/// Functions that become one module.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name: a C identifier.
    pub name: String,
    /// The functions.
    pub functions: Vec<Function>,
    /// The sonames of libraries that the shared object is to load first.
    pub link: Vec<String>,
}

/// A function of a package.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its arguments and what they must satisfy.
    pub signature: Signature,
    /// What it does, for readers.
    pub doc: Option<String>,
    /// Memory that a call allocates for its launches.
    pub workspaces: Vec<Workspace>,
    /// What an accepted call runs, in order. Without any, the function only checks its arguments.
    pub launches: Vec<Launch>,
}

/// A kernel with its arguments.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where it runs, and what the kernel gets.
    pub spec: LaunchSpec,
    /// Where the kernel comes from.
    pub source: Source,
    /// The kernel's symbol; `{T}` stands for the name of the dtype that the variable `T` has in a call. Nothing where Triton's JSON names it.
    pub kernel: String,
    /// What the kernel returns.
    pub returns: Returns,
}

/// What a host function returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Returns {
    /// Nothing.
    #[default]
    Void,
    /// An `int`: anything but 0 is a failure.
    Status,
}

impl Launch {
    /// The kernel's symbol for each combination of dtypes; one where it does not depend on them.
    pub fn symbols(&self, combinations: &Combinations) -> Vec<String> {
        let uses = |var: &String| self.kernel.contains(&format!("{{{var}}}"));
        if !combinations.vars.iter().any(uses) {
            return vec![self.kernel.clone()];
        }
        let symbol = |row: &Vec<DType>| {
            combinations.vars.iter().zip(row).fold(self.kernel.clone(), |symbol, (var, dtype)| {
                symbol.replace(&format!("{{{var}}}"), &self.source.dtype_name(*dtype))
            })
        };
        combinations.rows.iter().map(symbol).collect()
    }
}

impl Function {
    /// A function that only checks its arguments, to build on.
    pub fn new(signature: Signature) -> Function {
        Function { signature, doc: None, workspaces: vec![], launches: vec![] }
    }

    /// Where tensors are that do not say it: on the CPU, or on a GPU where a launch runs there.
    pub fn default_device(&self) -> DeviceType {
        let on_gpu = self.launches.iter().any(|launch| launch.source.is_gpu());
        if on_gpu { DeviceType::CUDA } else { DeviceType::CPU }
    }

    /// The function as callers see it: itself, and with results also its `_out` twin.
    pub fn variants(&self) -> Vec<Function> {
        let twin = self.signature.out_variant();
        let twin = twin.map(|signature| Function { signature, ..self.clone() });
        [self.clone()].into_iter().chain(twin).collect()
    }
}
