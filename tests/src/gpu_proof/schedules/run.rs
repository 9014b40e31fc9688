// SPDX-License-Identifier: Apache-2.0
//! Schedules on the interpreter, in several orders, and as cases for a GPU.

use super::Schedule;
use crate::gpu_proof::input::Input;
use crate::gpu_proof::{Argument, Buffer, Case, Mapped};
use crate::memory::Arguments;
use crate::value::{Arrival, Tensor, Value};
use kernpack_ffi_abi::DeviceType;
use kernpack_kernel_ir::interp::{self, Memories, Memory, MemoryId, Options};
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_package::interpret::{Interpretable, RanLaunch, Tensors};
use kernpack_package::{Held, Language, PackageText};
use kernpack_syntax::Texts;
use kernpack_validators::plan::{Outcome, interpret};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// In how many orders a schedule runs, of which the first is the plain one.
const N_ORDERS: u64 = 3;
/// Multiprocessors, the bytes of shared memory that a block may have, and the compute capability.
const DEVICE: [i64; 3] = [132, 227 << 10, 90];
/// How many numbers a factor has before they come again.
const N_NUMBERS: usize = 1009;

/// Runs the schedule of a seed.
///
/// # Errors
/// What went wrong, with how to repeat it.
pub fn read(seed: u64) -> Result<(), String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| read_schedule(seed)));
    let outcome = outcome.unwrap_or_else(|_| Err("it panics".to_string()));
    let again = format!("kernels soak --of schedules --seed {seed} --count 1");
    outcome.map_err(|problem| format!("{again}\n{problem}"))
}

fn read_schedule(seed: u64) -> Result<(), String> {
    let schedule = Schedule::draw(seed);
    let ready = schedule.compiled()?;
    for order in 0..N_ORDERS {
        let of_order = if order == 0 { 0 } else { seed.wrapping_mul(N_ORDERS) + order };
        schedule.run(&ready, of_order).map_err(|problem| format!("in order {order}: {problem}"))?;
    }
    Ok(())
}

/// The schedule of a seed, for a GPU.
///
/// # Errors
/// Where it is refused, or something is found.
pub fn case(seed: u64) -> Result<Case, String> {
    let schedule = Schedule::draw(seed);
    let RanLaunch { mut kernel, arguments, layout, .. } = schedule.run(&schedule.compiled()?, 0)?;
    kernel.name = format!("schedule_{seed}");
    let sizes = |sizes: [i64; 3]| sizes.map(|size| size as u32);
    let held = schedule.held(&mut Memories::default());
    let number_of = |memory| held.iter().position(|one| *one == memory).unwrap_or_default();
    let buffer = |memory: MemoryId| schedule.buffer(number_of(memory));
    let arguments = arguments.into_iter().map(|argument| match argument {
        interp::Argument::Scalar(number) => Argument::Scalar(number),
        interp::Argument::Tensor { memory, .. } => Argument::Buffer(buffer(memory)),
        interp::Argument::Map(tensor) => Argument::Map(Mapped {
            buffer: buffer(tensor.memory),
            extents: tensor.extents,
            strides: tensor.strides,
        }),
    });
    Ok(Case {
        origin: format!("schedule {seed}"),
        grid: sizes(layout.grid),
        block: sizes(layout.block),
        cluster: sizes(layout.cluster.unwrap_or([1; 3])),
        arguments: arguments.collect(),
        kernel,
    })
}

impl Schedule {
    fn compiled(&self) -> Result<Interpretable, String> {
        let (mut texts, text) = (Texts::default(), self.text());
        let (language, name, base) = (Language::Kernels, "schedule.py", Path::new("."));
        let held = Held::from_iter([(name, text.as_str())]);
        let reading = PackageText { language, name, text: &text, base, places: &[], specs: &[] }
            .read(&mut texts, &held);
        if reading.problems.has_errors() {
            return Err(format!("{}\n{text}", reading.problems));
        }
        Interpretable::of(&reading.package, "multiply", &held)
            .map_err(|problem| format!("{problem}\n{text}"))
    }

    /// The extents of a tensor of the call.
    fn shape(&self, number: usize) -> [usize; 2] {
        let [m, n, k] = self.extents;
        [[m, k], [n, k], [m, n]][number]
    }

