// SPDX-License-Identifier: Apache-2.0
//! The fault table: every message a package can raise, as one block of constant bytes.
//!
//! Generated code holds the table as data and knows each fault by its offset, so a check that fails
//! costs one call however long its message is. The bytes are little-endian, aligned to 4, and free
//! of addresses: every offset is a `u32` from the start of the table, so the table needs no
//! relocation and may be shared between processes.
//!
//! | record | bytes |
//! |---|---|
//! | string | UTF-8, ended by NUL |
//! | name table | `u32` count, `u32` fallback string, then for each name `u32` key, `u32` string; keys ascend |
//! | fault | `u32` kind string, `u32` number of parts, then the parts |
//! | part | `u8` tag, `u8` value index, `u8` index of the truth that it asks and 1, or 0, `u8` zero, `u32` offset |
//!
//! Name tables, faults and so their numbers are aligned to 4; strings lie anywhere. Values are not
//! in the table: the failed check leaves at most `MAX_VALUES` of them as an array of `i64`, and a
//! part says which one it prints.
//!
//! This file fixes the format of a part. `reader` follows offsets, `message` words a part, `writer`
//! makes tables.

pub(crate) mod message;
pub(crate) mod reader;
#[cfg(feature = "writer")]
mod render;
#[cfg(feature = "writer")]
mod writer;

#[cfg(feature = "writer")]
pub use {
    render::{Raised, render},
    writer::{TableError, TableWriter},
};

/// One piece of a fault's message. A text is a `&str` for the writer and an offset within the
/// table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<Text> {
    /// Text that is the same whenever the fault is raised.
    Text(Text),
    /// A value that the failed check found.
    Value {
        /// Which of the check's values, below [`MAX_VALUES`](crate::interface::MAX_VALUES).
        index: u8,
        /// How it is printed.
        format: Format,
    },
    /// A value that there may be none of.
    Optional {
        /// Which of the check's values is a truth: without it, `None` is printed.
        given: u8,
        /// Which of the check's values, below [`MAX_VALUES`](crate::interface::MAX_VALUES).
        index: u8,
        /// How it is printed.
        format: Format,
    },
}

/// How 64 bits are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A signed decimal number.
    Int,
    /// An unsigned decimal number.
    Uint,
    /// An unsigned number such as `0x1f`.
    Hex,
    /// The bits of an `f64`, printed as Python's `repr` prints them.
    Float,
    /// The name of the value's low 32 bits; without one, the table's fallback and then their
    /// number.
    Name(NameTable),
    /// A packed `DLDataType` (code, bits, lanes from the low byte up): the name of its
    /// [`dtype_key`], and `x4` for four lanes. Without a name it reads `dtype(code=2, bits=24)`.
    Dtype(NameTable),
    /// A text of the call, as `string` has it: its first characters, in quotes.
    Text,
}

/// Where a name table lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NameTable(u32);

/// The key of a dtype in the name table of a [`Format::Dtype`].
pub const fn dtype_key(code: u8, bits: u8) -> u32 {
    u16::from_le_bytes([code, bits]) as u32
}

impl Part<u32> {
    #[cfg(feature = "writer")]
    fn encode(self) -> [u8; 8] {
        let ((tag, offset), index, asked) = match self {
            Part::Text(offset) => ((0, offset), 0, 0),
            Part::Value { index, format } => (format.encode(), index, 0),
            Part::Optional { given, index, format } => (format.encode(), index, given + 1),
        };
        let [a, b, c, d] = offset.to_le_bytes();
        [tag, index, asked, 0, a, b, c, d]
    }

    /// None for a tag that no writer of this version makes.
    fn decode(bytes: [u8; 8]) -> Option<Self> {
        let [tag, index, asked, _, a, b, c, d] = bytes;
        let offset = u32::from_le_bytes([a, b, c, d]);
        let format = match tag {
            0 => return Some(Part::Text(offset)),
            1 => Format::Int,
            2 => Format::Uint,
            3 => Format::Hex,
            4 => Format::Float,
            5 => Format::Name(NameTable(offset)),
            6 => Format::Dtype(NameTable(offset)),
            7 => Format::Text,
            _ => return None,
        };
        Some(match asked {
            0 => Part::Value { index, format },
            _ => Part::Optional { given: asked.wrapping_sub(1), index, format },
        })
    }
}

impl Format {
    /// The tag, and what stands in the place of a text's offset.
    #[cfg(feature = "writer")]
    fn encode(self) -> (u8, u32) {
        match self {
            Format::Int => (1, 0),
            Format::Uint => (2, 0),
            Format::Hex => (3, 0),
            Format::Float => (4, 0),
            Format::Name(NameTable(offset)) => (5, offset),
            Format::Dtype(NameTable(offset)) => (6, offset),
            Format::Text => (7, 0),
        }
    }
}
