// SPDX-License-Identifier: Apache-2.0
//! The resources that kernels take on one architecture, as the assembler reports them, and how many
//! of their blocks a multiprocessor holds.

use super::{build, code};
use crate::source::assembler::{Assemblers, FunctionReport};
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::shared;
use kernpack_machine::multiprocessor::{Multiprocessor, blocks_by_registers};
use kernpack_machine::{Arch, ArchKind};
use kernpack_package::source::{KernelSource, SourceError};
use kernpack_syntax::Placed;
use std::fmt;

/// The resources of a kernel. A number that nothing tells is nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Its symbol.
    pub kernel: String,
    /// The architecture.
    pub arch: Arch,
    /// The threads of a block, where they are constant.
    pub threads: Option<u64>,
    /// Registers of a thread.
    pub registers: Option<u64>,
    /// Bytes of a thread that are written to memory where registers do not suffice.
    pub spilled_bytes: Option<u64>,
    /// Local memory of a thread in bytes, with what is spilled.
    pub local_bytes: Option<u64>,
    /// Bytes of shared memory of a block that the kernel asks for itself; without arrays whose size
    /// a call says.
    pub shared_bytes: u64,
    /// Barriers of a block.
    pub barriers: Option<u64>,
    /// How many of its blocks a multiprocessor holds at once, where threads and registers are
    /// known.
    pub blocks_at_once: Option<u64>,
    /// The share of the threads that a multiprocessor can hold which these blocks are.
    pub occupancy: Option<Share>,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The part.
    pub part: u64,
    /// The whole, which is not 0.
    pub whole: u64,
}

impl Share {
    /// It as a number from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "threads of a multiprocessor are few")]
    pub fn value(self) -> f64 {
        self.part as f64 / self.whole as f64
    }
}

impl fmt::Display for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |number: Option<u64>| number.map_or("?".to_string(), |one| one.to_string());
        let Resources { kernel, arch, shared_bytes, .. } = self;
        let (registers, barriers) = (known(self.registers), known(self.barriers));
        let (spilled, local) = (known(self.spilled_bytes), known(self.local_bytes));
        write!(
            f,
            "{kernel} for {arch}: {registers} registers, {spilled} bytes spilled, {local} of local \
             memory, {shared_bytes} of shared memory, {barriers} barriers"
        )?;
        let Some((share, blocks)) = self.occupancy.zip(self.blocks_at_once) else { return Ok(()) };
        let threads = known(self.threads);
        write!(f, "; {blocks} blocks of {threads} threads at once, {:.0} %", share.value() * 100.0)
    }
}

/// The resources of each kernel of a source.
///
/// # Errors
/// All that is wrong with the kernels, or that there is no assembler.
pub fn resources(source: &KernelSource, arch: Arch) -> Result<Vec<Resources>, Vec<SourceError>> {
    let arch = Arch { kind: ArchKind::Sm, ..arch };
    let prepared = code::prepared(source, arch)?;
    let kernels: Vec<_> = prepared.iter().collect();
    let made = build::code(source, Placed::from(arch), &kernels, &Assemblers::here());
    let made = made.and_then(|code| code.or_missing(source));
    let report = made.map_err(|error| vec![error])?.report.unwrap_or_default();
    let of_kernel = |kernel: &&Kernel| {
        let own = report.functions.iter().find(|one| one.name == kernel.name);
        of(kernel, arch, &own.cloned().unwrap_or_default())
    };
    Ok(kernels.iter().map(of_kernel).collect())
}

fn of(kernel: &Kernel, arch: Arch, report: &FunctionReport) -> Resources {
    let [x, y, z] = kernel.block.map(|extent| extent.map(u64::from));
    let threads = x.zip(y).zip(z).map(|((x, y), z)| x * y * z);
    let shared_bytes = shared::ends(kernel).1.bytes;
    let multiprocessor = Multiprocessor::of(arch.number);
    let counted = threads.zip(report.registers).zip(multiprocessor);
    let blocks_at_once = counted.map(|((threads, registers), on)| {
        let by_memory = on.blocks_at_once(threads, shared_bytes, on.most_block_bytes().into());
        by_memory.min(blocks_by_registers(threads, registers))
    });
    let share = |((blocks, threads), on): ((u64, u64), Multiprocessor)| Share {
        part: blocks * threads,
        whole: on.most_threads.into(),
    };
    Resources {
        kernel: kernel.name.clone(),
        arch,
        threads,
        registers: report.registers,
        spilled_bytes: report.spill_store_bytes,
        local_bytes: report.stack_bytes,
        shared_bytes,
        barriers: report.barriers,
        blocks_at_once,
        occupancy: blocks_at_once.zip(threads).zip(multiprocessor).map(share),
    }
}
