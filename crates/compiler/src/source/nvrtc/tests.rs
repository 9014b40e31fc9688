// SPDX-License-Identifier: Apache-2.0
//! Where NVRTC is looked for, without NVRTC.

use super::*;
use std::fs;

/// The places for these variables, relative to `root`.
fn expect_places(root: &Path, variables: &[(&str, &str)], expected: &[&str]) {
    let variable = |name: &str| {
        let (_, value) = variables.iter().find(|(known, _)| *known == name)?;
        Some(if value.is_empty() { OsString::new() } else { root.join(value).into_os_string() })
    };
    let relative = |path: &Path| {
        path.strip_prefix(root).expect("a place below the root").display().to_string()
    };
    let words = |place: &Place| match place {
        Place::Unset(name) => format!("no {name}"),
        Place::Named(path) => format!("file {}", relative(path)),
        Place::Folder(path) => relative(path),
        Place::Loader(name) => format!("loader {name}"),
    };
    let places = places(&variable, &root.join("local"));
    assert_eq!(places.iter().map(words).collect::<Vec<_>>(), expected);
}

#[test]
fn without_variables_the_loader_and_the_toolkits_remain() {
    let root = tempfile::tempdir().unwrap();
    for toolkit in ["cuda", "cuda-12.4", "cuda-13.0", "other"] {
        fs::create_dir_all(root.path().join("local").join(toolkit)).unwrap();
    }
    let expected = [
        "no KERNPACK_NVRTC",
        "no CUDA_HOME",
        "no CUDA_PATH",
        "no KERNPACK_PYTHON",
        "no VIRTUAL_ENV",
        "loader libnvrtc.so.13",
        "loader libnvrtc.so.12",
        "loader libnvrtc.so",
        "local/cuda-13.0/lib64",
        "local/cuda-12.4/lib64",
        "local/cuda/lib64",
    ];
    expect_places(root.path(), &[("CUDA_HOME", "")], &expected);
}

#[test]
fn variables_come_first_in_their_order() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("venv/lib/python3.12/site-packages")).unwrap();
    let variables = [
        ("VIRTUAL_ENV", "empty"),
        ("KERNPACK_PYTHON", "venv/bin/python"),
        ("CUDA_PATH", "toolkit"),
        ("CUDA_HOME", "home"),
        ("KERNPACK_NVRTC", "mine.so"),
    ];
    let expected = [
        "file mine.so",
        "home/lib64",
        "home/lib",
        "toolkit/lib64",
        "toolkit/lib",
        "venv/lib/python3.12/site-packages/nvidia/cu13/lib",
        "venv/lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib",
        "empty/nvidia/cu13/lib",
        "empty/nvidia/cuda_nvrtc/lib",
        "loader libnvrtc.so.13",
        "loader libnvrtc.so.12",
        "loader libnvrtc.so",
    ];
    expect_places(root.path(), &variables, &expected);
}

#[test]
fn a_place_without_nvrtc_says_why() {
    let root = tempfile::tempdir().unwrap();
    let reasons = |place: Place| place.open().expect_err("no NVRTC");
    let unset = reasons(Place::Unset("CUDA_HOME"));
    assert_eq!(unset, [tried("CUDA_HOME", "is not set")]);
    let folder = root.path().display().to_string();
    let empty = reasons(Place::Folder(root.path().to_path_buf()));
    assert_eq!(empty, [tried(&folder, "has no libnvrtc.so")]);
    // Two files, neither of which can be loaded: both are told.
    for name in ["libnvrtc.so.13", "libnvrtc.so"] {
        fs::write(root.path().join(name), "no library").unwrap();
    }
    let broken = reasons(Place::Folder(root.path().to_path_buf()));
    let places: Vec<_> = broken.iter().map(|tried| tried.place.as_str()).collect();
    assert_eq!(places, [format!("{folder}/libnvrtc.so.13"), format!("{folder}/libnvrtc.so")]);
}

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
