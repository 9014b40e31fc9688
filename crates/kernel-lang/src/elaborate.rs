// SPDX-License-Identifier: Apache-2.0
//! From a kernel's tree and the arguments of a launch to operations, in one forward walk.
//!
//! Every expression gives a value: a *constant*, of which the compiler knows all, or what a thread
//! computes, which has a type. A condition that is constant chooses a branch while compiling, and
//! the other is not looked at. A mistake gives a value that is silent about itself, so that one
//! walk finds all of them.

use crate::argument::Argument;
use crate::builtin;
use crate::file::{Definition, KernelFiles, ModuleId};
use crate::inline::{Activation, Control};
use crate::parameter::Parameters;
use crate::python::tree::Name;
use crate::scope::{Frame, FrameId};
use crate::value::{Closure, Value};
use kernpack_kernel_ir::builder::Here;
use kernpack_kernel_ir::kernel::{self, File, Place, PlaceData};
use kernpack_kernel_ir::{Builder, Kernel, Scalar};
use kernpack_layout::{Facts, Int};
use kernpack_syntax::{Diagnostic, Diagnostics, Severity, Span};
use kernpack_validators::{Expr, KernelArg};
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The most operations that a kernel may have: beyond it, something unrolls that should not.
const MOST_OPERATIONS: usize = 1_000_000;
/// The most expressions that are elaborated, again and again where loops unroll.
const MOST_STEPS: usize = 2_000_000;
/// The most calls and expressions within each other.
const MOST_DEPTH: usize = 320;
/// The most branches and loops of the kernel's within each other: fewer than the verifier takes.
const MOST_REGIONS: usize = 240;

/// What a kernel is compiled for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The kernel.
    pub kernel: &'r Definition,
    /// What its parameters are given, in order. Those at the end may be left out where they have
    /// defaults.
    pub arguments: &'r [Argument],
    /// The dtype variables of the signature, as far as the launch binds them.
    pub dtypes: &'r [(String, Scalar)],
    /// The threads of a block in x, y and z, as far as they are known.
    pub block: [Option<u32>; 3],
    /// Its symbol: a C identifier.
    pub symbol: &'r str,
}

/// A kernel, compiled for a launch as far as operations.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The kernel.
    pub kernel: Kernel,
    /// What each of its parameters is passed, in order.
    pub args: Vec<KernelArg>,
    /// The bytes of shared memory that a launch asks for; nothing where the kernel's arrays are
    /// constant and fit what every kernel has.
    pub shared: Option<Expr>,
    /// What may be a mistake.
    pub warnings: Diagnostics,
}

/// Elaborates a kernel.
///
/// # Errors
/// Every mistake that is found, in the order of the text.
pub fn elaborate(files: &KernelFiles, request: &Request<'_>) -> Result<Instance, Diagnostics> {
    let mut cx = Elaborator::new(files, request);
    cx.run_kernel(request.kernel, request.arguments);
    let Elaborator { mut diagnostics, .. } = cx;
    diagnostics.sort();
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let (mut kernel, parameters) = (cx.b.finish(), cx.parameters);
    kernel.block = request.block;
    let (args, shared) = parameters.finish(&mut kernel);
    Ok(Instance { kernel, args, shared, warnings: diagnostics })
}

/// An argument that may be None.
#[derive(Debug)]
pub(crate) struct OptionalValue {
    /// Whether it is given.
    pub given: kernel::Value,
    /// What it is then.
    pub inner: Value,
    /// What messages call it.
    pub name: Name,
    /// In how many conditions that say that it is given we are.
    pub guards: usize,
}

/// The state of the walk.
pub(crate) struct Elaborator<'f> {
    /// The files.
    pub files: &'f KernelFiles,
    /// The kernel in the making.
    pub b: Builder,
    /// What the kernel is passed, as far as it asked.
    pub parameters: Parameters,
    /// What is known of integers that threads compute.
    pub facts: FxHashMap<kernel::Value, Facts>,
    /// How integers were computed, for layouts that want to know products.
    pub products: FxHashMap<kernel::Value, [Int<crate::value::Leaf>; 2]>,
    /// Numbers that are choices between literals, and have the type of what they meet.
    pub literals: FxHashMap<kernel::Value, crate::number::LiteralChoice>,
    /// The names of each call; the last are not the current ones.
    pub frames: Vec<Frame>,
    /// The calls that we are in, the kernel first.
    pub activations: Vec<Activation>,
    /// Arguments that may be None.
    pub optionals: Vec<OptionalValue>,
    /// In how many conditions and loops we are that let no thread through.
    pub n_unreached: usize,
    /// The constants of files that were asked for.
    pub globals: HashMap<(ModuleId, Name), Option<Value>>,
    /// The dtype variables of the signature.
    pub dtypes: HashMap<String, Scalar>,
    /// The threads of a block.
    pub block: [Option<u32>; 3],
    /// How many expressions and calls are around.
    pub depth: usize,
    diagnostics: Diagnostics,
    seen: HashSet<(Option<Span>, String)>,
    file_ids: HashMap<ModuleId, File>,
    /// The line of the last place: the next one is mostly there too.
    line: u32,
    /// How many expressions were elaborated.
    pub steps: usize,
    /// The place of the current call in its caller.
    pub caller: Option<Place>,
    /// The name that what is made now is assigned to.
    pub naming: Option<Name>,
    /// Whether it was reported that the kernel has no end: nothing more is elaborated.
    pub is_exhausted: bool,
}

