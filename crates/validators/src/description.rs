// SPDX-License-Identifier: Apache-2.0
//! A signature as data: what programs that work from a signature read, as JSON.
//!
//! A parameter is described by its [`HostType`], which is all that is known of it outside `param/`.
//! Expressions and rules are texts of the signature language, for readers. Programs that work out
//! shapes, over numbers of their own too, have dims as trees (`extents`) and what gives names their
//! values (`solution`): no host parses a text.
//!
//! Keys may be added; what is there keeps its meaning. Not here: plans, messages, and the record of
//! a package, which the compiler writes.

use crate::declare::{Binding, Bindings};
use crate::dim::Dim;
use crate::host_type::HostType;
use crate::launch::Workspace;
use crate::literal::Literal;
use crate::param::{Order, Param, Strides, Tensor};
use crate::parse::parse_workspace;
use crate::signature::{Signature, SignatureResult};
use crate::solution::{Solution, Tree};
use kernpack_ffi_abi::DType;
use kernpack_syntax::Diagnostics;
use serde::Serialize;
use std::fmt;

/// A signature.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The function's name.
    pub name: String,
    /// The full form, which parses back.
    pub text: String,
    /// The form that messages show.
    pub short: String,
    /// The parameters.
    pub params: Vec<Slot>,
    /// The results.
    pub results: Vec<Slot>,
    /// Where each symbol has its value from, in the order in which they get known.
    pub symbols: Vec<Symbol>,
    /// The dtype variables.
    pub dtypes: Vec<DTypeVar>,
    /// Each combination of dtypes that the rules allow, in the order of `dtypes`.
    pub combinations: Vec<Vec<String>>,
    /// The stars.
    pub stars: Vec<StarDims>,
    /// The rules.
    pub rules: Vec<String>,
    /// The solution, which gives the names their values.
    pub solution: Solution,
}

/// A parameter or a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Slot {
    /// The name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The value where a caller leaves it out. None is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Literal>,
}

/// The type of a slot.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Type {
    /// A tensor.
    Tensor(TensorType),
    /// An integer.
    Int {
        /// Its dtype.
        dtype: String,
    },
    /// True or false.
    Bool,
    /// A float.
    Float {
        /// Its dtype.
        dtype: String,
    },
    /// Integers.
    Shape {
        /// The extents that they have to have.
        dims: Vec<String>,
        /// The same as trees.
        extents: Vec<Tree>,
    },
    /// Several values.
    Tuple {
        /// The fields.
        fields: Vec<Element>,
    },
    /// The value, or nothing.
    Optional {
        /// The type where it is given.
        #[serde(rename = "type")]
        ty: Box<Type>,
    },
    /// A raw pointer.
    Pointer,
    /// A stream handle.
    Stream,
    /// The environment's stream, which takes no argument.
    EnvStream,
    /// A text.
    String,
    /// A dtype, which is the dtype variable of the parameter's name.
    Dtype,
    /// Exactly that value.
    Literal {
        /// The value. None is null, and a dtype its name.
        value: Literal,
    },
}

/// An element of a tuple.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Element {
    /// Its name, where it has one.
    pub name: Option<String>,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
}

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TensorType {
    /// The extents.
    pub dims: Vec<String>,
    /// The same as trees.
    pub extents: Vec<Tree>,
    /// A dtype, or a dtype variable.
    pub dtype: String,
    /// Whether the function writes it.
    pub mutable: bool,
    /// The alignment of its address, in bytes; null: the bytes of an element.
    pub align: Option<u32>,
    /// The dims from the fastest to the slowest, as places in `dims`; null: row-major, or what
    /// `strides` says.
    pub order: Option<Vec<usize>>,
    /// Null: compact.
    pub strides: Option<StridesText>,
    /// Where it may be; null: where the function runs.
    pub devices: Option<Vec<String>>,
    /// Whether its device index is its own.
    pub peer: bool,
}

/// The strides of a tensor that need not be compact.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StridesText {
    /// `"any"`.
    Any(&'static str),
    /// One for each dim.
    Dims(Vec<String>),
}

/// Where a symbol has its value from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Symbol {
    /// One place, the same in every call.
    Bound {
        /// Its name; of an integer parameter, that parameter's.
        name: String,
        /// The place: `x.shape[0]`. That of an integer parameter is its name.
        path: String,
        /// The factor: the value there is `scale` times the symbol and `offset`.
        scale: i64,
        /// The constant.
        offset: i64,
        /// The `Optional` around the place.
        optional: Option<String>,
    },
    /// The first of several places that counts in a call: that is given and, of strides, neither of
    /// a dim of extent 1 nor of an empty tensor.
    Shared {
        /// Its name.
        name: String,
        /// The places.
        shared: Vec<String>,
    },
}

