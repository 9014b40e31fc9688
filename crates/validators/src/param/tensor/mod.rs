// SPDX-License-Identifier: Apache-2.0
//! Kind `Tensor`: `Tensor([m, n], float16, order=row, align=16, device=cuda, mut)`.
//!
//! *Accepts* a `DLTensor*` (type index 7) and a `Tensor` object (70). *Checks*, in order: type,
//! rank, dtype, device type, device index, data pointer, shape, strides, alignment. *Binds* the
//! symbols of its dims and strides and its dtype variable. *Kernel argument*: `a` (the address of
//! its first element), `a.shape[i]`, `a.strides[i]`, `a.numel`.
//!
//! Its text is read and printed in `syntax`; the checks of strides are in `strides`, the
//! others here.

mod axis;
mod dtype;
mod order;
mod strides;
mod syntax;

pub use dtype::TensorDType;
pub use order::{Order, Strides};
pub(crate) use syntax::parse_tensor;

use super::{Argument, Form, ParamKind};
use crate::check;
use crate::check::alias::{Element, Extent, Span};
use crate::declare::{Bindings, Declarations};
use crate::dim::{Dim, Star};
use crate::expr::Field;
use crate::host_type::HostType;
use crate::path::Path;
use crate::plan::{Compare, Value};
use crate::planner::{Named, NamedKind, Planner, StarUse};
use crate::rule::join;
use axis::{Axis, DimNumbers};
use kernpack_ffi_abi::layout::{TENSOR_VIEW_OFFSET, dl_tensor};
use kernpack_ffi_abi::{DeviceType, TypeIndex};
use std::fmt;
use strides::Given;

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
        syntax::options_of(self).all(|option| option.is_of_allocations)
    }

    /// The alignment asked for, in bytes.
    pub fn alignment(&self) -> Option<u32> {
        self.align
    }

    /// The strides that it must have.
    pub fn strides_wanted(&self) -> &Strides {
        &self.strides
    }

    /// The devices it may be on; nothing where it names none.
    pub fn devices(&self) -> Option<&[DeviceType]> {
        self.devices.as_deref()
    }

    /// Whether it may be on any device index.
    pub fn is_peer(&self) -> bool {
        self.peer
    }

    /// Whether the function writes it.
    pub fn is_mutable(&self) -> bool {
        self.mutable
    }

    /// The symbols and dtype variable that nothing has bound.
    pub(crate) fn unbound_names(&self, bindings: &Bindings) -> Vec<String> {
        let exprs = self.dims.iter().filter_map(|dim| match dim {
            Dim::Expr(expr) => Some(expr),
            Dim::Any | Dim::Star(_) => None,
        });
        let has_dims =
            |star: &str| bindings.stars.get(star).is_some_and(|binding| binding.optional.is_none());
        let has_value = |symbol: &str| {
            bindings.symbols.get(symbol).is_some_and(|binding| binding.optional.is_none())
        };
        let mut unbound: Vec<_> = exprs
            .flat_map(|expr| expr.names())
            .filter(|name| match &name.param {
                Some(star) => !has_dims(star),
                None => !has_value(&name.text),
            })
            .map(|name| name.text)
            .collect();
        unbound.extend(self.dims.iter().filter_map(|dim| match dim {
            Dim::Any => Some(dim.to_string()),
            Dim::Star(star) if !star.name.as_deref().is_some_and(has_dims) => Some(dim.to_string()),
            Dim::Star(_) | Dim::Expr(_) => None,
        }));
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
        cx.tensor(at, &self.dims);
        if self.peer {
            cx.peer(at, self.devices.as_deref());
        }
        if let TensorDType::Var(var, span) = &self.dtype {
            cx.dtype_var(at, var, *span);
        }
        for (i, dim) in self.dims.iter().enumerate() {
            match dim {
                Dim::Star(star) => cx.star(at, star, self.strides == Strides::Any),
                Dim::Any | Dim::Expr(_) => cx.dim(&self.dim_path(at, Field::Shape, i), dim),
            }
        }
        if let Strides::Dims(strides) = &self.strides {
            for (i, stride) in strides.iter().enumerate() {
                cx.stride(&self.dim_path(at, Field::Stride, i), stride);
            }
        }
    }

    fn plan(&self, at: &Argument, cx: &mut Planner<'_>) {
        let path = &at.path;
        let view = self.plan_view(at, cx);
        let n_dims = cx.b.load(view, dl_tensor::NDIM);
        let shape = cx.b.load(view, dl_tensor::SHAPE);
        let shape = DimNumbers::new(cx, self, shape, n_dims);
        let star = self.star_use(cx, path, n_dims, shape);
        match &star {
            None => check::rank::require(cx, path, n_dims, self.dims.len()),
            Some(star) => cx.check_n_dims(star),
        }
        let dtype = check::dtype::require(cx, path, view, &self.dtype);
        let default = [cx.default_device];
        let devices = self.devices.as_deref().unwrap_or(&default);
        check::device_type::require(cx, path, view, devices);
        check::device_index::require(cx, path, view, devices, self.peer);
        let data = cx.b.load(view, dl_tensor::DATA);
        self.plan_data(path, data, shape, star.as_ref(), cx);
        let axes = self.plan_dims(path, shape, star.as_ref(), cx);
        let empty = axis::is_empty(cx, &axes);
        let numels: Vec<_> = axes.iter().map(|axis| axis.numel_if_it_fits(cx)).collect();
        cx.define_numel(path, &numels, empty);
        let strides = cx.b.load(view, dl_tensor::STRIDES);
        let null = cx.b.int(0);
        let present = cx.b.compare(Compare::Ne, strides, null);
        let strides = DimNumbers::new(cx, self, strides, n_dims);
        let given = Given { path, axes: &axes, empty, present, strides };
        let strides = self.plan_strides(cx, &given);
        self.define_strides(path, &strides, cx);
        let byte_offset = cx.b.load(view, dl_tensor::BYTE_OFFSET);
        let address = cx.b.add_ints(data, byte_offset);
        let element_bits = cx.element_bits(&self.dtype, dtype);
        cx.b.let_named(format!("{}.bits", path.text), element_bits);
        check::alignment::require(cx, path, address, self.align, element_bits, empty);
        cx.add_map_source(&path.text, &self.dtype, self.fastest_first(), self.align);
        if cx.asks_extent(path) {
            let extent = self.plan_extent(cx, &given, &strides, address, element_bits);
            cx.define_extent(path, extent);
        }
        cx.define(Named::new(address, NamedKind::Pointer, path));
    }

    fn for_call(&self, at: &Path, is_written: &dyn Fn(&str) -> bool) -> Option<super::Kind> {
        (!self.mutable && is_written(&at.text)).then(|| self.clone().mutable().into())
    }

    fn host_type(&self) -> HostType {
        HostType::Tensor(Box::new(self.clone()))
    }
}

