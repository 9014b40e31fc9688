// SPDX-License-Identifier: Apache-2.0
//! Why there is no picture.

use super::MOST_SIDE;
use crate::error::Error;

/// Why something is not drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// It is no layout.
    #[error("`{of}` is {kind}, and layouts are drawn")]
    NoLayout {
        /// Its kind, in words.
        kind: &'static str,
        /// It.
        of: String,
    },
    /// An extent or a stride is known only later.
    #[error("`{of}` is not drawn, as not all of its numbers are known")]
    Unknown {
        /// The layout.
        of: String,
    },
    /// There is no row or no column.
    #[error("`{of}` is not drawn, as it has no coordinates")]
    Empty {
        /// The layout.
        of: String,
    },
    /// It has more than two modes.
    #[error(
        "`{of}` has {rank} modes, and a picture shows one or two; put modes in one by \
         `group_modes`, or draw a slice"
    )]
    Rank {
        /// The layout.
        of: String,
        /// How many.
        rank: usize,
    },
    /// It has too many rows or columns.
    #[error(
        "`{of}` has {rows} rows and {columns} columns, and a picture has {MOST_SIDE} of each at \
         most; draw a tile of it"
    )]
    TooLarge {
        /// The layout.
        of: String,
        /// How many rows.
        rows: i64,
        /// How many columns.
        columns: i64,
    },
    /// A tile or a layout of owners has too many elements.
    #[error("`{of}` is not drawn, as it has more than {most} elements")]
    TooMany {
        /// The layout.
        of: String,
        /// The most that there may be.
        most: i64,
    },
    /// A layout that should be one of threads and values.
    #[error("`{of}` has no mode of threads and one of values")]
    NoOwners {
        /// The layout.
        of: String,
    },
    /// An owner has an element that its tile does not have.
    #[error(
        "T{thread}V{value} is element {element} of `{of}`, and the tile `{tile}` has {n_elements}"
    )]
    BeyondTile {
        /// The owner's thread.
        thread: i64,
        /// The number of the value.
        value: i64,
        /// The element that it would be.
        element: i64,
        /// The layout of threads and values.
        of: String,
        /// The shape of the tile.
        tile: String,
        /// How many elements that has.
        n_elements: i64,
    },
    /// The layout that has no place in memory.
    #[error("`{of}` has no banks: they are of a layout whose indices are numbers")]
    NoBanks {
        /// The layout.
        of: String,
    },
    /// Elements of a size for which there is no access.
    #[error("an element has 1, 2, 4, 8 or 16 bytes where banks are shown, and not {bytes}")]
    ElementBytes {
        /// The bytes.
        bytes: i64,
    },
    /// A thread accesses a coordinate that the layout does not have.
    #[error(
        "thread {thread} of `{threads}` accesses coordinate {number} of `{of}`, which has {size}"
    )]
    BeyondLayout {
        /// The thread.
        thread: i64,
        /// The layout of threads.
        threads: String,
        /// The number of the coordinate.
        number: i64,
        /// The layout in memory.
        of: String,
        /// How many coordinates it has.
        size: i64,
    },
    /// An index cannot be computed.
    #[error(transparent)]
    Index(#[from] Error),
}
