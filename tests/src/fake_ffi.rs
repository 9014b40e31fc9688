// SPDX-License-Identifier: Apache-2.0
//! Stand-ins for the functions of libtvm_ffi that compiled modules call, exported by this program
//! under the same names; and the recorder that the [kernels] call. What they see is kept per
//! thread.
//!
//! Tensors that a module allocates are objects with a shape and an address, but no data. Every
//! object is counted, so that one that is never dropped, or dropped twice, is noticed. So is an
//! error that does not name the entry point that raises it, or has the stack walked for that.
//!
//! [kernels]: crate::kernels
#![expect(unsafe_code, reason = "these are C functions, called through pointers by generated code")]

use crate::callee::Launched;
use kernpack_ffi_abi::layout::{Any, ByteArray, DLTensor, Object, SeqCell};
use kernpack_ffi_abi::{TypeIndex, layout};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};

/// The stream that the environment names, until it is told another.
pub const STREAM: usize = 0x57;
/// Kind and message of the error where [no function](refuse_function) is made.
pub const NO_FUNCTION: &str = "MemoryError: no memory for a function";
/// The data pointer of the first tensor that is allocated: not at a multiple of anything large, as
/// allocators may have it.
const ALLOCATED: u64 = 0x7000_0010;

/// How far the next one is behind it.
const APART: u64 = 0x1000;

/// Where the tensor of that number is that a call allocates.
pub fn nth_allocation(place: usize) -> u64 {
    ALLOCATED_AT.get() + APART * place as u64
}

/// What a thread's calls have done since it was last asked.
#[derive(Debug, Default)]
pub struct Record {
    /// Kind and message of the error that is set.
    pub error: Option<(String, String)>,
    /// The launches, in order.
    pub launches: Vec<Launched>,
    /// Every tensor that was allocated, in order.
    pub allocated: Vec<Allocated>,
    /// The texts of every string that was made, in order.
    pub strings: Vec<String>,
    /// The devices whose stream was asked for, by type and index.
    pub streams_asked: Vec<(i32, i32)>,
    /// What broke the rules of the library.
    pub broken: Vec<String>,
}

/// What was asked of an allocation.
#[derive(Debug, PartialEq, Eq)]
pub struct Allocated {
    /// The device, by type and index.
    pub device: (i32, i32),
    /// The extents.
    pub shape: Vec<i64>,
}

/// An object that a module holds a reference to.
struct Held {
    count: usize,
    /// The bytes of the object and what it points to.
    _memory: Vec<Box<[u64]>>,
    /// The objects it holds a reference to itself.
    children: Vec<usize>,
}

/// A function that a module has made: who holds it may call it after the call that made it.
#[derive(Clone, Copy)]
pub struct Made {
    state: usize,
    call: SafeCall,
    delete: extern "C" fn(*mut c_void),
}

/// The C type of entry points.
pub type SafeCall = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> c_int;

#[derive(Default)]
struct State {
    record: Record,
    objects: HashMap<usize, Held>,
    functions: HashMap<usize, Made>,
    /// The backtrace that errors have to have.
    backtrace: String,
    /// How many references modules hold to objects of their callers.
    borrowed: HashMap<usize, usize>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static CURRENT_STREAM: Cell<usize> = const { Cell::new(STREAM) };
    static REFUSES_FUNCTION: Cell<bool> = const { Cell::new(false) };
    static ERRORS_REFUSED: Cell<usize> = const { Cell::new(0) };
    static REFUSED_ERROR: Cell<bool> = const { Cell::new(false) };
    static ALLOCATIONS_LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static REFUSES_STRING: Cell<bool> = const { Cell::new(false) };
    static ALLOCATED_AT: Cell<u64> = const { Cell::new(ALLOCATED) };
}

/// Tells the environment of this thread which stream to name: one of the driver's, by address.
pub fn set_stream(stream: usize) {
    CURRENT_STREAM.set(stream);
}

