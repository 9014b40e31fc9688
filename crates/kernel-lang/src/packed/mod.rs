// SPDX-License-Identifier: Apache-2.0
//! Packed functions: `@kp.jit("signature")`, and how the kernels that they launch are compiled.
//!
//! ```python
//! @kp.jit("reduce_sum(x: Tensor([m, n], float32), out: Tensor([m], float32, mut))")
//! def reduce_sum(x, out):
//!     """Sums each row."""
//!     m, n = x.shape
//!     if n % 4 == 0:
//!         sum_rows(x, out, 4).launch(grid=m, block=512)
//!     else:
//!         sum_rows(x, out, 1).launch(grid=m, block=512)
//! ```
//!
//! Its parameters are the signature's, then the results, then the workspaces. The body runs while
//! the package is built. An expression over dims stands for the number that each call computes, and
//! an `if` over dims takes both ways, each with what is known there ([`facts`]). What comes of it
//! is a list of launches, each with the sides of `if`s on which it runs, what its kernel is passed
//! ([`Argument`]), and its layout as expressions.
//!
//! With dtype variables all this happens once for each combination of dtypes ([`Row`]), in which
//! they are constants. [`settle`] has the kernels of all of them elaborated, and joins the launches
//! of those that are launched alike.
//!
//! Not here: files, what kernels do, plans.

mod algebra;
mod allocation;
mod arch;
mod assertion;
mod body;
mod call;
mod choice;
mod closure;
mod condition;
mod demand;
mod dependent;
mod device;
mod dims;
mod expression;
pub mod facts;
mod fork;
mod found;
mod given;
mod header;
mod kernel_call;
mod limits;
mod loops;
mod max_blocks;
mod name;
mod number;
mod returned;
pub mod settle;
mod shown;
mod tensor;
mod told;
mod unrelated;
mod value;
mod view;
mod wide;
pub mod written;

#[cfg(test)]
pub(crate) mod tests;

pub use facts::{Because, CallFacts, Claim, Fact, Row};
pub use unrelated::Unrelated;

use crate::argument::Argument;
use crate::builtin::Entry;
use crate::call::call_text;
use crate::extents::Relations;
use crate::file::{Checks, Definition, DefinitionKind, KernelFiles};
use expression::OfRow;
use found::{Found, Pass};
use header::Header;
use kernpack_kernel_ir::kernel::Demands;
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostics, Placed, Span};
use kernpack_validators::declare::Bindings;
use kernpack_validators::{Branch, Geometry, Signature, Workspace};
use std::sync::Arc;
use told::Told;

/// A packed function.
#[derive(Clone, Debug)]
pub struct PackedFunction {
    /// The signature: what calls pass and get.
    pub signature: Signature,
    /// Its documentation, for readers.
    pub doc: Option<String>,
    /// Memory that a call allocates for its launches.
    pub workspaces: Vec<Workspace>,
    /// The launches of calls, for each combination of dtypes; one where there are no dtype
    /// variables.
    pub rows: Vec<PackedRow>,
    /// The treatment of an index that the extent of another tensor alone bounds.
    pub unrelated: Unrelated,
    /// The checks of its kernels as they run.
    pub checks: Checks,
}

/// The launches of calls of one combination of dtypes.
#[derive(Clone, Debug)]
pub struct PackedRow {
    /// The dtypes.
    pub row: Row,
    /// In order. Of those on different sides of an `if`, a call runs those of one.
    pub launches: Vec<PackedLaunch>,
    /// The prints of the function.
    pub notes: Diagnostics,
}

