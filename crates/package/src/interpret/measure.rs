// SPDX-License-Identifier: Apache-2.0
//! How long the launches of a call take on a GPU, one behind another, by its own clock.
//!
//! Rounds have three sides, in an order by chance: the call, the call once more as the *control*,
//! and a copy of as many bytes. What stands beside something is a ratio within rounds, so that a
//! machine whose clocks change in between changes none. In front of each, the GPU writes so much
//! memory that nothing else is in its cache, or the same call is made once; and it does so for as
//! long as the host takes to submit what is timed, so that the GPU never waits for the host.
//!
//! Not here: the entry point of a call and its checks, which take time of the host alone.

use super::budget::{self, Kept};
use super::clocks::{Clocks, Watch};
use super::driver::{Buffer, DriverError, Event, Gpu, Submittable};
use super::fill::Random;
use super::gpu_call::{self, Code, Mirror, failed, submittable};
use super::launches::{Interpretable, OnDevice, ReadyLaunch};
use super::tensor::{InterpretedTensor, Role};
use super::{
    Arguments, Call, InterpretError, Placed, RankCall, Tensors, Wanted, device, tensor_at,
};
use crate::file::Held;
use crate::package::WrittenPackage;
use kernpack_kernel_ir::interp::{Memories, MemoryId};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::described::{DeviceFacts, check_call_knowing};
use kernpack_validators::plan::LaidOut;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// How a call is measured.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The maker of the kernels' code.
    pub code: Code,
    /// The contents of the GPU's cache in front of a call.
    pub caches: Caches,
    /// How long it is measured, about.
    pub time: Duration,
}

/// The contents of a cache in front of what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caches {
    /// Nothing of the call.
    Cold,
    /// As much as the same call has left there.
    Warm,
}

impl Caches {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Caches::Cold => "cold",
            Caches::Warm => "warm",
        }
    }
}

impl FromStr for Caches {
    type Err = String;

    fn from_str(text: &str) -> Result<Caches, String> {
        let all = [Caches::Cold, Caches::Warm];
        let found = all.into_iter().find(|caches| caches.name() == text);
        found.ok_or_else(|| format!("expected `cold` or `warm`, found `{text}`"))
    }
}

/// A number that was measured several times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// How far apart the middle half of all lies, as a share of the median.
    pub spread: f64,
}

impl Figure {
    /// That of several values, of which there are two at least.
    pub fn of(values: &[f64]) -> Figure {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        // The quantile of a share, of values whose ends are beyond those that were seen.
        let quantile = |share: f64| {
            let place = share * (sorted.len() + 1) as f64 - 1.0;
            let at = (place.max(0.0) as usize).min(sorted.len() - 2);
            sorted[at] + (sorted[at + 1] - sorted[at]) * (place - at as f64)
        };
        let median = quantile(0.5);
        let spread = if median == 0.0 { 0.0 } else { (quantile(0.75) - quantile(0.25)) / median };
        Figure { median, spread }
    }

    /// How many times as long the one took as the other, round by round.
    fn ratio(times: &[f64], of: &[f64]) -> Figure {
        let ratios = times.iter().zip(of).map(|(a, b)| a / b.max(1e-12));
        Figure::of(&ratios.collect::<Vec<_>>())
    }
}

/// How long a call takes.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Its launches: the symbol of each kernel, and how it was laid out.
    pub launches: Vec<(String, LaidOut)>,
    /// The tensors that it was passed, its results and its workspaces.
    pub tensors: Vec<InterpretedTensor>,
    /// Notes from while its kernels were compiled.
    pub notes: Diagnostics,
    /// The name of the GPU.
    pub gpu: String,
    /// The architecture that the kernels were compiled for.
    pub arch: Arch,
    /// How many seconds all of its launches take.
    pub time: Figure,
    /// The same call beside itself: about 1, or the figures tell little.
    pub control: Figure,
    /// The bytes of the tensors that it was passed and that it returns.
    pub n_bytes: u64,
    /// How fast it is beside a copy that reads and writes as many bytes; nothing where there was no
    /// room for one.
    pub copy: Option<Figure>,
    /// The GPU's clocks meanwhile; nothing where nobody tells them.
    pub clocks: Option<Clocks>,
}

