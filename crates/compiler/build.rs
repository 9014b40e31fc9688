// SPDX-License-Identifier: Apache-2.0
//! Compiles the native half of the link layer and tells cargo where LLVM and lld are.
//!
//! LLVM is the one that `LLVM_SYS_221_PREFIX` names (as for the `llvm-sys` crate), else that of `llvm-config-22`. lld is
//! linked statically; LLVM as one shared library, the same that `llvm-sys` links, because both share LLVM's state. Of the
//! libraries that LLVM itself needs, lld calls two: for compressed debug sections.

use std::path::PathBuf;
use std::process::Command;

const PREFIX: &str = "LLVM_SYS_221_PREFIX";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=native");
    println!("cargo:rerun-if-env-changed={PREFIX}");
    let llvm = LlvmConfig::find();
    compile_native(&llvm);
    link_llvm(&llvm);
}

fn compile_native(llvm: &LlvmConfig) {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17").file("native/link.cpp");
    build.flag("-fno-exceptions").flag("-isystem").flag(llvm.ask(&["--includedir"]));
    build.compile("kernpack_native");
}

fn link_llvm(llvm: &LlvmConfig) {
    println!("cargo:rustc-link-search=native={}", llvm.ask(&["--libdir"]));
    for library in ["lldELF", "lldCommon"] {
        println!("cargo:rustc-link-lib=static={library}");
    }
    let shared = llvm.libraries(&["--link-shared", "--libs"]);
    let compression = llvm.libraries(&["--link-static", "--system-libs"]);
    let compression = compression.into_iter().filter(|library| library == "z" || library == "zstd");
    for library in shared.into_iter().chain(compression) {
        println!("cargo:rustc-link-lib=dylib={library}");
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
