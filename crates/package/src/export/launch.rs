// SPDX-License-Identifier: Apache-2.0
//! The part of the record that says what a launch is: the kernel, where its code comes from and
//! what that is for, and how it is laid out.
//!
//! Keys have the names that they have in package files. A key that would say what is usual is left
//! out: the record counts for the size of every package. Kinds are text, so that an older reader
//! reads those of a newer minor too.

use crate::image::Image;
use crate::package::{Launch, Returns, Site};
use crate::source::{GpuSource, KernelSource};
use kernpack_syntax::Placed;
use kernpack_validators::{Expr, Geometry, LaunchFlags};
use serde::{Deserialize, Serialize};

/// A launch, as the record has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// The kernel, as the launch names it.
    pub kernel: String,
    /// The rules under which it runs.
    pub when: Vec<String>,
    /// The kernel's arguments.
    pub args: Vec<String>,
    /// `int` for a host function whose result is a status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// Where the kernel comes from. Format 1.0 does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceRecord>,
    /// How it is laid out on a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutRecord>,
}

/// Where a kernel comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// `host`, `cuda`, `triton`, or `files` that somebody else compiled for a GPU.
    pub kind: String,
    /// Whether its kernels check their indices as they run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checked: bool,
    /// The images of a source for GPUs, each for other devices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageRecord>,
}

/// An image, as the record has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRecord {
    /// `cubin`, `ptx` or `fatbin`.
    pub kind: String,
    /// The architectures: `sm_…` is machine code, `compute_…` PTX.
    pub archs: Vec<String>,
    /// Those of them whose code is compressed, so that only the driver knows which kernels it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compressed: Vec<String>,
    /// The assembler of machine code of kernels that are written here, with its version. Formats
    /// before 1.3 do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assembler: Option<String>,
}

/// How a launch on a GPU is laid out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayoutRecord {
    /// Blocks, x first.
    pub grid: Vec<String>,
    /// Threads in a block, x first.
    pub block: Vec<String>,
    /// Bytes of dynamic shared memory, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smem: Option<String>,
    /// Blocks in a cluster, x first, if there are clusters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cluster: Vec<String>,
    /// The flags that it asks for: a key that is true for each.
    #[serde(flatten, with = "flags")]
    pub flags: LaunchFlags,
    /// The priority, where it is not the stream's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<String>,
    /// The parameter that is the stream, where it is not the environment's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<String>,
}

/// The record of a launch. `images` are those of the package's sources for GPUs.
pub(super) fn launch_record(launch: &Launch, images: &[(&GpuSource, &[Image])]) -> LaunchRecord {
    let (returns, source, layout) = match &launch.site {
        Site::Host { returns, .. } => {
            let returns = (*returns == Returns::Status).then(|| "int".to_string());
            let (kind, checked, images) = ("host".to_string(), false, vec![]);
            (returns, SourceRecord { kind, checked, images }, None)
        }
        Site::Gpu { source, launch } => {
            (None, source_record(source, images), Some(layout_record(&launch.geometry)))
        }
    };
    LaunchRecord {
        kernel: launch.kernel.to_string(),
        when: launch.when.texts(),
        args: launch.args.iter().map(ToString::to_string).collect(),
        returns,
        source: Some(source),
        layout,
    }
}

fn source_record(source: &GpuSource, images: &[(&GpuSource, &[Image])]) -> SourceRecord {
    let built = images.iter().find(|(known, _)| *known == source);
    let images = built.map_or(&[][..], |(_, images)| images);
    SourceRecord {
        kind: source.word().to_string(),
        checked: matches!(source, GpuSource::Kernel(KernelSource { checked: true, .. }, _)),
        images: images.iter().map(image_record).collect(),
    }
}

fn image_record(image: &Image) -> ImageRecord {
    let compressed = image.codes.iter().filter(|code| code.kernels.is_none());
    ImageRecord {
        kind: image.kind.word().to_string(),
        archs: image.codes.iter().map(|code| code.arch.to_string()).collect(),
        compressed: compressed.map(|code| code.arch.to_string()).collect(),
        assembler: image.assembler.clone(),
    }
}

fn layout_record(geometry: &Geometry) -> LayoutRecord {
    let texts = |numbers: &[Placed<Expr>]| numbers.iter().map(ToString::to_string).collect();
    let has_shared = geometry.shared.value != Expr::Int(0);
    LayoutRecord {
        grid: texts(&geometry.grid),
        block: texts(&geometry.block),
        smem: has_shared.then(|| geometry.shared.to_string()),
        cluster: texts(&geometry.cluster),
        flags: geometry.flags,
        priority: geometry.priority.as_ref().map(ToString::to_string),
        stream: geometry.stream.as_ref().map(ToString::to_string),
    }
}

/// Flags of launches among the keys of a record. Those of a newer minor are ignored.
mod flags {
    use kernpack_validators::{LaunchFlag, LaunchFlags};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value};

    pub(super) fn serialize<S: Serializer>(
        flags: &LaunchFlags,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(flags.iter().map(|flag| (flag.key(), true)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<LaunchFlags, D::Error> {
        let rest = Map::<String, Value>::deserialize(deserializer)?;
        let has = |flag: LaunchFlag| rest.get(flag.key()).map_or(Ok(false), bool::deserialize);
        LaunchFlags::ask(has).map_err(Error::custom)
    }
}

#[cfg(test)]
mod tests;
