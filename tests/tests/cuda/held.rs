// SPDX-License-Identifier: Apache-2.0
//! What preparing a call takes, memory and references, and that all of it is given back: when the
//! function goes, and where there is none, because a check, the memory or libtvm_ffi refuses. What
//! an error takes, too.
//!
//! The package is linked with a `malloc` that counts, refuses when it is told to, and notices who
//! writes past the end.

use super::*;
use kernpack_ffi_abi::layout::{Any, any, seq_cell};
use kernpack_ffi_abi::{Memory, TypeIndex, Width};
use kernpack_tests::gpu_package::outcome;
use kernpack_tests::memory::Arguments;
use kernpack_tests::value::Arrival;

/// What the package is linked with.
const BESIDE: &str = "
#define GUARD 0x5ca1ab1edeadbea7ull
static unsigned long long words[4096];
static unsigned long n_words;
static int n_live, n_until_refused, n_broken, n_until_grown;
static long long *grown;

void *malloc(unsigned long bytes) {
    unsigned long n = (bytes + 7) / 8, i;
    if (n_until_grown > 0 && --n_until_grown == 0) ++*grown;
    if (n_until_refused > 0 && --n_until_refused == 0) return 0;
    /* C allows to have no memory for nothing. */
    if (n == 0 || n_words + n + 2 > 4096) return 0;
    words[n_words] = n;
    /* What was never written must not be taken for zeros. */
    for (i = 1; i <= n; i++) words[n_words + i] = GUARD;
    words[n_words + n + 1] = GUARD;
    n_words += n + 2;
    n_live++;
    return &words[n_words - n - 1];
}

void free(void *memory) {
    unsigned long long *start = memory;
    if (!start) return;
    n_broken += start[start[-1]] != GUARD || start[-1] == 0;
    start[-1] = 0;
    if (--n_live == 0) n_words = 0;
}

void beside_refuse(int nth) { n_until_refused = nth; }
void beside_grow(long long *size, int nth) { --*(grown = size); n_until_grown = nth; }
void beside_tell(int *told) { told[0] = n_live; told[1] = n_broken; }
";

/// The package's own functions, which see nothing else of what it is linked with.
const C: &str = "
void beside_refuse(int nth);
void beside_grow(long long *size, int nth);
void beside_tell(int *told);
void refuse(int nth) { beside_refuse(nth); }
void grow(long long *size, int nth) { beside_grow(size, nth); }
void tell(int *told) { beside_tell(told); }
";

const PACKAGE: &str = r#"
[package]
name = "held"
[[function]]
signature = "nested(p: Tuple(int32, x: Tensor([n], float32)), y: Tensor([n], float32))"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n: int32"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "bare(n: int32)"
source = { ptx = "k.ptx" }
kernel = "count"
args = ["n"]
launch = { grid = [1], block = [32] }
[[function]]
signature = "long(LONG: int32)"
source = { host = "h.c" }
kernel = "refuse"
args = ["LONG"]
[[function]]
signature = "refuse(nth: int32)"
source = { host = "h.c" }
kernel = "refuse"
args = ["nth"]
[[function]]
signature = "grow(size: Pointer(int64), nth: int32)"
source = { host = "h.c" }
kernel = "grow"
args = ["size", "nth"]
[[function]]
signature = "tell(told: Pointer(int32))"
source = { host = "h.c" }
kernel = "tell"
args = ["told"]
"#;

pub(super) fn load() -> Loaded {
    static BUILT: LazyLock<GpuPackage> = LazyLock::new(|| {
        let files = [("k.ptx", PTX.as_bytes()), ("h.c", C.as_bytes())];
        GpuPackage::build_beside(&PACKAGE.replace("LONG", &long()), &files, BESIDE)
    });
    default_stream();
    BUILT.load()
}

/// A name that makes messages long.
fn long() -> String {
    "long".repeat(300)
}

/// How many allocations of the package live. None was written past its end.
pub(super) fn n_allocations(loaded: &Loaded) -> i32 {
    let mut told = [-1i32; 2];
    let address = told.as_mut_ptr().expose_provenance() as u64;
    loaded.call("tell", &[Value::Ptr(address)]).unwrap();
    assert_eq!(told[1], 0, "allocations that were not kept to");
    told[0]
}

/// What preparing a call gives.
fn prepare(loaded: &Loaded, name: &str, arguments: &Arguments) -> Result<Any, String> {
    let (status, result) = loaded.invoke(&format!("kernpack_prepare_{name}"), arguments);
    outcome(status).0.map(|()| result)
}

/// The arguments of `nested`, with its tuple as an Array or a List.
fn nested(sequence: fn(Vec<Value>) -> Value, n: i64, arrival: Arrival) -> Arguments {
    let values = [sequence(vec![Value::Int(3), tensor(8, 0)]), tensor(n, 0)];
    Arguments::new(&values, arrival)
}

#[test]
fn references_and_memory_are_held_until_the_function_goes() {
    let stub = Stub::load("devices 1");
    let loaded = load();
    for sequence in [Value::Array, Value::List] {
        let arguments = nested(sequence, 8, Arrival::Tensor);
        let prepared = prepare(&loaded, "nested", &arguments).unwrap();
        assert_eq!((prepared.type_index, prepared.padding), (TypeIndex::FUNCTION.0, 0));
        assert_eq!(fake_ffi::n_borrowed(), 3, "the sequence, the tensor in it, and the other");
        assert_eq!(n_allocations(&loaded), 2);
        outcome(fake_ffi::call_result(&prepared, &[])).0.unwrap();
        assert_eq!(calls(&stub.take_log(), "cuLaunchKernelEx").len(), 1);
        fake_ffi::drop_result(&prepared);
        assert_eq!((fake_ffi::n_borrowed(), n_allocations(&loaded)), (0, 0));
    }
}

