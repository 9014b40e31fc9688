// SPDX-License-Identifier: Apache-2.0
//! How names of a signature are found from a call's arguments, and expressions over them, as data:
//! for hosts that work out shapes with numbers of their own, such as symbolic dims.
//!
//! The planner knows every argument, and binds a name at one use of it. A host that traces has some
//! arguments only: here are all uses that give a name its value, the best first, and the first
//! whose argument is known counts. Where all of them are absent, a symbol is 0.
//!
//! An expression is a [`Tree`]. Nothing is checked: a call that is accepted fits. Not here: what
//! parameters are ([`description`](crate::description)), and which use binds a name in a plan
//! ([`declare`](crate::declare)).

use crate::declare::{Bindings, Sharers};
use crate::dim::{Dim, Rank};
use crate::expr::{Expr, Field};
use crate::host_type::{HostType, element_path};
use crate::param::{Strides, Tensor, TensorDType};
use crate::rule::Rule;
use crate::signature::Signature;
use kernpack_ffi_abi::DType;
use serde::Serialize;

/// An expression, as JSON: a number, the name of a symbol, `["+", a, b]`, or an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Tree {
    /// `_`: null.
    Any,
    /// A constant.
    Int(i64),
    /// A symbol.
    Symbol(String),
    /// An operator, or a function, of two.
    Operation(&'static str, Box<Tree>, Box<Tree>),
    /// A field of a parameter, or of a star.
    Field(Place),
    /// The dims of a star.
    Star {
        /// Its name; null: any dims.
        star: Option<String>,
    },
}

/// A number that an argument has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The path of a parameter, or of a part of it; or the name of a star.
    pub of: String,
    /// `shape`, `strides`, `numel`, `ndim`, `given` or `element`; left out: the argument itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<&'static str>,
    /// Which of them; a negative number counts from the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<i64>,
}

/// Where the names of a signature have their values from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Solution {
    /// The symbols.
    pub symbols: Vec<Found<SymbolUse>>,
    /// The stars.
    pub stars: Vec<Found<StarUse>>,
    /// The dtype variables: the paths of tensors, or of the `DataType`s that they are.
    pub dtypes: Vec<Found<String>>,
    /// The symbols that a rule makes multiples of a number.
    pub multiples: Vec<Multiple>,
}

/// The uses that give a name its value: the first whose argument is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found<U> {
    /// The name.
    pub name: String,
    /// Its uses, the best first.
    pub uses: Vec<U>,
}

/// A place where the value is `scale` times a symbol and `offset`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SymbolUse {
    /// The place.
    #[serde(flatten)]
    pub place: Place,
    /// The factor.
    pub scale: i64,
    /// The constant.
    pub offset: i64,
    /// How good it is, the least first.
    #[serde(skip)]
    strength: Strength,
}

/// The dims of a tensor or Shape, but for some around them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StarUse {
    /// The path.
    pub of: String,
    /// How many other dims are in front of them.
    pub before: usize,
    /// How many are behind them.
    pub behind: usize,
}

/// A rule such as `n % 16 == 0`, which every accepted call meets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Multiple {
    /// The symbol.
    pub name: String,
    /// The divisor.
    pub of: i64,
}

/// The strength of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Param,
    Bare,
    Affine,
    Stride,
}

impl Solution {
    /// That of a signature, whose names have these bindings.
    pub(crate) fn of(signature: &Signature, bindings: &Bindings) -> Solution {
        let mut solution = Solution::default();
        for param in &signature.params {
            solution.add(&param.name, &param.kind.host_type());
        }
        solution.symbols.iter_mut().for_each(|found| found.uses.sort_by_key(|used| used.strength));
        let multiples = signature.rules.iter().filter_map(|rule| Multiple::of(rule, bindings));
        solution.multiples = multiples.collect();
        solution
    }

