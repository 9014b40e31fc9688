// SPDX-License-Identifier: Apache-2.0
//! Kind `Tensor`: `Tensor([m, n], float16, order=row, align=16, device=cuda, mut)`.
//!
//! *Accepts* a `DLTensor*` (type index 7) and a `Tensor` object (70). *Checks*, in order: type, rank, dtype, device type, device index, data
//! pointer, shape, strides, alignment. *Binds* the symbols of its dims and strides and its dtype variable. *Kernel argument*: `a` (the address
//! of its first element), `a.shape[i]`, `a.strides[i]`, `a.numel`.

use super::{Argument, Form, Kind, ParamKind, ParamSyntax};
use crate::check;
use crate::count::count;
use crate::declare::{Bindings, Declarations};
use crate::dim::Dim;
use crate::expr::Field;
use crate::host_type::HostType;
use crate::parse::Parser;
use crate::path::Path;
use crate::plan::{Arith, Compare, Guarded, Value};
use crate::planner::Planner;
use crate::rule::join;
use kernpack_ffi_abi::layout::{TENSOR_VIEW_OFFSET, dl_tensor};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use kernpack_syntax::{Diagnostic, Span};
use std::fmt;

/// The element type of a tensor.
#[derive(Clone, Debug)]
pub enum TensorDType {
    /// That dtype.
    Fixed(DType),
    /// What a dtype variable stands for in this call.
    Var(String, Span),
}

/// Equal text is equal: where it stood does not count.
impl PartialEq for TensorDType {
    fn eq(&self, other: &TensorDType) -> bool {
        match (self, other) {
            (TensorDType::Fixed(a), TensorDType::Fixed(b)) => a == b,
            (TensorDType::Var(a, _), TensorDType::Var(b, _)) => a == b,
            (TensorDType::Fixed(_), TensorDType::Var(..))
            | (TensorDType::Var(..), TensorDType::Fixed(_)) => false,
        }
    }
}

impl fmt::Display for TensorDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TensorDType::Fixed(dtype) => dtype.fmt(f),
            TensorDType::Var(name, _) => f.write_str(name),
        }
    }
}

impl From<DType> for TensorDType {
    fn from(dtype: DType) -> TensorDType {
        TensorDType::Fixed(dtype)
    }
}

impl From<&str> for TensorDType {
    fn from(var: &str) -> TensorDType {
        TensorDType::Var(var.to_string(), Span::default())
    }
}

/// The order of a compact tensor's dims in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last dim is the fastest.
    Row,
    /// The first dim is the fastest.
    Col,
    /// A rank for each dim, 0 for the fastest.
    Ranks(Vec<usize>),
}

impl Order {
    /// The dims from the fastest to the slowest; nothing where the ranks are no permutation.
    pub fn fastest_first(&self, n_dims: usize) -> Option<Vec<usize>> {
        match self {
            Order::Row => Some((0..n_dims).rev().collect()),
            Order::Col => Some((0..n_dims).collect()),
            Order::Ranks(ranks) => {
                let dim_of = |rank| ranks.iter().position(|r| *r == rank);
                let dims: Option<Vec<_>> = (0..n_dims).map(dim_of).collect();
                dims.filter(|_| ranks.len() == n_dims)
            }
        }
    }

    /// What messages call it: `row-major order`.
    pub fn words(&self) -> String {
        match self {
            Order::Row => "row-major order".to_string(),
            Order::Col => "column-major order".to_string(),
            Order::Ranks(ranks) => format!("order ({})", join(ranks)),
        }
    }
}

/// What a tensor's strides must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Strides {
    /// Those of a compact tensor.
    Compact(Order),
    /// Anything.
    Any,
    /// What each dim says, in elements.
    Dims(Vec<Dim>),
}

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

    /// What is wrong with the options as a whole.
    fn problem(&self) -> Option<String> {
        let n_dims = self.dims.len();
        match &self.strides {
            Strides::Compact(order) if order.fastest_first(n_dims).is_none() => {
                let ranks = match n_dims {
                    0 => "()".to_string(),
                    1 => "(0)".to_string(),
                    _ => format!("a permutation of 0 to {}", n_dims - 1),
                };
                Some(format!("expected `order` to be {ranks} for {}", count(n_dims, "dim")))
            }
            Strides::Dims(strides) if strides.len() != n_dims => Some(format!(
                "expected {} for {}, found {}",
                count(n_dims, "stride"),
                count(n_dims, "dim"),
                strides.len()
            )),
            _ => None,
        }
    }
}

