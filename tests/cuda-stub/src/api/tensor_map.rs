// SPDX-License-Identifier: Apache-2.0
//! Tensor maps. What the driver encodes is secret, so the stub has a form of its own in the same
//! 128 bytes: the words `KPSTUB` and what was given, in order, which tests can read back. What
//! `cuda.h` forbids is refused as there.

use crate::argument::{Address, In, Out};
use crate::c_types::{
    CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave,
    CUtensorMapL2promotion, CUtensorMapSwizzle,
};
use crate::json;
use crate::status::Status;

/// The bits of an element, by data type.
const ELEMENT_BITS: [u64; 16] = [8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6];
/// The bytes that the innermost row of a box may have, by swizzle; without one there is no limit.
const SPANS: [u64; 7] = [u64::MAX, 32, 64, 128, 128, 128, 128];
const INTERLEAVE_32: u32 = 2;
/// Data types from here on, and swizzles, came with compute capability 10.
const NEW_TYPES: u32 = 13;
const NEW_SWIZZLES: u32 = 4;
/// The data types that have a NaN.
const FLOATS: std::ops::RangeInclusive<u32> = 6..=12;

/// What a map describes.
struct Tiled {
    data_type: u32,
    address: u64,
    dims: Vec<u64>,
    strides: Vec<u64>,
    boxes: Vec<u32>,
    steps: Vec<u32>,
    choices: [u32; 4],
}

impl Tiled {
    /// Whether the driver allows it, on a device of this major compute capability.
    fn is_allowed(&self, major: u32) -> bool {
        let [interleave, swizzle, promotion, fill] = self.choices;
        if major < 10 && (self.data_type >= NEW_TYPES || swizzle >= NEW_SWIZZLES)
            || fill == 1 && !FLOATS.contains(&self.data_type)
        {
            return false;
        }
        let are_known = self.data_type < 16 && interleave <= 2 && swizzle <= 6 && promotion <= 3;
        if !are_known || fill > 1 || !(1..=5).contains(&self.dims.len()) {
            return false;
        }
        let unit = if interleave == INTERLEAVE_32 { 32 } else { 16 };
        let has_row = interleave != 0;
        let row_bytes = u64::from(self.boxes[0]) * ELEMENT_BITS[self.data_type as usize] / 8;
        let is_row_good =
            row_bytes.is_multiple_of(16) && (has_row || row_bytes <= SPANS[swizzle as usize]);
        self.address.is_multiple_of(unit)
            && (!has_row || self.dims.len() >= 3)
            && self.dims.iter().all(|dim| (1..=1 << 32).contains(dim))
            && self.strides.iter().all(|stride| stride % unit == 0 && *stride < 1 << 40)
            && self.boxes.iter().all(|extent| (1..=256).contains(extent))
            && self.steps.iter().all(|step| (1..=8).contains(step))
            && is_row_good
    }

    /// The stub's form of it.
    fn encode(&self) -> CUtensorMap {
        let mut bytes = b"KPSTUB".to_vec();
        bytes.extend([self.data_type as u8, self.dims.len() as u8]);
        bytes.extend(self.choices.map(|choice| choice as u8));
        bytes.resize(16, 0);
        bytes.extend(self.address.to_le_bytes());
        bytes.extend(self.dims.iter().flat_map(|dim| dim.to_le_bytes()));
        bytes.extend(self.strides.iter().flat_map(|stride| stride.to_le_bytes()));
        bytes.extend(self.boxes.iter().flat_map(|extent| (*extent as u16).to_le_bytes()));
        bytes.extend(self.steps.iter().map(|step| *step as u8));
        bytes.resize(128, 0);
        let mut words = [0; 16];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        CUtensorMap(words)
    }

    fn json(&self) -> String {
        fn list<T: ToString>(numbers: &[T]) -> String {
            json::list(numbers.iter().map(ToString::to_string))
        }
        json::object([
            ("dims", list(&self.dims)),
            ("strides", list(&self.strides)),
            ("box", list(&self.boxes)),
            ("steps", list(&self.steps)),
        ])
    }
}

