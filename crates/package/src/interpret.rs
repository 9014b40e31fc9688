// SPDX-License-Identifier: Apache-2.0
//! Runs a packed function on no device: arguments are made of its signature, its plan checks them
//! as a call's are checked, and the kernels that it launches run on the interpreter, which says
//! what is wrong with them.
//!
//! Only kernels that are written here can be interpreted. Where it is asked for, a GPU makes the
//! same call (`compare`), and what its memory holds then is compared; or a GPU alone makes it very
//! often, and is timed (`measure`). Not here: drawing.

mod arguments;
mod array;
mod budget;
mod clocks;
mod compare;
mod count;
mod device;
mod difference;
mod driver;
mod fill;
mod gpu_call;
mod launches;
mod measure;
mod occupancy;
mod passed;
mod passed_call;
mod runs;
mod tensor;
mod turn;
pub mod values;

pub use array::Array;
pub use clocks::Clocks;
pub use compare::{Compare, Comparison};
pub use count::{AccessWidths, LineTraffic};
pub use device::said as device_said;
pub use difference::{ElementDifference, TensorDifference};
pub use fill::Fill;
pub use gpu_call::{Code, KernelImages};
pub use kernpack_kernel_ir::interp::Cancel;
pub use launches::{Interpretable, RanLaunch, Tensors};
pub use measure::{Caches, Figure, Measure, Measured, measure};
pub use passed::{Passed, PassedMemory};
pub use passed_call::{
    InterpretedPassed, PassedOptions, PassedResult, PassedTensor, interpret_passed,
};
pub use tensor::{InterpretedTensor, Role};

use crate::file::Held;
use crate::package::{Function, WrittenPackage};
use arguments::Arguments;
use budget::Kept;
use compare::Made;
use driver::Gpu;
use kernpack_ffi_abi::{DType, ErrorKind};
use kernpack_kernel_ir::interp::{Memories, MemoryId, Options};
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use kernpack_validators::described::{DeviceFacts, check_call_knowing, tensor_at};
use kernpack_validators::plan::{Accepted, DeviceFact, LaidOut, Outcome, Refused};
use launches::OnDevice;
use std::collections::BTreeMap;
use thiserror::Error;

/// A call that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The function.
    pub function: String,
    /// Its arguments: dims, dtypes and scalars by their names. The attributes of the
    /// device goes by its names too, such as `device.sm_count`.
    pub values: Vec<(String, String)>,
    /// Those that each rank has beside them, where several make the call at the same time. They are
    /// passed the same tensors.
    pub ranks: Vec<Vec<(String, String)>>,
    /// Tensors as they are given, by their names.
    pub arrays: Vec<(String, Array)>,
    /// The contents of tensors, by their names; those that are not there are filled at random.
    pub fill: Vec<(Option<String>, Fill)>,
    /// The seed of random numbers, and of the order in which warps and blocks run.
    pub seed: u64,
    /// Whether a GPU is to make the call as well, and what for.
    pub compare: Option<Compare>,
    /// The bytes of memory that the call may take; any number where nothing is said.
    pub most_memory: Option<u64>,
    /// How many cores of the machine may run it; all where nothing is said. What comes of it is the
    /// same.
    pub n_cores: Option<usize>,
    /// The bytes that whoever asks keeps of each element of a tensor, besides.
    pub bytes_per_element: u64,
    /// Who knows how wide accesses become, where they are to be counted.
    pub count: Option<&'static dyn AccessWidths>,
}

/// The outcome of a call.
#[derive(Debug, Default)]
pub struct Interpreted {
    /// The launches, in order.
    pub launches: Vec<InterpretedLaunch>,
    /// The tensors that it was passed, its results and its workspaces, as they are in the end.
    pub tensors: Vec<InterpretedTensor>,
    /// Notes from while its kernels were compiled.
    pub notes: Diagnostics,
    /// The mistakes of its kernels.
    pub findings: Diagnostics,
    /// Whether a GPU gives the same bits: no approximate function and no atomic sum of floats was
    /// run.
    pub is_exact: bool,
    /// The comparison with a GPU, where one was asked for. A tensor that differs more than it may
    /// is among the findings. A GPU is not asked where the interpreter has found something wrong.
    pub compared: Option<Comparison>,
}

/// The outcome of a launch.
#[derive(Clone, Debug)]
pub struct InterpretedLaunch {
    /// The symbol of its kernel.
    pub kernel: String,
    /// How it was laid out.
    pub layout: LaidOut,
    /// The lines that it printed.
    pub printed: Vec<String>,
    /// How many operations its threads ran.
    pub thread_ops: u64,
    /// How much its accesses have asked of memory, line by line, where that was counted.
    pub traffic: Option<Vec<LineTraffic>>,
}

