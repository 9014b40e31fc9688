// SPDX-License-Identifier: Apache-2.0
//! PTX as it is written, and the model that the interpreter runs in its place.

use super::{Builtin, Given};
use crate::elaborate::Elaborator;
use crate::expr::{Arg, Args, memory_of};
use crate::tensor::{Predicate, Touched};
use crate::value::{Elaborated, Tensor};
use kernpack_kernel_ir::intrinsic::INTERPRETED;
use kernpack_kernel_ir::kernel::{Slot, Value};
use kernpack_kernel_ir::op::{Asm, Dialect, OpKind};
use kernpack_kernel_ir::types::MOST_VECTOR_BYTES;
use kernpack_kernel_ir::{Scalar, Type};
use kernpack_layout::{Int, Tuple};
use kernpack_syntax::Span;

pub(super) const ROW: Builtin = Builtin {
    name: "ptx",
    takes: &["text", "*operands", "result=", "effects=", "model="],
    doc: "Runs PTX as it is written: `{0}` stands for the result, of the dtype `result`, and \
          `{1}`, `{2}` … for the operands, which are numbers or pointers; without a result, \
          `{0}` is the first operand. A tuple of dtypes is several results, `{0}` and those \
          behind it, and gives a tuple; `(dtype, n)` is 2 or 4 numbers side by side, as an operand \
          of so many elements is, and stands for their registers in braces. `effects=True` says \
          that it does more than compute its results. The interpreter runs `model` in its place, a \
          function of the operands that returns the results; without one it cannot run the kernel.",
    data: "",
    run: ptx,
};

/// A result: a number, or so many side by side.
type ResultType = (Scalar, Option<u8>);

fn ptx(cx: &mut Elaborator<'_>, given: &Given) -> Elaborated {
    let Elaborated::Text(text) = given.get("text") else {
        return cx.expected("a constant text", given, "text");
    };
    let text = text.to_string();
    let Some(types) = result_types(cx, given) else { return Elaborated::Poison };
    let has_effects = match given.opt("effects") {
        None => types.is_empty(),
        Some(Arg { value: Elaborated::Bool(truth), .. }) => *truth,
        Some(_) => return cx.expected("a constant bool", given, "effects"),
    };
    let operands = given.rest.iter().map(|arg| cx.operand(arg));
    let operands: Vec<_> = operands.collect();
    let Some(operands) = operands.into_iter().collect() else { return Elaborated::Poison };
    let slots: Vec<_> = types.iter().map(|ty| cx.emit.b.slot("ptx", ir_type(*ty))).collect();
    let asm = Asm { dialect: Dialect::Ptx, text, results: slots.clone(), operands, has_effects };
    match given.opt("model") {
        None | Some(Arg { value: Elaborated::None, .. }) => cx.emit.b.effect(OpKind::Asm(asm)),
        Some(model) => {
            let interpreted = cx.emit.call_row(INTERPRETED, &[]);
            let (is_good, modelled) =
                cx.in_part(&[], given.span, |cx| cx.model(given, model, &types, &slots));
            if !is_good {
                return Elaborated::Poison;
            }
            let ((), written) = cx.in_region(&[], |cx| cx.emit.b.effect(OpKind::Asm(asm)));
            cx.emit.b.if_else(interpreted, modelled, written);
        }
    }
    let results = types.iter().zip(slots).map(|(ty, slot)| cx.result_in(*ty, slot));
    let results: Vec<_> = results.collect();
    match (&results[..], given.get("result")) {
        ([], _) => Elaborated::None,
        ([one], result) if is_one(result) => one.clone(),
        _ => Elaborated::tuple(results),
    }
}

fn ir_type((scalar, lanes): ResultType) -> Type {
    lanes.map_or(Type::Scalar(scalar), |lanes| Type::Vector(scalar, lanes))
}

/// Whether what is written as `result` is one result, and no tuple of them.
fn is_one(result: &Elaborated) -> bool {
    one_type(result).is_some()
}

