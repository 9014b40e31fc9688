// SPDX-License-Identifier: Apache-2.0
//! `a.b`: of kernpack, of files, of tuples with names, and of what has parts and methods.

use crate::algebra;
use crate::builtin;
use crate::elaborate::Elaborator;
use crate::names;
use crate::object::names_of_class;
use crate::python::tree::Ident;
use crate::value::{Elaborated, Memory, Tensor};
use kernpack_kernel_ir::{Const, Scalar};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

impl Elaborator<'_> {
    pub fn attribute(&mut self, of: Elaborated, member: &Ident) -> Elaborated {
        let of = self.given(of, member.span);
        let (name, span) = (&*member.name, member.span);
        match &of {
            Elaborated::Poison => return Elaborated::Poison,
            Elaborated::Kernpack => return self.builtin(name, span),
            Elaborated::Module(module) => {
                let value = names::of_file(self, *module, &member.name, span);
                return value.unwrap_or(Elaborated::Poison);
            }
            Elaborated::Tuple(tuple) => {
                if let Some(item) = tuple.named(name) {
                    return item.clone();
                }
            }
            Elaborated::Tensor(tensor) => {
                if let Some(part) = self.tensor_part(tensor, name, span) {
                    return part;
                }
            }
            Elaborated::Layout(layout) if algebra::names_of(false).contains(&name) => {
                let part = algebra::attribute(self, &layout.layout, name, span);
                return part.unwrap_or(Elaborated::Poison);
            }
            Elaborated::DType(scalar) => {
                if let Some(part) = dtype_part(*scalar, name) {
                    return part;
                }
            }
            Elaborated::Object(object) => {
                if let Some(part) = self.object_part(object, &member.name, span) {
                    return part;
                }
            }
            Elaborated::Class(class) => {
                if let Some(part) = self.class_part(class, None, (name, span)) {
                    return part;
                }
            }
            Elaborated::Elements(elements) if matches!(name, "element_type" | "dtype") => {
                return Elaborated::DType(elements.scalar);
            }
            Elaborated::Elements(elements) if name == "shape" => {
                return algebra::shape_value(self, &elements.shape);
            }
            Elaborated::Pointer(tensor) if matches!(name, "element_type" | "dtype") => {
                return memory_of(tensor)
                    .map_or(Elaborated::Poison, |one| Elaborated::DType(one.element));
            }
            _ => {}
        }
        match builtin::method(self.method_kind(&of), name) {
            Some(row) => Elaborated::Method(Arc::new(of), row),
            None => self.no_attribute(&of, name, span),
        }
    }

    /// Which methods a value has.
    fn method_kind(&self, of: &Elaborated) -> builtin::MethodOf {
        match of {
            Elaborated::Tensor(_) => builtin::MethodOf::Tensor,
            Elaborated::Elements(_) => builtin::MethodOf::Elements,
            Elaborated::Mbarrier(_) => builtin::MethodOf::Mbarrier,
            _ if self.emit.kind(of).is_some() => builtin::MethodOf::Number,
            _ => builtin::MethodOf::Nothing,
        }
    }

    fn no_attribute(&mut self, of: &Elaborated, name: &str, span: Span) -> Elaborated {
        let message = format!("{} has no `{name}`", self.emit.describe(of));
        let problem = Diagnostic::new("attribute", message).label(span, "");
        let help = match (of, name) {
            (Elaborated::Tensor(_), "T") => {
                "compose it with a layout of swapped modes: `kp.select`"
            }
            (Elaborated::Tensor(_), "view" | "reshape") => "write `kp.composition` with a layout",
            (Elaborated::Closure(_), "launch") => {
                "launch kernels in a function under `@kp.jit(\"…\")`"
            }
            (Elaborated::Tuple(tuple), _) if tuple.names.is_empty() => {
                "its items go by number, as in `t[0]`"
            }
            _ => &builtin::attribute_help(name, &self.attributes(of)),
        };
        let problem = problem.help(help);
        self.report(problem)
    }

    /// The names of a value's attributes.
    fn attributes<'v>(&'v self, of: &'v Elaborated) -> Vec<&'v str> {
        let own: Vec<&str> = match of {
            Elaborated::Tensor(tensor) => {
                let of_memory = memory_of(tensor).map(|_| ["element_type", "iterator"]);
                algebra::names_of(true)
                    .iter()
                    .copied()
                    .chain(of_memory.into_iter().flatten())
                    .collect()
            }
            Elaborated::Layout(_) => algebra::names_of(false).to_vec(),
            Elaborated::DType(scalar) => dtype_names(*scalar),
            Elaborated::Tuple(tuple) => tuple.names.iter().flatten().map(|name| &**name).collect(),
            Elaborated::Elements(_) => vec!["shape", "element_type"],
            Elaborated::Pointer(_) => vec!["element_type"],
            Elaborated::Object(object) => self.names_of_object(object),
            Elaborated::Class(class) => names_of_class(&class.class).collect(),
            _ => Vec::new(),
        };
        let methods = builtin::methods(self.method_kind(of)).map(|name| -> &'v str { name });
        own.into_iter().chain(methods).collect()
    }

    fn tensor_part(&mut self, tensor: &Arc<Tensor>, name: &str, span: Span) -> Option<Elaborated> {
        Some(match name {
            "element_type" | "dtype" => Elaborated::DType(memory_of(tensor)?.element),
            "iterator" | "pointer" => {
                memory_of(tensor)?;
                Elaborated::Pointer(tensor.clone())
            }
            _ if algebra::names_of(true).contains(&name) => {
                let part = algebra::attribute(self, &tensor.layout, name, span);
                part.unwrap_or(Elaborated::Poison)
            }
            _ => return None,
        })
    }
}

