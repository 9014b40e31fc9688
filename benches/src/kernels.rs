// SPDX-License-Identifier: Apache-2.0
//! Kernels that kernpack compiles itself: what it takes to make PTX of a file beside what the
//! assembler takes for that PTX, whether a long kernel costs as much a line as a short one, and
//! what the interpreter takes for one operation of one thread.

use crate::builds::thread_milliseconds;
use crate::figure::{Figure, Target};
use crate::series::{MIN_ROUNDS, Medians, interleave, median};
use crate::subject::build;
use crate::toolchain;
use anyhow::{Context, Result, anyhow};
use kernpack_compiler::kernel_sources;
use kernpack_compiler::source::assembler::{AssembleOptions, Assembler};
use kernpack_compiler::source::kernel::ptx_text;
use kernpack_compiler::source::nvjitlink::NvJitLink;
use kernpack_kernel_ir::interp::{Memory, Trial};
use kernpack_kernel_ir::kernel::{Facts, Kernel, ParamKind};
use kernpack_kernel_ir::{Const, Scalar, expand};
use kernpack_kernel_lang::argument::{Argument, Constant, Dim, TensorArg};
use kernpack_kernel_lang::elaborate::{Request, elaborate};
use kernpack_kernel_lang::file::KernelFiles;
use kernpack_layout::{Int, Layout, Mode, Tuple};
use kernpack_machine::Arch;
use kernpack_package::package_file::Reading;
use kernpack_package::{Held, Language, PackageText, WrittenPackage};
use kernpack_syntax::{Diagnostics, Texts};
use kernpack_validators::Expr;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The kernel files whose own share is measured.
const EXAMPLES: [&str; 7] =
    ["add_one", "elementwise", "reduce_sum", "softmax", "rms_norm", "transpose", "matmul"];
/// The most that all but the assembler may take of the assembler's time.
const OWN_SHARE: f64 = 0.4;
/// Packages that are built of a kernel file, and what that may take of nvJitLink's time for the
/// kernel of the first: 15 ms and 25 ms where that is 4.1 ms.
const BUILDS: [(&str, f64); 2] = [("add_one", 3.66), ("reduce_sum", 6.1)];
/// Lines of the kernels whose growth is measured; the first is the reference.
const FEW_LINES: usize = 100;
/// Longer ones, with how many times what a line of the reference costs one of theirs may: more is
/// no longer linear. What is known of the longest is more than the caches next to a processor hold.
const MANY_LINES: [(usize, f64); 2] = [(1000, 1.25), (10_000, 1.5)];
/// The most that the interpreter may take for an operation of a thread, in nanoseconds.
const OPERATION_LIMIT: f64 = 10.0;
/// The rows and columns of what the interpreter sums.
const INTERPRETED: [usize; 2] = [8, 4096];

/// A kernel of a text, with arguments as a packed function passes them.
struct Subject {
    file: PathBuf,
    text: String,
    kernel: &'static str,
    arguments: Vec<Argument>,
    threads: u32,
}

/// A kernel file with packed functions.
struct KernelFile {
    name: String,
    text: String,
    folder: PathBuf,
}

/// All figures of kernels.
///
/// # Errors
/// Where there is no nvJitLink, or a kernel is refused.
pub fn measure() -> Result<Vec<Figure>> {
    let assembler = NvJitLink::find()?;
    let mut figures = Vec::new();
    for name in EXAMPLES {
        figures.push(measure_share(name, &assembler)?);
    }
    figures.extend(measure_builds(&assembler)?);
    figures.extend(measure_growth()?);
    figures.push(measure_interpreter()?);
    Ok(figures)
}

/// The sum of rows, of the examples.
fn sum_of_rows() -> Result<Subject> {
    let KernelFile { name, text, folder } = KernelFile::read("../examples/kernels", "reduce_sum")?;
    let x = tensor("x", &[("m", 1), ("n", 4)], false);
    let arguments = vec![x, tensor("out", &[("m", 1)], true), int(256), int(4)];
    Ok(Subject {
        file: folder.join(name),
        text,
        kernel: "sum_row_vectors",
        arguments,
        threads: 256,
    })
}

fn int(number: i128) -> Argument {
    Argument::Constant(Constant::Int(number.into()))
}

/// A compact float32 tensor. Each extent is a symbol, with a number that divides it.
fn tensor(name: &str, extents: &[(&str, i64)], is_written: bool) -> Argument {
    let dim = |expr: &Expr, divisor| match expr.as_int() {
        Some(number) => Int::Known(number),
        None => {
            let facts = Facts { min: 0, max: i64::from(i32::MAX), divisor };
            Int::Dynamic(Dim { expr: expr.clone(), facts, step: 1 })
        }
    };
    let (mut stride, mut divisor) = (Expr::Int(1), 1);
    let mut modes = Vec::new();
    for (symbol, divides) in extents.iter().rev() {
        let extent = Expr::symbol(*symbol);
        let mode = Mode::new(dim(&extent, *divides), dim(&stride, divisor));
        modes.push(Tuple::Leaf(mode));
        stride = if modes.len() == 1 { extent } else { extent * stride };
        divisor *= divides;
    }
    modes.reverse();
    Argument::Tensor(Box::new(TensorArg {
        name: name.into(),
        pointer: Expr::symbol(name),
        element: Scalar::F32,
        align: 16,
        is_written,
        is_alone: false,
        view: Layout::Node(modes),
        offset: Int::Known(0),
    }))
}