impl From<&RanLaunch> for InterpretedLaunch {
    fn from(ran: &RanLaunch) -> InterpretedLaunch {
        let RanLaunch { kernel, layout, outcome, .. } = ran;
        InterpretedLaunch {
            kernel: kernel.name.clone(),
            layout: *layout,
            printed: outcome.printed.clone(),
            thread_ops: outcome.thread_ops,
            traffic: count::of(ran),
        }
    }
}

/// Why a call was not made.
#[derive(Debug, Error)]
pub enum InterpretError {
    /// The package is wrong, or what is said of the arguments does not fit.
    #[error("{0}")]
    Problems(Diagnostics),
    /// The function refuses the arguments.
    #[error("{kind}: {message}")]
    Refused {
        /// The kind of the error that a call raises.
        kind: ErrorKind,
        /// Its message.
        message: String,
    },
    /// Something that only a device has is wanted.
    #[error("{0}")]
    Other(String),
}

impl From<Diagnostics> for InterpretError {
    fn from(problems: Diagnostics) -> InterpretError {
        InterpretError::Problems(problems)
    }
}

impl From<Diagnostic> for InterpretError {
    fn from(problem: Diagnostic) -> InterpretError {
        InterpretError::Problems(problem.into())
    }
}

/// Makes a call.
///
/// # Errors
/// Where it cannot be made. What is wrong with what it does is in the answer.
pub fn interpret(
    package: &WrittenPackage,
    wanted: &Wanted,
    held: &Held,
) -> Result<Interpreted, InterpretError> {
    let ready = Interpretable::of(package, &wanted.function, held)?.counting(wanted.count);
    let Interpretable { function, plan, .. } = &ready;
    let device = function.default_device();
    // Without a GPU there is an answer still: the interpreter's.
    let gpu = wanted.compare.as_ref().map(|compare| (compare, Gpu::first()));
    let known = gpu.as_ref().and_then(|(_, gpu)| gpu.as_ref().ok()).map(gpu_call::facts);
    let mut named = wanted.values.iter().map(|(name, _)| name);
    let is_known = known.is_some() || named.any(|name| name == DeviceFact::Cc.name());
    let (wanted, facts) = device::of_wanted(plan, wanted, known.unwrap_or(device::USUAL))?;
    if gpu.is_some() && wanted.ranks.len() > 1 {
        return Err(InterpretError::Other("a GPU makes no call of several ranks".to_owned()));
    }
    let of_ranks = wanted.of_ranks().into_iter().map(|wanted| {
        let arguments = Arguments::make(&function.signature, &wanted)?;
        let outcome =
            check_call_knowing(plan, &arguments.described, device, facts, &OnDevice(&ready, facts));
        let accepted = accepted(outcome)?;
        if is_known {
            ready.check_archs(&accepted, facts)?;
        }
        let made = made(function, &accepted, &arguments.row);
        Ok((arguments, RankCall { accepted, made }))
    });
    let (arguments, ranks): (Vec<_>, Vec<_>) =
        of_ranks.collect::<Result<Vec<_>, InterpretError>>()?.into_iter().unzip();
    let Some((arguments, others)) = arguments.split_first() else {
        unreachable!("there is a rank");
    };
    if others.iter().any(|other| other.tensors != arguments.tensors) {
        let message = "ranks are passed the same tensors: give only scalars by rank";
        return Err(InterpretError::Other(message.to_owned()));
    }
    Call { ready: &ready, ranks, arguments, facts }.run(&wanted, gpu)
}

/// The effects of a call, where its plan accepts it.
fn accepted(outcome: Outcome) -> Result<Accepted, InterpretError> {
    match outcome {
        Outcome::Accepted(accepted) => Ok(accepted),
        Outcome::Refused(Refused { kind, message, .. }) => {
            Err(InterpretError::Refused { kind, message })
        }
        Outcome::NoDevice => unreachable!("what is known of the device is said"),
        Outcome::Unreadable(address) => {
            Err(InterpretError::Other(format!("the plan reads {address:#x}")))
        }
    }
}

