// SPDX-License-Identifier: Apache-2.0
//! Packages that are put together in Rust: the tables of a package file, with the same keys. What
//! they mean, whoever reads the file says, and what is wrong with them too.

use crate::Package;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The tables of a package file.
#[derive(Clone, Debug, Serialize)]
struct Document {
    package: Head,
    function: Vec<Function>,
}

/// `[package]`.
#[derive(Clone, Debug, Default, Serialize)]
struct Head {
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    link: Vec<String>,
    submit: Option<String>,
}

/// A package that is put together, function by function. [`Package::builder`] begins one.
#[derive(Clone, Debug)]
pub struct PackageBuilder {
    document: Document,
    folder: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Package {
    /// A package of that name, without functions yet.
    ///
    /// ```
    /// # fn main() -> kernpack::Result<()> {
    /// use kernpack::{Function, Launch, Package, Source};
    ///
    /// let signature = "zero(y: Tensor([n], float32, mut))";
    /// let launch = Launch::new(Source::host("zero.c"), "zero").args(["y", "n: int32"]);
    /// let package = Package::builder("zeros")
    ///     .function(Function::new(signature).doc("y = 0").launch(launch))
    ///     .file("zero.c", "void zero(float* y, int n) { for (int i = 0; i < n; ++i) y[i] = 0; }")
    ///     .build();
    /// assert_eq!(package.build()?.functions(), ["zero"]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(name: impl Into<String>) -> PackageBuilder {
        let package = Head { name: name.into(), ..Head::default() };
        let document = Document { package, function: vec![] };
        PackageBuilder { document, folder: PathBuf::new(), files: vec![] }
    }
}

impl PackageBuilder {
    /// A function more.
    #[must_use]
    pub fn function(mut self, function: Function) -> PackageBuilder {
        self.document.function.push(function);
        self
    }

    /// The soname of a library that the shared object loads first, such as `libblas.so.3`.
    #[must_use]
    pub fn link(mut self, soname: impl Into<String>) -> PackageBuilder {
        self.document.package.link.push(soname.into());
        self
    }

    /// How launches on a GPU are submitted, of functions that do not say it: `auto`, `plain` or
    /// `graph`.
    #[must_use]
    pub fn submit(mut self, submit: impl Into<String>) -> PackageBuilder {
        self.document.package.submit = Some(submit.into());
        self
    }

    /// The folder that paths begin at, instead of the current one.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> PackageBuilder {
        self.folder = folder.into();
        self
    }

    /// A file in memory: the source that is named by that path is this, whatever the disk has.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>, bytes: impl Into<Vec<u8>>) -> PackageBuilder {
        self.files.push((path.into(), bytes.into()));
        self
    }

    /// The package, whose text is that of a package file.
    ///
    /// # Panics
    /// Never: all texts and numbers can be written.
    pub fn build(self) -> Package {
        let text = toml::to_string(&self.document).expect("tables of texts and numbers are TOML");
        let name = format!("{}.toml", self.document.package.name);
        let package = Package { base: self.folder, ..Package::text(name, text) };
        self.files.into_iter().fold(package, |package, (path, bytes)| package.file(path, bytes))
    }
}

/// A function of a package: `[[function]]`.
#[derive(Clone, Debug, Serialize)]
pub struct Function {
    signature: String,
    doc: Option<String>,
    submit: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    workspace: BTreeMap<String, String>,
    launch: Vec<Launch>,
}

impl Function {
    /// The function of that signature. Without any launch it only checks its arguments.
    pub fn new(signature: impl Into<String>) -> Function {
        let (signature, workspace) = (signature.into(), BTreeMap::new());
        Function { signature, doc: None, submit: None, workspace, launch: vec![] }
    }

    /// The text for whoever reads of it.
    #[must_use]
    pub fn doc(mut self, doc: impl Into<String>) -> Function {
        self.doc = Some(doc.into());
        self
    }

    /// How its launches on a GPU are submitted: `auto`, `plain` or `graph`.
    #[must_use]
    pub fn submit(mut self, submit: impl Into<String>) -> Function {
        self.submit = Some(submit.into());
        self
    }

    /// Scratch memory: its name in the arguments of kernels, and the tensor that it is, such as
    /// `Tensor([4*m], uint8, align=128)`.
    #[must_use]
    pub fn workspace(mut self, name: impl Into<String>, tensor: impl Into<String>) -> Function {
        self.workspace.insert(name.into(), tensor.into());
        self
    }

