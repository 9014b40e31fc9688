// SPDX-License-Identifier: Apache-2.0
//! Things that know where they were written.

use crate::Span;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// Something, and where it stands. Equal things are equal wherever they stand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placed<T> {
    /// The thing.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Placed<T> {
    /// That thing, which stands there.
    pub const fn new(value: T, span: Span) -> Placed<T> {
        Placed { value, span }
    }

    /// The result of `make`, at the place of what it was made of.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Placed<U> {
        Placed { value: make(self.value), span: self.span }
    }
}

/// Something that was not written but built.
impl<T> From<T> for Placed<T> {
    fn from(value: T) -> Placed<T> {
        Placed { value, span: Span::default() }
    }
}

impl<T> Deref for Placed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Placed<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: PartialEq> PartialEq for Placed<T> {
    fn eq(&self, other: &Placed<T>) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Placed<T> {}

impl<T: Hash> Hash for Placed<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl<T: fmt::Display> fmt::Display for Placed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}
