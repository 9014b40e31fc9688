// SPDX-License-Identifier: Apache-2.0
//! Package files: a [`Package`] as TOML text.
//!
//! ```toml
//! [package]
//! name = "norm"
//! link = ["libblas.so.3"]                                # sonames that the shared object is to load first; optional
//! submit = "auto"                                        # or "plain", "graph": how launches on a GPU are submitted; optional, also of a function
//!
//! [[function]]
//! signature = "rms(x: Tensor([m, d], T), y: Tensor([m, d], T, mut)) where T in {float32, float64}"
//! doc = "y = x / rms(x)"                                 # optional
//! workspace = { ws = "Tensor([4*m], uint8, align=128)" } # optional, from the environment's allocator
//!
//! [[function.launch]]                                    # in order; every launch whose `when` holds runs
//! when = "d <= 4096"                                     # optional
//! source = { host = "norm.c", include = ["."], define = { W = "4" }, options = ["-ffast-math"] }
//! kernel = "rms_{T}"                                     # or `symbol`; {T}: the name of the dtype that T is
//! args = ["x", "y", "ws", "m: int32", "d: int32"]
//! returns = "int"                                        # anything but 0 is a failure; default: "void"
//! ```
//!
//! A launch on a GPU has a layout, and a source that is a file of GPU code, or several for
//! different devices:
//!
//! ```toml
//! source = [{ cubin = "norm.cubin", arch = "sm_90a" }, { ptx = "norm.ptx" }]   # or one: { fatbin = "norm.fatbin" }
//! # or CUDA C++: { cuda = "norm.cu", arch = ["sm_90a", "compute_80"], include = ["."], define = { W = "4" }, options = ["-use_fast_math"] },
//! # where `kernel` is as C++ names it: "rms<{T}, 128>", {T}: the C++ type of the dtype that T is
//! # or Triton's cubin, with the JSON that Triton wrote beside it: { triton = "norm.cubin", json = "norm.json" }, whose launch has no `block`,
//! # `smem`, `cluster`, `cooperative` and `pdl`, and needs no `kernel`: the JSON says them
//! grid = ["ceildiv(m, 4)"]                               # blocks, one to three numbers or expressions, x first
//! block = [32, 4]                                        # threads
//! smem = "4*d"                                           # bytes of dynamic shared memory; default: 0
//! attr = { cluster = [2], cooperative = false, pdl = false, priority = 0, stream = "s" }
//! ```
//!
//! A function with one launch may have `source`, `kernel`, `args` and `returns` itself, and its
//! layout as `launch = { grid = […], … }`; one without any only checks its arguments. Paths are
//! relative to the package file.
//!
//! Problems are collected, all of them, as diagnostics whose spans are bytes of the TOML text:
//! those of a signature or an expression inside a string too. Sources of later versions are known,
//! and refused by name.
//!
//! ```
//! use kernpack_package::{WrittenLaunch, package_file};
//! use std::path::Path;
//!
//! let text = r#"
//!     [package]
//!     name = "demo"
//!     [[function]]
//!     signature = "twice(x: Tensor([n], float32), y: Tensor([n], float32, mut))"
//!     source = { host = "twice.c" }
//!     kernel = "twice"
//!     args = ["x", "y", "n"]
//! "#;
//! let package = package_file::parse(text, Path::new("")).unwrap();
//! let WrittenLaunch::Whole(launch) = &package.functions[0].launches[0] else { panic!("not Triton's") };
//! assert_eq!(launch.kernel.to_string(), "twice");
//! ```
//!
//! Not here: whether the files that sources name exist, and what is in them.

mod c_option;
mod fields;
mod function;
mod launch;
mod layout;
mod source;
mod submit;
mod triton;

#[cfg(test)]
mod tests;

use self::fields::{Fields, Reader, is_identifier, no_identifier};
use self::function::ReadFunction;
use crate::kernel_file::KernelFile;
use crate::package::{Function, Overruled, Package, WrittenLaunch, WrittenPackage, settle_archs};
use crate::target::is_library_name;
use kernpack_kernel_ir::timeline::{BUFFER, UNIT};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Diagnostics, Placed, Snippet, Span, bidirectional};
use kernpack_validators::Signature;
use kernpack_validators::param::Pointer;
use std::path::Path;
use toml::de::DeTable;

/// The contents of a package file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The package as far as it could be read: the functions in which nothing is wrong.
    pub package: WrittenPackage,
    /// The functions in which something is wrong, as far as they could be read.
    pub unsound: Vec<Function<WrittenLaunch>>,
    /// Whether all libraries of `link` could be read.
    pub is_link_known: bool,
    /// Everything that is wrong with the text, in its order. Behind errors of TOML itself, and
    /// characters that change the direction of the text, nothing else is looked for.
    pub problems: Diagnostics,
}