/// A dtype variable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DTypeVar {
    /// Its name.
    pub name: String,
    /// The tensor that binds it, or the `DataType` that it is.
    pub path: String,
    /// The dtypes that it may have, by itself; `rules` may say more of several.
    pub allowed: Vec<String>,
}

/// The dims that a star stands for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StarDims {
    /// Its name.
    pub name: String,
    /// The tensor or Shape that it has them from.
    pub path: String,
    /// How many other dims are in front of them there.
    pub before: usize,
    /// How many are behind them.
    pub behind: usize,
}

impl Signature {
    /// The signature as data.
    ///
    /// # Errors
    /// Those that [`resolve`](Signature::resolve) finds.
    pub fn describe(&self) -> Result<Description, Diagnostics> {
        let bindings = self.resolve()?;
        Ok(Description {
            name: self.name.clone(),
            text: self.to_string(),
            short: self.short(),
            params: self.params.iter().map(Slot::from).collect(),
            results: self.results.iter().map(Slot::from).collect(),
            symbols: symbols(&bindings),
            dtypes: dtypes(&bindings),
            combinations: bindings.combinations(&self.rules).iter().map(|row| texts(row)).collect(),
            stars: stars(&bindings),
            rules: texts(&self.rules),
            solution: Solution::of(self, &bindings),
        })
    }
}

/// Describes a workspace, which stands in no signature: `ws: Tensor([4*m], uint8)`.
///
/// # Errors
/// The problems of the text.
pub fn describe_workspace(text: &str) -> Result<Slot, Diagnostics> {
    let Workspace { name, tensor } = parse_workspace(text)?;
    let ty = Type::Tensor(TensorType::from(&tensor.value));
    Ok(Slot { name: name.value, ty, default: None })
}

impl From<&Param> for Slot {
    fn from(param: &Param) -> Slot {
        let (name, ty) = (param.name.clone(), Type::from(&param.kind.host_type()));
        Slot { name, ty, default: param.default.clone() }
    }
}

impl From<&SignatureResult> for Slot {
    fn from(result: &SignatureResult) -> Slot {
        let ty = Type::Tensor(TensorType::from(&result.tensor));
        Slot { name: result.name.clone(), ty, default: None }
    }
}

impl From<&HostType> for Type {
    fn from(host: &HostType) -> Type {
        match host {
            HostType::EnvStream => Type::EnvStream,
            HostType::Tensor(tensor) => Type::Tensor(TensorType::from(&**tensor)),
            HostType::Int(DType::BOOL) => Type::Bool,
            HostType::Int(dtype) => Type::Int { dtype: dtype.to_string() },
            HostType::Float(dtype) => Type::Float { dtype: dtype.to_string() },
            HostType::Shape(dims) => Type::Shape { dims: texts(dims), extents: trees(dims) },
            HostType::Tuple(elements) => {
                let element = |(name, host): &(Option<String>, HostType)| Element {
                    name: name.clone(),
                    ty: Type::from(host),
                };
                Type::Tuple { fields: elements.iter().map(element).collect() }
            }
            HostType::Optional(inner) => Type::Optional { ty: Box::new(Type::from(&**inner)) },
            HostType::Pointer(_) => Type::Pointer,
            HostType::Stream => Type::Stream,
            HostType::String => Type::String,
            HostType::DataType => Type::Dtype,
            HostType::Literal(value) => Type::Literal { value: value.clone() },
        }
    }
}

impl From<&Tensor> for TensorType {
    fn from(tensor: &Tensor) -> TensorType {
        let (order, strides) = match tensor.strides_wanted() {
            Strides::Compact(order) => (order_of(order, tensor.dims()), None),
            Strides::Any => (None, Some(StridesText::Any("any"))),
            Strides::Dims(dims) => (None, Some(StridesText::Dims(texts(dims)))),
        };
        TensorType {
            dims: texts(tensor.dims()),
            extents: trees(tensor.dims()),
            dtype: tensor.dtype().to_string(),
            mutable: tensor.is_mutable(),
            align: tensor.alignment(),
            order,
            strides,
            devices: tensor.devices().map(texts),
            peer: tensor.is_peer(),
        }
    }
}

/// The dims from the fastest to the slowest; nothing where they are row-major.
fn order_of(order: &Order, dims: &[Dim]) -> Option<Vec<usize>> {
    let fastest_first = order.fastest_first(dims.len());
    fastest_first.filter(|dims| !dims.is_sorted_by(|a, b| a > b))
}

