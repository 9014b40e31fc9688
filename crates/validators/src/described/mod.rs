// SPDX-License-Identifier: Apache-2.0
//! Calls that are described and not made: what the checks say of arguments of which only types,
//! shapes and places are known, as where a compiler traces a function.
//!
//! The arguments are laid out in a memory of their own (`memory`), which the plan's interpreter
//! reads, so that a described call is refused for the same reason and in the same words as the call
//! itself. What a description does not say holds: every tensor has data of its own, aligned to
//! whatever a signature may ask for. What launches need to know of a device is said beside the
//! arguments.

mod json;
mod memory;

use crate::plan::{DeviceFact, Kernels, Outcome, Plan, Refused, interpret, interpret_with};
use crate::signature::Signature;
use json::Call;
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use kernpack_syntax::Diagnostics;
use memory::Arena;
use std::fmt;

/// An argument, or an element of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Described {
    /// None.
    None,
    /// True or false.
    Bool(bool),
    /// An integer of 64 bits, signed or unsigned.
    Int(i128),
    /// A float.
    Float(f64),
    /// A text.
    Text(String),
    /// A dtype.
    DType(DType),
    /// An address.
    Pointer(u64),
    /// Integers, as an `ffi.Shape`.
    Shape(Vec<i64>),
    /// Several values.
    Tuple(Vec<Described>),
    /// Several values that may change.
    List(Vec<Described>),
    /// A tensor.
    Tensor(DescribedTensor),
    /// An object that no kind accepts.
    Object,
    /// A value or an object of a type that no kind reads.
    Other(TypeIndex),
}

/// A tensor without its data.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedTensor {
    /// The element type.
    pub dtype: DType,
    /// The extents.
    pub shape: Vec<i64>,
    /// The strides in elements; nothing: compact row-major.
    pub strides: Option<Vec<i64>>,
    /// Where it is, with the index among devices of that type; nothing: where the function runs.
    pub device: Option<(DeviceType, i32)>,
    /// The address of its data, which nobody reads; nothing: one of its own, as [`data_at`] has
    /// them.
    pub data: Option<u64>,
}

/// Why there is no answer.
#[derive(Clone, Debug)]
pub enum Undescribed {
    /// The problems of the signature.
    Signature(Diagnostics),
    /// The problem of the description.
    Call(String),
}

