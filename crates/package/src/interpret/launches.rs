// SPDX-License-Identifier: Apache-2.0
//! The launches of a call that a plan has accepted, run one after another by the interpreter of
//! kernels. Where the tensors are is said by whoever makes the call.

use super::InterpretError;
use super::count::{AccessWidths, Counting};
use super::occupancy::{blocks_at_once, refusal};
use super::turn::{InCall, Streams, is_early, n_met, turn};
use crate::file::{Files, Held};
use crate::package::{Function, Launch, WrittenPackage};
use crate::settle::{Settled, settle};
use crate::source::{GpuSource, KernelSource};
use kernpack_kernel_ir::interp::{
    self, Argument, MappedTensor, Memories, Memory, MemoryId, Options, Outcome, Ranks,
};
use kernpack_kernel_ir::kernel::{Kernel, ParamKind};
use kernpack_kernel_ir::{Const, Scalar, expand, verify};
use kernpack_machine::Arch;
use kernpack_machine::tensor_map::MOST_RANK;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed};
use kernpack_validators::Plan;
use kernpack_validators::described::DeviceFacts;
use kernpack_validators::plan::{self, Accepted, BlocksAsked, LaidOut, LaunchArg};
use std::sync::Arc;

/// A function of which every launch is whole.
#[derive(Clone, Debug)]
pub struct Interpretable {
    /// The function.
    pub function: Function,
    /// The plan of its calls.
    pub plan: Plan,
    /// Notes and warnings of its package.
    pub notes: Diagnostics,
    /// Who knows how wide accesses become, where they are to be counted.
    pub(super) count: Option<&'static dyn AccessWidths>,
}

impl RanLaunch {
    pub(super) fn parts(&self) -> LaunchParts<'_> {
        let RanLaunch { index, kernel, arguments, layout, .. } = self;
        LaunchParts { index: *index, kernel, arguments, layout }
    }

    /// The mistakes of its kernel.
    pub(super) fn findings(&self) -> impl Iterator<Item = Diagnostic> {
        self.outcome.findings.iter().map(|finding| finding.diagnostic(&self.kernel))
    }
}

/// A launch with all that it is passed.
pub(super) struct LaunchParts<'l> {
    /// Its number among those of the function.
    pub index: usize,
    pub kernel: &'l Kernel,
    pub arguments: &'l [Argument],
    pub layout: &'l LaidOut,
}

/// Where the tensors of a call are.
pub struct Tensors<'t> {
    /// The allocation that an address of the call's arguments leads to, and how far into it.
    pub at: &'t dyn Fn(u64) -> Option<(MemoryId, u64)>,
    /// The results, in order.
    pub results: &'t [MemoryId],
    /// The workspaces, in order.
    pub workspaces: &'t [MemoryId],
}

/// A launch that ran.
#[derive(Clone, Debug)]
pub struct RanLaunch {
    /// Its number among those of the function.
    pub index: usize,
    /// Its kernel, as it was run.
    pub kernel: Kernel,
    /// Its arguments. One that is not given is at no tensor.
    pub arguments: Vec<Argument>,
    /// How it was laid out.
    pub layout: LaidOut,
    /// The outcome.
    pub outcome: Outcome,
}

impl Interpretable {
    /// A function of a package.
    ///
    /// # Errors
    /// The problems of the package; where there is no such function.
    pub fn of(
        package: &WrittenPackage,
        name: &str,
        held: &Held,
    ) -> Result<Interpretable, InterpretError> {
        let mut problems = Diagnostics::default();
        let Settled { package, .. } = settle(package, &[], &mut Files::new(held), &mut problems);
        if problems.has_errors() {
            return Err(problems.into());
        }
        let function = find(&package.functions, name)?;
        let plan = function.plan()?;
        Ok(Interpretable { function, plan, notes: problems, count: None })
    }

