// SPDX-License-Identifier: Apache-2.0
//! Facts about tensors by themselves: their addresses and strides.
//!
//! A stride that no step takes, of a dim of extent 1 or of a tensor without elements, passes every
//! check. Names have the stride of a compact tensor there, which is what is known of them: the
//! product of the extents inside it, modulo 2^64.

use super::names::Named;
use super::{Because, CallFacts};
use crate::packed::tensor::{extents, field};
use kernpack_layout::{Facts, Op};
use kernpack_validators::dim::{Dim, Rank};
use kernpack_validators::expr::{Expr, Field};
use kernpack_validators::param::{Order, Strides, TensorDType};
use kernpack_validators::plan::ALLOCATED_ALIGN;

/// The facts about a tensor's dims.
struct Dims {
    /// The strides that they have in a compact tensor.
    compact: Vec<Facts>,
    /// Whether steps take their strides in every call that passes the tensor.
    are_taken: Vec<bool>,
}

impl CallFacts {
    /// Learns what the addresses of tensors are multiples of, and which share no memory, as a call
    /// allocates them.
    pub(super) fn learn_addresses(&mut self) {
        let names = self.names.clone();
        for Named { path, tensor, .. } in names.tensors() {
            let dtype = match tensor.dtype() {
                TensorDType::Fixed(dtype) => Some(*dtype),
                TensorDType::Var(var, _) => self.row.get(var).copied(),
            };
            let element = dtype.map(|dtype| dtype.element_bytes().max(1));
            let bytes = tensor.alignment().or(element).filter(|bytes| bytes.is_power_of_two());
            let allocated = names.is_workspace(path).then_some(ALLOCATED_ALIGN);
            let bytes = bytes.max(allocated);
            let because = match names.is_allocated(path) {
                true => Because::Allocated(path[..].into()),
                false => Because::Check(format!("the address of {path}").into()),
            };
            if let Some(bytes) = bytes {
                self.because(because).learn_aligned(path, bytes);
            }
        }
        for (path, bytes) in names.pointers() {
            let because = Because::Check(format!("the address of {path}").into());
            self.because(because).learn_aligned(path, *bytes);
        }
        let paths = names.tensors().iter().map(|named| &named.path);
        for allocated in paths.clone().filter(|path| names.is_allocated(path)) {
            let because = Because::Allocated(allocated[..].into());
            let others = paths.clone().filter(|other| *other != allocated);
            others.for_each(|other| self.because(because.clone()).learn_apart(allocated, other));
        }
    }

    /// Learns what the strides of tensors are, and the symbols that have their values from them.
    pub(super) fn learn_strides(&mut self) {
        let names = self.names.clone();
        for named in names.tensors() {
            let Named { path, tensor, is_optional } = named;
            let (dims, known) = (tensor.dims(), self.dims(named));
            for i in (0..dims.len()).filter(|i| !matches!(dims[*i], Dim::Star(_))) {
                let own = match tensor.strides_wanted() {
                    Strides::Any => continue,
                    Strides::Compact(_) => known.compact[i],
                    Strides::Dims(_) if known.are_taken[i] => self.wanted_stride(tensor, i),
                    Strides::Dims(_) => self.wanted_stride(tensor, i).either(known.compact[i]),
                };
                let absent = is_optional.then(|| Facts::of_number(0));
                let own = absent.map_or(own, |zero| own.either(zero));
                let name = field(path, Field::Stride, i, Rank::of(dims));
                let because = match names.is_allocated(path) {
                    true => Because::Allocated(path[..].into()),
                    false => Because::Check(format!("the strides of {path}").into()),
                };
                self.because_here(because).know(&name, own);
            }
        }
        for symbol in names.strides() {
            let own = match self.loose_stride(symbol) {
                None => Facts::NON_NEGATIVE,
                Some(compact) => compact.either(Facts::NON_NEGATIVE),
            };
            let check = Because::Check(format!("the strides `{symbol}`").into());
            self.because_here(check).know(&Expr::symbol(symbol), own);
        }
    }

