// SPDX-License-Identifier: Apache-2.0
//! Arguments for descriptors, by the sizes of a cubin's parameters, and problems of those that do
//! not fit. Real cubins are in `tests/cuda`.

use super::*;
use kernpack_ffi_abi::DeviceType;
use kernpack_validators::{Signature, When, parse_kernel_arg, parse_when};

const SIGNATURE: &str = "f(x: Tensor([m, n], T), y: Tensor([k], float32), c: Tensor([m, n], float16, order=col), z: Tensor([a, b, d, e], float16), \
    u: Tensor([m, n], int32), i: int32) -> r: Tensor([m, n], float16) where T in {float16, bfloat16, uint16}";

fn two_dims() -> TritonDescriptor {
    TritonDescriptor {
        swizzle: 3,
        element_bytes: 2,
        element_type: 6,
        box_shape: vec![16, 64],
        is_fp4_padded: false,
    }
}

fn settle(
    args: &[&str],
    described: &[TritonDescriptor],
    params: &[u32],
    when: &str,
) -> Result<String, DescriptorError> {
    let signature: Signature = SIGNATURE.parse().unwrap();
    let when = if when.is_empty() { When::Always } else { parse_when(when).unwrap() };
    let tensors = signature.named_tensors(DeviceType::CUDA, &[], &[&when], 0).unwrap();
    let args: Vec<_> = args.iter().map(|arg| parse_kernel_arg(arg).unwrap().into()).collect();
    let json = Path::new("f.json");
    let descriptors = Descriptors { function: "f", json, described, params };
    let settled = descriptors.settle(&args, &tensors)?;
    Ok(settled.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

#[track_caller]
fn expect(
    args: &[&str],
    described: &[TritonDescriptor],
    params: &[u32],
    when: &str,
    expected: &str,
) {
    assert_eq!(settle(args, described, params, when).unwrap(), expected);
}

#[track_caller]
fn expect_error(args: &[&str], described: &[TritonDescriptor], expected: &str) {
    let params = [&[8][..], &MAP].concat();
    let error = settle(args, described, &params, "").expect_err(expected);
    assert_eq!(error.to_string(), expected);
}

/// A map of two dims.
const MAP: [u32; 5] = [128, 4, 4, 8, 8];
const OF_X: &str = "x.shape[0]: int32; x.shape[1]: int32; x.strides[0]: int64; x.strides[1]: int64";

#[test]
fn a_tensor_is_a_map_with_shape_and_strides_where_the_kernel_has_one() {
    let params = [&[8][..], &MAP, &[4]].concat();
    let map = "tma(x, box=[16, 64], swizzle=128, l2=128)";
    expect(
        &["x", "x", "i"],
        &[two_dims()],
        &params,
        "T in {float16}",
        &format!("x; {map}; {OF_X}; i"),
    );
    let whole = "tma(r, box=[16, 64], swizzle=128, l2=128); r.shape[0]: int32; r.shape[1]: int32; r.strides[0]: int64; r.strides[1]: int64";
    expect(&["y", "r", "i"], &[two_dims()], &params, "", &format!("y; {whole}; i"));
}

#[test]
fn a_map_says_what_triton_does_not_know() {
    let view = "tma(z, box=[16, 64], dims=[a*b*d, e], as=bfloat16, swizzle=64, l2=128, fill=nan)";
    let described = TritonDescriptor { swizzle: 2, element_type: 10, ..two_dims() };
    let error =
        settle(&["tma(z, dims=[a*b*d, e], fill=nan)"], std::slice::from_ref(&described), &MAP, "");
    assert!(error.unwrap_err().to_string().contains("whose elements are bfloat16, not float16"));
    let described = TritonDescriptor { element_type: 6, ..described };
    let view = view.replace(" as=bfloat16,", "");
    expect(
        &["tma(z, dims=[a*b*d, e], fill=nan)"],
        &[described],
        &MAP,
        "",
        &format!("{view}; a*b*d: int32; e: int32; e: int64; 1: int64"),
    );
    let three = TritonDescriptor { swizzle: 0, box_shape: vec![1, 16, 64], ..two_dims() };
    expect(
        &["tma(z, dims=[a + b, d, e])"],
        std::slice::from_ref(&three),
        &[128, 4, 4, 4, 8, 8, 8],
        "",
        "tma(z, box=[1, 16, 64], dims=[a + b, d, e], l2=128); a + b: int32; d: int32; e: int32; d*e: int64; e: int64; 1: int64",
    );
    let strided = "tma(c, dims=[n, m], strides=[m, 1])";
    expect(
        &[strided],
        &[two_dims()],
        &MAP,
        "",
        "tma(c, box=[16, 64], dims=[n, m], strides=[m, 1], swizzle=128, l2=128); n: int32; m: int32; m: int64; 1: int64",
    );
}

#[test]
fn elements_are_copied_as_tritons_type() {
    for (element_type, dtype) in ELEMENTS {
        let element_bytes = dtype.element_bytes();
        let described =
            TritonDescriptor { element_type: *element_type, element_bytes, ..two_dims() };
        let text = format!("f(x: Tensor([m, n], {dtype}))");
        let signature: Signature = text.parse().unwrap();
        let tensors = signature.named_tensors(DeviceType::CUDA, &[], &[&When::Always], 0).unwrap();
        let descriptors = Descriptors {
            function: "f",
            json: Path::new("f.json"),
            described: &[described],
            params: &MAP,
        };
        let settled =
            descriptors.settle(&[parse_kernel_arg("x").unwrap().into()], &tensors).unwrap();
        assert_eq!(settled[0].to_string(), "tma(x, box=[16, 64], swizzle=128, l2=128)", "{dtype}");
    }
    // Whose sign is another, and what Triton copies as bytes.
    let int = TritonDescriptor { element_type: 2, element_bytes: 4, ..two_dims() };
    let as_uint32 = "tma(u, box=[16, 64], as=uint32, swizzle=128, l2=128)";
    assert!(settle(&["u"], &[int], &MAP, "").unwrap().starts_with(as_uint32));
    assert!(is_copied_as(DType::FLOAT8_E4M3FN, DType::UINT8));
    assert!(!is_copied_as(DType::UINT8, DType::UINT16));
    assert!(!is_copied_as(DType::FLOAT16, DType::BFLOAT16));
    assert!(!is_copied_as(DType::UINT16, DType::FLOAT16));
}

#[test]
fn conditions_narrow_dtypes() {
    let of = |when: &str| settle(&["x"], &[two_dims()], &MAP, when).map_err(|e| e.to_string());
    assert!(of("T in {float16}").is_ok());
    assert!(of("m > 1, T in {float16, bfloat16}, T in {float16, uint16}").is_ok());
    assert_eq!(
        of("m > 1, T in {float16, bfloat16}").unwrap_err(),
        "`f` passes `x` as tensor descriptor 0 of `f.json`, whose elements are float16, not bfloat16; launch it only `when = \"T in {…}\"`"
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let at = |arg: &str, problem: &str| {
        let expected = format!("`f` passes `{arg}` as tensor descriptor 0 of `f.json`, {problem}");
        expect_error(&["y", arg], &[two_dims()], &expected);
    };
    let no_tensor = "but it is no tensor; write the name of one, or `tma(x, dims=[…])`";
    for arg in ["i", "n: int32", "r: pointer", "struct(r, i)", "tma(q, dims=[m, n])"] {
        at(arg, no_tensor);
    }
    at("y", "whose boxes are of rank 2, not 1; give it another view: `tma(y, dims=[…])`");
    at(
        "tma(r, dims=[m*n])",
        "whose boxes are of rank 2, not 1; give it another view: `tma(r, dims=[…])`",
    );
    at(
        "c",
        "but its last dim is not the contiguous one; give it a view whose is: `tma(c, dims=[…], strides=[…, 1])`",
    );
    at(
        "tma(y, dims=[k, 1])",
        "whose elements are float16, not float32; change the signature, or compile the kernel for that dtype",
    );
    let said =
        ["box=[16, 64]", "steps=[1, 1]", "as=float16", "interleave=16", "swizzle=32", "l2=64"];
    for option in said {
        let name = option.split('=').next().unwrap();
        at(
            &format!("tma(r, {option})"),
            &format!("but that says its own `{name}`; leave `{name}=` out"),
        );
    }
}

#[test]
fn descriptors_are_as_many_as_the_parameters() {
    expect_error(
        &["y"],
        &[two_dims()],
        "`f` passes 0 of the 1 tensor descriptors of `f.json`; write the tensor of each among `args`, in the order of the kernel's author",
    );
    expect_error(
        &["y", "r"],
        &[two_dims(), two_dims()],
        "the number of tensor descriptors in `f.json` is 2, and in its cubin 1; give the JSON that Triton wrote next to the cubin",
    );
    expect_error(
        &["tma(y)", "r"],
        &[two_dims()],
        "`f` passes `tma(y)`, but there the kernel of `f.json` takes no tensor descriptor; write all of its arguments, in the order of its author",
    );
    // Too many arguments: those behind stay, and are refused with the sizes of all.
    let settled = settle(&["r", "y", "i"], &[two_dims()], &MAP, "").unwrap();
    assert!(settled.ends_with("r.strides[1]: int64; y; i"), "{settled}");
}

#[test]
fn what_cannot_be_had_is_refused() {
    let refuse = |described: TritonDescriptor, what: &str| {
        expect_error(
            &["y", "r"],
            &[described],
            &format!(
                "`f.json` wants {what}, which is not supported; pass pointers, or make the descriptor in the kernel with `tl.make_tensor_descriptor`"
            ),
        );
    };
    let key = |key: &str| format!("in a tensor map (`tensordesc_meta[0].{key}`)");
    refuse(
        TritonDescriptor { is_fp4_padded: true, ..two_dims() },
        &format!("padded elements of four bits {}", key("fp4_padded")),
    );
    refuse(
        TritonDescriptor { element_type: 8, element_bytes: 4, ..two_dims() },
        &format!("elements of type 8 in 4 bytes {}", key("elem_type")),
    );
    refuse(
        TritonDescriptor { element_bytes: 4, ..two_dims() },
        &format!("elements of type 6 in 4 bytes {}", key("elem_type")),
    );
    refuse(TritonDescriptor { swizzle: 4, ..two_dims() }, &format!("swizzle 4 {}", key("swizzle")));
    for extent in [0, 257] {
        refuse(
            TritonDescriptor { box_shape: vec![extent, 8], ..two_dims() },
            &format!("a box of [{extent}, 8] {}", key("block_size")),
        );
    }
}

const POINTERS: [u32; 9] = [8, 8, 8, 8, 8, 4, 4, 8, 8];
const OF_R: &str = "r; r.shape[0]: int64; r.shape[1]: int64; r.strides[0]: int64; r.strides[1]: int64; r.shape[0]: int32; r.shape[1]: int32; \
    r.strides[0]: int64; r.strides[1]: int64";

#[test]
fn for_older_devices_a_tensor_is_what_fits_the_parameters() {
    expect(&["r"], &[], &POINTERS, "", OF_R);
    let flagged = [&POINTERS[..5], &[1], &POINTERS[5..]].concat();
    let with_flag = |flag: &str| {
        OF_R.replace(
            "strides[1]: int64; r.shape[0]: int32",
            &format!("strides[1]: int64; {flag}: bool; r.shape[0]: int32"),
        )
    };
    expect(&["r"], &[], &flagged, "", &with_flag("0"));
    expect(&["tma(r, fill=nan)"], &[], &flagged, "", &with_flag("1"));
    let mixed = [&[8, 4][..], &flagged, &[8], &flagged, &[4]].concat();
    let two = format!("r; i; {0}; r; {0}; i", with_flag("0"));
    expect(&["r", "i", "r", "r", "r", "i"], &[], &mixed, "", &two);
    let one_dim = "tma(r, dims=[m*n])";
    expect(
        &[one_dim],
        &[],
        &[8, 8, 8, 1, 4, 8],
        "",
        "r; m*n: int64; 1: int64; 0: bool; m*n: int32; 1: int64",
    );
}

#[test]
fn what_fits_no_parameters_stays_as_it_is() {
    // Everything is there already.
    let all: Vec<_> = OF_R.split("; ").collect();
    expect(&all, &[], &POINTERS, "", OF_R);
    expect(&["r", "i"], &[], &POINTERS, "", "r; i");
    expect(&["y"], &[], &POINTERS, "", "y");
    // A whole tensor map, as kernels of Triton 3.3 take one.
    expect(&["tma(r, box=[16, 64])", "i"], &[], &[128, 4], "", "tma(r, box=[16, 64]); i");
    // Either tensor could be the descriptor.
    let either = [8, 8, 8, 4, 8, 8, 8, 8, 4, 8];
    expect(&["y", "i", "i", "i", "i", "y"], &[], &either, "", "y; i; i; i; i; y");
    for (arg, params) in
        [("tma(r)", &[8][..]), ("tma(r, fill=nan)", &POINTERS), ("tma(r, swizzle=32)", &POINTERS)]
    {
        let error = settle(&[arg], &[], params, "").expect_err(arg).to_string();
        assert!(
            error.starts_with(&format!("`f` passes `{arg}`, but there the kernel of")),
            "{error}"
        );
    }
}

#[test]
fn only_what_may_change_is_looked_at() {
    let concern = |args: &[&str], described: &[TritonDescriptor], params: &[u32]| {
        let args: Vec<_> = args.iter().map(|arg| parse_kernel_arg(arg).unwrap().into()).collect();
        let json = Path::new("f.json");
        Descriptors { function: "f", json, described, params }.concern(&args)
    };
    assert!(!concern(&["x", "i"], &[], &[8, 4]));
    assert!(concern(&["x", "i"], &[], &[8, 4, 4]));
    assert!(concern(&["x"], &[two_dims()], &[128]));
    assert!(concern(&["tma(x)"], &[], &[8]));
    assert!(!concern(&["tma(x, box=[8])"], &[], &[128]));
}

#[test]
fn a_tensor_without_dims_is_its_data() {
    let signature =
        "f(x: Tensor([m, n], float16), s: Tensor([], float32), y: Tensor([m, n], float16))";
    let signature: Signature = signature.parse().unwrap();
    let tensors = signature.named_tensors(DeviceType::CUDA, &[], &[&When::Always], 0).unwrap();
    let args = ["x", "s", "y"].map(|arg| parse_kernel_arg(arg).unwrap().into());
    // Of a descriptor, a pointer and a pointer, as Triton 3.5 compiles them for sm_80.
    let params = [8, 8, 8, 8, 8, 1, 4, 4, 8, 8, 8, 8];
    let [way] = &ways(&args, &params, &tensors)[..] else { panic!("one way") };
    assert_eq!(way.len(), params.len());
}
