// SPDX-License-Identifier: Apache-2.0
//! Rules of products of warpgroups: who makes them, what they are made of, and what registers may
//! be touched while one is in flight.
//!
//! The sums, and A in registers, belong to a product from where it begins until a wait that leaves
//! fewer groups than came behind it, and a fence stands between what touches them and the next
//! product. An assembler that finds it otherwise has each product wait for the one before, or wrong
//! results come of it, so that it is a mistake here.
//!
//! One walk goes along all ways through the kernel (`flow`). Where ways join, what is in flight on
//! one of them is, and what was touched on one of them was. A loop is walked until nothing is new
//! where it begins.

mod flow;

use super::report::Report;
use super::uniform::Uniformity;
use crate::group_product::{Elements, GroupProduct};
use crate::intrinsic::Level;
use crate::kernel::{Kernel, Local};
use crate::op::{Call, Op, OpKind};
use crate::types::Scalar;
use kernpack_machine::block::WARPGROUP_SIZE;
use kernpack_syntax::Diagnostic;

pub use flow::Handed;

/// The bytes of a register.
const WORD_BYTES: u32 = 4;
/// The columns that products of integers may have beyond those that are a multiple of 16.
const MORE_COLUMNS_OF_INTS: [u32; 2] = [8, 24];

/// Refuses operands of a product.
pub(super) fn rule(kernel: &Kernel, call: &Call) -> Result<(), String> {
    let Some(product) = GroupProduct::of(call) else { return Ok(()) };
    let GroupProduct { sums, factor, n, .. } = product;
    are_elements(kernel, sums, product.sum())?;
    if let Some(part) = product.part_of_a() {
        are_elements(kernel, part, factor)?;
        let count = kernel.locals[part.local.index()].count;
        if [part.first, count].iter().any(|one| !one.is_multiple_of(WORD_BYTES / factor.bytes())) {
            return Err(format!("the part of `{}` is no whole registers", part.local));
        }
    }
    if !factor.is_float() && n % 16 != 0 && !MORE_COLUMNS_OF_INTS.contains(&n) {
        return Err(format!("no product of {factor} has {n} columns"));
    }
    match product.matrices().find(|matrix| !matrix.lies.is_k_major && factor.bits() != 16) {
        Some(_) => Err(format!("a factor of {factor} lies row by row")),
        None => Ok(()),
    }
}

fn are_elements(kernel: &Kernel, elements: Elements, of: Scalar) -> Result<(), String> {
    let array = &kernel.locals[elements.local.index()];
    let Elements { local, first, count } = elements;
    if array.element != of {
        return Err(format!("`{local}` is of {}, and the product of {of}", array.element));
    }
    if first + count > array.count {
        let last = first + count - 1;
        return Err(format!("`{local}` has {} elements, and no number {last}", array.count));
    }
    Ok(())
}

/// Whether an operation is of a warpgroup.
fn is_of_warpgroup(op: &Op) -> bool {
    matches!(&op.kind, OpKind::Call(call) if call.intrinsic.together == Level::Warpgroup)
}

pub(super) fn verify(report: &mut Report<'_>, uniformity: &Uniformity) {
    let kernel = report.kernel;
    let mut is_first = true;
    report.each_op(|report, op| {
        if !is_of_warpgroup(op) {
            return;
        }
        if std::mem::take(&mut is_first) {
            whole_warpgroups(report, op);
        }
        if let OpKind::Call(call) = &op.kind
            && let Some(product) = GroupProduct::of(call)
        {
            alike(report, op, &product, uniformity);
        }
    });
    for problem in flow::problems(kernel) {
        tell(report, &problem);
    }
}

/// A block is whole warpgroups, where its threads are known.
fn whole_warpgroups(report: &mut Report<'_>, op: &Op) {
    let block = report.kernel.block;
    let threads = block.iter().try_fold(1_u32, |all, one| all.checked_mul((*one)?));
    let Some(threads) = threads.filter(|threads| threads % WARPGROUP_SIZE != 0) else { return };
    let message = format!(
        "warpgroups are {WARPGROUP_SIZE} threads each, and a block of {threads} is no whole ones"
    );
    let help = format!("launch it with `block=` a multiple of {WARPGROUP_SIZE}");
    report.push(op, Diagnostic::new("warpgroup", message).help(help), "done by a warpgroup");
}

/// All threads of a warpgroup mean the same product.
fn alike(report: &mut Report<'_>, op: &Op, product: &GroupProduct, uniformity: &Uniformity) {
    let pointers = product.matrices().map(|matrix| (matrix.pointer, "where a factor lies"));
    let accumulate = (product.accumulate, "whether the sums are added to");
    let mut all = pointers.chain([accumulate]);
    let Some((_, what)) = all.find(|(value, _)| uniformity.level(*value) < Level::Warpgroup) else {
        return;
    };
    let message = format!("{what} is not known to be the same for every thread of a warpgroup");
    let help = "compute it from what the warpgroup has the same, such as `kp.warpgroup_idx()`";
    report.push(op, Diagnostic::new("divergent", message).help(help), "");
}

fn name(kernel: &Kernel, local: Local) -> &str {
    &kernel.locals[local.index()].name
}

fn tell(report: &mut Report<'_>, problem: &flow::Problem<'_>) {
    let kernel = report.kernel;
    let of = |elements: &Elements| name(kernel, elements.local);
    let line = |place| report.line(place).map_or(String::new(), |line| format!(" ({line})"));
    match &problem.mistake {
        flow::Mistake::Touched { by, is_open } => {
            let why = if *is_open { ", and is in no group yet" } else { "" };
            let message = format!(
                "`{}` is touched while a product with it is in flight{}{why}",
                of(&problem.of),
                line(*by)
            );
            let help = match is_open {
                true => {
                    "commit the product and wait for it before: `kp.wgmma_commit()`, then `kp.wgmma_wait(0)`"
                }
                false => "wait for the product before: `kp.wgmma_wait(0)`",
            };
            let problem_ = Diagnostic::new("fragment-in-flight", message).help(help);
            let problem_ = report.mark(problem_, *by, "the product begins here");
            report.push(problem.op, problem_, "touched here");
        }
        flow::Mistake::Unfenced { touched } => {
            let message = format!(
                "no fence stands between where `{}` is touched{} and this product",
                of(&problem.of),
                line(*touched)
            );
            let unfenced = unfenced(message);
            let unfenced = report.mark(unfenced, *touched, "touched here");
            report.push(problem.op, unfenced, "the product begins here");
        }
        flow::Mistake::NoFence => {
            let message = "no fence stands in front of this product".to_string();
            report.push(problem.op, unfenced(message), "the product begins here");
        }
        flow::Mistake::Indexed => {
            let message = format!(
                "`{}` is in registers, as a product is made of it, and which element this is of is not known while compiling",
                of(&problem.of)
            );
            let help = "index it by constants, as in `kp.range_constexpr`, and without a condition";
            let indexed = Diagnostic::new("product-registers", message).help(help);
            report.push(problem.op, indexed, "accessed here");
        }
    }
}

fn unfenced(message: String) -> Diagnostic {
    Diagnostic::new("product-fence", message)
        .help("write `kp.wgmma_fence()` in front of the first product of the group")
}
