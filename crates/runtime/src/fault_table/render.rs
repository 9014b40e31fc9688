// SPDX-License-Identifier: Apache-2.0
//! The runtime's errors as strings: for hosts that interpret a plan, and for tests.

use std::{string::String, vec::Vec};

use super::{
    message::word_part,
    reader::{Bytes, Table},
};
use crate::text::Text;

/// A fault as its caller sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// The error's type, such as `ValueError`.
    pub kind: String,
    /// The whole message.
    pub message: String,
}

/// Words the fault at `fault_offset` exactly as `kernpack_rt_fault` does.
///
/// # Panics
///
/// If `table` is not a finished table, `fault_offset` is not one of its faults, or a part names a
/// value that is not in `values`.
pub fn render(table: &[u8], fault_offset: u32, values: &[i64]) -> Raised {
    let reader = Table(table);
    let mut message = Vec::new();
    for part in reader.fault_parts(fault_offset) {
        let mut digits = Text::EMPTY;
        let value = |index: u8| values[usize::from(index)];
        if let Some(string) = word_part(reader, part, value, Text::push_float, &mut digits) {
            message.extend(string_at(table, string));
        }
        message.extend(digits.as_bytes());
    }
    Raised {
        kind: into_string(string_at(table, reader.fault_kind(fault_offset)).collect()),
        message: into_string(message),
    }
}

fn string_at(table: &[u8], offset: u32) -> impl Iterator<Item = u8> {
    table[offset as usize..].iter().copied().take_while(|&byte| byte != 0)
}

fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("the writer only takes UTF-8")
}

impl Bytes for &[u8] {
    fn array<const N: usize>(self, offset: u32) -> [u8; N] {
        let bytes = self[offset as usize..].first_chunk().expect("a record lies inside");
        *bytes
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::{Format, NameTable, Part, TableWriter, dtype_key};
    use std::{format, string::String};

    fn message(format: impl FnOnce(&mut TableWriter) -> Format, value: i64) -> String {
        let mut table = TableWriter::default();
        let format = format(&mut table);
        let parts = [Part::Text("<"), Part::Value { index: 0, format }, Part::Text(">")];
        let fault = table.fault("ValueError", &parts).unwrap();
        let raised = render(&table.finish(), fault, &[value]);
        assert_eq!(raised.kind, "ValueError");
        raised.message
    }

    #[track_caller]
    fn expect_number(format: Format, value: i64, expected: &str) {
        assert_eq!(message(|_| format, value), format!("<{expected}>"));
    }

    #[track_caller]
    fn expect_name(value: i64, expected: &str) {
        let names = [(70, "Tensor"), (u32::MAX, "Any"), (0, "None")];
        let format = |table: &mut TableWriter| Format::Name(name_table(table, "type #", &names));
        assert_eq!(message(format, value), format!("<{expected}>"));
    }

    #[track_caller]
    fn expect_dtype(code: u8, bits: u8, lanes: u16, expected: &str) {
        let names = [(dtype_key(2, 32), "float32"), (dtype_key(4, 16), "bfloat16")];
        let format = |table: &mut TableWriter| Format::Dtype(name_table(table, "", &names));
        let packed = dtype_key(code, bits) | u32::from(lanes) << 16;
        assert_eq!(message(format, packed.into()), format!("<{expected}>"));
    }

    fn name_table(table: &mut TableWriter, fallback: &str, names: &[(u32, &str)]) -> NameTable {
        table.name_table(fallback, names).unwrap()
    }

    #[test]
    fn numbers() {
        expect_number(Format::Int, -7, "-7");
        expect_number(Format::Uint, -1, "18446744073709551615");
        expect_number(Format::Hex, 0xbeef, "0xbeef");
        expect_number(Format::Float, 0.1_f64.to_bits() as i64, "0.1");
        expect_number(Format::Float, (-1e300_f64).to_bits() as i64, "-1e+300");
    }

    #[test]
    fn what_is_not_given_is_none() {
        let mut table = TableWriter::default();
        let part = Part::Optional { given: 1, index: 0, format: Format::Int };
        let fault = table.fault("ValueError", &[Part::Text("k = "), part]).unwrap();
        let table = table.finish();
        assert_eq!(render(&table, fault, &[7, 1]).message, "k = 7");
        assert_eq!(render(&table, fault, &[7, 0]).message, "k = None");
    }

    #[test]
    fn a_name_is_found_by_the_low_32_bits() {
        expect_name(0, "None");
        expect_name(70, "Tensor");
        expect_name(-1, "Any");
        expect_name(u32::MAX.into(), "Any");
    }

    #[test]
    fn a_key_without_a_name_prints_its_number() {
        expect_name(71, "type #71");
        expect_name(-2, "type #-2");
        expect_name(71 | 1 << 40, "type #71");
    }

    #[test]
    fn dtypes() {
        expect_dtype(2, 32, 1, "float32");
        expect_dtype(4, 16, 4, "bfloat16x4");
        expect_dtype(2, 32, 0, "float32x0");
        expect_dtype(2, 24, 1, "dtype(code=2, bits=24)");
        expect_dtype(255, 255, 65535, "dtype(code=255, bits=255)x65535");
    }
}
