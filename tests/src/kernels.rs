// SPDX-License-Identifier: Apache-2.0
//! Kernels for the suite's launches, as C text: each records its number and what it gets, widened
//! to 64 bits.

use crate::callee::Launched;
use crate::fake_ffi;
use kernpack_ffi_abi::DType;
use kernpack_validators::plan::{CScalar, Launch, LaunchArg, Site};
use kernpack_validators::{KernelName, Plan, Signature, parse_kernel_name};
use std::fmt::Write;

/// What every file of kernels starts with.
pub const PRELUDE: &str = "\
#include <stdint.h>
#include <string.h>
void kernpack_test_record(int32_t launch, int32_t combination, int32_t count, const int64_t* values);
static int64_t bits(double value) { int64_t word; memcpy(&word, &value, 8); return word; }
";

/// The name of a launch's kernel, which is another for each combination of dtypes.
pub fn name(function: &str, signature: &Signature, launch: usize) -> KernelName {
    let dtypes = signature.resolve().map(|bindings| bindings.dtypes).unwrap_or_default();
    let vars = dtypes.keys().map(|var| format!("_{{{var}}}"));
    let name = format!("{function}_{launch}{}", vars.collect::<String>());
    parse_kernel_name(&name).expect("every brace is closed")
}

/// The same, as messages show it here: functions are renumbered in a package, and messages must not
/// tell.
pub fn shown_name(signature: &Signature, launch: usize) -> KernelName {
    name(SHOWN_FUNCTION, signature, launch)
}

/// The symbols of a launch's kernels, one for each combination of dtypes that it has a kernel for,
/// each with the number of that combination.
pub fn symbols<'p>(
    function: &str,
    plan: &'p Plan,
    launch: &'p Launch,
) -> impl Iterator<Item = (usize, String)> {
    let symbol = format!("{function}_{}", launch.index);
    let plain = plan.combinations.vars.is_empty().then(|| (0, symbol.clone()));
    let of_row = move |row: &[DType]| format!("{symbol}{}", dtypes(row));
    let named = launch.rows.iter().copied().zip(plan.rows_of(launch).map(of_row));
    plain.into_iter().chain(named)
}

/// Stands for a function's name in the symbols that messages show.
pub const SHOWN_FUNCTION: &str = "kernel";

/// The end of the symbol of the kernel for these dtypes.
fn dtypes(row: &[DType]) -> String {
    row.iter().map(|dtype| format!("_{dtype}")).collect()
}

/// The C text of the kernels of one launch, for every combination of dtypes that it runs with.
pub fn source(function: &str, plan: &Plan, launch: &Launch, status: Option<i32>) -> String {
    let symbols = symbols(function, plan, launch);
    symbols.map(|(combination, symbol)| one(&symbol, launch, combination, status)).collect()
}

fn one(symbol: &str, launch: &Launch, combination: usize, status: Option<i32>) -> String {
    let (mut text, mut params, mut values) = (String::new(), Vec::new(), Vec::new());
    for (i, arg) in launch.args.iter().enumerate() {
        let name = format!("a{i}");
        match arg {
            LaunchArg::Struct(fields) => {
                let c_type = format!("struct {symbol}_{i}");
                let fields = declare_fields(fields, &name, &mut values);
                writeln!(text, "{c_type} {{{fields} }};").expect("writing to a string");
                params.push(format!("{c_type} {name}"));
            }
            _ => {
                params.push(format!("{} {name}", c_type_of(arg)));
                values.push(as_word(arg, &name));
            }
        }
    }
    let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
    let (number, count, values) = (launch.index, values.len(), values.join(", "));
    let array = if count == 0 { "{0}".to_string() } else { format!("{{{values}}}") };
    let record = format!("kernpack_test_record({number}, {combination}, {count}, v);");
    let (result, end) = match status {
        Some(status) => ("int", format!(" return {status};")),
        None => ("void", String::new()),
    };
    format!("{text}{result} {symbol}({params}) {{ int64_t v[] = {array}; {record}{end} }}\n")
}

/// The fields of the struct `of` in C; the value of each is added to `values`.
fn declare_fields(fields: &[LaunchArg], of: &str, values: &mut Vec<String>) -> String {
    let mut text = String::new();
    for (k, field) in fields.iter().enumerate() {
        let name = format!("{of}.f{k}");
        let c_type = match field {
            LaunchArg::Struct(fields) => {
                format!("struct {{{} }}", declare_fields(fields, &name, values))
            }
            _ => {
                values.push(as_word(field, &name));
                c_type_of(field).to_string()
            }
        };
        write!(text, " {c_type} f{k};").expect("writing to a string");
    }
    text
}

/// The arguments with the fields of structs in their place.
fn flat(args: &[LaunchArg]) -> Vec<&LaunchArg> {
    fn of(arg: &LaunchArg) -> Vec<&LaunchArg> {
        match arg {
            LaunchArg::Struct(fields) => flat(fields),
            _ => vec![arg],
        }
    }
    args.iter().flat_map(of).collect()
}

