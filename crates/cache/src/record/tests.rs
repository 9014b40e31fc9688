// SPDX-License-Identifier: Apache-2.0
//! Which code serves whom, without compiling any.

use super::*;

/// A record of CUDA C++ files, each with whether its archs are written, and what they are.
fn record(kind: Kind, files: &[(bool, &[&str])]) -> Record {
    let cuda = files.iter().map(|(is_arch_written, archs)| Cuda {
        is_kernel: false,
        is_unassembled: false,
        is_arch_written: *is_arch_written,
        archs: archs.iter().map(|arch| arch.to_string()).collect(),
    });
    Record {
        entry: String::new(),
        package: String::new(),
        kind,
        cuda: cuda.collect(),
        inputs: vec![],
        missed: vec![],
        directory: None,
        c_compiler: None,
        nvjitlink: None,
        ptxas: None,
        nvrtc: None,
        warnings: vec![],
        kept: vec![],
    }
}

fn archs(names: &[&str]) -> Vec<Arch> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

fn serves_archs(record: &Record, names: &[&str]) -> bool {
    record.lacks(&Wanted::Archs(archs(names)), false).is_none()
}

fn serves_devices(record: &Record, names: &[&str], is_ptx_enough: bool) -> bool {
    record.lacks(&Wanted::Devices(archs(names)), is_ptx_enough).is_none()
}

#[test]
fn what_is_written_is_served_by_what_was_written() {
    assert_eq!(record(Kind::Written, &[]).lacks(&Wanted::Written, false), None);
    for kind in [Kind::Archs, Kind::Devices] {
        let reason = record(kind, &[]).lacks(&Wanted::Written, false).unwrap();
        assert!(reason.contains("other architectures"), "{reason}");
    }
}

/// Launches that say what they are for have code for that, whatever the caller asks for.
#[test]
fn what_launches_say_is_not_the_callers_choice() {
    let files: [(bool, &[&str]); 2] = [(true, &["compute_80"]), (false, &["sm_90"])];
    let chosen = record(Kind::Archs, &files);
    assert!(serves_archs(&chosen, &["sm_90"]));
    assert!(!serves_archs(&chosen, &["sm_80"]));
    assert!(serves_archs(&record(Kind::Archs, &files[..1]), &["sm_80"]));
    assert!(!serves_archs(&record(Kind::Written, &files), &["sm_90"]));
}

#[test]
fn options_with_relative_paths_are_of_one_working_directory() {
    let compilers = Compilers::of(Target::host());
    let with = |directory: Option<&Path>| {
        let directory = directory.map(|path| StoredPath::of(path, Path::new("base")));
        Record { directory, ..record(Kind::Written, &[]) }.changes(Path::new("base"), &compilers)
    };
    assert_eq!(with(None), None);
    assert_eq!(with(Some(Path::new(""))), None);
    let reason = with(Some(Path::new("/"))).unwrap();
    assert!(reason.ends_with("from the working directory, which was `/`"), "{reason}");
}

#[test]
fn without_a_device_it_is_as_written_unless_nothing_can_be_made() {
    let shipped = record(Kind::Archs, &[(false, &["sm_90"])]);
    assert!(!serves_devices(&shipped, &[], false));
    assert!(serves_devices(&shipped, &[], true));
    assert!(serves_devices(&record(Kind::Written, &[(false, &["compute_75"])]), &[], false));
}

#[test]
fn architectures_are_served_by_those_that_every_file_has() {
    for kind in [Kind::Written, Kind::Archs, Kind::Devices] {
        let record =
            record(kind, &[(true, &["sm_80", "sm_90a", "compute_80"]), (false, &["sm_90a"])]);
        assert!(serves_archs(&record, &["sm_90a"]));
        assert!(!serves_archs(&record, &["sm_90a", "sm_80"]));
        assert!(!serves_archs(&record, &["sm_90"]));
    }
    assert!(!serves_archs(&record(Kind::Written, &[]), &["sm_90"]), "there is nothing to compile");
}

#[test]
fn devices_are_served_by_machine_code_that_runs_there() {
    let shipped = record(Kind::Archs, &[(false, &["sm_80", "sm_90a", "compute_90"])]);
    for (device, expected) in [
        ("sm_80", true),
        ("sm_89", true),
        ("sm_90", true),
        ("sm_90a", true),
        ("sm_75", false),
        ("sm_100", false),
    ] {
        assert_eq!(serves_devices(&shipped, &[device], false), expected, "{device}");
    }
    assert!(serves_devices(&shipped, &["sm_80", "sm_90"], false));
    assert!(!serves_devices(&shipped, &["sm_80", "sm_100"], false));
    // Where nothing else can be made, PTX will do.
    assert!(serves_devices(&shipped, &["sm_80", "sm_100"], true));
    assert!(!serves_devices(&shipped, &["sm_75"], true));
}

