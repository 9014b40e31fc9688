// SPDX-License-Identifier: Apache-2.0
//! Random rules over what a signature names, as text.

use super::other::Other;
use super::signature::{DIMS, Dim, Drawn, Kind, STRIDES, Strides, Tensor, Vocabulary};
use crate::random_plan::Rng;

/// How deep `and`, `or` and `not` stand in one another.
const DEPTH: usize = 2;

/// What rules and launches may name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Symbols, fields, integers.
    pub numbers: Vec<String>,
    /// The paths of Optionals.
    pub optionals: Vec<String>,
    /// The paths of tensors.
    pub tensors: Vec<String>,
    /// The paths of what is no integer of expressions.
    others: Vec<(String, Other)>,
    /// Whether there is a dtype variable.
    has_dtype: bool,
}

impl Names {
    /// What a signature has.
    pub fn of(drawn: &Drawn) -> Names {
        let mut names = Names::default();
        for (name, kind) in &drawn.params {
            names.add(name, kind);
        }
        names.numbers.sort();
        names.numbers.dedup();
        names
    }

    /// What the packed function of a signature can ask about: what calls pass in any case, and
    /// whether Optionals are given.
    pub fn of_packed(drawn: &Drawn, vocabulary: Vocabulary) -> Names {
        let mut names = Names::default();
        for (name, kind) in &drawn.params {
            names.add_packed(name, kind, vocabulary);
        }
        names
    }

    fn add_packed(&mut self, path: &str, kind: &Kind, vocabulary: Vocabulary) {
        match kind {
            Kind::Tensor(tensor) => {
                self.tensors.push(path.to_string());
                if !tensor.has_star() {
                    let fields = (0..tensor.dims.len()).map(|i| format!("{path}.shape[{i}]"));
                    self.numbers.extend(fields);
                }
                if !tensor.has_star() && vocabulary == Vocabulary::Whole {
                    let differs = |i: &usize| tensor.stride(path, *i).contains(char::is_alphabetic);
                    let places = (0..tensor.dims.len()).filter(differs);
                    self.numbers.extend(places.map(|i| format!("{path}.strides[{i}]")));
                }
            }
            Kind::Int(_) => self.numbers.push(path.to_string()),
            Kind::Other(other) => self.others.push((path.to_string(), *other)),
            Kind::Tuple(parts) => {
                for (i, (name, kind)) in parts.iter().enumerate() {
                    self.add_packed(&part(path, i, *name), kind, vocabulary);
                }
            }
            Kind::Optional(_) => self.optionals.push(path.to_string()),
            Kind::Shape(_) => {}
        }
    }

    fn add(&mut self, path: &str, kind: &Kind) {
        match kind {
            Kind::Tensor(tensor) => self.add_tensor(path, tensor),
            Kind::Int(_) => self.numbers.push(path.to_string()),
            Kind::Other(other) => self.others.push((path.to_string(), *other)),
            Kind::Shape(dims) => {
                self.add_dims(path, dims, "[");
            }
            Kind::Tuple(parts) => {
                for (i, (name, kind)) in parts.iter().enumerate() {
                    self.add(&part(path, i, *name), kind);
                }
            }
            Kind::Optional(inner) => {
                self.optionals.push(path.to_string());
                self.add(path, inner);
            }
        }
    }

    fn add_tensor(&mut self, path: &str, tensor: &Tensor) {
        self.tensors.push(path.to_string());
        self.has_dtype |= tensor.dtype == "T";
        self.add_dims(path, &tensor.dims, ".shape[");
        if !tensor.has_star() {
            let fields = (0..tensor.dims.len()).map(|i| format!("{path}.strides[{i}]"));
            self.numbers.extend(fields);
        }
        if let Strides::Dims(strides) = &tensor.strides {
            strides.iter().for_each(|dim| self.add_symbols(*dim));
        }
    }

    fn add_dims(&mut self, path: &str, dims: &[Dim], field: &str) {
        dims.iter().for_each(|dim| self.add_symbols(*dim));
        if !dims.iter().any(|dim| matches!(dim, Dim::Star)) {
            self.numbers.extend((0..dims.len()).map(|i| format!("{path}{field}{i}]")));
        }
    }

