// SPDX-License-Identifier: Apache-2.0
//! The names that expressions of a launch may have: which of them are expressions in others, and
//! what is known of them whatever the rules say.

use super::super::max_blocks;
use crate::extents::Relations;
use kernpack_ffi_abi::DType;
use kernpack_layout::Facts;
use kernpack_syntax::Span;
use kernpack_validators::check::scalar::integers;
use kernpack_validators::declare::{Bindings, Sharers};
use kernpack_validators::dim::{Dim, Rank, Star};
use kernpack_validators::expr::{Expr, Field, Name};
use kernpack_validators::host_type::element_path;
use kernpack_validators::param::Tensor;
use kernpack_validators::plan::{DeviceFact, MOST_TURNS};
use kernpack_validators::{HostType, Rule, RuleKind, Signature, Workspace};
use std::collections::{BTreeSet, HashMap, HashSet};

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
    /// Integers whose values may come from somewhere else, with what is known of that.
    lent: HashMap<String, Facts>,
    /// Names that may be absent: symbols, and paths of parameters; each with what decides whether
    /// it is there, an Optional or several that share the symbol.
    optional: HashMap<String, String>,
    /// The symbols that only strides give a value, which no rule is asked of where no step takes
    /// them.
    strides: BTreeSet<String>,
    /// Tensors of the signature and workspaces, in order.
    tensors: Vec<Named>,
    /// Pointers of which the signature says what their address is a multiple of, with that.
    pointers: Vec<(String, u32)>,
    /// The tensors that a call allocates.
    allocated: HashSet<String>,
    /// Those of them that no call is passed: twins are passed results.
    workspaces: HashSet<String>,
    /// The integers that may be absent.
    optional_ints: HashSet<String>,
    /// Fields with what they are an expression in, also of what may be absent.
    fields: Vec<(String, Expr)>,
}

/// A tensor, under its path.
#[derive(Debug)]
pub(super) struct Named {
    pub path: String,
    pub tensor: Tensor,
    /// Whether it may be absent.
    pub is_optional: bool,
}

impl Names {
    /// The names of a signature and of its workspaces.
    pub fn of(signature: &Signature, bindings: &Bindings, workspaces: &[Workspace]) -> Names {
        let mut names = Names::default();
        for (symbol, binding) in &bindings.symbols {
            let holder = match (binding.sharers(), &binding.optional) {
                (Some(Sharers::Strides), _) => {
                    names.strides.insert(symbol.clone());
                    continue;
                }
                (Some(Sharers::Optionals), _) => Some(format!("*{symbol}")),
                (None, optional) => optional.clone(),
            };
            names.symbols.insert(symbol.clone());
            names.optional.extend(holder.map(|holder| (symbol.clone(), holder)));
        }
        let stars = bindings.stars.iter();
        let stars = stars.filter_map(|(star, it)| Some((star.clone(), it.optional.clone()?)));
        names.optional.extend(stars);
        names.others.extend(bindings.dtypes.keys().cloned());
        for param in &signature.params {
            names.add(&param.name, &param.kind.host_type(), None);
        }
        let results = signature.results.iter().map(|result| (&result.name, &result.tensor));
        let own = workspaces.iter().map(|one| (&one.name.value, &one.tensor.value));
        for (name, tensor) in results.chain(own) {
            names.add_tensor(name, tensor, None);
            names.allocated.insert(name.clone());
        }
        names.workspaces = workspaces.iter().map(|one| one.name.value.clone()).collect();
        names.lend(bindings);
        names
    }

    /// Finds the integers whose value may be another one than what was passed for them: a dim that
    /// they share the name with, where they are absent.
    fn lend(&mut self, bindings: &Bindings) {
        for (path, dtype) in &self.ints {
            let Some(binding) = bindings.symbols.get(path) else { continue };
            let may_be_absent = self.optional_ints.contains(path);
            let is_shared = binding.sharing.is_some();
            let own = range(*dtype);
            match (is_shared, binding.path == *path) {
                (true, _) => _ = self.lent.insert(path.clone(), own.either(Facts::NON_NEGATIVE)),
                (false, true) => {}
                (false, false) if may_be_absent => {
                    self.lent.insert(path.clone(), Facts::NON_NEGATIVE);
                }
                (false, false) => {}
            }
        }
    }

