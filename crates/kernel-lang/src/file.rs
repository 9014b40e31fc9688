// SPDX-License-Identifier: Apache-2.0
//! Kernel files: a file and the kernel files that it imports.
//!
//! Python runs the same file, so that what Python alone uses may stand there: imports of other
//! modules, functions that no kernel calls, `if __name__ == "__main__":`. Names of these are
//! mistakes only where a kernel uses them. A module that is imported is a kernel file where there
//! is one of that name in the folder; any other is Python's.
//!
//! Every file comes through the door that the caller opens. A constant is kept as it is written:
//! what it is, elaboration finds out when it meets it.

use crate::python::tree::{Block, Call, Expr, ExprKind, Function, Import, Name, Stmt, StmtKind};
use crate::python::{self, walk};
use kernpack_syntax::{Diagnostic, Diagnostics, Span, TextId, Texts};
use std::collections::HashMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The door through which files are read.
pub type Door<'d> = &'d mut dyn FnMut(&Path) -> io::Result<Vec<u8>>;

/// A file of a set, by number; the first is the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub usize);

/// A kernel file, and those that it imports.
#[derive(Debug)]
pub struct KernelFiles {
    modules: Vec<Module>,
}

/// A kernel file.
#[derive(Debug)]
pub struct Module {
    /// Its path, as it was read.
    pub path: PathBuf,
    /// Its text.
    pub text: TextId,
    /// What its names mean.
    pub names: HashMap<Name, Global>,
    /// Its functions, in order.
    pub functions: Vec<Arc<Definition>>,
    /// Its docstring.
    pub doc: Option<Arc<str>>,
    lines: Lines,
}

/// What a name of a file means.
#[derive(Clone, Debug)]
pub enum Global {
    /// A function.
    Function(Arc<Definition>),
    /// What an expression gives: its part of that number, where a tuple is taken apart.
    Constant(Arc<Expr>, Option<usize>),
    /// kernpack itself.
    Kernpack,
    /// What kernpack calls by that name.
    Member(Name),
    /// Another kernel file.
    Module(ModuleId),
    /// What another kernel file calls by that name.
    Imported(ModuleId, Name),
    /// Something of Python's, bound there.
    Python(Span),
}

/// A function of a file.
#[derive(Debug)]
pub struct Definition {
    /// The file.
    pub module: ModuleId,
    /// The function.
    pub function: Arc<Function>,
    /// What it is for.
    pub kind: DefinitionKind,
}

/// What a function is for.
#[derive(Debug)]
pub enum DefinitionKind {
    /// Kernels call it; or nobody but Python does.
    Device,
    /// `@kp.kernel`
    Kernel,
    /// `@kp.jit("signature", workspace={…})`: the call.
    Packed(Call),
    /// It has a decorator of Python's.
    Python(Span),
}

impl Definition {
    /// Its name.
    pub fn name(&self) -> &Name {
        &self.function.name.name
    }
}

impl KernelFiles {
    /// Reads a file, and the kernel files that it imports.
    ///
    /// # Errors
    /// What is wrong in any of them, and files that cannot be read.
    pub fn read(
        root: &Path,
        door: Door<'_>,
        texts: &mut Texts,
    ) -> Result<KernelFiles, Diagnostics> {
        let mut reader = Reader {
            door,
            texts,
            modules: Vec::new(),
            known: HashMap::new(),
            diagnostics: Diagnostics::default(),
        };
        if let Err(error) = reader.load(root, None) {
            let message = format!("cannot read `{}`: {error}", root.display());
            reader.diagnostics.push(Diagnostic::new("source-file", message));
        }
        reader.diagnostics.sort();
        reader.diagnostics.into_result()?;
        Ok(KernelFiles { modules: reader.modules.into_iter().flatten().collect() })
    }

    /// The file that was asked for.
    pub fn root(&self) -> &Module {
        self.module(ModuleId(0))
    }

