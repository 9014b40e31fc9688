// SPDX-License-Identifier: Apache-2.0
//! Random signatures: parameters of most kinds, which share symbols; rules, results and the
//! conditions of launches. What is drawn is kept, too, as calls are made of it.

use super::packed::Body;
use super::rule::Names;
use crate::random_plan::Rng;
use kernpack_validators::Signature;
use std::fmt::Write;

/// The symbols of dims.
pub(super) const DIMS: [&str; 3] = ["m", "n", "k"];
/// The symbols of strides.
pub(super) const STRIDES: [&str; 2] = ["s", "t"];
/// The names of parameters.
const PARAMS: [&str; 5] = ["v", "w", "x", "y", "z"];
/// The dtypes of tensors; `T` stands for float16 and float32.
const DTYPES: [&str; 5] = ["float32", "float16", "uint8", "float64", "T"];

/// How often a signature is drawn again that is none.
const MOST_TRIES: usize = 24;

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
    Shape(Vec<Dim>),
    Tuple(Vec<(Option<&'static str>, Kind)>),
    Optional(Box<Kind>),
}

/// A signature, with the conditions of its launches.
#[derive(Clone, Debug)]
pub struct Drawn {
    pub(super) params: Vec<(&'static str, Kind)>,
    pub(super) result: Option<Tensor>,
    pub(super) rules: Vec<String>,
    /// The condition of each launch; nothing where it always runs.
    pub(super) whens: Vec<Option<String>>,
    /// What its packed function does.
    pub(super) body: Body,
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

    pub(super) fn has_star(&self) -> bool {
        self.dims.iter().any(|dim| matches!(dim, Dim::Star))
    }
}

impl Kind {
    fn text(&self) -> String {
        match self {
            Kind::Tensor(tensor) => tensor.text(),
            Kind::Int(dtype) => dtype.to_string(),
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

impl Drawn {
    /// A signature.
    pub fn new(rng: &mut Rng) -> Drawn {
        let mut drawn = Drawn::without_rules(rng);
        for _ in 0..MOST_TRIES {
            if drawn.is_sound() {
                break;
            }
            drawn = Drawn::without_rules(rng);
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
        drawn.body = Body::new(rng, &Names::of_packed(&drawn));
        drawn
    }

    fn without_rules(rng: &mut Rng) -> Drawn {
        let mut params = Vec::new();
        for name in &PARAMS[..1 + rng.below(4)] {
            params.push((*name, kind(rng, 0)));
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
        Drawn { params, result, rules: vec![], whens: vec![], body: Body::Launch(0) }
    }

    /// Whether its text is a signature.
    fn is_sound(&self) -> bool {
        Signature::parse(&self.text()[..]).is_ok()
    }

    /// As it is written.
    pub fn text(&self) -> String {
        let params: Vec<_> =
            self.params.iter().map(|(name, kind)| format!("{name}: {}", kind.text())).collect();
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

fn kind(rng: &mut Rng, depth: usize) -> Kind {
    match rng.below(12) {
        0..=4 => Kind::Tensor(tensor(rng)),
        5..=7 => Kind::Optional(Box::new(match rng.below(8) {
            0 if depth < 2 => tuple(rng, depth),
            1 => int(rng),
            2 => Kind::Shape(dims(rng)),
            _ => Kind::Tensor(tensor(rng)),
        })),
        8 => int(rng),
        9 => Kind::Shape(dims(rng)),
        10 if depth < 2 => tuple(rng, depth),
        _ => Kind::Tensor(tensor(rng)),
    }
}

fn tuple(rng: &mut Rng, depth: usize) -> Kind {
    let names = [Some("a"), None, Some("c")];
    let parts = &names[..1 + rng.below(3)];
    Kind::Tuple(parts.iter().map(|name| (*name, kind(rng, depth + 1))).collect())
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
