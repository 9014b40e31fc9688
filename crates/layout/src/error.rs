// SPDX-License-Identifier: Apache-2.0
//! Why an operation has no result.
//!
//! Layouts are in the errors as they are printed, as errors outlive the values in them.

use std::fmt::Display;

/// Why an operation on layouts has no result, or none that is certain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A number is beyond 64 bits.
    #[error("`{op}` of `{a}` and `{b}` exceeds 64 bits")]
    Overflow {
        /// The operation, by its name.
        op: &'static str,
        /// Its first operand.
        a: String,
        /// Its second operand.
        b: String,
    },
    /// A division by zero, or a remainder of it.
    #[error("`{op}` of `{a}` by 0")]
    DivisionByZero {
        /// The operation, by its name.
        op: &'static str,
        /// The dividend.
        a: String,
    },
    /// A shape and strides that are nested differently.
    #[error("the shape `{shape}` and the stride `{stride}` are not nested alike")]
    NotCongruent {
        /// The shape.
        shape: String,
        /// The stride.
        stride: String,
    },
    /// An extent is negative.
    #[error("the extent `{extent}` is negative")]
    NegativeExtent {
        /// The extent.
        extent: i64,
    },
    /// There is no such mode.
    #[error("`{tuple}` has {rank} modes, and no mode {mode}")]
    NoMode {
        /// The tuple that has modes.
        tuple: String,
        /// How many.
        rank: usize,
        /// The one that was asked for, counted from 0.
        mode: usize,
    },
    /// A range of modes that is empty or reaches beyond them.
    #[error("`{tuple}` has {rank} modes, and no range {begin} to {end} of them")]
    NoRange {
        /// The tuple that has modes.
        tuple: String,
        /// How many.
        rank: usize,
        /// The first mode of the range.
        begin: usize,
        /// The mode behind its last.
        end: usize,
    },
    /// A tiler, profile or projection has more modes than what it is for.
    #[error("{what} `{tiler}` has more modes than `{layout}`")]
    TooManyModes {
        /// Its role: the tiler, the profile.
        what: &'static str,
        /// It.
        tiler: String,
        /// The layout that it is for.
        layout: String,
    },
    /// Two layouts whose modes should be paired.
    #[error("`{a}` and `{b}` have different numbers of modes")]
    NotPaired {
        /// The one.
        a: String,
        /// The other.
        b: String,
    },
    /// A coordinate is nested deeper, or otherwise, than the shape.
    #[error("the coordinate `{coord}` does not fit the shape `{shape}`")]
    Coordinate {
        /// The coordinate.
        coord: String,
        /// The shape.
        shape: String,
    },
    /// Indices of strides along bases, and plain ones, in one layout.
    #[error("`{layout}` adds up plain strides and strides along modes")]
    MixedStrides {
        /// The layout, or one of the sums.
        layout: String,
    },
    /// An operation for plain strides, and strides along modes.
    #[error("{what} needs plain strides, and `{layout}` has strides along modes")]
    BasisStrides {
        /// The operation.
        what: &'static str,
        /// The layout.
        layout: String,
    },
    /// An extent of the left layout and a stride of the right one of which neither divides the
    /// other.
    #[error(
        "the composition of `{lhs}` with `{rhs}` is no layout: the extent `{extent}` is not known \
         to divide the stride `{step}`, nor to be divided by it"
    )]
    StrideDivisibility {
        /// The left layout, coalesced.
        lhs: String,
        /// The mode of the right layout.
        rhs: String,
        /// The extent on the left.
        extent: String,
        /// The rest of the stride on the right.
        step: String,
    },
    /// A mode of the right layout does not end where modes of the left one end.
    #[error(
        "the composition of `{lhs}` with `{rhs}` is no layout: `{count}` elements are not known \
         to be a multiple or a part of the `{run}` that a mode has"
    )]
    ShapeDivisibility {
        /// The left layout, coalesced.
        lhs: String,
        /// The mode of the right layout.
        rhs: String,
        /// How many elements of the right layout are left.
        count: String,
        /// How many the mode on the left has.
        run: String,
    },
    /// Modes of the right layout that together reach beyond a mode of the left one.
    #[error(
        "the composition of `{lhs}` with `{rhs}` is no layout: together its modes are not known to \
         stay within the extent `{extent}`"
    )]
    Carry {
        /// The left layout, coalesced.
        lhs: String,
        /// The right layout.
        rhs: String,
        /// The extent on the left.
        extent: String,
    },
    /// A layout that no complement tiles with.
    #[error(
        "`{layout}` has no complement: the stride `{stride}` is not known to be a positive \
         multiple of `{span}`, which the modes below it span"
    )]
    Complement {
        /// The layout.
        layout: String,
        /// The stride in question.
        stride: String,
        /// The span of the modes of smaller strides.
        span: String,
    },
    /// A complement under a number that may be zero.
    #[error("`{layout}` has no complement: `{span}` is not known to be positive")]
    EmptySpan {
        /// The layout.
        layout: String,
        /// The span of its modes.
        span: String,
    },
    /// Two coordinates have one index, or may have.
    #[error(
        "`{layout}` has no left inverse: it is not known to give each coordinate its own index"
    )]
    NotInjective {
        /// The layout.
        layout: String,
    },
    /// A layout of threads or values with holes or repetitions, or one that may have some.
    #[error("`{layout}` is not known to have each index once, from 0 to its size")]
    NotCompact {
        /// The layout of threads or values, or of the tile of both.
        layout: String,
    },
    /// The elements of a layout do not become whole elements of another width.
    #[error(
        "`{layout}` cannot be made of elements of {new_bits} bits instead of {old_bits}: {why}"
    )]
    Recast {
        /// The layout or swizzle.
        layout: String,
        /// The width of the elements that there should be.
        new_bits: i64,
        /// The width of those that there are.
        old_bits: i64,
        /// The reason.
        why: String,
    },
    /// A swizzle whose fields overlap, or that has more bits than an index.
    #[error(
        "`S<{bits},{base},{shift}>` is no swizzle: the shift must be at least as wide as the bits, \
         and all of them must lie in an index"
    )]
    Swizzle {
        /// How many bits are changed.
        bits: u32,
        /// How many bits stay as they are.
        base: u32,
        /// How far the bits are taken from.
        shift: i32,
    },
    /// An order that does not say of each mode when it comes.
    #[error("the order `{order}` does not fit the shape `{shape}`")]
    Order {
        /// The order.
        order: String,
        /// The shape.
        shape: String,
    },
}

/// A result, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;

/// Text of anything, for an error.
pub(crate) fn text(of: &impl Display) -> String {
    of.to_string()
}
