// SPDX-License-Identifier: Apache-2.0
//! Compiling what a package has compiled, CUDA C++ and kernels written here, for other
//! architectures than it says.

use super::{Function, KernelLaunch, Launch, PackedLaunches, Site, WrittenLaunch};
use crate::source::GpuSource;
use kernpack_machine::Arch;
use kernpack_syntax::Placed;

/// The GPU sources of a package, for other architectures than it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overruled {
    /// The sources that are compiled for the other architectures, each once.
    pub compiled: Vec<Placed<String>>,
    /// The sources that are compiled already and stay as they are, each once.
    pub kept: Vec<Placed<String>>,
}

/// Has every source of these functions that is compiled, and of which nobody wrote for what,
/// compiled for these architectures: kernels written here only where there is an assembler for
/// them.
pub fn settle_archs<'f>(
    functions: impl Iterator<Item = &'f mut Function<WrittenLaunch>>,
    archs: &[Arch],
    has_assembler: bool,
) {
    for launch in functions.flat_map(|function| &mut function.launches) {
        match launch {
            WrittenLaunch::Whole(Launch { site: Site::Gpu { source, .. }, .. }) => {
                if source.is_arch_written() == Some(false) {
                    source.set_archs(archs);
                }
            }
            WrittenLaunch::Kernel(KernelLaunch { file, .. })
            | WrittenLaunch::Packed(PackedLaunches { file, .. }) => {
                if has_assembler && !file.target.is_written() {
                    file.target.set_archs(archs);
                }
            }
            WrittenLaunch::Whole(Launch { site: Site::Host { .. }, .. })
            | WrittenLaunch::Triton(_) => {}
        }
    }
}

impl Overruled {
    /// Has every source of these functions that is compiled, compiled for these architectures.
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
                WrittenLaunch::Kernel(KernelLaunch { file, .. })
                | WrittenLaunch::Packed(PackedLaunches { file, .. }) => {
                    file.target.set_archs(archs);
                    (
                        file.path.clone().map(|path| path.display().to_string()),
                        &mut overruled.compiled,
                    )
                }
                WrittenLaunch::Whole(Launch { site: Site::Host { .. }, .. }) => continue,
                WrittenLaunch::Whole(Launch { site: Site::Gpu { source, .. }, .. }) => {
                    let name = source.name();
                    match source.set_archs(archs) {
                        true => (name, &mut overruled.compiled),
                        false => (name, &mut overruled.kept),
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