impl Subject {
    /// From the text to operations.
    fn elaborate(&self) -> Result<Kernel> {
        let refused = |problems: Diagnostics| anyhow!("{}: {problems}", self.kernel);
        let mut texts = Texts::default();
        let mut door = |path: &Path| match path == self.file {
            true => Ok(self.text.clone().into_bytes()),
            false => std::fs::read(path),
        };
        let files = KernelFiles::read(&self.file, &mut door, &mut texts).map_err(refused)?;
        let kernel = files.function(self.kernel).context("the file has the kernel")?;
        let block = [self.threads, 1, 1].map(Some);
        let (arguments, symbol) = (&self.arguments[..], self.kernel);
        let request = Request {
            kernel,
            arguments,
            dtypes: &[],
            block,
            archs: &[],
            symbol,
            surroundings: None,
            is_checked: false,
        };
        Ok(elaborate(&files, &request).map_err(refused)?.kernel)
    }
}

impl KernelFile {
    fn read(folder: &str, stem: &str) -> Result<KernelFile> {
        let (folder, name) = (toolchain::folder().join(folder), format!("{stem}.py"));
        let text = std::fs::read_to_string(folder.join(&name))
            .with_context(|| format!("cannot read `{name}` of {folder:?}"))?;
        Ok(KernelFile { name, text, folder })
    }

    /// The package that the text is.
    fn package(&self, arch: Arch) -> Result<WrittenPackage> {
        let mut texts = Texts::default();
        let KernelFile { name, text, folder } = self;
        let language = Language::Kernels;
        let text = PackageText { language, name, text, base: folder, places: &[], specs: &[] };
        let mut reading = text.read(&mut texts, Held::nothing());
        reading.overrule_archs(&[arch]);
        let Reading { package, problems, .. } = reading;
        problems.into_result().map_err(|problems| anyhow!("{name}: {problems}"))?;
        Ok(package)
    }

    /// From the text to the PTX of all kernels that are launched.
    fn ptx(&self, arch: Arch) -> Result<Vec<String>> {
        let sources = kernel_sources(&self.package(arch)?, Held::nothing());
        let sources = sources.map_err(|problems| anyhow!("{}: {problems}", self.name))?;
        let ptx = sources.iter().map(|(source, _)| {
            ptx_text(source, arch).map_err(|errors| anyhow!("{}: {errors:?}", self.name))
        });
        ptx.collect()
    }

    /// From the text to a shared object.
    fn build(&self, arch: Arch) -> Result<Vec<u8>> {
        build(&self.package(arch)?)
    }
}

fn milliseconds<T>(run: impl FnOnce() -> Result<T>) -> f64 {
    let start = Instant::now();
    run().expect("it ran before");
    start.elapsed().as_secs_f64() * 1e3
}

fn measure_share(stem: &str, assembler: &NvJitLink) -> Result<Figure> {
    let (file, arch) = (KernelFile::read("../examples/kernels", stem)?, arch()?);
    let ptx = file.ptx(arch)?;
    let assemble = || assemble_all(assembler, &ptx, arch);
    assemble()?;
    let name = format!("kernel file to PTX beside nvJitLink, {stem}");
    Figure::measure(name, "ms", Target::Ratio(OWN_SHARE), || {
        let ours = || milliseconds(|| file.ptx(arch));
        Ok(interleave(MIN_ROUNDS, ours, || milliseconds(assemble)))
    })
}

/// The architecture that machine code is made for.
fn arch() -> Result<Arch> {
    "sm_90".parse().map_err(|error| anyhow!("{error}"))
}

fn assemble_all(assembler: &NvJitLink, ptx: &[String], arch: Arch) -> Result<()> {
    for ptx in ptx {
        assembler.assemble(ptx, "kernels", arch, &AssembleOptions::default())?;
    }
    Ok(())
}