/// The memory that a tensor is a view of.
pub(crate) fn memory_of(tensor: &Tensor) -> Option<&Memory> {
    match &tensor.base {
        crate::value::Base::Memory(memory) => Some(memory),
        crate::value::Base::Coordinates | crate::value::Base::Map(_) => None,
    }
}

/// The names of dtypes' attributes.
const OF_DTYPES: [&str; 8] =
    ["inf", "nan", "max", "min", "width", "is_float", "is_integer", "signed"];

/// The names of a dtype's attributes.
pub(crate) fn dtype_names(scalar: Scalar) -> Vec<&'static str> {
    OF_DTYPES.into_iter().filter(|name| dtype_part(scalar, name).is_some()).collect()
}

/// The attribute of a dtype by its name: a constant.
pub(crate) fn dtype_part(scalar: Scalar, name: &str) -> Option<Elaborated> {
    let float = |value: f64| Some(Elaborated::Const(Const::float(scalar, value)));
    match name {
        "inf" if scalar.is_float() => float(f64::INFINITY),
        "nan" if scalar.is_float() => float(f64::NAN),
        "max" => Some(Elaborated::of_const(largest(scalar))),
        "min" => Some(Elaborated::of_const(least(scalar))),
        "width" => {
            let bits = if scalar == Scalar::Bool { 8 } else { scalar.bits() };
            Some(Elaborated::Int(bits.into()))
        }
        "is_float" => Some(Elaborated::Bool(scalar.is_float())),
        "is_integer" => Some(Elaborated::Bool(scalar.is_int())),
        "signed" => Some(Elaborated::Bool(scalar.is_signed())),
        _ => None,
    }
}

/// The largest finite number of a type.
pub(crate) fn largest(scalar: Scalar) -> Const {
    Const::from_bits(scalar, scalar.largest())
}

/// The least finite number of a type.
pub(crate) fn least(scalar: Scalar) -> Const {
    match scalar.is_float() {
        true => {
            kernpack_kernel_ir::eval::unary(kernpack_kernel_ir::op::Unary::Neg, largest(scalar))
        }
        false => Const::from_bits(scalar, scalar.integers().min as u64),
    }
}
