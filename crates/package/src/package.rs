// SPDX-License-Identifier: Apache-2.0
//! The description of a package: a package of functions, each a signature with the launches that it
//! becomes. Built in Rust, or read from a package file by [`package_file`](crate::package_file).
//! And which entry points a package has.

mod archs;
mod plan;
mod submit;
mod written;

pub use archs::{Overruled, settle_archs};
pub use submit::Submit;
pub use written::{KernelLaunch, PackedLaunches, TritonLaunch, WrittenLaunch, WrittenPackage};

use crate::source::{GpuSource, HostSource};
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_syntax::{Placed, Span};
use kernpack_validators::Plan;
pub use kernpack_validators::Returns;
use kernpack_validators::param::Scalar;
use kernpack_validators::plan::Launch as PlannedLaunch;
use kernpack_validators::{
    self as validators, Geometry, GpuLaunch, HiddenArg, KernelArg, KernelName, LaunchSpec,
    NamePiece, Signature, When, Workspace,
};

/// Functions that become one module. Those of package files have [`WrittenLaunch`]es.
#[derive(Clone, Debug)]
pub struct Package<L = Launch> {
    /// The name: a C identifier.
    pub name: String,
    /// The functions.
    pub functions: Vec<Function<L>>,
    /// The sonames of libraries that the shared object is to load first.
    pub link: Vec<Placed<String>>,
    /// How launches on a GPU are submitted, of functions that do not say it.
    pub submit: Submit,
}

/// A function of a package.
#[derive(Clone, Debug)]
pub struct Function<L = Launch> {
    /// Its arguments and what they must satisfy.
    pub signature: Signature,
    /// Its documentation, for readers.
    pub doc: Option<String>,
    /// Memory that a call allocates for its launches.
    pub workspaces: Vec<Workspace>,
    /// The launches of an accepted call, in order. Without any, the function only checks its
    /// arguments.
    pub launches: Vec<L>,
    /// How those on a GPU are submitted, where it is not as the package says.
    pub submit: Option<Submit>,
}

/// A function as callers of a package see it: one that a user described, or one that comes with
/// those.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    /// The function, with parameters under its own name, and launches.
    pub function: Function,
    /// The role of its calls.
    pub role: Role,
}

/// The role of an entry point's calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Checks its arguments and runs what was described.
    Call,
    /// Checks the arguments of the function of that name, and returns a function that runs it with
    /// them.
    Prepare(String),
    /// Returns, as JSON, how the launches of the function of that name were submitted.
    Launched(String),
    /// Loads the package's GPU code on a device.
    Preload,
    /// Waits for the devices that kernels of the package run on, and raises what they assert in
    /// vain.
    Synchronize,
}

/// A kernel with its arguments.
#[derive(Clone, Debug)]
pub struct Launch {
    /// When it runs.
    pub when: When,
    /// The kernel's symbol, or, on a GPU, its name in C++.
    pub kernel: Placed<KernelName>,
    /// The arguments of the kernel.
    pub args: Vec<Placed<KernelArg>>,
    /// Where it runs.
    pub site: Site,
}

/// Where a launch runs, and so where its kernel comes from.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a package has few launches")]
pub enum Site {
    /// On the host.
    Host {
        /// Where the function comes from.
        source: HostSource,
        /// Its result.
        returns: Returns,
    },
    /// On a GPU.
    Gpu {
        /// Where the kernel comes from.
        source: GpuSource,
        /// How it is launched.
        launch: GpuLaunch,
    },
}

impl Site {
    /// The kind of device that it is: where tensors are that do not say it.
    pub fn device(&self) -> DeviceType {
        match self {
            Site::Host { .. } => DeviceType::CPU,
            Site::Gpu { .. } => DeviceType::CUDA,
        }
    }
}

impl<L> Package<L> {
    /// A package of these functions, to build on.
    pub fn new(name: impl Into<String>, functions: Vec<Function<L>>) -> Package<L> {
        Package { name: name.into(), functions, link: vec![], submit: Submit::default() }
    }
}

