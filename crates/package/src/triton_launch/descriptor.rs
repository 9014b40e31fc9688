// SPDX-License-Identifier: Apache-2.0
//! Tensor descriptors that the host makes, as arguments of Triton's kernels: what the kernel's
//! author wrote as one `TensorDescriptor` is several parameters of the cubin.
//!
//! | | parameters |
//! |---|---|
//! | compiled for 9.0 and later | a `CUtensorMap`, the shape as 32-bit integers, the strides as 64-bit integers |
//! | compiled for older devices | a pointer, shape and strides as 64-bit integers, from Triton 3.5 on a byte that says whether padding is nan, then shape and strides as above |
//!
//! In a launch, a descriptor is written as its tensor, `x`, or as a tensor map that says what
//! Triton does not know: `tma(x, dims=[m*n], fill=nan)`. Triton's JSON has the rest of each
//! `CUtensorMap`, in the order of the parameters, and nothing about descriptors for older devices.
//! Which arguments are descriptors is nowhere but in the sizes of the cubin's parameters: no other
//! parameter of Triton's has the size of a `CUtensorMap`, and for older devices, descriptors are
//! those arguments that must be, so that all parameters get one.
//!
//! Not here: the checks of a tensor map ([`kernpack_validators`]), and how it is encoded
//! (`lower/tensor_map.rs`).

use super::json::TritonDescriptor;
use crate::target::struct_abi::Layout;
use kernpack_ffi_abi::DType;
use kernpack_machine::tensor_map::MOST_IN_BOX;
use kernpack_syntax::Placed;
use kernpack_validators::expr::{Field, Op};
use kernpack_validators::plan::CScalar;
use kernpack_validators::{Expr, KernelArg, MapChoices, MapSpec, NamedTensor};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The dtypes of elements, by Triton's number of the type. The driver's is the same save that its
/// numbers of 9 and 10 are 8 and 9.
const ELEMENTS: &[(u32, DType)] = &[
    (0, DType::UINT8),
    (1, DType::UINT16),
    (2, DType::UINT32),
    (3, DType::INT32),
    (4, DType::UINT64),
    (5, DType::INT64),
    (6, DType::FLOAT16),
    (7, DType::FLOAT32),
    (9, DType::FLOAT64),
    (10, DType::BFLOAT16),
];
/// The bytes that Triton has the L2 cache fetch at once, always.
const L2_BYTES: u32 = 128;

/// Why an argument is no descriptor.
#[derive(Debug, Error)]
pub enum DescriptorError {
    /// The JSON is not that of the cubin.
    #[error(
        "the number of tensor descriptors in `{}` is {described}, and in its cubin {taken}; give the JSON that Triton wrote next to the cubin",
        json.display()
    )]
    Unlike {
        /// The JSON.
        json: PathBuf,
        /// How many it describes.
        described: usize,
        /// How many parameters are tensor maps.
        taken: usize,
    },
    /// The tensor map that the JSON asks for cannot be had.
    #[error(
        "`{}` wants {what} in a tensor map (`tensordesc_meta[{number}].{key}`), which is not supported; pass pointers, \
         or make the descriptor in the kernel with `tl.make_tensor_descriptor`",
        json.display()
    )]
    Unsupported {
        /// The JSON.
        json: PathBuf,
        /// The descriptor.
        number: usize,
        /// The key that says it.
        key: &'static str,
        /// The value of the key.
        what: String,
    },
    /// There are descriptors for which there is no argument.
    #[error(
        "`{function}` passes {passed} of the {} tensor descriptors of `{}`; write the tensor of each among `args`, in the order of the kernel's author",
        described, json.display()
    )]
    Missing {
        /// The function.
        function: String,
        /// How many it passes.
        passed: usize,
        /// How many there are.
        described: usize,
        /// The JSON.
        json: PathBuf,
    },
    /// An argument does not make the descriptor for which it stands.
    #[error("`{function}` passes `{arg}` as tensor descriptor {number} of `{}`, {problem}", json.display())]
    Argument {
        /// The function.
        function: String,
        /// The argument.
        arg: Box<Placed<String>>,
        /// The descriptor.
        number: usize,
        /// The JSON.
        json: PathBuf,
        /// The problem and the cure.
        problem: String,
    },
    /// A tensor map without a box stands where there is no descriptor.
    #[error(
        "`{function}` passes `{arg}`, but there the kernel of `{}` takes no tensor descriptor; write all of its arguments, in the order of its author",
        json.display()
    )]
    NotThere {
        /// The function.
        function: String,
        /// The argument.
        arg: Box<Placed<String>>,
        /// The JSON.
        json: PathBuf,
    },
}