/// The bytes that are written at least for a cache to be cold.
const LEAST_BYTES: usize = 32 << 20;
/// How many times as long as the host takes the GPU is kept busy.
const MARGIN: f64 = 2.0;
/// How often memory is written at most in front of a call.
const MOST_WRITES: f64 = 1000.0;
/// How many seconds calls take together that are warm: events tell half a microsecond.
const WARM_SECONDS: f64 = 20e-6;
const MOST_CALLS: f64 = 100.0;
const LEAST_ROUNDS: usize = 9;
const MOST_ROUNDS: usize = 1000;

/// Measures a call.
///
/// # Errors
/// Where it cannot be made, there is no GPU, or the GPU refuses it.
pub fn measure(
    package: &WrittenPackage,
    wanted: &Wanted,
    measure: &Measure,
    held: &Held,
) -> Result<Measured, InterpretError> {
    let ready = Interpretable::of(package, &wanted.function, held)?;
    let gpu = Gpu::first().map_err(no_gpu)?;
    let (wanted, facts) = device::of_wanted(&ready.plan, wanted, gpu_call::facts(&gpu))?;
    let arguments = Arguments::make(&ready.function.signature, &wanted)?;
    let rank = accepted(&ready, &arguments, facts)?;
    check_memory(&arguments, &rank, &wanted)?;
    let call = Call { ready: &ready, ranks: vec![rank], arguments: &arguments, facts };
    let (mut placed, tensors) = call.place(&wanted);
    let launches = launches(&call, &mut placed)?;
    if launches.is_empty() {
        let message = format!("`{}` launches nothing for these arguments", wanted.function);
        return Err(InterpretError::Other(message));
    }
    Ok(on_gpu(&gpu, &ready, &launches, (&placed.memories, tensors), measure)?)
}

fn no_gpu(error: DriverError) -> Diagnostic {
    let message = format!("there is no GPU to measure on: {error}");
    let help = "`kernpack run … --count` counts what accesses ask of memory, without one";
    Diagnostic::new("no-gpu", message).help(help)
}

/// The call, where its plan accepts it.
fn accepted(
    ready: &Interpretable,
    arguments: &Arguments,
    facts: DeviceFacts,
) -> Result<RankCall, InterpretError> {
    let (function, kernels) = (&ready.function, OnDevice(ready, facts));
    let device = function.default_device();
    let outcome = check_call_knowing(&ready.plan, &arguments.described, device, facts, &kernels);
    let accepted = super::accepted(outcome)?;
    ready.check_archs(&accepted, facts)?;
    let made = super::made(function, &accepted, &arguments.row);
    Ok(RankCall { accepted, made })
}

/// Refuses a call whose tensors take more memory of the host than it may: each is held there, and
/// once more as it is copied.
fn check_memory(arguments: &Arguments, rank: &RankCall, wanted: &Wanted) -> Result<(), Diagnostic> {
    let kept = Kept {
        before: true,
        bytes_per_element: 0,
        is_tracked: false,
        cell_bytes: &|element| element.bytes(),
        n_met: 0,
    };
    let all = arguments.tensors.iter().chain(rank.made.iter().flatten());
    budget::check(all, kept, wanted.most_memory.unwrap_or(u64::MAX)).map(|_| ())
}

/// The launches of a call that have blocks.
fn launches(call: &Call<'_>, placed: &mut Placed) -> Result<Vec<ReadyLaunch>, InterpretError> {
    let Placed { memories, passed, made } = placed;
    let at = |address| {
        let (number, offset) = tensor_at(address)?;
        Some((*passed.get(number)?, offset))
    };
    let [results, workspaces] = &made[0];
    let tensors = Tensors { at: &at, results, workspaces };
    let all = call.ready.all_ready(&call.ranks[0].accepted, &tensors, memories)?;
    Ok(all.into_iter().filter(|launch| !launch.parts().layout.grid.contains(&0)).collect())
}

