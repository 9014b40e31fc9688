// SPDX-License-Identifier: Apache-2.0
//! Writing a table. Equal calls give equal bytes.

use std::{
    collections::BTreeMap,
    fmt,
    string::{String, ToString},
    vec::Vec,
};

use super::{ASKED, N_PARTS, NameTable, Part, VALUE};
use crate::interface::{MAX_PARTS, MAX_VALUES};

/// Collects the faults of one package.
///
/// Each call appends its record and returns where it lies, so code that raises a fault can be
/// written before the table is finished. Strings are stored once.
///
/// ```
/// use kernpack_runtime::{Format, Part, TableWriter, render};
///
/// let mut table = TableWriter::default();
/// let got = Part::Value { index: 0, format: Format::Int };
/// let fault = table.fault("ValueError", &[Part::Text("expected 128, got "), got])?;
///
/// let raised = render(&table.finish(), fault, &[126]);
/// assert_eq!(raised.message, "expected 128, got 126");
/// # Ok::<(), kernpack_runtime::TableError>(())
/// ```
#[derive(Debug, Default)]
pub struct TableWriter {
    bytes: Vec<u8>,
    strings: BTreeMap<String, u32>,
    /// Those of programs.
    texts: BTreeMap<String, u32>,
}

/// Why something cannot be put into a fault table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableError {
    /// A string has a NUL, which would end it early.
    InnerNul(String),
    /// A fault has more than [`MAX_PARTS`] parts.
    TooManyParts(usize),
    /// A part names a value at or above [`MAX_VALUES`].
    ValueIndex(u8),
    /// A name table has two names for one key.
    DuplicateKey(u32),
    /// Offsets no longer fit the records that have them.
    TooLarge,
}

impl TableWriter {
    /// Appends the names of some keys, in any order, and what to print before the number of a key
    /// without a name.
    pub fn name_table(
        &mut self,
        fallback: &str,
        names: &[(u32, &str)],
    ) -> Result<NameTable, TableError> {
        let mut sorted = BTreeMap::new();
        for &(key, name) in names {
            if sorted.insert(key, self.string(name)?).is_some() {
                return Err(TableError::DuplicateKey(key));
            }
        }
        let n_names = u32::try_from(sorted.len()).map_err(|_| TableError::TooLarge)?;
        let fallback = self.string(fallback)?;
        let offset = self.align()?;
        within(offset / 4, 1 << ASKED)?;
        self.push_u32s([n_names, fallback]);
        for (key, name) in sorted {
            self.push_u32s([key, name]);
        }
        Ok(NameTable(offset))
    }

    /// Appends a fault and returns the offset that raises it. `kind` is the error's type, such as
    /// `ValueError`.
    pub fn fault(&mut self, kind: &str, parts: &[Part<&str>]) -> Result<u32, TableError> {
        if parts.len() > MAX_PARTS {
            return Err(TableError::TooManyParts(parts.len()));
        }
        let kind = within(self.string(kind)?, 1 << N_PARTS)?;
        let stored: Vec<_> = parts.iter().map(|part| self.part(part)).collect::<Result<_, _>>()?;
        let offset = self.align()?;
        let head = kind | ((stored.len() as u32) << N_PARTS);
        let parts = stored.into_iter().map(Part::encode);
        self.bytes.extend([head].into_iter().chain(parts).flat_map(u32::to_le_bytes));
        Ok(offset)
    }

    /// The table, to be placed at an address that is a multiple of 4.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn part(&mut self, part: &Part<&str>) -> Result<Part<u32>, TableError> {
        let inside = |index: u8| match usize::from(index) < MAX_VALUES {
            true => Ok(index),
            false => Err(TableError::ValueIndex(index)),
        };
        match *part {
            Part::Text(text) => Ok(Part::Text(self.string(text)?)),
            Part::Value { index, format } => Ok(Part::Value { index: inside(index)?, format }),
            Part::Optional { given, index, format } => {
                let (given, index) = (inside(given)?, inside(index)?);
                Ok(Part::Optional { given, index, format })
            }
        }
    }

    /// Appends a text that programs have; returns where it lies, which is a multiple of 4.
    pub fn text(&mut self, text: &str) -> Result<u32, TableError> {
        if let Some(&offset) = self.texts.get(text) {
            return Ok(offset);
        }
        let offset = self.align()?;
        self.push_string(text)?;
        self.texts.insert(text.to_string(), offset);
        Ok(offset)
    }

    fn string(&mut self, text: &str) -> Result<u32, TableError> {
        if let Some(&offset) = self.strings.get(text) {
            return Ok(offset);
        }
        let offset = self.end()?;
        self.push_string(text)?;
        self.strings.insert(text.to_string(), offset);
        Ok(offset)
    }

    fn push_string(&mut self, text: &str) -> Result<(), TableError> {
        if text.contains('\0') {
            return Err(TableError::InnerNul(text.to_string()));
        }
        self.bytes.extend(text.bytes());
        self.bytes.push(0);
        Ok(())
    }

    pub(crate) fn align(&mut self) -> Result<u32, TableError> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.end()
    }

    /// Where the next record starts.
    fn end(&self) -> Result<u32, TableError> {
        let end = u32::try_from(self.bytes.len()).map_err(|_| TableError::TooLarge)?;
        within(end, VALUE)
    }

    pub(crate) fn push_u32s(&mut self, numbers: [u32; 2]) {
        self.bytes.extend(numbers.into_iter().flat_map(u32::to_le_bytes));
    }
}

