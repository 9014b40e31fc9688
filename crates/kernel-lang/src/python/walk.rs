// SPDX-License-Identifier: Apache-2.0
//! Walks over a tree that look for one thing.

use super::tree::{Block, Expr, ExprKind, Foreign, Function, Name, StmtKind};

pub use super::statement::DECLARATION;
use kernpack_syntax::Span;

/// An import in a function.
pub const IMPORT: Foreign = Foreign { what: "`import`", instead: "import at the top of the file" };

/// A class in a function.
pub const LOCAL_CLASS: Foreign =
    Foreign { what: "class in a function", instead: "define it outside of all functions" };

/// An f-string that is no message of an assertion.
pub const FORMATTED: Foreign = Foreign {
    what: "f-string",
    instead: "write `kp.printf(\"x = {}\", x)`, where `{}` stands for a value",
};

/// A field of an f-string that says how its value is written.
pub const FIELD: Foreign = Foreign {
    what: "`:`, `!` or `=` in an f-string",
    instead: "write the value alone, as in `f\"{i} of {n}\"`",
};

/// Everything in a function that kernels have not, in order.
pub fn foreign(function: &Function) -> Vec<(Foreign, Span)> {
    let mut found = function.foreign_params.clone();
    foreign_block(&function.body, &mut found);
    found
}

fn foreign_block(block: &Block, found: &mut Vec<(Foreign, Span)>) {
    for stmt in block {
        if let StmtKind::Foreign(foreign) = &stmt.kind {
            found.push((*foreign, stmt.span));
        }
        if let StmtKind::Import(_) = &stmt.kind {
            found.push((IMPORT, stmt.span));
        }
        if let StmtKind::Function(function) = &stmt.kind {
            found.extend(foreign(function));
        }
        if let StmtKind::Class(_) = &stmt.kind {
            found.push((LOCAL_CLASS, stmt.span));
        }
        if let StmtKind::Declare(..) = &stmt.kind {
            found.push((DECLARATION, stmt.span));
        }
        stmt.kind.exprs(&mut |expr| match (&stmt.kind, &expr.kind) {
            (StmtKind::Assert(..), ExprKind::Formatted(formatted)) => {
                formatted.fields.iter().for_each(|field| foreign_expr(field, found));
            }
            _ => foreign_expr(expr, found),
        });
        stmt.kind.blocks(&mut |block| foreign_block(block, found));
    }
}

fn foreign_expr(expr: &Expr, found: &mut Vec<(Foreign, Span)>) {
    match &expr.kind {
        ExprKind::Foreign(foreign) => found.push((*foreign, expr.span)),
        ExprKind::Formatted(_) => found.push((FORMATTED, expr.span)),
        ExprKind::Lambda(function) => found.extend(foreign(function)),
        _ => expr_parts(expr, &mut |part| foreign_expr(part, found)),
    }
}

/// The names that statements assign, each once, in order: those of functions within do not count.
pub fn assigned(block: &Block) -> Vec<Name> {
    let mut names = Vec::new();
    assigned_block(block, &mut names);
    names
}

fn assigned_block(block: &Block, names: &mut Vec<Name>) {
    for stmt in block {
        stmt.kind.targets(&mut |target| target_names(target, names));
        if let StmtKind::Function(function) = &stmt.kind {
            add(&function.name.name, names);
        }
        if let StmtKind::Class(class) = &stmt.kind {
            add(&class.name.name, names);
        }
        stmt.kind.blocks(&mut |block| assigned_block(block, names));
    }
}

/// Where statements assign a name first: those of functions within do not count.
pub fn assignment(block: &Block, name: &Name) -> Option<Span> {
    block.iter().find_map(|stmt| {
        let mut found = None;
        stmt.kind.targets(&mut |target| found = found.or_else(|| place_in(target, name)));
        stmt.kind.blocks(&mut |block| found = found.or_else(|| assignment(block, name)));
        found
    })
}

fn place_in(target: &Expr, name: &Name) -> Option<Span> {
    match &target.kind {
        ExprKind::Name(own) if own == name => Some(target.span),
        ExprKind::Tuple(parts) | ExprKind::List(parts) => {
            parts.iter().find_map(|part| place_in(part, name))
        }
        _ => None,
    }
}

