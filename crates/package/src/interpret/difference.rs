// SPDX-License-Identifier: Apache-2.0
//! Where two memories of one tensor differ, element by element.
//!
//! Bits count, save that one NaN is like any other, as everywhere in the language. How far two
//! floats are apart is said in units in the last place: how many floats of the type lie between
//! them, and one. Not here: where the memories come from.

use kernpack_kernel_ir::interp::Memory;
use kernpack_kernel_ir::types::Class;
use kernpack_kernel_ir::{Const, Scalar};

/// How many elements of a tensor are shown.
const SHOWN: usize = 4;

/// The comparison of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorDifference {
    /// Its name in the signature.
    pub name: String,
    /// How many elements it has.
    pub n_elements: usize,
    /// How many of them differ.
    pub n_different: usize,
    /// How far apart two elements are at most, in units in the last place; nothing where that has
    /// no answer for some: they are no floats, or one of them is a NaN.
    pub most_ulps: Option<u64>,
    /// The first that differ.
    pub shown: Vec<ElementDifference>,
}

/// An element that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct ElementDifference {
    /// Its name: `out[3]`.
    pub element: String,
    /// The interpreter's element there.
    pub interpreted: Const,
    /// The GPU's element there.
    pub on_gpu: Const,
}

impl TensorDifference {
    /// Holds what a GPU has in a tensor against what the interpreter has.
    pub(super) fn of(memory: &Memory, on_gpu: &[u8]) -> TensorDifference {
        let size = memory.element.bytes() as usize;
        let mut difference = TensorDifference {
            name: memory.name.clone(),
            n_elements: memory.bytes.len() / size,
            n_different: 0,
            most_ulps: Some(0),
            shown: vec![],
        };
        let pairs = memory.bytes.chunks_exact(size).zip(on_gpu.chunks_exact(size));
        for (number, (interpreted, on_gpu)) in pairs.enumerate() {
            if interpreted == on_gpu {
                continue;
            }
            let [interpreted, on_gpu] = [interpreted, on_gpu].map(|b| constant(memory.element, b));
            if is_nan(interpreted) && is_nan(on_gpu) {
                continue;
            }
            difference.n_different += 1;
            let apart = ulps(interpreted, on_gpu);
            difference.most_ulps =
                difference.most_ulps.zip(apart).map(|(most, apart)| most.max(apart));
            if difference.shown.len() < SHOWN {
                let element = memory.element_at((number * size) as u64);
                difference.shown.push(ElementDifference { element, interpreted, on_gpu });
            }
        }
        difference
    }

    /// Whether the elements are close enough: the same, or no further apart than this.
    pub fn is_within(&self, allowed_ulps: Option<u64>) -> bool {
        let is_close = |allowed| self.most_ulps.is_some_and(|most| most <= allowed);
        self.n_different == 0 || allowed_ulps.is_some_and(is_close)
    }
}

/// The bytes of an element, which are the same for a truth value of any bits but 0.
fn constant(element: Scalar, bytes: &[u8]) -> Const {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    match element {
        Scalar::Bool => Const::from_bits(Scalar::U8, u64::from_le_bytes(word)),
        _ => Const::from_bits(element, u64::from_le_bytes(word)),
    }
}

fn is_nan(constant: Const) -> bool {
    constant.as_float().is_some_and(f64::is_nan)
}