    fn add_symbols(&mut self, dim: Dim) {
        match dim {
            Dim::Symbol(name) | Dim::Affine(name, ..) => self.numbers.push(name.to_string()),
            Dim::Product(a, b) => self.numbers.extend([a, b].map(str::to_string)),
            Dim::Star => self.numbers.push("b.ndim".to_string()),
            Dim::Int(_) | Dim::Any => {}
        }
    }

    /// A rule of a signature, or of a condition, which cannot ask whether tensors share memory.
    pub fn rule(&self, rng: &mut Rng, is_of_signature: bool) -> String {
        self.rule_in(rng, is_of_signature, 0)
    }

    fn rule_in(&self, rng: &mut Rng, is_of_signature: bool, depth: usize) -> String {
        let part = |rng: &mut Rng| self.rule_in(rng, is_of_signature, depth + 1);
        match rng.below(16) {
            0..=2 if depth < DEPTH => format!("({} and {})", part(rng), part(rng)),
            3 | 4 if depth < DEPTH => format!("({} or {})", part(rng), part(rng)),
            5 if depth < DEPTH => format!("not ({})", part(rng)),
            6 | 7 if !self.tensors.is_empty() => {
                format!("aligned({}, {})", self.tensor(rng), rng.pick(&[4, 16, 32]))
            }
            8 | 9 if self.tensors.len() > 1 && is_of_signature => {
                let (first, second) = (self.tensor(rng), self.tensor(rng));
                match first == second {
                    true => self.comparison(rng),
                    false => format!("noalias({first}, {second})"),
                }
            }
            10 if !self.optionals.is_empty() => {
                let path = &self.optionals[rng.below(self.optionals.len())];
                format!("{path}.given == {}", rng.below(2))
            }
            11 if self.has_dtype => "T == float32".to_string(),
            12 | 13 if !self.others.is_empty() => {
                let (path, other) = &self.others[rng.below(self.others.len())];
                other.rule(rng, path).unwrap_or_else(|| self.comparison(rng))
            }
            _ => self.comparison(rng),
        }
    }

    fn tensor(&self, rng: &mut Rng) -> &str {
        &self.tensors[rng.below(self.tensors.len())]
    }

    pub fn number(&self, rng: &mut Rng) -> String {
        match self.numbers.len() {
            0 => rng.pick(&DIMS).to_string(),
            // Symbols more often than what names the same.
            _ if rng.sixteenths(5) => {
                let all = [&DIMS[..], &STRIDES].concat();
                let there = |name: &&str| self.numbers.iter().any(|number| number == name);
                let symbols: Vec<_> = all.into_iter().filter(there).collect();
                match symbols.len() {
                    0 => self.numbers[rng.below(self.numbers.len())].clone(),
                    n => symbols[rng.below(n)].to_string(),
                }
            }
            n => self.numbers[rng.below(n)].clone(),
        }
    }

    fn comparison(&self, rng: &mut Rng) -> String {
        let number = self.number(rng);
        let small = rng.pick(&[0, 1, 2, 4, 5, 8, 16, 64]);
        match rng.below(10) {
            0..=2 => format!("{number} % {} == 0", rng.pick(&[2, 4, 8, 16])),
            3 => format!("{number} == {small}"),
            4 => format!("{number} {} {small}", rng.pick(&["<", "<=", ">", ">=", "!="])),
            5 => format!("{number} in {{{small}, {}, 16}}", small + 4),
            6 => {
                let other = self.number(rng);
                let comparison = rng.pick(&["<", "<=", ">", ">=", "!=", "=="]);
                format!("{number} {comparison} {other}")
            }
            7 => format!("{}*{number} + {small} <= 100", rng.pick(&[1, 2, 3])),
            8 => {
                let other = self.number(rng);
                let op = rng.pick(&["*", "+", "-", "%", "//"]);
                format!("{number} {op} {other} {} {small}", rng.pick(&["<=", ">=", "=="]))
            }
            _ => {
                let other = self.number(rng);
                format!("{number} == {}*{other}", rng.pick(&[1, 2, 4]))
            }
        }
    }
}

/// The path of a tuple's element.
pub(super) fn part(path: &str, number: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{path}.{name}"),
        None => format!("{path}[{number}]"),
    }
}
