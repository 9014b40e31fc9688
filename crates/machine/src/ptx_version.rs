// SPDX-License-Identifier: Apache-2.0
//! Versions of PTX, the text that NVIDIA's compilers assemble: which is the first that has an
//! architecture.
//!
//! A driver, or an nvJitLink, reads every version up to its own. So text is best of the lowest
//! version that will do. Not here: which version an instruction needs.
//!
//! Source: "Release Notes" and ["Target architectures"][target] in the PTX ISA.
//!
//! [target]: https://docs.nvidia.com/cuda/parallel-thread-execution/#ptx-module-directives-target

use crate::{Arch, Suffix};
use std::fmt;

/// A version of PTX, as its `.version` line has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PtxVersion {
    /// The number before the point.
    pub major: u32,
    /// The number behind the point.
    pub minor: u32,
}

impl PtxVersion {
    /// That version.
    pub const fn new(major: u32, minor: u32) -> PtxVersion {
        PtxVersion { major, minor }
    }

    /// The version of a number without a point: 78 is 7.8.
    pub const fn of_number(number: u32) -> PtxVersion {
        PtxVersion::new(number / 10, number % 10)
    }

    /// The version as a number without its point.
    pub const fn number(self) -> u32 {
        10 * self.major + self.minor
    }

    /// The first that has [`Arch::OLDEST_OF_KERNELS`].
    pub const OLDEST_OF_KERNELS: PtxVersion = PtxVersion::new(7, 0);
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The first version with each number.
const FIRST: &[(u32, PtxVersion)] = &[
    (50, PtxVersion::new(4, 0)),
    (52, PtxVersion::new(4, 1)),
    (53, PtxVersion::new(4, 2)),
    (60, PtxVersion::new(5, 0)),
    (61, PtxVersion::new(5, 0)),
    (62, PtxVersion::new(5, 0)),
    (70, PtxVersion::new(6, 0)),
    (72, PtxVersion::new(6, 1)),
    (75, PtxVersion::new(6, 3)),
    (80, PtxVersion::new(7, 0)),
    (86, PtxVersion::new(7, 1)),
    (87, PtxVersion::new(7, 4)),
    (88, PtxVersion::new(9, 0)),
    (89, PtxVersion::new(7, 8)),
    (90, PtxVersion::new(7, 8)),
    (100, PtxVersion::new(8, 6)),
    (101, PtxVersion::new(8, 6)),
    (103, PtxVersion::new(8, 8)),
    (110, PtxVersion::new(9, 0)),
    (120, PtxVersion::new(8, 7)),
    (121, PtxVersion::new(8, 8)),
];
/// The first number and the first version with `a`.
const FIRST_EXACT: (u32, PtxVersion) = (90, PtxVersion::new(8, 0));
/// The first number and the first version with `f`.
const FIRST_FAMILY: (u32, PtxVersion) = (100, PtxVersion::new(8, 8));

impl Arch {
    /// The first version of PTX that has it, machine code or not; nothing where no version that is
    /// known here has.
    pub fn first_ptx(self) -> Option<PtxVersion> {
        let (_, plain) = FIRST.iter().copied().find(|(number, _)| *number == self.number)?;
        let (number, version) = match self.suffix {
            Suffix::None => (self.number, plain),
            Suffix::A => FIRST_EXACT,
            Suffix::F => FIRST_FAMILY,
        };
        (self.number >= number).then_some(plain.max(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect_first(arch: &str, expected: Option<&str>) {
        let first = arch.parse::<Arch>().expect(arch).first_ptx();
        assert_eq!(first.map(|version| version.to_string()).as_deref(), expected, "{arch}");
    }

    #[test]
    fn an_architecture_has_a_first_version() {
        expect_first("sm_75", Some("6.3"));
        expect_first("compute_80", Some("7.0"));
        expect_first("sm_90", Some("7.8"));
        expect_first("sm_100", Some("8.6"));
        let oldest = Arch::OLDEST_OF_KERNELS.first_ptx();
        assert_eq!(oldest, Some(PtxVersion::OLDEST_OF_KERNELS));
    }

    #[test]
    fn a_version_is_a_number_and_back() {
        let version = PtxVersion::of_number(78);
        assert_eq!((version.to_string().as_str(), version.number()), ("7.8", 78));
    }

    #[test]
    fn suffixes_came_later() {
        expect_first("sm_90a", Some("8.0"));
        expect_first("sm_100a", Some("8.6"));
        expect_first("sm_100f", Some("8.8"));
        expect_first("sm_110f", Some("9.0"));
    }

    #[test]
    fn what_does_not_exist_has_no_version() {
        expect_first("sm_77", None);
        expect_first("sm_80a", None);
        expect_first("sm_90f", None);
    }
}