impl Tensor {
    /// The dims from the innermost to the outermost, as far as the signature tells: the last is the
    /// innermost one unless `order=` says otherwise.
    fn fastest_first(&self) -> Option<Vec<usize>> {
        let n_dims = self.dims.len();
        if Star::among(&self.dims).is_some() {
            return None;
        }
        let known = match &self.strides {
            Strides::Compact(order) => order.fastest_first(n_dims),
            Strides::Any | Strides::Dims(_) => None,
        };
        Some(known.unwrap_or_else(|| (0..n_dims).rev().collect()))
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

    /// Requires a data pointer of a tensor with elements. Whether one of any rank has elements is
    /// found out only where it has no pointer.
    fn plan_data(
        &self,
        path: &Path,
        data: Value,
        shape: DimNumbers,
        star: Option<&StarUse>,
        cx: &mut Planner<'_>,
    ) {
        if star.is_none() {
            let empty = self.is_empty(cx, shape, None);
            return check::null_data::require(cx, path, data, empty);
        }
        let absent = cx.b.eq_int(data, 0);
        cx.when(absent, |cx| {
            let empty = self.is_empty(cx, shape, star);
            check::null_data::require(cx, path, data, empty);
        });
    }

    /// Checks the dims; returns them as they are known behind that: those that are constants are.
    fn plan_dims(
        &self,
        path: &Path,
        shape: DimNumbers,
        star: Option<&StarUse>,
        cx: &mut Planner<'_>,
    ) -> Vec<Axis> {
        let mut axes = Vec::new();
        for (i, dim) in self.dims.iter().enumerate() {
            if let (Dim::Star(_), Some(star)) = (dim, star) {
                axes.push(Axis::Star(cx.star(star)));
                continue;
            }
            let path = self.dim_path(path, Field::Shape, i);
            let extent = shape.one(cx, i);
            cx.b.let_named(&path.text, extent);
            check::dim::require(cx, &path, extent, dim);
            let constant = match dim {
                Dim::Expr(expr) => expr.as_int(),
                Dim::Any | Dim::Star(_) => None,
            };
            axes.push(Axis::One(constant.map_or(extent, |value| cx.b.int(value))));
        }
        axes
    }

    /// Defines the strides of the dims that are no star.
    fn define_strides(&self, path: &Path, strides: &[Value], cx: &mut Planner<'_>) {
        for (i, (dim, stride)) in self.dims.iter().zip(strides).enumerate() {
            if !matches!(dim, Dim::Star(_)) {
                let path = self.dim_path(path, Field::Stride, i);
                cx.define(Named::new(*stride, NamedKind::Int, &path));
            }
        }
    }

    /// The memory that the tensor spans.
    fn plan_extent(
        &self,
        cx: &mut Planner<'_>,
        given: &Given<'_>,
        strides: &[Value],
        address: Value,
        bits: Value,
    ) -> Extent {
        let dtypes = cx.allowed_dtypes(&self.dtype);
        let is_whole_bytes = dtypes.iter().all(|dtype| dtype.element_bits() % 8 == 0);
        let element = Element { bits, is_whole_bytes };
        let mut span = Span::of_one_element(cx);
        for (i, (axis, stride)) in given.axes.iter().zip(strides).enumerate() {
            match axis {
                Axis::One(extent) => {
                    let name = format!("{}.reach[{i}]", given.path.text);
                    span.extend(cx, Some(&name), *extent, *stride, element);
                }
                Axis::Star(dims) => {
                    let names = Span::NAMES.map(|name| format!("{}.{name}", given.path.text));
                    let firsts: Vec<_> =
                        names.iter().map(String::as_str).zip(span.values()).collect();
                    let each = |cx: &mut Planner<'_>, extent, stride, values: &[Value]| {
                        let mut span = Span::from_values(values);
                        span.extend(cx, None, extent, stride, element);
                        span.values().to_vec()
                    };
                    let left = self.for_each_star_stride(cx, given, dims, *stride, &firsts, each);
                    span = Span::from_values(&left);
                }
            }
        }
        span.in_bytes(cx, &given.path.text, address, element, given.empty)
    }
}
