// SPDX-License-Identifier: Apache-2.0
//! Keys of variants: what a function that is compiled for its arguments tells them apart by.
//!
//! Of a tensor that is its dtype, rank, type of device and order; of a tuple its items; of a number
//! its type; of a text, a dtype, and whatever is constant for the compiler, the value. Extents,
//! strides, alignment and divisibility are no part of it. [`Class`] is the class of one argument as
//! data, and a key is a row of words: a call makes them at once ([`of`]), and what is known
//! without a call makes them of classes ([`Class::add_to`]).

use crate::ffi::bytes;
use kernpack_ffi_abi::layout::{Any, DLTensor};
use kernpack_ffi_abi::value::{items, view};
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex, slice};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// A key. Nearly all have room without an allocation.
pub type Words = SmallVec<[u64; 24]>;

/// How deep tuples in tuples are told apart.
const DEEPEST: usize = 16;

/// The class of an argument: those of one class share a variant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// `None`
    None,
    /// A truth value.
    Bool,
    /// An integer.
    Int,
    /// A float.
    Float,
    /// An address, such as that of a stream.
    Pointer,
    /// A Shape, of so many extents.
    Shape(usize),
    /// A tensor.
    Tensor(TensorClass),
    /// A tuple, a list, or an array of TVM-FFI's.
    Tuple(Vec<Class>),
    /// A text.
    Text(String),
    /// A dtype.
    #[serde(rename = "dtype")]
    DType(String),
    /// An integer that is constant.
    ConstantInt(i64),
    /// A truth value that is constant.
    ConstantBool(bool),
    /// The bits of a float that is constant.
    ConstantFloat(u64),
    /// Something else, by the name of its type.
    Other(String),
}

/// The class of a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TensorClass {
    dtype: String,
    ndim: u8,
    device: String,
    order: Order,
}

/// The order in which the elements of a tensor lie. The first that fits is the one: an extent of 1
/// takes no step, and a tensor without elements none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Order {
    /// Compact, the last dim being the fastest.
    Row,
    /// Compact, the first dim being the fastest.
    Col,
    /// The last dim has the stride 1, and no stride is negative.
    Inner,
    /// No stride is negative.
    Strided,
    /// Any strides.
    Any,
}

/// Kinds of words, in their lowest byte.
mod tag {
    pub const NONE: u64 = 0;
    pub const BOOL: u64 = 1;
    pub const INT: u64 = 2;
    pub const FLOAT: u64 = 3;
    pub const POINTER: u64 = 4;
    pub const SHAPE: u64 = 5;
    pub const TENSOR: u64 = 6;
    pub const TUPLE: u64 = 7;
    pub const TEXT: u64 = 8;
    pub const DTYPE: u64 = 9;
    pub const CONSTANT_INT: u64 = 10;
    pub const CONSTANT_BOOL: u64 = 11;
    pub const CONSTANT_FLOAT: u64 = 12;
    pub const OTHER: u64 = 13;
}

/// Takes the class of an argument, word by word.
///
/// # Safety
/// It is an argument of an entry point's caller.
#[inline]
pub unsafe fn of(arg: &Any, is_constant: bool, take: &mut impl FnMut(u64)) {
    // SAFETY: as the caller says.
    if let Some(view) = unsafe { view(arg) } {
        // SAFETY: a caller's view has as many extents and strides as it says.
        return take(unsafe { tensor_word(view) });
    }
    match (TypeIndex(arg.type_index), is_constant) {
        (TypeIndex::INT, false) => take(tag::INT),
        (TypeIndex::FLOAT, false) => take(tag::FLOAT),
        _ => {
            let mut words = Words::new();
            // SAFETY: as the caller says.
            unsafe { class(arg, is_constant, 0) }.add_to(&mut words);
            words.into_iter().for_each(take);
        }
    }
}

/// # Safety
/// As of [`order_of`].
#[inline]
unsafe fn tensor_word(view: &DLTensor) -> u64 {
    // SAFETY: as the caller says.
    let order = unsafe { order_of(view) };
    word_of_tensor(view.dtype, view.ndim as u8, view.device_type as u8, order)
}

fn word_of_tensor(dtype: u32, ndim: u8, device: u8, order: Order) -> u64 {
    let [ndim, device, order] = [ndim, device, order as u8].map(u64::from);
    tag::TENSOR | order << 8 | ndim << 16 | device << 24 | u64::from(dtype) << 32
}

/// # Safety
/// The view has as many extents, and strides if any, as it says.
#[inline]
unsafe fn order_of(view: &DLTensor) -> Order {
    if view.strides == 0 {
        return Order::Row;
    }
    // SAFETY: as the caller says.
    let extents = unsafe { view.extents() };
    // SAFETY: as the caller says.
    let strides = unsafe { slice(view.strides as *const i64, extents.len()) };
    let mut dims = extents.iter().copied().zip(strides.iter().copied());
    if is_compact(dims.clone().rev()) || extents.contains(&0) {
        return Order::Row;
    }
    if is_compact(dims.clone()) {
        return Order::Col;
    }
    let is_step = |(extent, _): &(i64, i64)| *extent > 1;
    if dims.clone().filter(is_step).any(|(_, stride)| stride < 0) {
        return Order::Any;
    }
    match dims.next_back() {
        Some((extent, stride)) if stride == 1 || extent == 1 => Order::Inner,
        _ => Order::Strided,
    }
}