    /// The function, whose accesses are counted where somebody knows how wide they become.
    pub fn counting(self, count: Option<&'static dyn AccessWidths>) -> Interpretable {
        Interpretable { count, ..self }
    }

    /// Checks that there is code for a device for each launch of an accepted call that says what it
    /// is for.
    ///
    /// # Errors
    /// Where one is not for the device.
    pub(super) fn check_archs(
        &self,
        accepted: &Accepted,
        [_, _, capability]: DeviceFacts,
    ) -> Result<(), InterpretError> {
        let capability = u32::try_from(capability).unwrap_or_default();
        for (index, _) in &accepted.launches {
            let launch = &self.function.launches[*index];
            let archs = launch.gpu_source().and_then(GpuSource::archs).unwrap_or_default();
            let kernel = self.instance(launch, accepted.combination)?;
            let runs = |arch: &Placed<Arch>| arch.code().runs_on(capability / 10, capability % 10);
            if !kernel.archs.is_empty() && !archs.iter().any(runs) {
                let archs: Vec<_> = archs.iter().map(|arch| arch.to_string()).collect();
                let message = format!("the device is sm_{capability}, and the code is for");
                let message = format!("`{}`: {message} {}", kernel.name, archs.join(", "));
                return Err(InterpretError::Other(message));
            }
        }
        Ok(())
    }

    /// Runs the launches of an accepted call, in order. A device that is known holds so many blocks
    /// at once.
    ///
    /// # Errors
    /// Where one is of no kernel that is written here, or its kernel is wrong.
    pub fn run(
        &self,
        accepted: &Accepted,
        tensors: &Tensors<'_>,
        memories: &mut Memories,
        options: &Options,
        device: Option<DeviceFacts>,
    ) -> Result<Vec<RanLaunch>, InterpretError> {
        let nothing = memories.add(Memory::new("None", Scalar::U8, vec![]));
        let (mut ran, mut streams) = (Vec::new(), Streams::default());
        let (launches, mut counting) = (self.in_call(accepted), Counting::of(self, options));
        for place in 0..launches.len() {
            let ready = self.ready(accepted, place, tensors, nothing)?;
            let (launch, _) = launches[place];
            let turn = turn(launch, &ready.arguments, &launches[place + 1..]);
            let sequence = streams.of(launch);
            let options = counting.options(&ready.parts())?;
            ran.push(ready.ran(device, &options, |launch, options| {
                sequence.run(launch, &turn, memories, options)
            }));
        }
        Ok(ran)
    }

    /// The launches of an accepted call, in order.
    ///
    /// # Errors
    /// Where one is of no kernel that is written here, or its kernel is wrong.
    pub(super) fn all_ready(
        &self,
        accepted: &Accepted,
        tensors: &Tensors<'_>,
        memories: &mut Memories,
    ) -> Result<Vec<ReadyLaunch>, InterpretError> {
        let nothing = memories.add(Memory::new("None", Scalar::U8, vec![]));
        let places = 0..accepted.launches.len();
        places.map(|place| self.ready(accepted, place, tensors, nothing)).collect()
    }

