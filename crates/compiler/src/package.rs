// SPDX-License-Identifier: Apache-2.0
//! What a user describes: a package of functions, each a signature with the launches that it becomes. Built in Rust, or read from a
//! package file by [`package_file`](crate::package_file). And which entry points a package has.

mod archs;
mod plan;

pub use archs::Overruled;

use crate::source::Source;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_validators::param::Scalar;
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

/// A function as callers of a package see it: one that a user described, or one that comes with those.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// What it takes, under its own name, and what accepted calls run.
    pub function: Function,
    /// What a call of it does.
    pub role: Role,
}

/// What a call of an entry point does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Checks its arguments and runs what was described.
    Call,
    /// Checks the arguments of the function of that name, and returns a function that runs it with them.
    Prepare(String),
    /// Loads the package's GPU code on a device.
    Preload,
}

/// A kernel with its arguments.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Where it runs, and what the kernel gets.
    pub spec: LaunchSpec,
    /// Where the kernel comes from.
    pub source: Source,
    /// The kernel's symbol, or, on a GPU, its name in C++; `{T}` stands for the name of the dtype that the variable `T` has in a call. Nothing where Triton's JSON names it.
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

impl Package {
    /// Every entry point: the functions with their `_out` twins; a `kernpack_prepare_<name>` for each of them that launches on a GPU and has
    /// no results; and `kernpack_preload_<package>` where any does.
    pub fn entry_points(&self) -> Vec<EntryPoint> {
        let variants: Vec<_> = self.functions.iter().flat_map(Function::variants).collect();
        let on_gpu = variants.iter().filter(|function| function.is_on_gpu());
        let prepares: Vec<_> = on_gpu.filter_map(Function::prepare).collect();
        let preload = variants.iter().any(Function::is_on_gpu).then(|| self.preload());
        let calls = variants.into_iter().map(|function| EntryPoint { function, role: Role::Call });
        calls.chain(prepares).chain(preload).collect()
    }

    fn preload(&self) -> EntryPoint {
        let device = Scalar::new(DType::INT64).expect("integers are scalars");
        let signature = Signature::new(format!("kernpack_preload_{}", self.name));
        let doc = "Loads the package's GPU code on a device, so that no call has to: before requests are served, or a graph is captured.";
        let function = Function {
            doc: Some(doc.to_string()),
            ..Function::new(signature.param("device_id", device))
        };
        EntryPoint { function, role: Role::Preload }
    }
}

impl Launch {
    /// The kernel's name for each combination of dtypes; one where it does not depend on them.
    ///
    /// # Panics
    /// Where a dtype has no name in it: what has a [`plan`](Function::plan) has none of those.
    pub fn symbols(&self, combinations: &Combinations) -> Vec<String> {
        if !combinations.vars.iter().any(|var| self.is_named_by(var)) {
            return vec![self.kernel.clone()];
        }
        let symbol = |row: &Vec<DType>| {
            let mut dtypes = combinations.vars.iter().zip(row);
            let symbol = dtypes.try_fold(self.kernel.clone(), |kernel, (var, dtype)| {
                self.with_dtype(&kernel, var, *dtype)
            });
            symbol.expect("a planned kernel has a name")
        };
        combinations.rows.iter().map(symbol).collect()
    }

    /// The kernel's name with a dtype wherever its variable stands; `None` where it has no name.
    fn with_dtype(&self, kernel: &str, var: &str, dtype: DType) -> Option<String> {
        let place = format!("{{{var}}}");
        let mut parts = kernel.split(&place);
        let first = parts.next().unwrap_or_default().to_string();
        parts.try_fold(first, |before, part| {
            let name = self.source.dtype_name(dtype, &before)?;
            Some(before + &name + part)
        })
    }

    /// The variables in the kernel's name, each with a dtype that it may be and that has no name there.
    pub fn unnamed_dtypes<'c>(&self, combinations: &'c Combinations) -> Vec<(&'c str, DType)> {
        let mut unnamed = Vec::new();
        for (place, var) in combinations.vars.iter().enumerate() {
            for dtype in combinations.rows.iter().map(|row| row[place]) {
                let pair = (&var[..], dtype);
                let is_named = self.with_dtype(&self.kernel, var, dtype).is_some();
                if !is_named && !unnamed.contains(&pair) {
                    unnamed.push(pair);
                }
            }
        }
        unnamed
    }

    fn is_named_by(&self, var: &str) -> bool {
        self.kernel.contains(&format!("{{{var}}}"))
    }
}

impl Function {
    /// A function that only checks its arguments, to build on.
    pub fn new(signature: Signature) -> Function {
        Function { signature, doc: None, workspaces: vec![], launches: vec![] }
    }

    /// Whether a launch runs on a GPU.
    pub fn is_on_gpu(&self) -> bool {
        self.launches.iter().any(|launch| launch.source.is_gpu())
    }

    /// Where tensors are that do not say it: on the CPU, or on a GPU where a launch runs there.
    pub fn default_device(&self) -> DeviceType {
        if self.is_on_gpu() { DeviceType::CUDA } else { DeviceType::CPU }
    }

    /// What prepares calls of a function without results.
    fn prepare(&self) -> Option<EntryPoint> {
        let name = &self.signature.name;
        let signature =
            Signature { name: format!("kernpack_prepare_{name}"), ..self.signature.clone() };
        let doc = format!(
            "Checks a call of `{name}` once, and returns a function of no arguments that only launches. It holds what it was given."
        );
        let function = Function { signature, doc: Some(doc), ..self.clone() };
        let is_prepared = self.signature.results.is_empty();
        is_prepared.then(|| EntryPoint { function, role: Role::Prepare(name.clone()) })
    }

    /// The function as callers see it: itself, and with results also its `_out` twin.
    pub fn variants(&self) -> Vec<Function> {
        let twin = self.signature.out_variant();
        let twin = twin.map(|signature| Function { signature, ..self.clone() });
        [self.clone()].into_iter().chain(twin).collect()
    }
}
