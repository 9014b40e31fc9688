// SPDX-License-Identifier: Apache-2.0
//! From the text of a file to its names: what it imports is read first, each file once.

use super::defaults;
use super::library::{PARTS, Part};
use super::source::content_of_file;
use super::specs::Specs;
use super::{
    Captured, ClassDefinition, Decorator, Definition, DefinitionKind, Door, Global, Identity,
    KernelFiles, Lines, Module, ModuleId, Role, SourceId, Sources,
};
use crate::python::tree::{Block, Call, Expr, ExprKind, Function, Import, Name, Stmt, StmtKind};
use crate::python::{self, walk};
use kernpack_syntax::{Diagnostic, Diagnostics, Span, TextId, Texts};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Reads files, the one that was asked for first.
pub(super) struct Reader<'r, 'd> {
    sources: &'r Sources,
    door: Door<'d>,
    texts: &'r mut Texts,
    /// Those that are being read are none yet.
    modules: Vec<Option<Module>>,
    /// The contents of those that have been read.
    contents: HashMap<String, ModuleId>,
    by_path: HashMap<PathBuf, ModuleId>,
    by_source: HashMap<SourceId, ModuleId>,
    /// The files that the imports of the file that is being read bind.
    imports: Vec<Option<ModuleId>>,
    /// Whether the functions of the text that is being read are methods.
    is_method: bool,
    /// The signatures of functions of the first file.
    specs: Specs,
    /// The mistakes that keep the files from being read.
    diagnostics: Diagnostics,
    /// The Python that is no part of the language.
    problems: Diagnostics,
}

impl<'r, 'd> Reader<'r, 'd> {
    pub fn new(sources: &'r Sources, door: Door<'d>, texts: &'r mut Texts) -> Reader<'r, 'd> {
        Reader {
            sources,
            door,
            texts,
            modules: Vec::new(),
            contents: HashMap::new(),
            by_path: HashMap::new(),
            by_source: HashMap::new(),
            imports: Vec::new(),
            is_method: false,
            specs: Specs::default(),
            diagnostics: Diagnostics::default(),
            problems: Diagnostics::default(),
        }
    }

    /// The files; else what kept them from being read.
    pub fn finish(mut self) -> Result<KernelFiles, Diagnostics> {
        let first = self.modules.len();
        let library: Vec<_> = (first..).zip(&PARTS).map(|(at, part)| self.part(at, part)).collect();
        let Reader { modules, contents, mut diagnostics, mut problems, .. } = self;
        if diagnostics.has_errors() {
            diagnostics.extend(problems);
            diagnostics.sort();
            return Err(diagnostics);
        }
        problems.sort();
        let mut identity = Identity::default();
        let mut contents: Vec<_> = contents.iter().map(|(content, id)| (id.0, content)).collect();
        contents.sort_unstable();
        contents.into_iter().for_each(|(_, content)| identity.add(content));
        PARTS.iter().for_each(|part| identity.add(part.text));
        let modules = modules.into_iter().flatten().chain(library.into_iter().flatten()).collect();
        Ok(KernelFiles { modules, problems, identity, assigners: OnceLock::new() })
    }
}

impl Reader<'_, '_> {
    /// Reads the file that was asked for.
    pub fn load_root(&mut self, path: &Path, specs: &[String]) {
        self.specs = Specs::read(specs, self.texts, &mut self.diagnostics);
        if let Err(error) = self.load(path, None) {
            let message = format!("cannot read `{}`: {error}", path.display());
            self.diagnostics.push(Diagnostic::new("source-file", message));
        } else if !self.diagnostics.has_errors() {
            self.specs.unused().for_each(|problem| self.diagnostics.push(problem));
        }
    }

    /// Reads a source once.
    pub fn load_source(&mut self, source: SourceId) -> ModuleId {
        if let Some(&id) = self.by_source.get(&source) {
            return id;
        }
        let id = self.begin();
        // What it captures was there before it, so that there is no circle.
        let of = self.sources.get(source).clone();
        let mut files = HashMap::new();
        for value in of.captured.values() {
            value.sources(&mut |one| _ = files.insert(one, self.load_source(one)));
        }
        let file = |source| files.get(&source).copied().unwrap_or(id);
        let captured =
            of.captured.iter().map(|(name, value)| (name.clone(), value.of_files(&file)));
        let captured = captured.collect();
        let name = of.path.display().to_string();
        let text = self.texts.add_part(name, &*of.text, of.first_line);
        self.is_method = of.is_method;
        let id = self.parsed(id, of.path, text, (captured, of.role));
        self.is_method = false;
        self.by_source.insert(source, id);
        id
    }

