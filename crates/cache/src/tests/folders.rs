// SPDX-License-Identifier: Apache-2.0
//! Folders that may be used, and folders that may not.

use super::bench::{Bench, CHECKS, Count, expect_loadable, told};
use crate::settings::Settings;
use crate::{Cache, Got};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The user `nobody`.
const NOBODY: u32 = 65534;

fn get(settings: Settings, bench: &Bench) -> Got {
    let got = Cache::of(settings).get(&bench.request(CHECKS), &Count::default()).unwrap();
    expect_loadable(&got);
    got
}

/// The cache is not used, for a reason that is told once.
fn expect_unused(settings: &Settings, bench: &Bench, reason: &str) {
    let got = get(settings.clone(), bench);
    assert!(!got.is_hit && got.entry.folder().is_none(), "{reason}");
    let told = told(&got);
    assert!(told.len() == 1 && told[0].contains(reason), "{told:?}");
    assert!(self::told(&get(settings.clone(), bench)).is_empty(), "once is enough");
}

#[test]
fn the_folder_is_its_users_alone() {
    let bench = Bench::new();
    let deep = Settings { folder: Some(bench.path("a/b/c")), ..bench.settings() };
    assert!(get(deep, &bench).entry.folder().is_some());
    for name in ["a/b/c", "a/b/c/v1", "a/b/c/v1/entries"] {
        assert_eq!(bench.path(name).metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn a_folder_that_others_may_write_is_not_used() {
    let bench = Bench::new();
    fs::create_dir(bench.path("cache")).unwrap();
    chmod(&bench.path("cache"), 0o770);
    expect_unused(&bench.settings(), &bench, "others may write there");
}

#[test]
fn a_folder_of_another_user_is_not_used() {
    let bench = Bench::new();
    if !is_root() {
        return;
    }
    fs::create_dir(bench.path("cache")).unwrap();
    chown(bench.path("cache"), Some(NOBODY), None).unwrap();
    expect_unused(&bench.settings(), &bench, "it belongs to user 65534");
}

#[test]
fn what_is_no_folder_is_not_used() {
    let bench = Bench::new();
    bench.write("cache", "a file");
    expect_unused(&bench.settings(), &bench, "it is no folder");
    let below = Settings { folder: Some(bench.path("cache/below")), ..bench.settings() };
    expect_unused(&below, &bench, "Not a directory");
}

/// A folder below `/`, all of which is root's, with a warm cache; nothing where nobody but root may
/// make one.
fn shipped(bench: &Bench) -> Option<tempfile::TempDir> {
    let folder = tempfile::Builder::new().prefix("kernpack-test-").tempdir_in("/opt").ok()?;
    let settings = Settings { folder: Some(folder.path().join("warm")), ..bench.settings() };
    assert!(!get(settings, bench).is_hit);
    chmod(folder.path(), 0o755);
    Some(folder)
}

#[test]
fn a_second_cache_is_read_and_not_written() {
    let bench = Bench::new();
    let Some(folder) = shipped(&bench) else { return };
    let warm = folder.path().join("warm");
    let list = || {
        let mut files = Vec::new();
        for entry in fs::read_dir(warm.join("v1/entries")).unwrap().flatten() {
            let used = entry.path().join("used");
            files.push((entry.path(), used.metadata().unwrap().modified().unwrap()));
        }
        files
    };
    let before = list();
    let settings = Settings { shipped: Some(warm.clone()), ..bench.settings() };
    let got = get(settings.clone(), &bench);
    assert!(got.is_hit && got.entry.folder().unwrap().starts_with(&warm));
    assert_eq!(told(&got), [""; 0]);
    assert!(bench.files("entries").is_empty() && list() == before);
    // Its user's own cache may have no place at all.
    let alone = Settings { folder: None, is_forbidden: true, ..settings };
    assert!(get(alone.clone(), &bench).is_hit);
    let damaged = got.entry.path(crate::Artifact::SharedObject);
    fs::write(&damaged, "no ELF").unwrap();
    let got = get(Settings { is_forbidden: false, ..alone }, &bench);
    assert!(!got.is_hit && told(&got)[0].contains("is damaged"), "{:?}", told(&got));
    assert!(damaged.exists(), "nothing is set aside there");
}

#[test]
fn a_second_cache_is_trusted_where_nobody_else_may_write() {
    let bench = Bench::new();
    let Some(folder) = shipped(&bench) else { return };
    let warm = folder.path().join("warm");
    let settings = Settings { folder: None, shipped: Some(warm.clone()), ..bench.settings() };
    assert!(get(settings.clone(), &bench).is_hit);
    let entry = fs::read_dir(warm.join("v1/entries")).unwrap().next().unwrap().unwrap().path();
    // Below, only what is of use is left out; nothing is said of it.
    for inside in [warm.join("v1"), entry.clone(), entry.join("package.so")] {
        let mode = inside.metadata().unwrap().permissions().mode();
        chmod(&inside, mode | 0o020);
        assert!(!get(settings.clone(), &bench).is_hit, "{}", inside.display());
        chmod(&inside, mode);
    }
    chown(entry.join("package.so"), Some(NOBODY), None).unwrap();
    assert!(!get(settings.clone(), &bench).is_hit);
    chown(entry.join("package.so"), Some(0), None).unwrap();
    assert!(get(settings.clone(), &bench).is_hit);
    chmod(folder.path(), 0o1777);
    expect_unused(&settings, &bench, "may be written by others");
    chmod(folder.path(), 0o755);
    // A link is followed, and where it leads to counts.
    let other = tempfile::tempdir().unwrap();
    fs::create_dir(other.path().join("warm")).unwrap();
    symlink(other.path().join("warm"), folder.path().join("link")).unwrap();
    let linked = Settings { shipped: Some(folder.path().join("link")), ..settings };
    expect_unused(&linked, &bench, "`/tmp` may be written by others");
}

/// As another user: run by the test below.
#[test]
#[ignore = "a part of another test"]
fn as_nobody() {
    let Some(folder) = std::env::var_os("KERNPACK_TEST_FOLDER") else { return };
    let cache = Cache::from_env();
    let request = crate::Request::new("a.toml", CHECKS, Path::new(&folder));
    let got = cache.get(&request, &Count::default()).unwrap();
    expect_loadable(&got);
    let told = self::told(&got);
    assert!(told.len() == 1 && told[0].contains("Permission denied"), "{told:?}");
}

#[test]
fn a_folder_that_cannot_be_written_is_told_and_the_package_works() {
    if !is_root() {
        return;
    }
    use std::os::unix::process::CommandExt;
    let bench = Bench::new();
    chmod(bench.folder.path(), 0o755);
    // Whoever else may run this program too.
    let program = bench.path("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    chmod(&program, 0o755);
    let run = std::process::Command::new(&program)
        .args(["--exact", "tests::folders::as_nobody", "--ignored"])
        .env("KERNPACK_TEST_FOLDER", bench.folder.path())
        .env("KERNPACK_CACHE_DIR", bench.path("cache"))
        .current_dir("/")
        .uid(NOBODY)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}

#[test]
fn what_cannot_be_loaded_from_its_folder_is_loaded_from_memory() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let name = std::ffi::OsStr::from_bytes(b"cache-\xe9");
    let folder = bench.folder.path().join(name);
    for is_hit in [false, true] {
        let settings = Settings { folder: Some(folder.clone()), ..bench.settings() };
        let got = Cache::of(settings).get(&bench.request(CHECKS), &Count::default()).unwrap();
        assert_eq!(got.is_hit, is_hit);
        let path = got.entry.path(crate::Artifact::SharedObject);
        assert!(path.starts_with("/proc/self/fd") && got.entry.folder().is_some());
        super::bench::expect_loadable(&got);
    }
}
