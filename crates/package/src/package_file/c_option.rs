// SPDX-License-Identifier: Apache-2.0
//! Options of the C compiler that no source can have, whatever the compiler: with them there is no
//! object, or one that cannot be linked, or they are for a linker that is not run.

use super::fields::{Reader, Value};
use kernpack_syntax::Diagnostic;
use toml::de::DeValue;

/// Options that cannot serve for one reason.
struct Unfit {
    /// The options.
    exact: &'static [&'static str],
    /// The beginnings of others.
    prefixes: &'static [&'static str],
    /// Why they cannot serve.
    why: &'static str,
    /// The help: another way.
    help: &'static str,
}

const UNFIT: &[Unfit] = &[
    Unfit {
        exact: &["-flto"],
        prefixes: &["-flto="],
        why: "its object has no machine code, which only the compiler's own linker makes",
        help: "remove it, or link the objects yourself and give the result as `host = \"….o\"`",
    },
    Unfit {
        exact: &["-m32", "-mx32", "-m16"],
        prefixes: &["--target=", "-target"],
        why: "its object is for another machine than the target",
        help: "remove it; `kernpack build --target` names the machine",
    },
    Unfit {
        exact: &[
            "-c",
            "-S",
            "-E",
            "-M",
            "-MM",
            "-fsyntax-only",
            "--compile",
            "--assemble",
            "--preprocess",
            "--dependencies",
            "--user-dependencies",
            "--write-dependencies",
            "--write-user-dependencies",
            "--print-missing-file-dependencies",
        ],
        prefixes: &["-o", "-MD", "-MF", "-MG", "-MJ", "-MMD", "-MP", "-MQ", "-MT", "--output"],
        why: "what the compiler writes is not for the source to say",
        help: "remove it",
    },
    Unfit {
        exact: &[],
        prefixes: &["@"],
        why: "it names a file of options, and nobody would notice that it changes",
        help: "write the options here instead",
    },
    Unfit {
        exact: &["-fno-pic", "-fno-PIC"],
        prefixes: &[],
        why: "its object is not position-independent, and can be in no shared object",
        help: "remove it",
    },
    Unfit {
        exact: &["-shared", "-static"],
        prefixes: &["-l", "-L", "-Wl,"],
        why: "it is for the linker, which does not see it",
        help: "remove it; `link = [\"libm.so.6\"]` in `[package]` names libraries",
    },
];

impl Unfit {
    fn has(&self, option: &str) -> bool {
        let begins = |prefix: &&str| option.starts_with(*prefix);
        self.exact.contains(&option) || self.prefixes.iter().any(begins)
    }

    /// Whether it is for an option, or for one that this hands on.
    fn is_for(&self, option: &str) -> bool {
        self.has(option) || handed_on(option).any(|part| self.has(part))
    }
}

/// The options that one hands on: to the preprocessor those by which it writes a rule for `make`,
/// and to it and to the assembler files of options.
fn handed_on(option: &str) -> impl Iterator<Item = &str> {
    let (is_preprocessors, parts) = match option.split_once(',') {
        Some(("-Wp", parts)) => (true, parts),
        Some(("-Wa", parts)) => (false, parts),
        _ => (false, ""),
    };
    let is_rule = |part: &str| part.starts_with("-M") || part.ends_with("dependencies");
    let parts = parts.split(',');
    parts.filter(move |part| part.starts_with('@') || (is_preprocessors && is_rule(part)))
}

/// Reports the options of a list that cannot serve. That it is a list of strings is checked
/// elsewhere.
pub(super) fn check(reader: &mut Reader<'_>, options: &Value<'_>) {
    let DeValue::Array(options) = options.get_ref() else { return };
    for option in options {
        let DeValue::String(text) = option.get_ref() else { continue };
        if let Some(unfit) = UNFIT.iter().find(|unfit| unfit.is_for(text)) {
            let message = format!("the C compiler's option `{text}` cannot serve here");
            let problem = Diagnostic::new("bad-value", message);
            let span = reader.span_of(option.span());
            reader.report(problem.label(span, unfit.why).help(unfit.help));
        }
    }
}