/// A launch of a kernel with what it is passed.
#[derive(Clone, Debug)]
pub struct PackedLaunch {
    /// Where it is written.
    pub span: Span,
    /// The sides of `if`s on which it runs.
    pub branches: Vec<Branch>,
    /// The kernel.
    pub kernel: Arc<Definition>,
    /// The argument of each of the kernel's parameters, in order.
    pub args: Vec<Argument>,
    /// How it is laid out.
    pub geometry: Geometry,
    /// The demands on whoever assembles the kernel.
    pub demands: Demands,
    /// The architectures that it is for, where it names some.
    pub archs: Vec<Placed<Arch>>,
    /// The facts about calls that run it, which its kernel is compiled for.
    pub known: Vec<Fact>,
    /// The numbers of such calls that are related, however.
    pub relations: Relations,
}

/// Functions that packed functions call beside the layout algebra, and the keywords of a launch:
/// what the reference page is made of.
pub fn reference() -> Vec<(&'static str, Vec<Entry>)> {
    let functions = number::rows().map(|row| Entry {
        call: call_text(&format!("kp.{}", row.name), row.takes),
        doc: row.doc.into(),
    });
    let keyword =
        |(name, doc): (&str, &'static str)| Entry { call: format!("{name}="), doc: doc.into() };
    let keywords = kernel_call::keywords().map(keyword);
    vec![
        ("Functions of packed functions", functions.collect()),
        ("The device of a call", device::reference()),
        ("Keywords of launches", keywords.collect()),
    ]
}

/// The packed functions of a file, in order, and what is wrong with any of them: a function in
/// which something is wrong is not among them, and what is wrong with the kernels that it launches
/// is told here.
pub fn functions(files: &KernelFiles) -> (Vec<PackedFunction>, Diagnostics) {
    let mut problems = Diagnostics::default();
    let functions = files.packed().filter_map(|definition| {
        let mut own = Diagnostics::default();
        let function = function(files, definition, &mut own);
        let is_sound = !own.has_errors();
        problems.extend(own);
        if let (false, Some(function)) = (is_sound, &function) {
            let mut kernels = settle::Kernels::default();
            let found = kernels.settle(files, &function.rows, function.unrelated);
            problems.extend(found.err().unwrap_or_default());
            // What is printed may say why something is wrong.
            problems.extend(kernels.warnings);
        }
        function.filter(|_| is_sound)
    });
    let functions = functions.collect();
    (functions, problems)
}

fn function(
    files: &KernelFiles,
    definition: &Definition,
    problems: &mut Diagnostics,
) -> Option<PackedFunction> {
    let DefinitionKind::Packed(decorator) = &definition.kind else { return None };
    let Header { signature, workspaces, is_made, unrelated, checks } =
        header::read(&definition.function, decorator, problems)?;
    let body = Body { files, definition, n_declared: workspaces.len(), is_made };
    let settled = body.settle(signature, workspaces);
    let (signature, workspaces, Walked { rows, problems: found, .. }) =
        settled.map_err(|found| problems.extend(found)).ok()?;
    problems.extend(found);
    let doc = definition.function.doc.as_ref().map(|doc| header::cleaned(doc));
    // Whoever has written a signature has said there what is related.
    Some(PackedFunction { signature, doc, workspaces, rows, unrelated, checks })
}

/// The body of a packed function, for all combinations of dtypes.
struct Body<'f> {
    files: &'f KernelFiles,
    definition: &'f Definition,
    n_declared: usize,
    /// Whether the signature was made of a call's arguments: what is written, returned and
    /// allocated stands here alone.
    is_made: bool,
}

/// The outcome of going through it.
struct Walked {
    rows: Vec<PackedRow>,
    found: Found,
    /// Why no call of a combination of dtypes is accepted.
    refused: Vec<(Row, OfRow)>,
    /// See [`expression::Evaluator::unasked`].
    unasked: Vec<(Row, Span)>,
    problems: Diagnostics,
}

