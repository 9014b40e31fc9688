// SPDX-License-Identifier: Apache-2.0
//! Tensors of `candle-core` on the CPU, in any layout.
//!
//! Theirs are shared, so that they are lent to be read; what a function writes is memory of the
//! caller's that becomes a tensor afterwards, or the storage that an operation of candle's gets.
//! Types of elements are those that both have: float8 and smaller are not.

#![expect(unsafe_code, reason = "a view is made of addresses")]

use super::lend::view_of;
use crate::{Element, Error, Lend, OnHost, Result, Tensor, View, ViewMut};
use candle_core::backend::BackendStorage;
use candle_core::{CpuStorage, Device, Layout, Shape, Storage, StorageRef, WithDType};
use core::marker::PhantomData;
use kernpack_ffi_abi::DeviceType;
use kernpack_ffi_abi::layout::DLTensor;

const _: () = assert!(size_of::<usize>() == size_of::<i64>());

mod sealed {
    pub trait Sealed {}
    impl Sealed for candle_core::Tensor {}
}

/// A type of elements that tensors of candle's have on the CPU.
pub trait CandleElement: Element + WithDType {
    /// The elements of a storage, to write; `None` where it has those of another type.
    #[doc(hidden)]
    fn elements_mut(storage: &mut CpuStorage) -> Option<&mut [Self]>;
}

macro_rules! elements {
    ($( $ty:ty = $variant:ident; )*) => {
        $(
            impl CandleElement for $ty {
                fn elements_mut(storage: &mut CpuStorage) -> Option<&mut [Self]> {
                    match storage {
                        CpuStorage::$variant(elements) => Some(elements),
                        _ => None,
                    }
                }
            }
        )*

        /// The dtype of a storage, under the name that we have for it if any.
        fn dtype_of(storage: &CpuStorage) -> String {
            match storage {
                $( CpuStorage::$variant(_) => <$ty as Element>::DTYPE.to_string(), )*
                other => other.dtype().as_str().to_string(),
            }
        }
    };
}

elements! {
    u8 = U8;
    u32 = U32;
    i16 = I16;
    i32 = I32;
    i64 = I64;
    half::bf16 = BF16;
    half::f16 = F16;
    f32 = F32;
    f64 = F64;
}

fn other_dtype<T: Element>(storage: &CpuStorage) -> Error {
    Error::Type(format!("expected a tensor of {}, got {}", T::DTYPE, dtype_of(storage)))
}

/// The tensor that a layout makes of so many elements.
fn view<T: Element>(data: *const T, n_elements: usize, layout: &Layout) -> Result<DLTensor> {
    check_bounds(n_elements, layout)?;
    let data = data.wrapping_add(layout.start_offset()) as u64;
    let (shape, strides) = (layout.dims(), layout.stride());
    let addresses = (shape.as_ptr() as u64, strides.as_ptr() as u64);
    Ok(view_of::<T>(data, (DeviceType::CPU, 0), addresses.0, addresses.1, shape.len()))
}

/// Refuses a layout that goes beyond so many elements, or counts more than an integer holds:
/// anybody may make one.
fn check_bounds(n_elements: usize, layout: &Layout) -> Result<()> {
    let (shape, strides, start) = (layout.dims(), layout.stride(), layout.start_offset());
    let furthest = |last: usize, (extent, stride): (&usize, &usize)| {
        last.checked_add(stride.checked_mul(extent - 1)?)
    };
    let is_within = || {
        let last = shape.iter().zip(strides).try_fold(start, furthest);
        last.is_some_and(|last| last < n_elements)
    };
    let times = |count: i64, extent: &usize| count.checked_mul(i64::try_from(*extent).ok()?);
    let is_counted = shape.len() == strides.len() && shape.iter().try_fold(1, times).is_some();
    match is_counted && (shape.contains(&0) || is_within()) {
        true => Ok(()),
        false => Err(Error::Value(format!(
            "a storage of {n_elements} elements has no tensor of the shape {shape:?} and the \
             strides {strides:?} that starts at {start}"
        ))),
    }
}

impl<'t, T: CandleElement> View<'t, T> {
    /// The tensor of a storage and a layout, to read: an argument of `CustomOp1::cpu_fwd`.
    ///
    /// # Errors
    /// Where it has another dtype, or the layout goes beyond the storage.
    pub fn from_candle(storage: &'t CpuStorage, layout: &'t Layout) -> Result<View<'t, T>> {
        let elements = T::cpu_storage_as_slice(storage).map_err(|_| other_dtype::<T>(storage))?;
        let tensor = view(elements.as_ptr(), elements.len(), layout)?;
        // SAFETY: the storage has the elements of the layout, and both are borrowed for `'t`.
        unsafe { View::from_raw(tensor) }
    }
}

