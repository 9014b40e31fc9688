// SPDX-License-Identifier: Apache-2.0
//! Where a library is looked for, without one.

use super::*;
use std::fs;

/// A library that nobody has.
const LIBRARY: CudaTool = CudaTool {
    form: Form::Library,
    variable: "KERNPACK_LIB",
    files: &["liblib.so.13", "liblib.so.12", "liblib.so"],
    wheels: &["nvidia/cu13/lib", "nvidia/lib/lib"],
};

/// A program that nobody has.
const PROGRAM: CudaTool = CudaTool {
    form: Form::Program { copies: &["torch/bin", "triton/bin"] },
    variable: "KERNPACK_TOOL",
    files: &["tool"],
    wheels: &["nvidia/cu13/bin", "nvidia/tool/bin"],
};

/// The places for these variables, relative to `root`.
fn expect_places(root: &Path, variables: &[(&str, &str)], expected: &[&str]) {
    expect_places_of(&LIBRARY, root, variables, expected);
}

fn expect_places_of(tool: &CudaTool, root: &Path, variables: &[(&str, &str)], expected: &[&str]) {
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
        Place::Path(name) => format!("path {name}"),
    };
    let places = tool.places(&variable, &root.join("local"));
    assert_eq!(places.iter().map(words).collect::<Vec<_>>(), expected);
}

#[test]
fn without_variables_the_loader_and_the_toolkits_remain() {
    let root = tempfile::tempdir().unwrap();
    for toolkit in ["cuda", "cuda-12.4", "cuda-13.0", "other"] {
        fs::create_dir_all(root.path().join("local").join(toolkit)).unwrap();
    }
    let expected = [
        "no KERNPACK_LIB",
        "no CUDA_HOME",
        "no CUDA_PATH",
        "no KERNPACK_PYTHON",
        "no VIRTUAL_ENV",
        "loader liblib.so.13",
        "loader liblib.so.12",
        "loader liblib.so",
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
        ("KERNPACK_LIB", "mine.so"),
    ];
    let expected = [
        "file mine.so",
        "home/lib64",
        "home/lib",
        "toolkit/lib64",
        "toolkit/lib",
        "venv/lib/python3.12/site-packages/nvidia/cu13/lib",
        "venv/lib/python3.12/site-packages/nvidia/lib/lib",
        "empty/nvidia/cu13/lib",
        "empty/nvidia/lib/lib",
        "loader liblib.so.13",
        "loader liblib.so.12",
        "loader liblib.so",
    ];
    expect_places(root.path(), &variables, &expected);
}

/// Wheels that a user installs for this come before what is there for something else.
#[test]
fn a_program_is_looked_for_in_wheels_then_toolkits_then_copies() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("venv/lib/python3.12/site-packages")).unwrap();
    for toolkit in ["cuda", "cuda-12.4", "cuda-13.0"] {
        fs::create_dir_all(root.path().join("local").join(toolkit)).unwrap();
    }
    let variables = [("KERNPACK_PYTHON", "venv/bin/python"), ("CUDA_HOME", "home")];
    let packages = "venv/lib/python3.12/site-packages";
    let in_packages = |folder: &str| format!("{packages}/{folder}");
    let wheels = ["nvidia/cu13/bin", "nvidia/tool/bin", "torch/bin", "triton/bin"].map(in_packages);
    let expected = [
        "no KERNPACK_TOOL",
        &wheels[0],
        &wheels[1],
        "no VIRTUAL_ENV",
        "home/bin",
        "no CUDA_PATH",
        "local/cuda-13.0/bin",
        "local/cuda-12.4/bin",
        "local/cuda/bin",
        "path tool",
        &wheels[2],
        &wheels[3],
    ];
    expect_places_of(&PROGRAM, root.path(), &variables, &expected);
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let load = |file: &OsStr| Err::<(), _>(format!("ran {}", file.display()));
    let reasons = |place: Place| PROGRAM.open_at(&place, &load).expect_err("no program");
    let none = Place::Named("/none/tool".into());
    assert_eq!(reasons(none), [tried("/none/tool", "is not there")]);
    assert_eq!(reasons(Place::Named("no-tool".into())), [tried("no-tool", "is not there")]);
    assert_eq!(reasons(Place::Path("no-tool")), [tried("PATH", "has no no-tool")]);
    // A bare name is one of the path.
    let [found] = &reasons(Place::Named("sh".into()))[..] else { panic!("one place") };
    assert!(found.place.ends_with("/sh") && found.reason.starts_with("ran /"), "{found:?}");
    assert_eq!(reasons(Place::Path("sh")), std::slice::from_ref(found));
    assert_eq!(PROGRAM.file_at(&Place::Path("sh")), Some(PathBuf::from(&found.place)));
}

