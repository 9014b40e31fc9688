// SPDX-License-Identifier: Apache-2.0
//! Registers that warpgroups hand to one another: a multiprocessor has enough for the last number
//! that each warpgroup of a block asks for, or one of them waits forever.
//!
//! The way of each warpgroup is walked where its conditions are known from which one it is. Where
//! it may or may not come by, it is taken to have the fewest registers that this leaves possible,
//! so that only a block is refused of which no run can go well.

use super::report::Report;
use crate::constant::Const;
use crate::eval;
use crate::intrinsic::{Geometry, Meaning};
use crate::kernel::{Kernel, Value};
use crate::op::{Call, Expr, Jump, Op, OpKind, Operand, Region, Rounding};
use crate::types::Type;
use kernpack_machine::block::WARPGROUP_SIZE;
use kernpack_machine::multiprocessor::{LEAST_REGISTERS, REGISTERS};
use kernpack_syntax::Diagnostic;
use std::collections::HashMap;

pub(super) fn verify(report: &mut Report<'_>) {
    let kernel = report.kernel;
    let [Some(x), Some(y), Some(z)] = kernel.block else { return };
    let asks = |call: &Call| matches!(call.intrinsic.meaning, Meaning::Registers { .. });
    if !kernel.body.any_call(asks) {
        return;
    }
    let n_groups = x * y * z / WARPGROUP_SIZE;
    let ways: Vec<_> = (0..n_groups).map(|group| Way::of(kernel, [x, y], group)).collect();
    let asked = ways.iter().map(|way| u64::from(way.count) * u64::from(WARPGROUP_SIZE));
    let asked: u64 = asked.sum();
    let largest = ways.iter().filter(|way| way.last.is_some()).max_by_key(|way| way.count);
    let Some(op) = largest.and_then(|way| way.last).filter(|_| asked > REGISTERS) else { return };
    let counts: Vec<_> = ways.iter().map(|way| way.count.to_string()).collect();
    let message = format!(
        "threads of the warpgroups of a block ask for {} registers each, {asked} in all, and a multiprocessor has {REGISTERS}",
        counts.join(" and ")
    );
    let most = REGISTERS / u64::from(WARPGROUP_SIZE);
    let help = format!("ask for fewer: {most} for a thread of each warpgroup, counted together");
    let problem = Diagnostic::new("registers", message).help(help);
    report.push(op, problem, "waits forever in one of them");
}

/// The way of a warpgroup through a kernel.
struct Way<'k> {
    kernel: &'k Kernel,
    /// The threads of the block along x and y.
    block: [u32; 2],
    /// The number of its first thread.
    thread: u32,
    /// Values of that thread.
    known: HashMap<Value, Const>,
    /// Whether it surely comes here.
    is_sure: bool,
    /// Whether it has surely ended.
    has_ended: bool,
    /// The registers that each of its threads has, or fewer.
    count: u32,
    /// The operation that asked for them.
    last: Option<&'k Op>,
}

impl<'k> Way<'k> {
    fn of(kernel: &'k Kernel, block: [u32; 2], group: u32) -> Way<'k> {
        let mut way = Way {
            kernel,
            block,
            thread: group * WARPGROUP_SIZE,
            known: HashMap::new(),
            is_sure: true,
            has_ended: false,
            count: LEAST_REGISTERS,
            last: None,
        };
        way.region(&kernel.body);
        way
    }

    fn region(&mut self, region: &'k Region) {
        for op in &region.0 {
            if self.has_ended {
                return;
            }
            self.op(op);
        }
    }

    fn op(&mut self, op: &'k Op) {
        match &op.kind {
            OpKind::Expr(expr) => {
                if let (Some(result), Some(value)) = (op.result, self.value(op, expr)) {
                    self.known.insert(result, value);
                }
            }
            OpKind::Call(call) => self.call(op, call),
            OpKind::If { condition, then, otherwise } => match self.truth(*condition) {
                Some(true) => self.region(then),
                Some(false) => self.region(otherwise),
                None => self.perhaps(&[then, otherwise]),
            },
            OpKind::For { body, .. } => self.perhaps(&[body]),
            OpKind::While { before, body, .. } => self.perhaps(&[before, body]),
            OpKind::Jump(Jump::Return) if self.is_sure => self.has_ended = true,
            OpKind::Jump(_) => self.is_sure = false,
            _ => {}
        }
    }

    /// Regions that it may or may not come by. Where one leaves, the rest is uncertain, too.
    fn perhaps(&mut self, regions: &[&'k Region]) {
        let was_sure = std::mem::take(&mut self.is_sure);
        regions.iter().for_each(|region| self.region(region));
        self.is_sure = was_sure && !regions.iter().any(|region| returns(region));
    }

    fn call(&mut self, op: &'k Op, call: &Call) {
        match (call.intrinsic.meaning, &call.operands[..]) {
            (Meaning::Registers { .. }, [Operand::Constant(count)]) => {
                let count = u32::try_from(*count).unwrap_or(LEAST_REGISTERS);
                if self.is_sure || count < self.count {
                    (self.count, self.last) = (count, Some(op));
                }
            }
            (Meaning::Geometry(geometry), _) => {
                let number = self.geometry(geometry);
                if let (Some(result), Some(number)) = (op.result, number)
                    && let Type::Scalar(scalar) = self.kernel.ty(result)
                {
                    self.known.insert(result, Const::int(scalar, number.into()));
                }
            }
            _ => {}
        }
    }

    fn geometry(&self, geometry: Geometry) -> Option<u32> {
        let [x, y] = self.block;
        match geometry {
            Geometry::ThreadIdx(0) => Some(self.thread % x),
            Geometry::ThreadIdx(1) => Some(self.thread / x % y),
            Geometry::ThreadIdx(_) => Some(self.thread / x / y),
            Geometry::Warpgroup => Some(self.thread / WARPGROUP_SIZE),
            _ => None,
        }
    }

    fn value(&self, op: &Op, expr: &Expr) -> Option<Const> {
        let of = |value: &Value| self.known.get(value).copied();
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::Unary(unary, value) => Some(eval::unary(*unary, of(value)?)),
            Expr::Binary(binary, a, b) => Some(eval::binary(*binary, of(a)?, of(b)?)),
            Expr::Compare(compare, a, b) => {
                Some(Const::bool(eval::compare(*compare, of(a)?, of(b)?)))
            }
            Expr::Convert(value, rounding) => self.converted(op, of(value)?, *rounding),
            _ => None,
        }
    }

    fn converted(&self, op: &Op, value: Const, rounding: Rounding) -> Option<Const> {
        let to = self.kernel.ty(op.result?).scalar()?;
        Some(eval::convert(value, to, rounding))
    }

    fn truth(&self, condition: Value) -> Option<bool> {
        self.known.get(&condition)?.as_bool()
    }
}

/// Whether threads may end in a region.
fn returns(region: &Region) -> bool {
    region.any(&|kind| matches!(kind, OpKind::Jump(Jump::Return)))
}