/// How far two floats are apart; 0 and -0 are the same here.
fn ulps(one: Const, other: Const) -> Option<u64> {
    let is_float = one.scalar().class() == Class::Float;
    if !is_float || is_nan(one) || is_nan(other) {
        return None;
    }
    let sign = 1_u64 << (one.scalar().bits() - 1);
    let [one, other] = [one.bits(), other.bits()].map(|bits| {
        let magnitude = i128::from(bits & !sign);
        if bits & sign == 0 { magnitude } else { -magnitude }
    });
    u64::try_from(one.abs_diff(other)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects a difference between tensors of these bits: how many elements, the most ulps, and
    /// the first.
    fn expect_difference(
        element: Scalar,
        [interpreted, on_gpu]: [&[u64]; 2],
        expected: (usize, Option<u64>, &str),
    ) {
        let bytes = |bits: &[u64]| -> Vec<u8> {
            let size = element.bytes() as usize;
            bits.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec()).collect()
        };
        let memory = Memory::new("x", element, bytes(interpreted));
        let found = TensorDifference::of(&memory, &bytes(on_gpu));
        let first = found.shown.first();
        let first = first.map(|one| format!("{} {} {}", one.element, one.interpreted, one.on_gpu));
        let first = first.unwrap_or_default();
        assert_eq!((found.n_different, found.most_ulps, first.as_str()), expected);
        assert_eq!(found.n_elements, interpreted.len());
        assert_eq!(found.is_within(None), found.n_different == 0);
        let exactly = found.most_ulps.is_none_or(|most| found.is_within(Some(most)));
        assert!(exactly);
        let less = found.most_ulps.and_then(|most| most.checked_sub(1));
        assert!(less.is_none_or(|less| !found.is_within(Some(less))));
    }

    #[test]
    fn floats_are_apart_by_the_floats_between_them() {
        let [one, next] = [0x3f80_0000, 0x3f80_0001];
        expect_difference(Scalar::F32, [&[one, one], &[one, one]], (0, Some(0), ""));
        let first = "x[1] 1.0 1.0000001";
        expect_difference(Scalar::F32, [&[one, one], &[one, next]], (1, Some(1), first));
        // The least numbers of either sign have the two zeros between them.
        let first = "x[0] 1e-45 -1e-45";
        expect_difference(Scalar::F32, [&[1], &[0x8000_0001]], (1, Some(2), first));
        // Minus zero has other bits, though it is no further away.
        expect_difference(Scalar::F32, [&[0], &[0x8000_0000]], (1, Some(0), "x[0] 0.0 -0.0"));
        let first = "x[0] 65504.0 inf";
        expect_difference(Scalar::F16, [&[0x7bff], &[0x7c00]], (1, Some(1), first));
        let opposite = [0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000];
        let apart = Some(2 * 0x7ff0_0000_0000_0000);
        let first = "x[0] inf -inf";
        expect_difference(Scalar::F64, [&opposite[..1], &opposite[1..]], (1, apart, first));
    }

    #[test]
    fn one_nan_is_like_any_other_and_like_no_number() {
        let nans = [0x7fc0_0000, 0x7fff_ffff];
        expect_difference(Scalar::F32, [&nans[..1], &nans[1..]], (0, Some(0), ""));
        expect_difference(Scalar::F32, [&nans[..1], &[0]], (1, None, "x[0] nan 0.0"));
        // One number too many makes an answer for the others none.
        let elements: [&[u64]; 2] = [&[0, 0, 0], &[1, nans[0], 1]];
        expect_difference(Scalar::F32, elements, (3, None, "x[0] 0.0 1e-45"));
    }

    #[test]
    fn what_is_no_float_is_the_same_or_not() {
        expect_difference(Scalar::I16, [&[1, 2], &[1, 0xffff]], (1, None, "x[1] 2 -1"));
        // A truth value is a byte, and one of other bits than 0 and 1 is none.
        expect_difference(Scalar::Bool, [&[1], &[3]], (1, None, "x[0] 1 3"));
        expect_difference(Scalar::U8, [&[], &[]], (0, Some(0), ""));
    }

    #[test]
    fn few_of_many_are_shown() {
        let memory = Memory::new("x", Scalar::U8, vec![0; 100]).with_shape(&[10, 10]);
        let found = TensorDifference::of(&memory, &[1; 100]);
        assert_eq!(found.n_different, 100);
        let shown: Vec<_> = found.shown.iter().map(|one| one.element.as_str()).collect();
        assert_eq!(shown, ["x[0, 0]", "x[0, 1]", "x[0, 2]", "x[0, 3]"]);
    }
}