    /// Reads a file once. `importer` is where it is imported.
    fn load(&mut self, path: &Path, importer: Option<Span>) -> io::Result<ModuleId> {
        let path = plain(path);
        if let Some(&id) = self.by_path.get(&path) {
            if self.modules.get(id.0).is_none_or(Option::is_none) {
                self.report_cycle(&path, importer);
            }
            return Ok(id);
        }
        let bytes = (self.door)(&path)?;
        let id = self.begin();
        self.by_path.insert(path.clone(), id);
        let text = match self.texts.add_bytes(path.display().to_string(), bytes) {
            Ok(text) => text,
            Err(problem) => {
                self.diagnostics.push(problem);
                return Ok(id);
            }
        };
        let id = self.parsed(id, path.clone(), text, Default::default());
        self.by_path.insert(path, id);
        Ok(id)
    }

    /// A file that is being read.
    fn begin(&mut self) -> ModuleId {
        self.modules.push(None);
        ModuleId(self.modules.len() - 1)
    }

    /// Reads a text. Gives the file of that content: another one, where that was read before.
    fn parsed(
        &mut self,
        id: ModuleId,
        path: PathBuf,
        text: TextId,
        (captured, role): (BTreeMap<Name, Captured<ModuleId>>, Role),
    ) -> ModuleId {
        let source = self.texts.snippet(text);
        let lines = Lines::new(source.text, self.texts.get(text).first_line);
        let block = match python::parse(source) {
            Ok(block) => block,
            Err(problems) => {
                self.diagnostics.extend(problems);
                return id;
            }
        };
        let (n_problems, around) = (self.problems.0.len(), std::mem::take(&mut self.imports));
        let module = self.module(id, (path, text), lines, &block, (&captured, &role));
        let imports = std::mem::replace(&mut self.imports, around);
        let characters = &self.texts.get(text).characters;
        let content = content_of_file(characters, &role, &captured, &imports);
        match self.contents.get(&content) {
            // What is wrong with it was told when it was read first. What it imports was read, too,
            // so that it is the last.
            Some(&known) if id.0 + 1 == self.modules.len() => {
                self.modules.pop();
                self.problems.0.truncate(n_problems);
                known
            }
            _ => {
                self.contents.insert(content, id);
                self.modules[id.0] = Some(module);
                id
            }
        }
    }

    /// A file of the library.
    fn part(&mut self, at: usize, part: &Part) -> Option<Module> {
        let text = self.texts.add(part.path().display().to_string(), part.text);
        let source = self.texts.snippet(text);
        let lines = Lines::new(source.text, 1);
        let block = part.block(source).map_err(|problems| self.diagnostics.extend(problems));
        let (block, place) = (block.ok()?, (part.path(), text));
        let nothing = (&BTreeMap::new(), &Role::Written);
        Some(self.module(ModuleId(at), place, lines, &block, nothing))
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
        (path, text): (PathBuf, TextId),
        lines: Lines,
        block: &Block,
        (captured, role): (&BTreeMap<Name, Captured<ModuleId>>, &Role),
    ) -> Module {
        let doc = block.first().and_then(|first| match &first.kind {
            StmtKind::Expr(Expr { kind: ExprKind::Text(text), .. }) => Some(text.value.clone()),
            _ => None,
        });
        let names = captured.iter().map(|(name, value)| (name.clone(), global_of(value)));
        let (names, functions) = (names.collect(), Vec::new());
        let mut module = Module { path, text, names, functions, doc, lines };
        let mut odd = Vec::new();
        for stmt in block {
            self.statement(id, (&mut module, role), stmt, &mut odd);
        }
        // A file that does not know kernpack may hold anything beside functions and constants.
        let knows = |global: &Global| matches!(global, Global::Kernpack | Global::Member(_));
        if module.names.values().any(knows) {
            odd.into_iter().for_each(|problem| self.problems.push(problem));
        }
        module
    }

