// SPDX-License-Identifier: Apache-2.0
//! Types of parameters and results in Rust, with the generics and structs that they need.

use super::names::{Names, TYPES, camel_case, plain};
use super::value::{fields, is_on_host, is_passed};
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_validators::dim::Rank;
use kernpack_validators::param::{Tensor, TensorDType};
use kernpack_validators::{HostType, Signature};
use std::fmt::Write;

/// A generic type that stands for what lends a tensor, or for a stream.
#[derive(Clone, Debug)]
pub(super) struct Generic {
    pub(super) name: String,
    /// The bound, where calls are made.
    pub(super) bound: String,
    /// The bound without what it says of dtype variables.
    pub(super) loose_bound: String,
    /// The type where nothing is given.
    pub(super) absent: String,
}

/// A dtype variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// The name in the signature.
    var: String,
    /// The trait, and the generic type where a required tensor tells it.
    pub(super) name: String,
    pub(super) dtypes: Vec<DType>,
    /// Whether a required tensor tells it.
    pub(super) is_told: bool,
}

/// The types of a function, as they are asked for.
pub(super) struct Types {
    /// The device of tensors that do not say it.
    pub(super) device: DeviceType,
    /// The type of the stream, where there is one.
    pub(super) stream: Option<String>,
    pub(super) variables: Vec<Variable>,
    /// The structs of tuples.
    pub(super) structs: String,
    /// Whether a type has the lifetime `'a`.
    pub(super) borrows: bool,
    names: Names,
}

impl Generic {
    /// With its bound.
    pub(super) fn bounded(&self) -> String {
        format!("{}: {}", self.name, self.bound)
    }

    /// Whether it stands for what lends a tensor.
    pub(super) fn is_tensor(&self) -> bool {
        self.bound.starts_with("::kernpack::Lend")
    }
}

impl Variable {
    /// With its bound.
    pub(super) fn bounded(&self) -> String {
        format!("{0}: self::{0}", self.name)
    }

    /// The trait.
    pub(super) fn text(&self) -> String {
        let Variable { var, name, dtypes, .. } = self;
        let list: Vec<_> = dtypes.iter().map(|dtype| dtype_name(*dtype)).collect();
        let of_each: String = list
            .iter()
            .map(|dtype| {
                format!(
                    "        impl sealed::{name} for ::kernpack::dtype::{dtype} {{}}
        impl {name} for ::kernpack::dtype::{dtype} {{}}\n"
                )
            })
            .collect();
        format!(
            "
        /// The dtypes that `{var}` may be: {0}.
        #[diagnostic::on_unimplemented(
            message = \"`{var}` cannot be `{{Self}}`\",
            label = \"expected elements of one of these types: {0}\"
        )]
        pub trait {name}: ::kernpack::Element + sealed::{name} {{}}
{of_each}",
            list.join(", ")
        )
    }
}

impl Types {
    /// The types of a function with that signature, none of which has the function's own name.
    pub(super) fn new(
        name: &str,
        signature: &Signature,
        device: DeviceType,
        has_stream: bool,
    ) -> Types {
        let mut names = Names::without(TYPES.iter().chain(&[plain(name)]));
        let bindings = signature.resolve().expect("the signature of a package is right");
        let told =
            |var: &str| signature.params.iter().any(|param| tells(&param.kind.host_type(), var));
        let variables = bindings.dtypes.iter().map(|(var, binding)| Variable {
            var: var.clone(),
            name: names.add(var),
            dtypes: binding.allowed.clone(),
            is_told: told(var),
        });
        let variables = variables.collect();
        let stream = has_stream.then(|| names.add("S"));
        Types { device, stream, variables, structs: String::new(), borrows: has_stream, names }
    }

    /// The variables that required tensors tell.
    pub(super) fn told(&self) -> impl Iterator<Item = &Variable> {
        self.variables.iter().filter(|variable| variable.is_told)
    }

    /// The traits that nobody else can implement.
    pub(super) fn sealed(&self) -> String {
        let line = |variable: &Variable| format!("            pub trait {} {{}}\n", variable.name);
        let lines: String = self.variables.iter().map(line).collect();
        match lines.is_empty() {
            true => lines,
            false => format!("        mod sealed {{\n{lines}        }}\n"),
        }
    }

    /// The type of a reference to the stream on which the function runs.
    pub(super) fn stream_reference(&self) -> String {
        format!("&'a {}", self.stream.as_deref().unwrap_or_default())
    }

    /// The type of the elements of a result; a variable that no tensor tells is the caller's.
    pub(super) fn element(&self, dtype: &TensorDType) -> String {
        match dtype {
            TensorDType::Fixed(dtype) => dtype_path(*dtype),
            TensorDType::Var(var, _) => self.variable(var).name.clone(),
        }
    }

    /// The variable of that name.
    fn variable(&self, var: &str) -> &Variable {
        let found = self.variables.iter().find(|variable| variable.var == *var);
        found.expect("the variables of a signature are bound")
    }

    /// The variable that a dtype is, if it is one.
    pub(super) fn variable_of(&self, dtype: &TensorDType) -> Option<&Variable> {
        match dtype {
            TensorDType::Fixed(_) => None,
            TensorDType::Var(var, _) => Some(self.variable(var)),
        }
    }

