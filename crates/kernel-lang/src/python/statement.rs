// SPDX-License-Identifier: Apache-2.0
//! Statements, and all that walks over a tree have to know of each kind: the blocks and expressions
//! in it, what it assigns to, and whether it may stand in a file beside functions. So a new kind is
//! described here, made in `convert.rs`, and done by each of the two walkers.

use super::class::Class;
use super::tree::{BinaryOp, Expr, ExprKind, Foreign, Function, Ident, Import};
use kernpack_syntax::Span;
use std::sync::Arc;

/// A declaration, where no class has it.
pub const DECLARATION: Foreign = Foreign {
    what: "annotated assignment",
    instead: "convert the value, as in `x = kp.float32(0)`",
};

/// Statements, in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// The statement itself.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `f(x)`, or a docstring.
    Expr(Expr),
    /// `a = b = value`
    Assign(Vec<Expr>, Expr),
    /// `a += value`
    Augment(Expr, BinaryOp, Expr),
    /// `if`, `elif` and `else`: conditions in order, and what runs where none holds.
    If(Vec<(Expr, Block)>, Block),
    /// `for target in iter:`
    For(Expr, Expr, Block),
    /// `while test:`
    While(Expr, Block),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return value`
    Return(Option<Expr>),
    /// `pass`
    Pass,
    /// `assert test, message`
    Assert(Expr, Option<Expr>),
    /// `def`
    Function(Arc<Function>),
    /// `class`
    Class(Arc<Class>),
    /// `name: annotation`
    Declare(Ident, Expr),
    /// `import` and `from`.
    Import(Vec<Import>),
    /// Anything else.
    Foreign(Foreign),
}

impl StmtKind {
    /// The blocks in it.
    pub fn blocks<'t>(&'t self, each: &mut dyn FnMut(&'t Block)) {
        match self {
            StmtKind::If(branches, otherwise) => {
                branches.iter().for_each(|(_, block)| each(block));
                each(otherwise);
            }
            StmtKind::For(_, _, body) | StmtKind::While(_, body) => each(body),
            StmtKind::Expr(_)
            | StmtKind::Assign(..)
            | StmtKind::Augment(..)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Pass
            | StmtKind::Assert(..)
            | StmtKind::Function(_)
            | StmtKind::Class(_)
            | StmtKind::Declare(..)
            | StmtKind::Import(_)
            | StmtKind::Foreign(_) => {}
        }
    }

    /// The expressions in it, but for those in its blocks.
    pub fn exprs<'t>(&'t self, each: &mut dyn FnMut(&'t Expr)) {
        match self {
            StmtKind::Expr(value) => each(value),
            StmtKind::Assign(targets, value) => {
                targets.iter().for_each(&mut *each);
                each(value);
            }
            StmtKind::Augment(target, _, value) | StmtKind::For(target, value, _) => {
                each(target);
                each(value);
            }
            StmtKind::If(branches, _) => branches.iter().for_each(|(test, _)| each(test)),
            StmtKind::While(test, _) => each(test),
            StmtKind::Return(value) => value.iter().for_each(each),
            StmtKind::Assert(test, message) => {
                each(test);
                message.iter().for_each(each);
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Pass
            | StmtKind::Function(_)
            | StmtKind::Class(_)
            | StmtKind::Declare(..)
            | StmtKind::Import(_)
            | StmtKind::Foreign(_) => {}
        }
    }

    /// The targets that it gives values.
    pub fn targets<'t>(&'t self, each: &mut dyn FnMut(&'t Expr)) {
        match self {
            StmtKind::Assign(targets, _) => targets.iter().for_each(each),
            StmtKind::Augment(target, ..) | StmtKind::For(target, ..) => each(target),
            StmtKind::Expr(_)
            | StmtKind::If(..)
            | StmtKind::While(..)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Pass
            | StmtKind::Assert(..)
            | StmtKind::Function(_)
            | StmtKind::Class(_)
            | StmtKind::Declare(..)
            | StmtKind::Import(_)
            | StmtKind::Foreign(_) => {}
        }
    }

    /// The help where a file has it beside its functions; nothing where it may stand there.
    pub fn misplaced(&self) -> Option<&'static str> {
        match self {
            StmtKind::Assign(..)
            | StmtKind::Function(_)
            | StmtKind::Class(_)
            | StmtKind::Import(_) => None,
            StmtKind::Expr(Expr { kind: ExprKind::Text(_), .. }) | StmtKind::Pass => None,
            StmtKind::Declare(..) => Some(DECLARATION.instead),
            StmtKind::Foreign(foreign) => Some(foreign.instead),
            StmtKind::Expr(_)
            | StmtKind::Augment(..)
            | StmtKind::If(..)
            | StmtKind::For(..)
            | StmtKind::While(..)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Return(_)
            | StmtKind::Assert(..) => {
                Some("move it into a function, or behind `if __name__ == \"__main__\":`")
            }
        }
    }
}