    /// A launch more, behind those before.
    #[must_use]
    pub fn launch(mut self, launch: Launch) -> Function {
        self.launch.push(launch);
        self
    }
}

/// A number, or an expression over what a signature names.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A number.
    Int(i64),
    /// An expression, such as `ceildiv(n, 256)`.
    Expression(String),
}

impl From<i64> for Number {
    fn from(number: i64) -> Number {
        Number::Int(number)
    }
}

impl From<&str> for Number {
    fn from(expression: &str) -> Number {
        Number::Expression(expression.to_string())
    }
}

impl From<String> for Number {
    fn from(expression: String) -> Number {
        Number::Expression(expression)
    }
}

fn numbers(all: impl IntoIterator<Item: Into<Number>>) -> Option<Vec<Number>> {
    Some(all.into_iter().map(Into::into).collect())
}

/// A kernel that a function runs: `[[function.launch]]`.
#[derive(Clone, Debug, Serialize)]
pub struct Launch {
    #[serde(serialize_with = "one_or_more")]
    source: Vec<Source>,
    kernel: Option<String>,
    args: Option<Vec<String>>,
    when: Option<String>,
    returns: Option<String>,
    grid: Option<Vec<Number>>,
    block: Option<Vec<Number>>,
    smem: Option<Number>,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    attr: Attributes,
}

/// A source by itself, or several as a list.
fn one_or_more<S: Serializer>(sources: &[Source], to: S) -> Result<S::Ok, S::Error> {
    match sources {
        [source] => source.serialize(to),
        _ => sources.serialize(to),
    }
}

/// `attr` of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Attributes {
    cluster: Option<Vec<Number>>,
    cooperative: Option<bool>,
    pdl: Option<bool>,
    priority: Option<Number>,
    stream: Option<String>,
}

impl Attributes {
    fn is_empty(&self) -> bool {
        *self == Attributes::default()
    }
}

impl Launch {
    /// The kernel of that name.
    pub fn new(source: Source, kernel: impl Into<String>) -> Launch {
        Launch { kernel: Some(kernel.into()), ..Launch::of(source) }
    }

    /// The kernel of a source that names it: what Triton compiled.
    pub fn of(source: Source) -> Launch {
        Launch {
            source: vec![source],
            kernel: None,
            args: None,
            when: None,
            returns: None,
            grid: None,
            block: None,
            smem: None,
            attr: Attributes::default(),
        }
    }

    /// The same kernels for another device.
    #[must_use]
    pub fn or(mut self, source: Source) -> Launch {
        self.source.push(source);
        self
    }

    /// The kernel's arguments, in order. Without this, it takes what the function takes.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item: Into<String>>) -> Launch {
        self.args = Some(args.into_iter().map(Into::into).collect());
        self
    }

    /// The rules under which it runs, or `otherwise`.
    #[must_use]
    pub fn when(mut self, rules: impl Into<String>) -> Launch {
        self.when = Some(rules.into());
        self
    }

    /// The type that a host function returns: `void` or `int`.
    #[must_use]
    pub fn returns(mut self, returns: impl Into<String>) -> Launch {
        self.returns = Some(returns.into());
        self
    }

    /// How many blocks: one to three numbers or expressions, x first.
    #[must_use]
    pub fn grid(mut self, grid: impl IntoIterator<Item: Into<Number>>) -> Launch {
        self.grid = numbers(grid);
        self
    }

    /// How many threads a block has.
    #[must_use]
    pub fn block(mut self, block: impl IntoIterator<Item: Into<Number>>) -> Launch {
        self.block = numbers(block);
        self
    }

    /// Bytes of dynamic shared memory.
    #[must_use]
    pub fn smem(mut self, bytes: impl Into<Number>) -> Launch {
        self.smem = Some(bytes.into());
        self
    }

    /// How many blocks a cluster has.
    #[must_use]
    pub fn cluster(mut self, cluster: impl IntoIterator<Item: Into<Number>>) -> Launch {
        self.attr.cluster = numbers(cluster);
        self
    }

    /// A cooperative launch.
    #[must_use]
    pub fn cooperative(mut self) -> Launch {
        self.attr.cooperative = Some(true);
        self
    }

    /// A programmatic dependent launch.
    #[must_use]
    pub fn pdl(mut self) -> Launch {
        self.attr.pdl = Some(true);
        self
    }

    /// The launch's priority.
    #[must_use]
    pub fn priority(mut self, priority: impl Into<Number>) -> Launch {
        self.attr.priority = Some(priority.into());
        self
    }

    /// The `Stream` parameter that it runs on.
    #[must_use]
    pub fn stream(mut self, parameter: impl Into<String>) -> Launch {
        self.attr.stream = Some(parameter.into());
        self
    }
}