    /// A file of the set.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0]
    }

    /// Every file, the one that was asked for first.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// What a name of a file means, through imports.
    pub fn find(&self, module: ModuleId, name: &str) -> Option<(ModuleId, &Global)> {
        let (mut module, mut name) = (module, name);
        // Names imported in a circle, as no file of Python could, end somewhere.
        for _ in 0..=self.modules.len() {
            match self.modules.get(module.0)?.names.get(name)? {
                Global::Imported(other, member) => (module, name) = (*other, member),
                found => return Some((module, found)),
            }
        }
        None
    }

    /// The function of that name in the file that was asked for, imported or its own.
    pub fn function(&self, name: &str) -> Option<&Arc<Definition>> {
        match self.find(ModuleId(0), name)? {
            (_, Global::Function(definition)) => Some(definition),
            _ => None,
        }
    }

    /// The packed functions of the file that was asked for, in order.
    pub fn packed(&self) -> impl Iterator<Item = &Arc<Definition>> {
        let functions = self.root().functions.iter();
        functions.filter(|one| matches!(one.kind, DefinitionKind::Packed(_)))
    }

    /// The line and column of a place in a file, both from 1; columns count characters.
    pub fn position(&self, module: ModuleId, byte: usize) -> (u32, u32) {
        self.module(module).lines.position(byte)
    }
}

/// Where lines begin, so that a place is found without reading what is before it.
#[derive(Debug)]
struct Lines {
    text: Arc<str>,
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        Lines { starts: starts.collect(), text: Arc::from(text) }
    }

    fn position(&self, byte: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= byte).max(1);
        let before = self.text.get(self.starts[line - 1]..byte).unwrap_or_default();
        (line as u32, before.chars().count() as u32 + 1)
    }
}

struct Reader<'r, 'd> {
    door: Door<'d>,
    texts: &'r mut Texts,
    /// Those that are being read are none yet.
    modules: Vec<Option<Module>>,
    known: HashMap<PathBuf, ModuleId>,
    diagnostics: Diagnostics,
}

impl Reader<'_, '_> {
    /// Reads a file once. `importer` is where it is imported.
    fn load(&mut self, path: &Path, importer: Option<Span>) -> io::Result<ModuleId> {
        let path = plain(path);
        if let Some(&id) = self.known.get(&path) {
            if self.modules[id.0].is_none() {
                self.report_cycle(&path, importer);
            }
            return Ok(id);
        }
        let bytes = (self.door)(&path)?;
        let id = ModuleId(self.modules.len());
        self.known.insert(path.clone(), id);
        self.modules.push(None);
        let text = match self.texts.add_bytes(path.display().to_string(), bytes) {
            Ok(text) => text,
            Err(problem) => {
                self.diagnostics.push(problem);
                return Ok(id);
            }
        };
        let source = self.texts.snippet(text);
        let (block, lines) = (python::parse(source), Lines::new(source.text));
        match block {
            Ok(block) => {
                let module = self.module(id, path, text, lines, &block);
                self.modules[id.0] = Some(module);
            }
            Err(problems) => self.diagnostics.extend(problems),
        }
        Ok(id)
    }

    fn report_cycle(&mut self, path: &Path, importer: Option<Span>) {
        let (Some(span), false) = (importer, self.diagnostics.has_errors()) else { return };
        let message = format!("`{}` imports itself", path.display());
        let problem = Diagnostic::new("import-cycle", message).label(span, "by this import");
        self.diagnostics.push(problem.help("move what both files need into a third"));
    }

