// SPDX-License-Identifier: Apache-2.0
//! The names of the calls in a packed function, and the functions that see them: what a kernel is
//! passed for a function is that function with the values of the names around it.

use super::expression::Evaluator;
use super::value::Evaluated;
use crate::argument::{Argument, FunctionArg};
use crate::file::ModuleId;
use crate::names::{FrameId, Frames, Scope};
use crate::python::tree::{Function, Name};
use crate::python::walk;
use kernpack_syntax::{Diagnostic, Span};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

#[cfg(test)]
mod tests;

/// The most functions that a kernel is passed with one.
const MOST_FUNCTIONS: usize = 1000;
/// The most of them that use each other in a row.
const MOST_USERS: usize = 64;

/// A function of a call.
type Key = (*const Function, Option<FrameId>);

/// A function that is written, and where.
#[derive(Clone, Debug)]
pub(super) struct Closure {
    /// The file.
    pub module: ModuleId,
    /// The function.
    pub function: Arc<Function>,
    /// The names around it, where it stands in a function.
    pub frame: Option<FrameId>,
    /// Whether it is one of `@kp.jit`, which may launch kernels and ask for memory.
    pub is_jit: bool,
}

/// The names of one call, which ways through a function share until one of them changes any.
#[derive(Clone, Debug)]
pub(super) struct Frame(Rc<Own>);

#[derive(Clone, Debug)]
struct Own {
    outer: Option<FrameId>,
    names: HashMap<Name, Evaluated>,
}

impl Scope for Frame {
    type Bound = Evaluated;

    fn own(&self, name: &str) -> Option<&Evaluated> {
        self.0.names.get(name)
    }

    fn outer(&self) -> Option<FrameId> {
        self.0.outer
    }
}

/// The names of all calls, of which one's count.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    frames: Frames<Frame>,
    /// Those that count; nothing outside of functions.
    here: Option<FrameId>,
}

impl Names {
    /// Those of a packed function.
    pub fn new(names: HashMap<Name, Evaluated>) -> Names {
        let mut own = Names::default();
        own.here = Some(own.open(None, names));
        own
    }

    /// Adds the names that a call begins with.
    pub fn open(&mut self, outer: Option<FrameId>, names: HashMap<Name, Evaluated>) -> FrameId {
        self.frames.open(Frame(Rc::new(Own { outer, names })))
    }

    /// Whose names count.
    pub fn here(&self) -> Option<FrameId> {
        self.here
    }

    /// Lets other names count; gives those that did.
    pub fn go_to(&mut self, frame: Option<FrameId>) -> Option<FrameId> {
        std::mem::replace(&mut self.here, frame)
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Evaluated> {
        self.frames.find(self.here, name)
    }

    /// Gives a name to a value.
    pub fn insert(&mut self, name: Name, value: Evaluated) {
        self.insert_in(self.here, name, value);
    }

    /// Gives a name to a value, among the names of some call.
    pub fn insert_in(&mut self, frame: Option<FrameId>, name: Name, value: Evaluated) {
        if let Some(here) = frame {
            Rc::make_mut(&mut self.frames.get_mut(here).0).names.insert(name, value);
        }
    }
}

impl Evaluator<'_> {
    /// A function that stands here.
    pub fn function(&self, function: &Arc<Function>) -> Evaluated {
        let (module, frame, function) = (self.module, self.names.here(), function.clone());
        Evaluated::Function(Closure { module, function, frame, is_jit: false })
    }

    /// The argument of a kernel that is a function: it, and what it sees now of the names around
    /// it.
    ///
    /// # Errors
    /// Why it is passed nothing; no diagnostic where one was reported already.
    pub fn function_argument(
        &self,
        closure: &Closure,
        span: Span,
    ) -> Result<Argument, Option<Box<Diagnostic>>> {
        let Closure { module, function, .. } = closure;
        let name = &function.name.name;
        let refused = |message: String, help: &str| {
            let problem = Diagnostic::new("packed-argument", message).label(span, "passed here");
            Err(Some(Box::new(problem.help(help))))
        };
        match self.n_passed(closure, &mut Vec::new(), &mut HashMap::new()) {
            None => {
                let help = "write a loop: functions stand in the place of their calls";
                return refused(format!("`{name}` calls itself"), help);
            }
            Some(count) if count > MOST_FUNCTIONS => {
                let message = format!(
                    "`{name}` uses more than {MOST_FUNCTIONS} functions, or {MOST_USERS} in a row"
                );
                return refused(message, "define those in the file that use no names around them");
            }
            Some(_) => {}
        }
        let captured = self.seen(closure).map(|(name, value)| {
            let using = format!("uses `{name}`");
            match self.argument(&value, span) {
                Ok(argument) => Ok((name, argument)),
                Err(problem) => Err(problem.map(|one| Box::new(one.mark(function.span, using)))),
            }
        });
        let captured = captured.collect::<Result<_, _>>()?;
        let (module, function) = (*module, function.clone());
        Ok(Argument::Function(FunctionArg::Written { module, function, captured }))
    }

    /// The names around a function that it uses.
    fn seen(&self, closure: &Closure) -> impl Iterator<Item = (Name, Evaluated)> {
        let mut used = Vec::new();
        walk::used(&closure.function, &mut used);
        used.into_iter().filter_map(|name| {
            let value = self.names.frames.find(closure.frame, &name)?;
            Some((name, self.refreshed(value)))
        })
    }

    /// How many functions stand around here that a kernel is passed with one: that and all that it
    /// uses, each as often as it is used; no end of them where too many use each other in a row.
    /// Nothing where one uses itself.
    fn n_passed(
        &self,
        closure: &Closure,
        users: &mut Vec<Arc<Function>>,
        known: &mut HashMap<Key, usize>,
    ) -> Option<usize> {
        if users.iter().any(|user| Arc::ptr_eq(user, &closure.function)) {
            return None;
        }
        let key = (Arc::as_ptr(&closure.function), closure.frame);
        if let Some(count) = known.get(&key) {
            return Some(*count);
        }
        if users.len() >= MOST_USERS {
            return Some(usize::MAX);
        }
        users.push(closure.function.clone());
        let mut count: usize = 1;
        for (_, value) in self.seen(closure) {
            count = count.saturating_add(self.n_passed_in(&value, users, known)?);
        }
        users.pop();
        known.insert(key, count);
        Some(count)
    }

    fn n_passed_in(
        &self,
        value: &Evaluated,
        users: &mut Vec<Arc<Function>>,
        known: &mut HashMap<Key, usize>,
    ) -> Option<usize> {
        match value {
            Evaluated::Function(closure) => self.n_passed(closure, users, known),
            Evaluated::Tuple(items) => items.iter().try_fold(0_usize, |count, (_, item)| {
                Some(count.saturating_add(self.n_passed_in(item, users, known)?))
            }),
            _ => Some(0),
        }
    }
}