/// The tensors that a call makes: its results and its workspaces.
fn made(
    function: &Function,
    accepted: &Accepted,
    row: &BTreeMap<String, DType>,
) -> [Vec<InterpretedTensor>; 2] {
    let results = function.signature.results.iter().zip(&accepted.results);
    let results = results.map(|(result, extents)| {
        let dtype = arguments::dtype(&result.tensor, row);
        InterpretedTensor::compact(&result.name, dtype, extents, Role::Result)
    });
    let workspaces = function.workspaces.iter().zip(&accepted.workspaces);
    let workspaces = workspaces.map(|(workspace, extents)| {
        let dtype = arguments::dtype(&workspace.tensor, row);
        InterpretedTensor::compact(&workspace.name, dtype, extents, Role::Workspace)
    });
    [results.collect(), workspaces.collect()]
}

/// An element of a result that nobody has written.
fn unwritten(function: &Function, tensor: &InterpretedTensor) -> Option<Diagnostic> {
    let element = tensor.first_unwritten.as_ref()?;
    let result = function.signature.results.iter();
    let result = result.filter(|_| tensor.role == Role::Result);
    let result = result.into_iter().find(|result| result.name == tensor.name)?;
    let message = format!("no kernel has written `{element}`");
    let problem = Diagnostic::new("unwritten-result", message);
    Some(problem.mark(result.span, "a result, of which callers see every element"))
}

/// The GPU of a comparison, or why there is none.
type Found<'w> = Option<(&'w Compare, Result<Gpu, driver::DriverError>)>;

/// A call that its plan has accepted, by one rank or more.
struct Call<'c> {
    ready: &'c Interpretable,
    ranks: Vec<RankCall>,
    arguments: &'c Arguments,
    facts: DeviceFacts,
}

/// The call of a rank.
struct RankCall {
    accepted: Accepted,
    /// Its results and its workspaces.
    made: [Vec<InterpretedTensor>; 2],
}

/// Where the tensors of a call are.
struct Placed {
    memories: Memories,
    passed: Vec<MemoryId>,
    /// The results and the workspaces of each rank.
    made: Vec<[Vec<MemoryId>; 2]>,
}

