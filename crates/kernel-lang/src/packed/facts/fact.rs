// SPDX-License-Identifier: Apache-2.0
//! A fact of a call, and what establishes it.

use kernpack_kernel_ir::kernel::Facts;
use kernpack_validators::{Branch, Expr, Rule};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// The reason that establishes a fact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Because {
    /// A check of the entry point: every accepted call has passed it.
    Check(Arc<str>),
    /// A condition that holds wherever the launch runs.
    When(Arc<str>),
    /// The result or workspace of that name, which the call allocates. A twin, which is passed its
    /// results, checks what is known of them.
    Allocated(Arc<str>),
}

/// Something that is so in every call that gets to a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Claim {
    /// An expression has such a value where it has one.
    Number(Expr, Facts),
    /// The address of the tensor of that path is a multiple of so many bytes, or it has no
    /// elements.
    Aligned(String, u32),
    /// The tensors of these paths share no memory, or one of them has no elements.
    Apart(String, String),
}

/// A claim, and what establishes it: all of it together.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The claim.
    pub claim: Claim,
    /// Why.
    pub because: BTreeSet<Because>,
}

impl Because {
    /// A rule of the signature.
    pub(super) fn rule(rule: &Rule) -> Because {
        Because::Check(format!("`{rule}`").into())
    }

    /// A side of an `if`, or a condition.
    pub(super) fn when(branch: &Branch) -> Because {
        let Branch { rule, holds } = branch;
        Because::When(if *holds { rule.to_string() } else { format!("not ({rule})") }.into())
    }
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Because::Check(text) => write!(f, "{text} is checked"),
            Because::When(text) => write!(f, "`{text}` holds here"),
            Because::Allocated(name) => write!(f, "the call allocates `{name}`"),
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Number(expr, Facts { min, max, divisor }) => {
                write!(f, "{expr} in {min}..={max}")?;
                if *divisor > 1 { write!(f, ", a multiple of {divisor}") } else { Ok(()) }
            }
            Claim::Aligned(path, bytes) => write!(f, "{path} at a multiple of {bytes} bytes"),
            Claim::Apart(a, b) => write!(f, "{a} apart from {b}"),
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because: Vec<_> = self.because.iter().map(ToString::to_string).collect();
        write!(f, "{}: {}", self.claim, because.join(", "))
    }
}
