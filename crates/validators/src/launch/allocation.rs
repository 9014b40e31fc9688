// SPDX-License-Identifier: Apache-2.0
//! Allocations of a call: results and workspaces, with the checks of their extents.

use super::Join;
use crate::check;
use crate::dim::{Dim, Rank, Star};
use crate::expr::Field;
use crate::fault::{Format, Phrase};
use crate::param::Tensor;
use crate::path::Path;
use crate::plan::{ALLOCATED_ALIGN, Alloc, AllocDim, Arith, Value};
use crate::planner::{Named, NamedKind, StarDims};
use crate::rule::join;
use kernpack_syntax::Diagnostic;

/// Dims of an allocation, as they are written: one, or those of a star.
struct Extent {
    dim: AllocDim,
    /// Their product, modulo 2^64.
    numel: Value,
    /// Whether that is the product.
    fits: Value,
    /// The words for it in messages.
    phrase: Phrase,
}

impl Join<'_, '_> {
    /// An allocation, with the checks of its extents; its fields become names.
    pub(super) fn alloc(&mut self, what: &str, name: &str, tensor: &Tensor) -> Option<Alloc> {
        let text = format!("{what} `{name}: [{}]`", join(tensor.dims()));
        let mut extents = Vec::new();
        for dim in tensor.dims() {
            let place = format!("the {what} `{name}`");
            extents.push(match dim {
                Dim::Expr(expr) => {
                    self.check_names(expr, &place)?;
                    let value = self.value(expr);
                    check::argument_range::require_extent(self.cx, &text, expr, value);
                    let phrase = Phrase::value(value.value, Format::Int);
                    let (dim, fits) = (AllocDim::One(value.value), self.cx.b.bool(true));
                    Extent { dim, numel: value.value, fits, phrase }
                }
                Dim::Star(star) if let Some(bound) = self.cx.bound_star(star).cloned() => {
                    let n_others = tensor.dims().len() - 1;
                    if n_others > bound.from.n_others {
                        check::argument_range::require_few_dims(self.cx, &text, &bound, n_others);
                    }
                    let StarDims { extents, ndim, numel, fits, .. } = bound.dims;
                    let dim =
                        AllocDim::Many { count: ndim, start: extents.start, step: extents.step };
                    Extent { dim, numel, fits, phrase: Phrase::text(star.to_string()) }
                }
                Dim::Any | Dim::Star(_) => {
                    let message = format!("`{dim}` in {place} has no value");
                    let problem = Diagnostic::new("unbound-symbol", message);
                    self.diagnostics.push(problem.help("write an expression"));
                    return None;
                }
            });
        }
        let dtype = self.dtype(name, tensor.dtype())?;
        self.define_fields(name, tensor, &extents);
        let dtypes = self.cx.allowed_dtypes(tensor.dtype());
        let element_bytes = dtypes.iter().map(|dtype| dtype.element_bytes()).max().unwrap_or(1);
        let align = tensor.alignment().unwrap_or(element_bytes.next_power_of_two());
        let align = align.max(ALLOCATED_ALIGN);
        let row_major = (0..extents.len()).rev().collect();
        self.cx.add_map_source(
            name,
            tensor.dtype(),
            Star::among(tensor.dims()).is_none().then_some(row_major),
            Some(align),
        );
        let bytes = self.bytes(&text, tensor, dtype, &extents);
        let dims = extents.into_iter().map(|extent| extent.dim).collect();
        Some(Alloc { name: name.to_string(), dims, bytes, dtype, align })
    }

    /// The size of an allocation, checked to be within 64 bits.
    fn bytes(&mut self, text: &str, tensor: &Tensor, dtype: Value, extents: &[Extent]) -> Value {
        let bits = self.cx.element_bits(tensor.dtype(), dtype);
        let mut valid = self.cx.b.bool(true);
        let mut total = bits;
        for extent in extents {
            let overflows = self.cx.b.overflows(Arith::Mul, total, extent.numel);
            let fits = self.cx.b.not(overflows);
            valid = self.cx.b.and(valid, extent.fits);
            valid = self.cx.b.and(valid, fits);
            total = self.cx.b.mul(total, extent.numel);
        }
        let phrases: Vec<_> = extents.iter().map(|extent| extent.phrase.clone()).collect();
        check::argument_range::require_bytes(self.cx, text, valid, &phrases);
        let (seven, eight) = (self.cx.b.int(7), self.cx.b.int(8));
        let up = self.cx.b.add_ints(total, seven);
        self.cx.b.arith(Arith::FloorDiv, up, eight)
    }

    /// Gives the fields of an allocation their values: those of dims that are no star.
    fn define_fields(&mut self, name: &str, tensor: &Tensor, extents: &[Extent]) {
        let path = Path::argument(name, 0);
        let rank = Rank::of(tensor.dims());
        let mut stride = self.cx.b.int(1);
        for (i, extent) in extents.iter().enumerate().rev() {
            if let AllocDim::One(value) = extent.dim {
                let fields = [(Field::Shape as fn(i64) -> Field, value), (Field::Stride, stride)];
                for (field, value) in fields {
                    let path = rank.path(&path, field, i);
                    self.cx.define(Named::new(value, NamedKind::Int, &path));
                }
            }
            stride = self.cx.b.arith(Arith::Mul, stride, extent.numel);
        }
        self.cx.define(Named::new(stride, NamedKind::Int, &path.part(Field::Numel)));
    }
}
