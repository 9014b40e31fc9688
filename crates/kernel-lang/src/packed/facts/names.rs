// SPDX-License-Identifier: Apache-2.0
//! The names that expressions of a launch may have: which of them are expressions in others, and
//! what is known of them whatever the rules say.

use kernpack_ffi_abi::DType;
use kernpack_layout::Facts;
use kernpack_validators::declare::Bindings;
use kernpack_validators::dim::{Dim, Star};
use kernpack_validators::expr::{Expr, Field, Name};
use kernpack_validators::param::{Strides, Tensor};
use kernpack_validators::{HostType, Rule, RuleKind, Signature, Workspace};
use std::collections::{HashMap, HashSet};

/// The names of a signature.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Fields that are expressions in other names, as they print.
    values: HashMap<String, Expr>,
    /// How many dims each tensor and Shape has, where that is known.
    ranks: HashMap<String, usize>,
    /// The types of integers, by path.
    ints: HashMap<String, DType>,
    /// The names that are no integers: floats, unsigned integers of 64 bits, Strings, dtypes.
    others: HashSet<String>,
    /// The symbols of dims, and fields that are none: none of them is negative.
    symbols: HashSet<String>,
    /// What may be absent: symbols, and paths of parameters.
    optional: HashSet<String>,
    /// The tensors whose strides may be negative.
    signed: HashSet<String>,
    /// The tensors that a call allocates.
    allocated: HashSet<String>,
}

impl Names {
    /// The names of a signature and of its workspaces.
    pub fn of(signature: &Signature, bindings: &Bindings, workspaces: &[Workspace]) -> Names {
        let mut names = Names::default();
        for (symbol, binding) in &bindings.symbols {
            names.symbols.insert(symbol.clone());
            if binding.optional.is_some() || binding.sharing.is_some() {
                names.optional.insert(symbol.clone());
            }
        }
        let stars = bindings.stars.iter().filter(|(_, binding)| binding.optional.is_some());
        names.optional.extend(stars.map(|(star, _)| star.clone()));
        names.others.extend(bindings.dtypes.keys().cloned());
        for param in &signature.params {
            names.add(&param.name, &param.kind.host_type(), false);
        }
        let results = signature.results.iter().map(|result| (&result.name, &result.tensor));
        let workspaces = workspaces.iter().map(|one| (&one.name.value, &one.tensor.value));
        for (name, tensor) in results.chain(workspaces) {
            names.add_tensor(name, tensor, false);
            names.allocated.insert(name.clone());
        }
        names
    }

    fn add(&mut self, path: &str, host_type: &HostType, is_optional: bool) {
        if is_optional {
            self.optional.insert(path.to_string());
        }
        match host_type {
            HostType::Tensor(tensor) => self.add_tensor(path, tensor, is_optional),
            HostType::Int(DType::UINT64) | HostType::Float(_) | HostType::String => {
                self.others.insert(path.to_string());
            }
            HostType::Int(dtype) => _ = self.ints.insert(path.to_string(), *dtype),
            HostType::Shape(dims) => self.add_dims(path, dims, is_optional, Field::Element),
            HostType::Tuple(elements) => {
                for (i, (name, element)) in elements.iter().enumerate() {
                    self.add(&part(path, i, name.as_deref()), element, is_optional);
                }
            }
            HostType::Optional(inner) => self.add(path, inner, true),
            HostType::EnvStream
            | HostType::Pointer
            | HostType::Stream
            | HostType::DataType
            | HostType::Literal(_) => {}
        }
    }

    fn add_tensor(&mut self, path: &str, tensor: &Tensor, is_optional: bool) {
        self.add_dims(path, tensor.dims(), is_optional, Field::Shape);
        if *tensor.strides_wanted() == Strides::Any {
            self.signed.insert(path.to_string());
        }
    }