impl Reading {
    /// A package without a name and without functions.
    pub(crate) fn empty() -> Reading {
        Reading {
            package: Package::new("", vec![]),
            unsound: vec![],
            is_link_known: true,
            problems: Diagnostics::default(),
        }
    }

    /// Has every CUDA C++ source compiled for these architectures.
    pub fn overrule_archs(&mut self, archs: &[Arch]) -> Overruled {
        Overruled::of(self.package.functions.iter_mut().chain(&mut self.unsound), archs)
    }

    /// Has every CUDA C++ source compiled for these architectures whose `arch` is not written, and
    /// every kernel file where there is an assembler for them.
    pub fn settle_archs(&mut self, archs: &[Arch], has_assembler: bool) {
        let functions = self.package.functions.iter_mut().chain(&mut self.unsound);
        settle_archs(functions, archs, has_assembler);
    }

    /// Has the code of every kernel file without the assertions that are made as it runs.
    pub fn leave_asserts_out(&mut self) {
        self.kernel_files().for_each(|file| file.asserts = false);
    }

    /// Has the code of every kernel file check its indices as it runs.
    pub fn check_accesses(&mut self) {
        self.kernel_files().for_each(|file| file.checked = true);
    }

    fn kernel_files(&mut self) -> impl Iterator<Item = &mut KernelFile> {
        let functions = self.package.functions.iter_mut().chain(&mut self.unsound);
        let launches = functions.flat_map(|function| &mut function.launches);
        launches.filter_map(WrittenLaunch::kernel_file_mut)
    }

    /// Whether any launch is of a kernel that is written here.
    pub fn has_kernels(&self) -> bool {
        let functions = self.package.functions.iter().chain(&self.unsound);
        let mut launches = functions.flat_map(|function| &function.launches);
        launches.any(|launch| launch.kernel_file().is_some())
    }
}

/// A name for the buffer that nothing in a signature has.
fn buffer_name(signature: &Signature) -> String {
    let text = signature.to_string();
    let mut name = BUFFER.to_string();
    while text.contains(&name) {
        name.push('_');
    }
    name
}

impl WrittenPackage {
    /// Has the code of every kernel file write down what it waits for. Functions that launch such
    /// kernels take one argument more, the last: the address of a buffer, as
    /// [`timeline`](kernpack_kernel_ir::timeline) has it. So all arguments are passed.
    pub fn time_waits(&mut self) {
        for function in &mut self.functions {
            let launches = function.launches.iter_mut();
            let files: Vec<_> = launches.filter_map(WrittenLaunch::kernel_file_mut).collect();
            if !files.is_empty() {
                let buffer = Pointer { dtype: None, nonnull: true, align: Some(UNIT) };
                let name = buffer_name(&function.signature);
                let passed = function.signature.clone().without_defaults();
                function.signature = passed.param(&name, buffer);
                files.into_iter().for_each(|file| file.timed = Some(name.clone()));
            }
        }
    }
}

/// Reads the text of a package file; its problems have their places there. Relative paths in it
/// start at `base`; no file is opened.
///
/// # Errors
/// Everything that is wrong with the text.
pub fn parse<'t>(text: impl Into<Snippet<'t>>, base: &Path) -> Result<WrittenPackage, Diagnostics> {
    let Reading { package, problems, .. } = read(text, base);
    problems.into_result().map(|()| package)
}

/// The same, with what could be read where something is wrong.
pub fn read<'t>(text: impl Into<Snippet<'t>>, base: &Path) -> Reading {
    let file = text.into();
    let mut reader = Reader::new(file, base);
    let mut package = Package::new("", vec![]);
    let (mut unsound, mut is_link_known) = (vec![], false);
    // What a person reads has to be what the program reads, in comments too.
    bidirectional(file).into_iter().for_each(|problem| _ = reader.report(problem));
    let (document, errors) = DeTable::parse_recoverable(file.text);
    for error in &errors {
        let problem = toml_error(&reader, error);
        reader.report(problem);
    }
    if reader.n_problems() == 0 {
        let mut fields = Fields::new(document.get_ref(), reader.span_of(0..0), "a package file");
        let header = reader.required_table(&mut fields, "package", "this file has no `[package]`");
        if let Some(mut header) = header {
            package.name = name(&mut reader, &mut header);
            package.submit = submit::read(&mut reader, &mut header).unwrap_or_default();
            let n_problems = reader.n_problems();
            package.link = link(&mut reader, &mut header);
            header.finish(&mut reader);
            is_link_known = reader.n_problems() == n_problems;
        }
        let mut functions = function::functions(&mut reader, &mut fields);
        fields.finish(&mut reader);
        check_clashes(&mut reader, &mut functions);
        for ReadFunction { function, is_sound } in functions {
            if is_sound { &mut package.functions } else { &mut unsound }.push(function);
        }
    }
    Reading { package, unsound, is_link_known, problems: reader.into_problems() }
}

