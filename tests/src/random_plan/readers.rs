// SPDX-License-Identifier: Apache-2.0
//! Holds everything that reads plans against everything else: the verifier, the printer, the
//! interpreter, the code that is made of a plan, and the program that the runtime replays. A call
//! of compiled code has to end as the interpreter says, message and all; where it is refused, the
//! message is the runtime's, from the replay.

use super::broken::break_plan;
use super::call::arguments;
use super::{Rng, random_plan};
use crate::callee::{Callee, Interpreter, Outcome};
use crate::fake_ffi;
use crate::memory::Arguments;
use crate::module::{self, Module};
use crate::subject::Subject;
use kernpack_compiler::{Options, compile_plans};
use kernpack_package::{Function, Package, Target};
use kernpack_validators::plan::{Plan, interpret};
use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many plans become one module.
const BATCH: u64 = 32;
/// How many broken plans there are of each that is not.
const N_BROKEN: usize = 4;

/// Where results and workspaces are: at a multiple of every alignment that a plan may ask of them.
const ALLOCATED: u64 = 0x7000_0000;

/// What has been found.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many calls ended alike, accepted.
    pub n_accepted: usize,
    /// How many calls ended alike, refused.
    pub n_refused: usize,
    /// How many broken plans the verifier accepts.
    pub n_accepted_broken: usize,
    /// How many plans, broken ones among them, code was made of for each target.
    pub n_lowered: usize,
    /// What went wrong, each with its seed.
    pub failures: Vec<String>,
}

/// Reads the plans of `n_plans` seeds, from `first_seed` on, and makes `n_calls` of each.
pub fn read_plans(first_seed: u64, n_plans: u64, n_calls: usize) -> Tally {
    let mut tally = Tally::default();
    fake_ffi::allocate_at(ALLOCATED);
    let seeds: Vec<_> = (0..n_plans).map(|number| first_seed.wrapping_add(number)).collect();
    for batch in seeds.chunks(BATCH as usize) {
        tally.batch(batch, n_calls);
        for seed in batch {
            tally.alone(*seed);
        }
    }
    tally
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { n_accepted, n_refused, n_accepted_broken, n_lowered, failures } = self;
        write!(f, "{n_accepted} calls accepted, {n_refused} refused, ")?;
        write!(f, "{n_accepted_broken} broken plans accepted, {n_lowered} plans lowered, ")?;
        write!(f, "{} failures", failures.len())
    }
}

impl Tally {
    /// Adds what else has been found.
    pub fn add(&mut self, other: Tally) {
        self.n_accepted += other.n_accepted;
        self.n_refused += other.n_refused;
        self.n_accepted_broken += other.n_accepted_broken;
        self.n_lowered += other.n_lowered;
        self.failures.extend(other.failures);
    }

    /// Plans that are compiled together, and calls of them.
    fn batch(&mut self, seeds: &[u64], n_calls: usize) {
        let mut rngs: Vec<_> = seeds.iter().map(|seed| Rng::new(*seed)).collect();
        let (mut subjects, mut n_args) = (Vec::new(), Vec::new());
        for (number, rng) in rngs.iter_mut().enumerate() {
            let (subject, count) = random_plan(rng, &module::name(number));
            subjects.push(subject);
            n_args.push(count);
        }
        let all: Vec<_> = subjects.iter().collect();
        let plans: HashMap<_, _> =
            subjects.iter().map(|s| (plan(s).name.clone(), plan(s).clone())).collect();
        let module = match (caught(|| Module::build_plans(&all, &plans)), seeds) {
            (Ok(Ok(module)), _) => module,
            (Ok(Err(error)), [seed]) => return self.fail(*seed, &error.to_string(), plan(all[0])),
            (Err(panic), [seed]) => return self.fail(*seed, &panic, plan(all[0])),
            // One of them does not compile.
            _ => return seeds.iter().for_each(|seed| self.batch(&[*seed], n_calls)),
        };
        for (number, subject) in subjects.iter().enumerate() {
            for _ in 0..n_calls {
                let arguments = arguments(&mut rngs[number], n_args[number]);
                if let Err(problem) = self.call(&module, number, subject, &arguments) {
                    self.fail(seeds[number], &problem, plan(subject));
                }
            }
        }
    }

