// SPDX-License-Identifier: Apache-2.0
//! Kind `Tensor`: `Tensor([m, n], float16, order=row, align=16, device=cuda, mut)`.
//!
//! *Accepts* a `DLTensor*` (type index 7) and a `Tensor` object (70). *Checks*, in order: type, rank, dtype, device type, device index, data
//! pointer, shape, strides, alignment. *Binds* the symbols of its dims and strides and its dtype variable. *Kernel argument*: `a` (the address
//! of its first element), `a.shape[i]`, `a.strides[i]`, `a.numel`.
//!
//! What is written is read and printed in `syntax`; the checks of strides are in `strides`, the
//! others here.

mod dtype;
mod order;
mod strides;
mod syntax;

pub use dtype::TensorDType;
pub use order::{Order, Strides};
pub(crate) use syntax::parse_tensor;

use super::{Argument, Form, ParamKind};
use crate::check;
use crate::declare::{Bindings, Declarations};
use crate::dim::Dim;
use crate::expr::Field;
use crate::host_type::HostType;
use crate::path::Path;
use crate::plan::Value;
use crate::planner::Planner;
use crate::rule::join;
use kernpack_ffi_abi::layout::{TENSOR_VIEW_OFFSET, dl_tensor};
use kernpack_ffi_abi::{DeviceType, TypeIndex};
use std::fmt;

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    dims: Vec<Dim>,
    dtype: TensorDType,
    strides: Strides,
    align: Option<u32>,
    devices: Option<Vec<DeviceType>>,
    peer: bool,
    mutable: bool,
}

impl Tensor {
    /// A compact row-major tensor on the default device.
    pub fn new(
        dims: impl IntoIterator<Item = impl Into<Dim>>,
        dtype: impl Into<TensorDType>,
    ) -> Tensor {
        Tensor {
            dims: dims.into_iter().map(Into::into).collect(),
            dtype: dtype.into(),
            strides: Strides::Compact(Order::Row),
            align: None,
            devices: None,
            peer: false,
            mutable: false,
        }
    }

    /// With that order in memory.
    pub fn order(mut self, order: Order) -> Tensor {
        self.strides = Strides::Compact(order);
        self
    }

    /// With those strides.
    pub fn strides(mut self, strides: impl IntoIterator<Item = impl Into<Dim>>) -> Tensor {
        self.strides = Strides::Dims(strides.into_iter().map(Into::into).collect());
        self
    }

    /// With any strides at all.
    pub fn any_strides(mut self) -> Tensor {
        self.strides = Strides::Any;
        self
    }

    /// With data aligned to that many bytes, a power of two.
    pub fn align(mut self, bytes: u32) -> Tensor {
        self.align = Some(bytes);
        self
    }

    /// On one of these devices.
    pub fn device(mut self, devices: impl IntoIterator<Item = DeviceType>) -> Tensor {
        self.devices = Some(devices.into_iter().collect());
        self
    }

    /// On any device index.
    pub fn peer(mut self) -> Tensor {
        self.peer = true;
        self
    }

    /// Written by the function.
    pub fn mutable(mut self) -> Tensor {
        self.mutable = true;
        self
    }

    /// The dims.
    pub fn dims(&self) -> &[Dim] {
        &self.dims
    }

    /// The element type.
    pub fn dtype(&self) -> &TensorDType {
        &self.dtype
    }

    /// Whether it is compact row-major and has no option that a fresh allocation could fail.
    pub(crate) fn can_be_allocated(&self) -> bool {
        self.strides == Strides::Compact(Order::Row)
            && self.devices.is_none()
            && !self.peer
            && !self.mutable
    }

    /// The alignment asked for, in bytes.
    pub fn alignment(&self) -> Option<u32> {
        self.align
    }

    /// The symbols and dtype variable that nothing has bound.
    pub(crate) fn unbound_names(&self, bindings: &Bindings) -> Vec<String> {
        let exprs = self.dims.iter().filter_map(|dim| match dim {
            Dim::Expr(expr) => Some(expr),
            Dim::Any => None,
        });
        let has_value = |symbol: &str| {
            bindings.symbols.get(symbol).is_some_and(|binding| binding.optional.is_none())
        };
        let mut unbound: Vec<_> = exprs
            .flat_map(|expr| expr.names())
            .filter(|name| name.param.is_some() || !has_value(&name.text))
            .map(|name| name.text)
            .collect();
        if self.dims.contains(&Dim::Any) {
            unbound.push("_".to_string());
        }
        match &self.dtype {
            TensorDType::Var(var, _) if !bindings.dtypes.contains_key(var) => {
                unbound.push(var.clone())
            }
            _ => {}
        }
        unbound
    }
}