impl ParamSyntax for Tensor {
    const SAMPLES: &'static [&'static str] = &[
        "Tensor([], float32)",
        "Tensor([m, 2*n + 1, _], T, order=(1, 0, 2), align=16)",
        "Tensor([m, n], bfloat16, strides=[s, 1], device={cpu, cuda}, peer, mut)",
        "Tensor([m], int4, strides=any, device=cuda)",
    ];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.at_name("Tensor").then(|| parse_tensor(parser).map(Kind::from))
    }
}

/// Reads `Tensor(…)`; the parser stands before it.
pub(crate) fn parse_tensor(parser: &mut Parser<'_>) -> Result<Tensor, Diagnostic> {
    let start = parser.expect_keyword("Tensor")?;
    parser.expect("(")?;
    let dims = parser.parse_dims()?;
    parser.expect(",")?;
    let mut tensor = Tensor::new(dims, parser.parse_tensor_dtype()?);
    let mut seen = Vec::new();
    while parser.eat(",") {
        if parser.at_mark(")") {
            break;
        }
        let (option, span) = parse_option(parser, &mut tensor)?;
        if seen.contains(&option) || (option == "strides" && seen.contains(&"order")) {
            return Err(repeated(option, span));
        }
        seen.push(if option == "order" { "strides" } else { option });
        seen.push(option);
    }
    let span = start.to(parser.expect(")")?);
    match tensor.problem() {
        Some(problem) => {
            Err(Diagnostic::new("tensor-options", "the tensor's options do not fit its dims")
                .label(span, problem))
        }
        None => Ok(tensor),
    }
}

fn repeated(option: &str, span: Span) -> Diagnostic {
    let help = match option {
        "order" | "strides" => "remove one of the two; `order=` and `strides=` exclude each other",
        _ => "remove one of the two",
    };
    Diagnostic::new("repeated-option", format!("`{option}` is given twice"))
        .label(span, "an earlier option says this already")
        .help(help)
}

fn parse_option(
    parser: &mut Parser<'_>,
    tensor: &mut Tensor,
) -> Result<(&'static str, Span), Diagnostic> {
    let span = parser.peek().span;
    let option = if parser.eat_name("mut") {
        tensor.mutable = true;
        "mut"
    } else if parser.eat_name("peer") {
        tensor.peer = true;
        "peer"
    } else if parser.eat_name("align") {
        tensor.align = Some(parser.parse_align()?);
        "align"
    } else if parser.eat_name("device") {
        tensor.devices = Some(parser.parse_devices()?);
        "device"
    } else if parser.eat_name("order") {
        tensor.strides = Strides::Compact(parse_order(parser)?);
        "order"
    } else if parser.eat_name("strides") {
        parser.expect("=")?;
        tensor.strides =
            if parser.eat_name("any") { Strides::Any } else { Strides::Dims(parser.parse_dims()?) };
        "strides"
    } else {
        return Err(parser
            .unexpected("an option: `order=`, `strides=`, `align=`, `device=`, `peer` or `mut`"));
    };
    Ok((option, span))
}

