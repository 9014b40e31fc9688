// SPDX-License-Identifier: Apache-2.0
//! Packages of images that somebody else made: what is looked into, and what the file needs in the
//! end.

use expect_test::{Expect, expect};
use kernpack_compiler::{Compiled, Options, compile};
use kernpack_ffi_abi::imports;
use kernpack_package::export::Record;
use kernpack_package::inspect::inspect;
use kernpack_package::package_file;
use object::{Object, ObjectSymbol};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// One of the kernels of the images, for other devices.
const ONE: &str =
    ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry one(.param .u64 a) { ret; }\n";

/// A package with one function and one launch of this kernel, beside copies of `tests/images` and
/// two of a text in PTX.
fn build(source: &str, kernel: &str, args: &str) -> Result<Compiled, String> {
    build_laid_out(source, kernel, args, "grid = [1], block = [32]")
}

fn build_laid_out(
    source: &str,
    kernel: &str,
    args: &str,
    layout: &str,
) -> Result<Compiled, String> {
    let folder = tempfile::tempdir().unwrap();
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/images");
    for name in ["three.cubin", "three.fatbin"] {
        fs::copy(images.join(name), folder.path().join(name)).unwrap();
    }
    for name in ["one.ptx", "two.ptx"] {
        fs::write(folder.path().join(name), ONE).unwrap();
    }
    let text = format!(
        "[package]\nname = \"files\"\n[[function]]\nsignature = \"f(x: Tensor([n], float32), s: Stream)\"\n\
         source = {source}\nkernel = \"{kernel}\"\nargs = {args}\nlaunch = {{ {layout} }}\n"
    );
    build_text(&text, &folder)
}

/// A package of this text, beside what is in the folder.
fn build_text(text: &str, folder: &TempDir) -> Result<Compiled, String> {
    let package = package_file::parse(text, folder.path()).unwrap();
    let path = folder.path().display().to_string();
    compile(&package, &Options::default()).map_err(|error| error.to_string().replace(&path, "DIR"))
}

/// Sixteen words and a number.
const MAP: &str = "[\"struct(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x)\", \"n: int32\"]";

#[test]
fn every_kernel_of_a_cubin_can_be_launched_with_what_it_takes() {
    let cubin = "{ cubin = \"three.cubin\" }";
    for (kernel, args) in [("none", "[]"), ("one", "[\"x\"]"), ("map", MAP)] {
        build(cubin, kernel, args).unwrap();
    }
    let error = build(cubin, "two", "[]").map(|_| ()).unwrap_err();
    assert_eq!(
        error,
        "error[missing-kernel]: in function `f`: `DIR/three.cubin` has no kernel `two` for sm_90; it has `map`, `one`, `none`"
    );
    for (kernel, args, takes, passes) in [
        ("none", "[\"x\"]", "no parameters", "1 parameters, of 8 (`x`) bytes"),
        ("one", "[]", "1 parameters, of 8 bytes", "no parameters"),
        (
            "one",
            "[\"n: int32\"]",
            "1 parameters, of 8 bytes",
            "1 parameters, of 4 (`n: int32`) bytes",
        ),
        (
            "map",
            "[\"x\", \"n\"]",
            "2 parameters, of 128, 4 bytes",
            "2 parameters, of 8 (`x`), 8 (`n`) bytes",
        ),
    ] {
        let error = build(cubin, kernel, args).map(|_| ()).unwrap_err();
        let expected = format!(
            "error[kernel-params]: in function `f`: kernel `{kernel}` of `DIR/three.cubin` takes {takes}, but `f` passes {passes}"
        );
        assert_eq!(error, expected);
    }
}

/// Nothing is known of the kernels in there: the driver finds mistakes when it loads them.
#[test]
fn a_compressed_fatbin_is_packed_as_it_is() {
    for kernel in ["one", "whatever"] {
        build("{ fatbin = \"three.fatbin\" }", kernel, "[\"x\"]").unwrap();
    }
    let error = build("{ fatbin = \"three.fatbin\" }", "one<float>", "[\"x\"]").map(|_| ());
    let expected = "error[kernel-name]: in function `f`: `DIR/three.fatbin` is compressed, so that the kernel `one<float>` cannot be looked for in it; give its symbol";
    assert_eq!(error.unwrap_err(), expected);
    let error = build("[{ fatbin = \"three.fatbin\", arch = \"sm_80\" }]", "one", "[\"x\"]");
    let error = error.map(|_| ()).unwrap_err();
    assert!(error.contains("sm_90, compute_90"), "{error}");
}

