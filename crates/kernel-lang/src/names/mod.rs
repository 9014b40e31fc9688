// SPDX-License-Identifier: Apache-2.0
//! Names as Python has them: where a name is looked for, what it says where there is none, what a
//! file's constants are, and how targets are given values.
//!
//! A name is that of the function, of those around it where it stands, of the file, which may have
//! it by an import, of a dtype variable, or of Python. `frame.rs` has the names of calls, and
//! `target.rs` what is assigned to.
//!
//! Not here: what a walker keeps for a name, and what becomes of names where ways meet.

mod frame;
mod target;

pub(crate) use frame::{FrameId, Frames, Scope};
pub(crate) use target::{Target, assign};

use crate::builtin;
use crate::file::{Captured, ClassDefinition, Definition, Global, KernelFiles, ModuleId};
use crate::python::tree::{Expr, ExprKind, Name};
use crate::walker::Walker;
use kernpack_syntax::{Diagnostic, Span};
use std::collections::HashMap;
use std::sync::Arc;

/// Functions and types of Python's, by kernpack's names.
const PYTHONS: [(&str, &str); 10] = [
    ("range", "range"),
    ("min", "min"),
    ("max", "max"),
    ("abs", "abs"),
    ("len", "len"),
    ("float", "float32"),
    ("int", "int64"),
    ("bool", "bool"),
    ("enumerate", "enumerate"),
    ("zip", "zip"),
];

/// The constants of files that were asked for; nothing where one is being evaluated. Where it has
/// no value, that is known too.
pub(crate) type Constants<V> = HashMap<(ModuleId, Name), Option<Option<V>>>;

/// A walker that knows names.
pub(crate) trait Names<'f>: Walker {
    /// The files.
    fn files(&self) -> &'f KernelFiles;
    /// The file whose names count.
    fn module_here(&self) -> ModuleId;
    /// The constants of files that were asked for.
    fn constants(&mut self) -> &mut Constants<Self::Value>;

    /// The value of a name of the function, or of one around it; nothing where none has it, and
    /// nothing in that where a mistake was reported.
    fn local(&mut self, name: &Name, span: Span) -> Option<Option<Self::Value>>;
    /// Where the function assigns a name that it has not here: on another way, or later.
    fn assigned_elsewhere(&self, _: &Name) -> Option<Span> {
        None
    }
    /// Whether the function, or one around it, has a name.
    fn has_local(&self, name: &str) -> bool;
    /// A dtype variable of the signature.
    fn dtype_variable(&self, name: &str) -> Option<Self::Value>;
    /// The member of kernpack of a name.
    fn member(&mut self, name: &Name, span: Span) -> Option<Self::Value>;
    /// The member of kernpack that a name of Python's is to this walker alone.
    fn python(&self, _: &str) -> Option<&'static str> {
        None
    }
    /// A function of a file, which is used by a name.
    fn definition(&mut self, one: &Arc<Definition>, name: &str, span: Span) -> Option<Self::Value>;
    /// A class of a file.
    fn class(&mut self, one: &Arc<ClassDefinition>, name: &str, span: Span) -> Option<Self::Value>;
    /// kernpack itself.
    fn kernpack(&self) -> Self::Value;
    /// Another kernel file.
    fn file(&self, module: ModuleId) -> Self::Value;
    /// A value that the caller of the compiler captured.
    fn captured(&mut self, captured: &Captured<ModuleId>, span: Span) -> Option<Self::Value>;
    /// The value of a constant of a file.
    fn at_top(&mut self, module: ModuleId, expr: &Expr) -> Option<Self::Value>;
}

/// The value of a name; nothing where a mistake was reported.
pub(crate) fn find<'f, W: Names<'f>>(cx: &mut W, name: &Name, span: Span) -> Option<W::Value> {
    if let Some(value) = cx.local(name, span) {
        return value;
    }
    if let Some(value) = global(cx, cx.module_here(), name, span) {
        return value;
    }
    if let Some(dtype) = cx.dtype_variable(name) {
        return Some(dtype);
    }
    let ours = PYTHONS.iter().find(|(python, _)| *python == &**name).map(|(_, ours)| *ours);
    match ours.or_else(|| cx.python(name)) {
        Some(ours) => cx.member(&Name::from(ours), span),
        None => {
            let problem = match cx.assigned_elsewhere(name) {
                Some(place) => unassigned::<W>(name, span, place),
                None => undefined::<W>(name, span),
            };
            cx.tell(problem);
            None
        }
    }
}

fn unassigned<W: Walker>(name: &str, span: Span, place: Span) -> Diagnostic {
    let problem =
        Diagnostic::new("unassigned", format!("`{name}` is not assigned on the way here"));
    let problem = problem.label(span, "").mark(place, "assigned here");
    problem.help(format!("assign `{name}` where every way here comes by"))
}

