// SPDX-License-Identifier: Apache-2.0
//! Tensors lent for the time of a call.

#![expect(unsafe_code, reason = "a view is made of addresses")]

use crate::{Cpu, Element, Error, Result};
use core::marker::PhantomData;
use kernpack_ffi_abi::layout::DLTensor;
use kernpack_ffi_abi::{DType, DeviceType};

/// A lender of a tensor to functions that read it, on the CPU or on a stream `S` of a GPU.
///
/// # Safety
/// What the view says is so as long as the guard lives: there is memory of these extents and
/// strides on that device, whose elements have the type [`Element`](Lend::Element), and nobody
/// writes it but what runs before the call on the stream.
#[diagnostic::on_unimplemented(
    message = "`{Self}` lends no tensor to this function",
    label = "expected a tensor to read, such as a `&` reference to an array",
    note = "a slice is a tensor of a shape: `View::new(&slice, &shape)?`; arrays of `ndarray` are \
            tensors where kernpack has the feature `ndarray`",
    note = "functions on the CPU take tensors that implement `Lend<Cpu>`, those on a GPU tensors that \
            implement `Lend` of the stream's type"
)]
pub unsafe trait Lend<S: ?Sized = Cpu> {
    /// The type of its elements.
    type Element: Element;
    /// A value that is held until the call is made, and what then follows it is ordered behind it.
    type Guard<'a>
    where
        Self: 'a,
        S: 'a;

    /// The view, in which pointers may lead to `self`.
    ///
    /// # Errors
    /// Where it cannot be used on the stream.
    fn lend<'a>(&'a self, stream: &'a S) -> Result<(DLTensor, Self::Guard<'a>)>;
}

/// A lender of a tensor to functions that write it.
///
/// # Safety
/// As of [`Lend`]; and nobody else reads or writes the memory as long as the guard lives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` lends no tensor that this function may write",
    label = "expected a tensor to write, such as a `&mut` reference to an array",
    note = "a slice is a tensor of a shape: `ViewMut::new(&mut slice, &shape)?`; arrays of \
            `ndarray` are tensors where kernpack has the feature `ndarray`",
    note = "functions on the CPU take tensors that implement `LendMut<Cpu>`, those on a GPU tensors \
            that implement `LendMut` of the stream's type"
)]
pub unsafe trait LendMut<S: ?Sized = Cpu> {
    /// The type of its elements.
    type Element: Element;
    /// A value that is held until the call is made.
    type Guard<'a>
    where
        Self: 'a,
        S: 'a;

    /// The view, in which pointers may lead to `self`.
    ///
    /// # Errors
    /// Where it cannot be used on the stream.
    fn lend_mut<'a>(&'a mut self, stream: &'a S) -> Result<(DLTensor, Self::Guard<'a>)>;
}

/// Has a type lend a view, with nothing to hold until the call is made: the same on every stream,
/// or one for a place.
macro_rules! lend_view {
    ($lend:ident for $ty:ty, $this:ident => $view:expr) => {
        lend_view!($lend for $ty, ($this, _place) on [S: ?Sized] S => $view);
    };
    (Lend for $ty:ty, ($this:ident, $place:ident) on [$($s:tt)*] $on:ty => $view:expr) => {
        lend_view!(Lend, lend([&'a $this], $place) for $ty, [$($s)*] $on, $view);
    };
    (LendMut for $ty:ty, ($this:ident, $place:ident) on [$($s:tt)*] $on:ty => $view:expr) => {
        lend_view!(LendMut, lend_mut([&'a mut $this], $place) for $ty, [$($s)*] $on, $view);
    };
    (
        $lend:ident, $method:ident([$($this:tt)*], $place:ident)
        for $ty:ty, [$($s:tt)*] $on:ty, $view:expr
    ) => {
        // SAFETY: stands where this is used.
        unsafe impl<T: $crate::Element, $($s)*> $crate::$lend<$on> for $ty {
            type Element = T;
            type Guard<'a> = () where Self: 'a, $on: 'a;

            #[inline]
            fn $method<'a>($($this)*, $place: &'a $on) -> $crate::Result<($crate::DLTensor, ())> {
                let view: $crate::Result<$crate::DLTensor> = $view;
                view.map(|view| (view, ()))
            }
        }
    };
}
pub(super) use lend_view;

// SAFETY: it lends what is behind the reference.
unsafe impl<S: ?Sized, L: Lend<S> + ?Sized> Lend<S> for &L {
    type Element = L::Element;
    type Guard<'a>
        = L::Guard<'a>
    where
        Self: 'a,
        S: 'a;

    #[inline]
    fn lend<'a>(&'a self, stream: &'a S) -> Result<(DLTensor, Self::Guard<'a>)> {
        (**self).lend(stream)
    }
}

// SAFETY: it lends what is behind the reference, which nobody else has.
unsafe impl<S: ?Sized, L: LendMut<S> + ?Sized> LendMut<S> for &mut L {
    type Element = L::Element;
    type Guard<'a>
        = L::Guard<'a>
    where
        Self: 'a,
        S: 'a;

    #[inline]
    fn lend_mut<'a>(&'a mut self, stream: &'a S) -> Result<(DLTensor, Self::Guard<'a>)> {
        (**self).lend_mut(stream)
    }
}

/// A tensor that is not there: what an argument is before it is given. Nobody has one.
#[derive(Clone, Copy, Debug)]
pub struct Absent<T>(core::convert::Infallible, PhantomData<T>);

impl<T> Absent<T> {
    fn none(&self) -> Result<DLTensor> {
        match self.0 {}
    }
}

/// No tensor, where an argument by position may be none: `norm::add(&x, kernpack::absent())`.
pub const fn absent<T>() -> Option<Absent<T>> {
    None
}

// SAFETY: there is none.
lend_view!(Lend for Absent<T>, self => self.none());

// SAFETY: there is none.
lend_view!(LendMut for Absent<T>, self => self.none());

/// A tensor of somebody else's, to read: DLPack's `DLTensor`, with the type of its elements and how
/// long it is there.
#[derive(Clone, Copy, Debug)]
pub struct View<'t, T> {
    tensor: DLTensor,
    lifetime: PhantomData<&'t [T]>,
}

/// A tensor of somebody else's, to write.
#[derive(Debug)]
pub struct ViewMut<'t, T> {
    tensor: DLTensor,
    lifetime: PhantomData<&'t mut [T]>,
}

/// Refuses a tensor that has another dtype than its type says.
pub(crate) fn check_dtype<T: Element>(tensor: &DLTensor) -> Result<()> {
    let found = DType::from_packed(tensor.dtype);
    match found == T::DTYPE {
        true => Ok(()),
        false => Err(Error::Type(format!("expected a tensor of {}, got {found}", T::DTYPE))),
    }
}

impl<'t, T: Element> View<'t, T> {
    /// A row-major tensor over a slice.
    ///
    /// # Errors
    /// Where the extents do not count the slice's elements.
    pub fn new(data: &'t [T], shape: &'t [i64]) -> Result<View<'t, T>> {
        check_count(data.len(), shape)?;
        let tensor = on_cpu::<T>(data.as_ptr() as u64, shape);
        Ok(View { tensor, lifetime: PhantomData })
    }

    /// The tensor that a `DLTensor` describes.
    ///
    /// # Errors
    /// Where it has another dtype.
    ///
    /// # Safety
    /// All that the view leads to is there for `'t`, and nobody writes it.
    pub unsafe fn from_raw(tensor: DLTensor) -> Result<View<'t, T>> {
        check_dtype::<T>(&tensor)?;
        Ok(View { tensor, lifetime: PhantomData })
    }

    #[cfg(feature = "dlpack")]
    pub(crate) fn raw(&self) -> &DLTensor {
        &self.tensor
    }
}