    fn module(
        &mut self,
        id: ModuleId,
        path: PathBuf,
        text: TextId,
        lines: Lines,
        block: &Block,
    ) -> Module {
        let doc = block.first().and_then(|first| match &first.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Text(text), .. }) => Some(text.value.clone()),
            _ => None,
        });
        let (names, functions) = (HashMap::new(), Vec::new());
        let mut module = Module { path, text, names, functions, doc, lines };
        let mut odd = Vec::new();
        for stmt in block {
            self.statement(id, &mut module, stmt, &mut odd);
        }
        // A file that does not know kernpack may hold anything beside functions and constants.
        let knows = |global: &Global| matches!(global, Global::Kernpack | Global::Member(_));
        if module.names.values().any(knows) {
            odd.into_iter().for_each(|problem| self.diagnostics.push(problem));
        }
        module
    }

    fn statement(
        &mut self,
        id: ModuleId,
        module: &mut Module,
        stmt: &Stmt,
        odd: &mut Vec<Diagnostic>,
    ) {
        match &stmt.kind {
            StmtKind::Import(imports) => {
                imports.iter().for_each(|import| self.import(module, import));
            }
            StmtKind::Assign(targets, value) => {
                let value = Arc::new(value.clone());
                for target in targets {
                    if !bind_constant(module, target, &value) {
                        odd.push(odd_statement(target.span, "assign to a name"));
                    }
                }
            }
            StmtKind::Function(function) => self.define(id, module, function),
            StmtKind::Expr(Expr { kind: ExprKind::Text(_), .. }) | StmtKind::Pass => {}
            StmtKind::If(branches, _) if is_main(branches) => {}
            StmtKind::Foreign(foreign) => {
                odd.push(odd_statement(stmt.span, foreign.instead));
            }
            StmtKind::Expr(_)
            | StmtKind::Augment(..)
            | StmtKind::If(..)
            | StmtKind::For(..)
            | StmtKind::While(..)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Assert(..) => {
                let help = "move it into a function, or behind `if __name__ == \"__main__\":`";
                odd.push(odd_statement(stmt.span, help));
            }
        }
    }

    fn import(&mut self, module: &mut Module, import: &Import) {
        let mut bind = |name: &str, global| _ = module.names.insert(Name::from(name), global);
        let bound: &str = &import.bound.name;
        let first = bound.split('.').next().unwrap_or_default();
        if import.level == 0 && &*import.module == "kernpack" {
            return match &import.member {
                None => bind(bound, Global::Kernpack),
                Some(star) if &**star == "*" => {
                    let message = "names of kernpack are imported one by one";
                    let problem = Diagnostic::new("import", message).label(import.bound.span, "");
                    self.diagnostics.push(problem.help("write `import kernpack as kp`"));
                }
                Some(member) => bind(bound, Global::Member(member.clone())),
            };
        }
        match self.imported(&module.path.clone(), import) {
            Some(global) => bind(bound, global),
            None => bind(first, Global::Python(import.bound.span)),
        }
    }

    /// What an import of another kernel file binds; nothing where the module is Python's.
    fn imported(&mut self, importer: &Path, import: &Import) -> Option<Global> {
        let mut folder = importer.parent().unwrap_or(Path::new("")).to_path_buf();
        (1..import.level).for_each(|_| folder.push(".."));
        let parts = import.module.split('.').filter(|part| !part.is_empty());
        let parts: PathBuf = parts.collect();
        let span = import.bound.span;
        // `from . import rows`: the member is the module.
        let member = match (&import.member, import.module.is_empty()) {
            (Some(member), true) => {
                let path = folder.join(&**member).with_extension("py");
                return self.found(&path, import.level, span).map(Global::Module);
            }
            (member, _) => member.clone(),
        };
        let path = folder.join(parts).with_extension("py");
        let module = self.found(&path, import.level, span)?;
        match member {
            None if import.module.contains('.') && import.bound.name == import.module => None,
            None => Some(Global::Module(module)),
            Some(member) => {
                self.require_member(module, &member, span);
                Some(Global::Imported(module, member))
            }
        }
    }

    /// The kernel file at a path. One that is not there is Python's affair, unless its import says
    /// that it is beside.
    fn found(&mut self, path: &Path, level: u32, span: Span) -> Option<ModuleId> {
        match self.load(path, Some(span)) {
            Ok(id) => Some(id),
            Err(error) if level == 0 && error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let message = format!("cannot read `{}`: {error}", plain(path).display());
                self.diagnostics
                    .push(Diagnostic::new("source-file", message).label(span, "imported here"));
                None
            }
        }
    }

    fn require_member(&mut self, id: ModuleId, member: &Name, span: Span) {
        let Some(module) = &self.modules[id.0] else { return };
        if &**member == "*" {
            let path = module.path.display();
            let message = format!("names of `{path}` are imported one by one");
            let problem = Diagnostic::new("import", message).label(span, "");
            let help = "name those that are used, or import the file";
            return self.diagnostics.push(problem.help(help));
        }
        if module.names.contains_key(member) {
            return;
        }
        let message = format!("`{}` has no `{member}`", module.path.display());
        let problem = Diagnostic::new("import", message).label(span, "imported here");
        self.diagnostics.push(problem.help(format!("define `{member}` there")));
    }

    fn define(&mut self, id: ModuleId, module: &mut Module, function: &Arc<Function>) {
        let kind = self.kind(module, function);
        if matches!(kind, DefinitionKind::Kernel | DefinitionKind::Packed(_)) {
            for (foreign, span) in walk::foreign(function) {
                self.diagnostics.push(foreign.diagnostic(span));
            }
        }
        let definition = Arc::new(Definition { module: id, function: function.clone(), kind });
        module.names.insert(function.name.name.clone(), Global::Function(definition.clone()));
        module.functions.push(definition);
    }

    fn kind(&mut self, module: &Module, function: &Function) -> DefinitionKind {
        let Some(first) = function.decorators.first() else { return DefinitionKind::Device };
        for decorator in &function.decorators {
            let (called, call) = match &decorator.kind {
                ExprKind::Call(call) => (&call.function, Some(call)),
                _ => (decorator, None),
            };
            match (member_of_kernpack(module, called), call) {
                (Some("kernel"), None) => return DefinitionKind::Kernel,
                (Some("jit"), Some(call)) => return DefinitionKind::Packed((**call).clone()),
                (Some(other), _) => self.report_decorator(decorator.span, other),
                (None, _) => {}
            }
        }
        DefinitionKind::Python(first.span)
    }

    fn report_decorator(&mut self, span: Span, name: &str) {
        let (message, help) = match name {
            "kernel" => ("`kp.kernel` takes no arguments".to_string(), "write `@kp.kernel`"),
            "jit" => (
                "`kp.jit` needs a signature".to_string(),
                "write `@kp.jit(\"name(x: Tensor([n], float32))\")`",
            ),
            other => (
                format!("`kp.{other}` is no decorator"),
                "write `@kp.kernel`, or `@kp.jit(\"…\")` with a signature",
            ),
        };
        self.diagnostics.push(Diagnostic::new("decorator", message).label(span, "").help(help));
    }
}

