// SPDX-License-Identifier: Apache-2.0
//! Texts. A run holds one as the address of the `TVMFFIAny` that has it; a constant, which has no
//! address, as the complement of its expression's number.

use super::{Run, Stop};
use crate::fault::shown_text;
use crate::plan::{Expr, Value};
use kernpack_ffi_abi::layout::{OBJECT_HEADER_BYTES, any, byte_array};
use kernpack_ffi_abi::{Field, TypeIndex, Width};

/// How a run holds the constant text of that number.
pub(super) fn constant(number: Value) -> i64 {
    !i64::from(number.0)
}

impl Run<'_> {
    /// The bytes of a text.
    pub(super) fn text(&self, text: Value) -> Result<Vec<u8>, Stop> {
        let held = self.value(text)?;
        let constant = usize::try_from(!held).ok().and_then(|at| self.plan.exprs.get(at));
        match constant {
            Some(Expr::Text(text)) => Ok(text.as_bytes().to_vec()),
            _ => self.text_at(held as u64),
        }
    }

    /// A text as messages show it.
    pub(super) fn shown_text(&self, text: Value) -> Result<String, Stop> {
        Ok(shown_text(&self.text(text)?))
    }

    /// The text of the `TVMFFIAny` at an address.
    fn text_at(&self, address: u64) -> Result<Vec<u8>, Stop> {
        let payload = self.field(address, any::PAYLOAD)?;
        match TypeIndex(self.field(address, any::TYPE_INDEX)? as i32) {
            TypeIndex::SMALL_STR => {
                let size = (self.field(address, any::PADDING)? as usize).min(size_of::<i64>() - 1);
                Ok(payload.to_le_bytes()[..size].to_vec())
            }
            TypeIndex::STR => {
                let bytes = (payload as u64).wrapping_add(OBJECT_HEADER_BYTES.into());
                let data = self.field(bytes, byte_array::DATA)? as u64;
                let size = self.field(bytes, byte_array::SIZE)? as u64;
                (0..size).map(|i| self.byte(data.wrapping_add(i))).collect()
            }
            TypeIndex::RAW_STR if payload != 0 => {
                let bytes = (0..).map(|i| self.byte((payload as u64).wrapping_add(i)));
                bytes.take_while(|byte| !matches!(byte, Ok(0))).collect()
            }
            _ => Ok(vec![]),
        }
    }

    fn field(&self, base: u64, field: Field) -> Result<i64, Stop> {
        let address = base.wrapping_add(field.offset.into());
        self.memory.load(address, field.width).ok_or(Stop::Unreadable(address))
    }

    fn byte(&self, address: u64) -> Result<u8, Stop> {
        let byte = self.memory.load(address, Width::U8).ok_or(Stop::Unreadable(address))?;
        Ok(byte as u8)
    }
}