    /// Adds the uses in a parameter, or a part of one.
    fn add(&mut self, path: &str, host: &HostType) {
        match host {
            HostType::Tensor(tensor) => self.add_tensor(path, tensor),
            HostType::Shape(dims) => self.add_dims(path, dims, Field::Element),
            HostType::Int(dtype) if *dtype != DType::BOOL => {
                let place = Place { of: path.to_string(), field: None, index: None };
                self.add_symbol(path, place, (1, 0), Strength::Param);
            }
            HostType::DataType => add(&mut self.dtypes, path, path.to_string()),
            HostType::Optional(inner) => self.add(path, inner),
            HostType::Tuple(elements) => {
                for (number, (name, element)) in elements.iter().enumerate() {
                    let part = element_path(path, number, name.as_deref());
                    self.add(&part, element);
                }
            }
            HostType::EnvStream
            | HostType::Int(_)
            | HostType::Float(_)
            | HostType::Pointer(_)
            | HostType::Stream
            | HostType::String
            | HostType::Literal(_) => {}
        }
    }

    fn add_tensor(&mut self, path: &str, tensor: &Tensor) {
        if let TensorDType::Var(name, _) = tensor.dtype() {
            add(&mut self.dtypes, name, path.to_string());
        }
        self.add_dims(path, tensor.dims(), Field::Shape);
        let Strides::Dims(strides) = tensor.strides_wanted() else { return };
        for (i, stride) in strides.iter().enumerate() {
            if let Dim::Expr(Expr::Symbol(name, _)) = stride {
                let place = Place::of(path, Field::Stride(Rank::of(strides).number(i)));
                self.add_symbol(name, place, (1, 0), Strength::Stride);
            }
        }
    }

    fn add_dims(&mut self, path: &str, dims: &[Dim], field: fn(i64) -> Field) {
        let rank = Rank::of(dims);
        for (i, dim) in dims.iter().enumerate() {
            match dim {
                Dim::Any => {}
                Dim::Star(star) => {
                    if let (Some(name), Some(behind)) = (&star.name, rank.behind) {
                        let of = path.to_string();
                        let used = StarUse { of, before: rank.before, behind };
                        add(&mut self.stars, name, used);
                    }
                }
                Dim::Expr(expr) => {
                    let Some(affine) = expr.as_affine() else { continue };
                    let is_bare = matches!(expr, Expr::Symbol(..));
                    let strength = if is_bare { Strength::Bare } else { Strength::Affine };
                    let line = (affine.scale, affine.offset);
                    self.add_symbol(
                        affine.symbol,
                        Place::of(path, field(rank.number(i))),
                        line,
                        strength,
                    );
                }
            }
        }
    }

    fn add_symbol(&mut self, name: &str, place: Place, line: (i64, i64), strength: Strength) {
        let (scale, offset) = line;
        add(&mut self.symbols, name, SymbolUse { place, scale, offset, strength });
    }
}

/// Adds a use of a name.
fn add<U>(found: &mut Vec<Found<U>>, name: &str, used: U) {
    match found.iter_mut().find(|known| known.name == name) {
        Some(known) => known.uses.push(used),
        None => found.push(Found { name: name.to_string(), uses: vec![used] }),
    }
}

impl Multiple {
    /// Nothing of a symbol that strides alone have: that of a dim of extent 1, or of an empty
    /// tensor, counts as meeting its rules, whatever it is.
    fn of(rule: &Rule, bindings: &Bindings) -> Option<Multiple> {
        let (symbol, of) = rule.as_divisibility()?;
        let name = symbol.as_symbol()?;
        let is_loose = bindings.symbols.get(name)?.sharers() == Some(Sharers::Strides);
        (!is_loose).then(|| Multiple { name: name.to_string(), of })
    }
}

impl Place {
    fn of(path: &str, field: Field) -> Place {
        let (field, index) = match field {
            Field::Shape(index) => ("shape", Some(index)),
            Field::Stride(index) => ("strides", Some(index)),
            Field::Numel => ("numel", None),
            Field::Ndim => ("ndim", None),
            Field::Given => ("given", None),
            Field::Element(index) => ("element", Some(index)),
        };
        Place { of: path.to_string(), field: Some(field), index }
    }
}

