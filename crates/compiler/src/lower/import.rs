// SPDX-License-Identifier: Apache-2.0
//! Declares the functions that generated code calls, as the tables of `ffi-abi` and `runtime` have
//! them, and lays constants out as the runtime's structs.

use kernpack_codegen::llvm::{Emitter, Function, Ty, V, Word};
use kernpack_ffi_abi::imports::{self, Import};
use kernpack_runtime::interface::functions::{self, CType, Signature};

// The runtime knows no other crate: what it says of libtvm_ffi is what `ffi-abi` says.
const _: () = {
    use kernpack_ffi_abi::TypeIndex;
    use kernpack_ffi_abi::layout::{ERROR_KIND_OFFSET, ERROR_MESSAGE_OFFSET, OBJECT_HEADER_BYTES};
    use kernpack_ffi_abi::layout::{any, byte_array, seq_cell};
    use kernpack_runtime::interface::layout::{self, error_object, sequence};
    use kernpack_runtime::interface::layout::{string_object, type_index};
    assert!(layout::any::TYPE_INDEX == any::TYPE_INDEX.offset);
    assert!(layout::any::PADDING == any::PADDING.offset);
    assert!(layout::any::PAYLOAD == any::PAYLOAD.offset);
    assert!(layout::any::BYTES as usize == size_of::<kernpack_ffi_abi::layout::Any>());
    assert!(sequence::ELEMENTS == seq_cell::DATA.offset);
    assert!(sequence::SIZE == seq_cell::SIZE.offset);
    assert!(layout::byte_array::DATA == byte_array::DATA.offset);
    assert!(layout::byte_array::SIZE == byte_array::SIZE.offset);
    assert!(string_object::DATA == OBJECT_HEADER_BYTES + byte_array::DATA.offset);
    assert!(string_object::SIZE == OBJECT_HEADER_BYTES + byte_array::SIZE.offset);
    assert!(layout::byte_array::DATA == byte_array::DATA.offset);
    assert!(layout::byte_array::SIZE == byte_array::SIZE.offset);
    assert!(error_object::KIND == ERROR_KIND_OFFSET);
    assert!(error_object::MESSAGE == ERROR_MESSAGE_OFFSET);
    assert!(type_index::NONE == TypeIndex::NONE.0);
    assert!(type_index::DL_TENSOR == TypeIndex::DL_TENSOR_PTR.0);
    assert!(type_index::RAW_STR == TypeIndex::RAW_STR.0);
    assert!(type_index::SMALL_STR == TypeIndex::SMALL_STR.0);
    assert!(type_index::STR == TypeIndex::STR.0);
    assert!(type_index::OBJECT == TypeIndex::OBJECT.0);
    assert!(type_index::FUNCTION == TypeIndex::FUNCTION.0);
    assert!(type_index::ARRAY == TypeIndex::ARRAY.0);
    assert!(type_index::LIST == TypeIndex::LIST.0);
};

/// Declares a function of libtvm_ffi.
pub fn declare<'c>(e: &Emitter<'c>, import: Import) -> Function<'c> {
    let ty = |c_type: &imports::CType| match c_type {
        imports::CType::Void => None,
        imports::CType::I32 => Some(Ty::I32),
        imports::CType::Ptr => Some(Ty::Ptr),
    };
    let params: Vec<_> = import.params.iter().filter_map(ty).collect();
    let function = e.declare(import.symbol, &params, ty(&import.result));
    e.bind_at_load(function);
    function
}

/// Declares a function of the runtime.
pub fn declare_runtime<'c>(e: &Emitter<'c>, function: functions::Function) -> Function<'c> {
    declare_as(e, function.symbol, function.signature)
}

/// Declares a function that has one of the runtime's signatures.
pub fn declare_as<'c>(e: &Emitter<'c>, symbol: &str, signature: Signature) -> Function<'c> {
    let ty = |c_type: &CType| match c_type {
        CType::I16 => Ty::I16,
        CType::I32 => Ty::I32,
        CType::I64 => Ty::I64,
        CType::Ptr => Ty::Ptr,
    };
    let params: Vec<_> = signature.params.iter().map(ty).collect();
    e.declare(symbol, &params, Some(ty(&signature.result)))
}

/// Calls a function of the runtime.
pub fn call_runtime<'c>(e: &Emitter<'c>, function: functions::Function, args: &[V<'c>]) -> V<'c> {
    e.call(declare_runtime(e, function), args).expect("every function of the runtime has a result")
}

/// The words of a struct of the runtime of that many bytes, from fields by offset.
pub fn record<'c, const N: usize>(bytes: u32, fields: [(u32, Word<'c>); N]) -> Vec<Word<'c>> {
    let mut words = vec![Word::Int(0); bytes as usize / 8];
    for (offset, word) in fields {
        assert_eq!(offset % 8, 0, "a field of a constant is a word");
        words[offset as usize / 8] = word;
    }
    words
}
