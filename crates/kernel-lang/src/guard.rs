// SPDX-License-Identifier: Apache-2.0
//! The conditions around what is elaborated, as far as they say something: which arguments that may
//! be None are given, and whether any thread gets there.

use crate::python::tree::Name;
use crate::value::Elaborated;
use kernpack_kernel_ir::kernel;

/// One fact that a condition establishes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Guard {
    /// The argument of that number is given.
    Given(usize),
    /// No thread gets there.
    Unreached,
}

/// An argument that may be None.
#[derive(Debug)]
pub(crate) struct OptionalValue {
    /// Whether it is given.
    pub given: kernel::Value,
    /// The value where it is.
    pub inner: Elaborated,
    /// The name in messages.
    pub name: Name,
}

/// The conditions that we are in, as far as they say something.
#[derive(Debug, Default)]
pub(crate) struct Guarded {
    /// Arguments that may be None, each with how many conditions say that it is given.
    optionals: Vec<(OptionalValue, usize)>,
    /// How many conditions and loops let no thread through.
    n_unreached: usize,
}

impl Guarded {
    /// Adds an argument that may be None. Gives its number.
    pub fn add(&mut self, optional: OptionalValue) -> usize {
        self.optionals.push((optional, 0));
        self.optionals.len() - 1
    }

    /// Whether an argument is given, as threads find it out.
    pub fn is_given(&self, number: usize) -> kernel::Value {
        self.optionals[number].0.given
    }

    /// An argument where it is given for certain; its name where that is not so.
    pub fn given(&self, number: usize) -> Result<&Elaborated, &Name> {
        let (optional, n_guards) = &self.optionals[number];
        if *n_guards > 0 { Ok(&optional.inner) } else { Err(&optional.name) }
    }

    /// Whether no thread gets here.
    pub fn is_unreached(&self) -> bool {
        self.n_unreached > 0
    }

    /// From here on, this is known.
    pub fn enter(&mut self, guards: &[Guard]) {
        for guard in guards {
            match guard {
                Guard::Given(number) => self.optionals[*number].1 += 1,
                Guard::Unreached => self.n_unreached += 1,
            }
        }
    }

    /// From here on, it is known no more.
    pub fn leave(&mut self, guards: &[Guard]) {
        for guard in guards {
            match guard {
                Guard::Given(number) => self.optionals[*number].1 -= 1,
                Guard::Unreached => self.n_unreached -= 1,
            }
        }
    }
}
