// SPDX-License-Identifier: Apache-2.0
//! Calls: of what is written, of what kernpack has, and of dtypes, which convert.

use crate::algebra;
use crate::builtin::Given;
use crate::elaborate::Elaborator;
use crate::python::tree::{Call, ExprKind, Ident};
use crate::value::Value;
use kernpack_syntax::Span;

/// An argument.
#[derive(Clone, Debug)]
pub(crate) struct Arg {
    /// It.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// What is passed.
#[derive(Debug, Default)]
pub(crate) struct Args {
    /// By position.
    pub positional: Vec<Arg>,
    /// By name.
    pub named: Vec<(Ident, Arg)>,
}

impl Elaborator<'_> {
    pub(super) fn call(&mut self, call: &Call, span: Span) -> Value {
        let function = self.expr(&call.function);
        let naming = self.naming.clone();
        let args = self.args(call);
        self.naming = naming;
        self.call_value(&function, args, span)
    }

    /// Calls what an expression gave.
    pub fn call_value(&mut self, function: &Value, args: Args, span: Span) -> Value {
        match function {
            Value::Poison => Value::Poison,
            Value::Closure(closure) => self.inline(closure, args, span),
            Value::Builtin(row) => match Given::new(self, row, None, args, span) {
                Some(given) => (row.run)(self, &given),
                None => Value::Poison,
            },
            Value::Method(of, row) => match Given::new(self, row, Some(of), args, span) {
                Some(given) => (row.run)(self, &given),
                None => Value::Poison,
            },
            Value::DType(scalar) => self.convert_call(*scalar, &args, span),
            Value::Layout(layout) if args.named.is_empty() => {
                let coords: Vec<_> = args.positional.into_iter().map(|arg| arg.value).collect();
                let coord = match &coords[..] {
                    [one] => one.clone(),
                    _ => Value::tuple(coords),
                };
                let index = algebra::index_of(self, (&layout.layout, layout.swizzle), &coord, span);
                index.unwrap_or(Value::Poison)
            }
            other => {
                let message = format!("{} is no function", self.describe(other));
                self.mistake("call", span, message, "call a function")
            }
        }
    }

    fn args(&mut self, call: &Call) -> Args {
        let mut args = Args::default();
        for arg in &call.args {
            match &arg.kind {
                ExprKind::Starred(of) => match self.expr(of) {
                    Value::Tuple(tuple) => {
                        let items = tuple.items.iter();
                        let items = items.map(|one| Arg { value: one.clone(), span: of.span });
                        args.positional.extend(items);
                    }
                    other => {
                        let value = self.not_a_tuple(&other, of.span);
                        args.positional.push(Arg { value, span: of.span });
                    }
                },
                _ => args.positional.push(Arg { value: self.expr(arg), span: arg.span }),
            }
        }
        for (name, value) in &call.keywords {
            let span = value.span;
            args.named.push((name.clone(), Arg { value: self.expr(value), span }));
        }
        args
    }

    /// `kp.float32(x)`, `kp.int32(x, rounding="down")`
    fn convert_call(
        &mut self,
        scalar: kernpack_kernel_ir::Scalar,
        args: &Args,
        span: Span,
    ) -> Value {
        let rounding = args.named.iter().find(|(name, _)| &*name.name == "rounding");
        let others = args.named.len() - usize::from(rounding.is_some());
        let [arg] = &args.positional[..] else {
            let message = format!(
                "`kp.{scalar}` converts one number, and is given {}",
                args.positional.len()
            );
            return self.mistake("arguments", span, message, format!("write `kp.{scalar}(x)`"));
        };
        if others > 0 {
            let message = format!("`kp.{scalar}` takes a number and `rounding`");
            return self.mistake("arguments", span, message, "leave out what else is named");
        }
        let rounding = match rounding {
            None => None,
            Some((_, arg)) => match self.rounding(&arg.clone()) {
                Some(rounding) => Some(rounding),
                None => return Value::Poison,
            },
        };
        let value = self.given(arg.value.clone(), arg.span);
        self.cast(&value, scalar, rounding, arg.span)
    }
}
