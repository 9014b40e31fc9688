// SPDX-License-Identifier: Apache-2.0
//! Memory on the stack for what a call is made of, and on the heap where that is not enough.
#![expect(unsafe_code, reason = "hands out memory that is not initialised")]

use core::cell::{Cell, RefCell, UnsafeCell};
use core::mem::MaybeUninit;

/// Room for `N` values, which stay where they are while it lives. Nothing of it is written before
/// it is asked for: clearing it would cost more than a call.
pub(crate) struct Room<T, const N: usize> {
    inline: UnsafeCell<MaybeUninit<[T; N]>>,
    n_used: Cell<usize>,
    more: RefCell<Vec<Box<[T]>>>,
}

impl<T: Copy + Default, const N: usize> Room<T, N> {
    #[inline]
    pub(crate) fn new() -> Self {
        Room {
            inline: UnsafeCell::new(MaybeUninit::uninit()),
            n_used: Cell::new(0),
            more: RefCell::new(Vec::new()),
        }
    }

    /// Room for as many values, which are all `T::default()`.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "no two callers get the same memory")]
    pub(crate) fn take(&self, count: usize) -> &mut [T] {
        let first = self.n_used.get();
        if count > N - first {
            return self.take_more(count);
        }
        self.n_used.set(first + count);
        let start = self.inline.get().cast::<T>().wrapping_add(first);
        for at in 0..count {
            // SAFETY: it lies in the array, as `first + count` is at most `N`.
            unsafe { start.wrapping_add(at).write(T::default()) };
        }
        // SAFETY: these values were just written, and nobody else has them.
        unsafe { core::slice::from_raw_parts_mut(start, count) }
    }

    /// Room for one value.
    #[inline]
    pub(crate) fn put(&self, value: T) -> &mut T {
        let place = &mut self.take(1)[0];
        *place = value;
        place
    }

    #[cold]
    #[expect(clippy::mut_from_ref, reason = "no two callers get the same memory")]
    fn take_more(&self, count: usize) -> &mut [T] {
        let mut values = vec![T::default(); count].into_boxed_slice();
        let start = values.as_mut_ptr();
        self.more.borrow_mut().push(values);
        // SAFETY: the box keeps them where they are while `self` lives, and nobody else has them.
        unsafe { core::slice::from_raw_parts_mut(start, count) }
    }
}
