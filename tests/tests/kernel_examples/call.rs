// SPDX-License-Identifier: Apache-2.0
//! A kernel file, and calls of its functions on the interpreter. Tensors lie in allocations of
//! their own, and what is only written has never been written before: a hole in a result shows.

use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_kernel_ir::interp::{Finding, Memories, Memory, MemoryId, Options};
use kernpack_kernel_ir::{Const, Kernel, Scalar};
use kernpack_package::interpret::{InterpretError, Interpretable, Tensors};
use kernpack_package::{Held, Language, PackageText, WrittenPackage};
use kernpack_syntax::{Diagnostics, Texts};
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::{Arrival, Tensor, Value};
use kernpack_validators::plan::{Outcome, interpret};
use std::fmt;
use std::path::Path;

/// A file that has been read.
pub struct File {
    texts: Texts,
    package: WrittenPackage,
}

/// A function of a file.
pub struct Function {
    texts: Texts,
    ready: Interpretable,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// A tensor of its own.
    Tensor(Array),
    /// A tensor of that shape in the allocation of an argument before it, from an element on.
    Within {
        /// The number of that argument.
        of: usize,
        /// The element.
        from: i64,
        /// The extents.
        shape: Vec<i64>,
    },
    /// A number.
    Float(f64),
    /// An integer.
    Int(i64),
    /// An Optional that is left out.
    None,
}

/// A tensor: compact and row-major.
#[derive(Clone, Debug)]
pub struct Array {
    /// The type of its elements.
    pub element: Scalar,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Its elements; nothing where they were never written.
    pub values: Option<Vec<f64>>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The file's name, without its ending.
    pub file: String,
    /// The number.
    pub number: u32,
}

/// What is wrong at a line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The code of what is wrong.
    pub code: &'static str,
    /// The line.
    pub line: Line,
    /// The line of the other access of a race, or of what threads do in place of a barrier.
    pub other: Option<Line>,
}

/// What came of a call.
#[derive(Debug)]
pub struct Came {
    /// The elements of each allocation, in the order of the arguments that have one.
    pub tensors: Vec<Vec<f64>>,
    /// What is wrong.
    pub found: Vec<Found>,
    /// The kernel of each launch.
    pub launched: Vec<String>,
}

impl Array {
    /// A tensor that holds these values, as its type has them.
    pub fn of(element: Scalar, shape: &[i64], values: Vec<f64>) -> Array {
        assert_eq!(shape.iter().product::<i64>(), values.len() as i64);
        Array { element, shape: shape.to_vec(), values: Some(values) }
    }

    /// A tensor that nobody has written.
    pub fn fresh(element: Scalar, shape: &[i64]) -> Array {
        Array { element, shape: shape.to_vec(), values: None }
    }

    fn memory(&self, name: String) -> Memory {
        let memory = match &self.values {
            Some(values) => {
                let value = |value: &f64| match self.element.is_float() {
                    true => Const::float(self.element, *value),
                    false => Const::int(self.element, *value as i64),
                };
                Memory::of(name, self.element, &values.iter().map(value).collect::<Vec<_>>())
            }
            None => return fresh(name, self.element, &self.shape),
        };
        let shape: Vec<_> = self.shape.iter().map(|extent| *extent as u64).collect();
        memory.with_shape(&shape)
    }
}

/// Memory that nobody has written.
fn fresh(name: String, element: Scalar, shape: &[i64]) -> Memory {
    let shape: Vec<_> = shape.iter().map(|extent| *extent as u64).collect();
    let n_bytes = shape.iter().product::<u64>() as usize * element.bytes() as usize;
    Memory::fresh(name, element, n_bytes).with_shape(&shape)
}

fn values_of(memory: &Memory) -> Vec<f64> {
    let value = |known: Const| {
        let integer = || known.as_int().map(|integer| integer as f64);
        known.as_float().or_else(integer).expect("elements are numbers")
    };
    memory.elements().into_iter().map(value).collect()
}

/// The number that a type has in place of this one.
pub fn rounded(element: Scalar, value: f64) -> f64 {
    Const::float(element, value).as_float().expect("the type is a float")
}

fn dtype(element: Scalar) -> DType {
    DType::parse(&element.to_string()).expect("elements are dtypes")
}

impl Line {
    fn new(path: &str, number: u32) -> Line {
        let stem = Path::new(path).file_stem().unwrap_or_default();
        Line { file: stem.to_string_lossy().into_owned(), number }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.number)
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.code, self.line)?;
        self.other.as_ref().map_or(Ok(()), |other| write!(f, " with {other}"))
    }
}

/// What is wrong with a file, a line each.
fn told(problems: &Diagnostics, texts: &Texts) -> Vec<Found> {
    let found = problems.0.iter().map(|problem| {
        let mut lines = problem.labels.iter().filter_map(|label| {
            let text = texts.get(label.span.text?);
            let number = u32::try_from(text.position(label.span.start).0).ok()?;
            Some(Line::new(&text.name, number))
        });
        let line = lines.next().unwrap_or_else(|| Line::new("", 0));
        Found { code: problem.code, line, other: lines.next() }
    });
    found.collect()
}

fn finding(finding: &Finding, kernel: &Kernel) -> Found {
    let line = |place| {
        let place = kernel.place(place);
        Line::new(place.file.map_or("", |file| &kernel.files[file.index()]), place.line)
    };
    let other = finding.other.as_ref().map(|other| line(other.place));
    Found { code: finding.kind.code(), line: line(finding.place), other }
}

