// SPDX-License-Identifier: Apache-2.0
//! Runs a plan: the meaning of every step in the plainest code there is. It is the oracle that
//! compiled entry points are compared with, and a checker for hosts that have no compiled code.

mod text;

use super::{
    Alloc, AllocDim, AskBlocks, CScalar, Expr, Grid, Launch, LaunchArg, MOST_TURNS, Plan, Repeat,
    Status, Step, Value, When,
};
use crate::fault::{Fault, Format};
use crate::geometry::LaunchFlag;
use kernpack_ffi_abi::{DType, ErrorKind, Memory};
use std::cell::RefCell;

/// The error of a refused call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The fault's name.
    pub name: &'static str,
    /// The kind of the error.
    pub kind: ErrorKind,
    /// Its message.
    pub message: String,
}

/// The effects of an accepted call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accepted {
    /// The number of each launch that runs, with the values that its arguments have in their C
    /// types (a float as the bits of a float64; a tensor map as its address, data type, dims and
    /// strides, in the driver's order); those that no value of the plan gives are `None`.
    pub launches: Vec<(usize, Vec<Option<i64>>)>,
    /// How each of these is laid out, where it runs on a GPU.
    pub grids: Vec<Option<LaidOut>>,
    /// The number of the dtype combination, where there are dtype variables.
    pub combination: Option<i64>,
    /// The extents of each result.
    pub results: Vec<Vec<i64>>,
    /// The extents of each workspace.
    pub workspaces: Vec<Vec<i64>>,
}

/// The layout of a launch on a GPU, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaidOut {
    /// Blocks in the grid, x first.
    pub grid: [i64; 3],
    /// Threads in a block, x first.
    pub block: [i64; 3],
    /// Blocks in a cluster, x first, where there are clusters.
    pub cluster: Option<[i64; 3]>,
    /// Bytes of dynamic shared memory.
    pub shared: i64,
    /// Whether all blocks run at once.
    pub cooperative: bool,
}

/// How a call ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every check holds.
    Accepted(Accepted),
    /// A check failed.
    Refused(Refused),
    /// The plan asked about a device, of which nothing is known.
    NoDevice,
    /// The plan read this address, which the memory does not have: the arguments break the ABI, or
    /// the plan is wrong.
    Unreadable(u64),
}

/// The kernels of a plan, as far as a call depends on them.
pub trait Kernels {
    /// The status that the host function of the launch of a number returns.
    fn status_of(&self, _launch: usize) -> i32 {
        0
    }

    /// How many blocks of a launch the device holds at once; `None` where nothing is known of it.
    fn max_blocks(&self, _asked: &BlocksAsked) -> Option<i64> {
        None
    }
}

/// The blocks of which it is asked how many a device holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlocksAsked {
    /// The number of the launch.
    pub launch: usize,
    /// The number of the dtype combination, where there are dtype variables.
    pub combination: Option<i64>,
    /// Threads in a block, x first.
    pub block: [i64; 3],
    /// Bytes of dynamic shared memory.
    pub shared: i64,
}

/// Kernels of which none fails, and nothing else is known.
struct Unknown;

impl Kernels for Unknown {}

/// Runs the checks of `plan` on `num_args` arguments at address `args`. No kernel fails.
pub fn interpret(plan: &Plan, memory: &dyn Memory, args: u64, num_args: i32) -> Outcome {
    interpret_with(plan, memory, args, num_args, &Unknown)
}

/// The same with kernels.
pub fn interpret_with(
    plan: &Plan,
    memory: &dyn Memory,
    args: u64,
    num_args: i32,
    kernels: &dyn Kernels,
) -> Outcome {
    let known = RefCell::new(vec![None; plan.exprs.len()]);
    let mut run = Run { plan, memory, kernels, args, num_args, device: None, known };
    match run.steps(&plan.steps).and_then(|()| run.accepted()) {
        Ok(accepted) => Outcome::Accepted(accepted),
        Err(Stop::Refused(refused)) => Outcome::Refused(refused),
        Err(Stop::NoDevice) => Outcome::NoDevice,
        Err(Stop::Unreadable(address)) => Outcome::Unreadable(address),
    }
}

