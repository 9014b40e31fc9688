// SPDX-License-Identifier: Apache-2.0
//! Which devices GPU code runs on, and which of several a device takes: one rule for the compiler
//! and for packages, whose runtime has this file compiled into itself. It uses nothing but `core`.

/// The architecture that GPU code is made for, in 32 bits. Of the code that a device runs, it takes
/// the greatest: machine code before PTX, then the higher number, then that for one architecture
/// before that for a family before the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ArchCode(u32);

/// Machine code, and not PTX.
const MACHINE: u32 = 1 << 31;
/// The compute capability without its point, from this bit on.
const NUMBER: u32 = 8;
/// With instructions of its family.
const FAMILY: u32 = 1;
/// With instructions of its own.
const EXACT: u32 = 2;

impl ArchCode {
    /// `sm_` or `compute_`, a number such as 90, and `a`, `f` or neither.
    pub const fn new(is_machine_code: bool, number: u32, suffix: Option<char>) -> Self {
        let machine = if is_machine_code { MACHINE } else { 0 };
        let suffix = match suffix {
            Some('a') => EXACT,
            Some('f') => FAMILY,
            _ => 0,
        };
        Self(machine | number << NUMBER | suffix)
    }

    /// The bits, as packages have them.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether a device of this compute capability runs the code.
    pub fn runs_on(self, major: u32, minor: u32) -> bool {
        let number = (self.0 & !MACHINE) >> NUMBER;
        let own = (number / 10, number % 10);
        let is_bound_to_its_major = self.0 & (MACHINE | FAMILY) != 0;
        match self.0 & EXACT {
            0 if is_bound_to_its_major => own.0 == major && own.1 <= minor,
            0 => own <= (major, minor),
            _ => own == (major, minor),
        }
    }
}

/// Which of these a device of compute capability `(major, minor)` takes; of equals the first.
pub fn best<T>(
    codes: impl DoubleEndedIterator<Item = (ArchCode, T)>,
    (major, minor): (u32, u32),
) -> Option<T> {
    let running = codes.filter(|(arch, _)| arch.runs_on(major, minor));
    // Of equals `max_by_key` takes the last.
    running.rev().max_by_key(|(arch, _)| *arch).map(|(_, code)| code)
}
