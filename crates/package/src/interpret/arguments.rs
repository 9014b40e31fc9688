// SPDX-License-Identifier: Apache-2.0
//! Arguments that are made of a signature, and of what is said of its dims, dtypes and scalars.
//!
//! A value that is not given and does not follow is a problem that names it. Tensors are compact
//! where the signature leaves it open, Optionals are given unless it is said that they are `None`,
//! and of dtypes the first combination that fits is taken. Of a pointer it is said how many
//! elements lie there.

use super::array::{self, Array};
use super::tensor::row_major;
use super::{InterpretedTensor, Role, Wanted};
use kernpack_ffi_abi::DType;
use kernpack_kernel_ir::Scalar;
use kernpack_syntax::{Diagnostic, Diagnostics};
use kernpack_validators::described::{Described, DescribedTensor, data_at};
use kernpack_validators::dim::{Dim, Star};
use kernpack_validators::expr::Expr;
use kernpack_validators::host_type::element_path;
use kernpack_validators::param::{Pointer, Strides, Tensor, TensorDType};
use kernpack_validators::{HostType, Literal, Signature};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The arguments of a call.
pub(super) struct Arguments {
    /// They, as the plan checks them.
    pub described: Vec<Described>,
    /// The tensors among them, in order, and those that stand for what pointers lead to.
    pub tensors: Vec<InterpretedTensor>,
    /// The dtypes of the dtype variables.
    pub row: BTreeMap<String, DType>,
}

/// The element type of a tensor.
pub(super) fn dtype(tensor: &Tensor, row: &BTreeMap<String, DType>) -> Scalar {
    let dtype = match tensor.dtype() {
        TensorDType::Fixed(dtype) => Some(*dtype),
        TensorDType::Var(var, _) => row.get(var).copied(),
    };
    // Bytes stand for what no kernel has.
    dtype.and_then(Scalar::of).unwrap_or(Scalar::U8)
}

impl Arguments {
    /// Makes them.
    ///
    /// # Errors
    /// Values that are not known, and values for things that are not there.
    pub fn make(signature: &Signature, wanted: &Wanted) -> Result<Arguments, Diagnostics> {
        let bindings = signature.resolve()?;
        let follows = array::follows(wanted, &bindings);
        let pairs = follows.iter().chain(&wanted.values);
        let said: HashMap<&str, &str> =
            pairs.map(|(name, value)| (&name[..], &value[..])).collect();
        // Nobody has to ask for what follows.
        let said_too = |name: &String| wanted.values.iter().any(|(said, _)| said == name);
        let used = follows.iter().map(|(name, _)| name.clone()).filter(|name| !said_too(name));
        let mut maker = Maker {
            said: &said,
            wanted,
            used: RefCell::new(used.collect()),
            row: BTreeMap::new(),
            tensors: vec![],
            problems: Diagnostics::default(),
            missing: BTreeSet::new(),
        };
        maker.choose_dtypes(signature);
        let mut described = Vec::new();
        for (_, param) in signature.arguments() {
            let host_type = param.kind.host_type();
            described.push(maker.argument(&param.name, &host_type, param.default.as_ref()));
        }
        maker.finish(signature)?;
        let described = described.into_iter().map(|one| one.unwrap_or(Described::None)).collect();
        Ok(Arguments { described, tensors: maker.tensors, row: maker.row })
    }
}

struct Maker<'w> {
    said: &'w HashMap<&'w str, &'w str>,
    wanted: &'w Wanted,
    /// The part of it that was asked for.
    used: RefCell<BTreeSet<String>>,
    row: BTreeMap<String, DType>,
    tensors: Vec<InterpretedTensor>,
    problems: Diagnostics,
    /// The names without a value.
    missing: BTreeSet<String>,
}

