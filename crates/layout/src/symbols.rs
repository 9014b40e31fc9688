// SPDX-License-Identifier: Apache-2.0
//! The context of layouts as they are written: names and `?` for numbers that are not known.
//!
//! A value is an expression. It is printed as such where everything in it has a name, and else as
//! CuTe prints what is not known: `?`, with what is known to divide it. So is one with many
//! operations: parts of it may be shared, and written out it would have no end.

use crate::arith::{Arith, Op};
use crate::facts::Facts;
use crate::int::Int;
use std::fmt::{self, Display, Formatter};
use std::rc::Rc;

/// A number that is not known: a name, a `?`, or what an operation makes of such.
#[derive(Clone, Debug)]
pub struct Symbol(Rc<Term>);

/// How many operations an expression has at most that is written, or looked into.
const MOST_OPERATIONS: u32 = 256;

#[derive(Debug)]
struct Term {
    form: Form,
    facts: Facts,
    /// Whether everything in it has a name.
    is_named: bool,
    /// How many operations there are in it, written out.
    n_operations: u32,
}

impl Term {
    /// Whether it is written out, and not as `?`.
    fn is_written(&self) -> bool {
        self.is_named && self.is_small()
    }

    fn is_small(&self) -> bool {
        self.n_operations <= MOST_OPERATIONS
    }
}

#[derive(Debug)]
enum Form {
    Name(String),
    /// A `?`, which is like no other.
    Unknown(u64),
    Result(Op, Int<Symbol>, Int<Symbol>),
}

impl PartialEq for Symbol {
    fn eq(&self, other: &Symbol) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        if self.0.n_operations != other.0.n_operations || !self.0.is_small() {
            return false;
        }
        match (&self.0.form, &other.0.form) {
            (Form::Name(a), Form::Name(b)) => a == b,
            (Form::Unknown(a), Form::Unknown(b)) => a == b,
            (Form::Result(op, a, b), Form::Result(other, c, d)) => op == other && a == c && b == d,
            (Form::Name(_) | Form::Unknown(_) | Form::Result(..), _) => false,
        }
    }
}

/// Makes symbols, and computes with them.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    n_unknown: u64,
}

impl Symbols {
    /// A context without symbols.
    pub fn new() -> Symbols {
        Symbols::default()
    }

    /// The number of a name. One name is one number; what is known of it is to be the same each
    /// time.
    pub fn name(&mut self, name: &str, facts: Facts) -> Symbol {
        let form = Form::Name(name.to_string());
        Symbol(Rc::new(Term { form, facts, is_named: true, n_operations: 0 }))
    }

    /// A number that nothing says anything about but the facts.
    pub fn unknown(&mut self, facts: Facts) -> Symbol {
        self.n_unknown += 1;
        let form = Form::Unknown(self.n_unknown);
        Symbol(Rc::new(Term { form, facts, is_named: false, n_operations: 0 }))
    }
}

impl Symbol {
    /// The name, of a number that is one by itself and no expression.
    pub fn name(&self) -> Option<&str> {
        match &self.0.form {
            Form::Name(name) => Some(name),
            Form::Unknown(_) | Form::Result(..) => None,
        }
    }
}

impl Arith for Symbols {
    type Value = Symbol;

    fn emit(&mut self, op: Op, a: &Int<Symbol>, b: &Int<Symbol>) -> Int<Symbol> {
        let facts = Facts::of(op, self.facts_of(a), self.facts_of(b));
        let of = |int: &Int<Symbol>| match int {
            Int::Known(_) => (true, 0),
            Int::Dynamic(symbol) => (symbol.0.is_named, symbol.0.n_operations),
        };
        let ((a_named, n_a), (b_named, n_b)) = (of(a), of(b));
        let (is_named, n_operations) = (a_named && b_named, n_a.saturating_add(n_b));
        let (form, n_operations) =
            (Form::Result(op, a.clone(), b.clone()), n_operations.saturating_add(1));
        Int::Dynamic(Symbol(Rc::new(Term { form, facts, is_named, n_operations })))
    }

    fn facts(&self, symbol: &Symbol) -> Facts {
        symbol.0.facts
    }

    fn is_multiple(&self, a: &Int<Symbol>, b: &Symbol) -> bool {
        let Int::Dynamic(a) = a else { return false };
        match &a.0.form {
            Form::Result(Op::Mul, c, d) if a.0.is_small() => {
                [c, d].into_iter().any(|factor| self.divides(&Int::Dynamic(b.clone()), factor))
            }
            Form::Name(_) | Form::Unknown(_) | Form::Result(..) => false,
        }
    }

    fn is_product(&self, product: &Int<Symbol>, a: &Int<Symbol>, b: &Int<Symbol>) -> bool {
        let Int::Dynamic(product) = product else { return false };
        match &product.0.form {
            Form::Result(Op::Mul, c, d) => (c == a && d == b) || (c == b && d == a),
            Form::Name(_) | Form::Unknown(_) | Form::Result(..) => false,
        }
    }
}

impl Display for Symbol {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Term { form, facts, .. } = &*self.0;
        match form {
            Form::Name(name) => {
                f.write_str(name)?;
                match f.alternate() {
                    true => write_facts(f, facts),
                    false => Ok(()),
                }
            }
            Form::Result(op, a, b) if self.0.is_written() => write_result(f, *op, a, b),
            Form::Unknown(_) | Form::Result(..) => match facts.divisor {
                1 => f.write_str("?"),
                divisor => write!(f, "?{{div={divisor}}}"),
            },
        }
    }
}

/// The facts about a name, as they are read: nothing where they are those of any name.
fn write_facts(f: &mut Formatter<'_>, facts: &Facts) -> fmt::Result {
    let Facts { divisor, min, max } = *facts;
    let usual = Facts::NON_NEGATIVE;
    let facts = [("div", divisor, usual.divisor), ("min", min, usual.min), ("max", max, usual.max)];
    let said = facts.iter().filter(|(_, number, usual)| number != usual);
    let said: Vec<_> = said.map(|(word, number, _)| format!("{word}={number}")).collect();
    match said.is_empty() {
        true => Ok(()),
        false => write!(f, "{{{}}}", said.join(" ")),
    }
}

fn write_result(f: &mut Formatter<'_>, op: Op, a: &Int<Symbol>, b: &Int<Symbol>) -> fmt::Result {
    let sign = match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::Div => "//",
        Op::Rem => "%",
        Op::And => "&",
        Op::Xor => "^",
        Op::CeilDiv | Op::Min | Op::Max | Op::Shl | Op::Shr => {
            write!(f, "{}(", op.name())?;
            a.fmt(f)?;
            f.write_str(",")?;
            b.fmt(f)?;
            return f.write_str(")");
        }
    };
    write_operand(f, a)?;
    f.write_str(sign)?;
    write_operand(f, b)
}

/// With parentheses where there is an operation in it.
fn write_operand(f: &mut Formatter<'_>, operand: &Int<Symbol>) -> fmt::Result {
    match operand {
        Int::Dynamic(symbol) if matches!(&symbol.0.form, Form::Result(op, ..) if is_infix(*op)) => {
            f.write_str("(")?;
            operand.fmt(f)?;
            f.write_str(")")
        }
        Int::Known(_) | Int::Dynamic(_) => operand.fmt(f),
    }
}

fn is_infix(op: Op) -> bool {
    !matches!(op, Op::CeilDiv | Op::Min | Op::Max | Op::Shl | Op::Shr)
}
