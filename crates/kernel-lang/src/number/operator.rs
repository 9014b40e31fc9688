// SPDX-License-Identifier: Apache-2.0
//! Operators of numbers, lane by lane of what has several.

use super::constant;
use super::{Clash, Kind};
use crate::elaborate::Elaborator;
use crate::emit::Emission;
use crate::integer::MOST_BITS;
use crate::python::tree::{BinaryOp, CompareOp, UnaryOp};
use crate::untyped::Refused;
use crate::value::{Elaborated, Elements};
use kernpack_kernel_ir::op::{Binary, Compare, Unary};
use kernpack_kernel_ir::{Const, Scalar, eval};
use kernpack_syntax::Span;
use std::sync::Arc;

/// The most items of a tuple, and characters of a text, that are put together.
const MOST_ITEMS: i128 = 1 << 16;

impl Emission {
    /// The count of a shift, as a number of the type that is shifted: what is beyond its bits stays
    /// beyond them.
    fn shift_count(&mut self, count: Elaborated, scalar: Scalar) -> Elaborated {
        let Some(Kind::Of(from)) = self.kind(&count) else { return count };
        if from.bits() <= scalar.bits() {
            return count;
        }
        let bits = Elaborated::Const(Const::int(from, scalar.bits().into()));
        let least = self.binary_of_type(Binary::Min, &count, &bits, from);
        if !from.is_signed() {
            return least;
        }
        // A negative count is beyond, too.
        let (count, least) = (self.typed(&count, from), self.typed(&least, from));
        let (bits, zero) = (self.typed(&bits, from), self.b.int(from, 0));
        let is_negative = self.b.compare(Compare::Lt, count, zero);
        let result = self.b.select(is_negative, bits, least);
        self.b.known(result).map_or(Elaborated::Typed(result), Elaborated::of_const)
    }

    /// An operation on numbers of one type, constant or not.
    pub fn binary_of_type(
        &mut self,
        op: Binary,
        left: &Elaborated,
        right: &Elaborated,
        scalar: Scalar,
    ) -> Elaborated {
        if let (Some(a), Some(b)) = (self.as_const(left, scalar), self.as_const(right, scalar)) {
            return Elaborated::of_const(eval::binary(op, a, b));
        }
        let (a, b) = (self.typed(left, scalar), self.typed(right, scalar));
        Elaborated::Typed(self.compute_binary(op, a, b))
    }

    /// An operation on a number that has a type.
    pub fn unary_of(&mut self, op: Unary, value: &Elaborated) -> Elaborated {
        match value {
            Elaborated::Const(constant) => Elaborated::of_const(eval::unary(op, *constant)),
            Elaborated::Typed(value) => Elaborated::Typed(self.b.unary(op, *value)),
            _ => Elaborated::Poison,
        }
    }
}