impl Maker<'_> {
    fn said(&self, name: &str) -> Option<&str> {
        let value = self.said.get(name).copied();
        if value.is_some() {
            self.used.borrow_mut().insert(name.to_string());
        }
        value
    }

    fn parsed<T: std::str::FromStr>(&mut self, name: &str, expected: &str) -> Option<T> {
        let text = self.said(name)?.to_string();
        let value = text.parse().ok();
        if value.is_none() {
            self.wrong(name, expected, &text);
        }
        value
    }

    fn wrong(&mut self, name: &str, expected: &str, found: &str) {
        let message = format!("`{name}` is {expected}, found `{found}`");
        self.problems.push(Diagnostic::new("bad-value", message));
    }

    /// Notes a value that is not known, which ends a call; the first that is missed stands for it.
    fn miss<T>(&mut self, name: &str) -> Option<T> {
        self.missing.insert(name.to_string());
        None
    }

    /// The first combination of dtypes that fits what is said.
    fn choose_dtypes(&mut self, signature: &Signature) {
        let Ok(bindings) = signature.resolve() else { return };
        let vars: Vec<_> = bindings.dtypes.keys().cloned().collect();
        let mut rows = bindings.combinations(&signature.rules);
        for (place, var) in vars.iter().enumerate() {
            let Some(name) = self.said(var).map(str::to_string) else { continue };
            match DType::parse(&name) {
                Some(dtype) if rows.iter().any(|row| row[place] == dtype) => {
                    rows.retain(|row| row[place] == dtype);
                }
                _ => {
                    let allowed: Vec<_> = rows.iter().map(|row| row[place].to_string()).collect();
                    self.wrong(var, &format!("one of {}", allowed.join(", ")), &name);
                }
            }
        }
        if let Some(row) = rows.into_iter().next() {
            self.row = vars.into_iter().zip(row).collect();
        }
    }

    fn argument(
        &mut self,
        path: &str,
        host_type: &HostType,
        default: Option<&Literal>,
    ) -> Option<Described> {
        match host_type {
            HostType::Tensor(tensor) => self.tensor(path, tensor),
            HostType::Int(DType::BOOL) => match (self.said(path), default) {
                (Some("true" | "True" | "1"), _) => Some(Described::Bool(true)),
                (Some("false" | "False" | "0"), _) => Some(Described::Bool(false)),
                (Some(other), _) => {
                    let other = other.to_string();
                    self.wrong(path, "`true` or `false`", &other);
                    None
                }
                (None, default) => self.default(path, default),
            },
            HostType::Int(_) => match self.said(path) {
                Some(_) => self.parsed(path, "an integer").map(Described::Int),
                None => self.default(path, default),
            },
            HostType::Float(_) => match self.said(path) {
                Some(_) => self.parsed(path, "a number").map(Described::Float),
                None => self.default(path, default),
            },
            HostType::String => match self.said(path) {
                Some(text) => Some(Described::Text(text.to_string())),
                None => self.default(path, default),
            },
            HostType::DataType => self.row.get(path).copied().map(Described::DType),
            HostType::Shape(dims) => {
                let elements = self.extents(path, dims, true)?;
                Some(Described::Shape(elements))
            }
            HostType::Tuple(elements) => {
                let elements = elements.iter().enumerate().map(|(i, (name, element))| {
                    let part = element_path(path, i, name.as_deref());
                    self.argument(&part, element, None)
                });
                let elements: Vec<_> = elements.collect();
                elements.into_iter().collect::<Option<_>>().map(Described::Tuple)
            }
            HostType::Optional(inner) => match self.said(path) {
                Some("None") => Some(Described::None),
                _ => self.argument(path, inner, default),
            },
            HostType::Pointer(pointer) => self.pointer(path, *pointer, default),
            HostType::Stream => Some(Described::Pointer(0)),
            HostType::Literal(literal) => Some(of_literal(literal)),
            HostType::EnvStream => Some(Described::None),
        }
    }

    fn default(&mut self, path: &str, default: Option<&Literal>) -> Option<Described> {
        match default {
            Some(literal) => Some(of_literal(literal)),
            None => self.miss(path),
        }
    }

    /// A tensor that is given.
    fn given(&mut self, path: &str, tensor: &Tensor, array: &Array) -> Option<Described> {
        self.used.borrow_mut().insert(path.to_string());
        if let Err(problem) = array.check(path, tensor) {
            self.problems.push(problem);
            return None;
        }
        let (dtype, shape, strides) = (array.dtype, array.shape.clone(), array.strides.clone());
        let role = if tensor.is_mutable() { Role::Written } else { Role::Read };
        let element = Scalar::of(dtype).unwrap_or(Scalar::U8);
        let made = InterpretedTensor::compact(path, element, &shape, role);
        let data = self.place(InterpretedTensor { strides: strides.clone(), ..made });
        let (strides, device, data) = (Some(strides), None, Some(data));
        Some(Described::Tensor(DescribedTensor { dtype, shape, strides, device, data }))
    }

    fn tensor(&mut self, path: &str, tensor: &Tensor) -> Option<Described> {
        if let Some(array) = self.wanted.array(path) {
            return self.given(path, tensor, array);
        }
        let shape = self.extents(path, tensor.dims(), false)?;
        let strides = self.strides(path, tensor, &shape)?;
        let role = if tensor.is_mutable() { Role::Written } else { Role::Read };
        let element = dtype(tensor, &self.row);
        let made = InterpretedTensor::compact(path, element, &shape, role);
        let data = self.place(InterpretedTensor { strides: strides.clone(), ..made });
        let dtype = match tensor.dtype() {
            TensorDType::Fixed(dtype) => *dtype,
            TensorDType::Var(var, _) => self.row.get(var).copied()?,
        };
        let strides = Some(strides);
        let (device, data) = (None, Some(data));
        Some(Described::Tensor(DescribedTensor { dtype, shape, strides, device, data }))
    }

    /// The address of a tensor, which has its place behind all others.
    fn place(&mut self, tensor: InterpretedTensor) -> u64 {
        self.tensors.push(tensor);
        data_at(self.tensors.len() - 1, 0)
    }

    /// An address: of memory with so many elements, or of an array, which the kernel may write.
    fn pointer(
        &mut self,
        path: &str,
        pointer: Pointer,
        default: Option<&Literal>,
    ) -> Option<Described> {
        if let Some(array) = self.wanted.array(path) {
            self.used.borrow_mut().insert(path.to_string());
            if let Err(problem) = array.check_dtype(path, pointer.dtype.unwrap_or(array.dtype)) {
                self.problems.push(problem);
                return None;
            }
            let element = Scalar::of(array.dtype).unwrap_or(Scalar::U8);
            let made = InterpretedTensor::compact(path, element, &array.shape, Role::Written);
            let strides = array.strides.clone();
            return Some(Described::Pointer(self.place(InterpretedTensor { strides, ..made })));
        }
        match (self.said(path), pointer.dtype.map(|dtype| Scalar::of(dtype).unwrap_or(Scalar::U8)))
        {
            (Some("None"), _) | (None, None) => Some(Described::None),
            (None, Some(_)) => self.default(path, default),
            (Some(_), of) => {
                let expected = "how many elements lie there, or `None`";
                let count = self.parsed::<u32>(path, expected)?;
                let element = of.unwrap_or(Scalar::U8);
                let shape = [count.into()];
                let made = InterpretedTensor::compact(path, element, &shape, Role::Written);
                Some(Described::Pointer(self.place(made)))
            }
        }
    }

    /// Extents of a tensor, or the elements of a Shape.
    fn extents(&mut self, path: &str, dims: &[Dim], is_shape: bool) -> Option<Vec<i64>> {
        let field = |i: usize| if is_shape { "".to_string() } else { format!(".shape[{i}]") };
        let mut extents = Vec::new();
        let mut all_known = true;
        for (i, dim) in dims.iter().enumerate() {
            let name =
                if is_shape { format!("{path}[{i}]") } else { format!("{path}{}", field(i)) };
            match dim {
                Dim::Expr(expr) => match self.value(expr) {
                    Some(value) => extents.push(value),
                    None => all_known = false,
                },
                Dim::Any => match self.parsed(&name, "an integer") {
                    Some(value) => extents.push(value),
                    None => {
                        self.miss::<()>(&name);
                        all_known = false;
                    }
                },
                Dim::Star(star) => match self.star(star, path) {
                    Some(values) => extents.extend(values),
                    None => all_known = false,
                },
            }
        }
        all_known.then_some(extents)
    }

    /// The dims of a star: `b=2,3`, and `b=` for none.
    fn star(&mut self, star: &Star, path: &str) -> Option<Vec<i64>> {
        let name = star.name.clone().unwrap_or_else(|| format!("{path}.shape[*]"));
        let Some(text) = self.said(&name).map(str::to_string) else { return self.miss(&name) };
        self.list(&name, &text)
    }

    fn list(&mut self, name: &str, text: &str) -> Option<Vec<i64>> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let values: Option<Vec<i64>> = items.map(|item| item.parse().ok()).collect();
        if values.is_none() {
            self.wrong(name, "a list of integers, such as `2,3`", text);
        }
        values
    }

    /// The value of a dim.
    fn value(&mut self, expr: &Expr) -> Option<i64> {
        let mut values = HashMap::new();
        for name in expr.names() {
            let star = name.param.as_ref().filter(|_| name.field.is_some());
            let value = match star {
                Some(star) => self.star_field(star, &name.text),
                None => self.parsed(&name.text, "an integer"),
            };
            match value {
                Some(value) => _ = values.insert(name.text, value),
                None if self.said.contains_key(&name.text[..]) => return None,
                None => return self.miss(star.unwrap_or(&name.text)),
            }
        }
        let value = expr.value(&|name| values.get(name).copied());
        if value.is_none() {
            let message = format!("`{expr}` has no value for these dims");
            self.problems.push(Diagnostic::new("bad-value", message));
        }
        value
    }

    /// `b.numel` or `b.ndim`.
    fn star_field(&mut self, star: &str, field: &str) -> Option<i64> {
        let text = self.said(star)?.to_string();
        let dims = self.list(star, &text)?;
        match field.ends_with(".ndim") {
            true => Some(dims.len() as i64),
            false => Some(dims.iter().product()),
        }
    }

    fn strides(&mut self, path: &str, tensor: &Tensor, shape: &[i64]) -> Option<Vec<i64>> {
        let n_dims = shape.len();
        let name = format!("{path}.strides");
        if let Some(text) = self.said(&name).map(str::to_string) {
            // What the signature says of them is checked as in any other call.
            let strides = self.list(&name, &text)?;
            if strides.len() == n_dims && strides.iter().all(|stride| *stride >= 0) {
                return Some(strides);
            }
            self.wrong(&name, "a stride of 0 or more for each dim", &text);
            return None;
        }
        match tensor.strides_wanted() {
            Strides::Compact(order) => {
                let fastest = order.fastest_first(n_dims).unwrap_or_default();
                let mut strides = row_major(shape);
                let mut next = 1_i64;
                for dim in fastest {
                    strides[dim] = next;
                    next = next.saturating_mul(shape[dim]);
                }
                Some(strides)
            }
            Strides::Any => Some(row_major(shape)),
            Strides::Dims(written) if Star::among(tensor.dims()).is_none() => {
                let mut strides = row_major(shape);
                for (i, dim) in written.iter().enumerate() {
                    let name = format!("{path}.strides[{i}]");
                    let said = match dim {
                        Dim::Expr(expr) if self.is_known(expr) => self.value(expr),
                        Dim::Expr(_) | Dim::Star(_) => None,
                        Dim::Any => self.parsed(&name, "an integer"),
                    };
                    strides[i] = said.unwrap_or(strides[i]);
                }
                Some(strides)
            }
            Strides::Dims(_) => Some(row_major(shape)),
        }
    }

    /// Whether everything that an expression names is said.
    fn is_known(&self, expr: &Expr) -> bool {
        expr.names().iter().all(|name| self.said.contains_key(&name.text[..]))
    }

    /// Tells what is not known, and what was said in vain.
    fn finish(&mut self, signature: &Signature) -> Result<(), Diagnostics> {
        let mut problems = std::mem::take(&mut self.problems);
        if !self.missing.is_empty() {
            let names: Vec<_> = self.missing.iter().map(|name| format!("`{name}`")).collect();
            let message = format!("`{}` needs {}", signature.name, names.join(", "));
            let words: Vec<_> = self.missing.iter().map(|name| format!("{name}=…")).collect();
            let problem = Diagnostic::new("undetermined", message).at(signature.span);
            problems.push(problem.help(format!("write `{}`", words.join(" "))));
        }
        let used = self.used.borrow();
        let arrays = self.wanted.arrays.iter().map(|(name, _)| name.as_str());
        let said = self.said.keys().copied().chain(arrays);
        let mut vain: Vec<_> = said.filter(|name| !used.contains(*name)).collect();
        vain.sort();
        // Where something is missing, what is in vain may be a word for it.
        for name in vain {
            let message = format!("`{}` has nothing that is called `{name}`", signature.name);
            problems.push(Diagnostic::new("unknown-name", message).at(signature.span));
        }
        problems.into_result()
    }
}

fn of_literal(literal: &Literal) -> Described {
    match literal {
        Literal::None => Described::None,
        Literal::Bool(truth) => Described::Bool(*truth),
        Literal::Int(value) => Described::Int((*value).into()),
        Literal::Float(value) => Described::Float(*value),
        Literal::Text(text) => Described::Text(text.clone()),
        Literal::DType(dtype) => Described::DType(*dtype),
    }
}