impl ParamKind for Tensor {
    fn write(&self, form: Form, f: &mut dyn fmt::Write) -> fmt::Result {
        write!(f, "Tensor([{}], {}", join(&self.dims), self.dtype)?;
        if form == Form::Full {
            self.write_options(f)?;
        }
        f.write_str(")")
    }

    fn declare(&self, at: &Path, cx: &mut Declarations) {
        cx.tensor(at, self.dims.len());
        if self.peer {
            cx.peer(at, self.devices.as_deref());
        }
        if let TensorDType::Var(var, span) = &self.dtype {
            cx.dtype_var(at, var, *span);
        }
        for (i, dim) in self.dims.iter().enumerate() {
            cx.dim(&at.part(Field::Shape(i)), dim);
        }
        if let Strides::Dims(strides) = &self.strides {
            for (i, stride) in strides.iter().enumerate() {
                cx.stride(&at.part(Field::Stride(i)), stride);
            }
        }
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let path = &at.path;
        let view = self.plan_view(at, cx);
        check::rank::require(cx, path, view, self.dims.len());
        let dtype = check::dtype::require(cx, path, view, &self.dtype);
        let default = [cx.default_device];
        let devices = self.devices.as_deref().unwrap_or(&default);
        check::device_type::require(cx, path, view, devices);
        check::device_index::require(cx, path, view, devices, self.peer);
        let shape = cx.b.load(view, dl_tensor::SHAPE);
        let extents: Vec<_> = (0..self.dims.len()).map(|i| cx.b.element(shape, i)).collect();
        let empty = cx.b.eq_zero_any(&extents);
        let data = cx.b.load(view, dl_tensor::DATA);
        check::null_data::require(cx, path, data, empty);
        self.plan_dims(path, &extents, cx);
        let extents = self.known_extents(extents, cx);
        let empty = cx.b.eq_zero_any(&extents);
        cx.define_numel(path, &extents);
        let strides = self.plan_strides(path, view, &extents, empty, cx);
        cx.define_strides(path, &strides);
        let byte_offset = cx.b.load(view, dl_tensor::BYTE_OFFSET);
        let address = cx.b.add_ints(data, byte_offset);
        let element_bits = cx.element_bits(&self.dtype, dtype);
        cx.b.let_named(format!("{}.bits", path.text), element_bits);
        check::alignment::require(cx, path, address, self.align, element_bits, empty);
        let dtypes = cx.allowed_dtypes(&self.dtype);
        let is_whole_bytes = dtypes.iter().all(|dtype| dtype.element_bits() % 8 == 0);
        let element = check::alias::Element { bits: element_bits, is_whole_bytes };
        cx.add_map_source(&path.text, &self.dtype, self.fastest_first(), self.align);
        cx.define_tensor(path, address, &extents, &strides, element);
    }

    fn host_type(&self) -> HostType {
        HostType::Tensor { rank: self.dims.len(), mutable: self.mutable }
    }
}

impl Tensor {
    /// The dims from the innermost to the outermost, as far as the signature tells: the last is the innermost one unless `order=` says otherwise.
    fn fastest_first(&self) -> Vec<usize> {
        let n_dims = self.dims.len();
        let known = match &self.strides {
            Strides::Compact(order) => order.fastest_first(n_dims),
            Strides::Any | Strides::Dims(_) => None,
        };
        known.unwrap_or_else(|| (0..n_dims).rev().collect())
    }

    /// The address of the `DLTensor`, from either of the two ways a tensor arrives.
    fn plan_view(&self, at: &Argument, cx: &mut Planner<'_>) -> Value {
        check::type_index::require(
            cx,
            at,
            "Tensor",
            &[TypeIndex::TENSOR, TypeIndex::DL_TENSOR_PTR],
        );
        let is_object = cx.b.eq_int(at.type_index, TypeIndex::TENSOR.0);
        let (header, none) = (cx.b.int(TENSOR_VIEW_OFFSET), cx.b.int(0));
        let offset = cx.b.select(is_object, header, none);
        let view = cx.b.add_ints(at.payload, offset);
        cx.b.let_named(&at.path.text, view);
        view
    }

    fn plan_dims(&self, path: &Path, extents: &[Value], cx: &mut Planner<'_>) {
        for (i, (dim, extent)) in self.dims.iter().zip(extents).enumerate() {
            let path = path.part(Field::Shape(i));
            cx.b.let_named(&path.text, *extent);
            check::dim::require(cx, &path, *extent, dim);
        }
    }

    /// The extents behind the shape's checks: those of constant dims are constants now.
    fn known_extents(&self, extents: Vec<Value>, cx: &mut Planner<'_>) -> Vec<Value> {
        let known = |(dim, extent): (&Dim, Value)| match dim {
            Dim::Expr(expr) => expr.as_int().map_or(extent, |value| cx.b.int(value)),
            Dim::Any => extent,
        };
        self.dims.iter().zip(extents).map(known).collect()
    }
}
