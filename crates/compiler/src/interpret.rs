// SPDX-License-Identifier: Apache-2.0
//! Runs a packed function on no device: arguments are made of its signature, its plan checks them
//! as a call's are checked, and the kernels that it launches run on the interpreter, which says
//! what is wrong with them.
//!
//! Only kernels that are written here can be interpreted. Not here: drawing, and the GPU.

mod arguments;
mod fill;
mod tensor;

pub use fill::Fill;
pub use tensor::{InterpretedTensor, Role};

use crate::file::{Files, Held};
use crate::package::{Function, Launch, WrittenPackage};
use crate::settle::{Settled, settle};
use crate::source::GpuSource;
use arguments::Arguments;
use kernpack_kernel_ir::interp::{self, Argument, Memories, Memory, MemoryId, Options};
use kernpack_kernel_ir::kernel::{Kernel, ParamKind};
use kernpack_kernel_ir::{Const, Scalar, expand, verify};
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::Plan;
use kernpack_validators::described::{check_call, tensor_at};
use kernpack_validators::plan::{Accepted, LaidOut, LaunchArg, Outcome};
use thiserror::Error;

/// A call that is wanted.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// The function.
    pub function: String,
    /// What is said of its arguments: dims, dtypes and scalars by their names.
    pub values: Vec<(String, String)>,
    /// What tensors hold, by their names; those that are not there are filled at random.
    pub fill: Vec<(Option<String>, Fill)>,
    /// What random numbers begin with, and the order in which warps and blocks run.
    pub seed: u64,
}

/// What a call did.
#[derive(Debug, Default)]
pub struct Interpreted {
    /// The launches, in order.
    pub launches: Vec<InterpretedLaunch>,
    /// The tensors that it was passed, its results and its workspaces, as they are in the end.
    pub tensors: Vec<InterpretedTensor>,
    /// What is wrong with its kernels.
    pub findings: Diagnostics,
    /// Whether a GPU gives the same bits.
    pub is_exact: bool,
}

/// What a launch did.
#[derive(Clone, Debug)]
pub struct InterpretedLaunch {
    /// The symbol of its kernel.
    pub kernel: String,
    /// How it was laid out.
    pub layout: LaidOut,
    /// What it printed.
    pub printed: Vec<String>,
    /// How many operations its threads ran.
    pub thread_ops: u64,
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
        kind: String,
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
    let mut problems = Diagnostics::default();
    let Settled { package, .. } = settle(package, &[], &mut Files::new(held), &mut problems);
    if problems.has_errors() {
        return Err(problems.into());
    }
    let function = find(&package.functions, &wanted.function)?;
    let plan = function.plan()?;
    let device = function.default_device();
    let arguments = Arguments::make(&function.signature, wanted)?;
    let accepted = match check_call(&plan, &arguments.described, device) {
        Outcome::Accepted(accepted) => accepted,
        Outcome::Refused(refused) => {
            let (kind, message) = (refused.kind.to_string(), refused.message);
            return Err(InterpretError::Refused { kind, message });
        }
        Outcome::NoDevice => {
            let message = "a launch asks for what only a device knows, such as `device.sm_count`";
            return Err(InterpretError::Other(message.to_string()));
        }
        Outcome::Unreadable(address) => {
            return Err(InterpretError::Other(format!("the plan reads {address:#x}")));
        }
    };
    let call = Call { function, plan: &plan, accepted: &accepted, arguments: &arguments };
    call.run(wanted)
}

fn find<'f>(functions: &'f [Function], name: &str) -> Result<&'f Function, InterpretError> {
    let found = functions.iter().find(|function| function.signature.name == name);
    found.ok_or_else(|| {
        let names: Vec<_> =
            functions.iter().map(|one| format!("`{}`", one.signature.name)).collect();
        let message = format!("there is no function `{name}`; there is {}", names.join(", "));
        InterpretError::Other(message)
    })
}

/// A call that its plan has accepted.
struct Call<'c> {
    function: &'c Function,
    plan: &'c Plan,
    accepted: &'c Accepted,
    arguments: &'c Arguments,
}

/// Where the tensors of a call are.
struct Placed {
    memories: Memories,
    passed: Vec<MemoryId>,
    results: Vec<MemoryId>,
    workspaces: Vec<MemoryId>,
    /// What no address leads to.
    nothing: MemoryId,
}

