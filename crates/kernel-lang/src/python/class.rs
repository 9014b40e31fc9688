// SPDX-License-Identifier: Apache-2.0
//! Classes: what one has is told when its text is read, with all that kernels have not. That is a
//! mistake only where a kernel uses the class, as Python may have classes of its own in a file.
//!
//! Not here: objects, which are values of a kernel (`value.rs`), and their fields, which are names
//! (`scope.rs`).

use super::statement::{Block, Stmt, StmtKind};
use super::tree::{Expr, ExprKind, Foreign, Function, Ident};
use kernpack_syntax::Span;
use std::sync::Arc;

/// The function of a class that gives an object its fields.
pub const INIT: &str = "__init__";

/// A class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: Ident,
    /// Its functions, in order.
    pub methods: Vec<Method>,
    /// Its constants: each with its value.
    pub constants: Vec<(Ident, Expr)>,
    /// The fields that are declared to be constant, `n: kp.Constexpr`.
    pub constexprs: Vec<Ident>,
    /// The parts that kernels have not.
    pub foreign: Vec<(Foreign, Span)>,
    /// Its docstring.
    pub doc: Option<Arc<str>>,
    /// All of it.
    pub span: Span,
}

/// A function of a class.
#[derive(Clone, Debug)]
pub struct Method {
    /// The function.
    pub function: Arc<Function>,
    /// Whether no object is passed to it.
    pub is_static: bool,
}

const DECORATOR: Foreign =
    Foreign { what: "decorator of a class", instead: "write `__init__` and methods" };
const OF_METHOD: Foreign =
    Foreign { what: "decorator of a method but `@staticmethod`", instead: "write a plain method" };
const BASE: Foreign =
    Foreign { what: "inheritance", instead: "keep an object of the other class in a field" };
const SPECIAL: Foreign = Foreign {
    what: "method by a name of Python's but `__init__`",
    instead: "give the method a name of its own",
};
const NO_OBJECT: Foreign = Foreign {
    what: "method without a parameter for its object",
    instead: "write `self` first, or `@staticmethod`",
};
const STATEMENT: Foreign = Foreign {
    what: "statement of that kind in a class",
    instead: "write methods, constants, and fields as in `n: kp.Constexpr`",
};

impl Class {
    /// A class of these statements, with bases or keywords at `bases`.
    pub fn new(
        (name, span): (Ident, Span),
        (bases, decorators): (Option<Span>, &[Expr]),
        body: Block,
    ) -> Class {
        let mut class = Class {
            name,
            methods: Vec::new(),
            constants: Vec::new(),
            constexprs: Vec::new(),
            foreign: decorators.iter().map(|one| (DECORATOR, one.span)).collect(),
            doc: None,
            span,
        };
        class.foreign.extend(bases.map(|span| (BASE, span)));
        body.into_iter().for_each(|stmt| class.add(stmt));
        class
    }

    fn add(&mut self, Stmt { kind, span }: Stmt) {
        match kind {
            StmtKind::Function(function) => self.add_method(function),
            StmtKind::Assign(targets, value) => match &targets[..] {
                [Expr { kind: ExprKind::Name(name), span }] => {
                    self.constants.push((Ident { name: name.clone(), span: *span }, value));
                }
                _ => self.foreign.push((STATEMENT, span)),
            },
            StmtKind::Declare(name, annotation) if annotation.is_constexpr() => {
                self.constexprs.push(name);
            }
            StmtKind::Expr(Expr { kind: ExprKind::Text(text), .. }) => self.doc = Some(text.value),
            StmtKind::Pass => {}
            StmtKind::Foreign(foreign) => self.foreign.push((foreign, span)),
            _ => self.foreign.push((STATEMENT, span)),
        }
    }

    fn add_method(&mut self, function: Arc<Function>) {
        let Ident { name, span } = &function.name;
        let is_static = match &function.decorators[..] {
            [] => false,
            [Expr { kind: ExprKind::Name(name), .. }] if &**name == "staticmethod" => true,
            [first, ..] => {
                self.foreign.push((OF_METHOD, first.span));
                return;
            }
        };
        let is_special = name.starts_with("__") && name.ends_with("__");
        if is_special && (&**name != INIT || is_static) {
            self.foreign.push((SPECIAL, *span));
        } else if !is_static && function.params.first().is_none_or(|one| one.is_keyword) {
            self.foreign.push((NO_OBJECT, *span));
        } else {
            self.methods.push(Method { function, is_static });
        }
    }

    /// The function of that name: the last one, as in Python.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().rev().find(|one| &*one.function.name.name == name)
    }

    /// The value of the constant of that name.
    pub fn constant(&self, name: &str) -> Option<&Expr> {
        self.constants.iter().rev().find(|(one, _)| &*one.name == name).map(|(_, value)| value)
    }

    /// Where a field is declared to be constant.
    pub fn constexpr(&self, name: &str) -> Option<Span> {
        self.constexprs.iter().find(|one| &*one.name == name).map(|one| one.span)
    }
}
