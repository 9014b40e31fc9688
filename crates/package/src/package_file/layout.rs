// SPDX-License-Identifier: Apache-2.0
//! The layout of a launch on a GPU: `grid`, `block`, `smem` and `attr`, beside the other keys of a
//! `[[function.launch]]`, or in the `launch` of a function that has its one launch written in
//! short. Which numbers a layout may have is for the plan to know.

use super::fields::{Fields, Reader, Value};
use super::triton;
use kernpack_syntax::{Diagnostic, Placed};
use kernpack_validators::{Expr, Geometry, LaunchFlags, parse_expr};
use toml::de::DeValue;

/// The keys of a layout.
pub(super) const KEYS: &[&str] = &["grid", "block", "smem", "attr"];

/// The layout of a launch.
pub(super) enum Layout {
    /// Of a host function: there is none.
    None,
    /// All of it.
    Whole(Geometry),
    /// A layout, as far as Triton's JSON does not say it.
    Triton(TritonLayout),
}

/// A layout, as far as Triton's JSON does not say it.
pub(super) struct TritonLayout {
    /// The grid as Triton counts it.
    pub grid: Vec<Placed<Expr>>,
    /// The flags that it asks for.
    pub flags: LaunchFlags,
    /// The priority.
    pub priority: Option<Placed<Expr>>,
    /// The parameter that is the stream.
    pub stream: Option<Placed<String>>,
}

/// The attributes that `attr` names.
#[derive(Default)]
struct Attributes {
    cluster: Vec<Placed<Expr>>,
    flags: LaunchFlags,
    priority: Option<Placed<Expr>>,
    stream: Option<Placed<String>>,
}

/// Reads a layout: `grid` and `block`, and what there may be beside them.
pub(super) fn read(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Geometry> {
    let grid = required_dims(reader, fields, "grid");
    let block = required_dims(reader, fields, "block");
    let shared = optional(fields, "smem", |value| number(reader, "`smem`", value));
    let attributes = optional(fields, "attr", |value| attributes(reader, value, |_, _| {}));
    let (grid, block, shared, attributes) = (grid?, block?, shared?, attributes?);
    let Attributes { cluster, flags, priority, stream } = attributes.unwrap_or_default();
    let shared = shared.unwrap_or(Expr::Int(0).into());
    let unwritten = vec![];
    Some(Geometry { grid, block, cluster, shared, flags, unwritten, priority, stream })
}

/// Reads the layout of a kernel of Triton's, of which much is not the user's to say.
pub(super) fn read_triton(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
) -> Option<TritonLayout> {
    let grid = required_dims(reader, fields, "grid");
    triton::refuse_said(reader, fields);
    let attributes =
        optional(fields, "attr", |value| attributes(reader, value, triton::refuse_said));
    let Attributes { flags, priority, stream, .. } = attributes?.unwrap_or_default();
    Some(TritonLayout { grid: grid?, flags, priority, stream })
}

/// Reads `attr`, behind a first look at its keys.
fn attributes(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    look: impl FnOnce(&mut Reader<'_>, &Fields<'_>),
) -> Option<Attributes> {
    let expected = "a table such as `{ cluster = [2] }`";
    let mut fields = reader.table("attr", value, "`attr`", expected)?;
    look(reader, &fields);
    let cluster = optional(&mut fields, "cluster", |value| dims(reader, "cluster", value));
    let flags = LaunchFlags::ask(|flag| {
        let key = flag.key();
        let truth = optional(&mut fields, key, |value| reader.truth(key, value));
        truth.map(Option::unwrap_or_default).ok_or(())
    });
    let priority = optional(&mut fields, "priority", |value| number(reader, "`priority`", value));
    let stream = optional(&mut fields, "stream", |value| {
        reader.text("stream", value).map(|text| Placed::new(text.text.to_string(), text.span))
    });
    fields.finish(reader);
    Some(Attributes {
        cluster: cluster?.unwrap_or_default(),
        flags: flags.ok()?,
        priority: priority?,
        stream: stream?,
    })
}

/// The value of a key that may be there; nothing at all where it is there and wrong.
fn optional<'t, T>(
    fields: &mut Fields<'t>,
    key: &'static str,
    read: impl FnOnce(&'t Value<'t>) -> Option<T>,
) -> Option<Option<T>> {
    match fields.take(key) {
        Some(value) => read(value).map(Some),
        None => Some(None),
    }
}

fn required_dims(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Option<Vec<Placed<Expr>>> {
    if let Some(value) = fields.take(key) {
        return dims(reader, key, value);
    }
    let message = format!("a launch on a GPU needs `{key}`");
    reader.missing(fields, key, &message, Some("one to three numbers or expressions, x first"));
    None
}

/// One to three numbers.
fn dims(reader: &mut Reader<'_>, key: &str, value: &Value<'_>) -> Option<Vec<Placed<Expr>>> {
    let DeValue::Array(items) = value.get_ref() else {
        let expected = "an array such as `[\"ceildiv(n, 256)\", 2]`";
        reader.wrong_type(&format!("`{key}`"), value, expected);
        return None;
    };
    if items.is_empty() || items.len() > 3 {
        let message = format!("`{key}` has {} numbers", items.len());
        let problem = Diagnostic::new("bad-value", message);
        reader
            .report(problem.label(reader.span_of(value.span()), "expected one to three, x first"));
        return None;
    }
    let what = format!("an item of `{key}`");
    let numbers: Vec<_> = items.iter().map(|item| number(reader, &what, item)).collect();
    numbers.into_iter().collect()
}

/// A number: an integer, or an expression in a string.
fn number(reader: &mut Reader<'_>, what: &str, value: &Value<'_>) -> Option<Placed<Expr>> {
    let place = reader.span_of(value.span());
    let expr = match value.get_ref() {
        DeValue::Integer(integer) => {
            match i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()) {
                Ok(number) => Some(Expr::Int(number)),
                Err(_) => {
                    let problem = Diagnostic::new("bad-number", "not a number that fits 64 bits");
                    reader.report(problem.label(place, "too large"));
                    None
                }
            }
        }
        DeValue::String(_) => {
            let text = reader.text(what, value)?;
            reader.parse(text, parse_expr)
        }
        _ => {
            reader.wrong_type(what, value, "an integer, or an expression in a string");
            None
        }
    };
    Some(Placed::new(expr?, place))
}

/// Marks the keys of a layout as known.
pub(super) fn know(fields: &mut Fields<'_>) {
    KEYS.iter().for_each(|key| _ = fields.take(key));
}

/// Reports the keys of a layout in a launch that does not run on a GPU.
pub(super) fn refuse(reader: &mut Reader<'_>, fields: &mut Fields<'_>) {
    for key in KEYS.iter().filter(|key| fields.has(key)) {
        let message =
            format!("`{key}` is for launches on a GPU, and the source is a host function");
        let problem =
            Diagnostic::new("conflict", message).label(fields.place(key), "has no effect");
        reader.report(problem.help(format!("remove `{key}`")));
    }
    know(fields);
}

#[cfg(test)]
mod tests;