    /// Runs the launches of accepted calls that ranks make at the same time: those of the same
    /// place together. Each is told once. One rank runs its launches one behind another.
    ///
    /// # Errors
    /// Where one is of no kernel that is written here, or its kernel is wrong; where ranks launch
    /// differently, or launches of several begin early.
    pub fn run_ranks(
        &self,
        ranks: &[(&Accepted, Tensors<'_>)],
        memories: &mut Memories,
        options: &Options,
        device: Option<DeviceFacts>,
    ) -> Result<Vec<RanLaunch>, InterpretError> {
        if let [(accepted, tensors)] = ranks {
            return self.run(accepted, tensors, memories, options, device);
        }
        let nothing = memories.add(Memory::new("None", Scalar::U8, vec![]));
        let n_launches = ranks.first().map_or(0, |(accepted, _)| accepted.launches.len());
        for (rank, (accepted, _)) in ranks.iter().enumerate() {
            self.check_rank(rank, accepted, n_launches)?;
        }
        let (mut ran, mut together) = (Vec::new(), Ranks::default());
        let mut counting = Counting::of(self, options);
        for place in 0..n_launches {
            let ready = ranks
                .iter()
                .map(|(accepted, tensors)| self.ready(accepted, place, tensors, nothing));
            let mut ready = ready.collect::<Result<Vec<_>, _>>()?.into_iter();
            let Some(first) = ready.next() else { break };
            let others: Vec<_> = ready.collect();
            let options = counting.options(&first.parts())?;
            ran.push(first.ran(device, &options, |launch, options| {
                let others = others.iter().map(ReadyLaunch::launch);
                let launches: Vec<_> = [launch.clone()].into_iter().chain(others).collect();
                together.run(&launches, memories, options)
            }));
        }
        Ok(ran)
    }

    /// Refuses the call of a rank whose launches cannot run together with those of others.
    fn check_rank(
        &self,
        rank: usize,
        accepted: &Accepted,
        n_launches: usize,
    ) -> Result<(), InterpretError> {
        let found = accepted.launches.len();
        if found != n_launches {
            let message =
                format!("rank 0 makes {n_launches} launches, and rank {rank} makes {found}");
            return Err(InterpretError::Other(message));
        }
        let launches = self.in_call(accepted);
        match launches.into_iter().find(|(launch, _)| is_early(launch)) {
            Some((launch, _)) => {
                let kernel = &launch.kernel;
                let message =
                    format!("`{kernel}` begins early, and ranks are not run together then");
                let problem = Diagnostic::new("not-interpreted", message).at(kernel.span);
                Err(InterpretError::Problems(problem.into()))
            }
            None => Ok(()),
        }
    }

    /// A launch of an accepted call, by its place. What is not given is at `nothing`.
    fn ready(
        &self,
        accepted: &Accepted,
        place: usize,
        tensors: &Tensors<'_>,
        nothing: MemoryId,
    ) -> Result<ReadyLaunch, InterpretError> {
        let (index, values) = &accepted.launches[place];
        let launch = &self.function.launches[*index];
        let layout = accepted.grids[place].ok_or_else(|| not_interpreted(launch))?;
        let kernel = self.kernel(launch, accepted.combination)?;
        let mut values = values.iter().copied();
        let arguments = kernel.params.iter().zip(self.args(*index)).map(|(param, arg)| {
            let value = values.next().flatten();
            let at = |arg: &LaunchArg, value| tensors.of(arg, value).unwrap_or((nothing, 0));
            match (&param.kind, arg) {
                (ParamKind::Map(_), LaunchArg::TensorMap(map)) => {
                    let (memory, offset) = at(&map.base, value);
                    Argument::Map(mapped((memory, offset), map, &mut values))
                }
                (ParamKind::Scalar(scalar, _), _) => Argument::Scalar(number(*scalar, value)),
                (ParamKind::Pointer(_) | ParamKind::Map(_), _) => {
                    let (memory, offset) = at(arg, value);
                    Argument::Tensor { memory, offset }
                }
            }
        });
        let arguments = arguments.collect();
        Ok(ReadyLaunch { index: *index, kernel, arguments, layout })
    }

    /// The launches of an accepted call, in order.
    fn in_call(&self, accepted: &Accepted) -> Vec<InCall<'_>> {
        let launches = accepted.launches.iter().zip(&accepted.grids);
        launches.map(|((index, _), layout)| (&self.function.launches[*index], *layout)).collect()
    }

    /// How many launches of an accepted call may still run when another one begins.
    pub(super) fn n_met(&self, accepted: &Accepted) -> usize {
        n_met(&self.in_call(accepted))
    }

    /// The plan's arguments of a launch.
    pub(super) fn args(&self, index: usize) -> &[LaunchArg] {
        let is_it = |planned: &&plan::Launch| planned.index == index;
        self.plan.launches.iter().find(is_it).map_or(&[], |planned| &planned.args)
    }

    /// The kernel of a launch, as it is run.
    fn kernel(&self, launch: &Launch, combination: Option<i64>) -> Result<Kernel, InterpretError> {
        let mut kernel = Kernel::clone(self.instance(launch, combination)?);
        expand(&mut kernel);
        verify(&kernel)?;
        Ok(kernel)
    }

    /// The source of a launch with this kernel alone, and the architectures that it is for.
    pub(super) fn source_of(
        &self,
        launch: &LaunchParts<'_>,
        kernel: Kernel,
    ) -> (KernelSource, &[Placed<Arch>]) {
        let planned = &self.function.launches[launch.index];
        let Some(GpuSource::Kernel(source, archs)) = planned.gpu_source() else {
            unreachable!("the interpreter runs it");
        };
        (KernelSource { instances: [Arc::new(kernel)].into(), ..source.clone() }, archs)
    }

    /// The kernel of a launch, as it was written.
    fn instance<'l>(
        &self,
        launch: &'l Launch,
        combination: Option<i64>,
    ) -> Result<&'l Kernel, InterpretError> {
        let Some(GpuSource::Kernel(source, _)) = launch.gpu_source() else {
            return Err(not_interpreted(launch));
        };
        let symbol = launch.symbol_of(&self.plan, combination);
        let instance = source.instances.iter().find(|kernel| kernel.name == symbol);
        let instance = instance.ok_or_else(|| {
            InterpretError::Other(format!("there is no kernel `{symbol}` for these dtypes"))
        })?;
        Ok(instance)
    }

    /// The bytes of the smallest parts that launches of an accepted call touch of tensors of that
    /// element type.
    fn cell_bytes(&self, accepted: &Accepted, element: Scalar) -> u32 {
        let launches = accepted.launches.iter().map(|(index, _)| &self.function.launches[*index]);
        let kernels =
            launches.filter_map(|launch| self.instance(launch, accepted.combination).ok());
        let cells = kernels.map(|kernel| interp::cell_bytes(kernel, element));
        cells.min().unwrap_or(element.bytes())
    }

    /// The same for the calls of several ranks.
    pub fn cell_bytes_of<'a>(
        &self,
        accepted: impl Iterator<Item = &'a Accepted>,
        element: Scalar,
    ) -> u32 {
        let cells = accepted.map(|accepted| self.cell_bytes(accepted, element));
        cells.min().unwrap_or(element.bytes())
    }
}

