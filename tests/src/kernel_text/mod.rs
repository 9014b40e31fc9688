// SPDX-License-Identifier: Apache-2.0
//! Kernels of the suite and of the language's page: a file, launches of its kernels on the
//! interpreter, and expressions.
//!
//! ```text
//! add[1, 32](float32[1, 2, 3], mut float32[0, 0, 0], int32(3), "text")
//! out = float32[2, 3, 4]
//! ```
//! A [launch](call) is the kernel's name, its grid, block and cluster, and what its parameters are
//! given.
//! What comes of it stands below: what is wrong with the kernel or, where nothing is, what it
//! prints, what the interpreter finds, and what the tensors hold that it may write.
//! [`interpreted`] has calls of packed functions, of which launches run one behind another.
//! [`expression`] has lines of an expression and what it gives. [`operations`] reads kernels that
//! are written as operations, which are launched alike.

mod argument;
pub mod call;
pub mod expression;
pub mod interpreted;
pub mod operations;

use argument::Given;
use kernpack_kernel_ir::interp::{MemoryId, Options, Trial};
use kernpack_kernel_ir::kernel::ParamKind;
use kernpack_kernel_ir::{Const, Kernel, Scalar};
use kernpack_kernel_lang::elaborate::{Instance, Request, elaborate};
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_syntax::{Diagnostics, Texts};
use kernpack_validators::{Expr, KernelArg, MapSpec};
use std::path::Path;

/// What a file without an import of kernpack begins with. That line is counted.
const IMPORT: &str = "import kernpack as kp\n";

/// What the file is called that launches are of.
const FILE: &str = "kernels.py";

/// A file of kernels.
#[derive(Clone, Debug, Default)]
pub struct KernelText {
    text: String,
    language: Language,
    /// Whether its kernels check their indices as they run.
    is_checked: bool,
    /// Files that it imports, by name.
    beside: Vec<(String, String)>,
}

/// What kernels are written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Language {
    #[default]
    Python,
    Operations,
}

/// A kernel that can be launched.
struct Made {
    kernel: Kernel,
    /// What each of its parameters is given.
    passed: Vec<Passed>,
    warnings: Diagnostics,
}

/// What a parameter of the operations is given.
enum Passed {
    /// The tensor of that name.
    Tensor(String),
    Number(Const),
    /// The map of that tensor: extents and strides, those of the innermost dim first.
    Map(String, [Vec<i64>; 2]),
}

/// A launch, as it was read.
#[derive(Debug)]
pub struct Call {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    cluster: [u32; 3],
    given: Vec<Given>,
}

/// What came of a launch that could be made.
#[derive(Debug, Default)]
pub struct Ran {
    /// Warnings, and what the interpreter found.
    pub told: String,
    /// The lines that the kernel printed.
    pub printed: Vec<String>,
    /// What the tensors hold that it may write: each with its name.
    pub written: Vec<(String, Vec<Const>)>,
}

impl KernelText {
    /// A file of that text, which need not import kernpack.
    pub fn new(text: &str) -> KernelText {
        let is_whole = text.contains("import kernpack");
        let text = if is_whole { text.to_string() } else { format!("{IMPORT}{text}") };
        KernelText { text, ..KernelText::default() }
    }

    /// Kernels that are written as operations.
    pub fn of_operations(text: &str) -> KernelText {
        let (text, language) = (text.to_string(), Language::Operations);
        KernelText { text, language, ..KernelText::default() }
    }

    /// The same file, of which kernels check their indices as they run; nothing where they are
    /// operations already.
    pub fn checked(&self) -> Option<KernelText> {
        let is_python = self.language == Language::Python;
        is_python.then(|| KernelText { is_checked: true, ..self.clone() })
    }

    /// Adds a file that this one imports.
    pub fn put_beside(&mut self, name: &str, text: &str) {
        self.beside.push((name.to_string(), text.to_string()));
    }

    /// What the verifier says of kernels that are written as operations.
    pub fn verdicts(&self) -> String {
        operations::verdicts(&self.text)
    }