/// The name that kernpack has for what an expression names.
fn member_of_kernpack<'e>(module: &'e Module, expr: &'e Expr) -> Option<&'e str> {
    match &expr.kind {
        ExprKind::Name(name) => match module.names.get(name)? {
            Global::Member(member) => Some(member),
            _ => None,
        },
        ExprKind::Attribute(of, member) => match &of.kind {
            ExprKind::Name(name) => match module.names.get(name)? {
                Global::Kernpack => Some(&member.name),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Binds the names of a target to parts of a value. Gives whether that was possible.
fn bind_constant(module: &mut Module, target: &Expr, value: &Arc<Expr>) -> bool {
    match &target.kind {
        ExprKind::Name(name) => {
            module.names.insert(name.clone(), Global::Constant(value.clone(), None));
            true
        }
        ExprKind::Tuple(parts) => {
            let names = parts.iter().map(|part| match &part.kind {
                ExprKind::Name(name) => Some(name.clone()),
                _ => None,
            });
            let Some(names) = names.collect::<Option<Vec<_>>>() else { return false };
            for (number, name) in names.into_iter().enumerate() {
                module.names.insert(name, Global::Constant(value.clone(), Some(number)));
            }
            true
        }
        _ => false,
    }
}

/// Whether it is `if __name__ == "__main__":`.
fn is_main(branches: &[(Expr, Block)]) -> bool {
    branches.first().is_some_and(|(test, _)| match &test.kind {
        ExprKind::Compare(left, _) => {
            matches!(&left.kind, ExprKind::Name(name) if &**name == "__name__")
        }
        _ => false,
    })
}

fn odd_statement(span: Span, help: &str) -> Diagnostic {
    let message = "a kernel file has imports, functions and constants";
    Diagnostic::new("module-statement", message).label(span, "this is something else").help(help)
}

/// A path without `.`, and without `..` behind a name.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(plain.components().next_back(), Some(Component::Normal(_))) =>
            {
                plain.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}
