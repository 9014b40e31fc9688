// SPDX-License-Identifier: Apache-2.0
//! Launches of kernels that are written here: what the kernels become for them, and what these are
//! passed.
//!
//! All launches of one file, compiled in one way, share a source, which has every kernel that any
//! of them needs. So it is known only when all of a package's launches have been looked at: until
//! then the kernels are in a pool, which a launch knows by its id ([`PooledLaunch`]).

use crate::file::Files;
use crate::kernel_file::{KernelFile, KernelTarget};
use crate::package::{Function, KernelLaunch, Launch, PackedLaunches, Site};
use crate::source::{GpuSource, KernelSource};
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::timeline::timed;
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_kernel_lang::packed::settle::{Kernels, SettledLaunch};
use kernpack_kernel_lang::packed::written::{self, Described, WrittenKernel};
use kernpack_kernel_lang::packed::{PackedRow, Unrelated};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostics, Placed};
use kernpack_validators::{Branch, Expr, GpuLaunch, HiddenArg, KernelArg, When};
use std::sync::Arc;

/// The kernels of a package's files, while launches are looked at: a pool for each file and way to
/// compile it.
#[derive(Debug, Default)]
pub(crate) struct KernelPools(Vec<(KernelFile, Kernels)>);

/// A pool, by its number.
#[derive(Clone, Copy, Debug)]
struct PoolId(usize);

/// A launch of which all is known but which other kernels its source has.
#[derive(Debug)]
pub(crate) struct PooledLaunch {
    pool: PoolId,
    /// The file, where the launch names it.
    file: KernelFile,
    when: When,
    settled: SettledLaunch,
}

/// The kernels of every pool, when there will be no more.
#[derive(Debug)]
pub(crate) struct PooledKernels {
    pools: Vec<Vec<Together>>,
    /// Whether any of them asserts something as it runs: all launches pass the record then, so that
    /// each call of the package looks at it.
    assert: bool,
}

/// Kernels that are compiled together.
#[derive(Debug)]
struct Together {
    /// The architectures, as launches have them.
    archs: Vec<Arch>,
    kernels: Arc<[Arc<Kernel>]>,
}

impl KernelPools {
    fn of(&mut self, file: &KernelFile) -> PoolId {
        let place = self.0.iter().position(|(known, _)| known.is_same(file));
        PoolId(place.unwrap_or_else(|| {
            self.0.push((file.clone(), Kernels::new(file.checked)));
            self.0.len() - 1
        }))
    }

    /// Elaborates the kernels of launches, for all combinations of dtypes, into a file's pool.
    fn settle(
        &mut self,
        file: &KernelFile,
        files: &KernelFiles,
        rows: &[PackedRow],
        unrelated: Unrelated,
    ) -> Result<(PoolId, Vec<SettledLaunch>), Diagnostics> {
        let pool = self.of(file);
        Ok((pool, self.0[pool.0].1.settle(files, rows, unrelated)?))
    }

    /// Warnings about the kernels.
    pub fn warnings(&self) -> Diagnostics {
        let warnings = self.0.iter().flat_map(|(_, kernels)| kernels.warnings.0.iter().cloned());
        Diagnostics(warnings.collect())
    }

    /// The kernels that all launches together need.
    pub fn into_kernels(self) -> PooledKernels {
        let apart = |(file, kernels): (KernelFile, Kernels)| {
            let sets = kernels.sets().into_iter();
            let together = |archs: Vec<_>| {
                let kernels = kernels.compiled_for(&archs).into_iter();
                let kernels = kernels.map(|kernel| match file.asserts {
                    true => kernel,
                    false => Arc::new(kernel.without_asserts()),
                });
                let kernels = kernels.map(|kernel| match &file.timed {
                    Some(_) => Arc::new(timed(&kernel)),
                    None => kernel,
                });
                Together { kernels: kernels.collect(), archs }
            };
            sets.map(together).collect()
        };
        let pools: Vec<Vec<_>> = self.0.into_iter().map(apart).collect();
        let mut kernels = pools.iter().flatten().flat_map(|one| one.kernels.iter());
        let assert = kernels.any(|kernel| kernel.asserts());
        PooledKernels { pools, assert }
    }

