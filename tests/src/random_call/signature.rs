// SPDX-License-Identifier: Apache-2.0
//! Random signatures: parameters of most kinds, which share symbols; rules, results, workspaces and
//! the conditions of launches. What is drawn is kept, too, as calls are made of it.

use super::other::Other;
use super::packed::{Body, LayoutArg};
use super::rule::{self, Names};
use crate::random_plan::Rng;
use kernpack_ffi_abi::DeviceType;
use kernpack_validators::{Signature, Workspace, parse_tensor};
use std::fmt::Write;

/// The symbols of dims.
pub(super) const DIMS: [&str; 3] = ["m", "n", "k"];
/// The symbols of strides.
pub(super) const STRIDES: [&str; 2] = ["s", "t"];
/// The names of parameters.
const PARAMS: [&str; 5] = ["v", "w", "x", "y", "z"];
/// The names of workspaces.
const WORKSPACES: [&str; 2] = ["p", "q"];
/// The dtypes of tensors; `T` stands for float16 and float32.
const DTYPES: [&str; 5] = ["float32", "float16", "uint8", "float64", "T"];

/// The C types that numbers are passed as; nothing where that is the obvious one.
const C_TYPES: [Option<&str>; 7] =
    [None, None, Some("int32"), Some("uint8"), Some("uint64"), Some("float32"), Some("bool")];

/// How often a signature is drawn again that is none.
const MOST_TRIES: usize = 24;

/// What signatures are drawn of. Each seed draws one of either.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Vocabulary {
    /// Tensors, Shapes and integers.
    Small,
    /// Also what is no integer of expressions (`Other`), defaults, workspaces, numbers that are
    /// passed as a C type, and layouts.
    Whole,
}

/// A dim or a stride, as it is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dim {
    Int(i64),
    Symbol(&'static str),
    /// `2*n + 1`
    Affine(&'static str, i64, i64),
    /// `m*n`
    Product(&'static str, &'static str),
    /// `_`
    Any,
    /// `*b`
    Star,
}

/// What is said of a tensor's strides.
#[derive(Clone, Debug)]
pub(super) enum Strides {
    Row,
    Col,
    Any,
    Dims(Vec<Dim>),
}

/// A tensor.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub dims: Vec<Dim>,
    pub dtype: &'static str,
    pub strides: Strides,
    pub align: Option<u32>,
    pub is_mutable: bool,
}