/// A launch whose descriptors become arguments.
pub struct Descriptors<'l> {
    /// The function.
    pub function: &'l str,
    /// The JSON.
    pub json: &'l Path,
    /// The JSON of each descriptor: nothing where they are no tensor maps.
    pub described: &'l [TritonDescriptor],
    /// The sizes of the kernel's parameters, without the hidden ones.
    pub params: &'l [u32],
}

/// A descriptor as it is written.
struct View<'a> {
    tensor: &'a str,
    facts: &'a NamedTensor,
    /// The tensor map that is written; nothing beyond the tensor where that stands alone.
    map: MapSpec,
    dims: Vec<Expr>,
    strides: Vec<Expr>,
}

impl Descriptors<'_> {
    /// Whether the arguments may be other than they are written. They are not where each parameter
    /// has one and none can be a descriptor.
    pub fn concern(&self, args: &[Placed<KernelArg>]) -> bool {
        !self.described.is_empty()
            || args.len() != self.params.len()
            || args.iter().any(|arg| is_open(arg).is_some())
    }

    /// The arguments of the cubin's parameters, for those that the kernel's author wrote.
    ///
    /// # Errors
    /// Where an argument does not fit the descriptor for which it stands, or the JSON does not fit
    /// the cubin.
    pub fn settle(
        &self,
        args: &[Placed<KernelArg>],
        tensors: &HashMap<String, NamedTensor>,
    ) -> Result<Vec<Placed<KernelArg>>, DescriptorError> {
        let settled = match self.described {
            [] => self.decomposed(args, tensors),
            _ => self.mapped(args, tensors)?,
        };
        match settled.iter().find(|arg| is_open(arg).is_some()) {
            None => Ok(settled),
            Some(map) => Err(DescriptorError::NotThere {
                function: self.function.to_string(),
                arg: Placed::new(map.to_string(), map.span).into(),
                json: self.json.to_path_buf(),
            }),
        }
    }

    /// Of descriptors that are tensor maps.
    fn mapped(
        &self,
        args: &[Placed<KernelArg>],
        tensors: &HashMap<String, NamedTensor>,
    ) -> Result<Vec<Placed<KernelArg>>, DescriptorError> {
        let (json, described) = (self.json.to_path_buf(), self.described.len());
        let taken = self.params.iter().filter(|size| **size == Layout::TENSOR_MAP.size).count();
        if taken != described {
            return Err(DescriptorError::Unlike { json, described, taken });
        }
        let mut settled = Vec::new();
        let (mut at, mut passed) = (0, 0);
        for arg in args {
            if self.params.get(at) != Some(&Layout::TENSOR_MAP.size) {
                settled.push(arg.clone());
                at += 1;
                continue;
            }
            settled.extend(self.map(passed, arg, tensors)?);
            at += 1 + 2 * self.described[passed].box_shape.len();
            passed += 1;
        }
        if passed < described {
            let function = self.function.to_string();
            return Err(DescriptorError::Missing { function, passed, described, json });
        }
        Ok(settled)
    }

    /// The arguments for the descriptor of that number.
    fn map(
        &self,
        number: usize,
        arg: &Placed<KernelArg>,
        tensors: &HashMap<String, NamedTensor>,
    ) -> Result<Vec<Placed<KernelArg>>, DescriptorError> {
        let described = &self.described[number];
        let (element, choices) = self.supported(number, described)?;
        let refuse = |problem: String| DescriptorError::Argument {
            function: self.function.to_string(),
            arg: Placed::new(arg.to_string(), arg.span).into(),
            number,
            json: self.json.to_path_buf(),
            problem,
        };
        let view = View::of(arg, tensors).ok_or_else(|| {
            refuse("but it is no tensor; write the name of one, or `tma(x, dims=[…])`".to_string())
        })?;
        view.fits(described, element).map_err(refuse)?;
        let View { tensor, facts, map, dims, strides } = view;
        let is_own = facts.dtypes.iter().all(|dtype| *dtype == element);
        let map = MapSpec {
            tensor: tensor.to_string(),
            box_dims: Some(described.box_shape.clone()),
            element: (!is_own).then_some(element),
            choices: MapChoices { nan: map.choices.nan, ..choices },
            ..map
        };
        Ok([KernelArg::TensorMap(map)]
            .into_iter()
            .chain(dims.into_iter().map(|dim| integer(dim, DType::INT32)))
            .chain(strides.into_iter().map(|stride| integer(stride, DType::INT64)))
            .map(|piece| Placed::new(piece, arg.span))
            .collect())
    }

    /// The dtype of an element, and the driver's options beside dims.
    fn supported(
        &self,
        number: usize,
        described: &TritonDescriptor,
    ) -> Result<(DType, MapChoices), DescriptorError> {
        let refuse = |key, what| DescriptorError::Unsupported {
            json: self.json.to_path_buf(),
            number,
            key,
            what,
        };
        let TritonDescriptor { swizzle, element_bytes, element_type, box_shape, is_fp4_padded } =
            described;
        if *is_fp4_padded {
            return Err(refuse("fp4_padded", "padded elements of four bits".to_string()));
        }
        let known = ELEMENTS.iter().find(|(number, _)| number == element_type);
        let element = known.map(|(_, dtype)| *dtype);
        let Some(element) = element.filter(|dtype| dtype.element_bytes() == *element_bytes) else {
            let what = format!("elements of type {element_type} in {element_bytes} bytes");
            return Err(refuse("elem_type", what));
        };
        let swizzle = match swizzle {
            0 => 0,
            1..=3 => 16 << swizzle,
            other => return Err(refuse("swizzle", format!("swizzle {other}"))),
        };
        if !box_shape.iter().all(|extent| (1..=MOST_IN_BOX).contains(&i64::from(*extent))) {
            return Err(refuse("block_size", format!("a box of {box_shape:?}")));
        }
        Ok((element, MapChoices { swizzle, l2: L2_BYTES, ..MapChoices::default() }))
    }

    /// Of descriptors that are none on the device. Where more than one choice of arguments would
    /// fit the parameters, or none does, all stay as they are written.
    fn decomposed(
        &self,
        args: &[Placed<KernelArg>],
        tensors: &HashMap<String, NamedTensor>,
    ) -> Vec<Placed<KernelArg>> {
        match &ways(args, self.params, tensors)[..] {
            [only] => only.clone(),
            _ => args.to_vec(),
        }
    }
}

