// SPDX-License-Identifier: Apache-2.0
//! From a signature to a plan: the parameters plan themselves one after another, and the planner
//! keeps what they share, one story a file: the names that have a value by now (`name`), the checks
//! that wait for one (`waiting`), the symbols that several uses may bind (`shared`, over
//! `first_of`), facts of tensors (`tensor`), and what leaves an `Optional` (`escape`). `evaluate`,
//! `compare` and `payload` turn expressions, comparisons and arguments into values.

mod compare;
mod escape;
mod evaluate;
mod first_of;
mod name;
mod payload;
mod shared;
mod star;
mod tensor;
mod waiting;

pub use evaluate::{Checked, Dangers};
pub use first_of::{FirstOf, NextPlace};
pub use name::{Named, NamedKind};
pub use shared::SharedUse;
pub use star::{BoundStar, Direction, Row, StarDims, StarUse};
pub use tensor::MapSource;

use crate::check;
use crate::declare::Bindings;
use crate::fault::Complaint;
use crate::path::Path;
use crate::plan::{Builder, Combinations, Device, Plan, Value};
use crate::rule::Rule;
use kernpack_ffi_abi::DeviceType;
use std::collections::{HashMap, HashSet};
use waiting::Waiting;

/// The state of planning one signature.
pub struct Planner<'s> {
    /// The plan's steps and expressions.
    pub b: Builder,
    /// The device of tensors that name none.
    pub default_device: DeviceType,
    bindings: &'s Bindings,
    rules: &'s [Rule],
    names: HashMap<String, Named>,
    /// The names defined under the open conditions, with what they were before.
    defined: Vec<(String, Option<Named>)>,
    /// The tensors whose memory rules ask about.
    extents_asked: HashSet<&'s str>,
    extents: HashMap<String, check::alias::Extent>,
    /// The stars that have been bound, by the names of how many dims they stand for.
    stars: HashMap<String, BoundStar>,
    map_sources: HashMap<String, MapSource>,
    /// The conditions that uses of symbols stand under which `Optional`s share.
    shared_under: HashMap<String, HashSet<Vec<Value>>>,
    waiting: Waiting,
    guards: Vec<Value>,
    device_index: Option<FirstOf>,
    /// The device indices of peers so far.
    peers: Vec<Value>,
}

impl<'s> Planner<'s> {
    /// A planner for the signature with these names and rules.
    pub fn new(
        bindings: &'s Bindings,
        rules: &'s [Rule],
        default_device: DeviceType,
    ) -> Planner<'s> {
        Planner {
            b: Builder::default(),
            default_device,
            bindings,
            rules,
            names: HashMap::new(),
            defined: vec![],
            extents_asked: check::alias::asked(rules),
            extents: HashMap::new(),
            stars: HashMap::new(),
            map_sources: HashMap::new(),
            shared_under: HashMap::new(),
            waiting: Waiting::new(rules),
            guards: vec![],
            device_index: None,
            peers: vec![],
        }
    }

    /// Makes a check: ends the call with the complaint unless `cond` holds.
    pub fn require(&mut self, cond: Value, complaint: Complaint) {
        self.b.require(cond, complaint.into_fault());
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

    /// Finishes what follows from the checks: the call's device and its combination of dtypes.
    pub(crate) fn finish_checks(&mut self, plan: &mut Plan) {
        // There is one CPU. Without a tensor that tells, a GPU is the one whose context is current.
        let is_cpu = self.default_device == DeviceType::CPU;
        let (mut kind, mut index) = (self.b.int(self.default_device.0), self.b.int(0));
        let mut is_told = self.b.bool(is_cpu);
        if let Some(FirstOf { value, bound, .. }) = self.device_index {
            let cuda = self.b.int(DeviceType::CUDA.0);
            kind = self.b.select(bound, cuda, kind);
            index = self.b.select(bound, value, index);
            is_told = self.b.or(bound, is_told);
        }
        plan.device = Device { kind, index, is_told };
        plan.peers = std::mem::take(&mut self.peers);
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