/// Whether each dim goes on where those before it end.
#[inline]
fn is_compact(dims: impl Iterator<Item = (i64, i64)>) -> bool {
    let mut expected = 1i64;
    for (extent, stride) in dims {
        if extent != 1 && stride != expected {
            return false;
        }
        expected = expected.wrapping_mul(extent);
    }
    true
}

/// The class of an argument.
///
/// # Safety
/// It is an argument of an entry point's caller.
pub unsafe fn class(arg: &Any, is_constant: bool, depth: usize) -> Class {
    let other = || Class::Other(TypeIndex(arg.type_index).to_string());
    // SAFETY: as the caller says.
    if let Some(view) = unsafe { view(arg) } {
        // SAFETY: a caller's view has as many extents and strides as it says.
        return Class::Tensor(unsafe { tensor_class(view) });
    }
    match (TypeIndex(arg.type_index), is_constant) {
        (TypeIndex::NONE, _) => Class::None,
        (TypeIndex::BOOL, false) => Class::Bool,
        (TypeIndex::BOOL, true) => Class::ConstantBool(arg.payload != 0),
        (TypeIndex::INT, false) => Class::Int,
        (TypeIndex::INT, true) => Class::ConstantInt(arg.payload),
        (TypeIndex::FLOAT, false) => Class::Float,
        (TypeIndex::FLOAT, true) => Class::ConstantFloat(arg.payload as u64),
        (TypeIndex::OPAQUE_PTR, _) => Class::Pointer,
        (TypeIndex::DATA_TYPE, _) => {
            Class::DType(DType::from_packed(arg.payload as u32).to_string())
        }
        // SAFETY: as the caller says.
        (TypeIndex::SHAPE, _) => Class::Shape(unsafe { items(arg) }.1),
        (TypeIndex::ARRAY | TypeIndex::LIST, _) if depth < DEEPEST => {
            // SAFETY: as the caller says.
            let (data, size) = unsafe { items(arg) };
            // SAFETY: the items live as long as what they are in.
            let items = unsafe { slice(data as *const Any, size) };
            // SAFETY: items are passed as arguments are.
            let item = |item| unsafe { class(item, is_constant, depth + 1) };
            Class::Tuple(items.iter().map(item).collect())
        }
        (TypeIndex::RAW_STR | TypeIndex::SMALL_STR | TypeIndex::STR, _) => {
            let text = bytes(arg).map(String::from_utf8_lossy);
            text.map_or_else(other, |text| Class::Text(text.into_owned()))
        }
        _ => other(),
    }
}

/// # Safety
/// As of [`order_of`].
unsafe fn tensor_class(view: &DLTensor) -> TensorClass {
    TensorClass {
        dtype: DType::from_packed(view.dtype).to_string(),
        ndim: view.ndim as u8,
        device: DeviceType(view.device_type).to_string(),
        // SAFETY: as the caller says.
        order: unsafe { order_of(view) },
    }
}

impl Class {
    /// Adds the class to a key: what [`of`] takes for an argument of it.
    pub fn add_to(&self, words: &mut Words) {
        match self {
            Class::None => words.push(tag::NONE),
            Class::Bool => words.push(tag::BOOL),
            Class::Int => words.push(tag::INT),
            Class::Float => words.push(tag::FLOAT),
            Class::Pointer => words.push(tag::POINTER),
            Class::Shape(size) => words.push(tag::SHAPE | (*size as u64) << 8),
            Class::Tensor(TensorClass { dtype, ndim, device, order }) => {
                let dtype = DType::parse(dtype).map_or(0, DType::packed);
                let device = DeviceType::parse(device).map_or(0, |device| device.0 as u8);
                words.push(word_of_tensor(dtype, *ndim, device, *order));
            }
            Class::Tuple(items) => {
                words.push(tag::TUPLE | (items.len() as u64) << 8);
                items.iter().for_each(|item| item.add_to(words));
            }
            Class::Text(text) => add_text(tag::TEXT, text, words),
            Class::DType(name) => add_text(tag::DTYPE, name, words),
            Class::ConstantInt(value) => words.extend([tag::CONSTANT_INT, *value as u64]),
            Class::ConstantBool(truth) => words.push(tag::CONSTANT_BOOL | u64::from(*truth) << 8),
            Class::ConstantFloat(bits) => words.extend([tag::CONSTANT_FLOAT, *bits]),
            Class::Other(name) => add_text(tag::OTHER, name, words),
        }
    }
}

fn add_text(tag: u64, text: &str, words: &mut Words) {
    words.push(tag | (text.len() as u64) << 8);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        words.push(u64::from_le_bytes(word));
    }
}