/// A parameter's kind.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Tensor(Tensor),
    Int(&'static str),
    Other(Other),
    Shape(Vec<Dim>),
    Tuple(Vec<(Option<&'static str>, Kind)>),
    Optional(Box<Kind>),
}

/// A signature, with the conditions of its launches.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub(super) params: Vec<(&'static str, Kind)>,
    /// The defaults of the last parameters.
    pub(super) defaults: Vec<&'static str>,
    pub(super) result: Option<Tensor>,
    pub(super) workspaces: Vec<(&'static str, Tensor)>,
    pub(super) rules: Vec<String>,
    /// The condition of each launch; nothing where it always runs.
    pub(super) whens: Vec<Option<String>>,
    /// What its packed function does.
    pub(super) body: Body,
    /// The same with assertions, where some were drawn.
    pub(super) asserting: Option<Body>,
    /// The layouts that it passes, too.
    pub(super) layouts: Vec<LayoutArg>,
    /// The C types that numbers are passed as in launches of a package file, in turn.
    pub(super) c_types: Vec<Option<&'static str>>,
}

impl Dim {
    fn text(self) -> String {
        match self {
            Dim::Int(value) => value.to_string(),
            Dim::Symbol(name) => name.to_string(),
            Dim::Affine(name, scale, 0) => format!("{scale}*{name}"),
            Dim::Affine(name, 1, offset) => format!("{name} + {offset}"),
            Dim::Affine(name, scale, offset) => format!("{scale}*{name} + {offset}"),
            Dim::Product(a, b) => format!("{a}*{b}"),
            Dim::Any => "_".to_string(),
            Dim::Star => "*b".to_string(),
        }
    }
}

fn list(dims: &[Dim]) -> String {
    dims.iter().map(|dim| dim.text()).collect::<Vec<_>>().join(", ")
}

impl Tensor {
    pub(super) fn text(&self) -> String {
        let Tensor { dims, dtype, strides, align, is_mutable } = self;
        let mut text = format!("Tensor([{}], {dtype}", list(dims));
        text += &match strides {
            Strides::Row => String::new(),
            Strides::Col => ", order=col".to_string(),
            Strides::Any => ", strides=any".to_string(),
            Strides::Dims(strides) => format!(", strides=[{}]", list(strides)),
        };
        text += &align.map(|align| format!(", align={align}")).unwrap_or_default();
        text + if *is_mutable { ", mut)" } else { ")" }
    }

    /// The number that `x.stride[i]` stands for in a packed function, where the tensor is `x`.
    pub(super) fn stride(&self, path: &str, i: usize) -> String {
        let own = format!("{path}.strides[{i}]");
        let compact = |inner: &mut dyn Iterator<Item = usize>| {
            let extents: Vec<_> = inner.map(|i| format!("{path}.shape[{i}]")).collect();
            if extents.is_empty() { "1".to_string() } else { format!("({})", extents.join("*")) }
        };
        match &self.strides {
            Strides::Row => compact(&mut (i + 1..self.dims.len()).rev()),
            Strides::Col => compact(&mut (0..i)),
            Strides::Any => own,
            Strides::Dims(strides) => match strides[i] {
                Dim::Any | Dim::Star => own,
                written => format!("({})", written.text()),
            },
        }
    }

    pub(super) fn has_star(&self) -> bool {
        self.dims.iter().any(|dim| matches!(dim, Dim::Star))
    }
}

impl Kind {
    fn text(&self) -> String {
        match self {
            Kind::Tensor(tensor) => tensor.text(),
            Kind::Int(dtype) => dtype.to_string(),
            Kind::Other(other) => other.text().to_string(),
            Kind::Shape(dims) => format!("Shape([{}])", list(dims)),
            Kind::Tuple(parts) => {
                let part = |(name, kind): &(Option<&str>, Kind)| match name {
                    Some(name) => format!("{name}: {}", kind.text()),
                    None => kind.text(),
                };
                let parts: Vec<_> = parts.iter().map(part).collect();
                format!("Tuple({})", parts.join(", "))
            }
            Kind::Optional(inner) => format!("Optional[{}]", inner.text()),
        }
    }
}

impl Kind {
    /// Whether a kernel can be passed it: none gets a String.
    fn is_passed(&self) -> bool {
        match self {
            Kind::Other(other) => *other != Other::Text,
            Kind::Tuple(parts) => parts.iter().all(|(_, kind)| kind.is_passed()),
            Kind::Optional(inner) => inner.is_passed(),
            Kind::Tensor(_) | Kind::Int(_) | Kind::Shape(_) => true,
        }
    }

    fn tensor(&self, own: &str, path: &str) -> Option<&Tensor> {
        match self {
            Kind::Tensor(tensor) => (own == path).then_some(tensor),
            Kind::Tuple(parts) => parts
                .iter()
                .enumerate()
                .find_map(|(i, (name, kind))| kind.tensor(&rule::part(own, i, *name), path)),
            Kind::Int(_) | Kind::Other(_) | Kind::Shape(_) | Kind::Optional(_) => None,
        }
    }
}

impl Drawn {
    /// A signature.
    pub fn new(rng: &mut Rng, vocabulary: Vocabulary) -> Drawn {
        let mut drawn = Drawn::without_rules(rng, vocabulary);
        for _ in 0..MOST_TRIES {
            if drawn.is_sound() {
                break;
            }
            drawn = Drawn::without_rules(rng, vocabulary);
        }
        let names = Names::of(&drawn);
        for _ in 0..rng.below(4) {
            drawn.rules.push(names.rule(rng, true));
            // One that can never hold is refused.
            if !drawn.is_sound() {
                drawn.rules.pop();
            }
        }
        let n_launches = 1 + rng.below(3);
        drawn.whens = (0..n_launches).map(|number| when(rng, &names, number)).collect();
        let names = Names::of_packed(&drawn, vocabulary);
        drawn.body = Body::new(rng, &names);
        // From numbers of its own, so that all else is as without.
        drawn.asserting = drawn.body.asserting(&mut rng.clone(), &names);
        if vocabulary == Vocabulary::Whole {
            drawn.add_rest(rng);
        }
        drawn
    }

    fn without_rules(rng: &mut Rng, vocabulary: Vocabulary) -> Drawn {
        let mut params = Vec::new();
        for name in &PARAMS[..1 + rng.below(4)] {
            params.push((*name, kind(rng, vocabulary, 0)));
        }
        if rng.sixteenths(4) {
            // An integer that has the name of a dim, too.
            let name = rng.pick(&DIMS);
            params.push((name, optional(rng, 6, int)));
        }
        if rng.sixteenths(3) {
            let place = rng.below(params.len());
            params.rotate_left(place);
        }
        let result = rng.sixteenths(4).then(|| result(rng));
        let (rules, whens, workspaces) = (vec![], vec![], vec![]);
        let (defaults, layouts, c_types) = (vec![], vec![], vec![]);
        let (body, asserting) = (Body::Launch(0), None);
        Drawn {
            params,
            defaults,
            result,
            workspaces,
            rules,
            whens,
            body,
            asserting,
            layouts,
            c_types,
        }
    }

    /// Draws what changes nothing of the rest: defaults, workspaces, and what launches are passed.
    fn add_rest(&mut self, rng: &mut Rng) {
        let last = self.params.iter().rev().take(rng.below(4));
        let mut defaults: Vec<_> = last.map_while(|(_, kind)| kind.default(rng)).collect();
        defaults.reverse();
        self.defaults = defaults;
        while !self.is_sound() && !self.defaults.is_empty() {
            self.defaults.remove(0);
        }
        for name in &WORKSPACES[..rng.below(3)] {
            let align = rng.sixteenths(8).then(|| rng.pick(&[8, 16, 256]));
            self.workspaces.push((*name, Tensor { align, ..result(rng) }));
            if !self.has_plan() {
                self.workspaces.pop();
            }
        }
        let names = Names::of_packed(self, Vocabulary::Whole);
        self.layouts = (0..rng.below(3)).map(|_| LayoutArg::new(rng, &names)).collect();
        self.c_types = (0..rng.below(4)).map(|_| rng.pick(&C_TYPES)).collect();
    }

    /// The tensor of that path, which is in no Optional.
    pub(super) fn tensor(&self, path: &str) -> Option<&Tensor> {
        self.params.iter().find_map(|(name, kind)| kind.tensor(name, path))
    }

    /// Whether its text is a signature.
    fn is_sound(&self) -> bool {
        Signature::parse(&self.text()[..]).is_ok()
    }

    /// The parameters, results and workspaces that its launches are passed.
    pub(super) fn passed(&self) -> impl Iterator<Item = &'static str> {
        let params = self.params.iter().filter(|(_, kind)| kind.is_passed());
        let results = self.result.iter().map(|_| "r");
        params.map(|(name, _)| *name).chain(results).chain(self.workspaces.iter().map(|one| one.0))
    }

    /// Whether every name that its workspaces use has a value.
    fn has_plan(&self) -> bool {
        let Ok(signature) = Signature::parse(&self.text()[..]) else { return false };
        let workspaces = self.own_workspaces().unwrap_or_default();
        signature.plan_function(DeviceType::CPU, &workspaces, &[]).is_ok()
    }

    /// Its workspaces as functions have them; nothing where a text is none.
    pub(super) fn own_workspaces(&self) -> Option<Vec<Workspace>> {
        let workspaces = self.workspaces.iter().map(|(name, tensor)| {
            let tensor = parse_tensor(&tensor.text()[..]).ok()?;
            Some(Workspace::new(*name, tensor))
        });
        workspaces.collect()
    }

    /// As it is written.
    pub fn text(&self) -> String {
        let first_default = self.params.len() - self.defaults.len();
        let param = |(i, (name, kind)): (usize, &(&str, Kind))| {
            let default = i.checked_sub(first_default).map(|i| format!(" = {}", self.defaults[i]));
            format!("{name}: {}{}", kind.text(), default.unwrap_or_default())
        };
        let params: Vec<_> = self.params.iter().enumerate().map(param).collect();
        let mut text = format!("f({})", params.join(", "));
        if let Some(result) = &self.result {
            write!(text, " -> r: {}", result.text()).expect("writing to a string");
        }
        let mut rules = self.rules.clone();
        if text.contains(", T)") || text.contains(", T,") {
            rules.push("T in {float16, float32}".to_string());
        }
        let is_ruled = !rules.is_empty();
        text + if is_ruled { " where " } else { "" } + &rules.join(", ")
    }
}

fn when(rng: &mut Rng, names: &Names, number: usize) -> Option<String> {
    match rng.below(4) {
        0 if number == 0 => None,
        0 | 1 if number > 0 => Some("otherwise".to_string()),
        _ => {
            let rules: Vec<_> = (0..1 + rng.below(2)).map(|_| names.rule(rng, false)).collect();
            Some(rules.join(", "))
        }
    }
}

fn kind(rng: &mut Rng, vocabulary: Vocabulary, depth: usize) -> Kind {
    if vocabulary == Vocabulary::Whole && rng.sixteenths(4) {
        return optional(rng, 6, |rng| Kind::Other(Other::new(rng)));
    }
    match rng.below(12) {
        0..=4 => Kind::Tensor(tensor(rng)),
        5..=7 => Kind::Optional(Box::new(match rng.below(8) {
            0 if depth < 2 => tuple(rng, vocabulary, depth),
            1 => int(rng),
            2 => Kind::Shape(dims(rng)),
            _ => Kind::Tensor(tensor(rng)),
        })),
        8 => int(rng),
        9 => Kind::Shape(dims(rng)),
        10 if depth < 2 => tuple(rng, vocabulary, depth),
        _ => Kind::Tensor(tensor(rng)),
    }
}

fn tuple(rng: &mut Rng, vocabulary: Vocabulary, depth: usize) -> Kind {
    let names = [Some("a"), None, Some("c")];
    let parts = &names[..1 + rng.below(3)];
    Kind::Tuple(parts.iter().map(|name| (*name, kind(rng, vocabulary, depth + 1))).collect())
}

fn optional(rng: &mut Rng, sixteenths: usize, of: impl Fn(&mut Rng) -> Kind) -> Kind {
    match rng.sixteenths(sixteenths) {
        true => Kind::Optional(Box::new(of(rng))),
        false => of(rng),
    }
}

fn int(rng: &mut Rng) -> Kind {
    Kind::Int(rng.pick(&["int32", "int32", "int64", "int8", "uint32", "bool"]))
}

fn dim(rng: &mut Rng) -> Dim {
    let symbol = rng.pick(&DIMS);
    match rng.below(16) {
        0..=8 => Dim::Symbol(symbol),
        9 | 10 => Dim::Int(rng.pick(&[0, 1, 1, 2, 4, 8])),
        11 | 12 => Dim::Affine(symbol, rng.pick(&[1, 2, 4]), rng.pick(&[0, 1, 4])),
        13 => Dim::Product(symbol, rng.pick(&DIMS)),
        _ => Dim::Any,
    }
}

fn dims(rng: &mut Rng) -> Vec<Dim> {
    let rank = 1 + rng.below(3);
    let mut dims: Vec<_> = (0..rank).map(|_| dim(rng)).collect();
    if rng.sixteenths(2) {
        let place = rng.below(rank);
        dims[place] = Dim::Star;
    }
    dims
}

fn stride(rng: &mut Rng) -> Dim {
    match rng.below(12) {
        0..=4 => Dim::Symbol(rng.pick(&STRIDES)),
        5..=7 => Dim::Int(rng.pick(&[1, 1, 0, 4, 16])),
        8 => Dim::Affine(rng.pick(&STRIDES), rng.pick(&[1, 2]), rng.pick(&[0, 4])),
        9 => Dim::Symbol(rng.pick(&DIMS)),
        _ => Dim::Any,
    }
}

fn tensor(rng: &mut Rng) -> Tensor {
    let dims = dims(rng);
    let strides = match rng.below(8) {
        0..=2 => Strides::Row,
        3 => Strides::Col,
        4 => Strides::Any,
        _ => {
            let mut strides: Vec<_> = dims.iter().map(|_| stride(rng)).collect();
            if let (true, Some(last)) = (rng.sixteenths(10), strides.last_mut()) {
                *last = Dim::Int(1);
            }
            Strides::Dims(strides)
        }
    };
    Tensor {
        dims,
        dtype: rng.pick(&DTYPES),
        strides,
        align: rng.sixteenths(4).then(|| rng.pick(&[8, 16, 64])),
        is_mutable: rng.sixteenths(5),
    }
}

/// A result has extents that follow from others.
fn result(rng: &mut Rng) -> Tensor {
    let dims = (0..1 + rng.below(2)).map(|_| match rng.below(3) {
        0 => Dim::Affine(rng.pick(&DIMS), 2, rng.pick(&[0, 4])),
        _ => Dim::Symbol(rng.pick(&DIMS)),
    });
    let (dims, dtype) = (dims.collect(), rng.pick(&["float32", "float16"]));
    Tensor { dims, dtype, strides: Strides::Row, align: None, is_mutable: false }
}
