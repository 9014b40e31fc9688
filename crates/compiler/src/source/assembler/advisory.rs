// SPDX-License-Identifier: Apache-2.0
//! Remarks of the assembler about matrix units, in our words: C7504 to C7520. The code that comes
//! with such a remark is right, and slow. Not here: where they are shown.

use super::Remark;

/// The matter of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    /// Products of matrix units that wait for one another, one by one.
    Serialized,
    /// Registers that are not handed over.
    Registers,
    /// A wait or a fence that the assembler put between products.
    Injected,
}

/// A remark about matrix units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advisory {
    /// The matter.
    pub matter: Matter,
    /// The reason, which ends a sentence.
    pub reason: &'static str,
    /// Advice, as an imperative.
    pub help: &'static str,
}

impl Advisory {
    /// The advisory of a remark, where it is one.
    pub fn of(remark: &Remark) -> Option<Advisory> {
        let code = remark.code.as_deref()?;
        if let Some((_, matter, reason, help)) = ROWS.iter().find(|row| row.0 == code) {
            return Some(Advisory { matter: *matter, reason, help });
        }
        let number: u32 = code.strip_prefix('C')?.parse().ok()?;
        // Nobody has said what these are, and a newer assembler may have others.
        CODES.contains(&number).then(|| match remark.text.contains("setmaxnreg") {
            true => Advisory { matter: Matter::Registers, ..OTHER },
            false => OTHER,
        })
    }
}

/// The numbers of such remarks.
const CODES: std::ops::RangeInclusive<u32> = 7504..=7520;

const OTHER: Advisory = Advisory {
    matter: Matter::Serialized,
    reason: "the assembler says why",
    help: "change what it names",
};

const CALLS: &str =
    "take `print` and calls out of it, or run it on the interpreter, which prints too";
const FEWER: &str = "use smaller tiles, or more warpgroups for one";
const WAIT: &str = "wait for the products first, by `wgmma.wait_group`";
const FENCE: &str = "set registers before `wgmma.fence`, and let no product be in flight meanwhile";
const UNIFORM: &str = "let all threads of a warpgroup take the same way there";

/// Each code with what it is about, its reason, and advice.
const ROWS: &[(&str, Matter, &str, &str)] = &[
    (
        "C7504",
        Matter::Registers,
        "it is assembled so that it could be linked with other code",
        "assemble it by ptxas, as a whole program",
    ),
    (
        "C7508",
        Matter::Registers,
        "nothing says how many registers a thread begins with",
        "state that number, by `launch(…, max_registers=n)`, or leave `setmaxnreg` out",
    ),
    ("C7509", Matter::Serialized, "it calls a function that is elsewhere", CALLS),
    ("C7510", Matter::Serialized, "it calls a function while they may be in flight", CALLS),
    ("C7511", Matter::Serialized, "they need more registers than a thread has", FEWER),
    ("C7512", Matter::Serialized, "the kernel needs more registers than a thread has", FEWER),
    ("C7513", Matter::Serialized, "their inputs are set while they are in flight", FENCE),
    ("C7514", Matter::Serialized, "their sums are read while they are in flight", WAIT),
    ("C7515", Matter::Serialized, "their sums are set while they are in flight", FENCE),
    (
        "C7516",
        Matter::Serialized,
        "a fence, a commit or a wait is not where all of them pass it",
        "put `wgmma.fence`, the products, `wgmma.commit_group` and the wait in one sequence",
    ),
    ("C7517", Matter::Injected, "sums are used before any wait for them", WAIT),
    ("C7518", Matter::Serialized, "a wait would be needed where threads part", UNIFORM),
    ("C7519", Matter::Injected, "registers are set behind the fence", FENCE),
    ("C7520", Matter::Serialized, "a fence would be needed where threads part", UNIFORM),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn advisory(line: &str) -> Option<Advisory> {
        let report = super::super::Report::parse(line);
        let [remark] = &report.remarks[..] else { panic!("one remark of {line}") };
        Advisory::of(remark)
    }

    #[test]
    fn each_code_is_about_one_thing() {
        let matter = |code: &str, text: &str| {
            advisory(&format!("ptxas info    : ({code}) {text}")).map(|it| it.matter)
        };
        assert_eq!(matter("C7503", "x"), None);
        assert_eq!(matter("C7504", "'setmaxnreg' ignored"), Some(Matter::Registers));
        assert_eq!(matter("C7506", "'setmaxnreg' ignored"), Some(Matter::Registers));
        assert_eq!(matter("C7506", "of another version"), Some(Matter::Serialized));
        for code in 7509..=7520 {
            let expected = match code {
                7517 | 7519 => Matter::Injected,
                _ => Matter::Serialized,
            };
            assert_eq!(matter(&format!("C{code}"), "x"), Some(expected), "{code}");
        }
        assert_eq!(matter("C7521", "x"), None);
        assert_eq!(advisory("ptxas info    : Overriding maxrregcount"), None);
    }
}
