// SPDX-License-Identifier: Apache-2.0
//! Calls: of what is written, of what kernpack has, and of dtypes, which convert.

use crate::algebra;
use crate::builtin::Given;
use crate::call;
use crate::elaborate::Elaborator;
use crate::python::tree::Call;
use crate::value::Elaborated;
use kernpack_syntax::Span;

/// An argument.
pub(crate) type Arg = call::Arg<Elaborated>;

/// The arguments of a call.
pub(crate) type Args = call::Passed<Elaborated>;

impl Elaborator<'_> {
    pub(super) fn call(&mut self, of: &Call, span: Span) -> Elaborated {
        let function = self.expr(&of.function);
        let naming = self.naming.clone();
        let args = call::passed(self, of);
        self.naming = naming;
        match args {
            Some(args) => self.call_value(&function, args, span),
            None => Elaborated::Poison,
        }
    }

    /// Calls what an expression gave.
    pub fn call_value(&mut self, function: &Elaborated, args: Args, span: Span) -> Elaborated {
        match function {
            Elaborated::Poison => Elaborated::Poison,
            Elaborated::Closure(closure) => self.inline(closure, args, span),
            Elaborated::Builtin(row) => match Given::new(self, row, None, args, span) {
                Some(given) => (row.run)(self, &given),
                None => Elaborated::Poison,
            },
            Elaborated::Method(of, row) => match Given::new(self, row, Some(of), args, span) {
                Some(given) => (row.run)(self, &given),
                None => Elaborated::Poison,
            },
            Elaborated::Class(class) => self.make_object(class, args, span),
            Elaborated::DType(scalar) => self.convert_call(*scalar, &args, span),
            Elaborated::Layout(layout) if args.named.is_empty() => {
                let coords: Vec<_> = args.positional.into_iter().map(|arg| arg.value).collect();
                let coord = match &coords[..] {
                    [one] => one.clone(),
                    _ => Elaborated::tuple(coords),
                };
                let index = algebra::index_of(self, (&layout.layout, layout.swizzle), &coord, span);
                index.unwrap_or(Elaborated::Poison)
            }
            other => {
                let message = format!("{} is no function", self.emit.describe(other));
                self.mistake("call", span, message, "call a function")
            }
        }
    }

    /// `kp.float32(x)`, `kp.int32(x, rounding="down")`
    fn convert_call(
        &mut self,
        scalar: kernpack_kernel_ir::Scalar,
        args: &Args,
        span: Span,
    ) -> Elaborated {
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
                None => return Elaborated::Poison,
            },
        };
        let value = self.given(arg.value.clone(), arg.span);
        self.cast(&value, scalar, rounding, arg.span)
    }
}
