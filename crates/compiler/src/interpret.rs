// SPDX-License-Identifier: Apache-2.0
//! Runs a packed function on no device: arguments are made of its signature, its plan checks them
//! as a call's are checked, and the kernels that it launches run on the interpreter, which says
//! what is wrong with them.
//!
//! Only kernels that are written here can be interpreted. Not here: drawing, and the GPU.

mod arguments;
mod fill;
mod launches;
mod tensor;

pub use fill::Fill;
pub use launches::{Interpretable, RanLaunch, Tensors};
pub use tensor::{InterpretedTensor, Role};

use crate::file::Held;
use crate::package::WrittenPackage;
use arguments::Arguments;
use kernpack_kernel_ir::interp::{Memories, MemoryId, Options};
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::described::{check_call, tensor_at};
use kernpack_validators::plan::{Accepted, LaidOut, Outcome};
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
    let ready = Interpretable::of(package, &wanted.function, held)?;
    let Interpretable { function, plan } = &ready;
    let device = function.default_device();
    let arguments = Arguments::make(&function.signature, wanted)?;
    let accepted = match check_call(plan, &arguments.described, device) {
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
    let call = Call { ready: &ready, accepted: &accepted, arguments: &arguments };
    call.run(wanted)
}

/// A call that its plan has accepted.
struct Call<'c> {
    ready: &'c Interpretable,
    accepted: &'c Accepted,
    arguments: &'c Arguments,
}

/// Where the tensors of a call are.
struct Placed {
    memories: Memories,
    passed: Vec<MemoryId>,
    results: Vec<MemoryId>,
    workspaces: Vec<MemoryId>,
}

impl Call<'_> {
    fn run(&self, wanted: &Wanted) -> Result<Interpreted, InterpretError> {
        let (mut placed, tensors) = self.place(wanted);
        let mut done = Interpreted { is_exact: true, ..Interpreted::default() };
        let Placed { memories, passed, results, workspaces } = &mut placed;
        let at = |address| {
            let (number, offset) = tensor_at(address)?;
            Some((*passed.get(number)?, offset))
        };
        let places = Tensors { at: &at, results, workspaces };
        let options = Options { seed: wanted.seed, ..Options::default() };
        for ran in self.ready.run(self.accepted, &places, memories, &options)? {
            let RanLaunch { kernel, layout, outcome } = ran;
            let findings = outcome.findings.iter().map(|finding| finding.diagnostic(&kernel));
            done.findings.extend(findings);
            done.is_exact &= outcome.is_exact;
            let (printed, thread_ops) = (outcome.printed, outcome.thread_ops);
            let kernel = kernel.name;
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
        let mut tensors = Vec::new();
        let passed = self.arguments.tensors.iter().enumerate().map(|(number, tensor)| {
            let seed = wanted.seed.wrapping_add(number as u64);
            let id = memories.add(tensor.memory(Some((wanted.fill_of(&tensor.name), seed))));
            tensors.push((id, tensor.clone()));
            id
        });
        let passed = passed.collect();
        let signature = &self.ready.function.signature;
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
        let workspaces = self.ready.function.workspaces.iter().zip(&self.accepted.workspaces);
        let workspaces = workspaces.map(|(workspace, extents)| {
            let dtype = arguments::dtype(&workspace.tensor, row);
            allocate(&workspace.name, dtype, extents, Role::Workspace)
        });
        let workspaces = workspaces.collect();
        (Placed { memories, passed, results, workspaces }, tensors)
    }

    /// An element of a result that nobody has written.
    fn unwritten(&self, tensor: &InterpretedTensor) -> Option<Diagnostic> {
        let element = tensor.first_unwritten.as_ref()?;
        let result = self.ready.function.signature.results.iter();
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
