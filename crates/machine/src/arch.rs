// SPDX-License-Identifier: Apache-2.0
//! GPU architectures: how they are written.
//!
//! ```text
//! sm_XY         machine code    runs on X.Z with Z >= Y
//! sm_XYf        machine code    the same, with instructions of the family of X
//! sm_XYa        machine code    runs on X.Y only
//! compute_XY    PTX             runs on every device that is not older
//! compute_XYf   PTX             runs on X.Z with Z >= Y
//! compute_XYa   PTX             runs on X.Y only
//! ```
//!
//! Of those that it runs, a device takes machine code before PTX, then the higher number, then `a`
//! before `f` before neither. That rule is in `arch_code.rs`, as packages have it; the tests of it
//! are here, where architectures have names.
//!
//! Source: "GPU Feature List" of [nvcc], and ["Target architectures"][target] in the PTX ISA.
//!
//! [nvcc]: https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#gpu-feature-list
//! [target]: https://docs.nvidia.com/cuda/parallel-thread-execution/#ptx-module-directives-target

use crate::ArchCode;
use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// An architecture of GPU code: `sm_90a`, `compute_80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arch {
    /// Machine code or PTX.
    pub kind: ArchKind,
    /// The compute capability without its point: 90 is 9.0, and 121 is 12.1.
    pub number: u32,
    /// Which instructions beyond the number's it uses.
    pub suffix: Suffix,
}

/// Machine code or text for the driver's compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchKind {
    /// PTX, which the driver compiles when it loads it: `compute_`.
    Compute,
    /// Machine code: `sm_`.
    Sm,
}

/// Which instructions code uses beyond those that later devices keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suffix {
    /// None.
    None,
    /// Those of the family, `f`.
    F,
    /// Those of this one architecture, `a`.
    A,
}

/// Text that names no architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchError(pub String);

impl Error for ArchError {}

impl fmt::Display for ArchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = "expected `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`";
        write!(f, "`{}` is no GPU architecture: {expected}, as in `sm_90a`", self.0)
    }
}

impl Arch {
    /// PTX that every device of CUDA 13 compiles for itself: what CUDA C++ is compiled for where
    /// nothing is said.
    pub const OLDEST: Arch = Arch::ptx(75);
    /// PTX that every device of the last years compiles for itself: what kernels are compiled for
    /// where nothing is said. They are written for nothing older.
    pub const OLDEST_OF_KERNELS: Arch = Arch::ptx(80);

    const fn ptx(number: u32) -> Arch {
        Arch { kind: ArchKind::Compute, number, suffix: Suffix::None }
    }

    /// As packages have it, which says what devices run it, and which code a device takes.
    pub fn code(self) -> ArchCode {
        let suffix = match self.suffix {
            Suffix::None => None,
            Suffix::F => Some('f'),
            Suffix::A => Some('a'),
        };
        ArchCode::new(self.kind == ArchKind::Sm, self.number, suffix)
    }

    /// Whether its code may use every instruction of another architecture's, be either machine code
    /// or PTX.
    pub fn has(self, other: Arch) -> bool {
        match other.suffix {
            Suffix::None => self.number >= other.number,
            Suffix::F => {
                self.suffix != Suffix::None
                    && self.number / 10 == other.number / 10
                    && self.number >= other.number
            }
            Suffix::A => self.suffix == Suffix::A && self.number == other.number,
        }
    }

    /// The same architecture as PTX.
    pub fn compute(self) -> Arch {
        Arch { kind: ArchKind::Compute, ..self }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ArchKind::Compute => "compute",
            ArchKind::Sm => "sm",
        };
        let suffix = match self.suffix {
            Suffix::None => "",
            Suffix::F => "f",
            Suffix::A => "a",
        };
        write!(f, "{kind}_{}{suffix}", self.number)
    }
}

impl Arch {
    /// Architectures as people list them, `sm_90a,compute_80`, each once.
    ///
    /// # Errors
    /// Where a name is none of an architecture's, or stands there twice.
    pub fn parse_list(text: &str) -> Result<Vec<Arch>, String> {
        let mut archs = Vec::new();
        for name in text.split(',') {
            let arch = name.trim().parse::<Arch>().map_err(|error| error.to_string())?;
            if archs.contains(&arch) {
                return Err(format!("`{arch}` stands there twice"));
            }
            archs.push(arch);
        }
        Ok(archs)
    }
}

impl FromStr for Arch {
    type Err = ArchError;

    fn from_str(text: &str) -> Result<Arch, ArchError> {
        parse(text).ok_or_else(|| ArchError(text.to_string()))
    }
}