fn parse_order(parser: &mut Parser<'_>) -> Result<Order, Diagnostic> {
    parser.expect("=")?;
    if parser.eat_name("row") {
        return Ok(Order::Row);
    }
    if parser.eat_name("col") {
        return Ok(Order::Col);
    }
    let ranks =
        parser.parse_list("(", ")", |parser| parser.parse_count("a dim's rank in memory"))?;
    Ok(Order::Ranks(ranks.into_iter().map(|rank| rank as usize).collect()))
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
    fn write_options(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match &self.strides {
            Strides::Compact(Order::Row) => {}
            Strides::Compact(Order::Col) => f.write_str(", order=col")?,
            Strides::Compact(Order::Ranks(ranks)) => write!(f, ", order=({})", join(ranks))?,
            Strides::Any => f.write_str(", strides=any")?,
            Strides::Dims(strides) => write!(f, ", strides=[{}]", join(strides))?,
        }
        self.align.map_or(Ok(()), |align| write!(f, ", align={align}"))?;
        match self.devices.as_deref() {
            None => {}
            Some([device]) => write!(f, ", device={device}")?,
            Some(devices) => write!(f, ", device={{{}}}", join(devices))?,
        }
        f.write_str(if self.peer { ", peer" } else { "" })?;
        f.write_str(if self.mutable { ", mut" } else { "" })
    }

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

    /// Checks the strides; returns the stride of every dim, the compact one where the dim is free.
    fn plan_strides(
        &self,
        path: &Path,
        view: Value,
        extents: &[Value],
        empty: Value,
        cx: &mut Planner<'_>,
    ) -> Vec<Value> {
        let strides = cx.b.load(view, dl_tensor::STRIDES);
        let n_dims = extents.len();
        let row_major = compact_strides(cx, extents, &Order::Row);
        if n_dims == 0 {
            return row_major;
        }
        if self.strides == Strides::Compact(Order::Row) {
            let null = cx.b.int(0);
            let present = cx.b.compare(Compare::Ne, strides, null);
            cx.when(present, |cx| {
                let actual: Vec<_> = (0..n_dims).map(|i| cx.b.element(strides, i)).collect();
                check::stride::require_compact(
                    cx,
                    path,
                    &actual,
                    &row_major,
                    extents,
                    empty,
                    &Order::Row,
                );
            });
            return row_major;
        }
        let actual = strides_or_row_major(cx, strides, &row_major);
        for (i, stride) in actual.iter().enumerate() {
            cx.b.let_named(&path.part(Field::Stride(i)).text, *stride);
        }
        match &self.strides {
            Strides::Compact(order) => {
                let expected = compact_strides(cx, extents, order);
                check::stride::require_compact(cx, path, &actual, &expected, extents, empty, order);
                expected
            }
            Strides::Any => {
                let free = free_dims(cx, extents, empty);
                self.require_writable(cx, path, &actual, &free);
                cx.b.select_each(&free, &row_major, &actual)
            }
            Strides::Dims(wanted) => {
                let free = free_dims(cx, extents, empty);
                for (i, dim) in wanted.iter().enumerate() {
                    let path = path.part(Field::Stride(i));
                    let at = check::stride::StrideUse {
                        path: &path,
                        actual: actual[i],
                        free: free[i],
                        compact: row_major[i],
                    };
                    check::stride::require(cx, &at, dim, self.mutable);
                }
                cx.b.select_each(&free, &row_major, &actual)
            }
        }
    }

    fn require_writable(
        &self,
        cx: &mut Planner<'_>,
        path: &Path,
        actual: &[Value],
        free: &[Value],
    ) {
        for (i, stride) in actual.iter().enumerate().filter(|_| self.mutable) {
            check::mut_broadcast::require(cx, &path.part(Field::Stride(i)), *stride, free[i]);
        }
    }
}

/// The strides of a compact tensor.
fn compact_strides(cx: &mut Planner<'_>, extents: &[Value], order: &Order) -> Vec<Value> {
    let mut strides = vec![cx.b.int(1); extents.len()];
    let mut next = cx.b.int(1);
    for dim in order.fastest_first(extents.len()).expect("a checked order is a permutation") {
        strides[dim] = next;
        next = cx.b.arith(Arith::Mul, next, extents[dim]);
    }
    strides
}

/// Whether each dim meets every stride requirement: its extent is 1, or the tensor is empty.
fn free_dims(cx: &mut Planner<'_>, extents: &[Value], empty: Value) -> Vec<Value> {
    let free = |extent: &Value| {
        let single = cx.b.eq_int(*extent, 1);
        cx.b.or(single, empty)
    };
    extents.iter().map(free).collect()
}

/// The strides as given; row-major ones where the pointer to them is NULL.
fn strides_or_row_major(cx: &mut Planner<'_>, strides: Value, row_major: &[Value]) -> Vec<Value> {
    let null = cx.b.int(0);
    let present = cx.b.compare(Compare::Ne, strides, null);
    cx.b.open();
    let values: Vec<_> = row_major
        .iter()
        .enumerate()
        .map(|(i, compact)| Guarded { inner: cx.b.element(strides, i), otherwise: *compact })
        .collect();
    cx.b.close(present, &values)
}
