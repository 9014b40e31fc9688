// SPDX-License-Identifier: Apache-2.0
//! Compiling a package's CUDA C++ for other architectures than it says.

use super::{Function, Launch, Site, WrittenLaunch};
use crate::image::Arch;
use crate::source::GpuSource;
use kernpack_syntax::Placed;

/// What became of the GPU sources of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overruled {
    /// The sources that are compiled for the other architectures, each once.
    pub compiled: Vec<Placed<String>>,
    /// The sources that are compiled already and stay as they are, each once.
    pub kept: Vec<Placed<String>>,
}

/// Has every CUDA C++ source of these functions of which nobody wrote what it is to be compiled for
/// compiled for these architectures.
pub fn settle_archs<'f>(
    functions: impl Iterator<Item = &'f mut Function<WrittenLaunch>>,
    archs: &[Arch],
) {
    for launch in functions.flat_map(|function| &mut function.launches) {
        let WrittenLaunch::Whole(Launch { site: Site::Gpu { source, .. }, .. }) = launch else {
            continue;
        };
        if source.is_arch_written() == Some(false)
            && let GpuSource::Cuda(_, own) = source
        {
            *own = archs.iter().copied().map(Placed::from).collect();
        }
    }
}

impl Overruled {
    /// Has every CUDA C++ source of these functions compiled for these architectures.
    pub fn of<'f>(
        functions: impl Iterator<Item = &'f mut Function<WrittenLaunch>>,
        archs: &[Arch],
    ) -> Overruled {
        let mut overruled = Overruled::default();
        for launch in functions.flat_map(|function| &mut function.launches) {
            let (name, names) = match launch {
                WrittenLaunch::Triton(launch) => {
                    (GpuSource::Files(launch.files.clone()).name(), &mut overruled.kept)
                }
                WrittenLaunch::Whole(Launch { site: Site::Host { .. }, .. }) => continue,
                WrittenLaunch::Whole(Launch { site: Site::Gpu { source, .. }, .. }) => {
                    let name = source.name();
                    match source {
                        GpuSource::Files(_) => (name, &mut overruled.kept),
                        GpuSource::Cuda(_, own) => {
                            *own = archs.iter().copied().map(Placed::from).collect();
                            (name, &mut overruled.compiled)
                        }
                    }
                }
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        overruled
    }
}
