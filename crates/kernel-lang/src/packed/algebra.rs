// SPDX-License-Identifier: Apache-2.0
//! The functions of kernpack's, and of Python's, that packed functions call: numbers, layouts and
//! views of tensors.

use super::dims::Dims;
use super::expression::{Evaluator, PYTHONS, int_value, unguarded};
use super::value::Value;
use crate::argument::{Dim, TensorArg};
use kernpack_layout::{
    self as layout, Arith, Coord, Int, Layout, Shape, Slot, Stride, Swizzle, Tiler, Tuple,
};
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::expr::{Expr as Number, Op};
use kernpack_validators::{Rule, RuleKind};

/// A function, with the names of its parameters, those that may be left out at the end.
pub(super) struct Builtin {
    pub name: &'static str,
    pub params: &'static [&'static str],
    /// How many of them there have to be.
    pub n_required: usize,
}

const fn builtin(
    name: &'static str,
    params: &'static [&'static str],
    n_required: usize,
) -> Builtin {
    Builtin { name, params, n_required }
}

/// Every function, but for those of Python's that take any number of arguments.
const BUILTINS: &[Builtin] = &[
    builtin("ceil_div", &["a", "b"], 2),
    builtin("min", &["a", "b"], 2),
    builtin("max", &["a", "b"], 2),
    builtin("aligned", &["tensor", "bytes"], 2),
    builtin("size", &["of", "mode"], 1),
    builtin("cosize", &["layout"], 1),
    builtin("rank", &["of"], 1),
    builtin("depth", &["of"], 1),
    builtin("shape", &["of"], 1),
    builtin("make_layout", &["shape", "stride"], 1),
    builtin("make_ordered_layout", &["shape", "order"], 2),
    builtin("make_layout_tv", &["thr_layout", "val_layout"], 2),
    builtin("make_swizzle", &["bits", "base", "shift"], 3),
    builtin("coalesce", &["layout"], 1),
    builtin("flatten", &["layout"], 1),
    builtin("composition", &["layout", "tiler"], 2),
    builtin("complement", &["layout", "cotarget"], 1),
    builtin("right_inverse", &["layout"], 1),
    builtin("left_inverse", &["layout"], 1),
    builtin("logical_divide", &["target", "tiler"], 2),
    builtin("zipped_divide", &["target", "tiler"], 2),
    builtin("tiled_divide", &["target", "tiler"], 2),
    builtin("flat_divide", &["target", "tiler"], 2),
    builtin("logical_product", &["block", "tiler"], 2),
    builtin("zipped_product", &["block", "tiler"], 2),
    builtin("tiled_product", &["block", "tiler"], 2),
    builtin("flat_product", &["block", "tiler"], 2),
    builtin("blocked_product", &["block", "tiler"], 2),
    builtin("raked_product", &["block", "tiler"], 2),
    builtin("tile_to_shape", &["block", "shape"], 2),
    builtin("local_tile", &["input", "tiler", "coord", "proj"], 3),
    builtin("group_modes", &["input", "begin", "end"], 3),
    builtin("select", &["input", "mode"], 2),
];

type Args<'a> = &'a [Option<(Value, Span)>];
type By = fn(&mut Dims, &Layout<Dim>, &Tiler<Dim>) -> layout::Result<Layout<Dim>>;
type Of = fn(&mut Dims, &Layout<Dim>) -> layout::Result<Layout<Dim>>;
type Two = fn(&mut Dims, &Layout<Dim>, &Layout<Dim>) -> layout::Result<Layout<Dim>>;