    fn call(
        &mut self,
        module: &Module<'_>,
        number: usize,
        subject: &Subject,
        arguments: &Arguments,
    ) -> Result<(), String> {
        let mut interpreter = Interpreter::new(subject).expect("the function has a plan");
        let expected = interpreter.call(arguments);
        let actual = match &expected {
            // Then compiled code would read it, too.
            Outcome::Broken(what) => return Err(format!("interpreted: {what}")),
            _ => module.callee(number).call(arguments),
        };
        match &actual {
            _ if actual != expected => {
                return Err(format!("interpreted: {expected}\ncompiled: {actual}"));
            }
            Outcome::Accepted(_) => self.n_accepted += 1,
            _ => self.n_refused += 1,
        }
        Ok(())
    }

    /// What is done with each plan by itself, and with broken ones.
    fn alone(&mut self, seed: u64) {
        let mut rng = Rng::new(seed);
        let (subject, n_args) = random_plan(&mut rng, "f");
        let whole = plan(&subject);
        if let Err(error) = whole.verify() {
            return self.fail(seed, &error.to_string(), whole);
        }
        match read(whole, &arguments(&mut rng, n_args)) {
            Ok(is_lowered) => self.n_lowered += usize::from(is_lowered),
            Err(problem) => self.fail(seed, &problem, whole),
        }
        for _ in 0..N_BROKEN {
            let mut broken = whole.clone();
            for _ in 0..1 + rng.below(2) {
                break_plan(&mut rng, &mut broken);
            }
            let is_accepted = match caught(|| broken.verify().is_ok()) {
                Ok(is_accepted) => is_accepted,
                Err(panic) => {
                    self.failures.push(format!("seed {seed}: verifying a broken plan: {panic}"));
                    false
                }
            };
            if is_accepted {
                self.n_accepted_broken += 1;
                match read(&broken, &arguments(&mut rng, n_args)) {
                    Ok(is_lowered) => self.n_lowered += usize::from(is_lowered),
                    Err(problem) => {
                        self.fail(seed, &format!("broken, and accepted: {problem}"), &broken);
                    }
                }
            }
        }
    }

    fn fail(&mut self, seed: u64, problem: &str, plan: &Plan) {
        let text = caught(|| plan.to_string()).unwrap_or_default();
        self.failures.push(format!("seed {seed}: {problem}\n{text}"));
    }
}

/// Every reader takes the plan, whatever it makes of it: a broken plan may read anything. Code is
/// made for each target, unless the plan is none without its launches; gives whether it was.
fn read(plan: &Plan, arguments: &Arguments) -> Result<bool, String> {
    caught(|| plan.to_string()).map_err(|panic| format!("printing: {panic}"))?;
    let (args, n_args) = (arguments.address(), arguments.count());
    caught(|| interpret(plan, arguments, args, n_args))
        .map_err(|panic| format!("interpreting: {panic}"))?;
    let mut plan = plan.clone();
    // Their kernels would have to be there.
    plan.launches.clear();
    if plan.verify().is_err() {
        return Ok(false);
    }
    for target in kernpack_package::target::TARGETS {
        caught(|| compile(&plan, target))
            .map_err(|panic| format!("lowering for {}: {panic}", target.name))??;
    }
    Ok(true)
}

fn compile(plan: &Plan, target: &'static Target) -> Result<(), String> {
    let signature = kernpack_validators::Signature::new(plan.name.clone());
    let functions = vec![Function::new(signature)];
    let package = Package::new("p", functions);
    let plans = HashMap::from([(plan.name.clone(), plan.clone())]);
    let compiled = compile_plans(&package, &plans, &Options { target, ..Options::default() });
    compiled.map(|_| ()).map_err(|error| format!("does not compile: {error}"))
}

fn plan(subject: &Subject) -> &Plan {
    subject.plan.as_ref().expect("the function has a plan")
}

/// What `body` returns, or what it panics with.
fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        format!("panics: {}", text.unwrap_or_default())
    })
}
