// SPDX-License-Identifier: Apache-2.0
//! From a kernel's tree and the arguments of a launch to operations, in one forward walk.
//!
//! Every expression gives a value: a *constant*, of which the compiler knows all, or what a thread
//! computes, which has a type. A condition that is constant chooses a branch while compiling, and
//! the other is not looked at. A mistake gives a value that is silent about itself, so that one
//! walk finds all of them.

use crate::argument::Argument;
use crate::budget::{Budget, too_deep};
use crate::builtin;
use crate::emit::Emission;
use crate::extents::{Surroundings, Unrelated};
use crate::file::{Definition, KernelFiles};
use crate::guard::Guarded;
use crate::inline::{Activation, Control};
use crate::names;
use crate::note::Notes;
use crate::place::Places;
use crate::python::tree::Name;
use crate::scope::{Horizon, Scopes};
use crate::value::{Closure, Elaborated};
use kernpack_kernel_ir::builder::Here;
use kernpack_kernel_ir::{Kernel, Scalar};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Diagnostics, Severity, Span};
use kernpack_validators::{Expr, KernelArg};
use std::collections::HashMap;
use std::sync::Arc;

/// The most operations that a kernel may have: beyond it, something unrolls that should not.
const MOST_OPERATIONS: usize = 1_000_000;
/// The most expressions that are elaborated, again and again where loops unroll.
const MOST_STEPS: usize = 2_000_000;
/// The most branches and loops of the kernel's within each other: fewer than the verifier takes.
const MOST_REGIONS: usize = 240;

/// The kernel to compile, and its launch.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The kernel.
    pub kernel: &'r Definition,
    /// The arguments of its parameters, in order. Those at the end may be left out where they have
    /// defaults.
    pub arguments: &'r [Argument],
    /// The dtype variables of the signature, as far as the launch binds them.
    pub dtypes: &'r [(String, Scalar)],
    /// The threads of a block in x, y and z, as far as they are known.
    pub block: [Option<u32>; 3],
    /// The architectures that it is for; nothing where the launch names none.
    pub archs: &'r [Arch],
    /// Its symbol: a C identifier.
    pub symbol: &'r str,
    /// The other facts about the call, where it is asked which indices the extent of something
    /// else alone bounds.
    pub surroundings: Option<Surroundings<'r>>,
    /// Whether the running kernel checks its indices, and skips accesses outside.
    pub is_checked: bool,
}

/// A kernel, compiled for a launch as far as operations.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The kernel.
    pub kernel: Kernel,
    /// The argument of each of its parameters, in order.
    pub args: Vec<KernelArg>,
    /// The bytes of shared memory that a launch asks for; nothing where the kernel's arrays are
    /// constant and fit what every kernel has.
    pub shared: Option<Expr>,
    /// Warnings.
    pub warnings: Diagnostics,
    /// The names of the tensors that it writes, as the launch passes them.
    pub written: Vec<String>,
    /// The indices that the extent of something else alone bounds, where that was asked.
    pub unrelated: Vec<Unrelated>,
}

/// Elaborates a kernel.
///
/// # Errors
/// Every mistake that is found, in the order of the text.
pub fn elaborate(files: &KernelFiles, request: &Request<'_>) -> Result<Instance, Diagnostics> {
    elaborate_apart(files, request).0
}

/// Elaborates a kernel for its architectures together. Where it asks for one that only some of them
/// have, this is given, too: it may be another kernel for those.
pub(crate) fn elaborate_apart(
    files: &KernelFiles,
    request: &Request<'_>,
) -> (Result<Instance, Diagnostics>, Option<Arch>) {
    let mut cx = Elaborator::new(files, request);
    cx.run_kernel(request.kernel, request.arguments);
    let Elaborator { notes, emit, apart, .. } = cx;
    let warnings = notes.finish();
    if warnings.has_errors() {
        return (Err(warnings), apart);
    }
    (Ok(emit.finish(request, warnings)), apart)
}

/// The walk over a kernel. Its parts keep their state to themselves.
pub(crate) struct Elaborator<'f> {
    pub(crate) files: &'f KernelFiles,
    /// The operations in the making.
    pub emit: Emission,
    /// The calls that we are in, and their names.
    pub scopes: Scopes,
    /// The conditions that we are in.
    pub guards: Guarded,
    /// How far this has gone.
    pub budget: Budget,
    /// Where operations come from.
    pub places: Places,
    /// The dtype variables of the signature.
    pub dtypes: HashMap<String, Scalar>,
    /// The threads of a block.
    pub block: [Option<u32>; 3],
    /// The architectures that the kernel is for.
    pub archs: Vec<Arch>,
    /// The first one that was asked for and that only some of them have.
    pub apart: Option<Arch>,
    /// The name that what is made now is assigned to.
    pub naming: Option<Name>,
    notes: Notes,
}