    /// Makes a launch.
    ///
    /// # Errors
    /// What is wrong with the file or the kernel, as it is shown.
    pub fn run(&self, call: &Call) -> Result<Ran, String> {
        let mut texts = Texts::default();
        let made = match self.language {
            Language::Python => self.elaborated(call, &mut texts),
            Language::Operations => operations::made(&self.text, call, &mut texts),
        };
        let Made { kernel, passed, warnings } =
            made.map_err(|problems| problems.in_texts(&texts))?;
        let mut told = warnings.in_texts(&texts);
        let trial = Trial::of_verified(kernel).map_err(|problems| problems.in_texts(&texts))?;
        let mut trial = trial.grid(call.grid).block(call.block).cluster(call.cluster);
        trial.options = options();
        let tensors = call.given.iter().filter_map(|given| Some((given, given.tensor()?)));
        let ids: Vec<_> = tensors.map(|(given, memory)| (given, trial.hold(memory))).collect();
        let mut trial = passed.into_iter().fold(trial, |trial, passed| match passed {
            Passed::Number(number) => trial.number(number),
            Passed::Tensor(name) => {
                let found = ids.iter().find(|(given, _)| given.name == name);
                trial.at(found.expect("pointers are tensors'").1)
            }
            Passed::Map(name, [extents, strides]) => {
                let found = ids.iter().find(|(given, _)| given.name == name);
                trial.mapped(found.expect("maps are of tensors").1, &extents, &strides)
            }
        });
        let outcome = trial.run();
        let found = outcome.findings.iter().map(|one| one.diagnostic(&trial.kernel));
        let found = Diagnostics(found.collect()).in_texts(&texts);
        if !told.is_empty() && !found.is_empty() {
            told.push('\n');
        }
        told.push_str(&found);
        let written = ids.iter().filter(|(given, _)| given.is_written());
        let elements = |id: MemoryId| trial.memories.get(id).elements();
        let written = written.map(|(given, id)| (given.name.clone(), elements(*id))).collect();
        Ok(Ran { told, printed: outcome.printed, written })
    }

    /// The kernel of a launch and what its parameters are given.
    fn elaborated(&self, call: &Call, texts: &mut Texts) -> Result<Made, Diagnostics> {
        let Instance { kernel, args, warnings, .. } = self.elaborate(call, texts)?;
        let passed =
            args.iter().zip(&kernel.params).map(|(arg, param)| match (arg, param.kind.clone()) {
                (KernelArg::TensorMap(map), _) => call.map(map),
                (KernelArg::Value(expr, _), ParamKind::Pointer(_)) => {
                    Passed::Tensor(expr.to_string())
                }
                (KernelArg::Value(expr, _), ParamKind::Scalar(scalar, _)) => {
                    Passed::Number(call.number(expr, scalar))
                }
                _ => unreachable!("kernels take values and maps"),
            });
        Ok(Made { passed: passed.collect(), kernel, warnings })
    }

    /// The kernel of a launch, its parameters' names put to what they are given.
    fn elaborate(&self, call: &Call, texts: &mut Texts) -> Result<Instance, Diagnostics> {
        let mut door = |path: &Path| match path.to_str() {
            Some(FILE) => Ok(self.text.as_bytes().to_vec()),
            other => match self.beside.iter().find(|(name, _)| Some(&name[..]) == other) {
                Some((_, text)) => Ok(text.as_bytes().to_vec()),
                None => Err(std::io::ErrorKind::NotFound.into()),
            },
        };
        let files = KernelFiles::read_with_problems(Path::new(FILE), &[], &mut door, texts)?;
        let mut problems = files.problems().clone();
        let Some(kernel) = files.function(&call.kernel) else {
            panic!("no function `{}` in\n{}", call.kernel, self.text);
        };
        let arguments: Vec<_> = call.given.iter().map(Given::argument).collect();
        let block = call.block.map(Some);
        let request = Request {
            kernel,
            arguments: &arguments,
            dtypes: &[],
            block,
            archs: &[],
            symbol: &call.kernel,
            surroundings: None,
            is_checked: self.is_checked,
        };
        let instance = elaborate(&files, &request).map_err(|found| problems.extend(found)).ok();
        problems.sort();
        problems.into_result()?;
        instance.ok_or_else(Diagnostics::default)
    }

    /// The names of a function's parameters, as far as the text has them on the line of its `def`.
    fn parameters(&self, function: &str) -> Vec<String> {
        if self.language == Language::Operations {
            return operations::parameters(&self.text, function);
        }
        let head = format!("def {function}(");
        let Some((_, rest)) = self.text.split_once(&head) else { return Vec::new() };
        let list = rest.split([')', '\n']).next().unwrap_or_default();
        let names = list.split(',').map(|one| one.split([':', '=']).next().unwrap_or_default());
        names.map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()
    }
}

impl Call {
    /// What a number of the launch is: a scalar, or an extent or stride of a tensor.
    fn number(&self, expr: &Expr, scalar: Scalar) -> Const {
        let text = expr.to_string();
        let given = self.given.iter().find(|given| given.name == text);
        if let Some(value) = given.and_then(Given::scalar) {
            return value;
        }
        let dim = |name: &str| self.given.iter().find_map(|given| given.dim(name));
        let value = expr.value(&dim).unwrap_or_else(|| panic!("`{text}` has no value"));
        Const::int(scalar, value)
    }

    /// The map of a tensor, whose numbers are written outermost first.
    fn map(&self, map: &MapSpec) -> Passed {
        let numbers = |exprs: &Option<Vec<Expr>>| {
            let exprs = exprs.iter().flatten().rev();
            let number = |expr| self.number(expr, Scalar::I64).as_int().expect("it is one");
            exprs.map(number).collect()
        };
        Passed::Map(map.tensor.clone(), [numbers(&map.dims), numbers(&map.strides)])
    }
}

/// How the interpreter runs: loops that go wrong are given up soon.
fn options() -> Options {
    Options { most_turns: 1 << 16, most_idle_turns: 1 << 10, ..Options::default() }
}