    /// What a tensor consists of.
    fn element(&self, number: usize) -> Scalar {
        [self.element, self.element, self.sums()][number]
    }

    /// A small integer, which a factor has at a place.
    fn value(&self, number: usize, place: usize) -> i64 {
        let i = place % N_NUMBERS;
        let least = if self.element.is_signed() || self.element.is_float() { -5 } else { 0 };
        ((7 * i * i + 3 * i + number) % 11) as i64 + least
    }

    /// What a tensor holds before the launch: small integers, or zeros.
    fn buffer(&self, number: usize) -> Buffer {
        let element = self.element(number);
        let bits = match number {
            2 => vec![0],
            _ => {
                (0..N_NUMBERS).map(|i| Const::int(element, self.value(number, i)).bits()).collect()
            }
        };
        let count = self.shape(number).iter().product();
        Buffer { element, count, input: Input::Listed { bits, each: 1 } }
    }

    /// Holds the tensors of the call before anything else.
    fn held(&self, memories: &mut Memories) -> [MemoryId; 3] {
        [0, 1, 2].map(|number| memories.add(self.memory(number)))
    }

    fn memory(&self, number: usize) -> Memory {
        let Buffer { element, count, input } = self.buffer(number);
        let shape = self.shape(number).map(|extent| extent as u64);
        let n_bytes = count * element.bytes() as usize;
        let memory = match number {
            2 => Memory::fresh("c", element, n_bytes),
            _ => Memory::new(["a", "b"][number], element, input.bytes(element, count)),
        };
        memory.with_shape(&shape)
    }

    /// Runs it in the order of a seed.
    fn run(&self, ready: &Interpretable, seed: u64) -> Result<RanLaunch, String> {
        let mut memories = Memories::default();
        let held = self.held(&mut memories);
        let values = [0, 1, 2].map(|number| {
            let dtype = self.element(number).dtype();
            let shape = self.shape(number).map(|extent| extent as i64).to_vec();
            let (data, device) = ((number as u64 + 1) << 32, (DeviceType::CUDA.0, 0));
            Value::Tensor(Tensor { data, device, dtype, shape, strides: None, ..Tensor::default() })
        });
        let arguments = Arguments::new(&values, Arrival::DLTensor).on_device(DEVICE);
        let called = interpret(&ready.plan, &arguments, arguments.address(), arguments.count());
        let Outcome::Accepted(accepted) = called else {
            return Err(format!("the call is not accepted: {called:?}"));
        };
        let at = |address: u64| {
            let number = (address >> 32).checked_sub(1)?;
            Some((*held.get(number as usize)?, address & u64::from(u32::MAX)))
        };
        let tensors = Tensors { at: &at, results: &[], workspaces: &[] };
        let options = Options { seed, ..Options::default() };
        let ran = ready.run(&accepted, &tensors, &mut memories, &options, Some(DEVICE));
        let ran = ran.map_err(|problem| problem.to_string())?;
        let [launch] = <[RanLaunch; 1]>::try_from(ran).map_err(|_| "it is one launch")?;
        self.check(&launch, memories.get(held[2]))?;
        Ok(launch)
    }

    /// Nothing is found, and the result is right.
    fn check(&self, launch: &RanLaunch, result: &Memory) -> Result<(), String> {
        let outcome = &launch.outcome;
        if let Some(finding) = outcome.findings.first() {
            let told = finding.diagnostic(&launch.kernel);
            return Err(format!("the interpreter finds: {told}\n{}", self.text()));
        }
        if !outcome.is_complete || !outcome.is_exact {
            return Err(format!("it does not end, or is not exact\n{}", self.text()));
        }
        let expected = self.products().into_iter().map(|sum| Const::int(self.sums(), sum));
        match result.elements().into_iter().zip(expected).position(|(found, sum)| found != sum) {
            Some(place) => Err(format!("element {place} is wrong\n{}", self.text())),
            None => Ok(()),
        }
    }

    fn products(&self) -> Vec<i64> {
        let [m, n, k] = self.extents;
        let product =
            |i: usize, t: usize| self.value(0, i / n * k + t) * self.value(1, i % n * k + t);
        (0..m * n).map(|i| (0..k).map(|t| product(i, t)).sum()).collect()
    }
}