/// Kernels on a device of which this is known.
pub(super) struct OnDevice<'i>(pub &'i Interpretable, pub DeviceFacts);

impl plan::Kernels for OnDevice<'_> {
    /// At least one for each multiprocessor, as packages have it. Of a kernel that cannot be run is
    /// told when it is.
    fn max_blocks(&self, asked: &BlocksAsked) -> Option<i64> {
        let &OnDevice(ready, facts) = self;
        let [multiprocessors, ..] = facts;
        let launch = &ready.function.launches[asked.launch];
        let kernel = ready.kernel(launch, asked.combination);
        let at_once = |kernel| blocks_at_once(facts, &kernel, asked.block, asked.shared);
        let at_once = kernel.map_or(0, at_once);
        Some(i64::try_from(at_once).unwrap_or(i64::MAX).max(multiprocessors))
    }
}

/// A launch that can be run.
pub(super) struct ReadyLaunch {
    index: usize,
    kernel: Kernel,
    arguments: Vec<Argument>,
    layout: LaidOut,
}

impl ReadyLaunch {
    pub fn parts(&self) -> LaunchParts<'_> {
        let ReadyLaunch { index, kernel, arguments, layout } = self;
        LaunchParts { index: *index, kernel, arguments, layout }
    }

    fn launch(&self) -> interp::Launch<'_> {
        let Self { kernel, arguments, layout, .. } = self;
        let (grid, block) = (extents(layout.grid), extents(layout.block));
        let cluster = layout.cluster.map_or([1; 3], extents);
        interp::Launch { kernel, grid, block, cluster, arguments: arguments.clone() }
    }

    /// Has it run, if a device that is known can hold it.
    fn ran(
        self,
        device: Option<DeviceFacts>,
        options: &Options,
        run: impl FnOnce(&interp::Launch<'_>, &Options) -> Outcome,
    ) -> RanLaunch {
        let LaidOut { block, shared, .. } = self.layout;
        let at_once = device.map(|facts| blocks_at_once(facts, &self.kernel, block, shared));
        let outcome = match at_once.and_then(|at_once| refusal(at_once, &self.layout)) {
            Some(message) => Outcome::refused(message),
            None => run(&self.launch(), &Options { most_blocks: at_once, ..options.clone() }),
        };
        let ReadyLaunch { index, kernel, arguments, layout } = self;
        RanLaunch { index, kernel, arguments, layout, outcome }
    }
}

