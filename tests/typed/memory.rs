// SPDX-License-Identifier: Apache-2.0
//! Memory: an accepted call without results allocates nothing, and what a call returns is its
//! caller's alone, and freed once.
//!
//! The allocator of this program counts what each thread takes from it. Results and workspaces come
//! from an allocator of this program's too, which knows those that are there.

#![expect(unsafe_code, reason = "allocators are unsafe")]

use crate::everything::{nested, written};
use crate::packages::{everything, table};
use crate::table::describe::Range;
use core::cell::Cell;
use core::ffi::{c_int, c_void};
use kernpack::dtype::float64;
use kernpack::{Allocator, DLTensor, DType, DeviceType, Tensor, use_allocator};
use kernpack_ffi_abi::ManagedTensor;
use kernpack_ffi_abi::libtvm_ffi::{SetError, TVMFFIEnvGetDLPackManagedTensorAllocator};
use ndarray::{Array1, Array2, array};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;

/// The system's allocator, which counts.
struct Counting;

thread_local! {
    static N_ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static N_LENT: Cell<usize> = const { Cell::new(0) };
    static N_FREED: Cell<usize> = const { Cell::new(0) };
}

fn count(counter: &'static std::thread::LocalKey<Cell<usize>>) {
    // A thread that ends frees what it has behind its counters.
    let _ = counter.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: it is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(&N_ALLOCATIONS);
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread allocates meanwhile.
fn n_allocations(act: impl FnOnce()) -> usize {
    let before = N_ALLOCATIONS.get();
    act();
    N_ALLOCATIONS.get() - before
}

#[test]
fn an_accepted_call_allocates_nothing() {
    // They are loaded, and before that compiled, by whoever is the first to ask for them.
    let (table, everything) = (table(), everything());
    let (x, mut y) = (Array2::<f32>::ones((2, 4)), Array2::zeros((2, 4)));
    let mut out = Array1::zeros(4);
    assert_eq!(n_allocations(|| table.scale(&x, &mut y).alpha(0.5).call().unwrap()), 0);
    let range = Range { low: 1, high: 2 };
    let describe = || table.describe([1, 2], range, &mut out).step(3).call().unwrap();
    assert_eq!(n_allocations(describe), 0);
    let (x, mut y, mut z) = (array![1.0f32, 2.0], array![0.0f32, 0.0], array![0.0f64, 0.0]);
    let written = || {
        let q = written::Q { y: &mut y, by: 3.0, _2: 1 };
        let r = written::R { _0: &mut z, s: "a text of some length", e: None };
        everything.written(&x).q(q).r(r).call().unwrap();
    };
    assert_eq!(n_allocations(written), 0);
    let (x, mut y, mut out) = (array![1.0f64], array![0.0f64], Array1::zeros(4));
    let nested = || {
        let p = nested::P {
            x: &x,
            _1: nested::P1 { _0: 1, lo: 2.0, _2: (), _3: () },
            grid: [1, 1],
            mode: "a text of some length",
            last: Some(nested::PLast { _0: u64::MAX, _1: &mut y }),
        };
        everything.nested(p, &mut out).call().unwrap();
    };
    assert_eq!(n_allocations(nested), 0);
    let (x, shape) = (Array2::<f32>::ones((2, 4)), vec![2, 4]);
    let mut out = Array1::zeros(4);
    assert_eq!(n_allocations(|| everything.stars(&x, &shape, &mut out).call().unwrap()), 0);
}

/// Memory for a result, which counts when it is freed.
struct Counted(Vec<f64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fill(f64::NAN);
        count(&N_FREED);
    }
}

/// The allocator that the process has before it has this program's.
fn kernpacks_own() -> Allocator {
    static OWN: OnceLock<Allocator> = OnceLock::new();
    *OWN.get_or_init(|| {
        kernpack::call::need_memory().unwrap();
        // SAFETY: it reads what is set.
        let own = unsafe { TVMFFIEnvGetDLPackManagedTensorAllocator() };
        own.expect("it has just been set")
    })
}