/// A build of each package, from a kernel file to a shared object with machine code.
fn measure_builds(assembler: &NvJitLink) -> Result<Vec<Figure>> {
    let (arch, [(first, _), ..]) = (arch()?, BUILDS);
    let ptx = KernelFile::read("kernels", first)?.ptx(arch)?;
    let assemble = || assemble_all(assembler, &ptx, arch);
    assemble()?;
    let mut figures = Vec::new();
    for (stem, limit) in BUILDS {
        let file = KernelFile::read("kernels", stem)?;
        file.build(arch)?;
        let title = format!("kernel file to shared object beside nvJitLink's `{first}`, {stem}");
        figures.push(Figure::measure(title, "ms", Target::Ratio(limit), || {
            let ours = || milliseconds(|| file.build(arch));
            anyhow::Ok(interleave(MIN_ROUNDS, ours, || milliseconds(assemble)))
        })?);
    }
    Ok(figures)
}

/// A kernel of so many lines, each of which computes with what others have.
fn long_kernel(n_lines: usize) -> Subject {
    let mut text = "import kernpack as kp\n\n\n@kp.kernel\ndef long(x):\n".to_string();
    text += "    i = kp.thread_idx()[0]\n    a0, a1, a2, a3 = x[i], x[i], x[i], x[i]\n";
    for line in 0..n_lines - 6 {
        let [a, b, c] = [line, line + 1, line + 2].map(|number| number % 4);
        text += &format!("    a{a} = a{b} * a{c} + {line}\n");
    }
    text += "    x[i] = a0 + a1 + a2 + a3\n";
    let arguments = vec![tensor("x", &[("n", 1)], true)];
    Subject { file: "long.py".into(), text, kernel: "long", arguments, threads: 128 }
}

/// The cost of a line from the text to operations, in kernels of several lengths, all measured in
/// the same rounds.
fn measure_growth() -> Result<Vec<Figure>> {
    let longest = MANY_LINES[MANY_LINES.len() - 1].0;
    let subject = |n_lines| (n_lines, long_kernel(n_lines));
    let (first, longer) = (subject(FEW_LINES), MANY_LINES.map(|(n_lines, _)| subject(n_lines)));
    for (_, subject) in longer.iter().chain([&first]) {
        subject.elaborate()?;
    }
    // As many lines in each sample, so that all of them find the machine alike.
    let sample = |(n_lines, subject): &(usize, Subject)| {
        let (n_runs, busy) = (longest / n_lines, thread_milliseconds());
        for _ in 0..n_runs {
            subject.elaborate().expect("it was elaborated before");
        }
        (thread_milliseconds() - busy) * 1e3 / (n_lines * n_runs) as f64
    };
    let mut samples = [const { Vec::new() }; MANY_LINES.len()];
    let (mut reference, mut control) = (Vec::new(), Vec::new());
    for _ in 0..MIN_ROUNDS {
        reference.push(sample(&first));
        for (subject, samples) in longer.iter().zip(&mut samples) {
            samples.push(sample(subject));
        }
        control.push(sample(&first));
    }
    let (reference, control) = (median(reference), median(control));
    let figure = |(samples, (n_lines, limit)): (Vec<f64>, (usize, f64))| Figure {
        name: format!(
            "a line of a kernel of {n_lines} against one of {FEW_LINES} (processor time)"
        ),
        unit: "us",
        medians: Medians { ours: median(samples), reference, control },
        target: Target::Ratio(limit),
    };
    Ok(samples.into_iter().zip(MANY_LINES).map(figure).collect())
}

/// The interpreter on the sum of some rows.
fn measure_interpreter() -> Result<Figure> {
    let sum = sum_of_rows()?;
    let mut kernel = sum.elaborate()?;
    expand(&mut kernel);
    let [m, n] = INTERPRETED;
    let params = kernel.params.clone();
    let trial = Trial::of(kernel).grid([m as u32, 1, 1]).block([sum.threads, 1, 1]);
    let tensor = |name: &str, count: usize| Memory::new(name, Scalar::F32, vec![0; count * 4]);
    let mut trial =
        params.iter().fold(trial, |trial, param| match (&param.kind, param.name.as_str()) {
            (ParamKind::Pointer(_), "x") => trial.tensor(tensor("x", m * n)),
            (ParamKind::Pointer(_), _) => trial.tensor(tensor("out", m)),
            (ParamKind::Scalar(scalar, _), _) => trial.number(Const::int(*scalar, n as i64)),
            (ParamKind::Map(_), _) => trial,
        });
    let outcome = trial.run();
    anyhow::ensure!(outcome.findings.is_empty() && outcome.is_complete, "{:?}", outcome.findings);
    Figure::measure(
        "an operation of a thread, interpreted",
        "ns",
        Target::Most(OPERATION_LIMIT),
        || {
            let mut sample = || {
                let start = Instant::now();
                let outcome = trial.run();
                start.elapsed().as_secs_f64() * 1e9 / outcome.thread_ops as f64
            };
            let samples: Vec<_> = (0..2 * MIN_ROUNDS).map(|_| sample()).collect();
            let every_other =
                |first: usize| samples.iter().skip(first).step_by(2).copied().collect();
            let (ours, control) = (median(every_other(0)), median(every_other(1)));
            Ok(Medians { ours, reference: ours, control })
        },
    )
}