#[test]
fn a_call_without_objects_is_prepared() {
    let _stub = Stub::load("devices 1");
    let host = kernpack_tests::cuda_host::Host::new();
    host.set_current(host.primary(0));
    let loaded = load();
    let arguments = Arguments::new(&[Value::Int(4)], Arrival::Tensor);
    let prepared = prepare(&loaded, "bare", &arguments).unwrap();
    assert_eq!(fake_ffi::n_borrowed(), 0);
    outcome(fake_ffi::call_result(&prepared, &[])).0.unwrap();
    fake_ffi::drop_result(&prepared);
    assert_eq!(n_allocations(&loaded), 0);
}

#[test]
fn memory_that_there_is_not_is_told() {
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let arguments = nested(Value::Array, 8, Arrival::Tensor);
    for nth in [1, 2] {
        loaded.call("refuse", &[Value::Int(nth)]).unwrap();
        let error = prepare(&loaded, "nested", &arguments).unwrap_err();
        assert_eq!(error, "RuntimeError: out of memory while a call was prepared", "{nth}");
        assert_eq!((fake_ffi::n_borrowed(), n_allocations(&loaded)), (0, 0), "{nth}");
    }
    let prepared = prepare(&loaded, "nested", &arguments).unwrap();
    fake_ffi::drop_result(&prepared);
    assert_eq!((fake_ffi::n_borrowed(), n_allocations(&loaded)), (0, 0));
}

#[test]
fn a_refused_call_leaves_nothing() {
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let owned = Arrival::Tensor;
    for (arguments, expected) in [
        (nested(Value::Array, 9, owned), "ValueError: Mismatched y.shape[0] on argument #1"),
        (nested(Value::Array, 8, Arrival::DLTensor), "TypeError: Mismatched type on argument #0"),
        (nested(Value::List, 8, Arrival::DLTensor), "TypeError: Mismatched type on argument #0"),
    ] {
        let error = prepare(&loaded, "nested", &arguments).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
        assert_eq!((fake_ffi::n_borrowed(), n_allocations(&loaded)), (0, 0), "{error}");
    }
}

/// Another thread appends to a list, which nobody may do to arguments: what was counted is held,
/// and no more.
#[test]
fn a_list_that_grows_meanwhile_has_no_more_room() {
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let list = Value::List(vec![Value::Int(3), tensor(8, 0), tensor(8, 0)]);
    let arguments = Arguments::new(&[list, tensor(8, 0)], Arrival::Tensor);
    let list = arguments.load(arguments.address() + u64::from(any::PAYLOAD.offset), Width::Ptr);
    let size = list.unwrap() as u64 + u64::from(seq_cell::SIZE.offset);
    let until_references = 2;
    loaded.call("grow", &[Value::Ptr(size), Value::Int(until_references)]).unwrap();
    assert_eq!(arguments.load(size, Width::I64), Some(2));
    let prepared = prepare(&loaded, "nested", &arguments).unwrap();
    assert_eq!(arguments.load(size, Width::I64), Some(3));
    assert_eq!(fake_ffi::n_borrowed(), 3);
    fake_ffi::drop_result(&prepared);
    assert_eq!((fake_ffi::n_borrowed(), n_allocations(&loaded)), (0, 0));
}

/// The error is the library's own, and nothing is set over it.
#[test]
fn a_function_that_the_library_cannot_make_leaves_nothing() {
    let _stub = Stub::load("devices 1");
    let loaded = load();
    let arguments = nested(Value::Array, 8, Arrival::Tensor);
    fake_ffi::refuse_function();
    let error = prepare(&loaded, "nested", &arguments).unwrap_err();
    assert_eq!(error, fake_ffi::NO_FUNCTION);
    assert_eq!((fake_ffi::n_borrowed(), n_allocations(&loaded)), (0, 0));
    let prepared = prepare(&loaded, "nested", &arguments).unwrap();
    fake_ffi::drop_result(&prepared);
}

/// A long message is joined in memory of its own.
#[test]
fn an_error_that_there_is_no_memory_for_is_still_an_error() {
    let loaded = load();
    let refused = |name: &str| loaded.call(name, &[Value::None]).unwrap_err();
    let calling = format!("when calling: `long({}: int32)`, expected int, got None", long());
    let told = format!("TypeError: Mismatched type on argument #0 {calling}");
    assert_eq!(refused("long"), told);
    let unworded = "RuntimeError: out of memory while an error was worded";
    let unraised = "RuntimeError: out of memory while an error was raised";
    let short = refused("refuse");
    for (name, nth, expected) in [
        ("refuse", 1, unworded),
        ("refuse", 2, &short),
        ("long", 1, unworded),
        ("long", 2, unraised),
        ("long", 3, &told),
    ] {
        loaded.call("refuse", &[Value::Int(nth)]).unwrap();
        assert_eq!(refused(name), expected, "{name}, {nth}");
        loaded.call("refuse", &[Value::Int(0)]).unwrap();
        assert_eq!(n_allocations(&loaded), 0, "{name}, {nth}");
    }
}

/// Nor has libtvm_ffi memory for one: for a long message, or for any.
#[test]
fn an_error_that_the_library_cannot_make_is_still_an_error() {
    let loaded = load();
    for name in ["refuse", "long"] {
        for (number, expected) in
            [(1, "out of memory while an error was raised"), (2, "out of memory")]
        {
            fake_ffi::refuse_errors(number);
            let error = loaded.call(name, &[Value::None]).unwrap_err();
            assert_eq!(error, format!("RuntimeError: {expected}"), "{name}");
            assert_eq!(n_allocations(&loaded), 0);
        }
    }
}
