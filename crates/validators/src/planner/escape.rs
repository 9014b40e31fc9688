// SPDX-License-Identifier: Apache-2.0
//! What leaves a `when`: the values that its steps define or change, with what they are elsewhere.

use super::Planner;
use super::name::{Named, StrideOrigin};
use super::waiting::{Pending, PendingCheck};
use crate::plan::{Guarded, Value};
use std::collections::HashMap;

impl<'s> Planner<'s> {
    /// Plans `body` under a condition. What it defines is 0, NULL or false elsewhere.
    pub fn when(&mut self, cond: Value, body: impl FnOnce(&mut Planner<'s>)) {
        let before = self.names.clone();
        let marks = (self.pending.clone(), self.anchors.len(), self.stride_uses.len());
        self.b.open();
        self.guards.push(cond);
        body(self);
        self.guards.pop();
        let mut b = std::mem::take(&mut self.b);
        let mut escaping = self.escaping(&before, marks);
        let mut guarded = Vec::new();
        for (place, otherwise) in &mut escaping {
            let inner = **place;
            let otherwise = otherwise.unwrap_or_else(|| b.zero_like(inner));
            guarded.push(Guarded { inner, otherwise });
        }
        for ((place, _), outer) in escaping.into_iter().zip(b.close(cond, &guarded)) {
            *place = outer;
        }
        self.b = b;
    }

    /// The values defined or changed in a `when`, with what they are elsewhere (`None`: nothing).
    fn escaping(
        &mut self,
        before: &HashMap<String, Named>,
        (pending, n_anchors, n_strides): (Vec<Pending>, usize, usize),
    ) -> Vec<(&mut Value, Option<Value>)> {
        let mut escaping: Vec<(&mut Value, Option<Value>)> = Vec::new();
        let mut names: Vec<_> = self.names.values_mut().collect();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        for named in names {
            let old = before.get(&named.name);
            if old.is_none_or(|old| old.value != named.value) {
                escaping.push((&mut named.value, old.map(|old| old.value)));
            }
            if let Some(valid) = &mut named.valid
                && old.is_none_or(|old| old.valid != Some(*valid))
            {
                escaping.push((valid, old.and_then(|old| old.valid)));
            }
            if let Some(StrideOrigin { bound, given }) = &mut named.stride {
                let old = old.and_then(|old| old.stride);
                if old.is_none_or(|old| old.bound != *bound) {
                    escaping.push((bound, old.map(|old| old.bound)));
                }
                if old.is_none_or(|old| old.given != *given) {
                    escaping.push((given, old.map(|old| old.given)));
                }
            }
        }
        let n_old = |p: &Pending| pending.iter().any(|old| old.is(p));
        for waiting in self.pending.iter_mut().filter(|p| !n_old(p)) {
            match &mut waiting.check {
                PendingCheck::Dim { actual, .. } | PendingCheck::DType { actual, .. } => {
                    escaping.push((actual, None));
                }
                PendingCheck::Stride { actual, free, .. } => {
                    escaping.extend([(actual, None), (free, None)]);
                }
                PendingCheck::Rule(_) => {}
            }
        }
        for anchor in self.anchors.iter_mut().skip(n_anchors) {
            let values = [&mut anchor.device.0, &mut anchor.device.1, &mut anchor.cond];
            escaping.extend(values.map(|value| (value, None)));
        }
        for seen in self.stride_uses.iter_mut().skip(n_strides) {
            escaping.extend([(&mut seen.actual, None), (&mut seen.here, None)]);
        }
        let mut tensors: Vec<_> =
            self.tensors.iter_mut().filter(|(tensor, _)| !before.contains_key(*tensor)).collect();
        tensors.sort_by(|a, b| a.0.cmp(b.0));
        for (_, extent) in tensors {
            let values = [&mut extent.low, &mut extent.high, &mut extent.valid, &mut extent.empty];
            escaping.extend(values.map(|value| (value, None)));
        }
        escaping
    }
}
