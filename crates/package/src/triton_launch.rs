// SPDX-License-Identifier: Apache-2.0
//! Launches of kernels that Triton compiled: what the JSON that Triton wrote beside a cubin says of
//! them.
//!
//! A launch of such a source says what the JSON does not: the grid, counted as Triton counts it,
//! and the arguments that the kernel's author wrote. [`settle`] adds the rest before anything is
//! planned: the name, the block, the shared memory, the clusters, the way it is launched, the
//! parameters that a tensor descriptor becomes, and the hidden arguments, with a workspace where
//! the kernel wants scratch memory. Behind it, the launch is one of a cubin like any other.
//!
//! The contents of the JSON go into the code of the launch. Its bytes are no part of the source
//! digest: they name folders of the machine that Triton ran on. Not here: the JSON's format
//! (`json.rs`), descriptors (`descriptor.rs`), and whether the arguments fit the kernel's own table
//! (`gpu_code.rs`).

mod descriptor;
mod json;

use crate::file::{Files, ReadError};
use crate::image::Image;
use crate::package::{Function, Launch, Site, TritonLaunch, args_place};
use crate::source::{GpuFile, GpuSource, SourceError, SourceErrorKind};
use descriptor::{DescriptorError, Descriptors};
pub use json::flag_key;
use json::{Scratch, TritonError, TritonKernel};
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_machine::Arch;
use kernpack_syntax::Placed;
use kernpack_validators::expr::Op;
use kernpack_validators::param::Tensor;
use kernpack_validators::{
    Expr, Geometry, GpuLaunch, HiddenArg, KernelArg, KernelName, LaunchFlag, When, Workspace,
};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why what Triton says of a kernel makes no launch.
#[derive(Debug, Error)]
enum TritonLaunchError {
    /// The JSON cannot be read.
    #[error(
        "cannot read `{}`, Triton's JSON for `{}`: {reason}; Triton writes it next to the cubin; name it with `json`, if it lies elsewhere",
        json.display(), cubin.display()
    )]
    Read {
        /// The JSON.
        json: PathBuf,
        /// The cubin.
        cubin: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// The JSON says nothing about a kernel.
    #[error(transparent)]
    Json(#[from] TritonError),
    /// The JSON is not that of the cubin.
    #[error(
        "`{}` is for sm_{expected}, and `{}` for {found}; give the JSON that Triton wrote next to this cubin",
        json.display(), cubin.display()
    )]
    Arch {
        /// The JSON.
        json: PathBuf,
        /// The architecture in the JSON.
        expected: u32,
        /// The cubin.
        cubin: PathBuf,
        /// The architecture found.
        found: String,
    },
    /// The launch names another kernel.
    #[error("`{function}` launches `{kernel}`, but `{}` is about `{name}`; leave `kernel` out", json.display())]
    Name {
        /// The function.
        function: String,
        /// The kernel that it launches.
        kernel: Placed<String>,
        /// The JSON.
        json: PathBuf,
        /// The kernel that it is about.
        name: String,
    },
    /// Files for different architectures want different launches.
    #[error(
        "`{}` and `{}` cannot share a launch: {what} is {first} in one and {second} in the other; compile both with the same version and options",
        files.0.display(), files.1.display()
    )]
    Unlike {
        /// Both JSON files.
        files: (PathBuf, PathBuf),
        /// The key that differs.
        what: String,
        /// Its value in the first.
        first: String,
        /// Its value in the second.
        second: String,
    },
    /// An argument is not the tensor descriptor that it should be.
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
    /// A profiler's memory is not passed.
    #[error(
        "`{}` wants {bytes} bytes of memory for a profiler (`profile_scratch_size`), which is not supported; \
         compile the kernel without instrumentation",
        json.display()
    )]
    Profile {
        /// The JSON.
        json: PathBuf,
        /// The bytes for each block.
        bytes: u32,
    },
}

