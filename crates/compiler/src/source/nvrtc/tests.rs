// SPDX-License-Identifier: Apache-2.0
//! Files that are not NVRTC, and the headers of one that is.

use super::*;
use std::fs;

#[test]
fn another_library_is_no_nvrtc() {
    let error = Nvrtc::open(Path::new("libc.so.6")).expect_err("the C library");
    let expected = "libc.so.6: has no nvrtcVersion: it is no NVRTC of CUDA 11.2 or later";
    assert!(error.to_string().ends_with(expected), "{error}");
}

#[test]
fn headers_are_those_beside_the_library() {
    let root = tempfile::tempdir().unwrap();
    let library = root.path().join("cu13/lib");
    for folder in ["cu13/lib", "cu13/include/cccl/cuda/std", "cuda_runtime/include"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    fs::write(root.path().join("cu13/include/cuda_runtime.h"), "").unwrap();
    let root = root.path().canonicalize().unwrap();
    let expected = [root.join("cu13/include"), root.join("cu13/include/cccl")];
    assert_eq!(headers(&library), expected);
}