fn symbols(bindings: &Bindings) -> Vec<Symbol> {
    let mut symbols: Vec<_> = bindings.symbols.iter().collect();
    symbols.sort_by_key(|(_, binding)| binding.number);
    symbols.into_iter().map(|(name, binding)| symbol(name, binding)).collect()
}

fn symbol(name: &str, binding: &Binding) -> Symbol {
    let name = name.to_string();
    let Binding { path, scale, offset, number: _, optional, sharing } = binding.clone();
    match sharing {
        Some(sharing) => Symbol::Shared { name, shared: sharing.paths },
        None => Symbol::Bound { name, path, scale, offset, optional },
    }
}

fn dtypes(bindings: &Bindings) -> Vec<DTypeVar> {
    let dtypes = bindings.dtypes.iter().map(|(name, binding)| DTypeVar {
        name: name.clone(),
        path: binding.path.clone(),
        allowed: texts(&binding.allowed),
    });
    dtypes.collect()
}

fn stars(bindings: &Bindings) -> Vec<StarDims> {
    let stars = bindings.stars.iter().map(|(name, binding)| StarDims {
        name: name.clone(),
        path: binding.path.clone(),
        before: binding.rank.before,
        behind: binding.rank.behind.unwrap_or_default(),
    });
    stars.collect()
}

fn trees(dims: &[Dim]) -> Vec<Tree> {
    dims.iter().map(Tree::from).collect()
}

