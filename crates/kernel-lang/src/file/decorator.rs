// SPDX-License-Identifier: Apache-2.0
//! The decorator of a packed function: as it is written, or as a program has it that ran it.
//!
//! A program may have computed what it passes to `kp.jit`. Its texts are shown where they stand in
//! the decorator as they are, and else as texts of their own. Not here: what signatures mean.

use crate::python::tree::{Call, Expr, ExprKind, Function, Name};
use kernpack_syntax::{Snippet, Span, Texts};
use std::sync::Arc;

/// The decorator of a packed function.
#[derive(Clone, Debug)]
pub enum Decorator {
    /// `@kp.jit("signature", workspace={…})`: the call.
    Written(Call),
    /// The values that a program has passed.
    Said(Said<SaidText>),
}

/// The values that a program has passed to `kp.jit`: texts `T`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said<T = Arc<str>> {
    /// The signature.
    pub signature: T,
    /// The workspaces: names with tensors.
    pub workspaces: Vec<(Name, T)>,
    /// Whether the signature was made of a call's arguments: what it returns, what it writes, and
    /// what it allocates is then what its body says.
    pub is_made: bool,
    /// Whether indices are refused that the extent of another tensor alone bounds.
    pub is_strict: bool,
    /// The checks of its kernels as they run.
    pub checks: Checks,
}

/// The checks of a function's kernels as they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Whether they have their assertions.
    pub asserts: bool,
    /// Whether they check each index, too.
    pub is_checked: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Checks { asserts: true, is_checked: false }
    }
}

/// A text that a program has passed, and where that is shown.
#[derive(Clone, Debug)]
pub struct SaidText {
    text: Arc<str>,
    span: Span,
    first: Option<usize>,
}

impl SaidText {
    /// It, to be read.
    pub fn snippet(&self) -> Snippet<'_> {
        Snippet { text: &self.text, span: self.span, first: self.first }
    }
}

impl Said {
    /// With the places of its texts: in the decorators of a function, or by themselves.
    pub(super) fn placed(&self, function: &Function, texts: &mut Texts) -> Said<SaidText> {
        let name = &function.name.name;
        let mut place = |text: &Arc<str>, what: String| {
            let written = function.decorators.iter().find_map(|one| find(one, text));
            written.unwrap_or_else(|| {
                let id = texts.add(what, &**text);
                let span = texts.snippet(id).span;
                SaidText { text: text.clone(), span, first: Some(0) }
            })
        };
        let signature = place(&self.signature, format!("signature of {name}"));
        let workspaces = self.workspaces.iter().map(|(own, tensor)| {
            (own.clone(), place(tensor, format!("workspace {own} of {name}")))
        });
        let workspaces = workspaces.collect();
        let Said { is_made, is_strict, checks, .. } = *self;
        Said { signature, workspaces, is_made, is_strict, checks }
    }
}

/// The literal in an expression that is this text.
fn find(expr: &Expr, wanted: &str) -> Option<SaidText> {
    match &expr.kind {
        ExprKind::Text(text) if *text.value == *wanted => {
            Some(SaidText { text: text.value.clone(), span: expr.span, first: text.first })
        }
        ExprKind::Call(call) => {
            let args = call.args.iter().chain(call.keywords.iter().map(|(_, value)| value));
            args.into_iter().find_map(|arg| find(arg, wanted))
        }
        ExprKind::Dict(items) => items.iter().find_map(|(_, value)| find(value, wanted)),
        _ => None,
    }
}