    fn add(&mut self, path: &str, host_type: &HostType, holder: Option<&str>) {
        // A symbol of that name may have its value from elsewhere.
        if let Some(holder) = holder.filter(|_| !self.symbols.contains(path)) {
            self.optional.insert(path.to_string(), holder.to_string());
        }
        match host_type {
            HostType::Tensor(tensor) => self.add_tensor(path, tensor, holder),
            HostType::Int(DType::UINT64) | HostType::Float(_) | HostType::String => {
                self.others.insert(path.to_string());
            }
            HostType::Int(dtype) => {
                self.ints.insert(path.to_string(), *dtype);
                if holder.is_some() {
                    self.optional_ints.insert(path.to_string());
                }
            }
            HostType::Shape(dims) => {
                self.add_dims(path, dims, holder.is_some(), Field::Element);
                // Rules name elements as they name symbols.
                let n_dims = dims.len() as i64;
                for (i, holder) in (-n_dims..n_dims).zip(holder.into_iter().cycle()) {
                    self.optional.insert(format!("{path}[{i}]"), holder.to_string());
                }
            }
            HostType::Tuple(elements) => {
                for (i, (name, element)) in elements.iter().enumerate() {
                    self.add(&element_path(path, i, name.as_deref()), element, holder);
                }
            }
            HostType::Optional(inner) => self.add(path, inner, Some(path)),
            HostType::Pointer(pointer) => {
                self.pointers.extend(pointer.align.map(|align| (path.to_string(), align)));
            }
            HostType::EnvStream | HostType::Stream | HostType::DataType | HostType::Literal(_) => {}
        }
    }

    fn add_tensor(&mut self, path: &str, tensor: &Tensor, holder: Option<&str>) {
        let is_optional = holder.is_some();
        self.add_dims(path, tensor.dims(), is_optional, Field::Shape);
        let (path, tensor) = (path.to_string(), tensor.clone());
        self.tensors.push(Named { path, tensor, is_optional });
    }

    fn add_dims(&mut self, path: &str, dims: &[Dim], is_optional: bool, field: fn(i64) -> Field) {
        let rank = Rank::of(dims);
        if let Some(rank) = rank.fixed() {
            self.ranks.insert(path.to_string(), rank);
        }
        for (i, dim) in dims.iter().enumerate() {
            let name = format!("{path}{}", field(rank.number(i)));
            match dim {
                Dim::Expr(expr) => self.fields.push((name, expr.clone())),
                Dim::Star(Star { name: Some(star), .. }) => {
                    let of_star = Expr::Field(star.clone(), Field::Numel, Span::default());
                    self.fields.push((format!("{path}{}", Field::Numel), of_star));
                }
                Dim::Any | Dim::Star(_) => {}
            }
        }
        // Where nothing is given the fields are 0, whatever the dims are.
        let written = if is_optional { &[] } else { dims };
        for (i, dim) in written.iter().enumerate() {
            let name = format!("{path}{}", field(rank.number(i)));
            match dim {
                Dim::Expr(expr) => _ = self.values.insert(name, expr.clone()),
                Dim::Any => _ = self.symbols.insert(name),
                Dim::Star(_) => {}
            }
        }
    }

    /// The numbers that are related by being of one tensor's dim, and the extents of tensors that
    /// every call has.
    pub fn relations(&self) -> Relations {
        let mut relations = Relations::default();
        for (name, value) in &self.fields {
            relations.relate_field(name.clone(), value);
        }
        for Named { path, tensor, is_optional } in &self.tensors {
            let rank = Rank::of(tensor.dims());
            let names = (0..tensor.dims().len()).map(|i| rank.number(i));
            let names = names.map(|mode| format!("{path}{}", Field::Shape(mode)));
            relations.add_numel(format!("{path}{}", Field::Numel), names.collect());
            for (i, dim) in tensor.dims().iter().enumerate() {
                let mode = rank.number(i);
                if let Dim::Expr(expr) = dim
                    && !is_optional
                {
                    relations.add_extent(path, mode, expr.clone());
                }
            }
        }
        relations
    }