impl<'t, T: CandleElement> ViewMut<'t, T> {
    /// The tensor of a storage and a layout, to write: the result of `CustomOp1::cpu_fwd`, or the
    /// argument of `InplaceOp1::cpu_fwd`.
    ///
    /// # Errors
    /// Where it has another dtype, the layout goes beyond the storage, or elements share memory.
    pub fn from_candle(storage: &'t mut CpuStorage, layout: &'t Layout) -> Result<ViewMut<'t, T>> {
        if layout.has_internal_overlap() {
            return Err(Error::Value(format!(
                "expected a tensor to write, got one whose elements share memory: the shape {:?} \
                 and the strides {:?}",
                layout.dims(),
                layout.stride()
            )));
        }
        if storage.dtype() != <T as WithDType>::DTYPE {
            return Err(other_dtype::<T>(storage));
        }
        let elements = T::elements_mut(storage).expect("a storage has elements of its dtype");
        let n_elements = elements.len();
        let tensor = view(elements.as_mut_ptr(), n_elements, layout)?;
        // SAFETY: as above; nobody else has the storage.
        unsafe { ViewMut::from_raw(tensor) }
    }
}

/// A tensor of `candle-core`, as functions on the CPU take one.
pub trait CandleTensor: sealed::Sealed {
    /// The tensor, to read. Where it is on a GPU or has another dtype, the call is refused.
    fn tensor<T: CandleElement>(&self) -> CandleView<'_, T>;
}

impl CandleTensor for candle_core::Tensor {
    fn tensor<T: CandleElement>(&self) -> CandleView<'_, T> {
        CandleView { tensor: self, elements: PhantomData }
    }
}

/// A tensor of `candle-core` to read, whose storage is locked until the call is made.
///
/// Calls of one tensor twice, while another thread waits to write it in place, may wait for ever: a
/// call takes its lock for each.
#[derive(Debug)]
pub struct CandleView<'t, T> {
    tensor: &'t candle_core::Tensor,
    elements: PhantomData<T>,
}

// SAFETY: the storage has the elements of the layout, and nobody writes it while it is locked.
unsafe impl<P: OnHost, T: CandleElement> Lend<P> for CandleView<'_, T> {
    type Element = T;
    type Guard<'a>
        = StorageRef<'a>
    where
        Self: 'a,
        P: 'a;

    fn lend<'a>(&'a self, _: &'a P) -> Result<(DLTensor, StorageRef<'a>)> {
        let (storage, layout) = self.tensor.storage_and_layout();
        let Storage::Cpu(on_cpu) = &*storage else {
            let found = storage.device().location();
            return Err(Error::Value(format!(
                "expected a tensor on the CPU, got one on {found:?}"
            )));
        };
        let elements = T::cpu_storage_as_slice(on_cpu).map_err(|_| other_dtype::<T>(on_cpu))?;
        let tensor = view(elements.as_ptr(), elements.len(), layout)?;
        Ok((tensor, storage))
    }
}

impl<T: CandleElement> Tensor<T> {
    /// A copy as a tensor of candle's: its memory is always that of Rust's allocator.
    ///
    /// # Errors
    /// Where the elements are on a GPU.
    pub fn to_candle(&self) -> Result<candle_core::Tensor> {
        let elements = self.as_slice()?.to_vec();
        let tensor = candle_core::Tensor::from_vec(elements, self.candle_shape(), &Device::Cpu);
        tensor.map_err(|error| Error::Runtime(error.to_string()))
    }

    /// A copy as a storage and its shape: the result of `CustomOp1::cpu_fwd`.
    ///
    /// # Errors
    /// Where the elements are on a GPU.
    pub fn to_candle_storage(&self) -> Result<(CpuStorage, Shape)> {
        Ok((T::to_cpu_storage(self.as_slice()?), self.candle_shape()))
    }

    fn candle_shape(&self) -> Shape {
        let extents = self.shape().iter().map(|extent| *extent as usize);
        extents.collect::<Vec<_>>().into()
    }
}

impl From<Error> for candle_core::Error {
    fn from(error: Error) -> candle_core::Error {
        candle_core::Error::wrap(error)
    }
}