fn texts(items: &[impl fmt::Display]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::samples;
    use expect_test::{Expect, expect};
    use serde_json::{Value, to_value};

    fn describe(text: &str) -> Value {
        let signature = Signature::parse(text).unwrap_or_else(|problem| panic!("{problem:?}"));
        to_value(signature.describe().unwrap()).unwrap()
    }

    fn expect_lines(values: &Value, expect: Expect) {
        let lines = values.as_array().unwrap().iter().map(|value| format!("{value}\n"));
        expect.assert_eq(&lines.collect::<String>());
    }

    /// The text that a sample needs around it to mean something.
    fn around(sample: &str) -> String {
        match sample {
            "DataType" => "f(p: DataType, x: Tensor([], p)) where p in {int8}".to_string(),
            _ if sample.contains(", T,") => format!("f(p: {sample}) where T in {{int8}}"),
            _ => format!("f(p: {sample})"),
        }
    }

    #[test]
    fn every_kind_describes_itself() {
        let types = samples().into_iter().map(|sample| {
            let description = describe(&around(sample));
            description["params"][0]["type"].clone()
        });
        expect_lines(
            &types.collect(),
            expect![[r#"
                {"kind":"tensor","dims":[],"extents":[],"dtype":"float32","mutable":false,"align":null,"order":null,"strides":null,"devices":null,"peer":false}
                {"kind":"tensor","dims":["m","2*n + 1","_"],"extents":["m",["+",["*",2,"n"],1],null],"dtype":"T","mutable":false,"align":16,"order":[1,0,2],"strides":null,"devices":null,"peer":false}
                {"kind":"tensor","dims":["m","n"],"extents":["m","n"],"dtype":"bfloat16","mutable":true,"align":null,"order":null,"strides":["s","1"],"devices":["cpu","cuda"],"peer":true}
                {"kind":"tensor","dims":["m"],"extents":["m"],"dtype":"int4","mutable":false,"align":null,"order":null,"strides":"any","devices":["cuda"],"peer":false}
                {"kind":"shape","dims":[],"extents":[]}
                {"kind":"shape","dims":["m","4","_"],"extents":["m",4,null]}
                {"kind":"shape","dims":["m","*s"],"extents":["m",{"star":"s"}]}
                {"kind":"tuple","fields":[]}
                {"kind":"tuple","fields":[{"name":null,"type":{"kind":"int","dtype":"int32"}},{"name":null,"type":{"kind":"tensor","dims":["n"],"extents":["n"],"dtype":"float32","mutable":false,"align":null,"order":null,"strides":null,"devices":null,"peer":false}}]}
                {"kind":"tuple","fields":[{"name":"x","type":{"kind":"bool"}},{"name":"y","type":{"kind":"tuple","fields":[{"name":null,"type":{"kind":"float","dtype":"float64"}}]}}]}
                {"kind":"optional","type":{"kind":"float","dtype":"float32"}}
                {"kind":"optional","type":{"kind":"tensor","dims":["k"],"extents":["k"],"dtype":"int8","mutable":false,"align":null,"order":null,"strides":null,"devices":null,"peer":false}}
                {"kind":"string"}
                {"kind":"dtype"}
                {"kind":"pointer"}
                {"kind":"pointer"}
                {"kind":"pointer"}
                {"kind":"stream"}
                {"kind":"env_stream"}
                {"kind":"int","dtype":"int32"}
                {"kind":"int","dtype":"uint64"}
                {"kind":"bool"}
                {"kind":"float","dtype":"float16"}
                {"kind":"float","dtype":"float64"}
                {"kind":"literal","value":null}
                {"kind":"literal","value":true}
                {"kind":"literal","value":3}
                {"kind":"literal","value":-1}
                {"kind":"literal","value":0.5}
                {"kind":"literal","value":"relu"}
            "#]],
        );
    }

    #[test]
    fn a_description_has_the_names_and_where_they_come_from() {
        let description = describe(
            "f(x: Tensor([*b, 2*n + 1, _], T, order=col), p: Tuple(k: int32, Tensor([l], S)), \
             q: Optional[Tensor([j - 1], int8)] = None, s: float32 = 0.5, mode: String = \"a\", \
             out: DataType = float16) -> y: Tensor([*b, n], out), z: Tensor([], int8) \
             where n % 8 == 0, (S, T) in {(int8, int8), (int8, int16)}, mode in {\"a\", \"b\"}, \
             out in {float16, float32}",
        );
        let lines = description.as_object().unwrap().iter().flat_map(|(key, value)| match value {
            Value::Array(items) => items.iter().map(|item| format!("{key}: {item}\n")).collect(),
            _ => vec![format!("{key}: {value}\n")],
        });
        expect![[r#"
            name: "f"
            text: "f(x: Tensor([*b, 2*n + 1, _], T, order=col), p: Tuple(k: int32, Tensor([l], S)), q: Optional[Tensor([j - 1], int8)] = None, s: float32 = 0.5, mode: String = \"a\", out: DataType = float16) -> y: Tensor([*b, n], out), z: Tensor([], int8) where n % 8 == 0, (S, T) in {(int8, int8), (int8, int16)}, mode in {\"a\", \"b\"}, out in {float16, float32}"
            short: "f(x: Tensor([*b, 2*n + 1, _], T), p: Tuple(k: int32, Tensor([l], S)), q: Optional[Tensor([j - 1], int8)], s: float32, mode: String, out: DataType) -> y: Tensor([*b, n], out), z: Tensor([], int8)"
            params: {"name":"x","type":{"kind":"tensor","dims":["*b","2*n + 1","_"],"extents":[{"star":"b"},["+",["*",2,"n"],1],null],"dtype":"T","mutable":false,"align":null,"order":[0,1,2],"strides":null,"devices":null,"peer":false}}
            params: {"name":"p","type":{"kind":"tuple","fields":[{"name":"k","type":{"kind":"int","dtype":"int32"}},{"name":null,"type":{"kind":"tensor","dims":["l"],"extents":["l"],"dtype":"S","mutable":false,"align":null,"order":null,"strides":null,"devices":null,"peer":false}}]}}
            params: {"name":"q","type":{"kind":"optional","type":{"kind":"tensor","dims":["j - 1"],"extents":[["-","j",1]],"dtype":"int8","mutable":false,"align":null,"order":null,"strides":null,"devices":null,"peer":false}},"default":null}
            params: {"name":"s","type":{"kind":"float","dtype":"float32"},"default":0.5}
            params: {"name":"mode","type":{"kind":"string"},"default":"a"}
            params: {"name":"out","type":{"kind":"dtype"},"default":"float16"}
            results: {"name":"y","type":{"kind":"tensor","dims":["*b","n"],"extents":[{"star":"b"},"n"],"dtype":"out","mutable":false,"align":null,"order":null,"strides":null,"devices":null,"peer":false}}
            results: {"name":"z","type":{"kind":"tensor","dims":[],"extents":[],"dtype":"int8","mutable":false,"align":null,"order":null,"strides":null,"devices":null,"peer":false}}
            symbols: {"name":"n","path":"x.shape[-2]","scale":2,"offset":1,"optional":null}
            symbols: {"name":"p.k","path":"p.k","scale":1,"offset":0,"optional":null}
            symbols: {"name":"l","path":"p[1].shape[0]","scale":1,"offset":0,"optional":null}
            symbols: {"name":"j","path":"q.shape[0]","scale":1,"offset":-1,"optional":"q"}
            dtypes: {"name":"S","path":"p[1]","allowed":["int8"]}
            dtypes: {"name":"T","path":"x","allowed":["int8","int16"]}
            dtypes: {"name":"out","path":"out","allowed":["float16","float32"]}
            combinations: ["int8","int8","float16"]
            combinations: ["int8","int8","float32"]
            combinations: ["int8","int16","float16"]
            combinations: ["int8","int16","float32"]
            stars: {"name":"b","path":"x","before":0,"behind":2}
            rules: "n % 8 == 0"
            rules: "(S, T) in {(int8, int8), (int8, int16)}"
            rules: "mode in {\"a\", \"b\"}"
            rules: "out in {float16, float32}"
            solution: {"symbols":[{"name":"n","uses":[{"of":"x","field":"shape","index":-2,"scale":2,"offset":1}]},{"name":"p.k","uses":[{"of":"p.k","scale":1,"offset":0}]},{"name":"l","uses":[{"of":"p[1]","field":"shape","index":0,"scale":1,"offset":0}]},{"name":"j","uses":[{"of":"q","field":"shape","index":0,"scale":1,"offset":-1}]}],"stars":[{"name":"b","uses":[{"of":"x","before":0,"behind":2}]}],"dtypes":[{"name":"T","uses":["x"]},{"name":"S","uses":["p[1]"]},{"name":"out","uses":["out"]}],"multiples":[{"name":"n","of":8}]}
        "#]].assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn shared_symbols_list_their_places() {
        let strides = "f(x: Tensor([m, n], int8, strides=[s, 1]), \
                       y: Tensor([m, n], int8, strides=[s, 1]))";
        let optionals = "f(n: int32, x: Optional[Tensor([k], int8)], \
                         y: Optional[Tensor([k], int8)])";
        expect_lines(
            &describe(strides)["symbols"],
            expect![[r#"
            {"name":"m","path":"x.shape[0]","scale":1,"offset":0,"optional":null}
            {"name":"n","path":"x.shape[1]","scale":1,"offset":0,"optional":null}
            {"name":"s","shared":["x.strides[0]","y.strides[0]"]}
        "#]],
        );
        expect_lines(
            &describe(optionals)["symbols"],
            expect![[r#"
            {"name":"n","path":"n","scale":1,"offset":0,"optional":null}
            {"name":"k","shared":["x.shape[0]","y.shape[0]"]}
        "#]],
        );
    }

    #[test]
    fn symbols_stand_in_the_order_in_which_they_get_known() {
        let text = "f(x: Tensor([m*n, a], int8), y: Tensor([n, m], int8), \
                    z: Optional[Tensor([3*l], int8)], a: int64)";
        expect_lines(
            &describe(text)["symbols"],
            expect![[r#"
            {"name":"a","path":"x.shape[1]","scale":1,"offset":0,"optional":null}
            {"name":"n","path":"y.shape[0]","scale":1,"offset":0,"optional":null}
            {"name":"m","path":"y.shape[1]","scale":1,"offset":0,"optional":null}
            {"name":"l","path":"z.shape[0]","scale":3,"offset":0,"optional":"z"}
        "#]],
        );
    }

    #[test]
    fn a_stride_order_that_is_row_major_is_none() {
        let order = |tensor: &str| {
            describe(&format!("f(x: {tensor})"))["params"][0]["type"]["order"].clone()
        };
        assert_eq!(order("Tensor([m, n], int8, order=(1, 0))"), Value::Null);
        assert_eq!(order("Tensor([m, n], int8, order=(0, 1))"), to_value([0, 1]).unwrap());
        assert_eq!(order("Tensor([m], int8, order=col)"), Value::Null);
        assert_eq!(order("Tensor([a, b, c], int8, order=(2, 0, 1))"), to_value([1, 2, 0]).unwrap());
    }

    #[test]
    fn a_default_of_none_is_null_and_no_default_is_left_out() {
        let description = describe("f(p: float32, q: Optional[float32] = None)");
        assert_eq!(description["params"][0].get("default"), None);
        assert_eq!(description["params"][1].get("default"), Some(&Value::Null));
    }

    #[test]
    fn a_workspace_is_described_by_itself() {
        let described = describe_workspace("w: Tensor([2*m, k], T, align=64)").unwrap();
        let description =
            describe("f(w: Tensor([2*m, k], T, align=64), m: int32) where T in {int8}");
        assert_eq!(to_value(described).unwrap(), description["params"][0]);
        let problem = describe_workspace("w: Tensor([2*m, k]").unwrap_err();
        expect![[r#"
            error[syntax]: expected `,`, found the end
              at 18..18: expected `,`"#]]
        .assert_eq(&problem.to_string());
        let problem = describe_workspace("Tensor([m], int8)").unwrap_err();
        expect![[r#"
            error[syntax]: expected `:`, found `(`
              at 6..7: expected `:`"#]]
        .assert_eq(&problem.to_string());
    }
}
