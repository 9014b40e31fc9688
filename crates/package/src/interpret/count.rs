// SPDX-License-Identifier: Apache-2.0
//! How much the accesses of a call ask of memory, as far as its launches are counted.
//!
//! How wide accesses become is the code generator's to say, which this crate has not: who asks for
//! counts hands it in.

use super::launches::{Interpretable, LaunchParts, RanLaunch};
use crate::source::{KernelSource, SourceError};
use kernpack_kernel_ir::interp::{Options, Traffic, Widths};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostics, Placed};
use std::collections::BTreeMap;
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

/// The options of the launches of a call, whose kernels are counted where that is wanted.
pub(super) struct Counting<'c> {
    function: &'c Interpretable,
    options: &'c Options,
    /// How wide the accesses of kernels become that were launched so far, by their symbols.
    known: BTreeMap<String, Arc<Widths>>,
}

impl<'c> Counting<'c> {
    pub fn of(function: &'c Interpretable, options: &'c Options) -> Counting<'c> {
        Counting { function, options, known: BTreeMap::new() }
    }

    /// The options of a launch.
    ///
    /// # Errors
    /// All that is wrong with its kernel.
    pub fn options(&mut self, launch: &LaunchParts<'_>) -> Result<Options, Diagnostics> {
        let mut options = self.options.clone();
        if let Some(knowing) = self.function.count {
            let name = &launch.kernel.name;
            if !self.known.contains_key(name) {
                let (source, archs) = self.function.source_of(launch, launch.kernel.clone());
                let widths = knowing.widths(&source, archs).map_err(SourceError::diagnostics)?;
                self.known.insert(name.clone(), Arc::new(widths));
            }
            options.count = self.known.get(name).cloned();
        }
        Ok(options)
    }
}

/// The counts of a launch that ran.
pub(super) fn of(ran: &RanLaunch) -> Option<Vec<LineTraffic>> {
    let of_line = |traffic: &Traffic| {
        let file = traffic.place.file.map(|file| ran.kernel.files[file.index()].clone());
        LineTraffic { file, traffic: traffic.clone() }
    };
    Some(ran.outcome.traffic.as_ref()?.iter().map(of_line).collect())
}
