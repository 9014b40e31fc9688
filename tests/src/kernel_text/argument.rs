// SPDX-License-Identifier: Apache-2.0
//! What a launch gives a parameter, as it is written.
//!
//! ```text
//! float32[1, 2, 3]          a tensor that is read; `mut` in front: one that is written
//! float32[[1, 2], [3, 4]]   of rank 2
//! int32[32*0, 5]            32 elements of 0, then 5
//! mut int32[4*?]            4 elements that nobody has written
//! pointer float32[1, 2]     a pointer to what a tensor holds; it may be written
//! int32(7)                  a number that each call has its own of
//! given float32[1]          an Optional that is given
//! 7, 2.5, True, None, "a"   constants, and dtypes: `float32`
//! ```
//! Extents and strides of tensors are not known while the kernel is compiled. All tensors are apart
//! from one another.

use kernpack_kernel_ir::interp::Memory;
use kernpack_kernel_ir::kernel::Facts;
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_kernel_lang::argument::{Argument, Constant, Dim, OptionalArg, ScalarArg, TensorArg};
use kernpack_layout::{Int, Layout, Mode, Tuple};
use kernpack_validators::Expr;
use std::sync::Arc;

/// What a parameter is given, and the parameter's name.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub name: String,
    kind: Kind,
    is_optional: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    Tensor { element: Scalar, shape: Vec<usize>, values: Vec<Option<Const>>, is_written: bool },
    Pointer(Box<Kind>),
    Scalar(Const),
    Constant(Constant),
}

impl Given {
    /// Reads what is given to the parameter of that name.
    pub fn read(name: String, text: &str) -> Result<Given, String> {
        let wrong = || format!("`{text}` is nothing that a kernel is given");
        let (is_optional, rest) = match text.strip_prefix("given ") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (is_written, rest) = match rest.strip_prefix("mut ") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        if let Some(of) = rest.strip_prefix("pointer ") {
            let Given { kind, .. } = Given::read(name.clone(), &format!("mut {of}"))?;
            return Ok(Given { name, kind: Kind::Pointer(Box::new(kind)), is_optional });
        }
        let kind = match rest.split_once(['[', '(']) {
            Some((dtype, _)) if Scalar::parse(dtype).is_some() => {
                let element = Scalar::parse(dtype).ok_or_else(wrong)?;
                let list = &rest[dtype.len()..];
                match list.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
                    Some(number) => Kind::Scalar(constant_of(element, number)?),
                    None => {
                        let (mut shape, mut values) = (Vec::new(), Vec::new());
                        read_list(element, list, 0, &mut shape, &mut values)?;
                        Kind::Tensor { element, shape, values, is_written }
                    }
                }
            }
            _ => Kind::Constant(constant(rest).ok_or_else(wrong)?),
        };
        Ok(Given { name, kind, is_optional })
    }

    /// A number of a call.
    pub fn number(name: String, value: Const) -> Given {
        Given { name, kind: Kind::Scalar(value), is_optional: false }
    }

    /// A tensor of one element, which is written.
    pub fn result(name: &str, element: Scalar) -> Given {
        let values = vec![Some(Const::int(element, 0))];
        let kind = Kind::Tensor { element, shape: vec![1], values, is_written: true };
        Given { name: name.to_string(), kind, is_optional: false }
    }

    pub fn is_written(&self) -> bool {
        matches!(self.kind, Kind::Tensor { is_written: true, .. } | Kind::Pointer(_))
    }

    pub fn scalar(&self) -> Option<Const> {
        match self.kind {
            Kind::Scalar(value) => Some(value),
            Kind::Tensor { .. } | Kind::Pointer(_) | Kind::Constant(_) => None,
        }
    }

    /// The extent of that name, or whether an Optional is given.
    pub fn dim(&self, name: &str) -> Option<i64> {
        let part = name.strip_prefix(&self.name)?.strip_prefix('_')?;
        if part == "given" {
            return Some(1);
        }
        let Kind::Tensor { shape, .. } = &self.kind else { return None };
        let mode = part.parse::<usize>().ok()?;
        shape.get(mode).map(|extent| *extent as i64)
    }

    /// The memory that it lies in. Where one element is not written, none is.
    pub fn tensor(&self) -> Option<Memory> {
        let kind = if let Kind::Pointer(of) = &self.kind { of } else { &self.kind };
        let Kind::Tensor { element, shape, values, .. } = kind else { return None };
        let (name, width) = (&self.name[..], element.bytes() as usize);
        let memory = match values.iter().copied().collect::<Option<Vec<_>>>() {
            Some(values) => Memory::of(name, *element, &values),
            None => Memory::fresh(name, *element, values.len() * width),
        };
        let shape: Vec<_> = shape.iter().map(|extent| *extent as u64).collect();
        Some(memory.with_shape(&shape))
    }

    /// The argument that the kernel is compiled for.
    pub fn argument(&self) -> Argument {
        let inner = self.plain_argument(&self.kind);
        if !self.is_optional {
            return inner;
        }
        let given = Expr::symbol(format!("{}_given", self.name));
        Argument::Optional(Box::new(OptionalArg { given, inner, name: self.name[..].into() }))
    }

    fn plain_argument(&self, kind: &Kind) -> Argument {
        match kind {
            Kind::Pointer(of) => match self.plain_argument(of) {
                Argument::Tensor(of) => {
                    let view = Layout::unit();
                    Argument::Pointer(Box::new(TensorArg { view, is_alone: false, ..*of }))
                }
                other => other,
            },
            Kind::Constant(constant) => Argument::Constant(constant.clone()),
            Kind::Scalar(value) => Argument::Scalar(ScalarArg {
                expr: Expr::symbol(&self.name),
                scalar: value.scalar(),
                facts: Facts::NONE,
            }),
            Kind::Tensor { element, shape, is_written, .. } => {
                Argument::Tensor(Box::new(TensorArg {
                    name: self.name[..].into(),
                    pointer: Expr::symbol(&self.name),
                    element: *element,
                    align: 16,
                    is_written: *is_written,
                    is_alone: true,
                    view: self.layout(shape.len()),
                    offset: Int::Known(0),
                }))
            }
        }
    }

    /// Compact, in C's order.
    fn layout(&self, rank: usize) -> Layout<Dim> {
        let facts = Facts { min: 0, max: 1 << 40, divisor: 1 };
        let mut stride = Expr::Int(1);
        let mut modes = Vec::new();
        for mode in (0..rank).rev() {
            let extent = Expr::symbol(format!("{}_{mode}", self.name));
            let dim = |expr: &Expr| match expr.as_int() {
                Some(number) => Int::Known(number),
                None => Int::Dynamic(Dim { expr: expr.clone(), facts, step: 1 }),
            };
            modes.push(Tuple::Leaf(Mode::new(dim(&extent), dim(&stride))));
            stride = if stride.as_int() == Some(1) { extent } else { extent * stride };
        }
        modes.reverse();
        Layout::Node(modes)
    }
}