#[test]
fn what_the_text_says_is_for_all_devices() {
    let mixed = record(Kind::Devices, &[(true, &["compute_75"]), (false, &["sm_90a"])]);
    assert!(serves_devices(&mixed, &["sm_90a"], false));
    assert!(!serves_devices(&mixed, &["sm_80"], false));
    let written = record(Kind::Written, &[(true, &["compute_75"])]);
    assert!(serves_devices(&written, &["sm_80"], false));
    // Architectures that were asked for have put that aside.
    let asked = record(Kind::Archs, &[(false, &["compute_75"])]);
    assert!(!serves_devices(&asked, &["sm_80"], false));
    assert!(serves_devices(&record(Kind::Written, &[]), &["sm_80"], false));
}

/// Kernels that had no ptxas: PTX takes the place of their machine code, for as long as there is
/// none.
#[test]
fn what_could_not_be_assembled_serves_until_it_can_be() {
    let made = |kind, archs: &[&str]| {
        let mut made = record(kind, &[(false, archs)]);
        made.cuda[0].is_unassembled = true;
        made
    };
    let chosen = made(Kind::Archs, &["sm_80", "compute_90a"]);
    assert!(serves_archs(&chosen, &["sm_90a", "sm_80", "compute_90a"]));
    assert!(!serves_archs(&chosen, &["compute_80"]) && !serves_archs(&chosen, &["sm_100a"]));
    assert!(serves_devices(&made(Kind::Devices, &["compute_90a"]), &["sm_90a"], false));
    assert!(!serves_devices(&made(Kind::Devices, &["compute_90a"]), &["sm_100"], false));
    let reason = |record: &Record, ptxas: Option<&str>| {
        let marks = vec!["build id 1".to_string()];
        let identity = ptxas.map(|path| Identity { path: path.into(), marks });
        let compilers =
            Compilers { ptxas: OnceCell::from(identity), ..Compilers::of(Target::host()) };
        record.changes(Path::new("base"), &compilers)
    };
    assert_eq!(reason(&chosen, None), None);
    let appeared = "ptxas is another one: it was `none`, and is `/ptxas; build id 1`";
    assert_eq!(reason(&chosen, Some("/ptxas")).as_deref(), Some(appeared));
    let by = |path: &str| Record {
        ptxas: Some(format!("{path}; build id 1")),
        ..record(Kind::Written, &[(false, &["sm_90a"])])
    };
    assert_eq!(reason(&by("/ptxas"), Some("/ptxas")), None);
    assert_eq!(reason(&by("/ptxas"), None), None, "what it was made by is gone");
    let other = "ptxas is another one: it was `/old; build id 1`, and is `/ptxas; build id 1`";
    assert_eq!(reason(&by("/old"), Some("/ptxas")).as_deref(), Some(other));
    // What nothing of it was made by may be any.
    assert_eq!(reason(&record(Kind::Written, &[]), Some("/ptxas")), None);
}

#[test]
fn a_record_is_its_digest() {
    let bytes = record(Kind::Written, &[(true, &["sm_80"])]).encode();
    let name = digest(&bytes);
    assert!(Record::decode(&bytes, &name).is_some());
    assert!(Record::decode(&bytes[1..], &name).is_none());
    assert!(Record::decode(b"{}", &digest(b"{}")).is_none());
}

#[test]
fn a_file_that_was_missed_appears_whether_its_folder_was_there_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let missed = |names: &[&str], base: &Path| {
        let missed = names.iter().map(|name| StoredPath::of(&base.join(name), base)).collect();
        Record { missed, ..record(Kind::Written, &[]) }.appeared(base)
    };
    let names = ["no/a.h", "no/b.h", "c.h"];
    assert_eq!(missed(&names, folder.path()), None);
    std::fs::create_dir(folder.path().join("no")).unwrap();
    assert_eq!(missed(&names, folder.path()), None);
    for name in ["c.h", "no/b.h"] {
        std::fs::write(folder.path().join(name), "").unwrap();
        assert_eq!(missed(&names, folder.path()), Some(folder.path().join(name)));
    }
    // Tests run in the folder of their crate.
    assert_eq!(missed(&["a.h", "Cargo.toml"], Path::new("")), Some("Cargo.toml".into()));
}
