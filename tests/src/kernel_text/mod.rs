// SPDX-License-Identifier: Apache-2.0
//! Kernels of the suite and of the language's page: a file, launches of its kernels on the
//! interpreter, and expressions.
//!
//! ```text
//! add[1, 32](float32[1, 2, 3], mut float32[0, 0, 0], int32(3), "text")
//! out = float32[2, 3, 4]
//! ```
//! A [launch](call) is the kernel's name, its grid and block, and what its parameters are given.
//! What comes of it stands below: what is wrong with the kernel or, where nothing is, what it
//! prints, what the interpreter finds, and what the tensors hold that it may write.
//! [`expression`] has lines of an expression and what it gives.

mod argument;
pub mod call;
pub mod expression;

use argument::Given;
use kernpack_kernel_ir::interp::{self, Memories, Options};
use kernpack_kernel_ir::kernel::ParamKind;
use kernpack_kernel_ir::{Const, Scalar, expand, verify};
use kernpack_kernel_lang::elaborate::{Instance, Request, elaborate};
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_syntax::{Diagnostics, Texts};
use kernpack_validators::{Expr, KernelArg};
use std::fmt::Write;
use std::path::Path;

/// What a file without an import of kernpack begins with. That line is counted.
const IMPORT: &str = "import kernpack as kp\n";

/// A file of kernels.
#[derive(Clone, Debug, Default)]
pub struct KernelText(String);

/// A launch, as it was read.
#[derive(Debug)]
pub struct Call {
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
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
        KernelText(if is_whole { text.to_string() } else { format!("{IMPORT}{text}") })
    }

    /// Makes a launch.
    ///
    /// # Errors
    /// What is wrong with the file or the kernel, as it is shown.
    pub fn run(&self, call: &Call) -> Result<Ran, String> {
        let mut texts = Texts::default();
        let made = self.elaborate(call, &mut texts);
        let instance = made.map_err(|problems| shown(&problems, &texts))?;
        let mut told = shown(&instance.warnings, &texts);
        let mut kernel = instance.kernel;
        verify::verify(&kernel).map_err(|problems| shown(&problems, &texts))?;
        expand(&mut kernel);
        let mut memories = Memories::default();
        let names = call.given.iter().map(|given| given.name.clone());
        let ids: Vec<_> = names
            .zip(&call.given)
            .map(|(name, given)| given.tensor(&name).map(|memory| (name, memories.add(memory))))
            .collect();
        let arguments = instance.args.iter().zip(&kernel.params).map(|(arg, param)| {
            let KernelArg::Value(expr, _) = arg else { unreachable!("kernels take values") };
            match param.kind {
                ParamKind::Pointer(_) => {
                    let found = ids.iter().flatten().find(|(name, _)| *name == expr.to_string());
                    let memory = found.expect("pointers are tensors'").1;
                    interp::Argument::Tensor { memory, offset: 0 }
                }
                ParamKind::Scalar(scalar, _) => interp::Argument::Scalar(call.number(expr, scalar)),
            }
        });
        let arguments = arguments.collect();
        let launch =
            interp::Launch { kernel: &kernel, grid: call.grid, block: call.block, arguments };
        let outcome = interp::run(&launch, &mut memories, &Options::default());
        let found: Vec<_> = outcome.findings.iter().map(|one| one.diagnostic(&kernel)).collect();
        let found = shown(&Diagnostics(found), &texts);
        if !told.is_empty() && !found.is_empty() {
            told.push('\n');
        }
        told.push_str(&found);
        let written = ids.iter().zip(&call.given).filter_map(|(tensor, given)| {
            let (name, id) = tensor.as_ref()?;
            given.is_written().then(|| (name.clone(), argument::elements(memories.get(*id))))
        });
        Ok(Ran { told, printed: outcome.printed, written: written.collect() })
    }

    /// The kernel of a launch, its parameters' names put to what they are given.
    fn elaborate(&self, call: &Call, texts: &mut Texts) -> Result<Instance, Diagnostics> {
        let mut door = |path: &Path| match path.to_str() {
            Some("kernels.py") => Ok(self.0.as_bytes().to_vec()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        };
        let files = KernelFiles::read(Path::new("kernels.py"), &mut door, texts)?;
        let Some(kernel) = files.function(&call.kernel) else {
            panic!("no function `{}` in\n{}", call.kernel, self.0);
        };
        let arguments: Vec<_> = call.given.iter().map(Given::argument).collect();
        let block = call.block.map(Some);
        let request =
            Request { kernel, arguments: &arguments, dtypes: &[], block, symbol: &call.kernel };
        elaborate(&files, &request)
    }

    /// The names of a function's parameters, as far as the text has them on the line of its `def`.
    fn parameters(&self, function: &str) -> Vec<String> {
        let head = format!("def {function}(");
        let Some((_, rest)) = self.0.split_once(&head) else { return Vec::new() };
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
}

/// Diagnostics, each place as a line of the text and the piece that it is about.
fn shown(problems: &Diagnostics, texts: &Texts) -> String {
    let mut shown = String::new();
    for problem in &problems.0 {
        let _ = writeln!(shown, "{}[{}]: {}", problem.severity, problem.code, problem.message);
        for label in &problem.labels {
            let Some(id) = label.span.text else { continue };
            let text = texts.get(id);
            let (line, column) = text.position(label.span.start);
            let piece = text.characters.get(label.span.start..label.span.end);
            let piece = piece.and_then(|piece| piece.lines().next()).unwrap_or_default();
            let place = format!("{}:{column} `{piece}` {}", line, label.text);
            let _ = writeln!(shown, "  {}", place.trim_end());
        }
        if let Some(help) = &problem.help {
            let _ = writeln!(shown, "  help: {help}");
        }
    }
    shown.trim_end().to_string()
}
