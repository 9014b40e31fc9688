// SPDX-License-Identifier: Apache-2.0
//! Launches as package files have them: whole, of a kernel of which Triton's JSON says the rest, or
//! of one that is written here, which has to be compiled first. What is lacking is put in when the
//! files have been read ([`settle`](crate::settle)); until then, such a launch has a draft.

use super::{Function, Launch, Package, default_device};
use crate::kernel_file::{KernelFile, needs_assembler};
use crate::source::GpuFile;
use kernpack_ffi_abi::DeviceType;
use kernpack_kernel_lang::packed::written::WrittenArg;
use kernpack_kernel_lang::packed::{PackedRow, Unrelated};
use kernpack_syntax::{Diagnostics, Placed};
use kernpack_validators::{
    self as validators, Expr, Geometry, KernelArg, KernelName, LaunchFlags, LaunchSpec, When,
};

/// A package as it is written.
pub type WrittenPackage = Package<WrittenLaunch>;

/// A launch as it is written.
#[derive(Clone, Debug)]
pub enum WrittenLaunch {
    /// All of it.
    Whole(Launch),
    /// All that Triton's JSON does not say.
    Triton(TritonLaunch),
    /// Of a kernel that is written here.
    Kernel(KernelLaunch),
    /// All launches of a packed function.
    Packed(PackedLaunches),
}

/// A launch of a kernel that is written here.
#[derive(Clone, Debug)]
pub struct KernelLaunch {
    /// When it runs.
    pub when: When,
    /// The file.
    pub file: KernelFile,
    /// The kernel's name there.
    pub kernel: Placed<String>,
    /// Its arguments.
    pub args: Vec<Placed<WrittenArg>>,
    /// How it is laid out.
    pub geometry: Geometry,
}

/// The launches of a packed function.
#[derive(Clone, Debug)]
pub struct PackedLaunches {
    /// The file.
    pub file: KernelFile,
    /// Its launches, for each combination of dtypes.
    pub rows: Vec<PackedRow>,
    /// The treatment of an index that the extent of another tensor alone bounds.
    pub unrelated: Unrelated,
}

/// A launch of a kernel that Triton compiled.
#[derive(Clone, Debug)]
pub struct TritonLaunch {
    /// When it runs.
    pub when: When,
    /// The kernel's name, where it is written all the same.
    pub kernel: Option<Placed<KernelName>>,
    /// The arguments that the kernel's author passes.
    pub args: Vec<Placed<KernelArg>>,
    /// The files that have the kernel, of which at least one is Triton's.
    pub files: Vec<GpuFile>,
    /// The grid as Triton counts it, x first.
    pub grid: Vec<Placed<Expr>>,
    /// The flags that Triton does not know.
    pub flags: LaunchFlags,
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
            flags: self.flags,
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

impl KernelLaunch {
    /// The launch as far as it is known: what the kernel gets is known once it is compiled.
    fn draft(&self) -> LaunchSpec {
        LaunchSpec {
            when: self.when.clone(),
            kernel: KernelName::plain(&self.kernel.value),
            args: self.kernel_args().filter(is_number).collect(),
            site: validators::Site::Gpu(self.geometry.clone().into()),
        }
    }

    /// Its arguments that are no constants.
    fn kernel_args(&self) -> impl Iterator<Item = Placed<KernelArg>> {
        self.args.iter().filter_map(|arg| match &arg.value {
            WrittenArg::Arg(kernel_arg) => Some(Placed::new(kernel_arg.clone(), arg.span)),
            WrittenArg::Literal(_) => None,
        })
    }
}

/// Whether an argument is an expression, which has a value or is wrong, whatever the kernel does.
fn is_number(arg: &Placed<KernelArg>) -> bool {
    matches!(&arg.value, KernelArg::Value(expr, _) if expr.as_symbol().is_none())
}

impl WrittenLaunch {
    /// When it runs.
    pub fn when(&self) -> &When {
        match self {
            WrittenLaunch::Whole(launch) => &launch.when,
            WrittenLaunch::Triton(launch) => &launch.when,
            WrittenLaunch::Kernel(launch) => &launch.when,
            WrittenLaunch::Packed(_) => &When::Always,
        }
    }

