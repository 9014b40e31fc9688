// SPDX-License-Identifier: Apache-2.0
//! Files as each version of Triton writes them, and files that are wrong.

use super::*;

/// The part that every version has in common.
const COMMON: &str = r#""name": "add", "num_warps": 4, "num_ctas": 1, "num_stages": 3, "shared": 512, "maxnreg": null,
    "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "extern_libs": [["libdevice", "libdevice.10.bc"]]"#;

fn read(more: &str) -> Result<TritonKernel, TritonError> {
    let comma = if more.is_empty() { "" } else { ", " };
    TritonKernel::read("add.json", &format!("{{{COMMON}{comma}{more}}}"))
}

/// The same with `from` replaced.
fn read_with(from: &str, to: &str) -> Result<TritonKernel, TritonError> {
    assert!(COMMON.contains(from), "{from}");
    TritonKernel::read("add.json", &format!("{{{}}}", COMMON.replace(from, to)))
}

fn expect_error(kernel: Result<TritonKernel, TritonError>, expected: &str) {
    assert_eq!(kernel.expect_err(expected).to_string(), expected);
}

fn scratch(bytes_per_block: u32, alignment_bytes: u32) -> Scratch {
    Scratch { bytes_per_block, alignment_bytes }
}

/// Of 3.2: no scratch memory at all.
fn oldest() -> TritonKernel {
    TritonKernel {
        name: "add".to_string(),
        version: None,
        arch: 90,
        shared_bytes: 512,
        threads_per_block: 128,
        cluster: [1, 1, 1],
        global_scratch: None,
        profile_scratch: None,
        flags: LaunchFlags::default(),
        tensor_memory_columns: 0,
        descriptors: vec![],
    }
}

#[test]
fn version_3_2() {
    let kernel = read(r#""cluster_dims": [1, 1, 1], "arch": "sm90""#).unwrap();
    assert_eq!(kernel, oldest());
    assert_eq!(kernel.hidden_params(), []);
}

#[test]
fn version_3_3_passes_global_scratch_memory() {
    let kernel = read(
        r#""cluster_dims": [1, 1, 1], "launch_cooperative_grid": true, "triton_version": "3.3.1",
           "tmem_size": 0, "global_scratch_size": 0, "global_scratch_align": 1"#,
    );
    let expected = TritonKernel {
        version: Some("3.3.1".to_string()),
        flags: [LaunchFlag::Cooperative].into_iter().collect(),
        global_scratch: Some(scratch(0, 1)),
        ..oldest()
    };
    assert_eq!(kernel.as_ref(), Ok(&expected));
    assert_eq!(expected.hidden_params(), [scratch(0, 1)]);
}

#[test]
fn version_3_4_describes_tensor_maps() {
    let kernel = read(
        r#""cluster_dims": [1, 1, 1], "launch_pdl": true, "triton_version": "3.4.0", "global_scratch_size": 128,
           "global_scratch_align": 128, "tensordesc_meta": [
           {"swizzle": 3, "elem_size": 2, "elem_type": 6, "block_size": [64, 128], "fp4_padded": false}]"#,
    );
    let descriptor = TritonDescriptor {
        swizzle: 3,
        element_bytes: 2,
        element_type: 6,
        box_shape: vec![64, 128],
        is_fp4_padded: false,
    };
    let expected = TritonKernel {
        version: Some("3.4.0".to_string()),
        flags: [LaunchFlag::Dependent].into_iter().collect(),
        global_scratch: Some(scratch(128, 128)),
        descriptors: vec![descriptor],
        ..oldest()
    };
    assert_eq!(kernel, Ok(expected));
}

#[test]
fn version_3_5_passes_profile_scratch_memory_too() {
    let kernel = read(
        r#""cluster_dims": [1, 1, 1], "triton_version": "3.5.1", "warp_size": 32, "global_scratch_size": null,
           "global_scratch_align": null, "profile_scratch_size": 64, "profile_scratch_align": 16"#,
    );
    assert_eq!(kernel.unwrap().hidden_params(), [scratch(0, 1), scratch(64, 16)]);
}

/// Word for word what Triton 3.6.0 wrote, save the paths and the digest.
#[test]
fn version_3_6() {
    let text = r#"{"hash": "90d2", "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "num_warps": 4,
        "num_ctas": 1, "num_stages": 3, "warp_size": 32, "maxnreg": null, "ptx_version": null, "ptx_options": null,
        "ir_override": null, "enable_fp_fusion": true, "enable_reflect_ftz": true, "launch_cooperative_grid": false,
        "launch_pdl": false, "supported_fp8_dtypes": ["fp8e4b15", "fp8e4nv", "fp8e5"],
        "deprecated_fp8_dot_operand_dtypes": ["fp8e4b15"], "default_dot_input_precision": "tf32",
        "allowed_dot_input_precisions": ["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"],
        "max_num_imprecise_acc_default": 1073741824, "extern_libs": [["libdevice", "libdevice.10.bc"]],
        "debug": false, "backend_name": "cuda", "sanitize_overflow": true, "arch": "sm90", "instrumentation_mode": "",
        "triton_version": "3.6.0", "tensordesc_meta": [], "shared": 0, "tmem_size": 0, "global_scratch_size": 0,
        "global_scratch_align": 1, "profile_scratch_size": 0, "profile_scratch_align": 1, "name": "add"}"#;
    let expected = TritonKernel {
        version: Some("3.6.0".to_string()),
        shared_bytes: 0,
        global_scratch: Some(scratch(0, 1)),
        profile_scratch: Some(scratch(0, 1)),
        ..oldest()
    };
    assert_eq!(TritonKernel::read("add.json", text), Ok(expected));
}