/// Lets the next function that a module wants to make in this thread fail.
pub fn refuse_function() {
    REFUSES_FUNCTION.set(true);
}

/// Lets the next string that a module wants to make in this thread fail.
pub fn refuse_string() {
    REFUSES_STRING.set(true);
}

/// Lets the next errors that a module wants to make in this thread fail, so many of them.
pub fn refuse_errors(number: usize) {
    ERRORS_REFUSED.set(number);
}

/// Lets allocations of modules in this thread fail once there have been that many more.
pub fn refuse_allocations_after(number: usize) {
    ALLOCATIONS_LEFT.set(number);
}

/// Says where the elements of the next tensors are that modules allocate in this thread.
pub fn allocate_at(address: u64) {
    ALLOCATED_AT.set(address);
}

/// Kind and message of the error where no tensor is allocated: long ones, as PyTorch has them.
pub fn no_room() -> (String, String) {
    (format!("{}MemoryError", "Very".repeat(20)), format!("there is no room{}", "\n#".repeat(2000)))
}

fn with<T>(f: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(f)
}

/// Says which entry point this thread calls next: its errors have to name it.
pub fn enter(symbol: &str) {
    with(|state| state.backtrace = format!("  File \"<unknown>\", line 0, in {symbol}\n"));
}

/// What this thread's calls have done; what follows starts anew. Objects that are still held count
/// as broken.
pub fn take_record() -> Record {
    with(|state| {
        let held = std::mem::take(&mut state.objects).len();
        let mut record = std::mem::take(&mut state.record);
        if held > 0 {
            record.broken.push(format!("{held} objects are still held"));
        }
        record
    })
}

/// Drops what a call returned.
pub fn drop_result(result: &Any) {
    if result.type_index >= TypeIndex::OBJECT.0 {
        drop_reference(result.payload as usize);
    }
}

/// How many references modules hold to objects of this thread's callers.
pub fn n_borrowed() -> usize {
    with(|state| state.borrowed.values().sum())
}

/// A function that a call of this thread returned, for any thread to call until it is dropped.
pub fn made(function: &Any) -> Made {
    with(|state| state.functions[&(function.payload as usize)])
}

impl Made {
    /// Calls it. Its errors name no entry point.
    pub fn call(self, args: &[Any]) -> c_int {
        with(|state| state.backtrace.clear());
        let state = std::ptr::with_exposed_provenance_mut(self.state);
        let mut result = Any::default();
        // SAFETY: the module made it for such calls.
        unsafe { (self.call)(state, args.as_ptr(), args.len() as i32, &mut result) }
    }
}

/// Calls a function that a call returned.
pub fn call_result(function: &Any, args: &[Any]) -> c_int {
    made(function).call(args)
}

/// Drops a reference to what a module was given or has made.
fn drop_reference(address: usize) {
    let made = with(|state| match state.functions.remove(&address) {
        Some(made) => Some(made),
        None => {
            state.drop_reference(address);
            None
        }
    });
    if let Some(made) = made {
        (made.delete)(std::ptr::with_exposed_provenance_mut(made.state));
    }
}

/// The addresses of all functions here: whoever uses them keeps them in the program.
pub fn exports() -> [usize; 13] {
    [
        TVMFFIErrorCreate as *const () as usize,
        TVMFFIErrorSetRaised as *const () as usize,
        TVMFFIErrorSetRaisedFromCStrParts as *const () as usize,
        TVMFFIErrorMoveFromRaised as *const () as usize,
        TVMFFIEnvGetStream as *const () as usize,
        TVMFFIEnvTensorAlloc as *const () as usize,
        TVMFFIObjectIncRef as *const () as usize,
        TVMFFIObjectDecRef as *const () as usize,
        TVMFFIFunctionCreate as *const () as usize,
        TVMFFIStringFromByteArray as *const () as usize,
        TVMFFIFunctionGetGlobal as *const () as usize,
        TVMFFIFunctionCall as *const () as usize,
        kernpack_test_record as *const () as usize,
    ]
}