impl Call<'_> {
    fn run(&self, wanted: &Wanted, gpu: Found<'_>) -> Result<Interpreted, InterpretError> {
        let (before, bytes_per_element) = (gpu.is_some(), wanted.bytes_per_element);
        let made = self.ranks.iter().flat_map(|rank| rank.made.iter().flatten());
        let all = self.arguments.tensors.iter().chain(made);
        let most = wanted.most_memory.unwrap_or(u64::MAX);
        let accepted = self.ranks.iter().map(|rank| &rank.accepted);
        let cell_bytes = |element| self.ready.cell_bytes_of(accepted.clone(), element);
        let n_met = accepted.clone().map(|accepted| self.ready.n_met(accepted)).max();
        let n_met = n_met.unwrap_or_default();
        let is_tracked = true;
        let kept = Kept { before, bytes_per_element, is_tracked, cell_bytes: &cell_bytes, n_met };
        let most_cores = budget::check(all, kept, most)?;
        let (mut placed, tensors) = self.place(wanted);
        let before = tensors.iter().filter(|_| gpu.is_some());
        let before = before.map(|(id, _)| (*id, placed.memories.get(*id).bytes.clone()));
        let before: Vec<_> = before.collect();
        let notes = self.ready.notes.clone();
        let mut done = Interpreted { is_exact: true, notes, ..Interpreted::default() };
        let Placed { memories, passed, made } = &mut placed;
        let at = |address| {
            let (number, offset) = tensor_at(address)?;
            Some((*passed.get(number)?, offset))
        };
        let ranks = accepted.clone().zip(&*made).map(|(accepted, [results, workspaces])| {
            (accepted, Tensors { at: &at, results, workspaces })
        });
        let ranks: Vec<_> = ranks.collect();
        let usual = Options::default();
        let n_cores = wanted.n_cores.unwrap_or(usual.n_cores).min(most_cores);
        let options = Options { seed: wanted.seed, n_cores, ..usual };
        let ran = self.ready.run_ranks(&ranks, memories, &options, Some(self.facts))?;
        for ran in &ran {
            done.findings.extend(ran.findings());
            done.is_exact &= ran.outcome.is_exact;
            done.launches.push(ran.into());
        }
        let knowing = |(id, tensor): (MemoryId, InterpretedTensor)| {
            (id, tensor.knowing(placed.memories.get(id)))
        };
        let tensors: Vec<_> = tensors.into_iter().map(knowing).collect();
        let function = &self.ready.function;
        tensors.iter().for_each(|(_, tensor)| done.findings.extend(unwritten(function, tensor)));
        if let Some((compare, gpu)) = gpu {
            let (function, ran, memories) = (self.ready, &ran[..], &placed.memories);
            self.compare(
                compare,
                gpu,
                &Made { function, ran, before: &before, memories },
                &mut done,
            );
        }
        let with_bytes =
            |(id, tensor): (MemoryId, InterpretedTensor)| tensor.with(placed.memories.get_mut(id));
        done.tensors = tensors.into_iter().map(with_bytes).collect();
        Ok(done)
    }

    /// Has a GPU make the call, where nothing is wrong with it: what is could end the process, or
    /// never end.
    fn compare(
        &self,
        wanted: &Compare,
        gpu: Result<Gpu, driver::DriverError>,
        made: &Made<'_>,
        done: &mut Interpreted,
    ) {
        if done.findings.has_errors() {
            return;
        }
        let gpu = match gpu {
            Ok(gpu) => gpu,
            Err(error) => {
                let message = format!("there is no GPU to compare with: {error}");
                return done.findings.push(Diagnostic::new("no-gpu", message));
            }
        };
        match compare::compare(&gpu, wanted, made) {
            Ok(comparison) => {
                for tensor in comparison.problems(wanted, done.is_exact) {
                    let TensorDifference { name, n_elements, n_different, .. } = tensor;
                    let message = format!(
                        "{n_different} of {n_elements} elements of `{name}` differ on {}",
                        comparison.gpu
                    );
                    let problem = Diagnostic::new("gpu-difference", message).detail(tensor.words());
                    done.findings.push(problem.at(self.span_of(name)));
                }
                done.compared = Some(comparison);
            }
            Err(problems) => done.findings.extend(problems.0),
        }
    }

    /// Where a tensor has its name.
    fn span_of(&self, tensor: &str) -> Span {
        let function = &self.ready.function;
        let of_param = |name: &str| tensor.split(['.', '[']).next() == Some(name);
        let params = function.signature.params.iter();
        let mut params = params.filter(|param| of_param(&param.name)).map(|param| param.span);
        let results = function.signature.results.iter();
        let mut results = results.filter(|result| result.name == tensor).map(|result| result.span);
        let workspaces = function.workspaces.iter();
        let mut workspaces =
            workspaces.filter(|one| one.name.value == tensor).map(|one| one.name.span);
        let found = params.next().or_else(|| results.next()).or_else(|| workspaces.next());
        found.unwrap_or(function.signature.span)
    }

    /// Gives every tensor memory, and those that are passed what they hold.
    fn place(&self, wanted: &Wanted) -> (Placed, Vec<(MemoryId, InterpretedTensor)>) {
        let mut memories = Memories::default();
        let mut tensors = Vec::new();
        let passed = self.arguments.tensors.iter().enumerate().map(|(number, tensor)| {
            let seed = wanted.seed.wrapping_add(number as u64);
            let array = wanted.array(&tensor.name);
            let id = memories.add(match array {
                Some(array) => tensor.given_memory(array.bytes.clone()),
                None => tensor.memory(Some((wanted.fill_of(&tensor.name), seed))),
            });
            tensors.push((id, tensor.clone()));
            id
        });
        let passed = passed.collect();
        let mut allocate = |tensor: &InterpretedTensor| {
            let id = memories.add(tensor.memory(None));
            tensors.push((id, tensor.clone()));
            id
        };
        let mut allocated = |made: &Vec<InterpretedTensor>| -> Vec<MemoryId> {
            made.iter().map(&mut allocate).collect()
        };
        let made = self.ranks.iter().map(|rank| rank.made.each_ref().map(&mut allocated));
        let made = made.collect();
        (Placed { memories, passed, made }, tensors)
    }
}

impl Wanted {
    /// The call of each rank.
    fn of_ranks(&self) -> Vec<Wanted> {
        let of_rank = |own: &Vec<(String, String)>| {
            let values = [&self.values[..], own].concat();
            Wanted { values, ..self.clone() }
        };
        match &self.ranks[..] {
            [] => vec![self.clone()],
            ranks => ranks.iter().map(of_rank).collect(),
        }
    }

    /// The array that is given for a tensor: the last one that is said.
    fn array(&self, tensor: &str) -> Option<&Array> {
        self.arrays.iter().rev().find(|(name, _)| name == tensor).map(|(_, array)| array)
    }

    /// The contents of a tensor.
    fn fill_of(&self, tensor: &str) -> Fill {
        let own = self.fill.iter().rev().find(|(name, _)| name.as_deref() == Some(tensor));
        let all = self.fill.iter().rev().find(|(name, _)| name.is_none());
        own.or(all).map_or(Fill::Random, |(_, fill)| *fill)
    }
}
