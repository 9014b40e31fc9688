// SPDX-License-Identifier: Apache-2.0
//! Random plans and calls of them, so that everything that reads plans can be held against
//! everything else that does. A seed gives the same plan and calls on any machine.
//!
//! Plans are put together expression by expression and step by step, without the builder that kinds
//! and checks use: it would fold and order away much of what the verifier accepts. Each form of
//! expression is an arm in `value`, each form of step one in `step`, and what an accepted call does
//! is in `effect`. A plan reads only what is safe to read in every [`call`] of it; which addresses
//! that are is what a `Scope` keeps track of.
//!
//! [`readers`] holds everything that reads plans against everything else, on such plans and on
//! [`broken`] ones, in which one thing is changed at random: the verifier has to refuse those, or
//! the readers to take them.

pub mod broken;
pub mod call;
mod effect;
pub mod readers;
mod rng;
mod step;
mod value;

pub use rng::Rng;

use crate::subject::Subject;
use kernpack_validators::plan::{Combinations, Device, Expr, Plan, Type, Value};

/// A plan in the making.
struct Generator<'r> {
    rng: &'r mut Rng,
    plan: Plan,
    scope: Scope,
    on_gpu: bool,
    /// How many arguments a call has.
    n_args: usize,
    /// How many values of steps there are.
    n_given: u32,
    n_names: usize,
    n_repeats: usize,
    has_asked: bool,
}

/// What may be used at the place that is being written.
#[derive(Default)]
struct Scope {
    ints: Vec<Value>,
    bools: Vec<Value>,
    texts: Vec<Value>,
    /// Addresses of blocks.
    blocks: Vec<Value>,
}

/// A place in a scope to go back to.
#[derive(Clone, Copy)]
struct Mark([usize; 4]);

/// A function of that name with a random plan, and how many arguments a call of it has.
pub fn random_plan(rng: &mut Rng, name: &str) -> (Subject, usize) {
    let (n_args, on_gpu) = (rng.below(4), rng.sixteenths(4));
    let plan = Plan {
        name: name.to_string(),
        signature: format!("{name}()"),
        exprs: vec![],
        steps: vec![],
        device: Device { kind: Value(0), index: Value(0), is_told: Value(0) },
        results: vec![],
        peers: vec![],
        workspaces: vec![],
        launches: vec![],
        combinations: Combinations::default(),
    };
    let mut generator = Generator {
        rng,
        plan,
        scope: Scope::default(),
        on_gpu,
        n_args,
        n_given: 0,
        n_names: 0,
        n_repeats: 0,
        has_asked: false,
    };
    generator.arity();
    let n_steps = 1 + generator.rng.below(12);
    let steps = generator.steps(n_steps, 3);
    generator.plan.steps.extend(steps);
    (generator.effects(), n_args)
}

impl Generator<'_> {
    fn add(&mut self, expr: Expr) -> Value {
        self.plan.exprs.push(expr);
        Value(self.plan.exprs.len() as u32 - 1)
    }

    /// A value that a step defines.
    fn given(&mut self, expr: fn(Type, u32) -> Expr, ty: Type) -> Value {
        self.n_given += 1;
        self.add(expr(ty, self.n_given))
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("x{}", self.n_names)
    }

    /// Keeps a value for later.
    fn keep(&mut self, value: Value, ty: Type) {
        match ty {
            Type::Int => self.scope.ints.push(value),
            Type::Bool => self.scope.bools.push(value),
            Type::Text => self.scope.texts.push(value),
        }
    }

    fn mark(&self) -> Mark {
        let Scope { ints, bools, texts, blocks } = &self.scope;
        Mark([ints, bools, texts, blocks].map(Vec::len))
    }

    /// Forgets what has been kept since.
    fn forget(&mut self, Mark([ints, bools, texts, blocks]): Mark) {
        self.scope.ints.truncate(ints);
        self.scope.bools.truncate(bools);
        self.scope.texts.truncate(texts);
        self.scope.blocks.truncate(blocks);
    }
}