impl Evaluator<'_> {
    /// Whether packed functions call a function of that name.
    pub fn is_builtin(name: &str) -> bool {
        BUILTINS.iter().any(|one| one.name == name)
    }

    /// The function of that name.
    pub fn builtin(name: &str) -> Option<&'static Builtin> {
        BUILTINS.iter().find(|one| one.name == name)
    }

    /// Calls a function of Python's with any number of arguments.
    pub fn call_python(&mut self, name: &str, args: &[(Value, Span)], span: Span) -> Option<Value> {
        debug_assert!(PYTHONS.contains(&name), "a function of Python's");
        match (name, args) {
            ("min" | "max", [first, rest @ ..]) if !rest.is_empty() => {
                let op = if name == "min" { Op::Min } else { Op::Max };
                let mut all = first.clone();
                for next in rest {
                    all = (self.extreme(op, &all, next)?, span);
                }
                Some(all.0)
            }
            ("len", [(Value::Tuple(items), _)]) => Some(Value::Int(items.len() as i128)),
            ("abs", [(Value::Int(value), _)]) => value.checked_abs().map(Value::Int),
            ("abs", [(Value::Float(value), _)]) => Some(Value::Float(value.abs())),
            _ => {
                let message = format!("`{name}` has no such arguments here");
                self.report(Diagnostic::new("packed-value", message).label(span, "this call"))
            }
        }
    }

    fn extreme(&mut self, op: Op, a: &(Value, Span), b: &(Value, Span)) -> Option<Value> {
        let (left, right) = (self.number(a)?, self.number(b)?);
        Some(self.combined(op, left, right))
    }

    /// Calls a function with one argument for each of its parameters.
    pub fn call_builtin(&mut self, name: &str, args: Args<'_>, span: Span) -> Option<Value> {
        let first = args.first()?.as_ref()?;
        let second = || args.get(1).and_then(Option::as_ref);
        match name {
            "ceil_div" => self.ceil_div(first, second()?),
            "min" => self.extreme(Op::Min, first, second()?),
            "max" => self.extreme(Op::Max, first, second()?),
            "aligned" => self.aligned(first, second()?, span),
            "size" => self.size(first, second(), span),
            "cosize" => {
                let of = self.layout(first)?;
                let size = self.algebra(span, |cx| layout::cosize(cx, &of))?;
                Some(int_value(&size))
            }
            "rank" => self.layout_or_shape(first).map(|of| Value::Int(of.rank() as i128)),
            "depth" => self.layout_or_shape(first).map(|of| Value::Int(of.depth() as i128)),
            "shape" => {
                let of = self.layout_or_shape(first)?;
                Some(self.shape(&of.shape()))
            }
            "make_layout" => self.make_layout(first, second(), span),
            "make_ordered_layout" => self.make_ordered_layout(first, second()?, span),
            "make_layout_tv" => self.make_layout_tv(first, second()?, span),
            "make_swizzle" => self.make_swizzle(args, span),
            "coalesce" => self.of_first(first, span, layout::coalesce),
            "flatten" => self.of_first(first, span, |_, one| Ok(one.flatten())),
            "right_inverse" => self.of_first(first, span, layout::right_inverse),
            "left_inverse" => self.of_first(first, span, layout::left_inverse),
            "complement" => self.complement(first, second(), span),
            "composition" => self.by_tiler(first, second()?, span, layout::composition_by),
            "logical_divide" => self.by_tiler(first, second()?, span, layout::logical_divide),
            "zipped_divide" => self.by_tiler(first, second()?, span, layout::zipped_divide),
            "tiled_divide" => self.by_tiler(first, second()?, span, layout::tiled_divide),
            "flat_divide" => self.by_tiler(first, second()?, span, layout::flat_divide),
            "logical_product" => self.by_tiler(first, second()?, span, layout::logical_product),
            "zipped_product" => self.by_tiler(first, second()?, span, layout::zipped_product),
            "tiled_product" => self.by_tiler(first, second()?, span, layout::tiled_product),
            "flat_product" => self.by_tiler(first, second()?, span, layout::flat_product),
            "blocked_product" => self.of_two(first, second()?, span, layout::blocked_product),
            "raked_product" => self.of_two(first, second()?, span, layout::raked_product),
            "tile_to_shape" => {
                let shape = self.shape_of(second()?)?;
                let tile =
                    |cx: &mut Dims, one: &Layout<Dim>| layout::tile_to_shape(cx, one, &shape, None);
                let of = self.layout(first)?;
                self.algebra(span, |cx| tile(cx, &of)).map(Value::Layout)
            }
            "local_tile" => self.local_tile(args, span),
            "group_modes" => self.group_modes(args, span),
            "select" => self.select(first, second()?, span),
            _ => None,
        }
    }

    /// Does an operation of the algebra.
    pub fn algebra<T>(
        &mut self,
        span: Span,
        operation: impl FnOnce(&mut Dims) -> layout::Result<T>,
    ) -> Option<T> {
        let mut cx = Dims::new(&self.facts);
        match (operation(&mut cx), cx.refused) {
            (Ok(result), None) => Some(result),
            (Err(error), _) => {
                self.report(Diagnostic::new("layout", error.to_string()).label(span, "here"));
                None
            }
            (Ok(_), Some(op)) => {
                let message = format!("`{}` of numbers that each call has its own of", op.name());
                let problem = Diagnostic::new("layout", message).label(span, "here");
                self.report(problem.help("make this layout in the kernel"));
                None
            }
        }
    }

    /// A number of layouts and expressions.
    pub fn number(&mut self, (value, span): &(Value, Span)) -> Option<Number> {
        match value.expr() {
            Some(expr) if !matches!(value, Value::Bool(_)) => Some(expr),
            _ => {
                self.expected("an integer", value, *span);
                None
            }
        }
    }

    /// A number that is known.
    fn constant_number(&mut self, arg: &(Value, Span)) -> Option<i64> {
        let number = self.number(arg)?.as_int();
        if number.is_none() {
            self.expected("a constant integer", &arg.0, arg.1);
        }
        number
    }

    fn ceil_div(&mut self, a: &(Value, Span), b: &(Value, Span)) -> Option<Value> {
        if let Value::Tuple(_) = &a.0 {
            let (a, b) = (self.shape_of(a)?, self.shape_of(b)?);
            let divided = a.zip(&b, &mut |a, b| (a.clone(), b.clone()));
            let Some(pairs) = divided else {
                return self.expected(
                    "tuples that are nested alike",
                    &Value::Poison,
                    Span::default(),
                );
            };
            let mut cx = Dims::new(&self.facts);
            let divide = &mut |(a, b): &(Int<Dim>, Int<Dim>)| cx.ceil_div(a, b);
            let result = pairs.try_map(divide).ok()?;
            return Some(self.shape(&result));
        }
        let (left, right) = (self.number(a)?, self.number(b)?);
        if right.as_int() == Some(0) {
            let problem = Diagnostic::new("packed-value", "a division by 0 has no value");
            return self.report(problem.label(b.1, "this is 0"));
        }
        Some(self.combined(Op::CeilDiv, left, right))
    }

    fn aligned(
        &mut self,
        tensor: &(Value, Span),
        bytes: &(Value, Span),
        span: Span,
    ) -> Option<Value> {
        let path = match &tensor.0 {
            Value::Tensor(of) if of.offset.is(0) => of.name.to_string(),
            value => {
                self.expected("a tensor parameter", value, tensor.1);
                return None;
            }
        };
        let bytes = self.constant_number(bytes)?;
        let Some(power) = u32::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()) else {
            let problem = Diagnostic::new("packed-value", "an alignment is a power of two");
            return self.report(problem.label(span, format!("{bytes} is none")));
        };
        let rule = Rule { kind: RuleKind::Aligned(path, power), span };
        Some(match self.facts.decide(&rule) {
            Some(truth) => Value::Bool(truth),
            None => Value::Rule(rule),
        })
    }

    /// A layout, that of a tensor, or the compact one of a shape.
    fn layout(&mut self, arg: &(Value, Span)) -> Option<Layout<Dim>> {
        match &arg.0 {
            Value::Layout(layout) => Some(layout.clone()),
            Value::Tensor(tensor) => Some(tensor.view.clone()),
            value => {
                self.expected("a layout", value, arg.1);
                None
            }
        }
    }

    fn layout_or_shape(&mut self, arg: &(Value, Span)) -> Option<Layout<Dim>> {
        match &arg.0 {
            Value::Layout(_) | Value::Tensor(_) => self.layout(arg),
            Value::Optional(path, _) => {
                self.report(unguarded(path, arg.1));
                None
            }
            _ => {
                let shape = self.shape_of(arg)?;
                Some(shape.map(&mut |extent| layout::Mode::new(extent.clone(), 0)))
            }
        }
    }

    /// A tuple of numbers.
    pub fn shape_of(&mut self, arg: &(Value, Span)) -> Option<Shape<Dim>> {
        match &arg.0 {
            Value::Tuple(items) => {
                let items = items.iter().map(|(_, item)| self.shape_of(&(item.clone(), arg.1)));
                let items: Vec<_> = items.collect();
                items.into_iter().collect::<Option<_>>().map(Tuple::Node)
            }
            _ => {
                let number = self.number(arg)?;
                Some(Tuple::Leaf(self.facts.int(&number)))
            }
        }
    }

    fn tiler(&mut self, arg: &(Value, Span), span: Span) -> Option<Tiler<Dim>> {
        match &arg.0 {
            Value::None => Some(Tiler::Keep),
            Value::Layout(layout) => Some(Tiler::Layout(layout.clone())),
            Value::Tuple(items) => {
                let modes = items.iter().map(|(_, item)| self.tiler(&(item.clone(), arg.1), span));
                let modes: Vec<_> = modes.collect();
                modes.into_iter().collect::<Option<_>>().map(Tiler::Modes)
            }
            _ => {
                let shape = self.shape_of(arg)?;
                self.algebra(span, |cx| Tiler::of_shape(cx, &shape))
            }
        }
    }

    fn coord(&mut self, arg: &(Value, Span)) -> Option<Coord<Dim>> {
        match &arg.0 {
            Value::None => Some(Tuple::Leaf(Slot::Free)),
            Value::Tuple(items) => {
                let items = items.iter().map(|(_, item)| self.coord(&(item.clone(), arg.1)));
                let items: Vec<_> = items.collect();
                items.into_iter().collect::<Option<_>>().map(Tuple::Node)
            }
            _ => {
                let number = self.number(arg)?;
                Some(Tuple::Leaf(Slot::At(self.facts.int(&number))))
            }
        }
    }

    /// The same memory, seen by another layout.
    fn viewed(&self, of: &Value, view: Layout<Dim>) -> Value {
        match of {
            Value::Tensor(tensor) => {
                Value::Tensor(Box::new(TensorArg { view, ..(**tensor).clone() }))
            }
            _ => Value::Layout(view),
        }
    }

    fn of_first(&mut self, first: &(Value, Span), span: Span, operation: Of) -> Option<Value> {
        let of = self.layout(first)?;
        let made = self.algebra(span, |cx| operation(cx, &of))?;
        Some(self.viewed(&first.0, made))
    }

    fn by_tiler(
        &mut self,
        first: &(Value, Span),
        tiler: &(Value, Span),
        span: Span,
        operation: By,
    ) -> Option<Value> {
        let (of, tiler) = (self.layout(first), self.tiler(tiler, span));
        let (of, tiler) = (of?, tiler?);
        let made = self.algebra(span, |cx| operation(cx, &of, &tiler))?;
        Some(self.viewed(&first.0, made))
    }

    fn of_two(
        &mut self,
        a: &(Value, Span),
        b: &(Value, Span),
        span: Span,
        operation: Two,
    ) -> Option<Value> {
        let (a, b) = (self.layout(a), self.layout(b));
        let (a, b) = (a?, b?);
        self.algebra(span, |cx| operation(cx, &a, &b)).map(Value::Layout)
    }

    fn size(
        &mut self,
        of: &(Value, Span),
        mode: Option<&(Value, Span)>,
        span: Span,
    ) -> Option<Value> {
        let mut of = self.layout_or_shape(of)?;
        if let Some(mode) = mode {
            let path: Vec<usize> = match &mode.0 {
                Value::Tuple(items) => {
                    let number = |(_, item): &(_, Value)| item.expr()?.as_int()?.try_into().ok();
                    items.iter().map(number).collect::<Option<_>>()?
                }
                _ => vec![self.constant_number(mode)?.try_into().ok()?],
            };
            of = self.algebra(span, |_| layout::modes::get(&of, &path))?;
        }
        let size = self.algebra(span, |cx| layout::size(cx, &of))?;
        Some(int_value(&size))
    }

    fn make_layout(
        &mut self,
        shape: &(Value, Span),
        stride: Option<&(Value, Span)>,
        span: Span,
    ) -> Option<Value> {
        let shape = self.shape_of(shape)?;
        let made = match stride {
            None => self.algebra(span, |cx| layout::make_layout(cx, &shape))?,
            Some(stride) => {
                let strides = self.shape_of(stride)?.map(&mut |one| Stride::from(one.clone()));
                self.algebra(span, |_| Layout::of(&shape, &strides))?
            }
        };
        Some(Value::Layout(made))
    }

    fn make_ordered_layout(
        &mut self,
        shape: &(Value, Span),
        order: &(Value, Span),
        span: Span,
    ) -> Option<Value> {
        let (shape, order) = (self.shape_of(shape)?, self.shape_of(order)?);
        let Ok(order) = order.try_map(&mut |one| one.known().ok_or(())) else {
            let problem = Diagnostic::new("layout", "an order is constant");
            return self.report(problem.label(span, "depends on the call"));
        };
        self.algebra(span, |cx| layout::make_ordered_layout(cx, &shape, &order)).map(Value::Layout)
    }

    /// The shape of the tile, and the layout of threads and values in it.
    fn make_layout_tv(
        &mut self,
        threads: &(Value, Span),
        values: &(Value, Span),
        span: Span,
    ) -> Option<Value> {
        let (threads, values) = (self.layout(threads), self.layout(values));
        let (threads, values) = (threads?, values?);
        let made = self.algebra(span, |cx| layout::make_layout_tv(cx, &threads, &values));
        let (tile, owners) = made?;
        Some(Value::tuple([self.shape(&tile), Value::Layout(owners)]))
    }

    fn make_swizzle(&mut self, args: Args<'_>, span: Span) -> Option<Value> {
        let mut numbers = Vec::new();
        for arg in args.iter().flatten() {
            numbers.push(self.constant_number(arg)?);
        }
        let [bits, base, shift] = numbers[..] else { return None };
        let as_u32 = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        let shift = i32::try_from(shift).unwrap_or(i32::MAX);
        self.algebra(span, |_| Swizzle::new(as_u32(bits), as_u32(base), shift)).map(Value::Swizzle)
    }

    fn complement(
        &mut self,
        first: &(Value, Span),
        target: Option<&(Value, Span)>,
        span: Span,
    ) -> Option<Value> {
        let of = self.layout(first)?;
        let rest = match target {
            None => self.algebra(span, |cx| layout::complement_of_all(cx, &of)),
            Some(target) => {
                let target = self.shape_of(target)?;
                self.algebra(span, |cx| layout::complement(cx, &of, &target))
            }
        };
        rest.map(Value::Layout)
    }

    /// A part of a tensor or layout, and where it begins.
    fn part(&mut self, of: &Value, part: (Layout<Dim>, Shape<Dim>), span: Span) -> Option<Value> {
        let (view, offset) = part;
        match (of, offset) {
            (Value::Tensor(tensor), Tuple::Leaf(offset)) => {
                let before = tensor.offset.clone();
                let offset = self.algebra(span, |cx| cx.add(&before, &offset))?;
                Some(Value::Tensor(Box::new(TensorArg { view, offset, ..(**tensor).clone() })))
            }
            (Value::Tensor(_), Tuple::Node(_)) => {
                let problem = Diagnostic::new("layout", "the index of this part is no number");
                self.report(problem.label(span, "its strides go along modes"))
            }
            _ => Some(Value::Layout(view)),
        }
    }

    /// `of[at]`, in which `None` leaves a mode as it is.
    pub fn slice(&mut self, of: Value, at: &Value, span: Span) -> Option<Value> {
        let view = self.layout(&(of.clone(), span))?;
        let coord = self.coord(&(at.clone(), span))?;
        if !coord.has_free() && matches!(of, Value::Tensor(_)) {
            let problem = Diagnostic::new("packed-value", "elements are read in kernels");
            return self.report(problem.label(span, "an element of a tensor"));
        }
        let part = self.algebra(span, |cx| layout::slice_and_offset(cx, &coord, &view))?;
        self.part(&of, part, span)
    }

    fn local_tile(&mut self, args: Args<'_>, span: Span) -> Option<Value> {
        let [Some(input), Some(tiler), Some(coord), projection] = args else { return None };
        let (view, tiler) = (self.layout(input)?, self.tiler(tiler, span)?);
        let coord = self.coord(coord)?;
        let by = match projection {
            Some(projection) => Some(self.coord(projection)?),
            None => None,
        };
        let part =
            self.algebra(span, |cx| layout::local_tile(cx, &view, &tiler, &coord, by.as_ref()))?;
        self.part(&input.0, (part.layout, part.offset), span)
    }

    fn group_modes(&mut self, args: Args<'_>, span: Span) -> Option<Value> {
        let [Some(input), Some(begin), Some(end)] = args else { return None };
        let view = self.layout(input)?;
        let (begin, end) = (self.constant_number(begin)?, self.constant_number(end)?);
        let (begin, end) = (usize::try_from(begin).ok()?, usize::try_from(end).ok()?);
        let made = self.algebra(span, |_| layout::modes::group_modes(&view, begin, end))?;
        Some(self.viewed(&input.0, made))
    }

    fn select(
        &mut self,
        first: &(Value, Span),
        modes: &(Value, Span),
        span: Span,
    ) -> Option<Value> {
        let view = self.layout(first)?;
        let modes = self.shape_of(modes)?;
        let picked: Option<Vec<usize>> =
            modes.leaves().iter().map(|mode| mode.known()?.try_into().ok()).collect();
        let picked = picked?;
        let made = self.algebra(span, |_| layout::modes::select(&view, &picked))?;
        Some(self.viewed(&first.0, made))
    }
}