#[test]
fn no_two_files_are_for_one_architecture() {
    let one = |source: &str| build(source, "one", "[\"x\"]").map(|_| ());
    one("[{ cubin = \"three.cubin\" }, { ptx = \"one.ptx\" }]").unwrap();
    for (source, first, second, arch) in [
        (
            "[{ ptx = \"one.ptx\" }, { ptx = \"two.ptx\", arch = \"compute_75\" }]",
            "one.ptx",
            "two.ptx",
            "compute_75",
        ),
        (
            "[{ ptx = \"one.ptx\" }, { fatbin = \"three.fatbin\" }, { cubin = \"three.cubin\" }]",
            "three.fatbin",
            "three.cubin",
            "sm_90",
        ),
    ] {
        let expected = format!(
            "error[source-file]: in function `f`: `DIR/{first}` and `DIR/{second}` both have code for {arch}; name one file for each architecture"
        );
        assert_eq!(one(source), Err(expected));
    }
}

#[test]
fn a_package_for_gpus_needs_what_the_list_has_and_no_more() {
    let built = build("{ cubin = \"three.cubin\" }", "one", "[\"x\"]").unwrap();
    let shared = built.shared_object().unwrap().bytes;
    for bytes in [&built.object, &shared] {
        let file = object::File::parse(&bytes[..]).unwrap();
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let mut needed: Vec<_> = symbols
            .filter(|symbol| symbol.is_undefined())
            .filter_map(|symbol| Some(symbol.name().ok()?.split('@').next()?.to_string()))
            .filter(|name| !name.is_empty())
            .collect();
        needed.sort();
        needed.dedup();
        assert!(needed.iter().all(|name| imports::is_allowed(name)), "{needed:?}");
        let of_a_driver = ["dlerror", "dlopen", "dlsym", "syscall"];
        assert!(of_a_driver.iter().all(|name| needed.iter().any(|it| it == name)), "{needed:?}");
        assert!(!needed.iter().any(|name| name.starts_with("cu")), "{needed:?}");
    }
}