impl TritonLaunchError {
    /// The same as the error of a source, where the launch says what it is about: the JSON, if it
    /// is about nothing else.
    fn of(&self, json: &Placed<PathBuf>, args: &[Placed<KernelArg>]) -> SourceError {
        let place = match self {
            TritonLaunchError::Name { kernel, .. } => kernel.span,
            TritonLaunchError::Descriptor(error) => match error {
                DescriptorError::Argument { arg, .. } | DescriptorError::NotThere { arg, .. } => {
                    arg.span
                }
                DescriptorError::Missing { .. } => args_place(args),
                DescriptorError::Unlike { .. } | DescriptorError::Unsupported { .. } => json.span,
            },
            TritonLaunchError::Read { .. }
            | TritonLaunchError::Json(_)
            | TritonLaunchError::Arch { .. }
            | TritonLaunchError::Unlike { .. }
            | TritonLaunchError::Profile { .. } => json.span,
        };
        SourceError::new(SourceErrorKind::Triton, place.or(json.span), self)
    }
}

/// A JSON file, what it says, and the sizes of the kernel's own parameters, in bytes. What lacks
/// the kernel is refused elsewhere.
struct Described {
    json: Placed<PathBuf>,
    kernel: TritonKernel,
    params: Option<Vec<u32>>,
}

/// Settles a launch: the one of that number of those that run at these times. The function gets the
/// workspace that the kernel wants.
///
/// # Errors
/// Where a JSON cannot be read, is not that of its cubin, does not fit the launch, or wants what is
/// not supported.
pub fn settle(
    function: &mut Function,
    place: (usize, &[&When]),
    written: &TritonLaunch,
    files: &mut Files<'_>,
) -> Result<Launch, SourceError> {
    let described = describe(written, files)?;
    settle_launch(function, place, written, &described)
        .map_err(|error| error.of(&described.json, &written.args))
}

/// Looks at the files of a launch that is not settled.
///
/// # Errors
/// The problems of the files.
pub fn check_files(written: &TritonLaunch, files: &mut Files<'_>) -> Result<(), SourceError> {
    describe(written, files).map(|_| ())
}

/// The description that the JSON files of a launch make together.
fn describe(launch: &TritonLaunch, files: &mut Files<'_>) -> Result<Described, SourceError> {
    let mut all: Option<Described> = None;
    for file in &launch.files {
        let Some(json) = &file.triton else { continue };
        let image = file.image(files)?;
        let one = read(file, &image, json, files).map_err(|error| error.of(json, &launch.args))?;
        match &mut all {
            None => all = Some(one),
            Some(all) => {
                require_alike(all, &one).map_err(|error| error.of(json, &launch.args))?;
                // Which of the images is loaded is known at the call: the largest is enough for
                // each.
                let shared = &mut all.kernel.shared_bytes;
                *shared = (*shared).max(one.kernel.shared_bytes);
            }
        }
    }
    let path = launch
        .files
        .first()
        .map_or(Placed::from(Path::new("")), |file| Placed::new(&file.path, file.path.span));
    all.ok_or_else(|| {
        let message = format!("`{}` has no JSON of Triton's", path.display());
        SourceError::new(SourceErrorKind::Triton, path.span, message)
    })
}

fn read(
    file: &GpuFile,
    image: &Image,
    json: &Placed<PathBuf>,
    files: &mut Files<'_>,
) -> Result<Described, TritonLaunchError> {
    let text = files.read_text(json).map_err(|ReadError { path, reason }| {
        TritonLaunchError::Read { json: path, cubin: file.path.value.clone(), reason }
    })?;
    let kernel = TritonKernel::read(&json.display().to_string(), &text)?;
    let params = image.kernel(&kernel.name).map(|found| {
        let n_own = found.params.len().saturating_sub(kernel.hidden_params().len());
        found.params.iter().take(n_own).map(|param| param.size).collect()
    });
    let described = Described { json: json.clone(), kernel, params };
    described.require_arch(file, image)?;
    Ok(described)
}