impl State {
    /// Holds a new object with one reference; the header stands first in `words`.
    fn hold(&mut self, index: TypeIndex, cell: &[u8], more: Vec<Box<[u64]>>) -> usize {
        let header = Object { type_index: index.0, ..Object::default() };
        let words = words_of(&[bytemuck::bytes_of(&header), cell].concat());
        let address = words.as_ptr().expose_provenance();
        let _memory = more.into_iter().chain([words]).collect();
        self.objects.insert(address, Held { count: 1, _memory, children: vec![] });
        address
    }

    /// Holds an error. Its texts have no end but their sizes.
    fn hold_error(&mut self, texts: [&[u8]; 3]) -> usize {
        let padded = texts.map(|text| words_of(&[text, &b"~~~~~~~~"[text.len() % 8..]].concat()));
        let cell = std::array::from_fn::<_, 3, _>(|i| ByteArray {
            data: padded[i].as_ptr().expose_provenance() as u64,
            size: texts[i].len() as u64,
        });
        self.hold(TypeIndex::ERROR, bytemuck::bytes_of(&cell), padded.into())
    }

    fn drop_reference(&mut self, address: usize) {
        if let Some(count) = self.borrowed.get_mut(&address).filter(|count| **count > 0) {
            *count -= 1;
            return;
        }
        let Some(object) = self.objects.get_mut(&address) else {
            return self.record.broken.push(format!("{address:#x} is dropped, and not held"));
        };
        object.count -= 1;
        if object.count == 0 {
            let object = self.objects.remove(&address).expect("it was there");
            object.children.into_iter().for_each(|child| self.drop_reference(child));
        }
    }
}

/// Bytes, aligned to words: there are whole ones.
fn words_of(bytes: &[u8]) -> Box<[u64]> {
    bytemuck::cast_slice(bytes).iter().map(|word: &[u8; 8]| u64::from_ne_bytes(*word)).collect()
}

fn text(part: *const c_char) -> String {
    if part.is_null() {
        return String::new();
    }
    // SAFETY: callers pass NULL or a string that ends with a zero byte.
    unsafe { CStr::from_ptr(part) }.to_string_lossy().into_owned()
}

/// # Safety
/// The array's bytes are readable.
unsafe fn bytes_of<'b>(array: ByteArray) -> &'b [u8] {
    let data = std::ptr::with_exposed_provenance(array.data as usize);
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(data, array.size as usize) }
}

/// Makes an error.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIErrorCreate(
    kind: *const ByteArray,
    message: *const ByteArray,
    backtrace: *const ByteArray,
    out: *mut *mut c_void,
) -> c_int {
    let left = ERRORS_REFUSED.get();
    REFUSED_ERROR.set(left > 0);
    if left > 0 {
        ERRORS_REFUSED.set(left - 1);
        return -1;
    }
    let texts = [kind, message, backtrace].map(|text| {
        // SAFETY: callers pass byte arrays.
        let text = unsafe { text.read() };
        // SAFETY: a byte array has `size` readable bytes.
        unsafe { bytes_of(text) }
    });
    let address = with(|state| state.hold_error(texts));
    // SAFETY: callers pass room for an address.
    unsafe { out.write(std::ptr::with_exposed_provenance_mut(address)) };
    0
}

/// Sets the thread's error.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIErrorSetRaised(error: *mut c_void) {
    let cell = error.cast::<u8>().wrapping_add(layout::ERROR_KIND_OFFSET as usize);
    // SAFETY: callers pass an error, which `hold_error` has made.
    let texts = unsafe { cell.cast::<[ByteArray; 3]>().read() };
    let [kind, message, backtrace] = texts.map(|text| {
        // SAFETY: as above.
        let bytes = unsafe { bytes_of(text) };
        String::from_utf8_lossy(bytes).into_owned()
    });
    with(|state| {
        if backtrace != state.backtrace {
            state.record.broken.push(format!("an error has the backtrace {backtrace:?}"));
        }
    });
    set_error(kind, message);
}

