// SPDX-License-Identifier: Apache-2.0
//! Settings of the cache, from environment variables.

use crate::warning::Remark;
use std::ffi::OsString;
use std::path::PathBuf;

/// The most bytes that entries take, where nothing is said.
const DEFAULT_LIMIT: u64 = 5 << 30;

/// The settings of a cache.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Where the cache lies; nothing where it is turned off, or where there is no place for it.
    pub folder: Option<PathBuf>,
    /// A second cache, which is only read.
    pub shipped: Option<PathBuf>,
    /// Whether nothing may be compiled.
    pub is_forbidden: bool,
    /// The most bytes that entries take.
    pub limit: u64,
    /// Remarks on variables that mean nothing.
    pub remarks: Vec<Remark>,
}

impl Settings {
    /// The settings that the variables make.
    pub fn of(variable: &dyn Fn(&str) -> Option<OsString>) -> Settings {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let word = |name: &str| set(name).map(|value| value.to_string_lossy().to_lowercase());
        let mut remarks = Vec::new();
        let mut unknown = |name: &str, value: &str, expected: &str| {
            let reason = format!("{name}=`{value}` means nothing");
            remarks.push(Remark::setting(name, &reason, &format!("set {name} to {expected}")));
        };
        let is_off = match word("KERNPACK_CACHE").as_deref() {
            Some("off") => true,
            None | Some("on") => false,
            Some(value) => {
                unknown("KERNPACK_CACHE", value, "`off`, or unset it");
                false
            }
        };
        let is_forbidden = match word("KERNPACK_JIT").as_deref() {
            Some("forbid") => true,
            // Python warns of what is compiled.
            None | Some("allow" | "warn") => false,
            Some(value) => {
                unknown("KERNPACK_JIT", value, "`forbid` or `warn`, or unset it");
                false
            }
        };
        let limit = word("KERNPACK_CACHE_SIZE").map(|text| (bytes(&text), text));
        let limit = limit.map_or(DEFAULT_LIMIT, |(bytes, text)| {
            bytes.unwrap_or_else(|| {
                let expected = "a number of bytes, such as 500M or 5G";
                unknown("KERNPACK_CACHE_SIZE", &text, expected);
                DEFAULT_LIMIT
            })
        });
        let folder = folder(&set);
        if folder.is_none() && !is_off {
            let reason = "the cache has no place, as neither KERNPACK_CACHE_DIR nor HOME is set";
            remarks.push(Remark::setting("HOME", reason, "set KERNPACK_CACHE_DIR to a folder"));
        }
        let shipped = set("KERNPACK_CACHE_READONLY").map(PathBuf::from);
        let [folder, shipped] = [folder, shipped].map(|path| path.filter(|_| !is_off));
        Settings { folder, shipped: shipped.map(absolute), is_forbidden, limit, remarks }
    }
}

/// Where the cache lies.
fn folder(set: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(folder) = set("KERNPACK_CACHE_DIR") {
        return Some(absolute(folder.into()));
    }
    // A relative path means nothing there, says the specification of that variable.
    let cache_home = set("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || Some(PathBuf::from(set("HOME")?)).filter(|path| path.is_absolute());
    let cache_home = cache_home.or_else(|| Some(home()?.join(".cache")));
    Some(cache_home?.join("kernpack"))
}

fn absolute(path: PathBuf) -> PathBuf {
    std::env::current_dir().map_or(path.clone(), |current| current.join(&path))
}

/// `4096`, `64k`, `500m`, `5g`, also with `b` or `ib` behind it.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim().trim_end_matches("ib").trim_end_matches('b');
    let (digits, shift) = match text.chars().last()? {
        'k' => (&text[..text.len() - 1], 10),
        'm' => (&text[..text.len() - 1], 20),
        'g' => (&text[..text.len() - 1], 30),
        't' => (&text[..text.len() - 1], 40),
        _ => (text, 0),
    };
    digits.trim().parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn settings(variables: &[(&str, &str)]) -> Settings {
        Settings::of(&|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        })
    }

    fn expect_folder(variables: &[(&str, &str)], expected: Option<&str>) {
        assert_eq!(settings(variables).folder.as_deref(), expected.map(Path::new), "{variables:?}");
    }

    #[test]
    fn the_cache_lies_where_it_is_said() {
        expect_folder(&[("HOME", "/h")], Some("/h/.cache/kernpack"));
        expect_folder(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")], Some("/x/kernpack"));
        expect_folder(&[("HOME", "/h"), ("XDG_CACHE_HOME", "x")], Some("/h/.cache/kernpack"));
        expect_folder(&[("HOME", "/h"), ("KERNPACK_CACHE_DIR", "/k")], Some("/k"));
        expect_folder(&[("HOME", "/h"), ("KERNPACK_CACHE_DIR", "")], Some("/h/.cache/kernpack"));
        expect_folder(&[("HOME", "/h"), ("KERNPACK_CACHE", "OFF")], None);
        expect_folder(&[("HOME", "")], None);
        assert!(settings(&[]).remarks[0].diagnostic.message.contains("no place"));
        assert!(settings(&[("KERNPACK_CACHE", "off")]).remarks.is_empty());
    }

    #[test]
    fn sizes_are_said_in_bytes_or_with_a_letter() {
        for (text, expected) in
            [("4096", 4096), ("64K", 64 << 10), ("500MB", 500 << 20), ("5GiB", 5 << 30), ("0", 0)]
        {
            let settings = settings(&[("HOME", "/h"), ("KERNPACK_CACHE_SIZE", text)]);
            assert_eq!((settings.limit, settings.remarks.len()), (expected, 0), "{text}");
        }
        for text in ["much", "-1", "99999999999G", "G"] {
            let settings = settings(&[("HOME", "/h"), ("KERNPACK_CACHE_SIZE", text)]);
            assert_eq!((settings.limit, settings.remarks.len()), (DEFAULT_LIMIT, 1), "{text}");
        }
    }

    #[test]
    fn only_forbid_forbids() {
        assert!(settings(&[("HOME", "/h"), ("KERNPACK_JIT", "forbid")]).is_forbidden);
        let other = settings(&[("HOME", "/h"), ("KERNPACK_JIT", "never")]);
        let message = &other.remarks[0].diagnostic.message;
        assert_eq!(
            (other.is_forbidden, &message[..]),
            (false, "KERNPACK_JIT=`never` means nothing")
        );
    }
}