impl Package {
    /// Every entry point: the functions with their `_out` twins; for each of them that submits
    /// launches, a `kernpack_prepare_<name>` where it has no results, and a
    /// `kernpack_launched_<name>`; and `kernpack_preload_<package>` where any does, and
    /// `kernpack_synchronize_<package>` where kernels assert something as they run.
    pub fn entry_points(&self) -> Vec<EntryPoint> {
        let variants: Vec<_> = self.functions.iter().flat_map(Function::variants).collect();
        let submit: Vec<_> = variants.iter().filter(|function| function.submits()).collect();
        let prepares: Vec<_> = submit.iter().filter_map(|function| function.prepare()).collect();
        let launched: Vec<_> = submit.iter().map(|function| function.launched()).collect();
        let preload = (!submit.is_empty()).then(|| self.preload());
        let synchronize = self.asserts().then(|| self.synchronize());
        let calls = variants.into_iter().map(|function| EntryPoint { function, role: Role::Call });
        calls.chain(prepares).chain(launched).chain(preload).chain(synchronize).collect()
    }

    /// How a function's launches are submitted.
    pub fn submit_of(&self, function: &Function) -> Submit {
        function.submit.unwrap_or(self.submit)
    }

    /// Whether kernels assert something as they run.
    fn asserts(&self) -> bool {
        let launches = self.functions.iter().flat_map(|function| &function.launches);
        launches.into_iter().any(Launch::asserts)
    }

    fn synchronize(&self) -> EntryPoint {
        let signature = Signature::new(format!("kernpack_synchronize_{}", self.name));
        let doc = "Waits for the devices on which kernels of the package were launched, and raises the first of their assertions that failed.";
        let function = Function { doc: Some(doc.to_string()), ..Function::new(signature) };
        EntryPoint { function, role: Role::Synchronize }
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
    /// A launch of every call, of a host function that returns nothing.
    pub fn on_host(source: HostSource, kernel: KernelName, args: Vec<KernelArg>) -> Launch {
        let site = Site::Host { source, returns: Returns::Void };
        let args = args.into_iter().map(Placed::from).collect();
        Launch { when: When::Always, kernel: kernel.into(), args, site }
    }

    /// A launch of every call, on a GPU.
    pub fn on_gpu(
        source: GpuSource,
        kernel: KernelName,
        args: Vec<KernelArg>,
        geometry: Geometry,
    ) -> Launch {
        let site = Site::Gpu { source, launch: geometry.into() };
        let args = args.into_iter().map(Placed::from).collect();
        Launch { when: When::Always, kernel: kernel.into(), args, site }
    }

    /// Where the arguments are written, or else the kernel that gets none.
    pub fn args_place(&self) -> Span {
        args_place(&self.args).or(self.kernel.span)
    }

    /// The launch as plans are made of it.
    pub fn spec(&self) -> LaunchSpec {
        LaunchSpec {
            when: self.when.clone(),
            kernel: self.kernel.value.clone(),
            args: self.args.clone(),
            site: match &self.site {
                Site::Host { returns, .. } => validators::Site::Host(*returns),
                Site::Gpu { launch, .. } => validators::Site::Gpu(launch.clone()),
            },
        }
    }

    /// Whether its kernel may write down that an assertion has failed.
    pub fn asserts(&self) -> bool {
        match &self.site {
            Site::Host { .. } => false,
            Site::Gpu { launch, .. } => launch.hidden.contains(&HiddenArg::AssertRecord),
        }
    }

    /// Where the kernel comes from, for a launch on a GPU.
    pub fn gpu_source(&self) -> Option<&GpuSource> {
        match &self.site {
            Site::Host { .. } => None,
            Site::Gpu { source, .. } => Some(source),
        }
    }

    /// Where the kernel comes from, for a launch on the host.
    pub fn host_source(&self) -> Option<&HostSource> {
        match &self.site {
            Site::Host { source, .. } => Some(source),
            Site::Gpu { .. } => None,
        }
    }

    /// The kernel's name for each combination of dtypes that the launch has kernels for; one where
    /// it does not depend on them.
    ///
    /// # Panics
    /// Where a dtype has no name in it: what has a [`plan`](Function::plan) has none of those.
    pub fn symbols(&self, plan: &Plan, planned: &PlannedLaunch) -> Vec<String> {
        let symbol = |row: &[DType]| {
            let (symbol, unnamed) = self.symbol(&plan.combinations.vars, row);
            assert!(unnamed.is_empty(), "a planned kernel has a name");
            symbol
        };
        match self.kernel.vars().next() {
            None => vec![symbol(&[])],
            Some(_) => plan.rows_of(planned).map(symbol).collect(),
        }
    }

    /// The kernel's name in a call with that combination of dtypes.
    ///
    /// # Panics
    /// As of [`symbols`](Launch::symbols).
    pub fn symbol_of(&self, plan: &Plan, combination: Option<i64>) -> String {
        let number = combination.and_then(|number| usize::try_from(number).ok());
        let row = number.and_then(|number| plan.combinations.rows.get(number));
        let (symbol, _) = self.symbol(&plan.combinations.vars, row.map_or(&[], Vec::as_slice));
        symbol
    }

    /// The variables in the kernel's name with their places, each with a dtype that it may be and
    /// that has no name there.
    pub fn unnamed_dtypes(&self, plan: &Plan, planned: &PlannedLaunch) -> Vec<(&str, Span, DType)> {
        let mut unnamed = Vec::new();
        for row in plan.rows_of(planned) {
            let (_, of_row) = self.symbol(&plan.combinations.vars, row);
            let new: Vec<_> = of_row.into_iter().filter(|one| !unnamed.contains(one)).collect();
            unnamed.extend(new);
        }
        unnamed
    }

    /// The kernel's name where the variables are these dtypes, and those that have no name there.
    fn symbol(&self, vars: &[String], row: &[DType]) -> (String, Vec<(&str, Span, DType)>) {
        let (mut symbol, mut unnamed) = (String::new(), Vec::new());
        for piece in self.kernel.pieces() {
            match piece {
                NamePiece::Text(text) => symbol.push_str(text),
                NamePiece::DType(var, span) => {
                    let place = vars.iter().position(|known| known == var);
                    let dtype = row[place.expect("a planned kernel's name has known variables")];
                    match self.dtype_name(dtype, &symbol) {
                        Some(name) => symbol.push_str(&name),
                        None => unnamed.push((&var[..], *span, dtype)),
                    }
                }
            }
        }
        (symbol, unnamed)
    }

    /// The text for a dtype in the kernel's name, behind this part of it.
    fn dtype_name(&self, dtype: DType, before: &str) -> Option<String> {
        match &self.site {
            Site::Host { .. } => Some(dtype.to_string()),
            Site::Gpu { source, .. } => source.dtype_name(dtype, before),
        }
    }
}

/// Whether launches on such a device are submitted to it, and run behind what was submitted before;
/// on the host they have run when the call returns.
pub(crate) fn is_submitted(device: DeviceType) -> bool {
    device != DeviceType::CPU
}

/// Where tensors are that do not say it, with launches on these devices: on the host where all run
/// there.
fn default_device(devices: impl IntoIterator<Item = DeviceType>) -> DeviceType {
    devices.into_iter().find(|device| is_submitted(*device)).unwrap_or(DeviceType::CPU)
}

/// Where arguments are written, from the first to the last.
pub fn args_place(args: &[Placed<KernelArg>]) -> Span {
    let mut written = args.iter().map(|arg| arg.span).filter(|span| span.text.is_some());
    let first = written.next().unwrap_or_default();
    written.next_back().map_or(first, |last| first.to(last))
}

impl Function {
    /// A function that only checks its arguments, to build on.
    pub fn new(signature: Signature) -> Function {
        Function { signature, doc: None, workspaces: vec![], launches: vec![], submit: None }
    }

