// SPDX-License-Identifier: Apache-2.0
//! Replaying a plan: how a refused call finds out what to say.
//!
//! Generated code checks a call with compares and branches alone. Where a check fails it knows no more than that, and keeps nothing for a
//! message; it hands the arguments to `kernpack_rt_refuse`, which goes through the same checks once more, slowly, and raises the fault of the
//! first that fails. So an accepted call pays nothing for messages, and the checks of a function are as small as they can be.
//!
//! The checks lie behind the faults in the package's table, as a program:
//!
//! | record | numbers, each a `u32` |
//! |---|---|
//! | program | number of values, number of steps, then the values, then the steps |
//! | value | operation (low byte; in the next, a load's width or the format that is rounded to), then up to three operands: earlier values, or a constant |
//! | step | operation, then up to three operands |
//! | list | count, then that many numbers |
//!
//! Values are pure and 64 bits wide; truths are 0 and 1. They are evaluated when a step first needs
//! them, and once; inside a `repeat`, once a turn. So going through the steps may begin anywhere
//! outside of a `when` and a `repeat`: generated code says from which step on a check may have
//! failed. What an earlier `repeat` has left is found out by running it when a value needs it.
//! This file fixes the format, `run` follows it. Not here: what plans mean to the compiler, which writes programs.

#[cfg(kernpack_checks)]
pub(crate) mod run;
#[cfg(feature = "writer")]
mod writer;

#[cfg(feature = "writer")]
pub use writer::{Narrower, Op, Program, ProgramCarried, ProgramStep, ProgramValue};

/// How many numbers a value or a step has.
#[cfg(kernpack_checks)]
pub(crate) const ROW_NUMBERS: u32 = 4;

/// The most turns of a `repeat`.
#[cfg(kernpack_checks)]
pub(crate) const MOST_TURNS: i64 = 64;

/// Numbers every operation once, for the writer's enum and the runner's match.
macro_rules! operations {
    ($($name:ident = $number:literal,)*) => {
        $( pub(crate) const $name: u32 = $number; )*
    };
}

/// What a value is.
#[allow(dead_code, reason = "the writer and the runner are not always built together")]
pub(crate) mod value {
    operations! {
        INT = 0,
        ARGS = 1,
        NUM_ARGS = 2,
        LOAD_I32 = 3,
        ADD = 4,
        SUB = 5,
        MUL = 6,
        FLOOR_DIV = 7,
        MOD = 8,
        BIT_AND = 9,
        ADD_OVERFLOWS = 10,
        SUB_OVERFLOWS = 11,
        MUL_OVERFLOWS = 12,
        EQ = 13,
        NE = 14,
        LT = 15,
        LE = 16,
        AND = 17,
        OR = 18,
        NOT = 19,
        SELECT = 20,
        FLOAT_BITS = 21,
        LOAD_I64 = 22,
        ROUNDED_TO_BF16 = 23,
        ROUNDED_TO_F32 = 24,
        DEVICE = 25,
        GIVEN = 26,
    }
}

/// What a step does.
#[allow(dead_code, reason = "the writer and the runner are not always built together")]
pub(crate) mod step {
    operations! {
        REQUIRE = 0,
        WHEN = 1,
        REPEAT = 2,
    }
}
