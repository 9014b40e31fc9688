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
//! | fault | `u32`: the kind's string, and the number of parts in the highest 8 bits; then the parts |
//! | text | `u32`: its string |
//! | value | `u32`: bit 31, tag from bit 28, index from bit 23, truth from bit 17, names below |
//!
//! A part is a text or a value. A value that there may be none of asks a truth, by its index and 1;
//! of a name table, a value has a fourth of the offset. Name tables, faults and so their numbers
//! are aligned to 4; strings lie anywhere. Values are not in the table: the failed check leaves at
//! most `MAX_VALUES` of them as an array of `i64`, and the index of a part says which it prints.
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

/// Where a fault's number of parts begins, beside the string of its kind.
const N_PARTS: u32 = 24;
/// Says of a part that it is a value.
const VALUE: u32 = 1 << 31;
/// Where the tag of a value begins, its number, and that of the truth that it asks.
const TAG: u32 = 28;
const INDEX: u32 = 23;
const ASKED: u32 = 17;

impl Part<u32> {
    #[cfg(feature = "writer")]
    fn encode(self) -> u32 {
        let (index, asked, (tag, names)) = match self {
            Part::Text(offset) => return offset,
            Part::Value { index, format } => (index, 0, format.encode()),
            Part::Optional { given, index, format } => (index, given + 1, format.encode()),
        };
        let (index, asked) = (u32::from(index) << INDEX, u32::from(asked) << ASKED);
        VALUE | (tag << TAG) | index | asked | (names / 4)
    }

    /// None for a tag that no writer of this version makes.
    fn decode(part: u32) -> Option<Self> {
        if part & VALUE == 0 {
            return Some(Part::Text(part));
        }
        let names = NameTable(4 * (part & ((1 << ASKED) - 1)));
        let format = match (part >> TAG) & 7 {
            0 => Format::Int,
            1 => Format::Uint,
            2 => Format::Hex,
            3 => Format::Float,
            4 => Format::Name(names),
            5 => Format::Dtype(names),
            6 => Format::Text,
            _ => return None,
        };
        let index = (part >> INDEX) as u8 & 31;
        Some(match (part >> ASKED) as u8 & 63 {
            0 => Part::Value { index, format },
            asked => Part::Optional { given: asked - 1, index, format },
        })
    }
}

#[cfg(feature = "writer")]
impl Format {
    /// The tag, and where the name table lies.
    fn encode(self) -> (u32, u32) {
        match self {
            Format::Int => (0, 0),
            Format::Uint => (1, 0),
            Format::Hex => (2, 0),
            Format::Float => (3, 0),
            Format::Name(NameTable(offset)) => (4, offset),
            Format::Dtype(NameTable(offset)) => (5, offset),
            Format::Text => (6, 0),
        }
    }
}