/// Both kernels are launched in one way.
fn require_alike(a: &Described, b: &Described) -> Result<(), TritonLaunchError> {
    let facts = |kernel: &TritonKernel| {
        let bytes = |scratch: &Scratch| scratch.bytes_per_block.to_string();
        let hidden: Vec<_> = kernel.hidden_params().iter().map(bytes).collect();
        let descriptors: Vec<_> = kernel.descriptors.iter().map(|one| one.to_string()).collect();
        let known = [
            ("the kernel", kernel.name.clone()),
            ("the number of threads in a block", kernel.threads_per_block.to_string()),
            ("the cluster", format!("{:?}", kernel.cluster)),
            ("what is made for its tensor descriptors", format!("[{}]", descriptors.join("; "))),
            ("the scratch memory of its hidden parameters", format!("[{}]", hidden.join(", "))),
        ];
        let known = known.map(|(what, fact)| (what.to_string(), fact));
        let flags = LaunchFlag::ALL.iter().filter_map(|flag| {
            Some((format!("`{}`", flag_key(*flag)?), kernel.flags.has(*flag).to_string()))
        });
        known.into_iter().chain(flags).collect::<Vec<_>>()
    };
    for ((what, first), (_, second)) in facts(&a.kernel).into_iter().zip(facts(&b.kernel)) {
        if first != second {
            let files = (a.json.value.clone(), b.json.value.clone());
            return Err(TritonLaunchError::Unlike { files, what, first, second });
        }
    }
    Ok(())
}

impl Described {
    /// The JSON knows the architecture without its suffix.
    fn require_arch(&self, file: &GpuFile, image: &Image) -> Result<(), TritonLaunchError> {
        let archs = image.archs();
        if archs.iter().all(|arch| arch.number == self.kernel.arch) {
            return Ok(());
        }
        let found: Vec<_> = archs.iter().map(Arch::to_string).collect();
        Err(TritonLaunchError::Arch {
            json: self.json.value.clone(),
            expected: self.kernel.arch,
            cubin: file.path.value.clone(),
            found: found.join(", "),
        })
    }
}

/// The launch that is written, with what the JSON says of it. It is the one of that number of those
/// that run at these times. The function gets the workspace that the kernel wants.
fn settle_launch(
    function: &mut Function,
    (index, whens): (usize, &[&When]),
    written: &TritonLaunch,
    described: &Described,
) -> Result<Launch, TritonLaunchError> {
    let name = settled_name(written, &function.signature.name, described)?;
    let args = settled_args(function, (index, whens), written, described)?;
    let geometry = geometry(written, &described.kernel);
    let hidden = hidden_args(function, index, &geometry.grid, described)?;
    let source = GpuSource::Files(written.files.clone());
    let site = Site::Gpu { source, launch: GpuLaunch { geometry, hidden } };
    let place = written.kernel.as_ref().map(|kernel| kernel.span);
    let kernel = Placed::new(KernelName::plain(name), place.unwrap_or(described.json.span));
    Ok(Launch { when: written.when.clone(), kernel, args, site })
}

/// How the launch is laid out.
fn geometry(written: &TritonLaunch, kernel: &TritonKernel) -> Geometry {
    let has_cluster = kernel.cluster != [1, 1, 1];
    let built = |number: u32| Placed::from(Expr::Int(number.into()));
    Geometry {
        grid: match has_cluster {
            true => blocks(&written.grid, kernel.cluster),
            false => written.grid.clone(),
        },
        block: vec![built(kernel.threads_per_block)],
        cluster: if has_cluster { kernel.cluster.map(built).to_vec() } else { vec![] },
        shared: built(kernel.shared_bytes),
        flags: kernel.flags.iter().chain(written.flags.iter()).collect(),
        unwritten: vec![],
        priority: written.priority.clone(),
        stream: written.stream.clone(),
    }
}