impl Call<'_> {
    fn run(&self, wanted: &Wanted) -> Result<Interpreted, InterpretError> {
        let (mut placed, tensors) = self.place(wanted);
        let mut done = Interpreted { is_exact: true, ..Interpreted::default() };
        let launches = self.accepted.launches.iter().zip(&self.accepted.grids);
        for ((index, values), layout) in launches {
            let launch = &self.function.launches[*index];
            let layout = layout.ok_or_else(|| not_interpreted(launch))?;
            let kernel = self.kernel(launch)?;
            let planned = self.plan.launches.iter().find(|planned| planned.index == *index);
            let args = planned.map_or(&[][..], |planned| &planned.args);
            let arguments = kernel.params.iter().zip(args.iter().zip(values));
            let arguments = arguments.map(|(param, (arg, value))| match &param.kind {
                ParamKind::Scalar(scalar, _) => Argument::Scalar(number(*scalar, *value)),
                ParamKind::Pointer(_) => placed.pointer(arg, *value),
            });
            let launch = interp::Launch {
                kernel: &kernel,
                grid: extents(layout.grid),
                block: extents(layout.block),
                arguments: arguments.collect(),
            };
            let options = Options { seed: wanted.seed, ..Options::default() };
            let outcome = interp::run(&launch, &mut placed.memories, &options);
            let findings = outcome.findings.iter().map(|finding| finding.diagnostic(&kernel));
            done.findings.extend(findings);
            done.is_exact &= outcome.is_exact;
            let (printed, thread_ops) = (outcome.printed, outcome.thread_ops);
            let kernel = kernel.name.clone();
            done.launches.push(InterpretedLaunch { kernel, layout, printed, thread_ops });
        }
        for (id, tensor) in tensors {
            let tensor = tensor.with(placed.memories.get(id));
            done.findings.extend(self.unwritten(&tensor));
            done.tensors.push(tensor);
        }
        Ok(done)
    }

    /// Gives every tensor memory, and those that are passed what they hold.
    fn place(&self, wanted: &Wanted) -> (Placed, Vec<(MemoryId, InterpretedTensor)>) {
        let mut memories = Memories::default();
        let nothing = memories.add(Memory::new("None", Scalar::U8, vec![]));
        let mut tensors = Vec::new();
        let passed = self.arguments.tensors.iter().enumerate().map(|(number, tensor)| {
            let seed = wanted.seed.wrapping_add(number as u64);
            let id = memories.add(tensor.memory(Some((wanted.fill_of(&tensor.name), seed))));
            tensors.push((id, tensor.clone()));
            id
        });
        let passed = passed.collect();
        let signature = &self.function.signature;
        let mut allocate = |name: &str, dtype, extents: &[i64], role| {
            let tensor = InterpretedTensor::compact(name, dtype, extents, role);
            let id = memories.add(tensor.memory(None));
            tensors.push((id, tensor));
            id
        };
        let row = &self.arguments.row;
        let results = signature.results.iter().zip(&self.accepted.results);
        let results = results.map(|(result, extents)| {
            let dtype = arguments::dtype(&result.tensor, row);
            allocate(&result.name, dtype, extents, Role::Result)
        });
        let results = results.collect();
        let workspaces = self.function.workspaces.iter().zip(&self.accepted.workspaces);
        let workspaces = workspaces.map(|(workspace, extents)| {
            let dtype = arguments::dtype(&workspace.tensor, row);
            allocate(&workspace.name, dtype, extents, Role::Workspace)
        });
        let workspaces = workspaces.collect();
        (Placed { memories, passed, results, workspaces, nothing }, tensors)
    }

    /// The kernel of a launch, as it is run.
    fn kernel(&self, launch: &Launch) -> Result<Kernel, InterpretError> {
        let Some(GpuSource::Kernel(source, _)) = launch.gpu_source() else {
            return Err(not_interpreted(launch));
        };
        let symbol = launch.symbol_of(self.plan, self.accepted.combination);
        let instance = source.instances.iter().find(|kernel| kernel.name == symbol);
        let instance = instance.ok_or_else(|| {
            InterpretError::Other(format!("there is no kernel `{symbol}` for these dtypes"))
        })?;
        let mut kernel = Kernel::clone(instance);
        expand(&mut kernel);
        verify(&kernel)?;
        Ok(kernel)
    }

    /// An element of a result that nobody has written.
    fn unwritten(&self, tensor: &InterpretedTensor) -> Option<Diagnostic> {
        let element = tensor.first_unwritten.as_ref()?;
        let result = self.function.signature.results.iter();
        let result = result.filter(|_| tensor.role == Role::Result);
        let result = result.into_iter().find(|result| result.name == tensor.name)?;
        let message = format!("no kernel has written `{element}`");
        let problem = Diagnostic::new("unwritten-result", message);
        Some(problem.mark(result.span, "a result, of which callers see every element"))
    }
}

impl Wanted {
    /// What a tensor holds.
    fn fill_of(&self, tensor: &str) -> Fill {
        let own = self.fill.iter().rev().find(|(name, _)| name.as_deref() == Some(tensor));
        let all = self.fill.iter().rev().find(|(name, _)| name.is_none());
        own.or(all).map_or(Fill::Random, |(_, fill)| *fill)
    }
}

impl Placed {
    /// What a pointer leads to.
    fn pointer(&self, arg: &LaunchArg, value: Option<i64>) -> Argument {
        let (memory, offset) = match arg {
            LaunchArg::Result(number) => (self.results.get(*number), 0),
            LaunchArg::Workspace(number) => (self.workspaces.get(*number), 0),
            LaunchArg::Value(..)
            | LaunchArg::EnvStream
            | LaunchArg::Struct(_)
            | LaunchArg::TensorMap(_) => {
                let place = value.and_then(|address| tensor_at(address as u64));
                let memory = place.and_then(|(number, _)| self.passed.get(number));
                (memory, place.map_or(0, |(_, offset)| offset))
            }
        };
        match memory {
            Some(memory) => Argument::Tensor { memory: *memory, offset },
            None => Argument::Tensor { memory: self.nothing, offset: 0 },
        }
    }
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
