// SPDX-License-Identifier: Apache-2.0
//! Launches as package files have them: whole, or of a kernel of which Triton's JSON says the rest.
//! What it says is put in when the JSON has been read ([`triton_launch`](crate::triton_launch));
//! until then, such a launch has a draft.

use super::{Function, Launch, Package, Site};
use crate::source::GpuFile;
use kernpack_ffi_abi::DeviceType;
use kernpack_syntax::{Diagnostics, Placed};
use kernpack_validators::{
    self as validators, Expr, Geometry, KernelArg, KernelName, LaunchSpec, When,
};

/// A package as it is written.
pub type WrittenPackage = Package<WrittenLaunch>;

/// A launch as it is written.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a package has few launches")]
pub enum WrittenLaunch {
    /// All of it.
    Whole(Launch),
    /// All that Triton's JSON does not say.
    Triton(TritonLaunch),
}

/// A launch of a kernel that Triton compiled.
#[derive(Clone, Debug)]
pub struct TritonLaunch {
    /// When it runs.
    pub when: When,
    /// The kernel's name, where it is written all the same.
    pub kernel: Option<Placed<KernelName>>,
    /// What the kernel's author passes.
    pub args: Vec<Placed<KernelArg>>,
    /// The files that have the kernel, of which at least one is Triton's.
    pub files: Vec<GpuFile>,
    /// The grid as Triton counts it, x first.
    pub grid: Vec<Placed<Expr>>,
    /// The priority, where it is not the stream's.
    pub priority: Option<Placed<Expr>>,
    /// The parameter that is the stream; the environment's where there is none.
    pub stream: Option<Placed<String>>,
}

impl<L: Into<WrittenLaunch>> Package<L> {
    /// The package as it could be written.
    pub fn written(self) -> WrittenPackage {
        let written = |function: Function<L>| Function {
            signature: function.signature,
            doc: function.doc,
            workspaces: function.workspaces,
            launches: function.launches.into_iter().map(Into::into).collect(),
            submit: function.submit,
        };
        let functions = self.functions.into_iter().map(written).collect();
        Package { name: self.name, functions, link: self.link, submit: self.submit }
    }
}

impl From<Launch> for WrittenLaunch {
    fn from(launch: Launch) -> WrittenLaunch {
        WrittenLaunch::Whole(launch)
    }
}

impl TritonLaunch {
    /// The launch as far as it is known: with the smallest block, and without tensor maps, which
    /// are the JSON's to complete.
    fn draft(&self) -> LaunchSpec {
        let is_map = |arg: &Placed<KernelArg>| matches!(arg.value, KernelArg::TensorMap(_));
        let geometry = Geometry {
            grid: self.grid.clone(),
            priority: self.priority.clone(),
            stream: self.stream.clone(),
            ..Geometry::new(vec![], vec![Expr::Int(1)])
        };
        LaunchSpec {
            when: self.when.clone(),
            kernel: self
                .kernel
                .as_ref()
                .map_or_else(|| KernelName::plain("kernel"), |kernel| kernel.value.clone()),
            args: self.args.iter().filter(|arg| !is_map(arg)).cloned().collect(),
            site: validators::Site::Gpu(geometry.into()),
        }
    }
}

impl WrittenLaunch {
    /// When it runs.
    pub fn when(&self) -> &When {
        match self {
            WrittenLaunch::Whole(launch) => &launch.when,
            WrittenLaunch::Triton(launch) => &launch.when,
        }
    }

    /// Whether it runs on a GPU.
    pub fn is_on_gpu(&self) -> bool {
        match self {
            WrittenLaunch::Whole(launch) => matches!(launch.site, Site::Gpu { .. }),
            WrittenLaunch::Triton(_) => true,
        }
    }

    fn args(&self) -> &[Placed<KernelArg>] {
        match self {
            WrittenLaunch::Whole(launch) => &launch.args,
            WrittenLaunch::Triton(launch) => &launch.args,
        }
    }
}

impl WrittenPackage {
    /// What it says beside its functions.
    pub fn without_functions(&self) -> Package {
        Package { link: self.link.clone(), submit: self.submit, ..Package::new(&self.name, vec![]) }
    }
}

impl Function<WrittenLaunch> {
    /// What it says beside its launches.
    pub fn without_launches(&self) -> Function {
        Function {
            doc: self.doc.clone(),
            workspaces: self.workspaces.clone(),
            submit: self.submit,
            ..Function::new(self.signature.clone())
        }
    }

    /// What does not fit together, as far as that is known without the files that sources name.
    ///
    /// # Errors
    /// All of it.
    pub fn check(&self) -> Result<(), Diagnostics> {
        let on_gpu = self.launches.iter().any(WrittenLaunch::is_on_gpu);
        let device = if on_gpu { DeviceType::CUDA } else { DeviceType::CPU };
        let drafts = self.launches.iter().map(|launch| match launch {
            WrittenLaunch::Whole(launch) => launch.spec(),
            WrittenLaunch::Triton(launch) => launch.draft(),
        });
        let drafts: Vec<_> = drafts.collect();
        let plan = self.signature.plan_function(device, &self.workspaces, &drafts)?;
        let args = self.launches.iter().flat_map(WrittenLaunch::args);
        let whole =
            plan.launches.iter().filter_map(|planned| match &self.launches[planned.index] {
                WrittenLaunch::Whole(launch) => Some((launch, planned)),
                WrittenLaunch::Triton(_) => None,
            });
        let mut problems = self.signature.unwritten_results(args.map(|arg| &arg.value));
        problems.extend(whole.flat_map(|(launch, planned)| launch.nameless_dtypes(&plan, planned)));
        Diagnostics(problems).into_result()
    }
}