    fn statement(
        &mut self,
        id: ModuleId,
        (module, role): (&mut Module, &Role),
        stmt: &Stmt,
        odd: &mut Vec<Diagnostic>,
    ) {
        match &stmt.kind {
            StmtKind::Import(imports) => {
                imports.iter().for_each(|import| self.import(module, import));
            }
            StmtKind::Assign(targets, value) => {
                let value = Arc::new(defaults::given_to_value(value, &module.names));
                for target in targets {
                    if !bind_constant(module, target, &value) {
                        odd.push(odd_statement(target.span, "assign to a name"));
                    }
                }
            }
            StmtKind::Function(function) => self.define(id, (module, role), function),
            StmtKind::Class(class) => {
                let class = defaults::given_to_class(class, &module.names);
                let definition = ClassDefinition { module: id, class: class.clone() };
                let name = class.name.name.clone();
                module.names.insert(name, Global::Class(Arc::new(definition)));
            }
            StmtKind::If(branches, _) if is_main(branches) => {}
            // A function that stood in another block is read in one.
            StmtKind::If(branches, _) if is_true(branches) => {
                let block = branches.iter().take(1).flat_map(|(_, block)| block);
                block.for_each(|stmt| self.statement(id, (&mut *module, role), stmt, odd));
            }
            other => odd.extend(other.misplaced().map(|help| odd_statement(stmt.span, help))),
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

    /// The module that an import of another kernel file binds; nothing where it is Python's.
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
        let found = self.load(path, Some(span));
        self.imports.push(found.as_ref().ok().copied());
        match found {
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

    fn define(
        &mut self,
        id: ModuleId,
        (module, role): (&mut Module, &Role),
        function: &Arc<Function>,
    ) {
        let kind = match role {
            Role::Written => self.kind(id, module, function),
            Role::Kernel => DefinitionKind::Kernel,
            Role::Device => DefinitionKind::Device,
            Role::Jit => DefinitionKind::Bare,
            Role::Packed(said) => {
                DefinitionKind::Packed(Decorator::Said(said.placed(function, self.texts)))
            }
        };
        if matches!(kind, DefinitionKind::Kernel | DefinitionKind::Packed(_)) {
            for (foreign, span) in walk::foreign(function) {
                self.problems.push(foreign.diagnostic(span));
            }
        }
        let function = match self.is_method {
            true => Arc::new(function.of_object()),
            false => function.clone(),
        };
        let function = defaults::given(&function, &module.names);
        let definition = Arc::new(Definition { module: id, function: function.clone(), kind });
        module.names.insert(function.name.name.clone(), Global::Function(definition.clone()));
        module.functions.push(definition);
    }

    fn kind(&mut self, id: ModuleId, module: &Module, function: &Function) -> DefinitionKind {
        let Some(first) = function.decorators.first() else { return DefinitionKind::Device };
        for decorator in &function.decorators {
            let (called, call) = match &decorator.kind {
                ExprKind::Call(call) => (&call.function, Some(call)),
                _ => (decorator, None),
            };
            match (member_of_kernpack(module, called), call) {
                (Some("kernel"), None) => return DefinitionKind::Kernel,
                (Some("jit"), call) if call.is_none_or(|call| call.args.is_empty()) => {
                    return self.bare(id, function, call.map(|call| &**call));
                }
                (Some("jit"), Some(call)) => {
                    return DefinitionKind::Packed(Decorator::Written((**call).clone()));
                }
                // It chooses values for what stands below, which Python does.
                (Some("autotune"), Some(_)) | (None, _) => {}
                (Some(other), _) => self.report_decorator(decorator.span, other),
            }
        }
        DefinitionKind::Python(first.span)
    }

    /// A function without a signature, for which the caller may give one.
    fn bare(&mut self, id: ModuleId, function: &Function, call: Option<&Call>) -> DefinitionKind {
        let name = &function.name.name;
        let said = match id {
            ModuleId(0) => self.specs.said(name, call, &mut self.diagnostics),
            _ => None,
        };
        said.map_or(DefinitionKind::Bare, |said| {
            DefinitionKind::Packed(Decorator::Said(said.placed(function, self.texts)))
        })
    }

    fn report_decorator(&mut self, span: Span, name: &str) {
        let (message, help) = match name {
            "kernel" => ("`kp.kernel` takes no arguments".to_string(), "write `@kp.kernel`"),
            other => (
                format!("`kp.{other}` is no decorator"),
                "write `@kp.kernel`, or `@kp.jit(\"…\")` with a signature",
            ),
        };
        self.diagnostics.push(Diagnostic::new("decorator", message).label(span, "").help(help));
    }
}

/// A captured value as a name of a file.
fn global_of(captured: &Captured<ModuleId>) -> Global {
    match captured {
        Captured::Kernpack => Global::Kernpack,
        Captured::Member(name) => Global::Member(name.clone()),
        Captured::Function(module, name) => Global::Imported(*module, name.clone()),
        value => Global::Captured(value.clone()),
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

/// Whether it is `if True:`.
fn is_true(branches: &[(Expr, Block)]) -> bool {
    matches!(branches, [(Expr { kind: ExprKind::Bool(true), .. }, _)])
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
    let message = "a kernel file has imports, functions, classes and constants";
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
