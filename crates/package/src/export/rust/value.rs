// SPDX-License-Identifier: Apache-2.0
//! Expressions over a parameter's value, in the body of a call: the tensors that it lends, and what
//! is passed for it.
//!
//! A *place* is where the value lies: `self.x`, `(*it)`. What it *lends* has the same form, with
//! views where it has tensors. Objects that are passed lie in variables in front of the arguments,
//! which may stay without a value.

use super::names::Names;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_validators::{HostType, Literal, float_text};

/// Where the functions for generated code are.
pub(super) const CALL: &str = "::kernpack::call";

/// The variables for objects, as they are asked for.
#[derive(Default)]
pub(super) struct Objects {
    n_objects: usize,
}

impl Objects {
    fn add(&mut self) -> String {
        self.n_objects += 1;
        format!("object_{}", self.n_objects)
    }

    /// Their declarations.
    pub(super) fn declarations(&self) -> impl Iterator<Item = String> {
        (1..=self.n_objects).map(|number| format!("let object_{number};"))
    }
}

/// Whether what a value lends has another form than the value.
pub(super) fn is_compound(host: &HostType) -> bool {
    match host {
        HostType::Tensor(_) | HostType::Tuple(_) => true,
        HostType::Optional(inner) => is_compound(inner),
        _ => false,
    }
}

/// Whether a caller passes anything for it.
pub(super) fn is_passed(host: &HostType) -> bool {
    match host {
        HostType::EnvStream | HostType::Literal(_) => false,
        HostType::Tuple(elements) => elements.iter().any(|(_, element)| is_passed(element)),
        _ => true,
    }
}

/// Whether a tensor lies in memory of the host, in a function on that device.
pub(super) fn is_on_host(devices: Option<&[DeviceType]>, default: DeviceType) -> bool {
    devices.unwrap_or(&[default]).iter().all(|device| device.is_host())
}

/// How a body meets a parameter's value.
pub(super) struct Body {
    /// The device of tensors that do not say it.
    pub(super) device: DeviceType,
    /// Whether tensors are passed as objects that may be kept.
    pub(super) holds: bool,
    pub(super) objects: Objects,
}

impl Body {
    /// The expression of what a value lends.
    pub(super) fn lend(&self, host: &HostType, place: &str) -> String {
        match host {
            HostType::EnvStream | HostType::Literal(_) => "()".to_string(),
            HostType::Tensor(tensor) => {
                let stream = match is_on_host(tensor.devices(), self.device) {
                    true => "&::kernpack::Cpu",
                    false => "stream",
                };
                match tensor.is_mutable() {
                    true => format!("::kernpack::LendMut::lend_mut(&mut {place}, {stream})?"),
                    false => format!("::kernpack::Lend::lend(&{place}, {stream})?"),
                }
            }
            HostType::Optional(inner) if is_passed(inner) && is_compound(inner) => {
                let inner = self.lend(inner, "(*it)");
                format!("match &mut {place} {{ Some(it) => Some({inner}), None => None }}")
            }
            HostType::Tuple(elements) => {
                let lent = elements.iter().zip(fields(elements));
                let lent = lent.map(|((_, element), field)| {
                    format!("{},", self.lend(element, &format!("{place}.{field}")))
                });
                format!("({})", lent.collect::<String>())
            }
            _ => place.to_string(),
        }
    }

    /// The expression of what is passed, for what a value lends.
    pub(super) fn any(&mut self, host: &HostType, lent: &str) -> String {
        match host {
            HostType::EnvStream => format!("{CALL}::none()"),
            HostType::Tensor(_) if self.holds => {
                let object = self.objects.add();
                format!("{{ {object} = {CALL}::hold(&{lent}.0)?; {object}.any() }}")
            }
            HostType::Tensor(_) => format!("{CALL}::tensor(&{lent}.0)"),
            HostType::Int(DType::BOOL) => format!("{CALL}::boolean({lent})"),
            HostType::Int(DType::UINT64) => {
                let object = self.objects.add();
                format!("{{ {object} = {CALL}::big_int({lent}); {CALL}::uint({lent}, &{object}) }}")
            }
            HostType::Int(_) => format!("{CALL}::int({lent})"),
            HostType::Float(_) => format!("{CALL}::float({lent})"),
            HostType::Pointer(_) => format!("{CALL}::pointer({lent})"),
            HostType::Stream => format!("{CALL}::pointer(::kernpack::Place::passed({lent}))"),
            HostType::DataType => format!("{CALL}::data_type({lent})"),
            HostType::Literal(value) => self.literal(value),
            HostType::String => self.object("text", lent),
            HostType::Shape(_) => self.object("shape", &format!("&{lent}")),
            HostType::Tuple(elements) => self.tuple(elements, lent),
            HostType::Optional(inner) => self.optional(inner, lent),
        }
    }

    /// An object of that kind, made of that.
    fn object(&mut self, function: &str, of: &str) -> String {
        let object = self.objects.add();
        format!("{{ {object} = {CALL}::{function}({of}); {object}.any() }}")
    }

    fn tuple(&mut self, elements: &[(Option<String>, HostType)], lent: &str) -> String {
        let mut items = Vec::new();
        for (i, (_, element)) in elements.iter().enumerate() {
            items.push(self.any(element, &format!("{lent}.{i}")));
        }
        let array = self.objects.add();
        let n_items = items.len();
        let sequence = self.object("values", &format!("&{array}"));
        let items = items.join(", ");
        format!("{{ {array} = [{items}] as [{CALL}::Any; {n_items}]; {sequence} }}")
    }

    fn optional(&mut self, inner: &HostType, lent: &str) -> String {
        let none = format!("{CALL}::none()");
        if !is_passed(inner) {
            let inner = self.any(inner, lent);
            return format!("if {lent} {{ {inner} }} else {{ {none} }}");
        }
        let inner = self.any(inner, "(*it)");
        format!("match &{lent} {{ Some(it) => {inner}, None => {none} }}")
    }

    fn literal(&mut self, value: &Literal) -> String {
        match value {
            Literal::None => format!("{CALL}::none()"),
            Literal::Bool(value) => format!("{CALL}::boolean({value})"),
            Literal::Text(text) => self.object("text", &format!("{text:?}")),
            Literal::DType(dtype) => format!("{CALL}::data_type({})", dtype_text(*dtype)),
            Literal::Int(value) => format!("{CALL}::int({value}i64)"),
            Literal::Float(value) => format!("{CALL}::float({})", float(*value)),
        }
    }
}

/// The fields of a tuple's struct.
pub(super) fn fields(elements: &[(Option<String>, HostType)]) -> Vec<String> {
    let mut names = Names::default();
    let named = elements.iter().enumerate();
    named
        .map(|(i, (name, _))| match name {
            Some(name) => names.add(name),
            None => names.add(&format!("_{i}")),
        })
        .collect()
}

/// A dtype as an expression.
pub(super) fn dtype_text(DType { code, bits, lanes }: DType) -> String {
    format!("::kernpack::DType {{ code: {code}, bits: {bits}, lanes: {lanes} }}")
}

/// A float of 64 bits as an expression.
pub(super) fn float(value: f64) -> String {
    format!("{}_f64", float_text(value))
}