/// Measures launches on a GPU, where tensors have memory that holds what they hold.
fn on_gpu(
    gpu: &Gpu,
    ready: &Interpretable,
    launches: &[ReadyLaunch],
    (memories, tensors): (&Memories, Vec<(MemoryId, InterpretedTensor)>),
    measure: &Measure,
) -> Result<Measured, Diagnostics> {
    let refused = |error: DriverError| Diagnostics::from(failed(gpu, "", &error));
    let mirrors = tensors.iter().map(|(id, _)| Mirror::of(gpu, *id, &memories.get(*id).bytes));
    let mirrors = mirrors.collect::<Result<Vec<_>, _>>().map_err(refused)?;
    let arch = gpu_call::arch(gpu, &measure.code)?;
    let code = (measure.code.images, arch);
    let submittable =
        |launch: &ReadyLaunch| submittable(gpu, ready, &launch.parts(), code, &mirrors, true);
    let submittable = launches.iter().map(submittable).collect::<Result<Vec<_>, _>>()?;
    let tensors: Vec<_> = tensors.into_iter().map(|(_, tensor)| tensor).collect();
    let seen = tensors.iter().filter(|tensor| tensor.role != Role::Workspace);
    let n_bytes = seen.map(bytes_of).sum();
    let timed = Timed::of(gpu, &submittable, n_bytes, measure);
    // Nothing runs any more when what it uses is given back.
    let waited = gpu.wait();
    let Timed { call, control, copy, clocks } = timed.map_err(refused)?;
    waited.map_err(refused)?;
    let shown = |launch: &ReadyLaunch| {
        let parts = launch.parts();
        (parts.kernel.name.clone(), *parts.layout)
    };
    Ok(Measured {
        launches: launches.iter().map(shown).collect(),
        tensors,
        notes: ready.notes.clone(),
        gpu: gpu.name.clone(),
        arch,
        time: Figure::of(&call),
        control: Figure::ratio(&control, &call),
        n_bytes,
        copy: copy.map(|copy| Figure::ratio(&copy, &call)),
        clocks,
    })
}

/// The bytes of a tensor's elements.
fn bytes_of(tensor: &InterpretedTensor) -> u64 {
    let n_elements: u64 = tensor.shape.iter().map(|extent| extent.unsigned_abs()).product();
    n_elements * u64::from(tensor.element.bytes())
}

/// How many seconds each side took in each round.
struct Timed {
    call: Vec<f64>,
    control: Vec<f64>,
    copy: Option<Vec<f64>>,
    clocks: Option<Clocks>,
}

/// A side of a round.
#[derive(Clone, Copy)]
enum Side<'a, 'g> {
    Call(&'a [Submittable<'g>]),
    Copy(&'a [Buffer<'g>; 2]),
}

impl Side<'_, '_> {
    fn submit(&self) -> Result<(), DriverError> {
        match self {
            Side::Call(launches) => launches.iter().try_for_each(Submittable::submit),
            Side::Copy([to, from]) => to.take(from),
        }
    }
}

/// How a side is timed.
#[derive(Clone, Copy)]
struct Plan {
    n_calls: u32,
    /// How often memory is written in front of it.
    n_writes: u32,
}