impl<'f> Elaborator<'f> {
    pub fn new(files: &'f KernelFiles, request: &Request<'_>) -> Elaborator<'f> {
        Elaborator {
            files,
            b: Builder::new(request.symbol, Vec::new()),
            parameters: Parameters::default(),
            facts: FxHashMap::default(),
            products: FxHashMap::default(),
            literals: FxHashMap::default(),
            frames: Vec::new(),
            activations: Vec::new(),
            optionals: Vec::new(),
            n_unreached: 0,
            globals: HashMap::new(),
            dtypes: request.dtypes.iter().cloned().collect(),
            block: request.block,
            depth: 0,
            diagnostics: Diagnostics::default(),
            seen: HashSet::new(),
            file_ids: HashMap::new(),
            line: 0,
            steps: 0,
            caller: None,
            naming: None,
            is_exhausted: false,
        }
    }

    fn run_kernel(&mut self, kernel: &Definition, arguments: &[Argument]) {
        let frame = self.push_frame(kernel.module, None);
        self.activations.push(Activation::kernel(frame, &kernel.function));
        self.at(kernel.function.name.span);
        self.bind_arguments(kernel, arguments);
        self.block(&kernel.function.body);
        self.activations.pop();
    }

    // Names.

    pub fn push_frame(&mut self, module: ModuleId, outer: Option<FrameId>) -> FrameId {
        self.frames.push(Frame::new(module, outer));
        FrameId(self.frames.len() - 1)
    }

    /// The call that we are in.
    pub fn activation(&mut self) -> &mut Activation {
        self.activations.last_mut().expect("a kernel or a constant is elaborated")
    }

    /// The names of the call that we are in.
    pub fn frame_id(&self) -> FrameId {
        self.activations.last().expect("a kernel or a constant is elaborated").frame
    }

    pub fn frame(&mut self) -> &mut Frame {
        let id = self.frame_id();
        &mut self.frames[id.0]
    }

    pub fn module(&self) -> ModuleId {
        self.frames[self.frame_id().0].module
    }

    /// A function of a file, as a value.
    pub fn closure_of(&self, definition: &Definition) -> Value {
        use crate::file::DefinitionKind;
        let uncallable = match definition.kind {
            DefinitionKind::Device => None,
            DefinitionKind::Kernel => Some("a kernel"),
            DefinitionKind::Packed(_) => Some("a packed function"),
            DefinitionKind::Python(_) => Some("a function of Python's, with a decorator"),
        };
        let (function, module) = (definition.function.clone(), definition.module);
        Value::Closure(Arc::new(Closure { function, module, frame: None, uncallable }))
    }

    // Places.

    /// What follows was written there. Gives where the last was.
    pub fn at(&mut self, span: Span) -> Here {
        let Some(text) = span.text else { return self.b.here() };
        let module = self.module();
        if self.files.module(module).text != text {
            return self.b.here();
        }
        let (line, column) = self.files.position(module, span.start, self.line);
        self.line = line;
        let file = Some(self.file(module));
        self.b.at(PlaceData { span, file, line, column, caller: self.caller })
    }

    fn file(&mut self, module: ModuleId) -> File {
        let files = &mut self.b.kernel_mut().files;
        *self.file_ids.entry(module).or_insert_with(|| {
            files.push(self.files.module(module).path.display().to_string());
            File(files.len() as u32 - 1)
        })
    }

    // Mistakes.

    /// Reports a mistake, once however often it is met; gives what comes of it.
    pub fn report(&mut self, mut problem: Diagnostic) -> Value {
        let span = problem.labels.first().map(|label| label.span);
        if self.files.is_told(&problem) {
            return Value::Poison;
        }
        if self.seen.insert((span, problem.message.clone())) {
            if let Some(caller) = self.caller.filter(|_| problem.severity == Severity::Error) {
                let called = self.b.kernel().place(caller).span;
                if Some(called) != span {
                    problem = problem.mark(called, "called here");
                }
            }
            self.diagnostics.push(problem);
        }
        Value::Poison
    }

    /// A mistake at a place.
    pub fn mistake(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Value {
        self.report(Diagnostic::new(code, message).label(span, "").help(help))
    }

    /// Whether the kernel, or what is computed for it, has become too large; reports that once, at
    /// the innermost loop that is unrolled.
    pub fn is_too_large(&mut self, span: Span) -> bool {
        let is_large = self.b.kernel().values.len() > MOST_OPERATIONS || self.steps > MOST_STEPS;
        if is_large && !self.is_exhausted {
            self.is_exhausted = true;
            let message = format!(
                "the kernel has more than {MOST_OPERATIONS} operations, or takes more than \
                 {MOST_STEPS} steps while compiling"
            );
            let help = "write `range` where `range_constexpr` unrolls too much";
            let controls = self.activations.iter().rev().flat_map(|one| one.controls.iter().rev());
            let mut unrolled = controls.filter_map(|control| match control {
                Control::Unrolled(span) => Some(*span),
                Control::Branch | Control::Loop => None,
            });
            let span = unrolled.next().unwrap_or(span);
            self.mistake("kernel-size", span, message, help);
        }
        self.is_exhausted
    }

    /// Whether this is nested too deeply, which is reported: it is walked with a stack, here and in
    /// all that comes behind.
    pub fn is_too_deep(&mut self, span: Span) -> bool {
        let is_deep = self.depth >= MOST_DEPTH || self.b.depth() >= MOST_REGIONS;
        if is_deep {
            let message = "this is nested too deeply, in expressions, branches or calls";
            let help = "name parts of it, or write a function for each";
            self.mistake("too-deep", span, message, help);
        }
        is_deep
    }

    /// The function of kernpack's of that name.
    pub fn builtin(&mut self, name: &str, span: Span) -> Value {
        match builtin::find(name) {
            Some(row) => Value::Builtin(row),
            None => builtin::constant(name)
                .unwrap_or_else(|| self.report(builtin::unknown(name).label(span, ""))),
        }
    }
}