impl<'t, T: Element> ViewMut<'t, T> {
    /// The same view, for a shorter time.
    pub fn again(&mut self) -> ViewMut<'_, T> {
        ViewMut { tensor: self.tensor, lifetime: PhantomData }
    }

    /// A row-major tensor over a slice.
    ///
    /// # Errors
    /// Where the extents do not count the slice's elements.
    pub fn new(data: &'t mut [T], shape: &'t [i64]) -> Result<ViewMut<'t, T>> {
        check_count(data.len(), shape)?;
        let tensor = on_cpu::<T>(data.as_mut_ptr() as u64, shape);
        Ok(ViewMut { tensor, lifetime: PhantomData })
    }

    /// The tensor that a `DLTensor` describes.
    ///
    /// # Errors
    /// Where it has another dtype.
    ///
    /// # Safety
    /// All that the view leads to is there for `'t`, and nobody else reads or writes it.
    pub unsafe fn from_raw(tensor: DLTensor) -> Result<ViewMut<'t, T>> {
        check_dtype::<T>(&tensor)?;
        Ok(ViewMut { tensor, lifetime: PhantomData })
    }

    #[cfg(feature = "dlpack")]
    pub(crate) fn raw(&self) -> &DLTensor {
        &self.tensor
    }
}

/// Refuses extents that do not count so many elements.
pub(crate) fn check_count(n_elements: usize, shape: &[i64]) -> Result<()> {
    let count = shape
        .iter()
        .try_fold(1usize, |count, extent| count.checked_mul(usize::try_from(*extent).ok()?));
    match count == Some(n_elements) {
        true => Ok(()),
        false => Err(Error::Value(format!(
            "a tensor of shape {shape:?} needs {}, got {n_elements}",
            count.map_or("more elements than memory can hold".to_string(), |count| format!(
                "{count} elements"
            ))
        ))),
    }
}

/// A row-major tensor on the CPU.
fn on_cpu<T: Element>(data: u64, shape: &[i64]) -> DLTensor {
    view_of::<T>(data, (DeviceType::CPU, 0), shape.as_ptr() as u64, 0, shape.len())
}

/// A view of a tensor of that type, by the addresses of its data, extents and strides.
#[inline]
pub(crate) fn view_of<T: Element>(
    data: u64,
    device: (DeviceType, i32),
    shape: u64,
    strides: u64,
    rank: usize,
) -> DLTensor {
    view_with(T::DTYPE, data, device, shape, strides, rank)
}

/// The same of a dtype that no type tells.
#[inline]
pub(crate) fn view_with(
    dtype: DType,
    data: u64,
    (device, device_id): (DeviceType, i32),
    shape: u64,
    strides: u64,
    rank: usize,
) -> DLTensor {
    let (device_type, ndim, dtype) = (device.0, rank as i32, dtype.packed());
    DLTensor { data, device_type, device_id, ndim, dtype, shape, strides, byte_offset: 0 }
}

// SAFETY: whoever made the view vouched for it.
lend_view!(Lend for View<'_, T>, self => Ok(self.tensor));

// SAFETY: whoever made the view vouched for it.
lend_view!(LendMut for ViewMut<'_, T>, self => Ok(self.tensor));

// SAFETY: as above; who borrows the view does not write it.
lend_view!(Lend for ViewMut<'_, T>, self => Ok(self.tensor));