#[test]
fn a_place_without_the_library_says_why() {
    let root = tempfile::tempdir().unwrap();
    let load = |file: &OsStr| Err::<(), _>(format!("no {}", file.display()));
    let reasons = |place: Place| LIBRARY.open_at(&place, &load).expect_err("no library");
    let unset = reasons(Place::Unset("CUDA_HOME"));
    assert_eq!(unset, [tried("CUDA_HOME", "is not set")]);
    let folder = root.path().display().to_string();
    let empty = reasons(Place::Folder(root.path().to_path_buf()));
    assert_eq!(empty, [tried(&folder, "has no liblib.so")]);
    // Two files, neither of which can be loaded: both are told.
    for name in ["liblib.so.13", "liblib.so"] {
        fs::write(root.path().join(name), "no library").unwrap();
    }
    let broken = reasons(Place::Folder(root.path().to_path_buf()));
    let places: Vec<_> = broken.iter().map(|tried| tried.place.as_str()).collect();
    assert_eq!(places, [format!("{folder}/liblib.so.13"), format!("{folder}/liblib.so")]);
}

/// Whatever would be tried first tells a compiler from others, also if it cannot be loaded.
#[test]
fn the_file_is_found_without_being_loaded() {
    let root = tempfile::tempdir().unwrap();
    let folder = Place::Folder(root.path().to_path_buf());
    assert_eq!(LIBRARY.file_at(&folder), None);
    for name in ["liblib.so", "liblib.so.12"] {
        fs::write(root.path().join(name), "").unwrap();
    }
    assert_eq!(LIBRARY.file_at(&folder), Some(root.path().join("liblib.so.12")));
    let named = |name: &str| LIBRARY.file_at(&Place::Named(root.path().join(name)));
    assert_eq!(named("liblib.so"), Some(root.path().join("liblib.so")));
    assert_eq!(named("none.so"), None);
    assert_eq!(LIBRARY.file_at(&Place::Unset("CUDA_HOME")), None);
    assert_eq!(LIBRARY.file_at(&Place::Loader("liblib.so")), None);
    let libc = LIBRARY.file_at(&Place::Named("libc.so.6".into()));
    assert!(libc.is_some_and(|file| file.ends_with("libc.so.6")));
}

/// The file that the user names is taken, or nothing.
#[test]
fn nothing_is_looked_for_behind_a_named_file() {
    let loaded = std::cell::RefCell::new(vec![]);
    let load = |file: &OsStr| {
        loaded.borrow_mut().push(file.to_os_string());
        if file == "liblib.so.12" { Ok("the loader's") } else { Err("not here".to_string()) }
    };
    let (named, unset) = (Place::Named("mine.so".into()), Place::Unset("KERNPACK_LIB"));
    let [newest, older] = ["liblib.so.13", "liblib.so.12"].map(Place::Loader);
    let misses = LIBRARY.find_at(&[named, newest.clone(), older.clone()], &load);
    assert_eq!(misses, Err(vec![tried("mine.so", "not here")]));
    assert_eq!(loaded.take(), ["mine.so"]);
    assert_eq!(
        LIBRARY.find_at(&[unset, newest.clone(), older.clone(), newest], &load),
        Ok("the loader's")
    );
    assert_eq!(loaded.take(), ["liblib.so.13", "liblib.so.12"]);
}
