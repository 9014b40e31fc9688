// SPDX-License-Identifier: Apache-2.0
//! The kinds of block. A kind is one file of this folder and one line of [`KINDS`].

mod beside;
mod call;
mod diagnostic;
mod fault;
mod interpreted;
mod ir;
mod kernels;
mod launch;
mod launches;
mod notes;
mod plan;
mod prints;
mod python;
mod run;
mod short;
mod signature;
mod values;
mod verified;
mod workspace;

use crate::callee::{Callee, Outcome};
use crate::kernel_text::KernelText;
use crate::subject::Subject;

/// A kind of block.
pub struct Kind {
    /// Its info string.
    pub info: &'static str,
    /// What it does.
    pub role: Role,
}

/// What a block does.
pub enum Role {
    /// Begins the function of the blocks up to the next one. All functions of a file are read
    /// before anything is called.
    Begin(fn(&str) -> Result<Subject, String>),
    /// Adds to the function.
    Add(fn(&str, &mut Subject) -> Result<(), String>),
    /// Calls the function, of everything that can be called; says how that ended.
    Call(fn(&str, &mut [&mut dyn Callee]) -> Result<Outcome, String>),
    /// Shows something of the function or of the call before it. The block holds what is expected;
    /// `BLESS=1` rewrites it.
    Show(fn(&Shown<'_>) -> Result<String, String>),
    /// Shows how the call before it ended: nothing else may be said of it behind that.
    End(fn(&Shown<'_>) -> Result<String, String>),
    /// Is about kernels written here, and about no signature: gives what the block should hold.
    /// `BLESS=1` rewrites it.
    Kernels(fn(&mut KernelText, &str) -> Result<String, String>),
}

/// What a block can show something of.
pub struct Shown<'s> {
    /// The function.
    pub subject: &'s Subject,
    /// How the call right before ended.
    pub outcome: Option<&'s Outcome>,
}

/// The registry: a line a kind.
pub const KINDS: &[Kind] = &[
    signature::KIND,
    kernels::KIND,
    kernels::ON_THE_PAGE,
    workspace::KIND,
    launch::KIND,
    launches::KIND,
    notes::KIND,
    diagnostic::KIND,
    short::KIND,
    prints::KIND,
    plan::KIND,
    call::KIND,
    fault::KIND,
    values::KIND,
    python::KIND,
    beside::KIND,
    run::KIND,
    run::CHECKED,
    interpreted::KIND,
    ir::KIND,
    verified::KIND,
];

/// What shows a function's problems.
pub const PROBLEMS: &Kind = &diagnostic::KIND;

/// The kind of that info string.
pub fn kind(info: &str) -> Result<&'static Kind, String> {
    let kind = KINDS.iter().find(|kind| kind.info == info);
    kind.ok_or_else(|| format!("there is no block `{info}`"))
}