#[test]
fn clusters_come_from_their_extents_or_their_number() {
    let cluster = |more: &str| {
        let text =
            format!("{{{}, {more}}}", COMMON.replace(r#""num_ctas": 1"#, r#""num_ctas": 4"#));
        TritonKernel::read("add.json", &text).map(|kernel| kernel.cluster)
    };
    assert_eq!(cluster(r#""launch_pdl": false"#), Ok([4, 1, 1]));
    assert_eq!(cluster(r#""cluster_dims": [2, 2, 1]"#), Ok([2, 2, 1]));
    // One block a cluster is none, whatever the extents say: Triton's own launcher does not look at
    // them.
    assert_eq!(read(r#""cluster_dims": [2, 1, 1]"#).unwrap().cluster, [1, 1, 1]);
    for wrong in ["[2, 2]", "[2, 0, 1]"] {
        let message = format!(
            "key `cluster_dims` of `add.json` is {}, expected three positive integers",
            wrong.replace(' ', "")
        );
        let error = cluster(&format!(r#""cluster_dims": {wrong}"#)).expect_err(wrong);
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn what_is_needed_is_named_where_it_is_missing() {
    let rest = "; give the file that Triton (3.2 or later) writes next to the cubin";
    let keys = [
        (r#""name": "add", "#, "name"),
        (r#""num_warps": 4, "#, "num_warps"),
        (r#""num_ctas": 1, "#, "num_ctas"),
        (r#""shared": 512, "#, "shared"),
        (r#""backend": "cuda", "#, "target.backend"),
        (r#""arch": 90, "#, "target.arch"),
        (r#", "warp_size": 32"#, "target.warp_size"),
    ];
    for (text, key) in keys {
        expect_error(read_with(text, ""), &format!("`add.json` has no key `{key}`{rest}"));
    }
    let target = r#""target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "#;
    expect_error(read_with(target, ""), &format!("`add.json` has no key `target`{rest}"));
    expect_error(
        read(r#""tensordesc_meta": [{"swizzle": 3, "elem_size": 2, "elem_type": 6}]"#),
        &format!("`add.json` has no key `tensordesc_meta[0].block_size`{rest}"),
    );
}

#[test]
fn values_that_make_no_sense_are_shown() {
    let wrong = |from, to, expected: &str| expect_error(read_with(from, to), expected);
    wrong(
        r#""num_warps": 4"#,
        r#""num_warps": "4""#,
        "key `num_warps` of `add.json` is \"4\", expected a 32-bit integer from 0 on",
    );
    wrong(
        r#""num_warps": 4"#,
        r#""num_warps": 0"#,
        "key `num_warps` of `add.json` is 0, expected at least 1",
    );
    wrong(
        r#""num_warps": 4"#,
        r#""num_warps": 33"#,
        "key `num_warps` of `add.json` is 33, expected at most 1024 threads in a block",
    );
    wrong(
        r#""cuda""#,
        r#""hip""#,
        "key `target.backend` of `add.json` is \"hip\", expected \"cuda\"",
    );
    expect_error(
        read(r#""global_scratch_size": 1, "global_scratch_align": 3"#),
        "key `global_scratch_align` of `add.json` is 3, expected a power of two",
    );
    expect_error(
        read(r#""launch_pdl": 1"#),
        "key `launch_pdl` of `add.json` is 1, expected true or false",
    );
    expect_error(
        TritonKernel::read("add.json", "[]"),
        "`add.json` is no JSON object; give the file that Triton writes next to the cubin",
    );
    expect_error(
        TritonKernel::read("add.json", "\u{7f}ELF"),
        "`add.json` is no JSON: expected value at line 1 column 1; give the file that Triton writes next to the cubin",
    );
}