fn undefined<W: Walker>(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` is not defined");
    let label = "no name of this function or file";
    let problem = W::WORDS.problem("unknown-name", message, span, label);
    if let Some(help) = builtin::cute::help(name) {
        return problem.help(help);
    }
    match (builtin::is_member(name), builtin::called_here(name), W::WORDS.define) {
        (true, _, _) => problem.help(format!("write `kp.{name}`")),
        (false, Some(help), Some(_)) => problem.help(help),
        // What other languages have by such a name is for kernels.
        (false, Some(help), None) => problem.help(format!("{help} in a kernel")),
        (false, None, Some(help)) => problem.help(help),
        (false, None, None) => problem,
    }
}

/// The mistake that a path such as `kp.arch.thread_idx` or `cutlass.Float32` is: it leads through
/// modules of CuTe DSL's, which kernpack has not.
pub(crate) fn foreign_path<'f, W: Names<'f>>(cx: &W, expr: &Expr) -> Option<Diagnostic> {
    let path = path_of(expr);
    let (root, members) = path.split_first()?;
    if cx.has_local(root) {
        return None;
    }
    let global = cx.files().find(cx.module_here(), root).map(|(_, global)| global);
    let path = match global {
        Some(Global::Kernpack | Global::Captured(Captured::Kernpack)) if members.len() > 1 => {
            members
        }
        None | Some(Global::Python(_)) if builtin::cute::is_module(root) => &path[..],
        _ => return None,
    };
    let message = format!("kernpack has no `{}`", path.join("."));
    let problem = W::WORDS.problem("unknown-name", message, expr.span, "CuTe DSL's");
    Some(problem.help(builtin::cute::help_of_path(path)?))
}

/// The part of what is captured that a path such as `config.width` leads to: what else is captured
/// of the same object may be no constant.
pub(crate) fn captured_part<'f, W: Names<'f>>(
    cx: &W,
    expr: &Expr,
) -> Option<&'f Captured<ModuleId>> {
    let path = path_of(expr);
    let (root, members) = path.split_first()?;
    if cx.has_local(root) {
        return None;
    }
    let Some((_, Global::Captured(captured))) = cx.files().find(cx.module_here(), root) else {
        return None;
    };
    members.iter().try_fold(captured, |of, member| match of {
        Captured::Tuple(items) => {
            let is_it = |item: &&(Option<Name>, _)| item.0.as_deref() == Some(*member);
            items.iter().find(is_it).map(|(_, part)| part)
        }
        _ => None,
    })
}

/// The names of `a.b.c`; none of anything else.
pub(crate) fn path_of(expr: &Expr) -> Vec<&str> {
    let mut path = Vec::new();
    let mut of = expr;
    while let ExprKind::Attribute(inner, member) = &of.kind {
        path.push(&*member.name);
        of = inner;
    }
    let ExprKind::Name(root) = &of.kind else { return vec![] };
    path.push(root);
    path.reverse();
    path
}

/// The value of a name of a file that is named: a mistake where it has none.
pub(crate) fn of_file<'f, W: Names<'f>>(
    cx: &mut W,
    module: ModuleId,
    name: &Name,
    span: Span,
) -> Option<W::Value> {
    global(cx, module, name, span).unwrap_or_else(|| {
        let path = cx.files().module(module).path.display();
        let message = format!("`{path}` has no `{name}`");
        let problem = W::WORDS.problem("unknown-name", message, span, "not defined there");
        cx.tell(problem.help("define it there"));
        None
    })
}

/// The value of a name of a file; nothing where it has none, and nothing in that where a mistake
/// was reported.
pub(crate) fn global<'f, W: Names<'f>>(
    cx: &mut W,
    module: ModuleId,
    name: &Name,
    span: Span,
) -> Option<Option<W::Value>> {
    let (module, global) = cx.files().find(module, name)?;
    Some(match global {
        Global::Function(definition) => cx.definition(definition, name, span),
        Global::Class(definition) => cx.class(definition, name, span),
        Global::Constant(expr, part) => constant(cx, (module, name.clone()), expr, *part, span),
        Global::Kernpack => Some(cx.kernpack()),
        Global::Member(member) => cx.member(member, span),
        Global::Module(module) => Some(cx.file(*module)),
        Global::Captured(captured) => cx.captured(captured, span),
        Global::Imported(..) => return None,
        Global::Python(at) => {
            let (end, help) = W::WORDS.python_ends;
            let message = format!("`{name}` is Python's, {end}");
            let problem = W::WORDS.problem(W::WORDS.python, message, span, "used here");
            let problem = problem.mark(*at, "comes from here");
            cx.tell(help.into_iter().fold(problem, Diagnostic::help));
            None
        }
    })
}

/// The value of a constant of a file or class, which is found out once.
pub(crate) fn constant<'f, W: Names<'f>>(
    cx: &mut W,
    key: (ModuleId, Name),
    expr: &Expr,
    part: Option<usize>,
    span: Span,
) -> Option<W::Value> {
    let (code, name) = (W::WORDS.constant, &key.1);
    match cx.constants().get(&key) {
        Some(Some(value)) => return value.clone(),
        Some(None) => {
            let message = format!("`{name}` is made of itself");
            let problem = W::WORDS.problem(code, message, span, "has no value");
            cx.tell(problem.help("give it a value of its own"));
            return None;
        }
        None => {}
    }
    cx.constants().insert(key.clone(), None);
    let value = cx.at_top(key.0, expr).and_then(|value| {
        let Some(part) = part else { return Some(value) };
        let items = cx.items(&value, span)?;
        let item = items.get(part).cloned();
        if item.is_none() {
            let message = format!("`{name}` is none of the {} values", items.len());
            cx.tell(W::WORDS.problem(code, message, span, "there are more names than values"));
        }
        item
    });
    cx.constants().insert(key, Some(value.clone()));
    value
}