/// Every choice of arguments as decomposed descriptors that leaves no parameter without an
/// argument.
fn ways(
    args: &[Placed<KernelArg>],
    params: &[u32],
    tensors: &HashMap<String, NamedTensor>,
) -> Vec<Vec<Placed<KernelArg>>> {
    let Some((arg, rest)) = args.split_first() else {
        return if params.is_empty() { vec![vec![]] } else { vec![] };
    };
    let view = View::of(arg, tensors);
    let mut pieces = Vec::new();
    // What a tensor is passed as is known here, and of other arguments only that they are one
    // parameter.
    if is_open(arg).is_none() && (view.is_none() || params.first() == Some(&8)) {
        pieces.push((vec![arg.clone()], 1));
    }
    // There is no descriptor of a tensor without dims: it is passed as its data.
    let view = view.filter(|view| view.said().is_none() && !view.dims.is_empty());
    for piece in view.iter().flat_map(View::numbers) {
        let sizes: Vec<_> = piece.iter().map(size).collect();
        if params.starts_with(&sizes) {
            let piece = piece.into_iter().map(|piece| Placed::new(piece, arg.span)).collect();
            pieces.push((piece, sizes.len()));
        }
    }
    let mut all = Vec::new();
    for (piece, n_params) in pieces {
        let Some(params) = params.get(n_params..) else { continue };
        all.extend(ways(rest, params, tensors).into_iter().map(|way| [&piece[..], &way].concat()));
    }
    all
}