impl Body<'_> {
    /// Goes through it with a signature in which all stands that it says; gives that, and the
    /// memory that calls allocate.
    ///
    /// # Errors
    /// What is wrong with the signature.
    fn settle(
        &self,
        written: Signature,
        workspaces: Vec<Workspace>,
    ) -> Result<(Signature, Vec<Workspace>, Walked), Diagnostics> {
        // What kernels write is known when they have been looked at.
        let asked = match self.is_made {
            true => written.clone().for_call(&|_| true),
            false => written.clone(),
        };
        let first = self.walk(&asked, &workspaces, None)?;
        let is_bad = first.problems.has_errors();
        let is_done = match self.is_made {
            true => is_bad,
            false => first.found.is_empty() && (is_bad || wide::rule(&asked, false).is_none()),
        };
        if is_done {
            return Ok((asked, workspaces, first));
        }
        let written = match self.is_made.then(|| settle::written(self.files, &first.rows)) {
            // What is wrong with a kernel is told once launches are settled.
            Some(None) => asked,
            Some(Some(names)) => written.for_call(&|path| names.contains(path)),
            None => written,
        };
        let (whole, workspaces) = first.found.clone().added_to(&written, workspaces);
        match self.walk(&whole, &workspaces, Some(&first)) {
            Ok(walked) => Ok((whole, workspaces, walked)),
            // What was found is no good; what else is wrong was seen without it.
            Err(found) => Err(Diagnostics([first.problems.0, found.0].concat())),
        }
    }

    /// Goes through it, for a signature: to find what belongs there, and with what `before` has
    /// found. A combination of dtypes that was refused then is refused again. The final pass may
    /// have the whole function on a side of a condition, where an assertion that no call keeps
    /// looks like one that only the calls on that side break.
    ///
    /// # Errors
    /// What is wrong with the signature.
    fn walk(
        &self,
        signature: &Signature,
        workspaces: &[Workspace],
        before: Option<&Walked>,
    ) -> Result<Walked, Diagnostics> {
        let Body { files, definition, n_declared, is_made } = *self;
        let bindings = signature.resolve()?;
        let pass = if before.is_some() { Pass::Final } else { Pass::Finding };
        let (mut rows, mut found) = (Vec::new(), Vec::new());
        let (mut refused, mut unasked) = (Vec::new(), Vec::new());
        let (mut problems, mut told) = (Diagnostics::default(), Told::default());
        for (number, row) in self::rows(signature, &bindings).into_iter().enumerate() {
            let facts = CallFacts::of(signature, &bindings, workspaces, row.clone());
            let unasked_before: Vec<_> =
                before.iter().flat_map(|before| of_row(&before.unasked, &row)).collect();
            let parts = body::Parts {
                files,
                definition,
                signature,
                workspaces,
                n_declared,
                pass,
                unasked: &unasked_before,
                is_made,
            };
            let walked = body::run(parts, facts);
            // What is wrong is so for most combinations of dtypes.
            problems.extend_new(walked.problems);
            let before = before.iter().flat_map(|before| of_row(&before.refused, &row));
            for why in before.chain(walked.of_row) {
                let diagnostic = why.diagnostic.clone().into();
                told.add(diagnostic, (number, &row), (why.span, why.words));
                refused.push((row.clone(), why));
            }
            found.push((row.clone(), walked.found));
            unasked.extend(walked.unasked.into_iter().map(|span| (row.clone(), span)));
            rows.push(PackedRow { row, launches: walked.launches, notes: walked.notes });
        }
        problems.extend(told.finish());
        Ok(Walked { rows, found: Found::of_rows(&found), refused, unasked, problems })
    }
}

/// Those of one combination of dtypes.
fn of_row<T: Clone>(all: &[(Row, T)], row: &Row) -> impl Iterator<Item = T> {
    all.iter().filter(move |(of, _)| of == row).map(|(_, one)| one.clone())
}

/// The combinations of dtypes that a signature allows; one without any where it has no variables.
pub fn rows(signature: &Signature, bindings: &Bindings) -> Vec<Row> {
    if bindings.dtypes.is_empty() {
        return vec![Row::new()];
    }
    let row = |dtypes: Vec<_>| bindings.dtypes.keys().cloned().zip(dtypes).collect();
    bindings.combinations(&signature.rules).into_iter().map(row).collect()
}
