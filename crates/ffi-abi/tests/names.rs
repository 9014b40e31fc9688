// SPDX-License-Identifier: Apache-2.0
//! The tables against what `tvm_ffi` says when it is asked: which name a device type has, and which
//! code, bits and lanes the dtype of a name. The headers cannot tell: to them, names are not known,
//! nor how wide a float of a code is.

mod python;

use kernpack_ffi_abi::imports::{LIBTVM_FFI, LIBTVM_FFI_C, LIBTVM_FFI_C_LATER};
use kernpack_ffi_abi::libtvm_ffi::DECLARED;
use kernpack_ffi_abi::{DType, DeviceType};
use std::collections::BTreeMap;

/// All device types of `tvm_ffi`, with their names.
const DEVICES: &str = "
import tvm_ffi
for device in tvm_ffi.DLDeviceType:
    print(int(device), tvm_ffi.device(int(device), 0).type)
";

#[test]
fn device_types_have_the_names_of_tvm_ffi() {
    let printed = python::printed(DEVICES, &[]);
    let rows = printed.lines().map(|line| line.split_once(' ').expect("a number and a name"));
    let theirs: BTreeMap<i32, &str> =
        rows.map(|(number, name)| (number.parse().expect("a number"), name)).collect();
    let ours: BTreeMap<_, _> =
        DeviceType::TABLE.iter().map(|(device, _, name)| (device.0, *name)).collect();
    assert_eq!(ours, theirs);
}

/// The meaning of each name to `tvm_ffi`. It has no complex numbers; NumPy has, and hands them out
/// as a `DLTensor`, with the dtype at byte 20.
const DTYPES: &str = "
import ctypes, struct, sys, numpy, tvm_ffi
address = ctypes.pythonapi.PyCapsule_GetPointer
address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
for name in sys.argv[1:]:
    if name.startswith('complex'):
        capsule = numpy.zeros(1, name).__dlpack__()
        print(name, *struct.unpack_from('BBH', ctypes.string_at(address(capsule, b'dltensor'), 24), 20))
    else:
        dtype = tvm_ffi.dtype(name)
        print(name, dtype.type_code, dtype.bits, dtype.lanes)
";

#[test]
fn names_of_dtypes_mean_what_they_mean_to_tvm_ffi() {
    let names: Vec<String> = DType::names().collect();
    let args: Vec<&str> = names.iter().map(String::as_str).collect();
    let ours: Vec<String> = names
        .iter()
        .map(|name| {
            let dtype = DType::parse(name).expect("a name of the table");
            format!("{name} {} {} {}", dtype.code, dtype.bits, dtype.lanes)
        })
        .collect();
    assert_eq!(ours, python::printed(DTYPES, &args).lines().collect::<Vec<_>>());
}

/// The functions of the C ABI that the library of an environment has.
const FUNCTIONS: &str = "
import ctypes, re, tvm_ffi.libinfo
path = tvm_ffi.libinfo.find_libtvm_ffi()
library = ctypes.CDLL(path)
words = re.findall(rb'TVMFFI[A-Za-z0-9]+', open(path, 'rb').read())
print(*sorted(word for word in {word.decode() for word in words} if hasattr(library, word)))
";

#[test]
fn the_functions_of_libtvm_ffi_are_listed() {
    let oldest = python::printed_by_oldest(FUNCTIONS, &[]);
    assert_eq!(oldest.split(' ').collect::<Vec<_>>(), LIBTVM_FFI_C);
    let mut all = [LIBTVM_FFI_C, LIBTVM_FFI_C_LATER].concat();
    all.sort();
    assert_eq!(python::printed(FUNCTIONS, &[]).split(' ').collect::<Vec<_>>(), all);
    assert!(LIBTVM_FFI.iter().all(|import| LIBTVM_FFI_C.contains(&import.symbol)));
    assert!(DECLARED.iter().all(|function| LIBTVM_FFI_C.contains(function)));
}
