// SPDX-License-Identifier: Apache-2.0
//! Replaying a plan: how a refused call finds out what to say.
//!
//! Generated code checks a call with compares and branches alone. Where a check fails it knows no
//! more than that, and keeps nothing for a message; it hands the arguments to `kernpack_rt_refuse`,
//! which goes through the same checks once more, slowly, and raises the fault of the first that
//! fails. So an accepted call pays nothing for messages, and the checks of a function are as small
//! as they can be.
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
//! Values are pure and 64 bits wide; truths are 0 and 1, and texts as `string` has them. They are
//! evaluated when a step first needs them, and once; inside a `repeat`, once a turn. So going
//! through the steps may begin anywhere outside of a `when` and a `repeat`: generated code says
//! from which step on a check may have failed. What an earlier `repeat` has left is found out by
//! running it when a value needs it. This file fixes the format, `run` follows it. Not here: what
//! plans mean to the compiler, which writes programs.

#[cfg(kernpack_checks)]
pub(crate) mod run;
#[cfg(feature = "writer")]
mod writer;

#[cfg(feature = "writer")]
pub use writer::{LoadWidth, Narrower, Op, Program, ProgramCarried, ProgramStep, ProgramValue};

/// How many numbers a value or a step has.
#[cfg(kernpack_checks)]
pub(crate) const ROW_NUMBERS: u32 = 4;

/// Numbers every operation once, for the writer's enum and the runner's match.
macro_rules! operations {
    ($($name:ident = $number:literal,)*) => {
        $( pub(crate) const $name: u32 = $number; )*
    };
}

/// The forms of a value.
#[allow(dead_code, reason = "the writer and the runner are not always built together")]
pub(crate) mod value {
    operations! {
        INT = 0,
        ARGS = 1,
        NUM_ARGS = 2,
        DEVICE = 3,
        GIVEN = 4,
        LOAD_U8 = 5,
        LOAD_U16 = 6,
        LOAD_I32 = 7,
        LOAD_U32 = 8,
        LOAD_I64 = 9,
        ADD = 10,
        SUB = 11,
        MUL = 12,
        FLOOR_DIV = 13,
        MOD = 14,
        BIT_AND = 15,
        ADD_OVERFLOWS = 16,
        SUB_OVERFLOWS = 17,
        MUL_OVERFLOWS = 18,
        EQ = 19,
        NE = 20,
        LT = 21,
        LE = 22,
        AND = 23,
        OR = 24,
        NOT = 25,
        SELECT = 26,
        FLOAT_BITS = 27,
        ROUNDED_TO_F16 = 28,
        ROUNDED_TO_BF16 = 29,
        ROUNDED_TO_F32 = 30,
        TEXT = 31,
        TEXT_AT = 32,
        TEXT_IS = 33,
    }
}

/// The forms of a step.
#[allow(dead_code, reason = "the writer and the runner are not always built together")]
pub(crate) mod step {
    operations! {
        REQUIRE = 0,
        WHEN = 1,
        REPEAT = 2,
    }
}