fn parse(text: &str) -> Option<Arch> {
    let (kind, rest) = match text.strip_prefix("sm_") {
        Some(rest) => (ArchKind::Sm, rest),
        None => (ArchKind::Compute, text.strip_prefix("compute_")?),
    };
    let (digits, suffix) = match rest.strip_suffix('a') {
        Some(digits) => (digits, Suffix::A),
        None => match rest.strip_suffix('f') {
            Some(digits) => (digits, Suffix::F),
            None => (rest, Suffix::None),
        },
    };
    let is_number = (2..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    let number = digits.parse().ok().filter(|_| is_number && !digits.starts_with('0'))?;
    Some(Arch { kind, number, suffix })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::best_arch;

    fn arch(text: &str) -> Arch {
        text.parse().expect(text)
    }

    /// The devices, of all that exist and some that do not, on which the architecture runs.
    fn expect_runs_on(text: &str, expected: &[(u32, u32)]) {
        let devices = [(7, 5), (8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (10, 3), (12, 0), (12, 1)];
        let runs =
            devices.iter().filter(|(major, minor)| arch(text).code().runs_on(*major, *minor));
        assert_eq!(runs.copied().collect::<Vec<_>>(), expected, "{text}");
    }

    fn expect_choice(archs: &[&str], device: (u32, u32), expected: Option<&str>) {
        let parsed: Vec<_> = archs.iter().map(|text| arch(text)).collect();
        let codes = parsed.iter().map(|arch| arch.code()).zip(archs);
        let choice = best_arch(codes, device).copied();
        assert_eq!(choice, expected, "{archs:?} on {device:?}");
    }

    #[test]
    fn text_comes_back() {
        for text in ["sm_75", "sm_90", "sm_90a", "sm_100f", "sm_121a", "compute_80", "compute_120f"]
        {
            assert_eq!(arch(text).to_string(), text);
        }
        assert_eq!(arch("sm_90a").compute().to_string(), "compute_90a");
    }

    #[test]
    fn instructions_of_another_architecture() {
        for (one, other, expected) in [
            ("sm_90", "sm_80", true),
            ("compute_80", "sm_80", true),
            ("sm_80", "sm_90", false),
            ("compute_90a", "sm_90", true),
            ("compute_90a", "sm_90a", true),
            ("sm_90", "sm_90a", false),
            ("sm_100a", "sm_90a", false),
            ("sm_103f", "sm_100f", true),
            ("sm_103a", "sm_100f", true),
            ("sm_103", "sm_100f", false),
            ("sm_100f", "sm_103f", false),
            ("sm_120f", "sm_100f", false),
            ("sm_103f", "sm_103a", false),
        ] {
            assert_eq!(arch(one).has(arch(other)), expected, "{one} has {other}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in
            ["", "sm_", "sm_9", "sm_090", "sm_1000", "sm_90b", "sm_90af", "90", "SM_90", "sm_+9"]
        {
            assert_eq!(text.parse::<Arch>(), Err(ArchError(text.to_string())));
        }
        let message = ArchError("sm90".to_string()).to_string();
        assert!(message.starts_with("`sm90` is no GPU architecture: expected"), "{message}");
    }

    #[test]
    fn machine_code_runs_on_its_major_number_from_its_minor_number_on() {
        expect_runs_on("sm_80", &[(8, 0), (8, 6), (8, 9)]);
        expect_runs_on("sm_86", &[(8, 6), (8, 9)]);
        expect_runs_on("sm_100", &[(10, 0), (10, 3)]);
    }

    #[test]
    fn specific_machine_code_runs_on_one_architecture() {
        expect_runs_on("sm_90a", &[(9, 0)]);
        expect_runs_on("sm_100a", &[(10, 0)]);
        expect_runs_on("sm_120a", &[(12, 0)]);
    }

    #[test]
    fn family_machine_code_runs_on_the_rest_of_its_family() {
        expect_runs_on("sm_100f", &[(10, 0), (10, 3)]);
        expect_runs_on("sm_103f", &[(10, 3)]);
        expect_runs_on("sm_121f", &[(12, 1)]);
    }

    #[test]
    fn ptx_runs_on_everything_that_is_not_older() {
        expect_runs_on("compute_89", &[(8, 9), (9, 0), (10, 0), (10, 3), (12, 0), (12, 1)]);
        expect_runs_on("compute_90a", &[(9, 0)]);
        expect_runs_on("compute_100f", &[(10, 0), (10, 3)]);
    }

    #[test]
    fn the_highest_machine_code_that_runs_wins() {
        expect_choice(&["sm_80", "sm_86", "sm_89"], (8, 6), Some("sm_86"));
        expect_choice(&["sm_89", "sm_80"], (8, 9), Some("sm_89"));
        expect_choice(&["sm_120f", "sm_121"], (12, 1), Some("sm_121"));
    }

    #[test]
    fn specific_goes_before_family_before_plain() {
        expect_choice(&["sm_100", "sm_100f", "sm_100a"], (10, 0), Some("sm_100a"));
        expect_choice(&["sm_100a", "sm_100f", "sm_100"], (10, 3), Some("sm_100f"));
        expect_choice(&["sm_100a", "sm_100"], (10, 3), Some("sm_100"));
    }

    #[test]
    fn ptx_comes_after_all_machine_code_and_the_highest_first() {
        expect_choice(&["compute_90", "sm_80"], (8, 9), Some("sm_80"));
        expect_choice(&["compute_120", "sm_120"], (12, 1), Some("sm_120"));
        expect_choice(&["compute_75", "compute_80", "compute_90"], (8, 9), Some("compute_80"));
        expect_choice(&["compute_90", "compute_90a"], (9, 0), Some("compute_90a"));
    }

    #[test]
    fn nothing_may_run_and_of_equals_the_first_wins() {
        expect_choice(&["sm_90a", "sm_80", "compute_120"], (10, 0), None);
        expect_choice(&[], (9, 0), None);
        let twice = [arch("sm_80").code(); 2].into_iter().zip([0, 1]);
        assert_eq!(best_arch(twice, (8, 0)), Some(0));
    }
}