enum Stop {
    Refused(Refused),
    NoDevice,
    Unreadable(u64),
}

struct Run<'p> {
    plan: &'p Plan,
    memory: &'p dyn Memory,
    kernels: &'p dyn Kernels,
    args: u64,
    num_args: i32,
    /// Where the facts of the device lie.
    device: Option<u64>,
    /// The values so far: memory does not change during a call, so a value never does, save
    /// from one turn of a `repeat` to the next.
    known: RefCell<Vec<Option<i64>>>,
}

impl Run<'_> {
    fn steps(&mut self, steps: &[Step]) -> Result<(), Stop> {
        for step in steps {
            match step {
                Step::Let(_, value) => {
                    self.value(*value)?;
                }
                Step::Require(cond, fault) => {
                    if self.value(*cond)? == 0 {
                        return Err(self.refuse(fault)?);
                    }
                }
                Step::When(when) => self.when(when)?,
                Step::Repeat(repeat) => self.repeat(repeat)?,
                Step::AskDevice => {
                    let device = self.plan.device;
                    let is_told = self.value(device.is_told)? != 0;
                    let number = if is_told { Some(self.value(device.index)?) } else { None };
                    self.device = Some(self.memory.device(number).ok_or(Stop::NoDevice)?);
                }
                Step::AskBlocks(asked) => {
                    let blocks = self.max_blocks(asked)?;
                    self.know(asked.answer, blocks);
                }
            }
        }
        Ok(())
    }

    /// The answer about a launch: 0 where it does not run.
    fn max_blocks(&self, asked: &AskBlocks) -> Result<i64, Stop> {
        let combination = self.combination()?;
        let mut launches = self.plan.launches.iter().filter(|it| it.index == asked.launch);
        let has_kernel = launches.any(|launch| launch.has_kernel_for(combination));
        if !has_kernel || asked.cond.map_or(Ok(1), |cond| self.value(cond))? == 0 {
            return Ok(0);
        }
        let [x, y, z] = asked.block.map(|extent| self.value(extent));
        let (block, shared) = ([x?, y?, z?], self.value(asked.shared)?);
        let asked = BlocksAsked { launch: asked.launch, combination, block, shared };
        self.kernels.max_blocks(&asked).ok_or(Stop::NoDevice)
    }

    fn combination(&self) -> Result<Option<i64>, Stop> {
        self.plan.combinations.index.map(|index| self.value(index)).transpose()
    }

    fn when(&mut self, when: &When) -> Result<(), Stop> {
        let others = when.yields.iter().map(|yielded| self.value(yielded.otherwise));
        let others = others.collect::<Result<Vec<_>, _>>()?;
        let holds = self.value(when.cond)? != 0;
        if holds {
            self.steps(&when.steps)?;
        }
        for (yielded, otherwise) in when.yields.iter().zip(others) {
            let value = if holds { self.value(yielded.inner)? } else { otherwise };
            self.know(yielded.outer, value);
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &Repeat) -> Result<(), Stop> {
        let n_turns = self.value(repeat.count)?.clamp(0, MOST_TURNS);
        let firsts = repeat.carried.iter().map(|carried| self.value(carried.first));
        let mut handed_on = firsts.collect::<Result<Vec<_>, _>>()?;
        let varying = self.plan.varying(repeat);
        for number in 0..n_turns {
            self.forget(&varying);
            self.know(repeat.turn, number);
            for (carried, value) in repeat.carried.iter().zip(&handed_on) {
                self.know(carried.inner, *value);
            }
            self.steps(&repeat.steps)?;
            let nexts = repeat.carried.iter().map(|carried| self.value(carried.next));
            handed_on = nexts.collect::<Result<_, _>>()?;
        }
        for (carried, value) in repeat.carried.iter().zip(handed_on) {
            self.know(carried.outer, value);
        }
        Ok(())
    }

    fn know(&self, value: Value, result: i64) {
        self.known.borrow_mut()[value.0 as usize] = Some(result);
    }

    fn forget(&self, values: &[bool]) {
        let mut known = self.known.borrow_mut();
        known
            .iter_mut()
            .zip(values)
            .filter(|(_, forgets)| **forgets)
            .for_each(|(it, _)| *it = None);
    }

    fn refuse(&self, fault: &Fault) -> Result<Stop, Stop> {
        let is_given = |given| Ok(self.value(given)? != 0);
        let message =
            fault.text(&self.plan.signature, &is_given, &|value, format| match format {
                Format::Text => self.shown_text(value),
                _ => Ok(format.text(self.value(value)?)),
            })?;
        Ok(Stop::Refused(Refused { name: fault.name, kind: fault.kind, message }))
    }

    fn accepted(&self) -> Result<Accepted, Stop> {
        let mut accepted = Accepted::default();
        for launch in &self.plan.launches {
            if self.runs(launch)? {
                let mut values = Vec::new();
                for arg in &launch.args {
                    self.argument(arg, &mut values)?;
                }
                accepted.launches.push((launch.index, values));
                accepted.grids.push(launch.grid().map(|grid| self.laid_out(grid)).transpose()?);
                if let Some(Status { value, fault }) = launch.status() {
                    let status = self.kernels.status_of(launch.index);
                    self.known.borrow_mut()[value.0 as usize] = Some(status.into());
                    if status != 0 {
                        return Err(self.refuse(fault)?);
                    }
                }
            }
        }
        let extents = |allocs: &[Alloc]| {
            allocs.iter().map(|alloc| self.extents(alloc)).collect::<Result<_, _>>()
        };
        (accepted.results, accepted.workspaces) =
            (extents(&self.plan.results)?, extents(&self.plan.workspaces)?);
        accepted.combination = self.combination()?;
        Ok(accepted)
    }

    fn laid_out(&self, grid: &Grid) -> Result<LaidOut, Stop> {
        let three =
            |[x, y, z]: [Value; 3]| Ok::<_, Stop>([self.value(x)?, self.value(y)?, self.value(z)?]);
        Ok(LaidOut {
            grid: three(grid.grid)?,
            block: three(grid.block)?,
            cluster: grid.cluster.map(three).transpose()?,
            shared: self.value(grid.shared)?,
            cooperative: grid.flags.has(LaunchFlag::Cooperative),
        })
    }

    fn extents(&self, alloc: &Alloc) -> Result<Vec<i64>, Stop> {
        let mut extents = Vec::new();
        for dim in &alloc.dims {
            match *dim {
                AllocDim::One(value) => extents.push(self.value(value)?),
                AllocDim::Many { count, start, step } => {
                    let (start, step) = (self.value(start)?, self.value(step)?);
                    for number in 0..self.value(count)?.clamp(0, MOST_TURNS) {
                        let address = start.wrapping_add(number.wrapping_mul(step)) as u64;
                        let width = kernpack_ffi_abi::Width::I64;
                        let extent = self.memory.load(address, width);
                        extents.push(extent.ok_or(Stop::Unreadable(address))?);
                    }
                }
            }
        }
        Ok(extents)
    }

    /// Whether a launch runs: it has a kernel for the dtypes, its condition holds, and its grid has
    /// blocks.
    fn runs(&self, launch: &Launch) -> Result<bool, Stop> {
        if !launch.has_kernel_for(self.combination()?) {
            return Ok(false);
        }
        if launch.cond.map_or(Ok(1), |cond| self.value(cond))? == 0 {
            return Ok(false);
        }
        for extent in launch.grid().iter().flat_map(|grid| grid.grid) {
            if self.value(extent)? == 0 {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn argument(&self, arg: &LaunchArg, values: &mut Vec<Option<i64>>) -> Result<(), Stop> {
        match arg {
            LaunchArg::Value(value, CScalar::Float(dtype)) => {
                values.push(Some(rounded(self.value(*value)?, *dtype)));
            }
            LaunchArg::Value(value, CScalar::Int(dtype)) => {
                values.push(Some(truncated(self.value(*value)?, *dtype)));
            }
            LaunchArg::Value(value, CScalar::Pointer) => values.push(Some(self.value(*value)?)),
            LaunchArg::Result(_) | LaunchArg::Workspace(_) => values.push(None),
            LaunchArg::EnvStream | LaunchArg::AssertRecord => values.push(None),
            LaunchArg::Struct(fields) => {
                for field in fields {
                    self.argument(field, values)?;
                }
            }
            LaunchArg::TensorMap(map) => {
                self.argument(&map.base, values)?;
                for value in [map.data_type].iter().chain(&map.dims).chain(&map.strides) {
                    values.push(Some(self.value(*value)?));
                }
            }
        }
        Ok(())
    }

    /// The value of an expression; truths are 0 and 1, texts as `text` says.
    fn value(&self, value: Value) -> Result<i64, Stop> {
        if let Some(known) = self.known.borrow()[value.0 as usize] {
            return Ok(known);
        }
        let result = self.evaluate(value)?;
        self.know(value, result);
        Ok(result)
    }

    fn evaluate(&self, value: Value) -> Result<i64, Stop> {
        Ok(match self.plan.expr(value) {
            Expr::Int(int) => *int,
            Expr::Bool(truth) => (*truth).into(),
            Expr::Text(_) => text::constant(value),
            Expr::TextAt(address) => self.value(*address)?,
            Expr::TextIs(text, constant) => i64::from(self.text(*text)? == constant.as_bytes()),
            Expr::Args => self.args as i64,
            Expr::NumArgs => self.num_args.into(),
            Expr::Device => self.device.expect("a verified plan asks before it uses") as i64,
            Expr::Load(base, field) => {
                let address = (self.value(*base)? as u64).wrapping_add(field.offset.into());
                self.memory.load(address, field.width).ok_or(Stop::Unreadable(address))?
            }
            Expr::Element(base, index) => {
                let address = (self.value(*base)? as u64).wrapping_add(8 * u64::from(*index));
                let width = kernpack_ffi_abi::Width::I64;
                self.memory.load(address, width).ok_or(Stop::Unreadable(address))?
            }
            Expr::Arith(op, a, b) => op.apply(self.value(*a)?, self.value(*b)?),
            Expr::Overflows(op, a, b) => op.overflows(self.value(*a)?, self.value(*b)?).into(),
            Expr::Compare(op, a, b) => op.apply(self.value(*a)?, self.value(*b)?).into(),
            Expr::And(a, b) => {
                if self.value(*a)? != 0 {
                    self.value(*b)?
                } else {
                    0
                }
            }
            Expr::Or(a, b) => {
                if self.value(*a)? != 0 {
                    1
                } else {
                    self.value(*b)?
                }
            }
            Expr::Not(a) => i64::from(self.value(*a)? == 0),
            Expr::Select(cond, a, b) => {
                let (a, b) = (self.value(*a)?, self.value(*b)?);
                if self.value(*cond)? != 0 { a } else { b }
            }
            Expr::FloatBits(a) => (self.value(*a)? as f64).to_bits() as i64,
            Expr::Rounded(a, dtype) => rounded(self.value(*a)?, *dtype),
            Expr::Yield(..) | Expr::Turn(..) => {
                unreachable!("a verified plan yields before it uses")
            }
        })
    }
}

/// The value that an integer has in a C type, extended to 64 bits as that type extends.
fn truncated(value: i64, dtype: DType) -> i64 {
    let n_lost = 64 - u32::from(dtype.bits);
    let is_signed = dtype.is_int() && !dtype.is_unsigned();
    match value << n_lost {
        moved if is_signed => moved >> n_lost,
        moved => (moved as u64 >> n_lost) as i64,
    }
}

/// The bits of the float64 that has the value of the float of `dtype` nearest to the one with these
/// bits; ties go to even, and what is beyond the greatest to infinity.
pub(super) fn rounded(bits: i64, dtype: DType) -> i64 {
    const FRACTION_BITS: i32 = f64::MANTISSA_DIGITS as i32 - 1;
    const BIAS: i32 = f64::MAX_EXP - 1;
    const QUIET: i64 = 1 << (FRACTION_BITS - 1);
    let (fraction_bits, max_exponent) = match dtype {
        DType::FLOAT16 => (10, 15),
        DType::BFLOAT16 => (7, 127),
        DType::FLOAT32 => (23, 127),
        _ => return bits,
    };
    let value = f64::from_bits(bits as u64);
    if value.is_nan() {
        return bits >> (FRACTION_BITS - fraction_bits) << (FRACTION_BITS - fraction_bits) | QUIET;
    }
    if value.is_infinite() {
        return bits;
    }
    let exponent = ((bits & i64::MAX) >> FRACTION_BITS) as i32 - BIAS;
    let power_of_2 = |exponent: i32| f64::from_bits(((exponent + BIAS) as u64) << FRACTION_BITS);
    let unit = power_of_2(exponent.max(1 - max_exponent) - fraction_bits);
    let nearest = (value / unit).round_ties_even() * unit;
    let fits = nearest.abs() < power_of_2(max_exponent + 1);
    let nearest = if fits { nearest } else { f64::INFINITY.copysign(value) };
    nearest.to_bits() as i64
}

#[cfg(test)]
mod tests {
    use super::rounded;
    use kernpack_ffi_abi::DType;

    #[track_caller]
    fn expect(dtype: DType, value: f64, expected: f64) {
        for sign in [1.0, -1.0] {
            let bits = rounded((sign * value).to_bits() as i64, dtype);
            assert_eq!(bits, (sign * expected).to_bits() as i64, "{value:e} as {dtype}");
        }
    }

    #[test]
    fn float32_rounds_as_the_processor_does() {
        let values = [
            3.5e38,
            f64::MAX,
            0.1,
            1.0 / 3.0,
            1e-40,
            1e-45,
            7e-46,
            1e-300,
            5e-324,
            16777217.0,
            3e38,
            0.0,
        ];
        for value in values.into_iter().chain([f64::INFINITY]) {
            expect(DType::FLOAT32, value, f64::from(value as f32));
        }
    }

    #[test]
    fn halves_round_to_the_nearest_and_ties_to_even() {
        let (unit, tiny) = (2_f64.powi(-10), 2_f64.powi(-24));
        expect(DType::FLOAT16, 0.1, 0.0999755859375);
        expect(DType::FLOAT16, 1.0 + 0.5 * unit, 1.0);
        expect(DType::FLOAT16, (1.0 + 0.5 * unit).next_up(), 1.0 + unit);
        expect(DType::FLOAT16, 1.0 + 1.5 * unit, 1.0 + 2.0 * unit);
        expect(DType::FLOAT16, 0.5 * tiny, 0.0);
        expect(DType::FLOAT16, (0.5 * tiny).next_up(), tiny);
        expect(DType::FLOAT16, 65519.0, 65504.0);
        expect(DType::FLOAT16, 65520.0, f64::INFINITY);
        expect(DType::BFLOAT16, f64::MAX, f64::INFINITY);
        expect(DType::BFLOAT16, 0.1, 0.10009765625);
        expect(DType::BFLOAT16, 1.0 + 2_f64.powi(-8), 1.0);
        expect(DType::BFLOAT16, 2_f64.powi(-134), 0.0);
        expect(DType::BFLOAT16, 2_f64.powi(-134).next_up(), 2_f64.powi(-133));
        expect(DType::FLOAT64, 0.1, 0.1);
    }

    #[test]
    fn nan_becomes_quiet_and_keeps_what_fits() {
        let (signaling, quiet) = (0x7ff0_0000_0000_0001, 0x7ff8_0000_0000_0000);
        assert_eq!(rounded(signaling, DType::FLOAT16), quiet);
        assert_eq!(rounded(-1, DType::BFLOAT16) as u64, 0xffff_e000_0000_0000);
    }
}