    /// Whether a launch is submitted to a device.
    pub fn submits(&self) -> bool {
        self.launches.iter().any(|launch| is_submitted(launch.site.device()))
    }

    /// Where tensors are that do not say it.
    pub fn default_device(&self) -> DeviceType {
        default_device(self.launches.iter().map(|launch| launch.site.device()))
    }

    /// The signature of the twin. Kernels that are written here are compiled for results that share
    /// no memory with other tensors, and so that is what callers pass.
    pub(crate) fn twin(&self) -> Option<Signature> {
        let is_written_here =
            |launch: &Launch| matches!(launch.gpu_source(), Some(GpuSource::Kernel(..)));
        match self.launches.iter().any(is_written_here) {
            true => self.signature.out_variant_apart(),
            false => self.signature.out_variant(),
        }
    }

    /// The entry point that prepares calls of a function without results.
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

    /// The entry point that says how its launches were submitted.
    fn launched(&self) -> EntryPoint {
        let name = &self.signature.name;
        let doc = format!(
            "How the launches of `{name}` were submitted, as JSON: how often one by one (`plain`), how often as a graph (`graph`), and how many graphs there are (`graphs`)."
        );
        let signature = Signature::new(format!("kernpack_launched_{name}"));
        let function = Function { doc: Some(doc), ..Function::new(signature) };
        EntryPoint { function, role: Role::Launched(name.clone()) }
    }

    /// The function as callers see it: itself, and with results also its `_out` twin.
    pub fn variants(&self) -> Vec<Function> {
        let twin = self.twin().map(|signature| Function { signature, ..self.clone() });
        [self.clone()].into_iter().chain(twin).collect()
    }
}
