// SPDX-License-Identifier: Apache-2.0
//! Random kernels do the same once they are widened.

use crate::expand::expand;
use crate::generate::generate;
use crate::generate::rng::Rng;
use crate::interp::Argument;
use crate::intrinsic::Meaning;
use crate::kernel::{Kernel, Value};
use crate::op::{Op, OpKind, Region};
use crate::verify::verify;
use crate::widen::widen;
use std::collections::HashMap;

/// Puts copies of each `if` of a kernel some operations behind it: of one that threads may leave
/// by, a copy would be where not all of them come, and what mbarriers count would come twice.
struct Doubling<'k> {
    kernel: &'k mut Kernel,
    rng: Rng,
}

impl Doubling<'_> {
    fn region(&mut self, region: &mut Region) {
        // From the last to the first, so that no copy is copied.
        for at in (0..region.0.len()).rev() {
            region.0[at].kind.regions_mut().for_each(|region| self.region(region));
            if matches!(region.0[at].kind, OpKind::If { .. }) && !is_one_alone(&region.0[at]) {
                let mut copy = region.0[at].clone();
                self.rename(&mut copy, &mut HashMap::new());
                let is_left = region.0.last().is_some_and(Op::is_jump);
                let last = region.0.len() - usize::from(is_left);
                let place = (at + 1 + self.rng.below(6) as usize).min(last);
                region.0.insert(place, copy);
            }
        }
    }

    /// Gives what an operation defines names of its own.
    fn rename(&mut self, op: &mut Op, names: &mut HashMap<Value, Value>) {
        op.kind.uses_mut(&mut |value| *value = names.get(value).copied().unwrap_or(*value));
        let index = match &mut op.kind {
            OpKind::For { index, .. } => Some(index),
            _ => None,
        };
        for defined in op.result.iter_mut().chain(index) {
            let name = Value(self.kernel.values.len() as u32);
            self.kernel.values.push(self.kernel.values[defined.index()]);
            names.insert(*defined, name);
            *defined = name;
        }
        let mut regions: Vec<_> = op.kind.regions_mut().collect();
        for op in regions.iter_mut().flat_map(|region| &mut region.0) {
            self.rename(op, names);
        }
        // The condition of a `while` is defined in the region before it.
        if let OpKind::While { condition, .. } = &mut op.kind {
            *condition = names.get(condition).copied().unwrap_or(*condition);
        }
    }
}

/// Whether an operation, or one in its regions, is a jump, or something that is counted.
fn is_one_alone(op: &Op) -> bool {
    let is_counted = match &op.kind {
        OpKind::Call(call) => {
            matches!(call.intrinsic.meaning, Meaning::Mbarrier(_) | Meaning::Bulk(_))
        }
        _ => false,
    };
    let mut inner = op.kind.regions().flat_map(|region| &region.0);
    is_counted || op.is_jump() || inner.any(is_one_alone)
}

pub(super) fn n_ifs(region: &Region) -> usize {
    let own = region.0.iter().filter(|op| matches!(op.kind, OpKind::If { .. })).count();
    let inner = region.0.iter().flat_map(|op| op.kind.regions());
    own + inner.map(n_ifs).sum::<usize>()
}

#[test]
fn random_kernels_do_the_same() {
    let (mut n_run, mut n_joined) = (0, 0);
    for seed in 0..100 {
        let generated = generate(seed);
        let mut kernel = generated.kernel.clone();
        expand(&mut kernel);
        let mut body = std::mem::take(&mut kernel.body);
        Doubling { kernel: &mut kernel, rng: Rng::new(seed) }.region(&mut body);
        kernel.body = body;
        verify(&kernel).unwrap_or_else(|problems| panic!("{kernel}{problems}"));
        let mut widened = kernel.clone();
        widen(&mut widened);
        verify(&widened).unwrap_or_else(|problems| panic!("{widened}{problems}"));
        n_joined += n_ifs(&kernel.body) - n_ifs(&widened.body);
        let mut trials = [kernel, widened].map(|kernel| generated.trial(kernel));
        let findings = trials.each_mut().map(|trial| trial.run().findings.is_empty());
        assert_eq!(findings[0], findings[1], "{seed}");
        if !findings[0] {
            continue;
        }
        n_run += 1;
        for at in 0..trials[0].arguments.len() {
            if let Argument::Tensor { .. } = trials[0].arguments[at] {
                let left = trials.each_ref().map(|trial| &trial.left(at).bytes);
                assert_eq!(left[0], left[1], "{seed}");
            }
        }
    }
    assert!(n_run > 90 && n_joined > 100, "{n_run} {n_joined}");
}
