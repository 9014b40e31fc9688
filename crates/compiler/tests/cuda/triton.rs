// SPDX-License-Identifier: Apache-2.0
//! Packages of what Triton compiled: that what each version wrote is read, and what is said where
//! it does not fit. What a launch passes to the driver is in `tests/tests/cuda/triton.rs`.

use kernpack_compiler::{CompileError, Options, compile};
use kernpack_package::package_file;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const ADD: &str = r#"
[package]
name = "add"
[[function]]
signature = "add(x: Tensor([n], float32), y: Tensor([n], float32, mut))"
source = { triton = "add.cubin" }
args = ["x", "y", "n: int32"]
launch = { grid = ["ceildiv(n, 256)"] }
"#;

/// Real files of Triton's: `tests/triton/compile.py` makes them.
fn real(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/triton").join(name)
}

/// A folder with `add.cubin` of a version, and its JSON with some keys changed.
struct Kernel(TempDir);

impl Kernel {
    fn new(version: &str, keys: &[(&str, Value)]) -> Kernel {
        let kernel = Kernel(TempDir::new().unwrap());
        kernel.add("add", version, keys);
        kernel
    }

    /// Adds a cubin and its JSON under another name.
    fn add(&self, name: &str, version: &str, keys: &[(&str, Value)]) {
        let text = fs::read_to_string(real(&format!("add_{version}.json"))).unwrap();
        let mut json: Value = serde_json::from_str(&text).unwrap();
        for (key, value) in keys {
            json[key] = value.clone();
        }
        fs::write(self.path(&format!("{name}.json")), json.to_string()).unwrap();
        fs::copy(real(&format!("add_{version}.cubin")), self.path(&format!("{name}.cubin")))
            .unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn build(&self, text: &str) -> Result<Vec<PathBuf>, CompileError> {
        let package = package_file::parse(text, self.0.path()).unwrap();
        let inputs = compile(&package, &Options::default())?.inputs;
        Ok(inputs.into_iter().map(|file| file.path).collect())
    }

    fn expect_error(&self, text: &str, expected: &str) {
        let error = self.build(text).expect_err(expected).to_string();
        let error = error.replace(&format!("{}/", self.0.path().display()), "");
        let (place, message) = error.split_once("`: ").expect("a place");
        assert!(place.contains("]: in function `"), "{error}");
        assert_eq!(message, expected);
    }
}

#[test]
fn what_each_version_wrote_is_read() {
    for version in ["3.2.0", "3.3.1", "3.4.0", "3.5.1", "3.6.0"] {
        let kernel = Kernel::new(version, &[]);
        let inputs = kernel.build(ADD).unwrap_or_else(|error| panic!("{version}: {error}"));
        assert_eq!(inputs, [kernel.path("add.cubin"), kernel.path("add.json")]);
        let lacks = ADD.replace(", \"n: int32\"", "");
        let error = kernel.build(&lacks).expect_err(version).to_string();
        let (takes, hidden) = match version {
            "3.2.0" => ("3 parameters, of 8, 8, 4 bytes", "2 parameters, of 8 (`x`), 8 (`y`)"),
            "3.3.1" | "3.4.0" => (
                "4 parameters, of 8, 8, 4, 8 bytes",
                "3 parameters, of 8 (`x`), 8 (`y`), 8 (hidden)",
            ),
            _ => (
                "5 parameters, of 8, 8, 4, 8, 8 bytes",
                "4 parameters, of 8 (`x`), 8 (`y`), 8 (hidden), 8 (hidden)",
            ),
        };
        let expected = format!("takes {takes}, but `add` passes {hidden} bytes");
        assert!(error.ends_with(&expected), "{version}: {error}");
    }
}

#[test]
fn the_kernel_may_be_named_if_it_is_the_one() {
    let kernel = Kernel::new("3.6.0", &[]);
    let named = |name: &str| ADD.replace("args", &format!("kernel = \"{name}\"\nargs"));
    kernel.build(&named("add")).unwrap();
    kernel.expect_error(
        &named("plus"),
        "`add` launches `plus`, but `add.json` is about `add`; leave `kernel` out",
    );
    // A JSON that is about a kernel of another cubin.
    let other = Kernel::new("3.6.0", &[("name", json!("plus"))]);
    other.expect_error(ADD, "`add.cubin` has no kernel `plus` for sm_90a; it has `add`");
}

#[test]
fn a_json_that_does_not_belong_to_the_cubin_is_refused() {
    let kernel = Kernel::new("3.6.0", &[]);
    let text = ADD.replace("\"add.cubin\"", "\"add.cubin\", json = \"none.json\"");
    kernel.expect_error(
        &text,
        "cannot read `none.json`, Triton's JSON for `add.cubin`: No such file or directory (os error 2); \
         Triton writes it next to the cubin; name it with `json`, if it lies elsewhere",
    );
    let target = json!({"backend": "cuda", "arch": 80, "warp_size": 32});
    Kernel::new("3.6.0", &[("target", target)]).expect_error(
        ADD,
        "`add.json` is for sm_80, and `add.cubin` for sm_90a; give the JSON that Triton wrote next to this cubin",
    );
    Kernel::new("3.6.0", &[("num_warps", json!(64))]).expect_error(
        ADD,
        "key `num_warps` of `add.json` is 64, expected at most 1024 threads in a block",
    );
}

#[test]
fn what_cannot_be_passed_is_refused() {
    let descriptor = json!({"swizzle": 2, "elem_size": 4, "elem_type": 7, "block_size": [16, 16], "fp4_padded": false});
    Kernel::new("3.6.0", &[("tensordesc_meta", json!([descriptor]))]).expect_error(
        ADD,
        "the number of tensor descriptors in `add.json` is 1, and in its cubin 0; give the JSON that Triton wrote next to the cubin",
    );
    Kernel::new("3.6.0", &[("profile_scratch_size", json!(64))]).expect_error(
        ADD,
        "`add.json` wants 64 bytes of memory for a profiler (`profile_scratch_size`), which is not supported; \
         compile the kernel without instrumentation",
    );
}

const SHIFT: &str = r#"
[package]
name = "shift"
[[function]]
signature = "shift(x: Tensor([m, n], float32), y: Tensor([m, n], float32, mut), z: Tensor([k, m, n], float32), by: float32)"
source = { triton = "add.cubin" }
args = ["x", "by", "y"]
launch = { grid = ["ceildiv(m, 16)", "ceildiv(n, 64)"] }
"#;

/// A kernel whose host makes its tensor descriptors, under the name of the other.
fn shift(file: &str) -> Kernel {
    let kernel = Kernel(TempDir::new().unwrap());
    for ending in ["json", "cubin"] {
        fs::copy(real(&format!("{file}.{ending}")), kernel.path(&format!("add.{ending}"))).unwrap();
    }
    kernel
}

#[test]
fn a_descriptor_is_written_as_one_argument() {
    for version in ["3.4.0", "3.5.1", "3.6.0"] {
        for file in ["shift", "shift_sm80"] {
            let kernel = shift(&format!("{file}_{version}"));
            kernel.build(SHIFT).unwrap_or_else(|error| panic!("{file}_{version}: {error}"));
            let view = SHIFT.replace("[\"x\"", "[\"tma(z, dims=[k*m, n])\"");
            kernel.build(&view).unwrap_or_else(|error| panic!("{file}_{version}: {error}"));
        }
    }
}

#[test]
fn an_argument_that_is_no_descriptor_is_refused() {
    let kernel = shift("shift_3.6.0");
    let with = |args: &str| SHIFT.replace("[\"x\", \"by\", \"y\"]", args);
    kernel.expect_error(
        &with(r#"["x", "y", "by"]"#),
        "`shift` passes `by` as tensor descriptor 1 of `add.json`, but it is no tensor; write the name of one, or `tma(x, dims=[…])`",
    );
    kernel.expect_error(
        &with(r#"["z", "by", "y"]"#),
        "`shift` passes `z` as tensor descriptor 0 of `add.json`, whose boxes are of rank 2, not 3; give it another view: `tma(z, dims=[…])`",
    );
    kernel.expect_error(
        &with(r#"["x", "by"]"#),
        "`shift` passes 1 of the 2 tensor descriptors of `add.json`; write the tensor of each among `args`, in the order of the kernel's author",
    );
    // What does not fit by itself is said with the sizes of all, the map's among them.
    let error = kernel.build(&with(r#"["x", "by", "y", "by"]"#)).expect_err("too many").to_string();
    let passes = "`shift` passes 14 parameters, of 128 (`tma(x, box=[16, 32], swizzle=128, l2=128)`), 4 (`x.shape[0]: int32`)";
    assert!(error.contains(passes), "{error}");
    let error = shift("shift_sm80_3.6.0").build(&with(r#"["x", "y"]"#)).expect_err("too few");
    let passes = "`shift` passes 4 parameters, of 8 (`x`), 8 (`y`)";
    assert!(error.to_string().contains(passes), "{error}");
}

/// Boxes are what the JSON says; other kernels' maps need theirs.
#[test]
fn only_descriptors_have_maps_without_a_box() {
    Kernel::new("3.6.0", &[]).expect_error(
        &ADD.replace("\"x\"", "\"tma(x)\""),
        "`add` passes `tma(x)`, but there the kernel of `add.json` takes no tensor descriptor; \
         write all of its arguments, in the order of its author",
    );
}

#[test]
fn files_that_share_a_launch_are_launched_alike() {
    let two = ADD.replace(
        "{ triton = \"add.cubin\" }",
        "[{ triton = \"add.cubin\", arch = \"sm_90a\" }, { triton = \"other.cubin\" }]",
    );
    let with = |keys: &[(&str, Value)]| {
        let kernel = Kernel::new("3.6.0", &[]);
        kernel.add("other", "3.6.0", keys);
        // The other is for sm_90, as the flags of its ELF header say: they lie behind 48 bytes, and
        // bit 11 is the `a`.
        let mut cubin = fs::read(kernel.path("other.cubin")).unwrap();
        assert_eq!(cubin[48..52], [0x5a, 0x0d, 0x5a, 0]);
        cubin[49] &= !0x08;
        fs::write(kernel.path("other.cubin"), cubin).unwrap();
        kernel
    };
    let inputs = with(&[("shared", json!(4096))]).build(&two).unwrap();
    assert_eq!(inputs.len(), 4);
    let refuse = |keys: &[(&str, Value)], what: &str| {
        with(keys).expect_error(
            &two,
            &format!(
                "`add.json` and `other.json` cannot share a launch: {what} in the other; compile both with the same version and options"
            ),
        );
    };
    refuse(&[("num_warps", json!(8))], "the number of threads in a block is 128 in one and 256");
    refuse(&[("num_ctas", json!(4))], "the cluster is [2, 1, 1] in one and [4, 1, 1]");
    refuse(
        &[("global_scratch_size", json!(128))],
        "the scratch memory of its hidden parameters is [0, 0] in one and [128, 0]",
    );
    refuse(&[("launch_pdl", json!(true))], "`launch_pdl` is false in one and true");
    refuse(
        &[("launch_cooperative_grid", json!(true))],
        "`launch_cooperative_grid` is false in one and true",
    );
    refuse(&[("name", json!("plus"))], "the kernel is add in one and plus");
    let descriptor = json!({"swizzle": 2, "elem_size": 4, "elem_type": 7, "block_size": [8, 16]});
    refuse(
        &[("tensordesc_meta", json!([descriptor]))],
        "what is made for its tensor descriptors is [] in one and \
         [boxes of [8, 16], elem_type 7, elem_size 4, swizzle 2]",
    );
}

/// The architecture is that of the file, as with other cubins.
#[test]
fn another_architecture_than_the_files_is_refused() {
    let text = ADD.replace("\"add.cubin\"", "\"add.cubin\", arch = \"sm_80\"");
    Kernel::new("3.6.0", &[]).expect_error(&text, "`add.cubin` should be sm_80, and is sm_90a");
}

/// Triton's scratch memory is a workspace, which is sound on the environment's stream only.
#[test]
fn scratch_memory_is_for_the_environments_stream() {
    let text = r#"
[package]
name = "move"
[[function]]
signature = "move(x: Tensor([m, n], float32, align=16), y: Tensor([m, n], float32, mut, align=16), s: Stream) where n % 4 == 0"
source = { triton = "add.cubin" }
args = ["x", "y", "m: int32", "n: int32"]
launch = { grid = ["ceildiv(m, 32)", "ceildiv(n, 32)"] }
"#;
    let kernel = shift("move_3.6.0");
    kernel.build(text).unwrap();
    let on_stream = text.replace("32)\"] }", "32)\"], attr = { stream = \"s\" } }");
    let error = kernel.build(&on_stream).expect_err("scratch memory").to_string();
    assert!(error.contains("on the stream `s`: its memory goes back to"), "{error}");
}
