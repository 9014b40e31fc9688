// SPDX-License-Identifier: Apache-2.0
//! How one part reads.

use super::{
    Format, NameTable, Part,
    reader::{Bytes, Name, Table},
};
use crate::string::bytes_of;
use crate::text::Text;

/// Words one part: a string of the table, if any, and after it what is written to `digits`.
pub(crate) fn word_part<B: Bytes>(
    table: Table<B>,
    part: Part<u32>,
    value: impl Fn(u8) -> i64,
    digits: &mut Text,
) -> Option<u32> {
    match part {
        Part::Text(string) => Some(string),
        Part::Optional { given, .. } if value(given) == 0 => {
            digits.push_str("None");
            None
        }
        Part::Value { index, format } | Part::Optional { index, format, .. } => {
            word_value(table, format, value(index), digits)
        }
    }
}

fn word_value<B: Bytes>(
    table: Table<B>,
    format: Format,
    value: i64,
    digits: &mut Text,
) -> Option<u32> {
    match format {
        Format::Int => digits.push_int(value),
        Format::Uint => digits.push_uint(value as u64),
        Format::Hex => digits.push_hex(value as u64),
        Format::Float => digits.push_float(value as u64),
        Format::Name(names) => return Some(word_name(table, names, value, digits)),
        Format::Dtype(names) => return word_dtype(table, names, value as u32, digits),
        Format::Text => digits.push_quoted(bytes_of(value)),
    }
    None
}

fn word_name<B: Bytes>(table: Table<B>, names: NameTable, value: i64, digits: &mut Text) -> u32 {
    match table.name(names, value as u32) {
        Name::Known(name) => name,
        Name::Unknown(fallback) => {
            digits.push_int((value as i32).into());
            fallback
        }
    }
}

fn word_dtype<B: Bytes>(
    table: Table<B>,
    names: NameTable,
    packed: u32,
    digits: &mut Text,
) -> Option<u32> {
    let [code, bits, ..] = packed.to_le_bytes();
    let lanes = packed >> 16;
    let name = match table.name(names, super::dtype_key(code, bits)) {
        Name::Known(name) => Some(name),
        Name::Unknown(_) => {
            digits.push_str("dtype(code=");
            digits.push_uint(code.into());
            digits.push_str(", bits=");
            digits.push_uint(bits.into());
            digits.push_str(")");
            None
        }
    };
    if lanes != 1 {
        digits.push_str("x");
        digits.push_uint(lanes.into());
    }
    name
}