fn c_type_of(arg: &LaunchArg) -> &'static str {
    match arg {
        LaunchArg::Value(_, CScalar::Float(dtype)) => match *dtype {
            // Both are passed alike, and not every compiler has a name for the second.
            DType::FLOAT16 | DType::BFLOAT16 => "_Float16",
            DType::FLOAT32 => "float",
            _ => "double",
        },
        LaunchArg::Value(_, CScalar::Int(dtype)) => match *dtype {
            DType::BOOL => "_Bool",
            DType::INT8 => "int8_t",
            DType::INT16 => "int16_t",
            DType::INT32 => "int32_t",
            DType::INT64 => "int64_t",
            DType::UINT8 => "uint8_t",
            DType::UINT16 => "uint16_t",
            DType::UINT32 => "uint32_t",
            _ => "uint64_t",
        },
        _ => "const void*",
    }
}

/// An argument as 64 bits: a float as the bits of a double, but those of 16 bits as they are.
fn as_word(arg: &LaunchArg, name: &str) -> String {
    match arg {
        LaunchArg::Value(_, CScalar::Float(DType::FLOAT16 | DType::BFLOAT16)) => {
            format!("({{ uint16_t w; memcpy(&w, &{name}, 2); (int64_t)w; }})")
        }
        LaunchArg::Value(_, CScalar::Float(_)) => format!("bits({name})"),
        LaunchArg::Value(_, CScalar::Int(_)) => format!("(int64_t){name}"),
        _ => format!("(int64_t)(intptr_t){name}"),
    }
}

/// What a kernel gets as the environment's stream. Those of functions that run on a GPU are the
/// driver's, of which the default one is there without being made.
pub fn stream_of(plan: &Plan) -> usize {
    let is_on_gpu = plan.launches.iter().any(|launch| matches!(launch.site, Site::Gpu(_)));
    if is_on_gpu { 0 } else { fake_ffi::STREAM }
}

/// The values of a launch's arguments, with those that a plan does not know: where the environment
/// allocates, and its stream.
pub fn with_addresses(plan: &Plan, number: usize, values: Vec<Option<i64>>) -> Vec<i64> {
    let launch = plan.launches.iter().find(|launch| launch.index == number);
    let fields = flat(&launch.expect("a launch that ran is planned").args);
    let mut unknown = fields.into_iter().filter_map(|field| match field {
        LaunchArg::TensorMap(map) => address_of(plan, &map.base),
        _ => address_of(plan, field),
    });
    let known = values.into_iter().map(|value| value.or_else(|| unknown.next()));
    known.map(|value| value.expect("an argument that no plan knows is an address")).collect()
}

/// The address that an argument is which is no value of a plan. Results are allocated first, and a
/// workspace begins where its alignment first holds.
fn address_of(plan: &Plan, arg: &LaunchArg) -> Option<i64> {
    let address = match arg {
        LaunchArg::Result(number) => fake_ffi::nth_allocation(*number),
        LaunchArg::Workspace(number) => {
            let align = plan.workspaces[*number].align;
            fake_ffi::nth_allocation(plan.results.len() + number).next_multiple_of(align.into())
        }
        LaunchArg::EnvStream => stream_of(plan) as u64,
        LaunchArg::AssertRecord => 0,
        LaunchArg::Value(..) | LaunchArg::Struct(_) | LaunchArg::TensorMap(_) => return None,
    };
    Some(address as i64)
}

/// What a kernel recorded, with floats of 16 bits widened.
pub fn decode(plan: &Plan, launched: &mut Launched) {
    let Some(launch) = plan.launches.iter().find(|launch| launch.index == launched.number) else {
        return;
    };
    for (field, value) in flat(&launch.args).into_iter().zip(&mut launched.values) {
        *value = match field {
            // Others are doubles by now.
            LaunchArg::Value(_, CScalar::Float(dtype @ (DType::FLOAT16 | DType::BFLOAT16))) => {
                widen(*dtype, *value)
            }
            _ => *value,
        };
    }
}

/// The bits of the double that has the value of a float with these bits.
pub fn widen(dtype: DType, word: i64) -> i64 {
    let wide = match dtype {
        DType::FLOAT32 => f64::from(f32::from_bits(word as u32)),
        DType::BFLOAT16 => f64::from(f32::from_bits((word as u32) << 16)),
        DType::FLOAT16 => half(word as u16),
        _ => return word,
    };
    wide.to_bits() as i64
}

/// The value of a float16.
fn half(word: u16) -> f64 {
    let (exponent, fraction) = (i32::from(word >> 10 & 31), f64::from(word & 1023));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if word >> 15 == 1 { -magnitude } else { magnitude }
}
