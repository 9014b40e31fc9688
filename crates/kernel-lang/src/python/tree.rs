// SPDX-License-Identifier: Apache-2.0
//! Python as kernpack reads it: the part of its grammar that kernels and packed functions are
//! written in. Whatever else Python has is one node, [`Foreign`], which says what to write instead,
//! and is a mistake only where a kernel gets there.
//!
//! Deliberately absent: the parser's own tree, and what names mean.

pub use super::class::{Class, Method};
pub use super::statement::{Block, Stmt, StmtKind};

use crate::integer::Integer;
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// A name.
pub type Name = Arc<str>;

/// A name, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// A construct of Python that kernels have not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its words: `a dictionary`.
    pub what: &'static str,
    /// The help: what to write instead, as an imperative.
    pub instead: &'static str,
}

impl Foreign {
    /// That it is no part of kernels.
    pub fn diagnostic(self, span: Span) -> Diagnostic {
        Diagnostic::new("foreign-python", format!("kernels have no {}", self.what))
            .label(span, "not part of the kernel language")
            .help(self.instead)
    }
}

/// A name that an import binds.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// How many points stand in front of the module.
    pub level: u32,
    /// The module, with points in it: empty in `from . import x`.
    pub module: Name,
    /// The member that is taken from it; nothing where the module itself is; `*` for all of it.
    pub member: Option<Name>,
    /// The name that is bound.
    pub bound: Ident,
}

/// A function: of a `def` or of a `lambda`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name: `lambda` where it has none.
    pub name: Ident,
    /// Its decorators.
    pub decorators: Vec<Expr>,
    /// Its parameters.
    pub params: Vec<Param>,
    /// The parts of its parameter list that kernels have not.
    pub foreign_params: Vec<(Foreign, Span)>,
    /// Its statements.
    pub body: Block,
    /// Its docstring.
    pub doc: Option<Arc<str>>,
    /// All of it.
    pub span: Span,
}

impl Function {
    /// A method as a function of what follows its object.
    pub fn of_object(&self) -> Function {
        let params = self.params.iter().skip(1).cloned().collect();
        Function { params, ..self.clone() }
    }
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// The expression behind `:`.
    pub annotation: Option<Expr>,
    /// Its default.
    pub default: Option<Expr>,
    /// Whether it can only be passed by name.
    pub is_keyword: bool,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its form.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// Whether an annotation is `kp.Constexpr`, or `kp.Constexpr[int]`.
    pub fn is_constexpr(&self) -> bool {
        match &self.kind {
            ExprKind::Name(name) => &**name == "Constexpr",
            ExprKind::Attribute(_, member) => &*member.name == "Constexpr",
            ExprKind::Subscript(of, _) => of.is_constexpr(),
            _ => false,
        }
    }
}

/// The forms of an expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// `x`
    Name(Name),
    /// `12`; Python's integers have no end, these have at most 65536 bits.
    Int(Integer),
    /// `1.5`
    Float(f64),
    /// `True`, `False`
    Bool(bool),
    /// `None`
    None,
    /// `"text"`, and where it is written.
    Text(Text),
    /// `f"text {a}"`
    Formatted(Formatted),
    /// `(a, b)`
    Tuple(Vec<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `{"a": b}`: keys that are no texts are foreign.
    Dict(Vec<(Expr, Expr)>),
    /// `a.b`
    Attribute(Box<Expr>, Ident),
    /// `a[b]`
    Subscript(Box<Expr>, Box<Expr>),
    /// `f(a, b=c)`
    Call(Box<Call>),
    /// `-a`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<(Expr, Expr)>),
    /// `a and b and c`
    Logic(LogicOp, Vec<Expr>),
    /// `a < b < c`
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `a if test else b`: test, a, b.
    Conditional(Box<(Expr, Expr, Expr)>),
    /// `lambda x: e`
    Lambda(Arc<Function>),
    /// `[e for x in xs if c]`, and the like in parentheses.
    Comprehension(Box<Comprehension>),
    /// `*a`
    Starred(Box<Expr>),
    /// Anything else.
    Foreign(Foreign),
}

/// A literal of characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// Its characters.
    pub value: Arc<str>,
    /// Where the first of them stands, where each stands there as it is: there are no escapes.
    pub first: Option<usize>,
}

/// A text with expressions in it.
#[derive(Clone, Debug)]
pub struct Formatted {
    /// The texts around the fields: one more than there are fields.
    pub pieces: Vec<String>,
    /// The expressions.
    pub fields: Vec<Expr>,
}

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    /// The expression that is called.
    pub function: Expr,
    /// The arguments by position.
    pub args: Vec<Expr>,
    /// The arguments by name.
    pub keywords: Vec<(Ident, Expr)>,
}

/// `e for x in xs if c`
#[derive(Clone, Debug)]
pub struct Comprehension {
    /// The element that is made in each turn.
    pub element: Expr,
    /// The loops, the outermost first.
    pub loops: Vec<ComprehensionLoop>,
}

/// `for x in xs if c`
#[derive(Clone, Debug)]
pub struct ComprehensionLoop {
    /// The target that is bound.
    pub target: Expr,
    /// To what.
    pub iter: Expr,
    /// The conditions that have to hold.
    pub conditions: Vec<Expr>,
}

macro_rules! operators {
    ($( #[doc = $doc:literal] $type:ident { $( $name:ident = $text:literal, )* } )*) => { $(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $( #[doc = concat!("`", $text, "`")] $name, )*
        }

        impl $type {
            /// As it is written.
            pub const fn text(self) -> &'static str {
                match self { $( $type::$name => $text, )* }
            }
        }
    )* };
}

operators! {
    /// An operator with one operand.
    UnaryOp { Neg = "-", Pos = "+", Invert = "~", Not = "not", }
    /// An operator with two operands.
    BinaryOp {
        Add = "+", Sub = "-", Mul = "*", Div = "/", FloorDiv = "//", Mod = "%", Pow = "**",
        MatMul = "@", Shl = "<<", Shr = ">>", And = "&", Or = "|", Xor = "^",
    }
    /// An operator that need not look at its second operand.
    LogicOp { And = "and", Or = "or", }
    /// A comparison.
    CompareOp {
        Eq = "==", Ne = "!=", Lt = "<", Le = "<=", Gt = ">", Ge = ">=", Is = "is",
        IsNot = "is not", In = "in", NotIn = "not in",
    }
}