impl Elaborator<'_> {
    /// `left op right`
    pub fn binary(
        &mut self,
        op: BinaryOp,
        left: &Elaborated,
        right: &Elaborated,
        span: Span,
    ) -> Elaborated {
        if left.is_poison() || right.is_poison() {
            return Elaborated::Poison;
        }
        if let Some(result) = self.binary_of_others(op, left, right, span) {
            return result;
        }
        let (Some(a), Some(b)) = (self.emit.kind(left), self.emit.kind(right)) else {
            return self.no_operator(op, left, right, span);
        };
        let is_untyped = |kind| matches!(kind, Kind::Int | Kind::Float);
        let is_choice = |value: &Elaborated| matches!(value, Elaborated::Typed(_));
        if is_untyped(a) && is_untyped(b) && !is_choice(left) && !is_choice(right) {
            return match constant::binary(op, left, right) {
                Ok(result) => result,
                Err(refused) => self.refused(op, &refused, left, right, span),
            };
        }
        let truths = (a, b) == (Kind::Of(Scalar::Bool), Kind::Of(Scalar::Bool));
        let is_bitwise = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        if is_shift && b.alone().is_float() {
            return self.no_operator(op, left, right, span);
        }
        let common = match self.emit.common(a, b) {
            Err(Clash::Bool) if truths && is_bitwise => Scalar::Bool,
            // The count of a shift does not change what is shifted.
            Ok(_) | Err(Clash::Types(..)) if is_shift => match a {
                Kind::Of(scalar) => scalar,
                Kind::Int | Kind::Float => b.alone(),
            },
            Err(clash) => return self.clash(&clash, &format!("`{}`", op.text()), span),
            Ok(common) => common,
        };
        if !self.fits(left, common, span) || !self.fits(right, common, span) {
            return Elaborated::Poison;
        }
        match ir_binary(op, common) {
            Some(ir) => self.lanes(left, right, common, span, &mut |cx, a, b| {
                let b = if is_shift { cx.emit.shift_count(b, common) } else { b };
                cx.emit.binary_of_type(ir, &a, &b, common)
            }),
            None => self.no_operator(op, left, right, span),
        }
    }

    /// Something for each lane of two values: of one where neither has several.
    pub fn lanes(
        &mut self,
        left: &Elaborated,
        right: &Elaborated,
        scalar: Scalar,
        span: Span,
        each: &mut dyn FnMut(&mut Self, Elaborated, Elaborated) -> Elaborated,
    ) -> Elaborated {
        let elements = match (left, right) {
            (Elaborated::Elements(a), Elaborated::Elements(b))
                if a.items.len() != b.items.len() =>
            {
                let message = format!("{} elements meet {}", a.items.len(), b.items.len());
                return self.mistake("shape", span, message, "make both of one shape");
            }
            (Elaborated::Elements(elements), _) | (_, Elaborated::Elements(elements)) => {
                elements.clone()
            }
            _ => return each(self, left.clone(), right.clone()),
        };
        let lane = |value: &Elaborated, lane: usize| match value {
            Elaborated::Elements(elements) => elements.items[lane].clone(),
            one => one.clone(),
        };
        let items = (0..elements.items.len()).map(|i| each(self, lane(left, i), lane(right, i)));
        let items = items.collect();
        Elaborated::Elements(Arc::new(Elements { scalar, shape: elements.shape.clone(), items }))
    }

    /// Operators of what is no number: tuples and texts are put together.
    fn binary_of_others(
        &mut self,
        op: BinaryOp,
        left: &Elaborated,
        right: &Elaborated,
        span: Span,
    ) -> Option<Elaborated> {
        let length = |value: &Elaborated| match value {
            Elaborated::Tuple(tuple) => tuple.items.len() as i128,
            Elaborated::Text(text) => text.len() as i128,
            other => other.as_int().unwrap_or(0),
        };
        let is_long = match op {
            BinaryOp::Mul => length(left).saturating_mul(length(right)) > MOST_ITEMS,
            _ => length(left).saturating_add(length(right)) > MOST_ITEMS,
        };
        match (op, left, right) {
            (BinaryOp::Add | BinaryOp::Mul, Elaborated::Tuple(_) | Elaborated::Text(_), _)
            | (BinaryOp::Mul, _, Elaborated::Tuple(_))
                if is_long =>
            {
                let message = format!("a tuple or text of more than {MOST_ITEMS} items");
                Some(self.mistake("kernel-size", span, message, "use a tensor"))
            }
            (BinaryOp::Add, Elaborated::Tuple(a), Elaborated::Tuple(b)) => {
                Some(Elaborated::tuple([&a.items[..], &b.items[..]].concat()))
            }
            (BinaryOp::Mul, Elaborated::Tuple(items), count)
            | (BinaryOp::Mul, count, Elaborated::Tuple(items)) => {
                let count = usize::try_from(count.as_int()?.max(0)).ok()?;
                let all = std::iter::repeat_n(&items.items, count).flatten().cloned();
                Some(Elaborated::tuple(all.collect()))
            }
            (BinaryOp::Add, Elaborated::Text(a), Elaborated::Text(b)) => {
                Some(Elaborated::Text(Arc::from(format!("{a}{b}"))))
            }
            (BinaryOp::Add | BinaryOp::Sub, Elaborated::Pointer(tensor), count) => {
                let count = match op {
                    BinaryOp::Sub => self.binary(op, &Elaborated::index(0), count, span),
                    _ => count.clone(),
                };
                Some(self.pointer_offset(tensor, &count, span))
            }
            _ => None,
        }
    }

    fn refused(
        &mut self,
        op: BinaryOp,
        refused: &Refused,
        left: &Elaborated,
        right: &Elaborated,
        span: Span,
    ) -> Elaborated {
        match refused {
            Refused::ByZero => {
                let message = format!("`{}` by zero", op.text());
                self.mistake("division", span, message, "divide by something else")
            }
            Refused::TooLarge => {
                let message =
                    format!("`{}` gives an integer of more than {MOST_BITS} bits", op.text());
                self.mistake("literal", span, message, "compute with smaller numbers")
            }
            Refused::NoFloat => {
                let message = format!("`{}` of an integer that is beyond all floats", op.text());
                self.mistake("literal", span, message, "compute with smaller numbers")
            }
            Refused::Undefined => self.no_operator(op, left, right, span),
        }
    }

    fn int_division(&mut self, span: Span) -> Elaborated {
        let help = "write `//`, or convert an operand, as in `kp.float32(n)`";
        self.mistake("division", span, "`/` of integers", help)
    }

    fn no_operator(
        &mut self,
        op: BinaryOp,
        left: &Elaborated,
        right: &Elaborated,
        span: Span,
    ) -> Elaborated {
        let (a, b) = (self.emit.describe(left), self.emit.describe(right));
        let is_int = |value: &Elaborated| match self.emit.kind(value) {
            Some(Kind::Int) => true,
            Some(Kind::Of(scalar)) => scalar.is_int(),
            Some(Kind::Float) | None => false,
        };
        let help = match op {
            BinaryOp::Div if is_int(left) && is_int(right) => return self.int_division(span),
            BinaryOp::FloorDiv => "write `kp.floor(a / b)` of floats",
            BinaryOp::Mod => "write `a - kp.floor(a / b) * b` of floats",
            BinaryOp::Pow => "write `kp.pow(a, b)` of floats, and products of integers",
            BinaryOp::MatMul => "write loops, with `kp.fma`",
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                "convert both to an integer"
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div => {
                "use numbers, or elements of tensors"
            }
        };
        let message = format!("there is no `{}` of {a} and {b}", op.text());
        self.mistake("operator", span, message, help)
    }

    /// `op value`
    pub fn unary(&mut self, op: UnaryOp, value: &Elaborated, span: Span) -> Elaborated {
        let kind = match value {
            Elaborated::Typed(_) => self.emit.scalar_of_name(value).map(Kind::Of),
            value => self.emit.kind(value),
        };
        match (op, value, kind) {
            (_, Elaborated::Poison, _) => Elaborated::Poison,
            (UnaryOp::Not, ..) => self.negated(value, span),
            (UnaryOp::Neg, Elaborated::Int(int), _) => Elaborated::Int(-int),
            (UnaryOp::Neg, Elaborated::Float(float), _) => Elaborated::Float(-float),
            (UnaryOp::Invert, Elaborated::Int(int), _) => Elaborated::Int(!int),
            (UnaryOp::Pos, _, Some(kind)) if kind != Kind::Of(Scalar::Bool) => value.clone(),
            (UnaryOp::Neg, _, Some(Kind::Of(scalar))) if scalar != Scalar::Bool => {
                self.each_lane(value, scalar, &mut |cx, one| cx.emit.unary_of(Unary::Neg, &one))
            }
            (UnaryOp::Invert, _, Some(Kind::Of(scalar))) if scalar.is_int() => {
                self.each_lane(value, scalar, &mut |cx, one| cx.emit.unary_of(Unary::Not, &one))
            }
            (UnaryOp::Neg | UnaryOp::Pos | UnaryOp::Invert, ..) => {
                let found = self.emit.describe(value);
                let message = format!("there is no `{}` of {found}", op.text());
                let help = match op {
                    UnaryOp::Invert if kind == Some(Kind::Of(Scalar::Bool)) => "write `not`",
                    _ => "convert it to a number first",
                };
                self.mistake("operator", span, message, help)
            }
        }
    }

    /// Something for each lane of a value.
    pub fn each_lane(
        &mut self,
        value: &Elaborated,
        scalar: Scalar,
        each: &mut dyn FnMut(&mut Self, Elaborated) -> Elaborated,
    ) -> Elaborated {
        match value {
            Elaborated::Elements(elements) => {
                let items = elements.items.iter().map(|one| each(self, one.clone())).collect();
                let shape = elements.shape.clone();
                Elaborated::Elements(Arc::new(Elements { scalar, shape, items }))
            }
            one => each(self, one.clone()),
        }
    }

    /// `not value`
    fn negated(&mut self, value: &Elaborated, span: Span) -> Elaborated {
        use super::Condition;
        match self.read_condition(value, span) {
            None => Elaborated::Poison,
            Some(Condition::Constant(truth)) => Elaborated::Bool(!truth),
            Some(Condition::Typed(value)) => {
                let result = self.emit.b.unary(Unary::Not, value);
                if let Some(truth) = self.emit.known_truth(value) {
                    self.emit.know_truth(result, !truth);
                }
                Elaborated::Typed(result)
            }
        }
    }

    /// `left op right`, of numbers.
    pub fn compare_numbers(
        &mut self,
        op: CompareOp,
        left: &Elaborated,
        right: &Elaborated,
        span: Span,
    ) -> Option<Elaborated> {
        let (a, b) = (self.emit.kind(left)?, self.emit.kind(right)?);
        if let Some(holds) = constant::compare(op, left, right) {
            return Some(Elaborated::Bool(holds));
        }
        let ir = ir_compare(op)?;
        let truths = (a, b) == (Kind::Of(Scalar::Bool), Kind::Of(Scalar::Bool));
        let common = match self.emit.common(a, b) {
            Err(Clash::Bool) if truths && matches!(ir, Compare::Eq | Compare::Ne) => Scalar::Bool,
            Err(clash) => return Some(self.clash(&clash, &format!("`{}`", op.text()), span)),
            Ok(common) => common,
        };
        if !self.fits(left, common, span) || !self.fits(right, common, span) {
            return Some(Elaborated::Poison);
        }
        Some(self.lanes(left, right, Scalar::Bool, span, &mut |cx, a, b| {
            if let (Some(a), Some(b)) = (cx.emit.as_const(&a, common), cx.emit.as_const(&b, common))
            {
                return Elaborated::Bool(eval::compare(ir, a, b));
            }
            let (a, b) = (cx.emit.typed(&a, common), cx.emit.typed(&b, common));
            Elaborated::Typed(cx.emit.compute_compare(ir, a, b))
        }))
    }
}

