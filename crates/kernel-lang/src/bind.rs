// SPDX-License-Identifier: Apache-2.0
//! Arguments of a launch as values of a kernel.

use crate::argument::{Argument, Constant, Dim, FunctionArg, OptionalArg, TensorArg};
use crate::elaborate::Elaborator;
use crate::extents::Extents;
use crate::file::{Definition, ModuleId};
use crate::guard::OptionalValue;
use crate::python::tree::{Expr, Function, Name, Param};
use crate::scope::{Binding, Key, Variable};
use crate::value::{Base, Closure, Elaborated, Items, LayoutValue, Leaf, Memory, Tensor};
use kernpack_kernel_ir::kernel::{self, Pointer};
use kernpack_kernel_ir::op::Compare;
use kernpack_kernel_ir::{Scalar, Space};
use kernpack_layout::{Facts, Int, Layout, Tuple};
use kernpack_syntax::Span;
use std::sync::Arc;

impl Elaborator<'_> {
    /// Gives each parameter of a kernel its argument.
    pub fn bind_arguments(&mut self, kernel: &Definition, arguments: &[Argument]) {
        let function = &kernel.function;
        if arguments.len() > function.params.len() {
            let name = &function.name;
            let (n_params, n_args) = (function.params.len(), arguments.len());
            let message =
                format!("`{}` takes {n_params} arguments, and is given {n_args}", name.name);
            self.mistake("arguments", name.span, message, "launch it with as many as it takes");
        }
        let mut values = Vec::new();
        for (number, param) in function.params.iter().enumerate() {
            values.push(match (arguments.get(number), &param.default) {
                (Some(argument), _) => {
                    self.check_constant(param, argument);
                    self.argument(argument)
                }
                (None, Some(default)) => self.expr(default),
                (None, None) => {
                    let name = &param.name.name;
                    let message = format!("`{}` misses its argument `{name}`", function.name.name);
                    self.mistake("arguments", param.name.span, message, "pass it in the launch")
                }
            });
        }
        function.params.iter().zip(values).for_each(|(param, value)| self.bind_param(param, value));
    }

    /// A parameter that is annotated so is given what is known while compiling.
    fn check_constant(&mut self, param: &Param, argument: &Argument) {
        let is_constexpr = param.annotation.as_ref().is_some_and(Expr::is_constexpr);
        let found = match argument {
            Argument::Tensor(_) => "a tensor",
            Argument::Pointer(_) => "a pointer",
            Argument::Scalar(_) => "a number that differs from call to call",
            Argument::Optional(_) => "an argument that may be None",
            Argument::Layout(..) => "a layout that differs from call to call",
            Argument::Constant(_) | Argument::Function(_) | Argument::Tuple(_) => return,
        };
        if is_constexpr {
            let message = format!("`{}` is `kp.Constexpr`, and is given {found}", param.name.name);
            let help = "pass a constant, or leave out `kp.Constexpr`";
            self.mistake("constexpr", param.name.span, message, help);
        }
    }

    /// The value of an argument in the kernel.
    pub fn argument(&mut self, argument: &Argument) -> Elaborated {
        match argument {
            Argument::Tensor(tensor) => {
                let tensor = self.tensor_argument(tensor);
                self.emit.accesses.add_argument(Extents::of(&tensor.name, &tensor.layout));
                Elaborated::Tensor(tensor)
            }
            // Nothing bounds an index behind it.
            Argument::Pointer(pointer) => Elaborated::Pointer(self.tensor_argument(pointer)),
            Argument::Scalar(scalar) => match scalar.expr.as_int() {
                Some(number) if scalar.scalar.is_int() => {
                    Elaborated::Const(kernpack_kernel_ir::Const::int(scalar.scalar, number))
                }
                _ => Elaborated::Typed(self.number(&scalar.expr, scalar.scalar, scalar.facts)),
            },
            Argument::Constant(constant) => constant_value(constant),
            Argument::Layout(layout, swizzle) => {
                let layout = self.layout_argument(layout);
                Elaborated::Layout(Arc::new(LayoutValue { layout, swizzle: *swizzle }))
            }
            Argument::Function(function) => self.function_argument(function),
            Argument::Tuple(items) => {
                let names = items.iter().map(|(name, _)| name.clone()).collect();
                let items = items.iter().map(|(_, item)| self.argument(item)).collect();
                Elaborated::Tuple(Arc::new(Items { items, names }))
            }
            Argument::Optional(optional) => self.optional_argument(optional),
        }
    }

    fn number(
        &mut self,
        expr: &kernpack_validators::Expr,
        scalar: Scalar,
        facts: kernel::Facts,
    ) -> kernel::Value {
        if !scalar.is_int() {
            // Nothing is known of a bool: that it is 0 or 1 says its type.
            return self.emit.number(expr, scalar, kernel::Facts::NONE);
        }
        let value = self.emit.number(expr, scalar, facts);
        let kernel::Facts { min, max, divisor } = facts;
        self.emit.know(value, Facts { min, max, divisor });
        value
    }

    fn dim(&mut self, dim: &Dim) -> Int<Leaf> {
        if let Some(number) = dim.expr.as_int() {
            return Int::Known(number);
        }
        if dim.facts.min == dim.facts.max {
            return Int::Known(dim.facts.min);
        }
        let value = self.number(&dim.expr, Scalar::I64, dim.facts);
        self.emit.leaf(value)
    }

    /// A layout of an argument. Extents are not negative, whatever else is known of them.
    fn layout_argument(&mut self, view: &Layout<Dim>) -> Layout<Leaf> {
        let mut dims = |dim: &Int<Dim>| match dim {
            Int::Known(number) => Int::Known(*number),
            Int::Dynamic(dim) => self.dim(dim),
        };
        view.map(&mut |mode| {
            let mut scale = dims(&mode.stride.scale);
            // What the layout computes is where elements lie; the number itself may be another.
            if let (Int::Dynamic(leaf), Int::Dynamic(dim)) = (&mut scale, &mode.stride.scale)
                && dim.step > leaf.facts.divisor
            {
                leaf.facts.divisor = dim.step;
            }
            let stride = kernpack_layout::Stride { scale, basis: mode.stride.basis.clone() };
            kernpack_layout::Mode { extent: dims(&mode.extent), stride }
        })
    }

    fn tensor_argument(&mut self, arg: &TensorArg) -> Arc<Tensor> {
        let pointer = Pointer {
            element: arg.element,
            align: arg.align,
            is_written: arg.is_written,
            is_alone: arg.is_alone,
        };
        let pointer = self.emit.pointer(&arg.pointer, pointer);
        let layout = self.layout_argument(&arg.view);
        let offset = match &arg.offset {
            Int::Known(number) => Int::Known(*number),
            Int::Dynamic(dim) => self.dim(dim),
        };
        let memory = Memory {
            space: Space::Global,
            pointer,
            align: arg.align,
            element: arg.element,
            is_written: arg.is_written,
            swizzle: None,
            qualifier: None,
        };
        Arc::new(Tensor {
            name: arg.name.clone(),
            base: Base::Memory(memory),
            offset: Tuple::Leaf(offset),
            layout,
            limits: Vec::new(),
        })
    }

    fn function_argument(&mut self, arg: &FunctionArg) -> Elaborated {
        match arg {
            FunctionArg::Builtin(name) => self.builtin(name, Span::default()),
            FunctionArg::Written { module, function, captured } => {
                self.written_argument(*module, function, captured)
            }
        }
    }

    fn written_argument(
        &mut self,
        module: ModuleId,
        function: &Arc<Function>,
        captured: &[(Name, Argument)],
    ) -> Elaborated {
        let values: Vec<_> =
            captured.iter().map(|(name, argument)| (name, self.argument(argument))).collect();
        let frame = self.scopes.open(module, None);
        for (name, value) in values {
            let scalar = self.emit.scalar_of_name(&value);
            let variable = Variable { binding: Binding::Value(value), scalar, span: function.span };
            self.scopes.bind(&Key { frame, name: name.clone() }, variable);
        }
        let function = function.clone();
        Elaborated::Closure(Arc::new(Closure {
            function,
            module,
            frame: Some(frame),
            uncallable: None,
            object: None,
        }))
    }

    fn optional_argument(&mut self, arg: &OptionalArg) -> Elaborated {
        match arg.given.as_int() {
            Some(0) => return Elaborated::None,
            Some(_) => return self.argument(&arg.inner),
            None => {}
        }
        let facts = kernel::Facts { min: 0, max: 1, divisor: 1 };
        let given = self.number(&arg.given, Scalar::I64, facts);
        let zero = self.emit.b.index(0);
        let given = self.emit.b.compare(Compare::Ne, given, zero);
        let inner = self.argument(&arg.inner);
        let optional = OptionalValue { given, inner, name: arg.name.clone() };
        Elaborated::Optional(self.guards.add(optional))
    }
}

pub(crate) fn constant_value(constant: &Constant) -> Elaborated {
    match constant {
        Constant::None => Elaborated::None,
        Constant::Bool(truth) => Elaborated::Bool(*truth),
        Constant::Int(int) => Elaborated::Int(int.clone()),
        Constant::Float(float) => Elaborated::Float(*float),
        Constant::Number(number) => Elaborated::of_const(*number),
        Constant::Text(text) => Elaborated::Text(text.clone()),
        Constant::DType(scalar) => Elaborated::DType(*scalar),
        Constant::Layout(layout, swizzle) => {
            let layout = layout.convert(&mut |never| match *never {}).unwrap_or_else(Layout::unit);
            Elaborated::Layout(Arc::new(LayoutValue { layout, swizzle: *swizzle }))
        }
        Constant::Swizzle(swizzle) => Elaborated::Swizzle(*swizzle),
    }
}