/// A package's description of its one launch, in both forms.
fn expect_described(source: &str, layout: &str, json: Expect, shown: Expect) {
    let built = build_laid_out(source, "one", "[\"x\"]", layout).unwrap();
    let found = inspect(&built.object).unwrap();
    let function = &found.packages[0].functions[0];
    json.assert_eq(&serde_json::to_string(&function.launches).unwrap());
    let text = found.to_string();
    let lines = text.lines().skip_while(|line| !line.starts_with("    launches"));
    shown.assert_eq(&lines.map(str::trim_start).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_package_says_what_its_gpu_code_is_for_and_how_it_is_launched() {
    expect_described(
        "{ cubin = \"three.cubin\" }",
        "grid = [\"ceildiv(n, 32)\", 2], block = [32], smem = \"4*n\"",
        expect![[
            r#"[{"kernel":"one","when":[],"args":["x"],"source":{"kind":"files","images":[{"kind":"cubin","archs":["sm_90"]}]},"layout":{"grid":["ceildiv(n, 32)","2"],"block":["32"],"smem":"4*n"}}]"#
        ]],
        expect![[r#"
            launches one(x)
            compiled GPU code: machine code for sm_90
            grid [ceildiv(n, 32), 2], block [32], smem 4*n"#]],
    );
    expect_described(
        "[{ fatbin = \"three.fatbin\" }, { ptx = \"one.ptx\" }]",
        "grid = [2], block = [32, 4], attr = { cluster = [2], cooperative = true, pdl = true, priority = -1, stream = \"s\" }",
        expect![[
            r#"[{"kernel":"one","when":[],"args":["x"],"source":{"kind":"files","images":[{"kind":"fatbin","archs":["sm_90","compute_90"],"compressed":["sm_90","compute_90"]},{"kind":"ptx","archs":["compute_75"]}]},"layout":{"grid":["2"],"block":["32","4"],"cluster":["2"],"cooperative":true,"pdl":true,"priority":"-1","stream":"s"}}]"#
        ]],
        expect![[r#"
            launches one(x)
            compiled GPU code: fatbin (compressed machine code for sm_90, compressed PTX for compute_90), PTX for compute_75
            grid [2], block [32, 4], cluster [2], cooperative, pdl, priority -1, stream s"#]],
    );
}

/// A package of functions that say how their launches are submitted, and one that does not launch.
fn submitting() -> Compiled {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("one.ptx"), ONE).unwrap();
    let launch =
        "source = { ptx = 'one.ptx' }\nkernel = 'one'\nlaunch = { grid = [1], block = [32] }";
    let text = format!(
        "[package]\nname = 'ways'\nsubmit = 'graph'\n\
         [[function]]\nsignature = 'f(x: Tensor([n], float32))'\n{launch}\n\
         [[function]]\nsignature = 'made() -> y: Tensor([1], float32)'\nsubmit = 'auto'\n{launch}\n\
         [[function]]\nsignature = 'checked(n: int32)'\n"
    );
    build_text(&text, &folder).unwrap()
}

#[test]
fn a_package_says_how_launches_are_submitted() {
    let found = inspect(&submitting().object).unwrap();
    let functions = &found.packages[0].functions;
    let said: Vec<_> = functions.iter().map(|one| (&one.name[..], one.submit.as_deref())).collect();
    let expected = [
        ("f", Some("graph")),
        ("made", Some("auto")),
        ("made_out", Some("auto")),
        ("checked", None),
    ];
    assert_eq!(said, expected);
    let text = found.to_string();
    let lines = text.lines().filter(|line| line.contains("submit "));
    assert_eq!(
        lines.collect::<Vec<_>>(),
        ["    submit graph", "    submit auto", "    submit auto"]
    );
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["packages"][0]["functions"][0]["submit"], "graph");
    assert!(json["packages"][0]["functions"][3].get("submit").is_none());
}

#[test]
fn a_record_that_does_not_say_how_launches_are_submitted_is_read() {
    let record = inspect(&submitting().object).unwrap().packages.remove(0);
    let mut json = serde_json::to_value(&record).unwrap();
    json["format"] = "1.1".into();
    for function in json["functions"].as_array_mut().unwrap() {
        function.as_object_mut().unwrap().remove("submit");
    }
    let older: Record = serde_json::from_value(json).unwrap();
    assert!(older.functions.iter().all(|function| function.submit.is_none()));
    assert_eq!(older.functions[0].launches, record.functions[0].launches);
}

/// Hosts that declare what they call find what comes with functions.
#[test]
fn what_comes_with_functions_is_declared() {
    let built = submitting();
    let stubs = built.stubs.lines().filter(|line| line.starts_with("def kernpack_"));
    expect![[r#"
        def kernpack_prepare_f(x: _Tensor, /) -> Callable[[], None]:
        def kernpack_prepare_made_out(y: _Tensor, /) -> Callable[[], None]:
        def kernpack_launched_f() -> str:
        def kernpack_launched_made() -> str:
        def kernpack_launched_made_out() -> str:
        def kernpack_preload_ways(device_id: int, /) -> None:"#]]
    .assert_eq(&stubs.collect::<Vec<_>>().join("\n"));
    let header = built.header.lines().filter(|line| line.contains("kernpack_launched_"));
    expect![[r#"
         * kernpack_launched_f()
        int __tvm_ffi_kernpack_launched_f(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);
         * kernpack_launched_made()
        int __tvm_ffi_kernpack_launched_made(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);
         * kernpack_launched_made_out()
        int __tvm_ffi_kernpack_launched_made_out(void* handle, const kernpack_packed_any* args, int32_t num_args, kernpack_packed_any* result);"#]].assert_eq(&header.collect::<Vec<_>>().join("\n"));
}
