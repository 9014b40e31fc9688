// SPDX-License-Identifier: Apache-2.0
//! From a signature to a plan: the parameters plan themselves one after another, and the planner
//! keeps what they share, one story a file: the names that have a value by now (`name`), the checks
//! that wait for one (`waiting`), the symbols that only strides bind (`stride`), facts of tensors
//! and devices (`tensor`), and what leaves an `Optional` (`escape`). `evaluate` and `payload` turn
//! expressions and arguments into values.

mod escape;
mod evaluate;
mod name;
mod payload;
mod stride;
mod tensor;
mod waiting;

pub use evaluate::{Checked, Dangers};
pub use name::{Named, NamedKind};
pub use stride::StrideSeen;
pub use tensor::{Anchor, MapSource};

use crate::check;
use crate::declare::Bindings;
use crate::fault::{Complaint, Fault};
use crate::path::Path;
use crate::plan::{Builder, Combinations, Device, Plan, Value};
use crate::rule::Rule;
use kernpack_ffi_abi::DeviceType;
use std::collections::HashMap;
use waiting::Pending;

/// The state of planning one signature.
pub struct Planner<'s> {
    /// The plan's steps and expressions.
    pub b: Builder,
    /// The device of tensors that name none.
    pub default_device: DeviceType,
    signature: &'s str,
    bindings: &'s Bindings,
    rules: &'s [Rule],
    names: HashMap<String, Named>,
    tensors: HashMap<String, check::alias::Extent>,
    map_sources: HashMap<String, MapSource>,
    pending: Vec<Pending>,
    guards: Vec<Value>,
    anchors: Vec<Anchor>,
    stride_uses: Vec<StrideSeen>,
}

impl<'s> Planner<'s> {
    /// A planner for the signature that prints as `signature` in messages.
    pub fn new(
        signature: &'s str,
        bindings: &'s Bindings,
        rules: &'s [Rule],
        default_device: DeviceType,
    ) -> Planner<'s> {
        Planner {
            b: Builder::default(),
            default_device,
            signature,
            bindings,
            rules,
            names: HashMap::new(),
            tensors: HashMap::new(),
            map_sources: HashMap::new(),
            pending: Pending::rules(rules),
            guards: vec![],
            anchors: vec![],
            stride_uses: vec![],
        }
    }

    /// Makes a check: ends the call with the complaint unless `cond` holds.
    pub fn require(&mut self, cond: Value, complaint: Complaint) {
        let fault = self.fault(complaint);
        self.b.require(cond, fault);
    }

    /// The fault of a complaint.
    pub fn fault(&self, complaint: Complaint) -> Fault {
        complaint.into_fault(self.signature)
    }

    /// How the names get their values.
    pub fn bindings(&self) -> &'s Bindings {
        self.bindings
    }

    /// The rules of the signature.
    pub fn rules(&self) -> &'s [Rule] {
        self.rules
    }

    /// Whether the use of `symbol` at `path` is the one that gives it its value.
    pub fn is_binding(&self, symbol: &str, path: &Path) -> bool {
        self.bindings.symbols.get(symbol).is_some_and(|binding| binding.path == path.text)
    }

    /// What follows from the checks: the call's device and its combination of dtypes.
    pub(crate) fn finish_checks(&mut self, plan: &mut Plan) {
        // There is one CPU. Without a tensor that tells, a GPU is the one whose context is current.
        let is_cpu = self.default_device == DeviceType::CPU;
        let (mut kind, mut index) = (self.b.int(self.default_device.0), self.b.int(0));
        let mut is_told = self.b.bool(is_cpu);
        for anchor in self.anchors.iter().rev() {
            let cuda = self.b.int(DeviceType::CUDA.0);
            kind = self.b.select(anchor.cond, cuda, kind);
            index = self.b.select(anchor.cond, anchor.device.1, index);
            is_told = self.b.or(anchor.cond, is_told);
        }
        plan.device = Device { kind, index, is_told };
        if self.bindings.dtypes.is_empty() {
            return;
        }
        let vars: Vec<_> = self.bindings.dtypes.keys().cloned().collect();
        let rows = self.bindings.combinations(self.rules);
        let mut number = self.b.int(0);
        for (i, row) in rows.iter().enumerate().skip(1) {
            let mut all = self.b.bool(true);
            for (var, dtype) in vars.iter().zip(row) {
                let eq = self.b.eq_int(self.names[var].value, dtype.packed());
                all = self.b.and(all, eq);
            }
            let these = self.b.int(i as i64);
            number = self.b.select(all, these, number);
        }
        plan.combinations = Combinations { vars, rows, index: Some(number) };
    }

    /// Moves what was planned into `plan`.
    pub(crate) fn finish(self, plan: &mut Plan) {
        let mut used = Vec::new();
        plan.for_each_effect_value(&mut |value| used.push(value));
        self.b.finish(plan, &used);
    }
}