    /// The kind of device that it runs on.
    pub fn device(&self) -> DeviceType {
        match self {
            WrittenLaunch::Whole(launch) => launch.site.device(),
            WrittenLaunch::Triton(_) => DeviceType::CUDA,
            WrittenLaunch::Kernel(launch) => launch.file.target.device(),
            WrittenLaunch::Packed(launches) => launches.file.target.device(),
        }
    }

    /// The arguments of a kernel.
    fn args(&self) -> Vec<KernelArg> {
        let values =
            |args: &[Placed<KernelArg>]| args.iter().map(|arg| arg.value.clone()).collect();
        match self {
            WrittenLaunch::Whole(launch) => values(&launch.args),
            WrittenLaunch::Triton(launch) => values(&launch.args),
            WrittenLaunch::Kernel(launch) => launch.kernel_args().map(|arg| arg.value).collect(),
            WrittenLaunch::Packed(_) => vec![],
        }
    }

    /// The file that its kernel is written in, where that is so.
    pub fn kernel_file(&self) -> Option<&KernelFile> {
        match self {
            WrittenLaunch::Kernel(launch) => Some(&launch.file),
            WrittenLaunch::Packed(launches) => Some(&launches.file),
            WrittenLaunch::Whole(_) | WrittenLaunch::Triton(_) => None,
        }
    }

    /// Whether its kernel is written here and becomes machine code.
    pub fn needs_assembler(&self) -> bool {
        let launches = match self {
            WrittenLaunch::Packed(launches) => &launches.rows[..],
            WrittenLaunch::Kernel(_) | WrittenLaunch::Whole(_) | WrittenLaunch::Triton(_) => &[],
        };
        let mut launches = launches.iter().flat_map(|row| &row.launches);
        launches.any(|launch| needs_assembler(&launch.archs))
            || self.kernel_file().is_some_and(|file| file.target.needs_assembler())
    }

    /// The file that its kernel is written in, to be changed.
    pub fn kernel_file_mut(&mut self) -> Option<&mut KernelFile> {
        match self {
            WrittenLaunch::Kernel(launch) => Some(&mut launch.file),
            WrittenLaunch::Packed(launches) => Some(&mut launches.file),
            WrittenLaunch::Whole(_) | WrittenLaunch::Triton(_) => None,
        }
    }
}

impl WrittenPackage {
    /// The package without its functions.
    pub fn without_functions(&self) -> Package {
        Package { link: self.link.clone(), submit: self.submit, ..Package::new(&self.name, vec![]) }
    }
}

impl Function<WrittenLaunch> {
    /// The function without its launches.
    pub fn without_launches(&self) -> Function {
        Function {
            doc: self.doc.clone(),
            workspaces: self.workspaces.clone(),
            submit: self.submit,
            ..Function::new(self.signature.clone())
        }
    }

    /// The parts that do not fit together, as far as that is known without the files that sources
    /// name.
    ///
    /// # Errors
    /// All of it.
    pub fn check(&self) -> Result<(), Diagnostics> {
        let device = default_device(self.launches.iter().map(WrittenLaunch::device));
        let drafts = self.launches.iter().filter_map(|launch| match launch {
            WrittenLaunch::Whole(launch) => Some(launch.spec()),
            WrittenLaunch::Triton(launch) => Some(launch.draft()),
            WrittenLaunch::Kernel(launch) => Some(launch.draft()),
            // They stand alone, and are planned once they are settled.
            WrittenLaunch::Packed(_) => None,
        });
        let drafts: Vec<_> = drafts.collect();
        let plan = self.signature.plan_function(device, &self.workspaces, &drafts)?;
        let args: Vec<_> = self.launches.iter().flat_map(WrittenLaunch::args).collect();
        let whole =
            plan.launches.iter().filter_map(|planned| match &self.launches[planned.index] {
                WrittenLaunch::Whole(launch) => Some((launch, planned)),
                WrittenLaunch::Triton(_) | WrittenLaunch::Kernel(_) | WrittenLaunch::Packed(_) => {
                    None
                }
            });
        let mut problems = self.signature.unwritten_results(args.iter());
        problems.extend(whole.flat_map(|(launch, planned)| launch.nameless_dtypes(&plan, planned)));
        Diagnostics(problems).into_result()
    }
}