impl File {
    /// Reads a file of a folder, and what it takes in from others there.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(folder: &Path, name: &str) -> Result<File, Vec<Found>> {
        let (mut texts, language, name) =
            (Texts::default(), Language::Kernels, &format!("{name}.py"));
        let text = &std::fs::read_to_string(folder.join(name)).expect("the file is there");
        let reading = PackageText { language, name, text, base: folder, places: &[], specs: &[] }
            .read(&mut texts, Held::nothing());
        match reading.problems.has_errors() {
            true => Err(told(&reading.problems, &texts)),
            false => Ok(File { texts, package: reading.package }),
        }
    }

    /// A function with its kernels.
    ///
    /// # Errors
    /// What is wrong with these.
    pub fn function(&self, name: &str) -> Result<Function, Vec<Found>> {
        match Interpretable::of(&self.package, name, Held::nothing()) {
            Ok(ready) => Ok(Function { texts: self.texts.clone(), ready }),
            Err(InterpretError::Problems(problems)) => Err(told(&problems, &self.texts)),
            Err(other) => panic!("{other}"),
        }
    }
}

/// The address of the data of an argument that has an allocation of its own.
const fn address(number: usize) -> u64 {
    (number as u64 + 1) << 32
}

/// The arguments as a call passes them, and the allocations of those that have one.
fn passed(args: &[Arg], memories: &mut Memories) -> (Vec<Value>, Vec<Option<MemoryId>>) {
    let tensor = |data: u64, element: Scalar, shape: &[i64]| {
        let (dtype, shape, strides) = (dtype(element), shape.to_vec(), None);
        let device = (DeviceType::CUDA.0, 0);
        Value::Tensor(Tensor { data, device, dtype, shape, strides, ..Tensor::default() })
    };
    let (mut values, mut held): (Vec<Value>, Vec<Option<MemoryId>>) = (vec![], vec![]);
    for (number, arg) in args.iter().enumerate() {
        let (value, memory) = match arg {
            Arg::Float(value) => (Value::Float(*value), None),
            Arg::Int(value) => (Value::Int(*value), None),
            Arg::None => (Value::None, None),
            Arg::Tensor(array) => {
                let memory = memories.add(array.memory(format!("argument{number}")));
                (tensor(address(number), array.element, &array.shape), Some(memory))
            }
            Arg::Within { of, from, shape } => {
                let memory = memories.get(held[*of].expect("a tensor of its own"));
                let offset = *from as u64 * u64::from(memory.element.bytes());
                (tensor(address(*of) + offset, memory.element, shape), None)
            }
        };
        values.push(value);
        held.push(memory);
    }
    (values, held)
}

/// Calls a function on a device that has all that kernels ask for.
///
/// # Errors
/// Why the call is refused.
pub fn call(function: &Function, args: &[Arg]) -> Result<Came, String> {
    call_on(90, function, args)
}

/// Calls a function, whose workspaces are of float32, on a device of a compute capability, such as
/// 90 for 9.0.
///
/// # Errors
/// Why the call is refused.
pub fn call_on(cc: i64, function: &Function, args: &[Arg]) -> Result<Came, String> {
    call_on_device([132, 227 << 10, cc], function, args)
}

/// The same on a device of so many multiprocessors, bytes of shared memory and a capability.
///
/// # Errors
/// Why the call is refused.
pub fn call_on_device(facts: [i64; 3], function: &Function, args: &[Arg]) -> Result<Came, String> {
    let mut memories = Memories::default();
    let (values, held) = passed(args, &mut memories);
    let arguments = Arguments::new(&values, Arrival::DLTensor).on_device(facts);
    let plan = &function.ready.plan;
    let accepted = match interpret(plan, &arguments, arguments.address(), arguments.count()) {
        Outcome::Accepted(accepted) => accepted,
        Outcome::Refused(refused) => return Err(format!("{}: {}", refused.kind, refused.message)),
        other => panic!("{other:?}"),
    };
    let at = |address: u64| {
        let number = usize::try_from(address >> 32).ok()?.checked_sub(1)?;
        Some(((*held.get(number)?)?, address & u64::from(u32::MAX)))
    };
    let workspaces = accepted.workspaces.iter();
    let workspaces: Vec<_> = workspaces
        .map(|shape| memories.add(fresh("workspace".into(), Scalar::F32, shape)))
        .collect();
    let tensors = Tensors { at: &at, results: &[], workspaces: &workspaces };
    let ran =
        function.ready.run(&accepted, &tensors, &mut memories, &Options::default(), Some(facts));
    let mut came = Came { tensors: vec![], found: vec![], launched: vec![] };
    match ran {
        Ok(ran) => ran.iter().for_each(|ran| {
            let findings = &ran.outcome.findings;
            came.found.extend(findings.iter().map(|one| finding(one, &ran.kernel)));
            came.launched.push(ran.kernel.name.clone());
        }),
        Err(InterpretError::Problems(problems)) => came.found = told(&problems, &function.texts),
        Err(other) => panic!("{other}"),
    }
    for (number, memory) in held.iter().enumerate().filter_map(|(i, id)| Some((i, (*id)?))) {
        let memory = memories.get(memory);
        if came.found.is_empty() {
            assert_eq!(memory.first_unwritten(), None, "all of argument {number} is written");
        }
        came.tensors.push(values_of(memory));
    }
    Ok(came)
}