/// A `DLPackManagedTensorAllocator`. Memory of a GPU is kernpack's own.
unsafe extern "C" fn lend(
    prototype: *const DLTensor,
    out: *mut *mut ManagedTensor,
    context: *mut c_void,
    set_error: SetError,
) -> c_int {
    // SAFETY: the caller passes a tensor.
    let device = unsafe { (*prototype).device_type };
    if device == DeviceType::CUDA.0 {
        // SAFETY: what the caller passes is handed on.
        return unsafe { kernpacks_own()(prototype, out, context, set_error) };
    }
    count(&N_LENT);
    // SAFETY: as above.
    let prototype = unsafe { &*prototype };
    // SAFETY: it has so many extents.
    let shape = unsafe { prototype.extents() };
    let bytes = DType::from_packed(prototype.dtype).compact_bytes(shape).unwrap_or_default();
    let memory = Counted(vec![0.0; bytes.div_ceil(8) as usize]);
    let data = memory.0.as_ptr() as u64;
    let view = DLTensor { data, strides: 0, byte_offset: 0, ..*prototype };
    // SAFETY: as above; there are no strides, so that row-major ones are made.
    let made = unsafe { ManagedTensor::over(&view, memory) };
    // SAFETY: the caller has a place for it.
    unsafe { out.write(made) };
    0
}

/// How many tensors this thread gets from the allocator meanwhile, and how many it frees.
pub fn n_lent_and_freed(act: impl FnOnce()) -> (usize, usize) {
    kernpacks_own();
    // SAFETY: the function is there as long as the process, and does what is said of such ones.
    unsafe { use_allocator(lend) }.unwrap();
    let before = (N_LENT.get(), N_FREED.get());
    act();
    (N_LENT.get() - before.0, N_FREED.get() - before.1)
}

#[test]
fn results_come_from_the_allocator_and_are_freed_once() {
    let x = array![[1.0f32, 2.0]];
    let mut sums = None;
    let call = || sums = Some(table().sums(&x).call().unwrap());
    assert_eq!(n_lent_and_freed(call), (2, 0));
    let crate::table::sums::Results { rows, columns } = sums.unwrap();
    assert_eq!(n_lent_and_freed(|| drop(rows)), (0, 1));
    assert_eq!(columns.as_slice().unwrap(), [1.0, 2.0]);
    assert_eq!(n_lent_and_freed(|| drop(columns)), (0, 1));
}

#[test]
fn what_is_refused_keeps_nothing() {
    let refused =
        || drop(table().sums(&Array2::zeros((1, 2)).remove_axis(ndarray::Axis(0))).call());
    assert_eq!(n_lent_and_freed(refused), (0, 0));
    // A result that has another dtype than the caller says is freed too.
    let refused = || {
        let results = everything().filled(2, DType::FLOAT32).call::<float64>();
        let refused = results.unwrap_err().to_string();
        assert_eq!(refused, "TypeError: expected a tensor of float64, got float32");
    };
    assert_eq!(n_lent_and_freed(refused), (3, 3));
}

#[test]
fn workspaces_are_freed_when_the_call_ends() {
    let (x, mut y) = (array![1.0f32, 2.0], array![0.0f32, 0.0]);
    let counted = n_lent_and_freed(|| everything().scratch(&x, &mut y).call().unwrap());
    assert_eq!((counted, y), ((1, 1), array![2.0, 1.0]));
}

#[test]
fn results_are_their_owners_alone() {
    let mut first = table().add(&array![1.0f32, 2.0]).call().unwrap();
    let second = table().add(&array![1.0f32, 2.0]).call().unwrap();
    first.as_mut_slice().unwrap()[0] = 5.0;
    assert_eq!(first.as_slice().unwrap(), [5.0, 2.0]);
    assert_eq!(second.as_slice().unwrap(), [1.0, 2.0]);
    assert_ne!(first.address(), second.address());
}

#[test]
fn results_may_be_empty_or_have_no_dims() {
    let mut empty = table().add(&Array1::<f32>::zeros(0)).call().unwrap();
    assert_eq!((empty.shape(), empty.len(), empty.is_empty()), (&[0][..], 0, true));
    assert_eq!(empty.as_slice().unwrap(), [0.0; 0]);
    assert_eq!(empty.as_mut_slice().unwrap(), [0.0; 0]);
    let again: Tensor<f32> = table().add(&empty).b(&empty).call().unwrap();
    assert!(again.is_empty());
    let sums = table().sums(&Array2::<f32>::zeros((0, 2))).call().unwrap();
    assert_eq!(sums.columns.as_slice().unwrap(), [0.0, 0.0]);
    let mut one = everything().filled(0, DType::FLOAT32).call::<f32>().unwrap().c;
    assert_eq!((one.shape(), one.len()), (&[][..], 1));
    one.as_mut_slice().unwrap()[0] += 1;
    assert_eq!(one.as_slice().unwrap(), [33]);
}