fn ir_binary(op: BinaryOp, scalar: Scalar) -> Option<Binary> {
    let (is_float, is_bool) = (scalar.is_float(), scalar == Scalar::Bool);
    match op {
        BinaryOp::Add => Some(Binary::Add),
        BinaryOp::Sub => Some(Binary::Sub),
        BinaryOp::Mul => Some(Binary::Mul),
        BinaryOp::Div => is_float.then_some(Binary::Div),
        BinaryOp::FloorDiv => (!is_float).then_some(Binary::FloorDiv),
        BinaryOp::Mod => (!is_float).then_some(Binary::FloorMod),
        BinaryOp::Shl => (!is_float && !is_bool).then_some(Binary::Shl),
        BinaryOp::Shr => (!is_float && !is_bool).then_some(Binary::Shr),
        BinaryOp::And => (!is_float).then_some(Binary::And),
        BinaryOp::Or => (!is_float).then_some(Binary::Or),
        BinaryOp::Xor => (!is_float).then_some(Binary::Xor),
        BinaryOp::Pow | BinaryOp::MatMul => None,
    }
}

fn ir_compare(op: CompareOp) -> Option<Compare> {
    match op {
        CompareOp::Eq => Some(Compare::Eq),
        CompareOp::Ne => Some(Compare::Ne),
        CompareOp::Lt => Some(Compare::Lt),
        CompareOp::Le => Some(Compare::Le),
        CompareOp::Gt => Some(Compare::Gt),
        CompareOp::Ge => Some(Compare::Ge),
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => None,
    }
}
