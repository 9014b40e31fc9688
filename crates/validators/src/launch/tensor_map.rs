// SPDX-License-Identifier: Apache-2.0
//! Tensor maps as arguments: whether what is written fits together, the checks of what only a call
//! shows, and the values that the driver gets.
//!
//! A launch whose maps are of empty tensors has nothing to copy: it does not run, and none of its
//! checks is made.

use super::{Join, LaunchSpec};
use crate::check::tensor_map::{self as check, MapStride};
use crate::count::count;
use crate::expr::{Expr, Field};
use crate::fault::Phrase;
use crate::launch::KernelArg;
use crate::plan::{Arith, LaunchArg, TensorMap, Value};
use crate::planner::{Checked, Dangers, MapSource, NamedKind};
use crate::tensor_map::{MapSpec, data_type};
use kernpack_ffi_abi::DType;
use kernpack_machine::tensor_map::UNIT_BYTES;
use kernpack_syntax::Diagnostic;

/// A map before its values.
struct Shape {
    source: MapSource,
    /// The dtypes that the tensor may have where the launch runs.
    own: Vec<DType>,
    /// The element of the map for each of these.
    elements: Vec<DType>,
    /// The dims from the innermost to the outermost, by number.
    order: Vec<usize>,
    /// The unit that addresses and strides are multiples of, in bytes.
    unit: u32,
}

impl Join<'_, '_> {
    /// A tensor map as an argument; nothing where it does not fit the tensor.
    pub(super) fn tensor_map(
        &mut self,
        index: usize,
        launch: &LaunchSpec,
        map: &MapSpec,
    ) -> Option<LaunchArg> {
        let shape = self.map_shape(index, launch, map)?;
        let name = &map.tensor;
        let place = format!("the tensor map of `{name}`");
        for expr in map.dims.iter().chain(&map.strides).flatten() {
            self.check_names(expr, &place)?;
        }
        let wrong = format!("Invalid tensor map of `{name}`");
        let subject = match self.cx.named(name) {
            Some(named) => named.path.location(&wrong),
            None => Phrase::text(wrong),
        };
        let base = self.whole(name, None)?;
        if let LaunchArg::Value(address, _) = base
            && shape.source.align.is_none_or(|align| align < shape.unit)
        {
            check::require_alignment(self.cx, &subject, address, shape.unit);
        }
        let dims = self.map_dims(map, &shape, &subject);
        let strides = self.map_strides(map, &shape, &subject, &dims);
        let steps = map.steps.clone().unwrap_or_else(|| vec![1; dims.len()]);
        let number = |dtype| data_type(dtype).expect("the driver knows the dtype");
        let elements = shape.elements.iter().map(|dtype| number(*dtype)).collect::<Vec<_>>();
        let in_order = |counts: &[u32]| shape.order.iter().map(|dim| counts[*dim]).collect();
        Some(LaunchArg::TensorMap(Box::new(TensorMap {
            tensor: name.clone(),
            base,
            data_type: self.by_dtype(map, &shape, &elements),
            dims: shape.order.iter().map(|dim| dims[*dim]).collect(),
            strides: shape.order.iter().skip(1).map(|dim| strides[*dim]).collect(),
            box_dims: in_order(map.box_dims.as_deref().expect("a map without a box is refused")),
            steps: in_order(&steps),
            choices: map.choices,
        })))
    }

    /// Whether the tensors of a launch's maps all have elements; nothing where there are no maps.
    pub(super) fn maps_have_elements(&mut self, launch: &LaunchSpec) -> Option<Value> {
        let mut all = None;
        for arg in &launch.args {
            let KernelArg::TensorMap(map) = &arg.value else { continue };
            let mut dims = Vec::new();
            let source = self.cx.map_source(&map.tensor);
            let own_dims = source.and_then(|source| source.fastest_first.as_ref()).map(Vec::len);
            dims.extend((0..own_dims.unwrap_or(0)).map(|i| own(&map.tensor, Field::Shape, i)));
            dims.extend(map.dims.iter().flatten().cloned());
            let is_known = |expr: &Expr| {
                expr.names().iter().all(|name| {
                    self.cx.named(&name.text).is_some_and(|named| named.kind == NamedKind::Int)
                })
            };
            dims.retain(is_known);
            let mut empty = self.cx.b.bool(false);
            for dim in &dims {
                // One that overflows is no 0, and is refused where it is checked.
                let dim = self.cx.expr(dim);
                let zero = self.cx.b.eq_int(dim.value, 0);
                let zero = self.cx.b.and(dim.valid, zero);
                empty = self.cx.b.or(empty, zero);
            }
            let full = self.cx.b.not(empty);
            all = Some(all.map_or(full, |all| self.cx.b.and(all, full)));
        }
        all
    }

