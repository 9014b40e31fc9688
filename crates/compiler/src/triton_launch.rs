// SPDX-License-Identifier: Apache-2.0
//! Launches of kernels that Triton compiled: what the JSON that Triton wrote beside a cubin says of them.
//!
//! A launch of such a source says what the JSON does not: the grid, counted as Triton counts it, and the arguments that the kernel's author
//! wrote. [`settle`] adds the rest before anything is planned: the name, the block, the shared memory, the clusters, the way it is launched,
//! the parameters that a tensor descriptor becomes, and the hidden arguments, with a workspace where the kernel wants scratch memory. Behind it,
//! the launch is one of a cubin like any other.
//!
//! What the JSON says goes into the code of the launch. Its bytes are no part of the source digest: they name folders of the machine that
//! Triton ran on. Not here: the JSON's format (`json.rs`), descriptors (`descriptor.rs`), and whether the arguments fit the kernel's
//! own table (`gpu_code.rs`).

mod descriptor;
mod json;

use crate::error::{Problem, Problems};
use crate::file::{Files, ReadError};
use crate::image::{Arch, Image};
use crate::package::{Function, Launch, Package, Site};
use crate::source::{GpuFile, GpuSource, SourceError, SourceErrorKind};
use descriptor::{DescriptorError, Descriptors};
use json::{Scratch, TritonError, TritonKernel};
use kernpack_ffi_abi::DType;
use kernpack_validators::expr::Op;
use kernpack_validators::param::Tensor;
use kernpack_validators::{Expr, Geometry, HiddenArg, KernelName, Workspace};
use std::borrow::Cow;
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
        /// What it says.
        expected: u32,
        /// The cubin.
        cubin: PathBuf,
        /// What that says.
        found: String,
    },
    /// The launch names another kernel.
    #[error("`{function}` launches `{kernel}`, but `{}` is about `{name}`; leave `kernel` out", json.display())]
    Name {
        /// The function.
        function: String,
        /// What it launches.
        kernel: String,
        /// The JSON.
        json: PathBuf,
        /// The kernel that it is about.
        name: String,
    },
    /// The launch says what the JSON says.
    #[error("`{function}` gives the `{key}` of a launch that `{}` says: {says}; leave it out", json.display())]
    Said {
        /// The function.
        function: String,
        /// What it gives.
        key: &'static str,
        /// The JSON.
        json: PathBuf,
        /// What that says.
        says: String,
    },
    /// Files for different architectures want different launches.
    #[error(
        "`{}` and `{}` cannot share a launch: {what} is {first} in one and {second} in the other; compile both with the same version and options",
        files.0.display(), files.1.display()
    )]
    Unlike {
        /// Both JSON files.
        files: (PathBuf, PathBuf),
        /// What differs.
        what: &'static str,
        /// What it is in the first.
        first: String,
        /// What it is in the second.
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

/// A JSON file, what it says, and the sizes of the kernel's own parameters, in bytes. What lacks the kernel is refused elsewhere.
struct Described {
    json: PathBuf,
    kernel: TritonKernel,
    params: Option<Vec<u32>>,
}

/// The package with what Triton's JSON says in every launch of a Triton source. A launch stays as it is where a JSON cannot be read, is not
/// that of its cubin, does not fit the launch, or wants what is not supported; that is a problem then.
pub fn settle<'p>(
    package: &'p Package,
    files: &mut Files,
    problems: &mut Problems,
) -> Cow<'p, Package> {
    let mut package = Cow::Borrowed(package);
    for number in 0..package.functions.len() {
        for index in 0..package.functions[number].launches.len() {
            let Some(source) = package.functions[number].launches[index].gpu_source() else {
                continue;
            };
            let described = describe(source, files);
            let settled = described.and_then(|described| match described {
                None => Ok(()),
                Some(described) => {
                    let function = &mut package.to_mut().functions[number];
                    settle_launch(function, index, &described)
                        .map_err(|error| refused(&described.json, &error))
                }
            });
            if let Err(error) = settled {
                let function = &package.functions[number].signature.name;
                problems.push(Problem::of_launch(function, index, error));
            }
        }
    }
    package
}

fn refused(json: &Path, error: &TritonLaunchError) -> SourceError {
    SourceError::new(SourceErrorKind::Triton, json, error)
}