impl<'f> Elaborator<'f> {
    pub fn new(files: &'f KernelFiles, request: &Request<'_>) -> Elaborator<'f> {
        Elaborator {
            files,
            emit: Emission::new(request.symbol, request.is_checked),
            scopes: Scopes::default(),
            guards: Guarded::default(),
            budget: Budget::new(MOST_STEPS),
            places: Places::default(),
            dtypes: request.dtypes.iter().cloned().collect(),
            block: request.block,
            archs: request.archs.to_vec(),
            apart: None,
            naming: None,
            notes: Notes::default(),
        }
    }

    /// The point that we are at: what there is now.
    pub fn horizon(&self) -> Horizon {
        let n_values = self.emit.b.kernel().values.len();
        Horizon { n_values, next_frame: self.scopes.next_frame() }
    }

    /// The threads of a block, where each of its sides is known. The launch checks its size.
    pub fn threads_of_block(&self) -> Option<i64> {
        let mut sides = self.block.iter();
        sides.try_fold(1_i64, |all, side| Some(all.saturating_mul((*side)?.into())))
    }

    fn run_kernel(&mut self, kernel: &Definition, arguments: &[Argument]) {
        let frame = self.scopes.open(kernel.module, None);
        self.scopes.push(Activation::kernel(frame, &kernel.function));
        self.at(kernel.function.name.span);
        self.bind_arguments(kernel, arguments);
        self.block(&kernel.function.body);
        self.scopes.pop();
    }

    /// A function of a file, as a value.
    pub fn closure_of(&self, definition: &Definition) -> Elaborated {
        use crate::file::DefinitionKind;
        let uncallable = match definition.kind {
            DefinitionKind::Device => None,
            DefinitionKind::Kernel => Some("a kernel"),
            DefinitionKind::Packed(_) | DefinitionKind::Bare => Some("a packed function"),
            DefinitionKind::Python(_) => Some("a function of Python's, with a decorator"),
        };
        let (function, module) = (definition.function.clone(), definition.module);
        let (frame, object) = (None, None);
        Elaborated::Closure(Arc::new(Closure { function, module, frame, uncallable, object }))
    }

    /// Sets the place that operations from now on were written at. Gives where the last was.
    pub fn at(&mut self, span: Span) -> Here {
        self.places.go_to(span, (self.files, self.scopes.module()), &mut self.emit.b)
    }

    // Mistakes.

    /// Reports a mistake, once however often it is met; gives what comes of it.
    pub fn report(&mut self, mut problem: Diagnostic) -> Elaborated {
        if self.files.is_told(&problem) || !self.notes.is_new(&problem) {
            if problem.severity == Severity::Error {
                self.notes.repeat();
            }
            return Elaborated::Poison;
        }
        if let Some(caller) = self.places.caller().filter(|_| problem.severity == Severity::Error) {
            let kernel = self.emit.b.kernel();
            let called = kernel.place(caller).span;
            if !self.files.tell_at_call(&mut problem, kernel.place_of_user(caller).span)
                && problem.labels.first().is_none_or(|label| label.span != called)
            {
                problem = problem.mark(called, "called here");
            }
        }
        self.notes.add(problem);
        Elaborated::Poison
    }

    /// How many mistakes were met again that were reported before.
    pub fn n_repeated(&self) -> usize {
        self.notes.n_repeated()
    }

    /// A mistake at a place.
    pub fn mistake(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Elaborated {
        self.report(Diagnostic::new(code, message).label(span, "").help(help))
    }

    /// Whether the kernel, or what is computed for it, has become too large; reports that once, at
    /// the innermost loop that is unrolled.
    pub fn is_too_large(&mut self, span: Span) -> bool {
        let is_large =
            self.emit.b.kernel().values.len() > MOST_OPERATIONS || self.budget.is_spent();
        if is_large && self.budget.exhaust() {
            let message = format!(
                "the kernel has more than {MOST_OPERATIONS} operations, or takes more than \
                 {MOST_STEPS} steps while compiling"
            );
            let help = "write `range` where `range_constexpr` unrolls too much";
            let controls = self.scopes.calls().flat_map(|one| one.controls.iter().rev());
            let mut unrolled = controls.filter_map(|control| match control {
                Control::Unrolled(span) => Some(*span),
                Control::Branch | Control::Loop => None,
            });
            let span = unrolled.next().unwrap_or(span);
            drop(unrolled);
            self.mistake("kernel-size", span, message, help);
        }
        self.budget.is_exhausted()
    }

    /// Whether this is nested too deeply, which is reported: it is walked with a stack, here and in
    /// all that comes behind.
    pub fn is_too_deep(&mut self, span: Span) -> bool {
        let is_deep = self.budget.is_deep() || self.emit.b.depth() >= MOST_REGIONS;
        if is_deep {
            self.report(too_deep(span, ""));
        }
        is_deep
    }

    /// The function of kernpack's of that name.
    pub fn builtin(&mut self, name: &str, span: Span) -> Elaborated {
        match builtin::find(name) {
            Some(row) => Elaborated::Builtin(row),
            None => match (builtin::constant(name), self.files.library_with(name)) {
                (Some(constant), _) => constant,
                (None, Some(module)) => {
                    let written = names::of_file(self, module, &Name::from(name), span);
                    written.unwrap_or(Elaborated::Poison)
                }
                (None, None) => self.report(builtin::unknown(name).label(span, "")),
            },
        }
    }
}