    /// The type of a parameter; `None` where nothing is passed. `name` is what it may be called.
    pub(super) fn of(
        &mut self,
        host: &HostType,
        name: &str,
        generics: &mut Vec<Generic>,
    ) -> Option<String> {
        if !is_passed(host) {
            return None;
        }
        Some(match host {
            HostType::EnvStream | HostType::Literal(_) => return None,
            HostType::Tensor(tensor) => self.tensor(tensor, name, generics),
            HostType::Int(dtype) => integer(*dtype),
            HostType::Float(DType::FLOAT64) => "f64".to_string(),
            HostType::Float(_) => "f32".to_string(),
            HostType::Pointer(_) => "*mut ::core::ffi::c_void".to_string(),
            HostType::DataType => "::kernpack::DType".to_string(),
            HostType::Stream => format!("&'a {}", self.stream_type(name, generics)),
            HostType::String => self.borrow("&'a str"),
            HostType::Shape(dims) => match Rank::of(dims).fixed() {
                Some(rank) => format!("[i64; {rank}]"),
                None => self.borrow("&'a [i64]"),
            },
            HostType::Tuple(elements) => self.tuple(elements, name, generics),
            HostType::Optional(inner) => match self.of(inner, name, generics) {
                Some(inner) => format!("::core::option::Option<{inner}>"),
                None => "bool".to_string(),
            },
        })
    }

    fn borrow(&mut self, text: &str) -> String {
        self.borrows = true;
        text.to_string()
    }

    fn stream_type(&mut self, name: &str, generics: &mut Vec<Generic>) -> String {
        self.borrows = true;
        let name = self.names.add(&camel_case(name));
        let bound = "::kernpack::Stream".to_string();
        let absent = "::kernpack::RawStream".to_string();
        generics.push(Generic { name: name.clone(), loose_bound: bound.clone(), bound, absent });
        name
    }

    fn tensor(&mut self, tensor: &Tensor, name: &str, generics: &mut Vec<Generic>) -> String {
        let stream = match (&self.stream, is_on_host(tensor.devices(), self.device)) {
            (Some(stream), false) => stream.clone(),
            _ => "::kernpack::Cpu".to_string(),
        };
        let lends = if tensor.is_mutable() { "LendMut" } else { "Lend" };
        let loose = format!("::kernpack::{lends}<{stream}>");
        let bound = |element: &str| format!("::kernpack::{lends}<{stream}, Element{element}>");
        let element = self.element(tensor.dtype());
        let (bound, loose_bound, absent) = match self.variable_of(tensor.dtype()) {
            None => {
                let bound = bound(&format!(" = {element}"));
                (bound.clone(), bound, element)
            }
            Some(variable) if variable.is_told => (bound(&format!(" = {element}")), loose, element),
            Some(variable) => {
                let bound = bound(&format!(": self::{element}"));
                (bound.clone(), bound, dtype_path(variable.dtypes[0]))
            }
        };
        let absent = format!("::kernpack::Absent<{absent}>");
        let name = self.names.add(&camel_case(name));
        generics.push(Generic { name: name.clone(), bound, loose_bound, absent });
        name
    }

    fn tuple(
        &mut self,
        elements: &[(Option<String>, HostType)],
        name: &str,
        generics: &mut Vec<Generic>,
    ) -> String {
        let own = self.names.add(&camel_case(name));
        let borrowed = std::mem::replace(&mut self.borrows, false);
        let first = generics.len();
        let mut members = String::new();
        for ((given, host), field) in elements.iter().zip(fields(elements)) {
            let inner = given.as_deref().unwrap_or(&field).trim_start_matches('_');
            let inner = format!("{name}_{inner}");
            let ty = self.of(host, &inner, generics).unwrap_or_else(|| "()".to_string());
            let _ = writeln!(members, "            /// `{name}.{field}`");
            let _ = writeln!(members, "            pub {field}: {ty},");
        }
        let lifetime = self.borrows.then(|| "'a".to_string());
        self.borrows |= borrowed;
        let own_generics = generics[first..].iter().map(|generic| generic.name.clone());
        let arguments: Vec<_> = lifetime.into_iter().chain(own_generics).collect();
        let arguments = angle(&arguments);
        let _ = write!(
            self.structs,
            "        /// The elements of `{name}`.
        #[derive(Clone, Copy, Debug)]
        pub struct {own}{arguments} {{
{members}        }}
"
        );
        format!("self::{own}{arguments}")
    }
}

/// Whether a value tells the dtype of a variable in every call.
fn tells(host: &HostType, var: &str) -> bool {
    match host {
        HostType::Tensor(tensor) => {
            matches!(tensor.dtype(), TensorDType::Var(name, _) if name == var)
        }
        HostType::Tuple(elements) => elements.iter().any(|(_, element)| tells(element, var)),
        _ => false,
    }
}

/// A list of generics in angle brackets; nothing where there are none.
pub(super) fn angle(generics: &[String]) -> String {
    match generics {
        [] => String::new(),
        some => format!("<{}>", some.join(", ")),
    }
}

/// The type of an integer: `i64` of `int64`.
fn integer(dtype: DType) -> String {
    match dtype {
        DType::BOOL => "bool".to_string(),
        dtype => dtype.to_string().replace("int", if dtype.is_unsigned() { "" } else { "i" }),
    }
}

/// The type of elements of a dtype.
fn dtype_path(dtype: DType) -> String {
    format!("::kernpack::dtype::{}", dtype_name(dtype))
}

/// The name of a dtype in `kernpack::dtype`.
fn dtype_name(dtype: DType) -> String {
    match dtype == DType::FLOAT4_E2M1FNX2 {
        true => "float4_e2m1fnx2".to_string(),
        false => dtype.to_string(),
    }
}