impl Timed {
    fn of(
        gpu: &Gpu,
        launches: &[Submittable<'_>],
        n_bytes: u64,
        measure: &Measure,
    ) -> Result<Timed, DriverError> {
        let clock = Clock::of(gpu, measure.caches)?;
        let half = usize::try_from(n_bytes / 2).unwrap_or(usize::MAX).max(1);
        let room = gpu.buffer(half).and_then(|to| Ok([to, gpu.buffer(half)?])).ok();
        let mut sides = vec![Side::Call(launches), Side::Call(launches)];
        sides.extend(room.as_ref().map(Side::Copy));
        let plans = sides.iter().map(|side| clock.plan(side));
        let plans = plans.collect::<Result<Vec<_>, _>>()?;
        let mut taken = vec![Vec::new(); sides.len()];
        let (mut order, mut random) = ((0..sides.len()).collect::<Vec<_>>(), Random::of(0));
        let (mut watch, begin) = (Watch::of(&gpu.bus()?), Instant::now());
        while taken[0].len() < LEAST_ROUNDS
            || taken[0].len() < MOST_ROUNDS && begin.elapsed() < measure.time
        {
            random.shuffle(&mut order);
            let round: Vec<_> = order.iter().map(|side| (sides[*side], plans[*side])).collect();
            let times = clock.round(&round, || watch.iter_mut().for_each(Watch::look))?;
            for (side, seconds) in order.iter().zip(times) {
                taken[*side].push(seconds);
            }
        }
        let mut taken = taken.into_iter();
        let mut next = || taken.next().unwrap_or_default();
        let (call, control) = (next(), next());
        let copy = room.is_some().then(next);
        Ok(Timed { call, control, copy, clocks: watch.and_then(|watch| watch.clocks()) })
    }
}

/// A GPU's clock.
struct Clock<'g> {
    gpu: &'g Gpu,
    caches: Caches,
    /// Memory that is written in front of what is timed.
    memory: Buffer<'g>,
    /// The beginning and the end of each side of a round.
    events: Vec<[Event<'g>; 2]>,
}

impl<'g> Clock<'g> {
    fn of(gpu: &'g Gpu, caches: Caches) -> Result<Clock<'g>, DriverError> {
        let memory = gpu.buffer((2 * gpu.l2_bytes()?).max(LEAST_BYTES))?;
        let pair = |_| Ok([gpu.event()?, gpu.event()?]);
        let events = (0..3).map(pair).collect::<Result<_, _>>()?;
        Ok(Clock { gpu, caches, memory, events })
    }

    /// How a side is timed, which is submitted for that.
    fn plan(&self, side: &Side<'_, '_>) -> Result<Plan, DriverError> {
        side.submit()?;
        self.gpu.wait()?;
        let mut host = f64::INFINITY;
        for _ in 0..3 {
            let begin = Instant::now();
            side.submit()?;
            host = host.min(begin.elapsed().as_secs_f64());
            self.gpu.wait()?;
        }
        let [begin, end] = &self.events[0];
        begin.record()?;
        self.write(4)?;
        end.record()?;
        self.gpu.wait()?;
        let written = (begin.until(end)? / 4.0).max(1e-6);
        let writes = |calls: f64| (MARGIN * calls * host / written).ceil().clamp(1.0, MOST_WRITES);
        let once = Plan { n_calls: 1, n_writes: writes(1.0) as u32 };
        if self.caches == Caches::Cold {
            return Ok(once);
        }
        let took = self.round(&[(*side, once)], || ())?.into_iter().fold(1e-6, f64::max);
        let n_calls = (WARM_SECONDS / took).ceil().clamp(1.0, MOST_CALLS);
        Ok(Plan { n_calls: n_calls as u32, n_writes: writes(n_calls + 1.0) as u32 })
    }

    /// Times sides one behind another: how many seconds each takes. Something is done meanwhile.
    fn round(
        &self,
        sides: &[(Side<'_, '_>, Plan)],
        meanwhile: impl FnOnce(),
    ) -> Result<Vec<f64>, DriverError> {
        for ((side, plan), [begin, end]) in sides.iter().zip(&self.events) {
            self.write(plan.n_writes)?;
            if self.caches == Caches::Warm {
                side.submit()?;
            }
            begin.record()?;
            (0..plan.n_calls).try_for_each(|_| side.submit())?;
            end.record()?;
        }
        meanwhile();
        self.gpu.wait()?;
        let taken = sides.iter().zip(&self.events);
        taken
            .map(|((_, plan), [begin, end])| Ok(begin.until(end)? / f64::from(plan.n_calls)))
            .collect()
    }

    fn write(&self, times: u32) -> Result<(), DriverError> {
        (0..times).try_for_each(|_| self.memory.clear())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_medians_with_their_spread() {
        let of = |values: &[f64]| {
            let Figure { median, spread } = Figure::of(values);
            (median, spread)
        };
        assert_eq!(of(&[5.0, 1.0, 3.0, 2.0, 4.0]), (3.0, 1.0));
        assert_eq!(of(&[1.0, 2.0, 4.0, 3.0]), (2.5, 1.0));
        assert_eq!(of(&[2.0, 2.0]), (2.0, 0.0));
        assert_eq!(of(&[0.0, 0.0, 0.0]), (0.0, 0.0));
    }

    #[test]
    fn a_ratio_is_one_of_the_same_round() {
        let slower = [1.0, 2.0, 4.0, 8.0];
        let twice = slower.map(|seconds| 2.0 * seconds);
        assert_eq!(Figure::ratio(&twice, &slower), Figure { median: 2.0, spread: 0.0 });
    }
}