/// A function, or the twin of one, which takes its results as arguments.
fn find(functions: &[Function], name: &str) -> Result<Function, InterpretError> {
    let mut variants = functions.iter().flat_map(Function::variants);
    variants.find(|function| function.signature.name == name).ok_or_else(|| {
        let names = functions.iter().map(|one| format!("`{}`", one.signature.name));
        let names: Vec<_> = names.collect();
        let message = format!("there is no function `{name}`; there is {}", names.join(", "));
        InterpretError::Other(message)
    })
}

impl Tensors<'_> {
    /// The memory that a pointer leads to; nothing where it is NULL.
    fn of(&self, arg: &LaunchArg, value: Option<i64>) -> Option<(MemoryId, u64)> {
        match arg {
            LaunchArg::Result(number) => Some((*self.results.get(*number)?, 0)),
            LaunchArg::Workspace(number) => Some((*self.workspaces.get(*number)?, 0)),
            LaunchArg::Value(..)
            | LaunchArg::EnvStream
            | LaunchArg::AssertRecord
            | LaunchArg::Struct(_)
            | LaunchArg::TensorMap(_) => (self.at)(value? as u64),
        }
    }
}

/// A tensor as its map has it, of the values of the plan behind its address: the data type, the
/// extents and the strides.
fn mapped(
    (memory, offset): (MemoryId, u64),
    map: &plan::TensorMap,
    values: &mut dyn Iterator<Item = Option<i64>>,
) -> MappedTensor {
    let mut next = || values.next().flatten().unwrap_or_default() as u64;
    let _data_type = next();
    let (mut extents, mut strides) = ([1; MOST_RANK], [0; MOST_RANK - 1]);
    extents.iter_mut().zip(&map.dims).for_each(|(extent, _)| *extent = next());
    strides.iter_mut().zip(&map.strides).for_each(|(stride, _)| *stride = next());
    MappedTensor { memory, offset, extents, strides }
}

/// A number of a plan as a kernel gets it: floats are those of float64 bits.
fn number(scalar: Scalar, value: Option<i64>) -> Const {
    let value = value.unwrap_or_default();
    match scalar {
        Scalar::Bool => Const::bool(value != 0),
        _ if scalar.is_float() => Const::float(scalar, f64::from_bits(value as u64)),
        _ => Const::int(scalar, value),
    }
}

/// Extents that a plan has checked.
fn extents(extents: [i64; 3]) -> [u32; 3] {
    extents.map(|extent| u32::try_from(extent).unwrap_or_default())
}

fn not_interpreted(launch: &Launch) -> InterpretError {
    let kernel = &launch.kernel;
    let message = format!("`{kernel}` is no kernel that is written here, and is not interpreted");
    InterpretError::Problems(Diagnostic::new("not-interpreted", message).at(kernel.span).into())
}