/// The result that a dtype, or a dtype and a number, stands for.
fn one_type(result: &Elaborated) -> Option<ResultType> {
    match result {
        Elaborated::DType(scalar) => Some((*scalar, None)),
        Elaborated::Tuple(tuple) => match &tuple.items[..] {
            [Elaborated::DType(scalar), count] => {
                let count = u32::try_from(count.as_int()?).ok()?;
                is_side_by_side(*scalar, count).then_some((*scalar, Some(count as u8)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether so many numbers are in registers side by side.
fn is_side_by_side(scalar: Scalar, count: u32) -> bool {
    matches!(count, 2 | 4) && scalar.bytes() * count <= MOST_VECTOR_BYTES
}

fn result_types(cx: &mut Elaborator<'_>, given: &Given) -> Option<Vec<ResultType>> {
    let result = match given.opt("result") {
        None | Some(Arg { value: Elaborated::None, .. }) => return Some(vec![]),
        Some(result) => &result.value,
    };
    let types = match (one_type(result), result) {
        (Some(one), _) => Some(vec![one]),
        (None, Elaborated::Tuple(tuple)) => tuple.items.iter().map(one_type).collect(),
        (None, _) => None,
    };
    if types.is_none() {
        let expected = "a dtype, `(dtype, n)` of 2 or 4 in up to 16 bytes, or a tuple of these";
        cx.expected(expected, given, "result");
    }
    types
}

impl Elaborator<'_> {
    /// An operand: a number, a pointer, or numbers side by side.
    fn operand(&mut self, arg: &Arg) -> Option<Value> {
        match (&arg.value, self.typed_alone(&arg.value, arg.span)) {
            (Elaborated::Pointer(tensor), _) => self.pointer_value(tensor, arg.span),
            (Elaborated::Elements(elements), _)
                if is_side_by_side(elements.scalar, elements.items.len() as u32) =>
            {
                Some(self.vector_of(elements))
            }
            (_, Some(Ok((value, _)))) => Some(value),
            (Elaborated::Poison, _) | (_, Some(Err(_))) => None,
            (value, None) => {
                let found = self.emit.describe(value);
                let message = format!("expected an operand of PTX, found {found}");
                let help = "pass numbers, 2 or 4 elements in up to 16 bytes, and pointers as \
                            `x.iterator`";
                self.mistake("ptx", arg.span, message, help);
                None
            }
        }
    }

    /// Calls the model, and puts what it gives into the slots.
    fn model(&mut self, given: &Given, model: &Arg, types: &[ResultType], slots: &[Slot]) -> bool {
        let args = Args { positional: given.rest.clone(), named: vec![] };
        let gave = self.call_value(&model.value, args, model.span);
        let results = match &gave {
            Elaborated::Poison => return false,
            _ if types.is_empty() => return true,
            Elaborated::Tuple(tuple) if !is_one(given.get("result")) => tuple.items.clone(),
            one => vec![one.clone()],
        };
        if results.len() != types.len() {
            let (gives, expected) = (results.len(), types.len());
            let message = format!("the model gives {gives} results, and the PTX {expected}");
            self.mistake("ptx", model.span, message, "return a value for each result, in a tuple");
            return false;
        }
        let all = results.iter().zip(types).zip(slots);
        all.fold(true, |is_good, ((result, ty), slot)| {
            is_good & self.put_modelled(result, *ty, *slot, model.span)
        })
    }

    /// Puts a result of the model into its slot.
    fn put_modelled(
        &mut self,
        result: &Elaborated,
        (scalar, lanes): ResultType,
        slot: Slot,
        span: Span,
    ) -> bool {
        let items = match (result, lanes) {
            (Elaborated::Elements(elements), Some(_)) => elements.items.clone(),
            (Elaborated::Tuple(tuple), Some(_)) => tuple.items.clone(),
            (one, _) => vec![one.clone()],
        };
        if items.len() != usize::from(lanes.unwrap_or(1)) {
            let expected = lanes.unwrap_or(1);
            let message = format!("the model gives {} numbers for {expected}", items.len());
            self.mistake("ptx", span, message, "return as many as `result` says");
            return false;
        }
        let items = items.iter().map(|item| self.value_of("the result is", item, scalar, span));
        let items: Vec<_> = items.collect();
        let Some(items) = items.into_iter().collect::<Option<Vec<_>>>() else { return false };
        let value = self.emit.b.vector(items);
        self.emit.b.set(slot, value);
        true
    }

    /// The result that a slot has.
    fn result_in(&mut self, (scalar, lanes): ResultType, slot: Slot) -> Elaborated {
        let value = self.emit.b.get(slot);
        let Some(lanes) = lanes else { return Elaborated::Typed(value) };
        self.elements_of(value, scalar, Tuple::Leaf(Int::Known(lanes.into())))
    }

    /// The address that a pointer is.
    pub fn pointer_value(&mut self, tensor: &Tensor, span: Span) -> Option<Value> {
        let memory = memory_of(tensor)?.clone();
        let (any, always) = (Touched::Any, Predicate::Always);
        self.keep_to_limits(tensor, any, &always, span)?;
        let Tuple::Leaf(offset) = &tensor.offset else { return None };
        let address = self.emit.address(&memory, offset);
        self.algebra(address, span).map(|(pointer, _)| pointer)
    }
}
