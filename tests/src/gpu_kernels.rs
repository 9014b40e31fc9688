// SPDX-License-Identifier: Apache-2.0
//! Kernels for the suite's launches on a GPU: PTX without instructions, launched on the driver of
//! `tests/cuda-stub`, which keeps what each got. Kernels of other launches are host functions:
//! [`kernels`].

use crate::callee::Launched;
use crate::{cuda_stub, kernels};
use kernpack_ffi_abi::DType;
use kernpack_package::image::ImageKind;
use kernpack_package::source::{GpuFile, GpuSource};
use kernpack_validators::plan::{CScalar, Launch, LaunchArg};
use kernpack_validators::{LaunchSpec, Plan, Site};
use serde_json::Value as Json;
use std::path::Path;

/// What every file of such kernels starts with.
pub const PRELUDE: &str = ".version 8.0\n.target sm_90\n.address_size 64\n";

/// Whether a launch is one on a GPU.
pub fn is_on_gpu(launch: &LaunchSpec) -> bool {
    matches!(launch.site, Site::Gpu(_))
}

/// A file of such kernels as a source.
pub fn source(path: &Path) -> GpuSource {
    GpuSource::Files(vec![GpuFile {
        path: path.to_path_buf().into(),
        kind: ImageKind::Ptx,
        arch: None,
        triton: None,
    }])
}

/// The PTX of the kernels of one launch, for every combination of dtypes.
pub fn text(function: &str, plan: &Plan, launch: &Launch) -> String {
    let params = launch.args.iter().enumerate().map(|(i, arg)| param(i, arg));
    let params = params.collect::<Vec<_>>().join(", ");
    let symbols = kernels::symbols(function, plan, launch);
    symbols.map(|(_, symbol)| format!(".visible .entry {symbol}({params})\n{{ ret; }}\n")).collect()
}

fn param(number: usize, arg: &LaunchArg) -> String {
    match arg {
        LaunchArg::TensorMap(_) => format!(".param .align 64 .b8 a{number}[128]"),
        LaunchArg::Struct(_) => unreachable!("the suite passes structs to host functions"),
        LaunchArg::Value(_, CScalar::Int(dtype) | CScalar::Float(dtype)) => {
            format!(".param .b{} a{number}", dtype.bits)
        }
        LaunchArg::Value(_, CScalar::Pointer)
        | LaunchArg::Result(_)
        | LaunchArg::Workspace(_)
        | LaunchArg::EnvStream
        | LaunchArg::AssertRecord => format!(".param .u64 a{number}"),
    }
}

/// The launches of a function among the driver's calls, with what their kernels got.
pub fn launched(function: &str, plan: &Plan, log: &[Json]) -> Vec<Launched> {
    let launches = cuda_stub::launched(log).into_iter();
    launches.filter_map(|launch| one(function, plan, launch)).collect()
}

fn one(function: &str, plan: &Plan, launch: &Json) -> Option<Launched> {
    let name = launch["kernel"].as_str()?;
    for planned in &plan.launches {
        let mut symbols = kernels::symbols(function, plan, planned);
        let Some((combination, _)) = symbols.find(|(_, symbol)| symbol == name) else { continue };
        let arguments = launch["arguments"].as_array()?.iter();
        let bytes = arguments.map(|argument| bytes(argument["bytes"].as_str().unwrap_or_default()));
        let mut values = Vec::new();
        planned.args.iter().zip(bytes).for_each(|(arg, bytes)| decode(arg, &bytes, &mut values));
        return Some(Launched { number: planned.index, combination, values });
    }
    None
}

/// Bytes from two digits each.
fn bytes(text: &str) -> Vec<u8> {
    let digits =
        |pair: &[u8]| std::str::from_utf8(pair).ok().map(|pair| u8::from_str_radix(pair, 16));
    text.as_bytes().chunks(2).map(|pair| digits(pair).expect("text").expect("digits")).collect()
}

fn decode(arg: &LaunchArg, bytes: &[u8], values: &mut Vec<i64>) {
    match arg {
        LaunchArg::TensorMap(_) => decode_map(bytes, values),
        LaunchArg::Value(_, CScalar::Int(dtype))
            if dtype.is_unsigned() || *dtype == DType::BOOL =>
        {
            values.push(number(bytes));
        }
        LaunchArg::Value(_, CScalar::Int(dtype)) => {
            let unused = 64 - u32::from(dtype.bits);
            values.push(number(bytes) << unused >> unused);
        }
        LaunchArg::Value(_, CScalar::Float(dtype)) => {
            values.push(kernels::widen(*dtype, number(bytes)));
        }
        LaunchArg::AssertRecord => {
            assert_ne!(number(bytes), 0, "there is a record");
            // Nobody knows where it is.
            values.push(0);
        }
        _ => values.push(number(bytes)),
    }
}

/// What the stub has in place of the driver's form of a map.
fn decode_map(bytes: &[u8], values: &mut Vec<i64>) {
    assert_eq!(&bytes[..6], b"KPSTUB", "the argument is a tensor map");
    let word = |i: usize| number(&bytes[16 + 8 * i..][..8]);
    values.extend([word(0), bytes[6].into()]);
    values.extend((1..2 * usize::from(bytes[7])).map(word));
}

/// A little-endian number of up to 8 bytes.
fn number(bytes: &[u8]) -> i64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | i64::from(*byte))
}
