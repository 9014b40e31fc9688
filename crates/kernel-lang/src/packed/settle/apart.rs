// SPDX-License-Identifier: Apache-2.0
//! From a launch to its kernel, and to several launches where it is for several architectures and
//! the kernel is another one for some of them. These are alternatives as if each had been written.

use super::super::unrelated::Unrelated;
use super::super::{PackedLaunch, Row};
use super::block;
use crate::elaborate::{Instance, Request, elaborate_apart};
use crate::extents::Surroundings;
use crate::file::KernelFiles;
use kernpack_kernel_ir::intrinsic::Level;
use kernpack_kernel_ir::verify::check_calls;
use kernpack_kernel_ir::{Kernel, Scalar};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::{Geometry, LaunchFlag};

/// A launch with its kernel, or what is wrong with it.
type Found = (PackedLaunch, Result<Instance, Diagnostics>);

/// Elaborates the kernel of a launch, with its own name for a symbol. Of launches that come of one,
/// that for the architecture that is named first comes first.
pub(super) fn instances(
    files: &KernelFiles,
    row: &Row,
    launch: &PackedLaunch,
    how: (Unrelated, bool),
) -> Vec<Found> {
    let (instance, apart) = instance(files, row, launch, how);
    let Some(asked) = apart else { return vec![(launch.clone(), instance)] };
    let first_has = launch.archs[0].has(asked);
    let (first, others) = launch.archs.iter().partition(|arch| arch.has(asked) == first_has);
    let parts = [first, others].map(|archs| PackedLaunch { archs, ..launch.clone() });
    parts.iter().flat_map(|part| instances(files, row, part, how)).collect()
}

/// The kernel of a launch, and the first architecture that it asks for and that only some of the
/// launch's have.
fn instance(
    files: &KernelFiles,
    row: &Row,
    launch: &PackedLaunch,
    (unrelated, is_checked): (Unrelated, bool),
) -> (Result<Instance, Diagnostics>, Option<Arch>) {
    let scalars = row.iter().map(|(var, dtype)| Some((var.clone(), Scalar::of(*dtype)?)));
    let dtypes: Vec<_> = scalars.flatten().collect();
    let archs: Vec<_> = launch.archs.iter().map(|arch| arch.value).collect();
    let PackedLaunch { geometry, relations, .. } = launch;
    let surroundings = Surroundings { grid: &geometry.grid, relations };
    let request = Request {
        kernel: &launch.kernel,
        arguments: &launch.args,
        dtypes: &dtypes,
        block: block(geometry),
        archs: &archs,
        symbol: launch.kernel.name(),
        surroundings: unrelated.is_asked().then_some(surroundings),
        is_checked,
    };
    let (instance, apart) = elaborate_apart(files, &request);
    let instance = instance.and_then(|mut instance| {
        check_is_cooperative(&instance.kernel, geometry)?;
        instance.kernel.demands = launch.demands;
        instance.kernel.archs.clone_from(&archs);
        Ok(instance)
    });
    (instance, apart)
}

/// Checks that blocks that wait for the whole grid all run at once.
fn check_is_cooperative(kernel: &Kernel, geometry: &Geometry) -> Result<(), Diagnostics> {
    if geometry.flags.has(LaunchFlag::Cooperative) {
        return Ok(());
    }
    check_calls(kernel, |call| {
        let waits = call.intrinsic.together == Level::Grid;
        let message = "blocks wait for the whole grid here, and may not all run at once";
        let problem = Diagnostic::new("launch-argument", message);
        waits.then(|| problem.help("write `.launch(…, cooperative=True)`"))
    })
}