    /// The tensor of a map, and how it lies there. Every problem is reported.
    fn map_shape(&mut self, index: usize, launch: &LaunchSpec, map: &MapSpec) -> Option<Shape> {
        let name = &map.tensor;
        let Some(source) = self.cx.map_source(name).cloned() else {
            let message = format!("`{name}`, of which a launch wants a tensor map, is no tensor");
            let help = "name a tensor of the signature, a result or a workspace";
            self.diagnostics.push(Diagnostic::new("tensor-map", message).help(help));
            return None;
        };
        let n_problems = self.diagnostics.0.len();
        let Some(own_order) = source.fastest_first.clone() else {
            let problem = "is of a tensor whose number of dims differs from call to call";
            self.refuse_map(map, problem, "give the tensor a dim for each of its own: `[m, n]`");
            return None;
        };
        if launch.on_gpu().is_none() {
            self.refuse_map(map, "is for kernels on a GPU", "pass the tensor itself");
        } else if map.box_dims.is_none() {
            let help = "say what is copied at once, one number for each dim: `box=[64, 128]`";
            self.refuse_map(map, "has no `box`", help);
        }
        let is_asked = self.asked[index].iter().any(|asked| {
            let of = asked.param.as_ref().filter(|_| asked.field == Some(Field::Given));
            of.is_some_and(|of| {
                name == of
                    || name.starts_with(&format!("{of}."))
                    || name.starts_with(&format!("{of}["))
            })
        });
        if source.optional && !is_asked {
            let problem = "needs a tensor, which may be absent";
            self.refuse_map(map, problem, &format!("launch only `when = \"{name}.given == 1\"`"));
        }
        let unit = if map.choices.interleave == 32 { 32 } else { UNIT_BYTES };
        let is_own = self.allocs.contains_key(name) && !self.is_result(name);
        if is_own && source.align.is_none_or(|align| align < unit) {
            let help = format!("declare the workspace with `align={unit}`");
            self.refuse_map(map, &format!("needs data at a multiple of {unit} bytes"), &help);
        }
        let own = self.dtypes_of(index, &source.dtype);
        let elements = self.map_elements(map, &own);
        let order = match map.dims {
            None => own_order,
            Some(ref dims) => (0..dims.len()).rev().collect(),
        };
        let shape = Shape { source, own, elements, order, unit };
        self.check_extents(map, &shape);
        (self.diagnostics.0.len() == n_problems).then_some(shape)
    }

    fn is_result(&self, name: &str) -> bool {
        matches!(self.allocs.get(name), Some(LaunchArg::Result(_)))
    }

    fn refuse_map(&mut self, map: &MapSpec, problem: &str, help: &str) {
        let message = format!("`{map}` {problem}");
        self.diagnostics.push(Diagnostic::new("tensor-map", message).help(help));
    }

    /// The element of the map, for each dtype that the tensor may have.
    fn map_elements(&mut self, map: &MapSpec, own: &[DType]) -> Vec<DType> {
        let elements: Vec<_> = own.iter().map(|own| map.element.unwrap_or(*own)).collect();
        let unknown = elements.iter().find(|dtype| data_type(**dtype).is_none());
        if let Some(dtype) = unknown {
            let same_bits = match dtype.element_bits() {
                16 => "uint16",
                32 => "uint32",
                64 => "uint64",
                _ => "uint8",
            };
            let help = format!("copy it as another type: `as={same_bits}`");
            self.refuse_map(map, &format!("cannot have elements of {dtype}"), &help);
        }
        if map.choices.nan
            && let Some(dtype) = elements.iter().find(|dtype| !dtype.is_float())
        {
            let problem = format!("cannot be filled with nan, as its elements are {dtype}");
            self.refuse_map(map, &problem, "remove `fill=nan`");
        }
        elements
    }

