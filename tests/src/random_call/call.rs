// SPDX-License-Identifier: Apache-2.0
//! Random calls of a drawn signature. Symbols are given values, and arguments made of them, so that
//! many calls are accepted; then something is moved, misaligned or left out.

use super::rule::part;
use super::signature::{DIMS, Dim, Drawn, Kind, STRIDES, Strides, Tensor};
use crate::random_plan::Rng;
use crate::value::{self, Value, row_major};
use kernpack_ffi_abi::{DType, DeviceType};
use std::collections::HashMap;

/// What symbols are most often.
const SMALL: [i64; 14] = [0, 1, 1, 1, 2, 3, 4, 4, 5, 8, 8, 16, 32, 64];
/// What they are now and then.
const LARGE: [i64; 7] = [100, 127, 128, 1 << 31, 1 << 33, 1 << 62, i64::MAX];
/// How far the tensors of a call lie apart, where they do.
const ROOM: u64 = 1 << 20;

/// A call.
#[derive(Debug)]
pub(super) struct Call {
    /// The arguments.
    pub values: Vec<Value>,
    /// The tensors that it passes, by path.
    pub tensors: HashMap<String, value::Tensor>,
}

/// A call in the making.
struct Caller<'r> {
    rng: &'r mut Rng,
    symbols: HashMap<&'static str, i64>,
    star: Vec<i64>,
    /// Which dtype `T` is.
    dtype: DType,
    n_tensors: u64,
    tensors: HashMap<String, value::Tensor>,
}

impl Call {
    /// A call of a signature, or of its twin, which is passed the results.
    pub fn new(rng: &mut Rng, drawn: &Drawn, is_twin: bool) -> Call {
        let mut symbols = HashMap::new();
        for name in DIMS.into_iter().chain(STRIDES) {
            symbols.insert(name, number(rng));
        }
        let star = (0..rng.below(3)).map(|_| rng.pick(&[1, 1, 2, 3, 4, 0])).collect();
        let dtype = rng.pick(&[DType::FLOAT16, DType::FLOAT32]);
        let mut caller =
            Caller { rng, symbols, star, dtype, n_tensors: 0, tensors: HashMap::new() };
        let params = drawn.params.iter();
        let mut values: Vec<_> = params.map(|(name, kind)| caller.value(name, kind)).collect();
        let is_left_out = |caller: &mut Caller<'_>| !is_twin && caller.rng.sixteenths(6);
        for (name, _) in drawn.params.iter().rev().take(drawn.defaults.len()) {
            if !is_left_out(&mut caller) {
                break;
            }
            values.pop();
            caller.tensors.retain(|path, _| !is_within(path, name));
        }
        if let (Some(result), true) = (&drawn.result, is_twin) {
            let result = caller.tensor(result);
            values.push(caller.keep("r", result));
        }
        Call { values, tensors: caller.tensors }
    }
}

/// Whether a path is of a parameter, or of what is in it.
fn is_within(path: &str, param: &str) -> bool {
    path.strip_prefix(param).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn number(rng: &mut Rng) -> i64 {
    if rng.sixteenths(1) { rng.pick(&LARGE) } else { rng.pick(&SMALL) }
}

impl Caller<'_> {
    fn value(&mut self, path: &str, kind: &Kind) -> Value {
        match kind {
            Kind::Tensor(tensor) => {
                let tensor = self.tensor(tensor);
                self.keep(path, tensor)
            }
            Kind::Int("bool") => Value::Bool(self.rng.below(2) as i64),
            Kind::Int(_) => Value::Int(match self.symbols.get(path) {
                // It is the symbol of its name.
                Some(value) => *value,
                None => number(self.rng),
            }),
            Kind::Other(other) => other.value(self.rng),
            Kind::Shape(dims) => Value::Shape(self.extents(dims)),
            Kind::Tuple(parts) => {
                let parts = parts.iter().enumerate();
                Value::Array(
                    parts
                        .map(|(i, (name, kind))| self.value(&part(path, i, *name), kind))
                        .collect(),
                )
            }
            Kind::Optional(_) if self.rng.sixteenths(7) => Value::None,
            Kind::Optional(inner) => self.value(path, inner),
        }
    }

    fn keep(&mut self, path: &str, tensor: value::Tensor) -> Value {
        self.tensors.insert(path.to_string(), tensor.clone());
        Value::Tensor(tensor)
    }

    fn dim(&mut self, dim: Dim) -> i64 {
        let of = |name: &str| self.symbols[name];
        let value = match dim {
            Dim::Int(value) => Some(value),
            Dim::Symbol(name) => Some(of(name)),
            Dim::Affine(name, scale, offset) => {
                of(name).checked_mul(scale).and_then(|value| value.checked_add(offset))
            }
            Dim::Product(a, b) => of(a).checked_mul(of(b)),
            Dim::Any | Dim::Star => Some(number(self.rng)),
        };
        value.unwrap_or(0)
    }

    /// The extents, now and then with one that is wrong.
    fn extents(&mut self, dims: &[Dim]) -> Vec<i64> {
        let mut extents = Vec::new();
        for dim in dims {
            match dim {
                Dim::Star => extents.extend(self.star.clone()),
                dim => {
                    let extent = self.dim(*dim);
                    extents.push(extent);
                }
            }
        }
        if self.rng.below(64) == 0 && !extents.is_empty() {
            let place = self.rng.below(extents.len());
            extents[place] = number(self.rng);
        }
        extents
    }

    fn tensor(&mut self, tensor: &Tensor) -> value::Tensor {
        let shape = self.extents(&tensor.dims);
        let strides = self.strides(tensor, &shape);
        let dtype = match tensor.dtype {
            "T" => self.dtype,
            name => DType::parse(name).unwrap_or(DType::FLOAT32),
        };
        let (data, byte_offset) = (self.address(), self.rng.pick(&[0, 0, 0, 0, 16, 4, 2]));
        value::Tensor {
            data,
            device: (DeviceType::CPU.0, 0),
            dtype,
            shape,
            strides,
            byte_offset,
            ..value::Tensor::default()
        }
    }

    /// Where a tensor lies: by itself, or beside or in another one.
    fn address(&mut self) -> u64 {
        let place = match self.rng.sixteenths(3) {
            true => self.rng.below(self.n_tensors as usize + 1) as u64,
            false => self.n_tensors,
        };
        self.n_tensors += 1;
        (place + 1) * ROOM + self.rng.pick(&[0, 0, 0, 0, 64, 8, 1])
    }

    fn strides(&mut self, tensor: &Tensor, shape: &[i64]) -> Option<Vec<i64>> {
        let mut strides = match &tensor.strides {
            Strides::Row => row_major(shape),
            Strides::Col => {
                let backwards: Vec<_> = shape.iter().rev().copied().collect();
                row_major(&backwards).into_iter().rev().collect()
            }
            Strides::Any => match self.rng.below(4) {
                0 => shape.iter().map(|_| self.rng.pick(&[-2, 0, 1, 5, 16])).collect(),
                _ => row_major(shape),
            },
            Strides::Dims(_) if tensor.has_star() => row_major(shape),
            Strides::Dims(wanted) => wanted.iter().map(|dim| self.dim(*dim)).collect(),
        };
        let is_empty = shape.contains(&0);
        for (stride, extent) in strides.iter_mut().zip(shape) {
            if (is_empty || *extent == 1) && self.rng.sixteenths(10) {
                *stride = self.rng.pick(&[0, 1, 5, 7, 16, -3]);
            }
        }
        (!self.rng.sixteenths(2)).then_some(strides)
    }
}
