// SPDX-License-Identifier: Apache-2.0
//! Contents of tensors that are made up: numbers that are the same for the same seed, on every
//! machine.

use kernpack_kernel_ir::{Const, Scalar};
use std::str::FromStr;

/// The contents of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Fill {
    /// Floats from -1 to 1, integers from -8 to 8, or from 0 where they have no sign.
    #[default]
    Random,
    /// 0, 1, 2, ... in the order of memory.
    Count,
    /// One number.
    Number(f64),
}

impl FromStr for Fill {
    type Err = String;

    fn from_str(text: &str) -> Result<Fill, String> {
        match text {
            "random" => Ok(Fill::Random),
            "count" => Ok(Fill::Count),
            "zeros" => Ok(Fill::Number(0.0)),
            "ones" => Ok(Fill::Number(1.0)),
            _ => text.parse().map(Fill::Number).map_err(|_| {
                format!("expected `random`, `count`, `zeros`, `ones` or a number, found `{text}`")
            }),
        }
    }
}

impl Fill {
    /// The bytes of so many elements.
    pub fn bytes(self, element: Scalar, count: usize, seed: u64) -> Vec<u8> {
        let mut random = Random::of(seed);
        let mut bytes = Vec::with_capacity(count * element.bytes() as usize);
        for number in 0..count {
            let constant = match self {
                Fill::Random => random.constant(element),
                Fill::Count => from_f64(element, number as f64),
                Fill::Number(value) => from_f64(element, value),
            };
            bytes.extend(&constant.bits().to_le_bytes()[..element.bytes() as usize]);
        }
        bytes
    }
}

/// A number as an element.
fn from_f64(element: Scalar, value: f64) -> Const {
    match element {
        Scalar::Bool => Const::bool(value != 0.0),
        _ if element.is_float() => Const::float(element, value),
        _ => Const::int(element, value as i64),
    }
}

/// Numbers in no visible order.
pub(super) struct Random(u64);

impl Random {
    /// Those of a seed.
    pub fn of(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Puts items into an order by chance.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, (self.next() >> 32) as usize % (last + 1));
        }
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn constant(&mut self, element: Scalar) -> Const {
        let bits = self.next() >> 40;
        match element {
            Scalar::Bool => Const::bool(bits & 1 == 1),
            _ if element.is_float() => {
                Const::float(element, bits as f64 / f64::from(1 << 23) - 1.0)
            }
            _ if element.is_signed() => Const::int(element, (bits % 17) as i64 - 8),
            _ => Const::int(element, (bits % 17) as i64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        for element in Scalar::ALL {
            let bytes = |seed| Fill::Random.bytes(*element, 100, seed);
            assert_eq!(bytes(3), bytes(3));
            assert_ne!(bytes(3), bytes(4), "{element}");
        }
        assert_eq!(Fill::Count.bytes(Scalar::I16, 3, 0), [0, 0, 1, 0, 2, 0]);
        let half = |text: &str| text.parse::<Fill>().map(|fill| fill.bytes(Scalar::F32, 1, 0));
        assert_eq!(half("0.5"), Ok(0.5_f32.to_le_bytes().to_vec()));
        assert_eq!(half("ones"), Ok(1_f32.to_le_bytes().to_vec()));
        assert!(half("half").is_err());
    }
}