/// The place where kernels come from: `source = { … }`.
#[derive(Clone, Debug, Serialize)]
pub struct Source {
    #[serde(flatten)]
    files: BTreeMap<&'static str, OneOrMore>,
    arch: Option<OneOrMore>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    define: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    options: Vec<String>,
    line_info: Option<bool>,
}

/// One text, or a list.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl Source {
    fn file(kind: &'static str, files: OneOrMore) -> Source {
        Source {
            files: BTreeMap::from([(kind, files)]),
            arch: None,
            include: vec![],
            define: BTreeMap::new(),
            options: vec![],
            line_info: None,
        }
    }

    fn one(kind: &'static str, path: impl Into<String>) -> Source {
        Source::file(kind, OneOrMore::One(path.into()))
    }

    /// Functions with the C ABI: a C file, an object or an archive.
    pub fn host(path: impl Into<String>) -> Source {
        Source::one("host", path)
    }

    /// Functions with the C ABI, of several files that see each other.
    pub fn host_files(paths: impl IntoIterator<Item: Into<String>>) -> Source {
        Source::file("host", OneOrMore::More(paths.into_iter().map(Into::into).collect()))
    }

    /// CUDA C++.
    pub fn cuda(path: impl Into<String>) -> Source {
        Source::one("cuda", path)
    }

    /// PTX.
    pub fn ptx(path: impl Into<String>) -> Source {
        Source::one("ptx", path)
    }

    /// Machine code for a GPU.
    pub fn cubin(path: impl Into<String>) -> Source {
        Source::one("cubin", path)
    }

    /// Machine code and PTX for several GPUs.
    pub fn fatbin(path: impl Into<String>) -> Source {
        Source::one("fatbin", path)
    }

    /// Kernels in kernpack's own language.
    pub fn kernel(path: impl Into<String>) -> Source {
        Source::one("kernel", path)
    }

    /// A cubin that Triton compiled, beside which lies the JSON that it wrote.
    pub fn triton(cubin: impl Into<String>) -> Source {
        Source::one("triton", cubin)
    }

    /// The JSON that Triton wrote, where it lies elsewhere.
    #[must_use]
    pub fn json(mut self, path: impl Into<String>) -> Source {
        self.files.insert("json", OneOrMore::One(path.into()));
        self
    }

    /// The device that a file is for, such as `sm_90a`. [`archs`](Source::archs) is for what is
    /// compiled.
    #[must_use]
    pub fn arch(mut self, arch: impl Into<String>) -> Source {
        self.arch = Some(OneOrMore::One(arch.into()));
        self
    }

    /// The devices that CUDA C++ or a kernel is compiled for: machine code for `sm_…`, PTX for
    /// `compute_…`.
    #[must_use]
    pub fn archs(mut self, archs: impl IntoIterator<Item: Into<String>>) -> Source {
        self.arch = Some(OneOrMore::More(archs.into_iter().map(Into::into).collect()));
        self
    }

    /// A folder to look for headers in.
    #[must_use]
    pub fn include(mut self, folder: impl Into<String>) -> Source {
        self.include.push(folder.into());
        self
    }

    /// A macro.
    #[must_use]
    pub fn define(mut self, name: impl Into<String>, value: impl Into<String>) -> Source {
        self.define.insert(name.into(), value.into());
        self
    }

    /// An option more for the compiler.
    #[must_use]
    pub fn option(mut self, option: impl Into<String>) -> Source {
        self.options.push(option.into());
        self
    }

    /// Whether debuggers and profilers can tell which line of CUDA C++ an instruction comes from.
    #[must_use]
    pub fn line_info(mut self, line_info: bool) -> Source {
        self.line_info = Some(line_info);
        self
    }
}
