// SPDX-License-Identifier: Apache-2.0
//! Compiles the native half of the link layer and tells cargo where LLVM and lld are.
//!
//! LLVM is the one that `LLVM_SYS_221_PREFIX` names (as for the `llvm-sys` crate, which links
//! nothing itself), else that of `llvm-config-22`. lld is linked statically. LLVM is one shared
//! library; with the feature `static-llvm` it is linked statically too, with the C++ library and
//! the two libraries of compression, so that what comes out needs the C library alone.

use std::path::PathBuf;
use std::process::Command;

const PREFIX: &str = "LLVM_SYS_221_PREFIX";
/// The components of LLVM that lld, inkwell and the code here use, where it is linked in pieces.
const COMPONENTS: &[&str] =
    &["debuginfodwarf", "dtlto", "executionengine", "lto", "objcopy", "option", "passes"];
/// LLVM's targets for the rows of `src/target`, and for kernels, as its functions and in lower case
/// its components are called.
const TARGETS: &[&str] = &["AArch64", "NVPTX", "X86"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=native");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    let llvm = LlvmConfig::find();
    let is_static = std::env::var_os("CARGO_FEATURE_STATIC_LLVM").is_some();
    compile_native(&llvm, is_static);
    println!("cargo:rustc-link-search=native={}", llvm.ask(&["--libdir"]));
    link("static", ["lldELF", "lldCommon"]);
    if is_static { link_static(&llvm) } else { link_shared(&llvm) }
}

fn compile_native(llvm: &LlvmConfig, is_static: bool) {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").file("native/link.cpp").file("native/passes.cpp");
    build.flag("-fno-exceptions").flag("-isystem").flag(llvm.ask(&["--includedir"]));
    if is_static {
        let all = llvm.ask(&["--targets-built"]);
        let others = all.split_whitespace().filter(|target| !TARGETS.contains(target));
        let others: String = others.map(|target| format!("LEFT_OUT({target}) ")).collect();
        build.file("native/older_libc.cpp");
        build.file("native/left_out.cpp").define("LEFT_OUT_TARGETS", &*others);
        build.cpp_link_stdlib(None);
    }
    build.compile("kernpack_native");
}

/// Of the libraries that LLVM itself needs, lld calls two: for compressed debug sections.
fn link_shared(llvm: &LlvmConfig) {
    link("dylib", llvm.libraries(&["--link-shared", "--libs"]));
    let system = llvm.libraries(&["--link-static", "--system-libs"]);
    link("dylib", system.iter().filter(|library| is_compression(library)));
}

/// The order matters: each library may use those behind it. Not linked: LLVM's extensions
/// (`native/left_out.cpp`), and libraries that only other parts of LLVM need, such as that for XML.
fn link_static(llvm: &LlvmConfig) {
    let targets: Vec<_> = TARGETS.iter().map(|target| target.to_lowercase()).collect();
    let components: Vec<_> =
        targets.iter().map(|target| &**target).chain(COMPONENTS.iter().copied()).collect();
    let ask = |what| llvm.libraries(&[&["--link-static", what], &*components].concat());
    let (compression, system): (Vec<_>, Vec<_>) =
        ask("--system-libs").into_iter().partition(|library| is_compression(library));
    // Not copied into the crate's own library: they are large.
    let libraries = ask("--libs");
    link("static:-bundle", libraries.iter().filter(|library| library.starts_with("LLVM")));
    link("static:-bundle", compression);
    link("static:-bundle", ["stdc++"]);
    let of_c = ["rt", "dl", "m", "pthread"];
    link("dylib", system.iter().filter(|library| of_c.contains(&&***library)));
}

fn is_compression(library: &str) -> bool {
    ["z", "zstd"].contains(&library)
}

fn link(kind: &str, libraries: impl IntoIterator<Item = impl std::fmt::Display>) {
    for library in libraries {
        println!("cargo:rustc-link-lib={kind}={library}");
    }
}

/// The `llvm-config` program of the LLVM to build with.
struct LlvmConfig(PathBuf);

impl LlvmConfig {
    fn find() -> LlvmConfig {
        let prefix = std::env::var_os(PREFIX).map(PathBuf::from);
        LlvmConfig(prefix.map_or("llvm-config-22".into(), |at| at.join("bin/llvm-config")))
    }

    /// The libraries that an answer names as `-l` flags.
    fn libraries(&self, question: &[&str]) -> Vec<String> {
        let answer = self.ask(question);
        let names = answer.split_whitespace().filter_map(|flag| flag.strip_prefix("-l"));
        names.map(str::to_owned).collect()
    }

    fn ask(&self, question: &[&str]) -> String {
        let program = self.0.display();
        let answer = Command::new(&self.0).args(question).output().unwrap_or_else(|error| {
            panic!("cannot run `{program}`: {error}; install LLVM 22 or set {PREFIX}")
        });
        assert!(answer.status.success(), "`{program} {}` failed", question.join(" "));
        String::from_utf8(answer.stdout).expect("llvm-config prints text").trim().to_owned()
    }
}