    /// The value of a stride symbol in calls in which no step takes its strides: those of a compact
    /// tensor, or 0 where none is given. Nothing where steps take one in every call, and of other
    /// names.
    pub(super) fn loose_stride(&self, symbol: &str) -> Option<Facts> {
        if !self.names.is_stride(symbol) || self.taken.as_deref() == Some(symbol) {
            return None;
        }
        let (mut loose, mut is_given) = (None, false);
        for named in self.names.tensors() {
            let Strides::Dims(strides) = named.tensor.strides_wanted() else { continue };
            let is_it =
                |dim: &Dim| matches!(dim, Dim::Expr(expr) if expr.as_symbol() == Some(symbol));
            let uses: Vec<_> = (0..strides.len()).filter(|i| is_it(&strides[*i])).collect();
            if uses.is_empty() {
                continue;
            }
            let known = self.dims(named);
            if !named.is_optional && uses.iter().any(|i| known.are_taken[*i]) {
                return None;
            }
            is_given |= !named.is_optional;
            let compact = uses.iter().map(|i| known.compact[*i]).reduce(Facts::either);
            loose = loose.into_iter().chain(compact).reduce(Facts::either);
        }
        let zero = (!is_given).then(|| Facts::of_number(0));
        loose.into_iter().chain(zero).reduce(Facts::either)
    }

    /// The divisor of every step along a stride: where no step takes a stride that is a
    /// symbol, rules over the symbol are not asked, and nothing is said of any step.
    pub fn step(&self, stride: &Expr) -> i64 {
        let Some(symbol) = stride.as_symbol().filter(|it| self.loose_stride(it).is_some()) else {
            return self.facts(&self.canonical(stride)).divisor.max(1);
        };
        let mut taken = self.clone();
        taken.taken = Some(symbol.to_string());
        taken.learn_signature();
        taken.facts(stride).divisor.max(1)
    }

    fn dims(&self, named: &Named) -> Dims {
        let dims = named.tensor.dims();
        let extents = extents(&named.path, dims, self);
        let facts = |(dim, extent): (&Dim, &Expr)| match dim {
            // Their product may leave 64 bits.
            Dim::Star(_) => Facts::NONE,
            Dim::Expr(_) | Dim::Any => {
                self.facts(extent).both(Facts::NON_NEGATIVE).unwrap_or(Facts::NON_NEGATIVE)
            }
        };
        let extents: Vec<_> = dims.iter().zip(&extents).map(facts).collect();
        let order = match named.tensor.strides_wanted() {
            Strides::Compact(order) => order,
            Strides::Any | Strides::Dims(_) => &Order::Row,
        };
        let mut compact = vec![Facts::NONE; dims.len()];
        let mut next = Facts::of_number(1);
        for i in order.fastest_first(dims.len()).unwrap_or_default() {
            compact[i] = next;
            next = wrapping_product(next, extents[i]);
        }
        let has_elements = extents.iter().all(|extent| extent.min >= 1);
        let are_taken = extents.iter().map(|extent| has_elements && extent.min >= 2).collect();
        Dims { compact, are_taken }
    }

    /// The stride that the signature wants of one that steps take.
    fn wanted_stride(&self, tensor: &kernpack_validators::param::Tensor, i: usize) -> Facts {
        let Strides::Dims(strides) = tensor.strides_wanted() else { return Facts::NONE };
        match strides.get(i) {
            Some(Dim::Expr(expr)) => self.facts(&self.canonical(expr)),
            Some(Dim::Any | Dim::Star(_)) | None => Facts::NON_NEGATIVE,
        }
    }
}

/// The facts about a product modulo 2^64, as a number with a sign.
fn wrapping_product(a: Facts, b: Facts) -> Facts {
    let fits = |a: i64, b: i64| a.checked_mul(b).is_some();
    if a.min >= 0 && b.min >= 0 && fits(a.max, b.max) {
        return Facts::of(Op::Mul, a, b);
    }
    if a.known() == Some(1) {
        return b;
    }
    // What a power of two divides it still divides.
    let zeros = |facts: Facts| facts.divisor.trailing_zeros().min(62);
    Facts { divisor: 1 << (zeros(a) + zeros(b)).min(62), ..Facts::NONE }
}