impl From<&Expr> for Tree {
    fn from(expr: &Expr) -> Tree {
        match expr {
            Expr::Int(value) => Tree::Int(*value),
            Expr::Symbol(name, _) => Tree::Symbol(name.clone()),
            Expr::Field(path, field, _) => Tree::Field(Place::of(path, *field)),
            Expr::Binary(op, a, b) => {
                let (a, b) = (Tree::from(&**a), Tree::from(&**b));
                Tree::Operation(op.text(), Box::new(a), Box::new(b))
            }
        }
    }
}

impl From<&Dim> for Tree {
    fn from(dim: &Dim) -> Tree {
        match dim {
            Dim::Any => Tree::Any,
            Dim::Expr(expr) => Tree::from(expr),
            Dim::Star(star) => Tree::Star { star: star.name.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::to_value;

    fn expect_solution(text: &str, expect: Expect) {
        let signature = Signature::parse(text).unwrap_or_else(|problem| panic!("{problem:?}"));
        let bindings = signature.resolve().unwrap();
        let value = to_value(Solution::of(&signature, &bindings)).unwrap();
        let lines = value.as_object().unwrap().iter().flat_map(|(key, rows)| {
            rows.as_array().unwrap().iter().map(move |row| format!("{key}: {row}\n"))
        });
        expect.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn names_have_their_uses_the_best_first() {
        expect_solution(
            "f(x: Tensor([2*n + 1, _, *b, l], T, strides=any), y: Tensor([*b, n], T), l: int64, \
             p: Tuple(k: int32, Optional[Tensor([m], T, strides=[s])]), q: Shape([m, r]), \
             out: DataType) where n % 8 == 0, n % 4 == 1, T in {int8}, out in {int8}",
            expect![[r#"
                symbols: {"name":"n","uses":[{"of":"y","field":"shape","index":-1,"scale":1,"offset":0},{"of":"x","field":"shape","index":0,"scale":2,"offset":1}]}
                symbols: {"name":"l","uses":[{"of":"l","scale":1,"offset":0},{"of":"x","field":"shape","index":-1,"scale":1,"offset":0}]}
                symbols: {"name":"p.k","uses":[{"of":"p.k","scale":1,"offset":0}]}
                symbols: {"name":"m","uses":[{"of":"p[1]","field":"shape","index":0,"scale":1,"offset":0},{"of":"q","field":"element","index":0,"scale":1,"offset":0}]}
                symbols: {"name":"s","uses":[{"of":"p[1]","field":"strides","index":0,"scale":1,"offset":0}]}
                symbols: {"name":"r","uses":[{"of":"q","field":"element","index":1,"scale":1,"offset":0}]}
                stars: {"name":"b","uses":[{"of":"x","before":2,"behind":1},{"of":"y","before":0,"behind":1}]}
                dtypes: {"name":"T","uses":["x","y","p[1]"]}
                dtypes: {"name":"out","uses":["out"]}
                multiples: {"name":"n","of":8}
            "#]],
        );
    }

    #[test]
    fn an_expression_is_a_tree() {
        let tensor = crate::parse_tensor(
            "Tensor([*b, _, m - 2*n, ceildiv(p.k, 4), b.numel % 3, max(x.shape[-1], s[0]) // 2], \
             int8)",
        );
        let trees: Vec<_> = tensor.unwrap().dims().iter().map(Tree::from).collect();
        expect![[r#"[{"star":"b"},null,["-","m",["*",2,"n"]],["ceildiv","p.k",4],["%",{"of":"b","field":"numel"},3],["//",["max",{"of":"x","field":"shape","index":-1},"s[0]"],2]]"#]].assert_eq(&to_value(trees).unwrap().to_string());
    }
}