/// What the JSON files of a source say together; nothing where it has none.
fn describe(source: &GpuSource, files: &mut Files) -> Result<Option<Described>, SourceError> {
    let GpuSource::Files(gpu_files) = source else { return Ok(None) };
    let mut all: Option<Described> = None;
    for file in gpu_files {
        let Some(json) = &file.triton else { continue };
        let image = file.image(files)?;
        let one = read(file, &image, json, files).map_err(|error| refused(json, &error))?;
        match &mut all {
            None => all = Some(one),
            Some(all) => {
                require_alike(all, &one).map_err(|error| refused(json, &error))?;
                // Which of the images is loaded is known at the call: the largest is enough for each.
                let shared = &mut all.kernel.shared_bytes;
                *shared = (*shared).max(one.kernel.shared_bytes);
            }
        }
    }
    Ok(all)
}

fn read(
    file: &GpuFile,
    image: &Image,
    json: &Path,
    files: &mut Files,
) -> Result<Described, TritonLaunchError> {
    let text = files.read_text(json).map_err(|ReadError { path, reason }| {
        TritonLaunchError::Read { json: path, cubin: file.path.clone(), reason }
    })?;
    let kernel = TritonKernel::read(&json.display().to_string(), &text)?;
    let params = image.kernel(&kernel.name).map(|found| {
        let n_own = found.params.len().saturating_sub(kernel.hidden_params().len());
        found.params.iter().take(n_own).map(|param| param.size).collect()
    });
    let described = Described { json: json.to_path_buf(), kernel, params };
    described.require_arch(file, image)?;
    Ok(described)
}

/// Both kernels are launched in one way.
fn require_alike(a: &Described, b: &Described) -> Result<(), TritonLaunchError> {
    let facts = |kernel: &TritonKernel| {
        let bytes = |scratch: &Scratch| scratch.bytes_per_block.to_string();
        let hidden: Vec<_> = kernel.hidden_params().iter().map(bytes).collect();
        let descriptors: Vec<_> = kernel.descriptors.iter().map(|one| one.to_string()).collect();
        [
            ("the kernel", kernel.name.clone()),
            ("the number of threads in a block", kernel.threads_per_block.to_string()),
            ("the cluster", format!("{:?}", kernel.cluster)),
            ("what is made for its tensor descriptors", format!("[{}]", descriptors.join("; "))),
            ("the scratch memory of its hidden parameters", format!("[{}]", hidden.join(", "))),
            ("`launch_cooperative_grid`", kernel.is_cooperative.to_string()),
            ("`launch_pdl`", kernel.is_dependent.to_string()),
        ]
    };
    for ((what, first), (_, second)) in facts(&a.kernel).into_iter().zip(facts(&b.kernel)) {
        if first != second {
            let files = (a.json.clone(), b.json.clone());
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
            json: self.json.clone(),
            expected: self.kernel.arch,
            cubin: file.path.clone(),
            found: found.join(", "),
        })
    }

    fn said(&self, function: &str, key: &'static str, says: String) -> TritonLaunchError {
        let (function, json) = (function.to_string(), self.json.clone());
        TritonLaunchError::Said { function, key, json, says }
    }
}

fn settle_launch(
    function: &mut Function,
    index: usize,
    described: &Described,
) -> Result<(), TritonLaunchError> {
    let name = function.signature.name.clone();
    settle_name(&mut function.launches[index], &name, described)?;
    settle_descriptors(function, index, described)?;
    let launch = &mut function.launches[index];
    let kernel = &described.kernel;
    let Site::Gpu { launch, .. } = &mut launch.site else { return Ok(()) };
    let geometry = &mut launch.geometry;
    require_unsaid(geometry, &name, described)?;
    geometry.block = vec![Expr::Int(kernel.threads_per_block.into())];
    geometry.shared = Expr::Int(kernel.shared_bytes.into());
    geometry.cooperative = kernel.is_cooperative;
    geometry.dependent = kernel.is_dependent;
    if kernel.cluster != [1, 1, 1] {
        geometry.cluster = kernel.cluster.map(|blocks| Expr::Int(blocks.into())).to_vec();
        geometry.grid = blocks(&geometry.grid, kernel.cluster);
    }
    let mut hidden = Vec::new();
    if let Some(scratch) = kernel.global_scratch {
        let workspace = scratch_workspace(index, scratch, &geometry.grid);
        hidden.push(match &workspace {
            Some(workspace) => HiddenArg::Workspace(workspace.name.clone()),
            None => HiddenArg::Null,
        });
        function.workspaces.extend(workspace);
    }
    match kernel.profile_scratch {
        Some(Scratch { bytes_per_block: 0, .. }) => hidden.push(HiddenArg::Null),
        Some(Scratch { bytes_per_block: bytes, .. }) => {
            return Err(TritonLaunchError::Profile { json: described.json.clone(), bytes });
        }
        None => {}
    }
    launch.hidden = hidden;
    Ok(())
}