api! {
    /// Describes a tensor that is copied in boxes.
    fn cuTensorMapEncodeTiled(
        call,
        map: Out<CUtensorMap>,
        data_type: CUtensorMapDataType,
        rank: u32,
        address: Address,
        dims: In<u64>,
        strides: In<u64>,
        boxes: In<u32>,
        steps: In<u32>,
        interleave: CUtensorMapInterleave,
        swizzle: CUtensorMapSwizzle,
        promotion: CUtensorMapL2promotion,
        fill: CUtensorMapFloatOOBfill,
    ) {
        if !map.0.is_null() && !map.0.is_aligned() {
            call.note("unaligned", "true".to_string());
        }
        // Even where there is none, of one dimension, the driver wants to see strides.
        if !(1..=5).contains(&rank) || !map.0.is_aligned() || strides.0.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let rank = rank as usize;
        let tiled = Tiled {
            data_type: data_type.0,
            address: address.0 as u64,
            dims: dims.list(rank)?,
            strides: strides.list(rank - 1)?,
            boxes: boxes.list(rank)?,
            steps: steps.list(rank)?,
            choices: [interleave.0, swizzle.0, promotion.0, fill.0],
        };
        call.note("tensor", tiled.json());
        let device = call.thread.current().and_then(|context| call.driver.device_of(context).ok());
        let device = device.map(|found| found.1).or(call.driver.config.devices.first());
        let major = device.map_or(0, |device| device.compute().0);
        if tiled.is_allowed(major) { map.put(tiled.encode()) } else { Err(Status::INVALID_VALUE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiled() -> Tiled {
        Tiled {
            data_type: 7,
            address: 64,
            dims: vec![64, 8],
            strides: vec![256],
            boxes: vec![32, 8],
            steps: vec![1, 1],
            choices: [0, 3, 2, 0],
        }
    }

    fn interleaved() -> Tiled {
        Tiled {
            dims: vec![64, 8, 4],
            strides: vec![256, 2048],
            boxes: vec![4, 8, 2],
            steps: vec![1; 3],
            choices: [1, 0, 0, 0],
            ..tiled()
        }
    }

    #[test]
    fn each_demand_is_made() {
        let is_allowed = |change: fn(&mut Tiled)| {
            let mut tiled = tiled();
            change(&mut tiled);
            tiled.is_allowed(9)
        };
        assert!(is_allowed(|_| ()));
        assert!(is_allowed(|t| t.dims[0] = 1 << 32));
        assert!(is_allowed(|t| (t.boxes, t.choices[1]) = (vec![256, 256], 0)));
        assert!(is_allowed(|t| t.choices[3] = 1));
        assert!(is_allowed(|t| *t = interleaved()));
        assert!(Tiled { choices: [0, 4, 0, 0], ..tiled() }.is_allowed(10));
        assert!(Tiled { data_type: 13, boxes: vec![128, 8], ..tiled() }.is_allowed(10));
        let wrong: &[fn(&mut Tiled)] = &[
            |t| t.data_type = 16,
            |t| t.choices = [3, 0, 0, 0],
            |t| t.choices = [0, 7, 0, 0],
            |t| t.choices = [0, 0, 4, 0],
            |t| t.choices = [0, 0, 0, 2],
            |t| t.choices = [1, 0, 0, 0],
            |t| t.address = 8,
            |t| t.dims[1] = 0,
            |t| t.dims[1] = (1 << 32) + 1,
            |t| t.strides[0] = 264,
            |t| t.strides[0] = 1 << 40,
            |t| t.boxes[1] = 0,
            |t| t.boxes[1] = 257,
            |t| t.boxes[0] = 33,
            |t| t.choices = [0, 4, 0, 0],
            |t| (t.data_type, t.boxes[0]) = (13, 128),
            |t| (t.data_type, t.choices[3]) = (2, 1),
            |t| *t = Tiled { boxes: vec![2, 8, 2], ..interleaved() },
            |t| t.boxes[0] = 36,
            |t| t.steps[0] = 0,
            |t| t.steps[0] = 9,
        ];
        for (index, change) in wrong.iter().enumerate() {
            assert!(!is_allowed(*change), "change {index}");
        }
    }

    #[test]
    fn maps_can_be_read_back() {
        let bytes = tiled().encode().0.map(u64::to_le_bytes).concat();
        assert_eq!(&bytes[..12], b"KPSTUB\x07\x02\x00\x03\x02\x00");
        assert_eq!(bytes[16..40], [64u64, 64, 8].map(u64::to_le_bytes).concat());
        assert_eq!(bytes[48..54], [32, 0, 8, 0, 1, 1]);
    }
}