    /// The launches of a packed function.
    pub fn settle_packed(
        &mut self,
        written: &PackedLaunches,
        files: &mut Files<'_>,
    ) -> Result<Vec<PooledLaunch>, Diagnostics> {
        let opened = written.file.open(files.held())?;
        files.extend(opened.looked.clone());
        let PackedLaunches { file, rows, unrelated } = written;
        let (pool, settled) = self.settle(file, &opened.files, rows, *unrelated)?;
        let launch = |settled: SettledLaunch| {
            let (file, when) = (written.file.clone(), settled.when());
            PooledLaunch { pool, file, when, settled }
        };
        Ok(settled.into_iter().map(launch).collect())
    }

    /// A launch of a package file, which is several where dtypes make it so.
    pub fn settle_written(
        &mut self,
        written: &KernelLaunch,
        function: &Function,
        (index, whens): (usize, &[&When]),
        files: &mut Files<'_>,
    ) -> Result<Vec<PooledLaunch>, Diagnostics> {
        let opened = written.file.open(files.held())?;
        files.extend(opened.looked.clone());
        let KernelLaunch { kernel, args, geometry, .. } = written;
        let (signature, workspaces) = (&function.signature, &function.workspaces[..]);
        let described = Described { signature, workspaces, whens, index };
        let own = WrittenKernel { kernel, args, geometry };
        let rows = written::launch(&opened.files, own, described)?;
        // Under the others its `when` does not hold.
        let rows: Vec<_> = rows.into_iter().filter(|row| !row.launches.is_empty()).collect();
        let (pool, settled) =
            self.settle(&written.file, &opened.files, &rows, Unrelated::Ignore)?;
        let is_one = settled.len() == 1 || rows.len() <= 1;
        let launch = |settled: SettledLaunch| {
            let when = match is_one {
                true => written.when.clone(),
                false => when(&written.when, written::branches(whens, index), &settled.branches),
            };
            PooledLaunch { pool, file: written.file.clone(), when, settled }
        };
        Ok(settled.into_iter().map(launch).collect())
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

impl PooledKernels {
    fn of(&self, pool: PoolId, archs: &[Placed<Arch>]) -> Arc<[Arc<Kernel>]> {
        let is_it = |one: &&Together| one.archs.iter().eq(archs.iter().map(|arch| &arch.value));
        let found = self.pools[pool.0].iter().find(is_it);
        found.map_or_else(|| [].into(), |one| one.kernels.clone())
    }
}

impl PooledLaunch {
    /// The launch, with the source that it shares with the others of its pool.
    pub fn whole(self, kernels: &PooledKernels) -> Launch {
        let PooledLaunch { pool, file, when, settled } = self;
        let SettledLaunch { branches: _, kernel, args, geometry, archs } = settled;
        let KernelFile { path, target, line_info, checked, timed, asserts: _, opened: _ } = file;
        let instances = kernels.of(pool, &archs);
        let source = KernelSource { path, instances, line_info, checked };
        let site = match target {
            KernelTarget::Nvptx(own) => {
                let archs = if archs.is_empty() { own } else { archs };
                let hidden = Vec::from_iter(kernels.assert.then_some(HiddenArg::AssertRecord));
                let launch = GpuLaunch { geometry, hidden };
                Site::Gpu { source: GpuSource::Kernel(source, archs), launch }
            }
        };
        let place = kernel.span;
        let buffer = timed.map(|name| KernelArg::Value(Expr::symbol(name), None));
        let args = args.into_iter().chain(buffer).map(|arg| Placed::new(arg, place)).collect();
        Launch { when, kernel, args, site }
    }
}