    /// The value of a Shape's element, where that is an expression in other names.
    pub fn value_of(&self, name: &str) -> Option<&Expr> {
        self.values.get(name)
    }

    /// The value of a field, where that is an expression in other names.
    pub fn value_of_field(&self, path: &str, field: Field) -> Option<&Expr> {
        self.values.get(&format!("{path}{}", self.forward(path, field)))
    }

    /// A field counted from the first dim, where the rank is known.
    pub fn forward(&self, path: &str, field: Field) -> Field {
        let rank = self.ranks.get(path).map(|rank| *rank as i64);
        let forward = |i: i64| rank.filter(|_| i < 0).map_or(i, |rank| rank + i);
        match field {
            Field::Shape(i) => Field::Shape(forward(i)),
            Field::Stride(i) => Field::Stride(forward(i)),
            Field::Element(i) => Field::Element(forward(i)),
            Field::Numel | Field::Ndim | Field::Given => field,
        }
    }

    /// The facts about a name's value.
    pub fn facts_of(&self, name: &Expr) -> Facts {
        match name {
            Expr::Symbol(name, _) => match (self.lent.get(name), self.ints.get(name)) {
                (Some(facts), _) => *facts,
                (None, Some(dtype)) => range(*dtype),
                (None, None) if self.symbols.contains(name) => Facts::NON_NEGATIVE,
                // An attribute of a device is an `int` of the driver's, as is a number of blocks.
                (None, None) if DeviceFact::named(name).is_some() || max_blocks::is_name(name) => {
                    Facts { divisor: 1, min: 1, max: i32::MAX.into() }
                }
                (None, None) => Facts::NONE,
            },
            Expr::Field(_, field, _) => match field {
                Field::Given => Facts { divisor: 1, min: 0, max: 1 },
                Field::Ndim => Facts { divisor: 1, min: 0, max: MOST_TURNS },
                // A compact stride may be more than 64 bits hold.
                Field::Stride(_) => Facts::NONE,
                Field::Shape(_) | Field::Numel | Field::Element(_) => Facts::NON_NEGATIVE,
            },
            Expr::Int(_) | Expr::Binary(..) => Facts::NONE,
        }
    }

    /// The type that an integer parameter arrives as, where its value is what arrives.
    pub fn int_type(&self, name: &str) -> Option<DType> {
        self.ints.get(name).copied().filter(|_| !self.lent.contains_key(name))
    }

    /// The tensors, in order.
    pub fn tensors(&self) -> &[Named] {
        &self.tensors
    }

    /// The pointers of which the signature says what their address is a multiple of, with that.
    pub fn pointers(&self) -> &[(String, u32)] {
        &self.pointers
    }

    /// Whether only strides give a symbol its value.
    pub fn is_stride(&self, symbol: &str) -> bool {
        self.strides.contains(symbol)
    }

    /// The symbols that only strides give a value.
    pub fn strides(&self) -> impl Iterator<Item = &str> {
        self.strides.iter().map(String::as_str)
    }

    /// Whether some rule may be left out in a call: what it names is absent, or a stride that no
    /// step takes.
    pub fn may_leave_out(&self) -> bool {
        !self.optional.is_empty() || !self.strides.is_empty()
    }

    /// Whether a tensor is the call's own.
    pub fn is_allocated(&self, path: &str) -> bool {
        self.allocated.contains(path)
    }

    /// Whether a tensor is the call's own and no result.
    pub fn is_workspace(&self, path: &str) -> bool {
        self.workspaces.contains(path)
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

    /// The holder, which decides whether there is what a name is of, where that may be absent. That
    /// it is given is known either way.
    pub fn holder(&self, name: &Name) -> Option<&str> {
        let is_there = name.field == Some(Field::Given);
        let of = name.param.as_ref().unwrap_or(&name.text);
        self.optional.get(of).filter(|_| !is_there).map(String::as_str)
    }
}

/// The numbers of a type, of which those without a sign have fewer than 64 bits.
fn range(dtype: DType) -> Facts {
    integers(dtype).into()
}