/// `[1, 2*0]`, or lists of such.
fn read_list(
    element: Scalar,
    text: &str,
    depth: usize,
    shape: &mut Vec<usize>,
    values: &mut Vec<Option<Const>>,
) -> Result<(), String> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let inner = inner.ok_or_else(|| format!("expected a list, found `{text}`"))?;
    if shape.len() == depth {
        shape.push(0);
    }
    let mut count = 0;
    for item in split(inner) {
        if item.starts_with('[') {
            read_list(element, item, depth + 1, shape, values)?;
            count += 1;
            continue;
        }
        let (times, number) = item.split_once('*').unwrap_or(("1", item));
        let times = times.parse().map_err(|_| format!("`{item}` is no element"))?;
        let value = if number == "?" { None } else { Some(constant_of(element, number)?) };
        values.extend(std::iter::repeat_n(value, times));
        count += times;
    }
    shape[depth] = count;
    Ok(())
}

/// What commas separate that stand in no brackets and no text.
pub(super) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut first, mut depth, mut is_text) = (Vec::new(), 0, 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_text = !is_text,
            _ if is_text => {}
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[first..at].trim());
                first = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[first..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// A number or truth value of a type.
pub(super) fn constant_of(scalar: Scalar, text: &str) -> Result<Const, String> {
    let wrong = || format!("`{text}` is no {scalar}");
    if scalar == Scalar::Bool {
        return match text {
            "True" => Ok(Const::bool(true)),
            "False" => Ok(Const::bool(false)),
            _ => Err(wrong()),
        };
    }
    if scalar.is_float() {
        return Ok(Const::float(scalar, text.parse().map_err(|_| wrong())?));
    }
    let number = text.parse::<i128>().map_err(|_| wrong())?;
    let constant = Const::from_bits(scalar, number as u64);
    let held = constant.as_int().map_or(constant.bits().into(), i128::from);
    (held == number).then_some(constant).ok_or_else(wrong)
}

fn constant(text: &str) -> Option<Constant> {
    if let Some(text) = text.strip_prefix('"') {
        return Some(Constant::Text(Arc::from(text.strip_suffix('"')?)));
    }
    Some(match text {
        "None" => Constant::None,
        "True" => Constant::Bool(true),
        "False" => Constant::Bool(false),
        _ => match (Scalar::parse(text), text.parse(), text.parse()) {
            (Some(dtype), _, _) => Constant::DType(dtype),
            (None, Ok(int), _) => Constant::Int(i128::into(int)),
            (None, Err(_), Ok(float)) => Constant::Float(float),
            (None, Err(_), Err(_)) => return None,
        },
    })
}
