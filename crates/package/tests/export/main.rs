// SPDX-License-Identifier: Apache-2.0
//! Files for hosts of a package: the header as C and C++ compilers see it, the stubs as Python
//! does, metadata, and files as `inspect` does.

mod c_names;
mod header;
mod inspect;
mod metadata;
mod stubs;

use kernpack_package::export::{Record, RecordContext, record};
use kernpack_package::{Function, HostSource, Launch, Package, Returns, Site};
use kernpack_validators::{
    Workspace, parse_kernel_arg, parse_kernel_name, parse_tensor, parse_when,
};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A function with that signature.
fn function(signature: &str) -> Function {
    Function::new(signature.parse().unwrap())
}

fn package(functions: Vec<Function>) -> Package {
    Package::new("norm", functions)
}

/// A package with a documented function that launches two kernels, and one with a result.
fn norm() -> Package {
    let launch = |when: &str, kernel: &str, returns| Launch {
        when: parse_when(when).unwrap(),
        kernel: parse_kernel_name(kernel).unwrap().into(),
        args: ["x", "ws", "m*n: int32"].map(|arg| parse_kernel_arg(arg).unwrap().into()).to_vec(),
        site: Site::Host { source: HostSource::new("norm.c"), returns },
    };
    let scale = Function {
        doc: Some("Multiplies by alpha.\n\nA comment ends with */, a string with \"\"\".\n".into()),
        workspaces: vec![Workspace::new(
            "ws",
            parse_tensor("Tensor([4*m], uint8, align=128)").unwrap(),
        )],
        launches: vec![
            launch("n <= 64", "scale_short", Returns::Status),
            launch("n > 64", "scale_{T}", Returns::Void),
        ],
        ..function(
            "scale(x: Tensor([m, n], T, mut, align=16), alpha: float32 = 1.0, mask: Optional[Pointer] = None) \
             where T in {float16, float32}, n % 8 == 0",
        )
    };
    let rows = function("rows(x: Tensor([m, n], float32)) -> y: Tensor([m], float32)");
    Package { link: vec!["libblas.so.3".to_string().into()], ..package(vec![scale, rows]) }
}

fn record_of(package: &Package) -> Record {
    let context = RecordContext {
        target: "x86_64-linux-gnu",
        sources: &[b"void scale() {}"],
        undefined: &["expf".to_string()],
        libraries: &["libm.so.6".to_string(), "libblas.so.3".to_string()],
        images: &[],
    };
    record(package, &context)
}

/// Runs a program, which must succeed; returns what it prints.
fn run(program: impl AsRef<Path>, args: &[&str]) -> String {
    let program = program.as_ref();
    let output = Command::new(program).args(args).output();
    let output = output.unwrap_or_else(|error| panic!("`{}`: {error}", program.display()));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{} {args:?}:\n{text}{errors}", program.display());
    text
}

/// The Python that has `tvm_ffi`.
fn python() -> PathBuf {
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/bin/python");
    std::env::var_os("KERNPACK_PYTHON").map_or_else(own, PathBuf::from)
}
