// SPDX-License-Identifier: Apache-2.0
//! Names of functions, parameters and types in Rust. A name that is a word of Rust's is written
//! raw, or where that cannot be, with a `_` at its end.

/// The words of Rust, in every edition: those that are and those that may become some.
const KEYWORDS: &str = "
    abstract as async await become box break const continue do dyn else enum extern false final fn
    for gen if impl in let loop macro match mod move mut override priv pub ref return static struct
    trait true try type typeof unsafe unsized use virtual where while yield";

/// The words that cannot be written raw, and what stands for no name.
const NOT_RAW: &str = "crate self super Self _";

/// The names of values that the file itself uses, by these words alone.
pub(super) const VALUES: &[&str] = &["Some", "Ok", "Err"];
/// As [`VALUES`], of types and modules.
pub(super) const TYPES: &[&str] = &[
    "Call", "Results", "sealed", "bool", "str", "i8", "i16", "i32", "i64", "u8", "u16", "u32",
    "u64", "f32", "f64",
];

/// A name that is not written raw.
pub(super) fn plain(name: &str) -> &str {
    name.trim_start_matches("r#")
}

/// Names as Rust has them, each unlike the others and unlike those that are taken.
#[derive(Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// A set in which these are taken.
    pub(super) fn without<'t>(taken: impl IntoIterator<Item = &'t &'t str>) -> Names {
        Names(taken.into_iter().map(|name| name.to_string()).collect())
    }

    /// A name like this one.
    pub(super) fn add(&mut self, name: &str) -> String {
        let mut name = name.to_string();
        while is_one_of(&name, NOT_RAW) || self.0.contains(&name) {
            name.push('_');
        }
        self.0.push(name.clone());
        identifier(&name)
    }
}

fn identifier(name: &str) -> String {
    match is_one_of(name, KEYWORDS) {
        true => format!("r#{name}"),
        false => name.to_string(),
    }
}

fn is_one_of(name: &str, words: &str) -> bool {
    words.split_whitespace().any(|word| word == name)
}

/// The name of a type: `LayerNorm` of `layer_norm`.
pub(super) fn camel_case(name: &str) -> String {
    let upper = |word: &str| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>())
    };
    let name: String = name.split('_').filter_map(upper).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        true => format!("_{name}"),
        false => name,
    }
}