/// The parameters of a function, as rows of tables have them (`call/`).
pub fn takes(function: &Function) -> Vec<String> {
    let mut takes = Vec::new();
    for param in &function.params {
        if param.is_keyword && !takes.iter().any(|one| one == "*") {
            takes.push("*".to_string());
        }
        let name = &param.name.name;
        takes.push(match param.default {
            Some(_) => format!("{name}="),
            None => name.to_string(),
        });
    }
    takes
}

/// Whether statements return within a branch or a loop.
pub fn returns_early(block: &Block) -> bool {
    let returns = |block: &Block| {
        block.iter().any(|stmt| matches!(stmt.kind, StmtKind::Return(_))) || returns_early(block)
    };
    block.iter().any(|stmt| {
        let mut found = false;
        stmt.kind.blocks(&mut |block| found |= returns(block));
        found
    })
}

/// The names that loops within statements count with.
pub fn loop_targets(block: &Block) -> Vec<Name> {
    let mut names = Vec::new();
    targets_in(block, &mut names);
    names
}

fn targets_in(block: &Block, names: &mut Vec<Name>) {
    for stmt in block {
        if let StmtKind::For(target, ..) = &stmt.kind {
            target_names(target, names);
        }
        stmt.kind.blocks(&mut |block| targets_in(block, names));
    }
}

/// The names that a target binds.
pub fn target_names(target: &Expr, names: &mut Vec<Name>) {
    match &target.kind {
        ExprKind::Name(name) => add(name, names),
        ExprKind::Tuple(parts) | ExprKind::List(parts) => {
            parts.iter().for_each(|part| target_names(part, names));
        }
        _ => {}
    }
}

fn add(name: &Name, names: &mut Vec<Name>) {
    if !names.contains(name) {
        names.push(name.clone());
    }
}

/// The names that a function uses and may not bind itself, each once.
pub fn used(function: &Function, names: &mut Vec<Name>) {
    let mut own = assigned(&function.body);
    own.extend(function.params.iter().map(|param| param.name.name.clone()));
    let mut found = Vec::new();
    used_block(&function.body, &mut found);
    found.iter().filter(|name| !own.contains(name)).for_each(|name| add(name, names));
    let defaults = function.params.iter().filter_map(|param| param.default.as_ref());
    defaults.for_each(|default| used_expr(default, names));
}

fn used_block(block: &Block, names: &mut Vec<Name>) {
    for stmt in block {
        if let StmtKind::Function(function) = &stmt.kind {
            used(function, names);
        }
        stmt.kind.exprs(&mut |expr| used_expr(expr, names));
        stmt.kind.blocks(&mut |block| used_block(block, names));
    }
}

fn used_expr(expr: &Expr, names: &mut Vec<Name>) {
    match &expr.kind {
        ExprKind::Name(name) => add(name, names),
        ExprKind::Lambda(function) => used(function, names),
        _ => expr_parts(expr, &mut |part| used_expr(part, names)),
    }
}

/// The expressions that an expression is made of.
pub(super) fn expr_parts<'t>(expr: &'t Expr, each: &mut dyn FnMut(&'t Expr)) {
    match &expr.kind {
        ExprKind::Tuple(parts) | ExprKind::List(parts) | ExprKind::Logic(_, parts) => {
            parts.iter().for_each(each);
        }
        ExprKind::Formatted(formatted) => formatted.fields.iter().for_each(each),
        ExprKind::Dict(items) => items.iter().for_each(|(_, value)| each(value)),
        ExprKind::Attribute(of, _) | ExprKind::Unary(_, of) | ExprKind::Starred(of) => each(of),
        ExprKind::Subscript(of, index) => {
            each(of);
            each(index);
        }
        ExprKind::Call(call) => {
            each(&call.function);
            call.args.iter().for_each(&mut *each);
            call.keywords.iter().for_each(|(_, value)| each(value));
        }
        ExprKind::Binary(_, operands) => {
            each(&operands.0);
            each(&operands.1);
        }
        ExprKind::Compare(first, rest) => {
            each(first);
            rest.iter().for_each(|(_, value)| each(value));
        }
        ExprKind::Conditional(parts) => {
            each(&parts.0);
            each(&parts.1);
            each(&parts.2);
        }
        ExprKind::Comprehension(made) => {
            each(&made.element);
            for one in &made.loops {
                each(&one.target);
                each(&one.iter);
                one.conditions.iter().for_each(&mut *each);
            }
        }
        ExprKind::Name(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::None
        | ExprKind::Text(_)
        | ExprKind::Lambda(_)
        | ExprKind::Foreign(_) => {}
    }
}