    /// Whether everything that is written once for each dim is there as often, and the box is one
    /// that can be copied.
    fn check_extents(&mut self, map: &MapSpec, shape: &Shape) {
        let (rank, choices) = (shape.order.len(), map.choices);
        let least = if choices.interleave == 0 { 1 } else { 3 };
        if !(least..=5).contains(&rank) {
            let problem = format!("has {}, expected {least} to 5", count(rank, "dim"));
            self.refuse_map(map, &problem, "give it another view: `dims=[m*n]`");
        }
        let lists = [
            ("box", map.box_dims.as_ref().map(Vec::len)),
            ("steps", map.steps.as_ref().map(Vec::len)),
            ("strides", map.strides.as_ref().map(Vec::len)),
        ];
        let mut fits = true;
        for (name, len) in lists {
            if let Some(len) = len.filter(|len| *len != rank) {
                let problem = format!("has `{name}` of {}, expected {rank}", count(len, "number"));
                self.refuse_map(map, &problem, "give it one number for each dim");
                fits = false;
            }
        }
        if choices.interleave == 32 && choices.swizzle != 32 {
            self.refuse_map(map, "needs `swizzle=32` to interleave by 32", "add `swizzle=32`");
        }
        if let (true, Some(innermost)) = (fits, shape.order.first()) {
            self.check_innermost(map, shape, *innermost);
        }
    }

    fn check_innermost(&mut self, map: &MapSpec, shape: &Shape, innermost: usize) {
        let MapSpec { choices, box_dims, steps, strides, .. } = map;
        if let Some(stride) = strides.as_ref().and_then(|strides| strides[innermost].as_int())
            && stride != 1
        {
            let problem = format!("has a stride of {stride} in its innermost dim, expected 1");
            self.refuse_map(map, &problem, "order the dims so that the last one is contiguous");
        }
        // The driver wants whole chunks of interleaved layouts, too, although its documentation
        // does not say so.
        let is_plain = choices.interleave == 0;
        if is_plain && steps.as_ref().is_some_and(|steps| steps[innermost] != 1) {
            let problem = "has a step in its innermost dim, which the driver ignores";
            self.refuse_map(map, problem, "step by 1 there");
        }
        let Some(row) = box_dims.as_ref().map(|counts| counts[innermost]) else { return };
        for dtype in &shape.elements {
            let bytes = row * dtype.element_bytes();
            if bytes % UNIT_BYTES != 0 {
                let problem = format!(
                    "has {bytes} bytes of {dtype} in a row of its box, expected a multiple of {UNIT_BYTES}"
                );
                self.refuse_map(map, &problem, "make the innermost number of `box` another");
            } else if is_plain && choices.swizzle != 0 && bytes > choices.swizzle {
                let problem = format!(
                    "has {bytes} bytes of {dtype} in a row of its box, expected at most the {} that are swizzled",
                    choices.swizzle
                );
                self.refuse_map(map, &problem, "make the innermost number of `box` smaller");
            }
        }
    }

    /// A number that depends on the dtype the tensor has in a call.
    fn by_dtype(&mut self, map: &MapSpec, shape: &Shape, numbers: &[i64]) -> Value {
        let actual = self.dtype(&map.tensor, &shape.source.dtype);
        let all = shape.own.iter().zip(numbers).rev();
        let mut chosen: Option<Value> = None;
        for (dtype, number) in all {
            let these = self.cx.b.int(*number);
            chosen = Some(match (chosen, actual) {
                (Some(others), Some(actual)) => {
                    let is = self.cx.b.eq_int(actual, dtype.packed());
                    self.cx.b.select(is, these, others)
                }
                _ => these,
            });
        }
        chosen.expect("a tensor has a dtype")
    }

    /// The extents in the tensor's order, checked.
    fn map_dims(&mut self, map: &MapSpec, shape: &Shape, subject: &Phrase) -> Vec<Value> {
        let mut values = Vec::new();
        for i in 0..shape.order.len() {
            let dim = match &map.dims {
                Some(dims) => self.cx.expr(&dims[i]),
                None => self.cx.expr(&own(&map.tensor, Field::Shape, i)),
            };
            let is_other =
                |(own, element): (&DType, &DType)| own.element_bits() != element.element_bits();
            let mut elements = shape.own.iter().zip(&shape.elements);
            if map.dims.is_none() && shape.order.first() == Some(&i) && elements.any(is_other) {
                values.push(self.other_elements(map, shape, subject, i, dim));
            } else {
                check::require_dim(self.cx, subject, i, dim);
                values.push(dim.value);
            }
        }
        values
    }

