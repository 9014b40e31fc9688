// SPDX-License-Identifier: Apache-2.0
//! Tensors, beside the names of their fields: devices, dtypes, the memory they
//! span, what tensor maps ask.

use super::Planner;
use super::first_of::{FirstOf, NextPlace};
use super::name::{Named, NamedKind};
use crate::check;
use crate::expr::Field;
use crate::param::TensorDType;
use crate::path::Path;
use crate::plan::{Arith, Value};
use kernpack_ffi_abi::DType;

/// A tensor that tensor maps may be of, beside its address, extents and
/// strides, which have names.
#[derive(Clone, Debug)]
pub struct MapSource {
    /// Its dtype.
    pub dtype: TensorDType,
    /// Its dims from the innermost to the outermost, by number; nothing where they are of any
    /// number.
    pub fastest_first: Option<Vec<usize>>,
    /// The known alignment of its address, in bytes.
    pub align: Option<u32>,
    /// Whether it may be absent.
    pub optional: bool,
}

impl Planner<'_> {
    /// The tensors' extents in memory, for `noalias`.
    pub fn extent(&self, tensor: &str) -> Option<&check::alias::Extent> {
        self.extents.get(tensor)
    }

    /// The tensor of that path, for tensor maps.
    pub fn map_source(&self, tensor: &str) -> Option<&MapSource> {
        self.map_sources.get(tensor)
    }

    /// Every tensor that tensor maps may be of, by its path.
    pub fn map_sources(&self) -> impl Iterator<Item = (&str, &MapSource)> {
        self.map_sources.iter().map(|(path, source)| (path.as_str(), source))
    }

    /// Adds a tensor that tensor maps may be of.
    pub fn add_map_source(
        &mut self,
        tensor: &str,
        dtype: &TensorDType,
        fastest_first: Option<Vec<usize>>,
        align: Option<u32>,
    ) {
        let optional = !self.guards.is_empty();
        let source = MapSource { dtype: dtype.clone(), fastest_first, align, optional };
        self.map_sources.insert(tensor.to_string(), source);
    }

    /// Takes the device index of the tensor at `path`, which counts only in some calls, and
    /// compares it with those before it.
    pub fn bind_device_index(&mut self, path: &Path, actual: Value, counts: Value) {
        const NAME: &str = "device.index";
        let Some(mut before) = self.device_index.take() else {
            self.device_index = Some(FirstOf::new(&mut self.b, path, actual, counts));
            return;
        };
        let next = NextPlace {
            subject: path.location("Mismatched device index"),
            actual,
            excuse: self.b.not(counts),
            first: format!("{}.{NAME}", before.path.text),
            name: NAME,
        };
        self.require_same(&check::device_index::INFO, next, &before);
        before.and(&mut self.b, path, actual, counts);
        if self.b.as_bool(before.counts) != Some(true) {
            before.name(&mut self.b, NAME);
        }
        self.device_index = Some(before);
    }

    /// Takes the device index of a peer, which has one where that holds.
    pub fn add_peer(&mut self, index: Value, has_one: Value) {
        let none = self.b.int(-1);
        self.peers.push(self.b.select(has_one, index, none));
    }

    /// Defines the number of a tensor's elements: the product of these numbers, each with whether
    /// it is one.
    pub fn define_numel(&mut self, path: &Path, numels: &[(Value, Value)], empty: Value) {
        let (mut numel, mut valid) = (self.b.int(1), self.b.bool(true));
        for (factor, fits) in numels {
            let overflows = self.b.overflows(Arith::Mul, numel, *factor);
            let no_overflow = self.b.not(overflows);
            valid = self.b.and(valid, *fits);
            valid = self.b.and(valid, no_overflow);
            numel = self.b.mul(numel, *factor);
        }
        // An extent 0 makes the product 0, whatever overflowed on the way.
        let valid = self.b.or(empty, valid);
        let named = Named::new(numel, NamedKind::Int, &path.part(Field::Numel));
        self.define(Named { valid: Some(valid), ..named });
    }

    /// Whether rules ask for the memory that a tensor spans.
    pub fn asks_extent(&self, path: &Path) -> bool {
        self.extents_asked.contains(&path.text[..])
    }

    /// Defines the memory that a tensor spans.
    pub fn define_extent(&mut self, path: &Path, extent: check::alias::Extent) {
        self.extents.insert(path.text.clone(), extent);
    }

    /// The dtypes that a tensor may have.
    pub fn allowed_dtypes(&self, dtype: &TensorDType) -> Vec<DType> {
        match dtype {
            TensorDType::Fixed(dtype) => vec![*dtype],
            TensorDType::Var(var, _) => self.bindings.dtypes[var].allowed.clone(),
        }
    }

    /// The bits of one element.
    pub fn element_bits(&mut self, dtype: &TensorDType, actual: Value) -> Value {
        let allowed = self.allowed_dtypes(dtype);
        let bits = |dtype: &DType| i64::from(dtype.element_bits());
        let (last, others) = allowed.split_last().expect("a dtype variable has a dtype");
        let mut value = self.b.int(bits(last));
        for dtype in others.iter().rev() {
            let (is, these) = (self.b.eq_int(actual, dtype.packed()), self.b.int(bits(dtype)));
            value = self.b.select(is, these, value);
        }
        value
    }
}
