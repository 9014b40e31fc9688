// SPDX-License-Identifier: Apache-2.0
//! Arrays that are given for tensors of a call: what of the call follows from them, dims and dtypes
//! by their names. Not here: files.

use super::Wanted;
use kernpack_ffi_abi::DType;
use kernpack_syntax::Diagnostic;
use kernpack_validators::declare::{Binding, Bindings};
use kernpack_validators::dim::Star;
use kernpack_validators::param::{Tensor, TensorDType};

/// An array of elements that a kernel may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Where it comes from, for messages: `x.npy`.
    pub origin: String,
    /// The type of its elements.
    pub dtype: DType,
    /// Its extents.
    pub shape: Vec<i64>,
    /// Its strides, in elements: compact, in any order.
    pub strides: Vec<i64>,
    /// Its elements.
    pub bytes: Vec<u8>,
}

impl Array {
    /// Refuses one that can be of no tensor like that.
    pub(super) fn check(&self, path: &str, tensor: &Tensor) -> Result<(), Diagnostic> {
        let Array { origin, shape, .. } = self;
        let dims = tensor.dims();
        let n_dims = dims.len() - usize::from(Star::among(dims).is_some());
        let fits = match Star::among(dims) {
            Some(_) => shape.len() >= n_dims,
            None => shape.len() == n_dims,
        };
        if !fits {
            let least = if dims.len() > n_dims { "at least " } else { "" };
            let message =
                format!("`{path}` has {least}{n_dims} dims, and `{origin}` is of {shape:?}");
            return Err(Diagnostic::new("bad-value", message));
        }
        match tensor.dtype() {
            TensorDType::Fixed(expected) => self.check_dtype(path, *expected),
            TensorDType::Var(..) => Ok(()),
        }
    }

    /// Refuses one of another dtype.
    pub(super) fn check_dtype(&self, path: &str, expected: DType) -> Result<(), Diagnostic> {
        let Array { origin, dtype, .. } = self;
        let message = format!("`{path}` is of {expected}, and `{origin}` of {dtype}");
        if expected == *dtype { Ok(()) } else { Err(Diagnostic::new("bad-value", message)) }
    }
}

/// All that follows from the arrays of a call, by name. What is said by itself goes before that.
pub(super) fn follows(wanted: &Wanted, bindings: &Bindings) -> Vec<(String, String)> {
    let at = |path: &str| {
        let (tensor, field) = path.rsplit_once('.')?;
        let (field, number) = field.strip_suffix(']')?.split_once('[')?;
        let array = wanted.array(tensor)?;
        let all = if field == "shape" { &array.shape } else { &array.strides };
        all.get(number.parse::<usize>().ok()?).copied()
    };
    let of_symbol = |Binding { path, scale, offset, sharing, .. }: &Binding| {
        let shared = sharing.iter().flat_map(|sharing| &sharing.paths);
        let found = [path].into_iter().chain(shared).find_map(|path| at(path))?;
        found.checked_sub(*offset)?.checked_div(*scale)
    };
    let symbols = bindings.symbols.iter();
    let symbols =
        symbols.filter_map(|(name, one)| Some((name.clone(), of_symbol(one)?.to_string())));
    let dtypes = bindings.dtypes.iter().filter_map(|(name, binding)| {
        let array = wanted.array(&binding.path)?;
        Some((name.clone(), array.dtype.to_string()))
    });
    let stars = bindings.stars.iter().filter_map(|(name, binding)| {
        let array = wanted.array(&binding.path)?;
        let behind = array.shape.len().checked_sub(binding.rank.behind.unwrap_or_default())?;
        let dims = array.shape.get(binding.rank.before..behind)?;
        let dims: Vec<_> = dims.iter().map(ToString::to_string).collect();
        Some((name.clone(), dims.join(",")))
    });
    symbols.chain(dtypes).chain(stars).collect()
}
