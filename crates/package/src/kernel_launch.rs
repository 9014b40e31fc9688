// SPDX-License-Identifier: Apache-2.0
//! Launches of kernels that are written here: what the kernels become for them, and what these are
//! passed.
//!
//! All launches of one file, compiled in one way, share a source, which has every kernel that any
//! of them needs. So it is known only when all of a package's launches have been looked at.

use crate::file::Files;
use crate::kernel_file::{KernelFile, KernelTarget};
use crate::package::{Function, KernelLaunch, Launch, PackedLaunches, Site};
use crate::source::{GpuSource, KernelSource};
use kernpack_kernel_lang::packed::PackedRow;
use kernpack_kernel_lang::packed::settle::{Kernels, SettledLaunch};
use kernpack_kernel_lang::packed::written::{self, Described, WrittenKernel};
use kernpack_syntax::{Diagnostics, Placed};
use kernpack_validators::{Branch, When};

/// The kernels of a package's files.
#[derive(Debug, Default)]
pub(crate) struct KernelPools(Vec<(KernelFile, Kernels)>);

impl KernelPools {
    fn of(&mut self, file: &KernelFile) -> &mut Kernels {
        let place = self.0.iter().position(|(known, _)| known.is_same(file));
        let place = place.unwrap_or_else(|| {
            self.0.push((file.clone(), Kernels::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    /// Gives every launch of these functions all kernels of its file.
    pub fn complete<'f>(&self, functions: impl Iterator<Item = &'f mut Function>) {
        for launch in functions.flat_map(|function| &mut function.launches) {
            let Site::Gpu { source: GpuSource::Kernel(source, archs), .. } = &mut launch.site
            else {
                continue;
            };
            let is_own = |(file, _): &&(KernelFile, Kernels)| {
                let KernelTarget::Nvptx(own) = &file.target;
                file.path == source.path && own == archs && file.line_info == source.line_info
            };
            if let Some((_, kernels)) = self.0.iter().find(is_own) {
                source.instances.clone_from(&kernels.kernels);
            }
        }
    }

    /// Warnings about the kernels.
    pub fn warnings(&self) -> Diagnostics {
        let warnings = self.0.iter().flat_map(|(_, kernels)| kernels.warnings.0.iter().cloned());
        Diagnostics(warnings.collect())
    }

    /// The launches of a packed function.
    pub fn settle_packed(
        &mut self,
        written: &PackedLaunches,
        files: &mut Files<'_>,
    ) -> Result<Vec<Launch>, Diagnostics> {
        let opened = written.file.open(files.held())?;
        files.extend(opened.looked.clone());
        let settled = self.of(&written.file).settle(&opened.files, &written.rows)?;
        Ok(settled.into_iter().map(|one| launch(&written.file, one.when(), one)).collect())
    }

    /// A launch of a package file, which is several where dtypes make it so.
    pub fn settle_written(
        &mut self,
        written: &KernelLaunch,
        function: &Function,
        (index, whens): (usize, &[&When]),
        files: &mut Files<'_>,
    ) -> Result<Vec<Launch>, Diagnostics> {
        let opened = written.file.open(files.held())?;
        files.extend(opened.looked.clone());
        let KernelLaunch { kernel, args, geometry, .. } = written;
        let (signature, workspaces) = (&function.signature, &function.workspaces[..]);
        let described = Described { signature, workspaces, whens, index };
        let own = WrittenKernel { kernel, args, geometry };
        let rows = written::launch(&opened.files, own, described)?;
        // Under the others its `when` does not hold.
        let rows: Vec<_> = rows.into_iter().filter(|row| !row.launches.is_empty()).collect();
        let settled = self.of(&written.file).settle(&opened.files, &rows)?;
        Ok(self.joined(written, (index, whens), &rows, settled))
    }

    /// The launches, each with the condition that is written.
    fn joined(
        &self,
        written: &KernelLaunch,
        (index, whens): (usize, &[&When]),
        rows: &[PackedRow],
        settled: Vec<SettledLaunch>,
    ) -> Vec<Launch> {
        let is_one = settled.len() == 1 || rows.len() <= 1;
        let launch = |one: SettledLaunch| {
            let when = match is_one {
                true => written.when.clone(),
                false => when(&written.when, written::branches(whens, index), &one.branches),
            };
            launch(&written.file, when, one)
        };
        settled.into_iter().map(launch).collect()
    }
}

/// The condition of one of several launches that a written one is.
fn when(written: &When, branches: Vec<Branch>, dtypes: &[Branch]) -> When {
    match written {
        When::Rules(rules) => {
            let dtypes = dtypes.iter().map(|branch| branch.rule.clone());
            When::Rules(rules.iter().cloned().chain(dtypes).collect())
        }
        When::Always | When::Otherwise(_) | When::Branches(_) => {
            When::Branches([branches, dtypes.to_vec()].concat())
        }
    }
}

/// A launch with the source of its kernel, which is completed later.
fn launch(file: &KernelFile, when: When, settled: SettledLaunch) -> Launch {
    let SettledLaunch { branches: _, kernel, args, geometry } = settled;
    let source =
        KernelSource { path: file.path.clone(), instances: vec![], line_info: file.line_info };
    let site = match &file.target {
        KernelTarget::Nvptx(archs) => {
            Site::Gpu { source: GpuSource::Kernel(source, archs.clone()), launch: geometry.into() }
        }
    };
    let place = kernel.span;
    let args = args.into_iter().map(|arg| Placed::new(arg, place)).collect();
    Launch { when, kernel, args, site }
}