    fn add_dims(&mut self, path: &str, dims: &[Dim], is_optional: bool, field: fn(i64) -> Field) {
        let star = Star::among(dims).map(|(place, _)| place);
        if star.is_none() {
            self.ranks.insert(path.to_string(), dims.len());
        }
        // Where nothing is given the fields are 0, whatever the dims are.
        let written = if is_optional { &[] } else { dims };
        for (i, dim) in written.iter().enumerate() {
            let number = match star {
                Some(place) if i > place => i as i64 - dims.len() as i64,
                Some(_) | None => i as i64,
            };
            let name = format!("{path}{}", field(number));
            match dim {
                Dim::Expr(expr) => _ = self.values.insert(name, expr.clone()),
                Dim::Any => _ = self.symbols.insert(name),
                Dim::Star(_) => {}
            }
        }
    }

    /// What the element of a Shape is, where that is an expression in other names.
    pub fn value_of(&self, name: &str) -> Option<&Expr> {
        self.values.get(name)
    }

    /// What a field is, where that is an expression in other names.
    pub fn value_of_field(&self, path: &str, field: Field) -> Option<&Expr> {
        let rank = self.ranks.get(path).map(|rank| *rank as i64);
        let forward = |i: i64| rank.filter(|_| i < 0).map_or(i, |rank| rank + i);
        let field = match field {
            Field::Shape(i) => Field::Shape(forward(i)),
            Field::Stride(i) => Field::Stride(forward(i)),
            Field::Element(i) => Field::Element(forward(i)),
            Field::Numel | Field::Ndim | Field::Given => field,
        };
        self.values.get(&format!("{path}{field}"))
    }

    /// What is known of a name's value.
    pub fn facts_of(&self, name: &Expr) -> Facts {
        match name {
            Expr::Symbol(name, _) => match self.ints.get(name) {
                Some(dtype) => range(*dtype),
                None if self.symbols.contains(name) => Facts::NON_NEGATIVE,
                None => Facts::NONE,
            },
            Expr::Field(path, field, _) => match field {
                Field::Given => Facts { divisor: 1, min: 0, max: 1 },
                Field::Ndim => Facts { divisor: 1, min: 0, max: 64 },
                Field::Stride(_) if self.signed.contains(path) => Facts::NONE,
                Field::Shape(_) | Field::Stride(_) | Field::Numel | Field::Element(_) => {
                    Facts::NON_NEGATIVE
                }
            },
            Expr::Int(_) | Expr::Binary(..) => Facts::NONE,
        }
    }

    /// The type that an integer parameter arrives as.
    pub fn int_type(&self, name: &str) -> Option<DType> {
        self.ints.get(name).copied()
    }

    /// Whether a tensor is the call's own.
    pub fn is_allocated(&self, path: &str) -> bool {
        self.allocated.contains(path)
    }

    /// Whether a name is no integer.
    pub fn is_other(&self, name: &str) -> bool {
        self.others.contains(name)
    }

    /// Whether a comparison is one of what is no integer.
    pub fn is_of_others(&self, rule: &Rule) -> bool {
        matches!(rule.kind, RuleKind::Floats(..))
            || rule.names().iter().any(|name| self.others.contains(&name.text))
    }

    /// Whether what a name is of may be absent. That it is given is known either way.
    pub fn is_optional(&self, name: &Name) -> bool {
        name.field != Some(Field::Given)
            && self.optional.contains(name.param.as_ref().unwrap_or(&name.text))
    }
}

/// The path of a tuple's element.
pub(crate) fn part(path: &str, number: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{path}.{name}"),
        None => format!("{path}[{number}]"),
    }
}

/// The numbers of a type.
fn range(dtype: DType) -> Facts {
    let bits = u32::from(dtype.bits);
    let (min, max) = match dtype {
        DType::BOOL => (0, 1),
        _ if dtype.is_unsigned() => (0, (1_i64 << bits.min(62)) - 1),
        _ => (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits)),
    };
    Facts { divisor: 1, min, max }
}
