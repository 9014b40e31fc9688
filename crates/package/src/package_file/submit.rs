// SPDX-License-Identifier: Apache-2.0
//! `submit`: how launches on a GPU are submitted, in `[package]` for all functions and in a
//! `[[function]]` for its own launches.

use super::fields::{Fields, Reader, closest};
use crate::package::Submit;
use kernpack_syntax::Diagnostic;

/// The key.
const KEY: &str = "submit";

/// Reads the key, where it is there.
pub(super) fn read(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Submit> {
    let text = reader.string(fields, KEY)?;
    let submit = Submit::from_word(text.text);
    if submit.is_none() {
        let words = Submit::TABLE.map(|(_, word)| word);
        let message = format!("`{}` is no way to submit launches", text.text);
        let [others @ .., last] = words.map(|word| format!("`\"{word}\"`"));
        let label = format!("expected {} or {last}", others.join(", "));
        let problem = Diagnostic::new("bad-value", message).label(text.span, label);
        let help = closest(&words, text.text).map(|word| format!("did you mean `{word}`?"));
        reader.report(Diagnostic { help, ..problem });
    }
    submit
}

/// Reports the key in a function that launches nothing on a GPU.
pub(super) fn refuse(reader: &mut Reader<'_>, fields: &Fields<'_>) {
    if fields.has(KEY) {
        let message = format!("`{KEY}` is for launches on a GPU, and the function has none");
        let problem = Diagnostic::new("conflict", message);
        let problem = problem.label(fields.place(KEY), "has no effect");
        reader.report(problem.help(format!("remove `{KEY}`")));
    }
}

/// Says where the key belongs, in a table of one launch.
pub(super) fn misplace(fields: &mut Fields<'_>) {
    fields.misplace(KEY, format!("write `{KEY}` on the function, for all its launches"));
}

#[cfg(test)]
mod tests;
