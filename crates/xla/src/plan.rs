// SPDX-License-Identifier: Apache-2.0
//! A plan of a call's arguments, as `python/kernpack/_xla.py` wrote it into the program: a run
//! of 64-bit words.
//!
//! A word is a [`Step`]: its number in the low byte, and what it works on above. Some take further
//! words. Steps push the arguments one after the other; those for sequences take back what was
//! pushed last, so that arrays of arrays need no recursion. A plan travels in exported programs:
//! numbers are never used again for something else.

use crate::failure::Failure;

/// Expands rows into [`Step`] and how a number becomes one.
macro_rules! steps {
    ($( $(#[$doc:meta])* $name:ident = $number:literal; )*) => {
        /// A step, which a word says to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Step { $( $(#[$doc])* $name, )* }

        impl Step {
            fn of(number: u8) -> Option<Step> {
                match number {
                    $( $number => Some(Step::$name), )*
                    _ => None,
                }
            }
        }
    };
}

steps! {
    /// Pushes None.
    None = 0;
    /// Pushes a view of the operand of that index.
    Operand = 1;
    /// Pushes a view of the result of that index.
    Result = 2;
    /// Pushes the integer that follows.
    Int = 3;
    /// Pushes whether the operand is not 0.
    Bool = 4;
    /// Pushes the float whose bits follow.
    Float = 5;
    /// Pushes the dtype: code, bits and lanes, packed.
    DType = 6;
    /// Pushes the text that follows, of that many words, which end with NUL.
    Text = 7;
    /// Pushes the stream of the call.
    Stream = 8;
    /// Takes back as many integers, and pushes a Shape of them.
    Shape = 9;
    /// Takes back as many values, and pushes an array of them.
    Array = 10;
    /// The result of that index is what the callee's allocations come from.
    Workspace = 11;
    /// The next operand or result has that many dims, and is seen otherwise: for each dim, the dim
    /// of the program's array that it is; then the program's dims from the fastest.
    View = 12;
    /// The next push is of a tensor object, and no view.
    Owned = 13;
}

/// The words of a plan that are yet to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a>(&'a [i64]);

impl<'a> Words<'a> {
    pub(crate) fn new(words: &'a [i64]) -> Self {
        Words(words)
    }

    /// The next step and what it works on, or `None` behind the last.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<Option<(Step, usize)>, Failure> {
        let Some((word, rest)) = self.0.split_first() else { return Ok(None) };
        self.0 = rest;
        let step = Step::of(*word as u8).ok_or_else(|| unknown(*word))?;
        Ok(Some((step, (*word as u64 >> 8) as usize)))
    }

    /// The next words, which belong to a step.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [i64], Failure> {
        let Some((taken, rest)) = self.0.split_at_checked(count) else {
            return Err(Failure::plan("it ends too early"));
        };
        self.0 = rest;
        Ok(taken)
    }

    /// The next word, which belongs to a step.
    #[inline]
    pub(crate) fn word(&mut self) -> Result<i64, Failure> {
        self.take(1).map(|words| words[0])
    }
}

#[cold]
fn unknown(word: i64) -> Failure {
    let number = word as u8;
    Failure::plan(format_args!("step {number} is unknown: the program is of a later version"))
}
