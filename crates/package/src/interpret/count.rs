// SPDX-License-Identifier: Apache-2.0
//! How much the accesses of a call ask of memory, as far as its launches are counted.
//!
//! How wide accesses become is the code generator's to say, which this crate has not: who asks for
//! counts hands it in.

use super::launches::{Interpretable, RanLaunch};
use crate::source::{GpuSource, KernelSource, SourceError};
use kernpack_kernel_ir::interp::{Options, Traffic, Widths};
use kernpack_kernel_ir::kernel::Kernel;
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostics, Placed};
use std::fmt::Debug;
use std::sync::Arc;

/// The knowledge of a code generator about accesses.
pub trait AccessWidths: Debug + Sync {
    /// How wide the accesses of the kernels of a source become, on the first of these architectures
    /// that they are for.
    ///
    /// # Errors
    /// All that is wrong with the kernels.
    fn widths(
        &self,
        source: &KernelSource,
        archs: &[Placed<Arch>],
    ) -> Result<Widths, Vec<SourceError>>;
}

/// The accesses of one line to one tensor or array.
#[derive(Clone, Debug)]
pub struct LineTraffic {
    /// The file, as the kernel names it; nothing where nobody wrote the line.
    pub file: Option<String>,
    /// How much they ask of memory.
    pub traffic: Traffic,
}

/// Options with which a kernel of a launch is counted, where that is wanted.
pub(super) fn options(
    function: &Interpretable,
    index: usize,
    kernel: &Kernel,
    options: &Options,
) -> Result<Options, Diagnostics> {
    let launch = &function.function.launches[index];
    let (Some(known), Some(GpuSource::Kernel(source, archs))) =
        (function.count, launch.gpu_source())
    else {
        return Ok(options.clone());
    };
    let source = KernelSource { instances: [Arc::new(kernel.clone())].into(), ..source.clone() };
    let widths = known.widths(&source, archs).map_err(|errors| {
        Diagnostics(errors.into_iter().map(|error| error.diagnostic("", [])).collect())
    })?;
    Ok(Options { count: Some(Arc::new(widths)), ..options.clone() })
}

/// The counts of a launch that ran.
pub(super) fn of(ran: &RanLaunch) -> Option<Vec<LineTraffic>> {
    let of_line = |traffic: &Traffic| {
        let file = traffic.place.file.map(|file| ran.kernel.files[file.index()].clone());
        LineTraffic { file, traffic: traffic.clone() }
    };
    Some(ran.outcome.traffic.as_ref()?.iter().map(of_line).collect())
}