/// Sets the thread's error: the parts in order, NULL ones left out. That walks the stack, which
/// takes long.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIErrorSetRaisedFromCStrParts(
    kind: *const c_char,
    parts: *const *const c_char,
    count: i32,
) {
    if !REFUSED_ERROR.take() {
        with(|state| state.record.broken.push("an error has the stack walked".to_string()));
    }
    // SAFETY: callers pass an array of `count` parts.
    let parts = unsafe { std::slice::from_raw_parts(parts, count as usize) };
    set_error(text(kind), parts.iter().map(|part| text(*part)).collect());
}

fn set_error(kind: String, message: String) {
    with(|state| {
        if state.record.error.replace((kind, message)).is_some() {
            state.record.broken.push("an error is set over another".to_string());
        }
    });
}

/// The stream of a device.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIEnvGetStream(device_type: i32, device_id: i32) -> *mut c_void {
    with(|state| state.record.streams_asked.push((device_type, device_id)));
    std::ptr::with_exposed_provenance_mut(CURRENT_STREAM.get())
}

/// Allocates a tensor like the prototype.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIEnvTensorAlloc(prototype: *const DLTensor, out: *mut *mut c_void) -> c_int {
    let left = ALLOCATIONS_LEFT.get();
    if left == 0 {
        let (kind, message) = no_room();
        set_error(kind, message);
        return -1;
    }
    ALLOCATIONS_LEFT.set(left - 1);
    // SAFETY: callers pass a prototype.
    let mut tensor = unsafe { prototype.read() };
    // SAFETY: a prototype has a shape of `ndim` extents.
    let shape = unsafe { extents(&tensor) };
    let device = (tensor.device_type, tensor.device_id);
    let place = with(|state| {
        state.record.allocated.push(Allocated { device, shape: shape.to_vec() });
        state.record.allocated.len() - 1
    });
    let shape: Box<[u64]> = shape.iter().map(|extent| *extent as u64).collect();
    let strides = crate::value::row_major(bytemuck::cast_slice(&shape));
    let strides: Box<[u64]> = strides.iter().map(|stride| *stride as u64).collect();
    tensor.data = nth_allocation(place);
    tensor.shape = shape.as_ptr().expose_provenance() as u64;
    tensor.strides = strides.as_ptr().expose_provenance() as u64;
    let cell = bytemuck::bytes_of(&tensor);
    let address = with(|state| state.hold(TypeIndex::TENSOR, cell, vec![shape, strides]));
    // SAFETY: callers pass room for an address.
    unsafe { out.write(std::ptr::with_exposed_provenance_mut(address)) };
    0
}

/// # Safety
/// The tensor's shape has `ndim` readable extents.
unsafe fn extents(tensor: &DLTensor) -> &[i64] {
    if tensor.ndim == 0 {
        return &[];
    }
    let shape = std::ptr::with_exposed_provenance(tensor.shape as usize);
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(shape, tensor.ndim as usize) }
}

/// Takes the error as an object.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIErrorMoveFromRaised(out: *mut *mut c_void) {
    let address = with(|state| {
        let (kind, message) = state.record.error.take().expect("an error is raised");
        state.hold_error([kind.as_bytes(), message.as_bytes(), b""])
    });
    // SAFETY: callers pass room for an address.
    unsafe { out.write(std::ptr::with_exposed_provenance_mut(address)) };
}

/// Takes a reference to an object of the caller's.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIObjectIncRef(object: *mut c_void) -> c_int {
    with(|state| *state.borrowed.entry(object.addr()).or_default() += 1);
    0
}

/// Drops a reference.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIObjectDecRef(object: *mut c_void) -> c_int {
    drop_reference(object.addr());
    0
}

