// SPDX-License-Identifier: Apache-2.0
//! Passes several kernel arguments as one C struct: writes it to the stack, then hands it over as
//! the platform has it.

use super::launch::{Arguments, Call};
use kernpack_codegen::llvm::{Extension, FloatKind, Passed, Ty, V};
use kernpack_ffi_abi::DType;
use kernpack_package::target::struct_abi::{Class, FieldType, Layout, Passing};
use kernpack_validators::plan::{CScalar, LaunchArg};

/// Writes an argument to the stack as C lays it out; returns where it is.
pub fn store<'c>(call: &mut Call<'_, '_, 'c>, arg: &LaunchArg) -> (V<'c>, Layout) {
    let mut values = Vec::new();
    let layout = match collect(call, arg, &mut values) {
        FieldType::Struct(fields) => Layout::of(&fields),
        scalar => Layout::of(&[scalar]),
    };
    let space = call.e().stack(call.function(), layout.size.next_multiple_of(8));
    for ((offset, _), value) in layout.scalars.iter().zip(values) {
        call.e().store_at(space, *offset, value);
    }
    (space, layout)
}

/// Adds the struct `arg` to a call.
pub fn pass_struct<'c>(call: &mut Call<'_, '_, 'c>, arg: &LaunchArg, args: &mut Arguments<'c>) {
    let (space, layout) = store(call, arg);
    let words = layout.size.div_ceil(8);
    let passing = call.target.struct_abi.passing(&layout, &mut args.registers);
    let e = call.e();
    let plain = |value, ty| Passed { value, ty, extension: Extension::None };
    match passing {
        Passing::Memory => {
            args.passed.push(Passed {
                value: space,
                ty: Ty::Ptr,
                extension: Extension::ByValue(words),
            });
        }
        Passing::Pointer => args.passed.push(plain(space, Ty::Ptr)),
        Passing::Registers(classes) => {
            for (i, class) in classes.into_iter().enumerate() {
                let ty = if class == Class::Integer { Ty::I64 } else { Ty::Double };
                args.passed.push(plain(e.load(ty, e.offset_by(space, 8 * i as u32)), ty));
            }
        }
        Passing::Words(count) => {
            let ty = if count == 1 { Ty::I64 } else { Ty::Words(count) };
            args.passed.push(plain(e.load(ty, space), ty));
        }
        Passing::Floats(scalar, count) => {
            let ty = Ty::Floats(float_kind(scalar), count);
            args.passed.push(plain(e.load(ty, space), ty));
        }
    }
}

/// The type of an argument; its scalars' values are added to `values`, in order.
fn collect<'c>(call: &mut Call<'_, '_, 'c>, arg: &LaunchArg, values: &mut Vec<V<'c>>) -> FieldType {
    match arg {
        LaunchArg::Struct(fields) => {
            FieldType::Struct(fields.iter().map(|field| collect(call, field, values)).collect())
        }
        _ => {
            let (value, c_type) = call.scalar(arg);
            values.push(value);
            FieldType::Scalar(c_type)
        }
    }
}

fn float_kind(scalar: CScalar) -> FloatKind {
    match scalar {
        CScalar::Float(DType::FLOAT16) => FloatKind::Half,
        CScalar::Float(DType::BFLOAT16) => FloatKind::BFloat,
        CScalar::Float(DType::FLOAT32) => FloatKind::Float,
        _ => FloatKind::Double,
    }
}