/// An error of the TOML parser, which words it as we do.
fn toml_error(reader: &Reader<'_>, error: &toml::de::Error) -> Diagnostic {
    let span = reader.span_of(error.span().unwrap_or_default());
    let (message, expected) = match error.message().split_once(", expected ") {
        Some((message, expected)) => (message, format!("expected {expected}")),
        None => (error.message(), String::new()),
    };
    Diagnostic::new("toml", message).label(span, expected)
}

/// The package's name: empty where it is none, as names are made of it.
fn name(reader: &mut Reader<'_>, header: &mut Fields<'_>) -> String {
    let name = reader.required_string(header, "name", "the package needs a `name`");
    let Some(Snippet { text: name, span, .. }) = name else { return String::new() };
    check_name(name, span).into_iter().for_each(|problem| _ = reader.report(problem));
    if is_identifier(name) { name.to_string() } else { String::new() }
}

/// The problem of a package's name at that place.
pub(crate) fn check_name(name: &str, span: Span) -> Option<Diagnostic> {
    if !is_identifier(name) {
        return Some(no_identifier("the package's name", name, span));
    }
    // What every header starts with has such names, and a package's functions begin with its own.
    let is_reserved = name == "kernpack" || name.starts_with("kernpack_");
    is_reserved.then(|| {
        let message = format!("a package cannot have the name `{name}`");
        let problem = Diagnostic::new("reserved-name", message);
        let problem = problem.label(span, "what begins so in C is kernpack's own");
        problem.help("choose another name")
    })
}

/// The package's libraries.
fn link(reader: &mut Reader<'_>, header: &mut Fields<'_>) -> Vec<Placed<String>> {
    let link = reader.strings(header, "link");
    for soname in link.iter().filter(|soname| !is_library_name(soname.text)) {
        let message = format!("`{}` cannot be the name of a shared library", soname.text);
        let problem = Diagnostic::new("bad-name", message).label(soname.span, "not a soname");
        reader.report(problem.help("name it as loaders do: `libblas.so.3`, without a folder"));
    }
    link.iter().map(owned).collect()
}

/// A text of its own, which knows where it was written.
fn owned(text: &Snippet<'_>) -> Placed<String> {
    Placed::new(text.text.to_string(), text.span)
}

/// No two entry points have one name, results' twins included: a function whose name is taken is
/// not sound.
fn check_clashes(reader: &mut Reader<'_>, functions: &mut [ReadFunction]) {
    for (number, problem) in clashes(functions.iter().map(|read| &read.function.signature)) {
        reader.report(problem);
        functions[number].is_sound = false;
    }
}

/// The functions of which an entry point has a name that another one has already, by number.
pub(crate) fn clashes<'s>(
    signatures: impl Iterator<Item = &'s Signature>,
) -> Vec<(usize, Diagnostic)> {
    let names = signatures.enumerate();
    let names = names.flat_map(|(number, signature)| entry_points(number, signature));
    let names: Vec<_> = names.filter(|entry_point| !entry_point.name.is_empty()).collect();
    let clash = |(i, EntryName { name, span, remark, function }): (usize, &EntryName)| {
        let clash = names[..i].iter().find(|other| other.name == *name)?;
        let message = format!("two functions of the package are `{name}`");
        let problem = Diagnostic::new("name-clash", message)
            .label(*span, remark.as_str())
            .label(clash.span, clash.remark.as_str());
        Some((*function, problem.help("rename one")))
    };
    names.iter().enumerate().filter_map(clash).collect()
}

/// The name of a function's variant, with where it comes from and in which words.
struct EntryName {
    name: String,
    span: Span,
    remark: String,
    /// The function's number.
    function: usize,
}

/// The names of a function's variants.
fn entry_points(function: usize, signature: &Signature) -> Vec<EntryName> {
    let named = |name, remark| EntryName { name, span: signature.span, remark, function };
    let own = named(signature.name.clone(), "this function".to_string());
    let twin = signature.out_variant().map(|twin| {
        let remark = format!("has results, and so a variant `{}`", twin.name);
        named(twin.name, remark)
    });
    [own].into_iter().chain(twin).collect()
}