    /// The extent of the innermost dim in elements of the map, where those have another size than
    /// the tensor's.
    fn other_elements(
        &mut self,
        map: &MapSpec,
        shape: &Shape,
        subject: &Phrase,
        i: usize,
        dim: Checked,
    ) -> Value {
        let own_bits = self.own_bits(map, shape);
        let element_bits = map.element.expect("only `as=` changes sizes").element_bits();
        let element_bits = self.cx.b.int(element_bits);
        let bits = self.times(dim, own_bits);
        let value = self.cx.b.arith(Arith::FloorDiv, bits.value, element_bits);
        check::require_dim(self.cx, subject, i, Checked { value, ..bits });
        check::require_whole(self.cx, subject, i, bits.value, element_bits);
        value
    }

    /// The bits of the tensor's own elements.
    fn own_bits(&mut self, map: &MapSpec, shape: &Shape) -> Value {
        let bits: Vec<_> = shape.own.iter().map(|dtype| dtype.element_bits().into()).collect();
        self.by_dtype(map, shape, &bits)
    }

    fn times(&mut self, a: Checked, b: Value) -> Checked {
        let overflows = self.cx.b.overflows(Arith::Mul, a.value, b);
        let fits = self.cx.b.not(overflows);
        let dangers = a.dangers.and(Dangers { overflow: true, divisor: false });
        let (value, valid) = (self.cx.b.mul(a.value, b), self.cx.b.and(a.valid, fits));
        Checked { value, valid, dangers }
    }

    /// The strides in the tensor's order, in bytes, checked; that of the innermost dim is one
    /// element.
    fn map_strides(
        &mut self,
        map: &MapSpec,
        shape: &Shape,
        subject: &Phrase,
        dims: &[Value],
    ) -> Vec<Value> {
        let mut strides = vec![self.cx.b.int(0); dims.len()];
        let one = self.cx.b.int(1);
        let valid = self.cx.b.bool(true);
        let mut compact = Checked { value: one, valid, dangers: Dangers::default() };
        for (depth, &i) in shape.order.iter().enumerate() {
            let written = map.strides.as_ref().map(|strides| strides[i].clone());
            let stride = match (&written, &map.dims) {
                (Some(expr), _) => self.cx.expr(expr),
                (None, Some(_)) => compact,
                (None, None) => self.cx.expr(&own(&map.tensor, Field::Stride, i)),
            };
            compact = self.times(compact, dims[i]);
            let is_own = written.is_none() && map.dims.is_none();
            if depth == 0 {
                // One element of the map may be several of the tensor's.
                let extent = match is_own {
                    true => self.cx.expr(&own(&map.tensor, Field::Shape, i)).value,
                    false => dims[i],
                };
                check::require_innermost(self.cx, subject, i, stride, extent);
                continue;
            }
            let stride = self.in_bytes(map, shape, stride, is_own);
            check::require_stride(self.cx, subject, i, &stride, shape.unit, dims[i]);
            // The driver wants one of a dim that has no second element, too.
            let single = self.cx.b.eq_int(dims[i], 1);
            let unit = self.cx.b.int(shape.unit);
            strides[i] = self.cx.b.select(single, unit, stride.bytes.value);
        }
        strides
    }

    /// A stride, counted in the tensor's `own` elements or in the map's, in bytes.
    fn in_bytes(
        &mut self,
        map: &MapSpec,
        shape: &Shape,
        stride: Checked,
        is_own: bool,
    ) -> MapStride {
        let elements = if is_own { &shape.own } else { &shape.elements };
        let are_bytes = elements.iter().all(|dtype| dtype.element_bits() % 8 == 0);
        let per_part = if are_bytes { 8 } else { 1 };
        let sizes: Vec<_> =
            elements.iter().map(|dtype| i64::from(dtype.element_bits() / per_part)).collect();
        let size = self.by_dtype(map, shape, &sizes);
        let parts = self.times(stride, size);
        let mask = self.cx.b.int(shape.unit * 8 / per_part - 1);
        let rest = self.cx.b.arith(Arith::BitAnd, parts.value, mask);
        let value = match are_bytes {
            true => parts.value,
            false => {
                let eight = self.cx.b.int(8);
                self.cx.b.arith(Arith::FloorDiv, parts.value, eight)
            }
        };
        MapStride { bytes: Checked { value, ..parts }, rest }
    }
}

/// A field of the tensor.
fn own(tensor: &str, field: fn(i64) -> Field, i: usize) -> Expr {
    Expr::Field(tensor.to_string(), field(i as i64), Default::default())
}