/// The offset, where a record can name it.
fn within(offset: u32, end: u32) -> Result<u32, TableError> {
    if offset < end { Ok(offset) } else { Err(TableError::TooLarge) }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InnerNul(text) => write!(f, "a fault's text contains a NUL character: {text:?}"),
            Self::TooManyParts(n) => {
                write!(f, "a fault has {n} parts, expected at most {MAX_PARTS}")
            }
            Self::ValueIndex(index) => {
                write!(f, "a fault names value {index}, expected a number below {MAX_VALUES}")
            }
            Self::DuplicateKey(key) => write!(f, "a name table has two names for {key}"),
            Self::TooLarge => {
                write!(f, "the package has more texts of faults than their table can name")
            }
        }
    }
}

impl std::error::Error for TableError {}

#[cfg(test)]
mod tests {
    use super::{NameTable, Part, TableError, TableWriter};
    use crate::Format;
    use crate::interface::{MAX_PARTS, MAX_VALUES};
    use std::{string::ToString, vec};

    #[test]
    fn the_bytes_of_a_table() {
        let mut table = TableWriter::default();
        let names = table.name_table("#", &[(9, "b"), (2, "a")]).unwrap();
        assert_eq!(names, NameTable(8));
        let name = Part::Value { index: 3, format: Format::Name(names) };
        let fault = table.fault("E", &[Part::Text("a"), name]).unwrap();
        assert_eq!(fault, 36);
        let expected = [
            &b"b\0a\0#\0\0\0"[..],
            &[2, 0, 0, 0, 4, 0, 0, 0],
            &[2, 0, 0, 0, 2, 0, 0, 0],
            &[9, 0, 0, 0, 0, 0, 0, 0],
            b"E\0\0\0",
            &[32, 0, 0, 2],
            &[2, 0, 0, 0],
            &[2, 0, 0x80, 0x80 | 4 << 4 | 1],
        ];
        assert_eq!(table.finish(), expected.concat());
    }

    #[test]
    fn every_part_reads_back() {
        let names = NameTable(0x7_fffc);
        let formats = [
            Format::Int,
            Format::Uint,
            Format::Hex,
            Format::Float,
            Format::Name(names),
            Format::Dtype(names),
            Format::Text,
        ];
        let values = formats.map(|format| Part::Value { index: 31, format });
        let optional = formats.map(|format| Part::Optional { given: 31, index: 30, format });
        for part in [Part::Text(0x7edc_ba98)].into_iter().chain(values).chain(optional) {
            assert_eq!(Part::decode(part.encode()), Some(part));
        }
        assert_eq!(Part::decode(0xf000_0000), None);
    }

    #[test]
    fn strings_are_stored_once() {
        let mut table = TableWriter::default();
        let first = table.fault("ValueError", &[Part::Text("expected ")]).unwrap();
        let second = table.fault("ValueError", &[Part::Text("expected ")]).unwrap();
        assert_eq!(second - first, 8);
    }

    #[test]
    fn what_the_runtime_could_not_hold_is_refused() {
        let mut table = TableWriter::default();
        let text = Part::Text("x");
        assert!(table.fault("E", &vec![text; MAX_PARTS]).is_ok());
        let refused = table.fault("E", &vec![text; MAX_PARTS + 1]);
        assert_eq!(refused, Err(TableError::TooManyParts(65)));

        let value = |index| [Part::Value { index, format: Format::Int }];
        assert!(table.fault("E", &value(MAX_VALUES as u8 - 1)).is_ok());
        let refused = table.fault("E", &value(MAX_VALUES as u8));
        assert_eq!(refused, Err(TableError::ValueIndex(32)));
        for (given, index, refused) in [(31, 31, None), (32, 0, Some(32)), (0, 33, Some(33))] {
            let part = Part::Optional { given, index, format: Format::Int };
            assert_eq!(table.fault("E", &[part]).err(), refused.map(TableError::ValueIndex));
        }
    }

    #[test]
    fn what_the_format_cannot_say_is_refused() {
        let mut table = TableWriter::default();
        let refused = table.fault("E", &[Part::Text("a\0b")]).unwrap_err();
        assert_eq!(refused.to_string(), r#"a fault's text contains a NUL character: "a\0b""#);
        let refused = table.name_table("", &[(1, "a"), (1, "b")]);
        assert_eq!(refused, Err(TableError::DuplicateKey(1)));
    }
}
