// SPDX-License-Identifier: Apache-2.0
//! Random kernels, read by everything that reads kernels, and recorded for a GPU. The program
//! `kernels` reads and records as many as it is told.

use kernpack_tests::gpu_proof::image::arch;
use kernpack_tests::gpu_proof::record::record;
use kernpack_tests::gpu_proof::{Case, generated, operations, rows, schedules, soak};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::Command;

#[track_caller]
fn expect_no_failure(first_seed: u64, count: u64) {
    let seeds = (0..count).map(|number| first_seed.wrapping_add(number));
    let failures: Vec<_> = seeds.filter_map(|seed| soak::read(seed).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn whatever_reads_a_kernel_reads_the_same() {
    expect_no_failure(1, 32);
}

#[test]
fn whatever_reads_a_kernel_that_nobody_has_read_reads_the_same() {
    let seed = RandomState::new().hash_one(0);
    eprintln!(
        "kernels of the seeds from {seed}: repeat with `kernels soak --seed {seed} --count 32`"
    );
    expect_no_failure(seed, 32);
}

#[track_caller]
fn expect_no_finding(first_seed: u64, count: u64) {
    let seeds = (0..count).map(|number| first_seed.wrapping_add(number));
    let failures: Vec<_> = seeds.filter_map(|seed| schedules::read(seed).err()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn nothing_is_found_in_schedules_that_are_right() {
    expect_no_finding(1, 8);
}

#[test]
fn nothing_is_found_in_schedules_that_nobody_has_seen() {
    let seed = RandomState::new().hash_one(0) >> 16;
    let again = format!("kernels soak --of schedules --seed {seed} --count 8");
    eprintln!("schedules of the seeds from {seed}: repeat with `{again}`");
    expect_no_finding(seed, 8);
}

/// A recording, as `replay_kernels.py` reads it, which compares what buffers hold before launches
/// with what they held here.
fn expect_recorded(arch_name: &str, file: &str) {
    let one_of_many = |(number, _): &(usize, _)| number % 40 == 0;
    let of_operations = operations::all().into_iter().chain(rows::all()).enumerate();
    let mut cases: Vec<_> = of_operations.filter(one_of_many).map(|(_, case)| case).collect();
    let seeds = 1..=110 - cases.len() as u64;
    cases.extend(seeds.map(|seed| generated::case(seed).unwrap_or_else(|error| panic!("{error}"))));
    expect_read(&cases, arch_name, file, "[100, 10]");
}

fn expect_read(cases: &[Case], arch_name: &str, file: &str, counts: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    record(cases, arch(arch_name), folder.path()).unwrap_or_else(|error| panic!("{error}"));
    assert!(folder.path().join(file).is_file());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let python = std::env::var_os("KERNPACK_PYTHON").map(PathBuf::from);
    let script = "import json, pathlib, sys, replay_kernels\n\
                  images = list(replay_kernels.read(pathlib.Path(sys.argv[1])))\n\
                  assert [len(cases) for _, cases in images] == json.loads(sys.argv[2])";
    let mut command = Command::new(python.unwrap_or_else(|| root.join(".venv/bin/python")));
    command
        .current_dir(root.join("tests/gpu"))
        .args(["-B", "-c", script])
        .arg(folder.path())
        .arg(counts);
    let ran = command.output().expect("a Python");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn kernels_are_recorded_as_machine_code() {
    expect_recorded("sm_90", "kernels01.cubin");
}

#[test]
fn kernels_are_recorded_as_ptx() {
    expect_recorded("compute_90", "kernels01.ptx");
}

#[test]
fn schedules_are_recorded() {
    let cases = (1..=2).map(|seed| schedules::case(seed).unwrap_or_else(|error| panic!("{error}")));
    expect_read(&cases.collect::<Vec<_>>(), "compute_90a", "kernels00.ptx", "[2]");
}