/// Makes a function: its address is its state's. What it refuses, it says itself.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIFunctionCreate(
    state: *mut c_void,
    call: SafeCall,
    delete: extern "C" fn(*mut c_void),
    out: *mut *mut c_void,
) -> c_int {
    if REFUSES_FUNCTION.take() {
        let (kind, message) = NO_FUNCTION.split_once(": ").expect("a kind and a message");
        set_error(kind.to_string(), message.to_string());
        return -1;
    }
    let made = Made { state: state.expose_provenance(), call, delete };
    with(|state| _ = state.functions.insert(made.state, made));
    // SAFETY: callers pass room for an address.
    unsafe { out.write(state) };
    0
}

/// Makes a string, however short it is, as an object.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIStringFromByteArray(bytes: *const ByteArray, out: *mut Any) -> c_int {
    if REFUSES_STRING.replace(false) {
        let (kind, message) = no_room();
        set_error(kind, message);
        return -1;
    }
    // SAFETY: callers pass a text.
    let bytes = unsafe { bytes.read() };
    // SAFETY: a byte array has `size` readable bytes.
    let bytes = unsafe { bytes_of(bytes) };
    let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
    with(|state| state.record.strings.push(text));
    let address = with(|state| state.hold(TypeIndex::STR, &[], vec![]));
    let string = Any { type_index: TypeIndex::STR.0, payload: address as i64, ..Any::default() };
    // SAFETY: callers pass room for a value.
    unsafe { out.write(string) };
    0
}

/// Finds the one global function that modules use: what makes an Array of its arguments.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIFunctionGetGlobal(name: *const ByteArray, out: *mut *mut c_void) -> c_int {
    // SAFETY: callers pass a name.
    let name = unsafe { name.read() };
    // SAFETY: a byte array has `size` readable bytes.
    let bytes = unsafe { bytes_of(name) };
    let address = with(|state| match bytes {
        b"ffi.Array" => state.hold(TypeIndex::FUNCTION, &[], vec![]),
        _ => {
            state.record.broken.push(format!("there is no function {}", bytes.escape_ascii()));
            0
        }
    });
    // SAFETY: callers pass room for an address.
    unsafe { out.write(std::ptr::with_exposed_provenance_mut(address)) };
    0
}

/// Makes an Array of the arguments, which share their objects with it.
#[unsafe(no_mangle)]
extern "C" fn TVMFFIFunctionCall(
    _function: *mut c_void,
    args: *const Any,
    count: i32,
    result: *mut Any,
) -> c_int {
    // SAFETY: callers pass an array of `count` arguments.
    let args = unsafe { std::slice::from_raw_parts(args, count as usize) };
    let elements = words_of(bytemuck::cast_slice(args));
    let (data, size) = (elements.as_ptr().expose_provenance() as u64, i64::from(count));
    let cell = SeqCell { data, size, capacity: size, data_deleter: 0 };
    let array = with(|state| {
        let array = state.hold(TypeIndex::ARRAY, bytemuck::bytes_of(&cell), vec![elements]);
        for arg in args {
            let child = arg.payload as usize;
            match state.objects.get_mut(&child) {
                Some(object) => object.count += 1,
                None => state.record.broken.push(format!("{child:#x} is no object")),
            }
            state.objects.get_mut(&array).expect("it was just made").children.push(child);
        }
        array
    });
    let any = Any { type_index: TypeIndex::ARRAY.0, padding: 0, payload: array as i64 };
    // SAFETY: callers pass room for a result.
    unsafe { result.write(any) };
    0
}

/// Called by every kernel: which it is, and what it got.
#[unsafe(no_mangle)]
extern "C" fn kernpack_test_record(launch: i32, combination: i32, count: i32, values: *const i64) {
    let values = match count {
        0 => &[],
        // SAFETY: kernels pass an array of `count` values.
        _ => unsafe { std::slice::from_raw_parts(values, count as usize) },
    };
    let values = values.to_vec();
    let (number, combination) = (launch as usize, combination as usize);
    with(|state| state.record.launches.push(Launched { number, combination, values }));
}

const _: () = assert!(layout::TENSOR_VIEW_OFFSET as usize == size_of::<Object>());
