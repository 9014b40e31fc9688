// SPDX-License-Identifier: Apache-2.0
//! Objects and archives made by the system's own tools, for tests to link.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// Compiles C.
pub fn c(source: &str) -> Vec<u8> {
    compile("gcc", &["-O1", "-fPIC"], "object.c", source)
}

/// Compiles C++.
pub fn cpp(source: &str) -> Vec<u8> {
    compile("g++", &["-O1", "-fPIC", "-g", "-fno-exceptions"], "object.cc", source)
}

/// Compiles a source file of this name with these flags.
pub fn compile(compiler: &str, flags: &[&str], name: &str, source: &str) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(name), source).unwrap();
    run(Command::new(compiler).args(flags).args(["-c", name, "-o", "o"]).current_dir(&folder));
    fs::read(folder.path().join("o")).unwrap()
}

/// Assembles for another machine with LLVM's own assembler.
pub fn assemble(triple: &str, source: &str) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("s"), source).unwrap();
    let mut assembler = Command::new(llvm_tool("llvm-mc"));
    assembler.args(["-filetype=obj", "-triple", triple, "s", "-o", "o"]).current_dir(&folder);
    run(&mut assembler);
    fs::read(folder.path().join("o")).unwrap()
}

/// Puts objects into an archive, each under its name.
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in members {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let names = members.iter().map(|(name, _)| name);
    run(Command::new("ar").args(["rcsD", "a"]).args(names).current_dir(&folder));
    fs::read(folder.path().join("a")).unwrap()
}

/// Links objects into a shared library with the system's linker, as a user does.
pub fn system_shared_library(objects: &[&[u8]]) -> Vec<u8> {
    let folder = TempDir::new().unwrap();
    let names = (0..objects.len()).map(|index| format!("{index}.o")).collect::<Vec<_>>();
    for (name, bytes) in names.iter().zip(objects) {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    run(Command::new("gcc").args(["-shared", "-o", "so"]).args(&names).current_dir(&folder));
    fs::read(folder.path().join("so")).unwrap()
}

fn llvm_tool(name: &str) -> PathBuf {
    let config = std::env::var_os("LLVM_SYS_221_PREFIX")
        .map_or("llvm-config-22".into(), |prefix| PathBuf::from(prefix).join("bin/llvm-config"));
    let folder = Command::new(config).arg("--bindir").output().unwrap().stdout;
    PathBuf::from(String::from_utf8(folder).unwrap().trim()).join(name)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{errors}");
}