impl fmt::Display for Undescribed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undescribed::Signature(problems) => problems.fmt(f),
            Undescribed::Call(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for Undescribed {}

/// Runs the checks of a plan on a call. Tensors that say no device are on the first of
/// `device`.
pub fn check_call(plan: &Plan, args: &[Described], device: DeviceType) -> Outcome {
    let mut arena = Arena::new(device);
    let (args, n_args) = laid_out(args, &mut arena);
    interpret(plan, &arena, args, n_args)
}

/// The attributes of a GPU, in the order of [`DeviceFact::ALL`].
pub type DeviceFacts = [i64; DeviceFact::ALL.len()];

/// The same, where launches that ask of the device are told these facts, and what `kernels` knows.
pub fn check_call_knowing(
    plan: &Plan,
    args: &[Described],
    device: DeviceType,
    facts: DeviceFacts,
    kernels: &dyn Kernels,
) -> Outcome {
    let mut arena = Arena::new(device);
    arena.know(&facts);
    let (args, n_args) = laid_out(args, &mut arena);
    interpret_with(plan, &arena, args, n_args, kernels)
}

/// The address of arguments, and how many they are. A call with more than there are integers is
/// refused like one with that many.
fn laid_out(args: &[Described], arena: &mut Arena) -> (u64, i32) {
    (arena.values(args), i32::try_from(args.len()).unwrap_or(i32::MAX))
}

/// The tensor whose data is at an address that a described call has, by its number among its
/// tensors, in the order of the arguments; and how far into it that is, in bytes. Nothing for NULL.
pub fn tensor_at(address: u64) -> Option<(usize, u64)> {
    memory::tensor_at(address)
}

/// The address that [`tensor_at`] takes for that. Bytes of different numbers never meet.
pub fn data_at(number: usize, offset: u64) -> u64 {
    memory::data_at(number, offset)
}

/// Runs the checks of a signature on a call that JSON describes: nothing where it is accepted.
///
/// The JSON is `{"device": "cpu", "args": […]}`, with the device where the function runs. An
/// argument is `null`, `true`, `3`, `0.5`, `"text"`, `[…]` of several, `{"shape": [2, 3]}`,
/// `{"dtype": "float16"}`, `{"pointer": 4096}`, `{"float": "inf"}` (`"-inf"`, `"nan"`), `{"object":
/// null}`, or `{"tensor": {"dtype": "float32", "shape": [2, 3], "strides": [3, 1], "device":
/// ["cuda", 0]}}`, of which strides and device may be null or left out.
///
/// # Errors
/// The problems of the signature or the JSON.
pub fn check_described(signature: &str, call: &str) -> Result<Option<Refused>, Undescribed> {
    let call = Call::parse(call).map_err(Undescribed::Call)?;
    let signature = Signature::parse(signature).map_err(Undescribed::Signature)?;
    let plan = signature.plan(call.device).map_err(Undescribed::Signature)?;
    match check_call(&plan, &call.args, call.device) {
        Outcome::Accepted(_) => Ok(None),
        Outcome::Refused(refused) => Ok(Some(refused)),
        Outcome::NoDevice | Outcome::Unreadable(_) => {
            unreachable!("a signature's checks read what its kinds accept, and no device")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::samples;

    fn check(signature: &str, args: &str) -> String {
        let call = format!(r#"{{"device": "cpu", "args": {args}}}"#);
        match check_described(signature, &call).unwrap() {
            None => "accepted".to_string(),
            Some(refused) => format!("{}: {}", refused.kind, refused.message),
        }
    }

    fn tensor(dtype: &str, shape: &str, more: &str) -> String {
        format!(r#"{{"tensor": {{"dtype": "{dtype}", "shape": {shape}{more}}}}}"#)
    }

    #[test]
    fn a_call_is_accepted_or_refused_in_the_words_of_the_call() {
        let f = "f(x: Tensor([m, n], float32), y: Tensor([n], T, align=256, mut)) \
                 where T in {float16, bfloat16}, noalias(x, y)";
        let x = tensor("float32", "[2, 3]", "");
        let call = |y: &str| check(f, &format!("[{x}, {y}]"));
        assert_eq!(call(&tensor("float16", "[3]", "")), "accepted");
        assert_eq!(
            call(&tensor("float16", "[3]", r#", "strides": null, "device": null"#)),
            "accepted"
        );
        let calling = "when calling: `f(x: Tensor([m, n], float32), y: Tensor([n], T))`";
        assert_eq!(
            call(&tensor("float16", "[4]", "")),
            format!(
                "ValueError: Mismatched y.shape[0] on argument #1 {calling}, expected to match x.shape[1], got 4 (x.shape[1] is 3)"
            )
        );
        assert_eq!(
            call(&tensor("float32", "[3]", "")),
            format!(
                "TypeError: Mismatched Tensor on argument #1 {calling}, expected dtype=float16 or bfloat16, got float32"
            )
        );
        assert_eq!(
            call(&tensor("float16", "[3]", r#", "strides": [2]"#)),
            format!(
                "ValueError: Mismatched y.strides[0] on argument #1 {calling}, expected to be 1 for row-major order, got 2"
            )
        );
        assert_eq!(
            call(&tensor("float16", "[3]", r#", "device": ["cuda", 1]"#)),
            format!(
                "ValueError: Mismatched Tensor on argument #1 {calling}, expected device_type=cpu, got cuda"
            )
        );
        assert_eq!(
            call("null"),
            format!(
                "TypeError: Mismatched type on argument #1 {calling}, expected Tensor, got None"
            )
        );
    }

    #[test]
    fn every_json_form_arrives_as_what_it_says() {
        let cases = [
            ("None", "null", "accepted"),
            ("bool", "true", "accepted"),
            ("int64", "-9223372036854775808", "accepted"),
            ("uint64", "18446744073709551615", "accepted"),
            ("float32", "0.5", "accepted"),
            ("float32", r#"{"float": "inf"}"#, "accepted"),
            ("float32", r#"{"float": "-inf"}"#, "accepted"),
            ("float32", r#"{"float": "nan"}"#, "accepted"),
            ("Pointer(uint8, nonnull, align=64)", r#"{"pointer": 4096}"#, "accepted"),
            ("Shape([2, *s])", r#"{"shape": [2, 3, 4]}"#, "accepted"),
            ("Shape([2, *s])", "[2, 3, 4]", "accepted"),
            ("Tuple(a: int32, Tuple(float32))", "[1, [2.5]]", "accepted"),
            ("Optional[Tensor([k], int8)]", "null", "accepted"),
            ("float32", r#"{"object": null}"#, "expected float, got a Python object"),
            ("int32", "[]", "expected int, got Array"),
            ("int32", r#"{"shape": []}"#, "expected int, got Shape"),
            ("int32", r#"{"pointer": 1}"#, "expected int, got void*"),
            ("int32", r#"{"dtype": "int8"}"#, "expected int, got dtype"),
            ("int32", "\"3\"", "expected int, got str"),
            ("int32", "4294967296", "[-2147483648, 2147483647], got 4294967296"),
        ];
        for (kind, arg, expected) in cases {
            let outcome = check(&format!("f(p: {kind})"), &format!("[{arg}]"));
            assert!(outcome.ends_with(expected), "{kind} of {arg}: {outcome}");
        }
        let text = "f(s: String) where s in {\"\", \"an äöü longer text\"}";
        assert_eq!(check(text, "[\"\"]"), "accepted");
        assert_eq!(check(text, "[\"an äöü longer text\"]"), "accepted");
        assert!(check(text, "[\"b\"]").ends_with("got \"b\""));
        let dtype = "f(d: DataType, x: Tensor([], d)) where d in {int8, float8_e4m3fn}";
        let int8 = tensor("int8", "[]", "");
        assert_eq!(check(dtype, &format!(r#"[{{"dtype": "int8"}}, {int8}]"#)), "accepted");
        assert_eq!(check(dtype, &format!(r#"["int8", {int8}]"#)), "accepted");
    }

    #[test]
    fn data_is_never_what_a_call_is_refused_for() {
        let big = tensor("uint8", "[1099511627776, 16]", "");
        let aligned = "f(x: Tensor([m, n], uint8, align=4096), y: Tensor([m, n], uint8, align=4096)) \
                       where noalias(x, y)";
        assert_eq!(check(aligned, &format!("[{big}, {big}]")), "accepted");
        let any = "f(x: Tensor([n], float32, strides=any))";
        let reversed = tensor("float32", "[3]", r#", "strides": [-1]"#);
        assert_eq!(check(any, &format!("[{reversed}]")), "accepted");
    }

    #[test]
    fn the_device_of_the_call_is_that_of_tensors_that_say_none() {
        let call = |device: &str| {
            let tensor = tensor("int8", "[]", "");
            let call = format!(r#"{{"device": "{device}", "args": [{tensor}]}}"#);
            check_described("f(x: Tensor([], int8, device=cuda))", &call).unwrap().is_none()
        };
        assert!(call("cuda"));
        assert!(!call("cpu"));
    }

    #[test]
    fn no_value_makes_a_kind_read_what_is_not_there() {
        let values = [
            "null",
            "true",
            "1",
            "18446744073709551615",
            "0.5",
            "\"\"",
            "\"a longer text\"",
            "[]",
            "[[], 1]",
            r#"{"shape": []}"#,
            r#"{"shape": [1, -2]}"#,
            r#"{"dtype": "int4"}"#,
            r#"{"pointer": 0}"#,
            r#"{"object": null}"#,
            &tensor("float32", "[]", ""),
            &tensor("bfloat16", "[0, -1]", r#", "strides": [9223372036854775807, 2]"#),
            &tensor("int4", "[9223372036854775807, 9223372036854775807]", ""),
        ];
        for sample in samples().into_iter().filter(|sample| !sample.contains("T,")) {
            let signature = match sample {
                "DataType" => "f(p: DataType, x: Tensor([], p)) where p in {int8}".to_string(),
                _ => format!("f(p: {sample})"),
            };
            for value in &values {
                check(&signature, &format!("[{value}]"));
            }
        }
    }

    #[test]
    fn data_that_is_said_to_lie_somewhere_is_checked() {
        let text =
            "f(x: Tensor([n], float32, align=16), y: Tensor([n], float32)) where noalias(x, y)";
        let plan = Signature::parse(text).unwrap().plan(DeviceType::CPU).unwrap();
        let tensor = |data| {
            let (dtype, shape) = (DType::FLOAT32, vec![4]);
            let data = Some(data);
            Described::Tensor(DescribedTensor { dtype, shape, strides: None, device: None, data })
        };
        let call =
            |x: u64, y: u64| match check_call(&plan, &[tensor(x), tensor(y)], DeviceType::CPU) {
                Outcome::Refused(refused) => refused.name.to_string(),
                outcome => format!("{}", matches!(outcome, Outcome::Accepted(_))),
            };
        assert_eq!(call(data_at(0, 16), data_at(0, 32)), "true");
        assert_eq!(call(data_at(0, 16), data_at(1, 16)), "true");
        assert_eq!(call(data_at(0, 16), data_at(0, 28)), "alias");
        assert_eq!(call(data_at(0, 4), data_at(1, 0)), "alignment");
        assert_eq!(tensor_at(data_at(3, 20)), Some((3, 20)));
    }

    #[test]
    fn a_value_of_another_type_is_refused_by_its_name() {
        let plan = Signature::parse("f(n: int32)").unwrap().plan(DeviceType::CPU).unwrap();
        let others = [TypeIndex::DEVICE, TypeIndex::MAP].map(Described::Other);
        let list = Described::List(vec![Described::Int(1)]);
        for (value, name) in others.into_iter().chain([list]).zip(["Device", "Map", "List"]) {
            let outcome = check_call(&plan, &[value], DeviceType::CPU);
            let Outcome::Refused(refused) = outcome else { panic!("{outcome:?}") };
            assert!(refused.message.ends_with(&format!("expected int, got {name}")));
        }
    }

    #[test]
    fn what_is_no_description_is_an_error() {
        let calls = [
            ("[]", "expected an object with `device` and `args`"),
            (r#"{"device": "gpu", "args": []}"#, "`gpu` is no device"),
            (r#"{"device": "cpu"}"#, "expected a list, found null"),
            (
                r#"{"device": "cpu", "args": [{"tensor": {"dtype": "float33"}}]}"#,
                "`float33` is no dtype",
            ),
            (r#"{"device": "cpu", "args": [{"a": 1, "b": 2}]}"#, "expected a value"),
            (r#"{"device": "cpu", "args": [{"float": "1"}]}"#, "expected a value"),
            (
                r#"{"device": "cpu", "args": [{"tensor": {"dtype": "int8", "shape": [1], "strides": []}}]}"#,
                "expected as many strides as dims",
            ),
            ("{", "EOF"),
        ];
        for (call, expected) in calls {
            let error = check_described("f()", call).unwrap_err();
            assert!(matches!(error, Undescribed::Call(_)));
            assert!(error.to_string().contains(expected), "{call}: {error}");
        }
        let error = check_described("f(", r#"{"device": "cpu", "args": []}"#).unwrap_err();
        assert!(matches!(error, Undescribed::Signature(_)), "{error}");
    }
}
