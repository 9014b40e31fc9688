// SPDX-License-Identifier: Apache-2.0
//! NumPy's files of one array, `.npy`: a header in Python's words, and the elements behind it.
//!
//! Elements are little endian, as kernels have them. Not here: files, and archives of several
//! arrays.

use kernpack_ffi_abi::DType;
use kernpack_ffi_abi::managed::row_major;

/// How a file begins.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Elements begin at a multiple of this.
const ALIGNMENT: usize = 64;

/// What NumPy calls dtypes, but for the order of bytes.
const NAMES: &[(DType, &str)] = &[
    (DType::BOOL, "b1"),
    (DType::INT8, "i1"),
    (DType::INT16, "i2"),
    (DType::INT32, "i4"),
    (DType::INT64, "i8"),
    (DType::UINT8, "u1"),
    (DType::UINT16, "u2"),
    (DType::UINT32, "u4"),
    (DType::UINT64, "u8"),
    (DType::FLOAT16, "f2"),
    (DType::FLOAT32, "f4"),
    (DType::FLOAT64, "f8"),
];

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npy {
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Whether the first mode is the fastest; else the last one is.
    pub is_column_major: bool,
    /// Its elements.
    pub bytes: Vec<u8>,
}

impl Npy {
    /// Reads a file.
    ///
    /// # Errors
    /// What is wrong with it, to stand behind its name.
    pub fn read(file: &[u8]) -> Result<Npy, String> {
        let (header, elements) = split(file).ok_or("is no file of NumPy's (.npy)")?;
        let descr = field(header, "descr").ok_or("has no `descr` in its header")?;
        let dtype = dtype_of(descr)?;
        let is_column_major = match field(header, "fortran_order") {
            Some(text) if text.starts_with("True") => true,
            Some(text) if text.starts_with("False") => false,
            _ => return Err("has no `fortran_order` in its header".to_string()),
        };
        let shape = field(header, "shape").and_then(extents);
        let shape = shape.ok_or("has no `shape` in its header")?;
        let expected = dtype.compact_bytes(&shape).and_then(|bytes| usize::try_from(bytes).ok());
        match expected.and_then(|expected| elements.get(..expected)) {
            Some(elements) => Ok(Npy { dtype, shape, is_column_major, bytes: elements.to_vec() }),
            None => Err(format!("ends too early: it has {} bytes of {shape:?}", elements.len())),
        }
    }

    /// Its strides, in elements.
    pub fn strides(&self) -> Vec<i64> {
        let mut strides = vec![1; self.shape.len()];
        if self.is_column_major {
            let reversed: Vec<_> = self.shape.iter().rev().copied().collect();
            row_major(&reversed, &mut strides);
            strides.reverse();
        } else {
            row_major(&self.shape, &mut strides);
        }
        strides
    }

    /// The file.
    ///
    /// # Errors
    /// NumPy has no such dtype.
    pub fn write(&self) -> Result<Vec<u8>, String> {
        let row = NAMES.iter().find(|(dtype, _)| *dtype == self.dtype);
        let (_, name) = row.ok_or_else(|| format!("NumPy has no {}", self.dtype))?;
        let order = if self.dtype.element_bits() > 8 { '<' } else { '|' };
        let fortran_order = if self.is_column_major { "True" } else { "False" };
        let extents: String = self.shape.iter().map(|extent| format!("{extent}, ")).collect();
        let extents =
            if self.shape.len() == 1 { extents.trim_end() } else { extents.trim_end_matches(", ") };
        let mut header = format!(
            "{{'descr': '{order}{name}', 'fortran_order': {fortran_order}, 'shape': ({extents}), }}"
        );
        let begin = MAGIC.len() + 4;
        let all = (begin + header.len() + 1).next_multiple_of(ALIGNMENT);
        header += &" ".repeat(all - begin - header.len() - 1);
        header.push('\n');
        let length = u16::try_from(header.len()).map_err(|_| "it has too many dims".to_string())?;
        Ok([MAGIC, &[1, 0], &length.to_le_bytes(), header.as_bytes(), &self.bytes].concat())
    }
}

/// The header of a file, and the elements.
fn split(file: &[u8]) -> Option<(&str, &[u8])> {
    let rest = file.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (length, rest) = match version[0] {
        1 => {
            let (length, rest) = rest.split_at_checked(2)?;
            (usize::from(u16::from_le_bytes(length.try_into().ok()?)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_at_checked(4)?;
            (usize::try_from(u32::from_le_bytes(length.try_into().ok()?)).ok()?, rest)
        }
        _ => return None,
    };
    let (header, elements) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, elements))
}