/// The arguments of the kernel behind those of its author.
fn hidden_args(
    function: &mut Function,
    index: usize,
    grid: &[Placed<Expr>],
    described: &Described,
) -> Result<Vec<HiddenArg>, TritonLaunchError> {
    let kernel = &described.kernel;
    let mut hidden = Vec::new();
    if let Some(scratch) = kernel.global_scratch {
        let workspace = scratch_workspace(index, scratch, grid);
        hidden.push(match &workspace {
            Some(workspace) => HiddenArg::Workspace(workspace.name.value.clone()),
            None => HiddenArg::Null,
        });
        function.workspaces.extend(workspace);
    }
    match kernel.profile_scratch {
        Some(Scratch { bytes_per_block: 0, .. }) => hidden.push(HiddenArg::Null),
        Some(Scratch { bytes_per_block: bytes, .. }) => {
            return Err(TritonLaunchError::Profile { json: described.json.value.clone(), bytes });
        }
        None => {}
    }
    Ok(hidden)
}

/// The kernel's name is the JSON's, whether it is written or not.
fn settled_name<'d>(
    written: &TritonLaunch,
    function: &str,
    described: &'d Described,
) -> Result<&'d str, TritonLaunchError> {
    let name = &described.kernel.name;
    match &written.kernel {
        Some(kernel) if kernel.value != KernelName::plain(name) => Err(TritonLaunchError::Name {
            function: function.to_string(),
            kernel: Placed::new(kernel.to_string(), kernel.span),
            json: described.json.value.clone(),
            name: name.clone(),
        }),
        _ => Ok(name),
    }
}

/// The arguments for the cubin's parameters.
fn settled_args(
    function: &Function,
    (index, whens): (usize, &[&When]),
    written: &TritonLaunch,
    described: &Described,
) -> Result<Vec<Placed<KernelArg>>, DescriptorError> {
    let Some(params) = &described.params else { return Ok(written.args.clone()) };
    let descriptors = Descriptors {
        function: &function.signature.name,
        json: &described.json,
        described: &described.kernel.descriptors,
        params,
    };
    if !descriptors.concern(&written.args) {
        return Ok(written.args.clone());
    }
    // A signature that makes no sense is refused when the function is planned.
    let (device, workspaces) = (DeviceType::CUDA, &function.workspaces);
    match function.signature.named_tensors(device, workspaces, whens, index) {
        Ok(tensors) => descriptors.settle(&written.args, &tensors),
        Err(_) => Ok(written.args.clone()),
    }
}

/// The driver's grid: Triton's counts clusters.
fn blocks(grid: &[Placed<Expr>], cluster: [u32; 3]) -> Vec<Placed<Expr>> {
    let written = grid.iter().cloned().map(Some).chain(std::iter::repeat(None));
    let times = |(blocks, clusters): (u32, Option<Placed<Expr>>)| {
        let times = |clusters| match blocks {
            1 => clusters,
            blocks => Expr::binary(Op::Mul, Expr::Int(blocks.into()), clusters),
        };
        match clusters {
            None => Expr::Int(blocks.into()).into(),
            Some(clusters) => clusters.map(times),
        }
    };
    cluster.into_iter().zip(written).map(times).collect()
}

/// The scratch memory of all blocks of a grid, where the kernel wants any. Like every workspace it
/// is there before a launch is known to run, so a grid that is no grid must not be refused here:
/// the launch does that, if it runs.
fn scratch_workspace(launch: usize, scratch: Scratch, grid: &[Placed<Expr>]) -> Option<Workspace> {
    if scratch.bytes_per_block == 0 {
        return None;
    }
    let n_blocks = grid.iter().map(|extent| match &extent.value {
        Expr::Int(_) => extent.value.clone(),
        extent => Expr::binary(Op::Max, Expr::Int(0), extent.clone()),
    });
    let bytes = Expr::Int(scratch.bytes_per_block.into());
    let bytes = n_blocks.fold(bytes, |bytes, extent| Expr::binary(Op::Mul, bytes, extent));
    // No parameter and no other workspace can have a name with blanks in it.
    let name = format!("scratch of launch {launch}");
    let tensor = Tensor::new([bytes], DType::UINT8).align(scratch.alignment_bytes);
    Some(Workspace::new(name, tensor))
}