/// The kernel's name is the JSON's.
fn settle_name(
    launch: &mut Launch,
    function: &str,
    described: &Described,
) -> Result<(), TritonLaunchError> {
    let name = &described.kernel.name;
    if launch.kernel == KernelName::plain("") {
        launch.kernel = KernelName::plain(name);
    }
    if launch.kernel == KernelName::plain(name) {
        return Ok(());
    }
    Err(TritonLaunchError::Name {
        function: function.to_string(),
        kernel: launch.kernel.to_string(),
        json: described.json.clone(),
        name: name.clone(),
    })
}

/// The arguments are those of the cubin's parameters.
fn settle_descriptors(
    function: &mut Function,
    index: usize,
    described: &Described,
) -> Result<(), DescriptorError> {
    let Some(params) = &described.params else { return Ok(()) };
    let launch = &function.launches[index];
    let descriptors = Descriptors {
        function: &function.signature.name,
        json: &described.json,
        described: &described.kernel.descriptors,
        params,
        when: &launch.when,
    };
    if !descriptors.concern(&launch.args) {
        return Ok(());
    }
    // A signature that makes no sense is refused when the function is planned.
    let tensors = function.signature.named_tensors(function.default_device(), &function.workspaces);
    if let Ok(tensors) = tensors {
        function.launches[index].args = descriptors.settle(&launch.args, &tensors)?;
    }
    Ok(())
}

/// The launch leaves to the JSON what that says.
fn require_unsaid(
    geometry: &Geometry,
    function: &str,
    described: &Described,
) -> Result<(), TritonLaunchError> {
    let kernel = &described.kernel;
    let given = [
        ("block", !geometry.block.is_empty(), kernel.threads_per_block.to_string()),
        ("smem", geometry.shared != Expr::Int(0), kernel.shared_bytes.to_string()),
        ("cluster", !geometry.cluster.is_empty(), format!("{:?}", kernel.cluster)),
        ("cooperative", geometry.cooperative, kernel.is_cooperative.to_string()),
        ("pdl", geometry.dependent, kernel.is_dependent.to_string()),
    ];
    match given.into_iter().find(|(_, is_given, _)| *is_given) {
        Some((key, _, says)) => Err(described.said(function, key, says)),
        None => Ok(()),
    }
}

/// The driver's grid: Triton's counts clusters.
fn blocks(grid: &[Expr], cluster: [u32; 3]) -> Vec<Expr> {
    let written = grid.iter().cloned().map(Some).chain(std::iter::repeat(None));
    let times = |(blocks, clusters): (u32, Option<Expr>)| match (i64::from(blocks), clusters) {
        (1, clusters) => clusters.unwrap_or(Expr::Int(1)),
        (blocks, None) => Expr::Int(blocks),
        (blocks, Some(clusters)) => Expr::binary(Op::Mul, Expr::Int(blocks), clusters),
    };
    cluster.into_iter().zip(written).map(times).collect()
}

/// The scratch memory of all blocks of a grid, where the kernel wants any. Like every workspace it is there before a launch is known to run, so
/// a grid that is no grid must not be refused here: the launch does that, if it runs.
fn scratch_workspace(launch: usize, scratch: Scratch, grid: &[Expr]) -> Option<Workspace> {
    if scratch.bytes_per_block == 0 {
        return None;
    }
    let n_blocks = grid.iter().map(|extent| match extent {
        Expr::Int(_) => extent.clone(),
        extent => Expr::binary(Op::Max, Expr::Int(0), extent.clone()),
    });
    let bytes = Expr::Int(scratch.bytes_per_block.into());
    let bytes = n_blocks.fold(bytes, |bytes, extent| Expr::binary(Op::Mul, bytes, extent));
    // No parameter and no other workspace can have a name with blanks in it.
    let name = format!("scratch of launch {launch}");
    let tensor = Tensor::new([bytes], DType::UINT8).align(scratch.alignment_bytes);
    Some(Workspace { name, tensor })
}
