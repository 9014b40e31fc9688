// SPDX-License-Identifier: Apache-2.0
//! How much memory there is: of the machine, or of the control group that the process is in, which
//! ends a process that takes more. Amounts are read as people write them.

use std::fs;

/// The files that say how much a control group may take: of its second version, and of its first.
const GROUPS: [&str; 2] =
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// The bytes of memory that there are; nothing where nobody says.
pub fn bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total(&text));
    let groups =
        GROUPS.iter().filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok());
    machine.into_iter().chain(groups).min()
}

/// The most that a call on the interpreter takes where nobody says: half of what there is.
pub fn usual() -> Option<u64> {
    Some(bytes()? / 2)
}

/// The memory of the machine in bytes, as `/proc/meminfo` has it.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// An amount: `800MiB`, `16 GB`, `1.5GiB` or bytes.
pub fn parse(text: &str) -> Result<u64, String> {
    let at = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale: u64 = match unit.trim() {
        "" | "B" => 1,
        "KiB" | "K" | "k" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        "TiB" | "T" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => 0,
    };
    match number.parse::<f64>() {
        Ok(number) if scale > 0 => Ok((number * scale as f64) as u64),
        _ => Err(format!("expected an amount such as `800MiB` or `16GiB`, found `{text}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        let read = |text: &str| parse(text).ok();
        assert_eq!(read("4096"), Some(4096));
        assert_eq!(read("800MiB"), Some(800 << 20));
        assert_eq!(read("1.5 GiB"), Some(3 << 29));
        assert_eq!(read("2G"), Some(2 << 30));
        assert_eq!(read("16GB"), Some(16_000_000_000));
        assert_eq!(read("-1"), None);
        assert_eq!(read("1.5.2"), None);
        assert_eq!(read("much"), None);
        let message = "expected an amount such as `800MiB` or `16GiB`, found `8 gigs`";
        assert_eq!(parse("8 gigs"), Err(message.to_string()));
    }

    #[test]
    fn a_machine_says_how_much_it_has() {
        assert_eq!(total("MemFree: 1 kB\nMemTotal:       24576 kB\n"), Some(24 << 20));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert!(bytes().is_none_or(|bytes| bytes > 1 << 20));
    }
}