/// What stands behind a key of the header.
fn field<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let (_, behind) = header.split_once(&format!("'{key}'"))?;
    Some(behind.trim_start().strip_prefix(':')?.trim_start())
}

/// The dtype that a header says: `'<f4'`.
fn dtype_of(descr: &str) -> Result<DType, String> {
    let name = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
    let Some((name, _)) = name else {
        return Err("has records, and no array of numbers".to_string());
    };
    let bare = name.trim_start_matches(['<', '|', '>', '=']);
    let row = NAMES.iter().find(|(_, known)| *known == bare);
    let (dtype, _) =
        row.ok_or_else(|| format!("has elements of `{name}`, which no kernel takes"))?;
    match name.starts_with('>') && dtype.element_bits() > 8 {
        true => Err(format!(
            "has elements of `{name}`, the bytes of which are in the order of other machines"
        )),
        false => Ok(*dtype),
    }
}

/// The extents that a header says: `(3, 4)`.
fn extents(text: &str) -> Option<Vec<i64>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
    let extents: Option<Vec<i64>> = items.map(|item| item.parse().ok()).collect();
    extents.filter(|extents| extents.iter().all(|extent| *extent >= 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(dtype: DType, shape: &[i64], bytes: &[u8]) -> Npy {
        let (shape, bytes) = (shape.to_vec(), bytes.to_vec());
        Npy { dtype, shape, is_column_major: false, bytes }
    }

    #[test]
    fn what_is_written_is_read() {
        for (dtype, _) in NAMES {
            let size = dtype.element_bytes() as usize;
            for (shape, count) in [(&[][..], 1), (&[3], 3), (&[0, 2], 0), (&[2, 3, 1], 6)] {
                let bytes: Vec<u8> = (0..count * size).map(|i| i as u8).collect();
                let one = array(*dtype, shape, &bytes);
                let file = one.write().unwrap();
                assert_eq!((file.len() - bytes.len()) % ALIGNMENT, 0);
                assert_eq!(Npy::read(&file), Ok(one));
            }
        }
        let turned = Npy { is_column_major: true, ..array(DType::INT8, &[1, 2], &[1, 2]) };
        assert_eq!(Npy::read(&turned.write().unwrap()), Ok(turned));
        assert!(array(DType::BFLOAT16, &[1], &[0, 0]).write().is_err());
    }

    #[test]
    fn the_header_is_that_of_numpy() {
        let file = array(DType::FLOAT32, &[2], &[0; 8]).write().unwrap();
        let expected = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
        assert_eq!(&file[..10], b"\x93NUMPY\x01\0\x76\0");
        assert_eq!(std::str::from_utf8(&file[10..128]).unwrap().trim_end(), expected);
    }

    #[test]
    fn what_is_no_array_of_numbers_says_why() {
        let read = |header: &str, n_bytes: usize| {
            let length = (header.len() as u32).to_le_bytes();
            let file = [MAGIC, &[2, 0], &length, header.as_bytes(), &vec![0; n_bytes]].concat();
            Npy::read(&file).map(|_| ()).unwrap_or_else(|problem| panic!("{problem}"))
        };
        read("{'descr': '|u1', 'fortran_order': False, 'shape': (4,)}", 4);
        let wrong = |header: &str| {
            let length = (header.len() as u16).to_le_bytes();
            let file = [MAGIC, &[1, 0], &length, header.as_bytes(), &[0; 4]].concat();
            Npy::read(&file).unwrap_err()
        };
        for (header, expected) in [
            ("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "other machines"),
            ("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "of `<c8`, which no"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "records"),
            ("{'descr': '<f4', 'shape': (1,)}", "fortran_order"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "no `shape`"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "ends too early"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}", "ends"),
            ("{}", "no `descr`"),
        ] {
            assert!(wrong(header).contains(expected), "{header}: {}", wrong(header));
        }
        for file in [&b""[..], b"\x93NUMPY", b"\x93NUMPY\x01\0\xff\xff{", b"\x93NUMPY\x09\0\0\0"] {
            assert_eq!(Npy::read(file), Err("is no file of NumPy's (.npy)".to_string()));
        }
    }
}