impl<'a> View<'a> {
    /// The descriptor for which an argument may stand: one of a tensor, as it is or as a map says.
    fn of(arg: &'a KernelArg, tensors: &'a HashMap<String, NamedTensor>) -> Option<View<'a>> {
        let (tensor, map) = match arg {
            KernelArg::Value(Expr::Symbol(tensor, _), None) => (tensor, None),
            KernelArg::TensorMap(map) => (&map.tensor, Some(map)),
            KernelArg::Value(..) | KernelArg::Constant(_) | KernelArg::Struct(_) => return None,
        };
        let facts = tensors.get(tensor)?;
        let map = map.cloned().unwrap_or_else(|| MapSpec::new(tensor));
        let own = |field: fn(i64) -> Field| {
            let dims = 0..facts.fastest_first.len() as i64;
            dims.map(|i| Expr::Field(tensor.clone(), field(i), Default::default())).collect()
        };
        let dims = map.dims.clone().unwrap_or_else(|| own(Field::Shape));
        let strides = match (&map.strides, &map.dims) {
            (Some(strides), _) => strides.clone(),
            (None, Some(dims)) => compact(dims),
            (None, None) => own(Field::Stride),
        };
        Some(View { tensor, facts, map, dims, strides })
    }

    /// The first option of those that are not for a launch to say.
    fn said(&self) -> Option<&'static str> {
        let MapSpec { box_dims, steps, element, choices, .. } = &self.map;
        let given = [
            ("box", box_dims.is_some()),
            ("steps", steps.is_some()),
            ("as", element.is_some()),
            ("interleave", choices.interleave != 0),
            ("swizzle", choices.swizzle != 0),
            ("l2", choices.l2 != 0),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }

    /// Whether it is one of what Triton compiled for; else what is wrong, and what to do.
    fn fits(&self, described: &TritonDescriptor, element: DType) -> Result<(), String> {
        if let Some(option) = self.said() {
            return Err(format!("but that says its own `{option}`; leave `{option}=` out"));
        }
        let (rank, expected) = (self.dims.len(), described.box_shape.len());
        if rank != expected {
            return Err(format!(
                "whose boxes are of rank {expected}, not {rank}; give it another view: `tma({}, dims=[…])`",
                self.tensor
            ));
        }
        let is_row_major = self.facts.fastest_first.iter().copied().eq((0..rank).rev());
        if self.map.dims.is_none() && !is_row_major {
            return Err(format!(
                "but its last dim is not the contiguous one; give it a view whose is: `tma({}, dims=[…], strides=[…, 1])`",
                self.tensor
            ));
        }
        let dtypes = &self.facts.dtypes;
        let Some(dtype) = dtypes.iter().find(|dtype| !is_copied_as(**dtype, element)) else {
            return Ok(());
        };
        let help = match &self.facts.dtype_var {
            None => "change the signature, or compile the kernel for that dtype".to_string(),
            Some(var) => format!("launch it only `when = \"{var} in {{…}}\"`"),
        };
        Err(format!("whose elements are {element}, not {dtype}; {help}"))
    }

    /// The numbers that are passed where the descriptor is none on the device: by Triton 3.4, which
    /// pads with zeros, and later.
    fn numbers(&self) -> Vec<Vec<KernelArg>> {
        let all = |exprs: &[Expr], dtype| -> Vec<_> {
            exprs.iter().map(|expr| integer(expr.clone(), dtype)).collect()
        };
        let pointer = KernelArg::Value(Expr::symbol(self.tensor), None);
        let mut front = vec![pointer];
        front.extend(all(&self.dims, DType::INT64));
        front.extend(all(&self.strides, DType::INT64));
        let mut back = all(&self.dims, DType::INT32);
        back.extend(all(&self.strides, DType::INT64));
        let is_nan = self.map.choices.nan;
        let nan = integer(Expr::Int(is_nan.into()), DType::BOOL);
        let flagged = [&front[..], &[nan], &back].concat();
        if is_nan { vec![flagged] } else { vec![[&front[..], &back].concat(), flagged] }
    }
}

/// A tensor map whose box is for the JSON to say.
fn is_open(arg: &KernelArg) -> Option<&MapSpec> {
    match arg {
        KernelArg::TensorMap(map) => Some(map).filter(|map| map.box_dims.is_none()),
        KernelArg::Value(..) | KernelArg::Constant(_) | KernelArg::Struct(_) => None,
    }
}

/// Whether what Triton copies as `element` may be of that dtype. Of bytes Triton knows one type,
/// and PyTorch and others have few unsigned ones.
fn is_copied_as(dtype: DType, element: DType) -> bool {
    let are_ints = dtype.is_int() && element.is_int();
    let has_size = dtype.element_bits() == element.element_bits();
    dtype == element || has_size && (are_ints || element == DType::UINT8)
}

/// The strides of dims that lie one in the other without gaps.
fn compact(dims: &[Expr]) -> Vec<Expr> {
    let mut strides = vec![Expr::Int(1); dims.len()];
    for i in (1..dims.len()).rev() {
        strides[i - 1] = match &strides[i] {
            Expr::Int(1) => dims[i].clone(),
            inner => Expr::binary(Op::Mul, dims[i].clone(), inner.clone()),
        };
    }
    strides
}

fn integer(expr: Expr, dtype: DType) -> KernelArg {
    KernelArg::Value(expr, Some(CScalar::Int(dtype)))
}

/// The bytes of a pointer or an integer.
fn size(arg: &KernelArg) -> u32 {
    match arg {
        KernelArg::Value(_, Some(CScalar::Int(dtype))) => dtype.element_bytes(),
        _ => 8,
    }
}

#[cfg(test)]
mod tests;
