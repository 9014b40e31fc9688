// SPDX-License-Identifier: Apache-2.0
//! Payloads of arguments, and the values that they stand for.

use super::Planner;
use crate::param::Argument;
use crate::plan::{Arith, Value};
use kernpack_ffi_abi::TypeIndex;

impl Planner<'_> {
    /// The payload of a pointer-like argument; NULL where None came.
    pub fn pointer_payload(&mut self, at: &Argument) -> Value {
        let is_none = self.b.eq_int(at.type_index, TypeIndex::NONE.0);
        let null = self.b.int(0);
        self.b.select(is_none, null, at.payload)
    }

    /// The packed dtype that an argument holds.
    pub fn dtype_payload(&mut self, at: &Argument) -> Value {
        let mask = self.b.int(u32::MAX);
        self.b.arith(Arith::BitAnd, at.payload, mask)
    }

    /// The bits of the float64 that a number's argument holds.
    pub fn float_payload(&mut self, at: &Argument) -> Value {
        let is_float = self.b.eq_int(at.type_index, TypeIndex::FLOAT.0);
        let converted = self.b.float_bits(at.payload);
        self.b.select(is_float, at.payload, converted)
    }

    /// Whether the float64s with these bits are equal; `constant` is a constant and no nan.
    pub fn eq_float(&mut self, bits: Value, constant: Value) -> Value {
        let equal = self.b.eq(bits, constant);
        let zeros = [0, i64::MIN];
        if self.b.as_int(constant).is_some_and(|bits| zeros.contains(&bits)) {
            return self.b.eq_any(bits, zeros);
        }
        equal
    }
}
