// SPDX-License-Identifier: Apache-2.0
//! The layout of a launch on a GPU: `grid`, `block`, `smem` and `attr`, beside the other keys of a `[[function.launch]]`, or in the `launch` of a
//! function that has its one launch written in short. Which numbers a layout may have is for the plan to know.

use super::fields::{Fields, Reader, Value};
use super::triton;
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::{Expr, Geometry, parse_expr};
use toml::de::DeValue;

/// The keys of a layout.
pub(super) const KEYS: &[&str] = &["grid", "block", "smem", "attr"];

/// A number, and where it stands.
type Number = (Expr, Span);

/// Where the numbers of a layout stand.
#[derive(Default)]
pub(super) struct Places {
    grid: Vec<Span>,
    block: Vec<Span>,
    cluster: Vec<Span>,
    shared: Span,
    priority: Span,
    stream: Span,
}

/// What `attr` says.
#[derive(Default)]
struct Attributes {
    cluster: Vec<Number>,
    cooperative: bool,
    dependent: bool,
    priority: Option<Number>,
    stream: Option<(String, Span)>,
}

/// Reads a layout: `grid` and `block`, and what there may be beside them. Of a kernel of Triton's, much of it is not the user's to say.
pub(super) fn read(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    is_triton: bool,
) -> Option<(Geometry, Places)> {
    let grid = required_dims(reader, fields, "grid");
    if is_triton {
        triton::refuse_said(reader, fields);
    }
    let block = match is_triton {
        true => Some(vec![]),
        false => required_dims(reader, fields, "block"),
    };
    let shared = optional(fields, "smem", |value| number(reader, "`smem`", value));
    let attributes = match fields.take("attr") {
        Some(value) => attributes(reader, value, is_triton),
        None => Some(Attributes::default()),
    };
    let (grid, block, shared, attributes) = (grid?, block?, shared?, attributes?);
    let mut layout = Geometry::new(vec![], vec![]);
    let mut places = Places::default();
    (layout.grid, places.grid) = grid.into_iter().unzip();
    (layout.block, places.block) = block.into_iter().unzip();
    (layout.cluster, places.cluster) = attributes.cluster.into_iter().unzip();
    if let Some(shared) = shared {
        (layout.shared, places.shared) = shared;
    }
    (layout.cooperative, layout.dependent) = (attributes.cooperative, attributes.dependent);
    (layout.priority, places.priority) = split(attributes.priority);
    (layout.stream, places.stream) = split(attributes.stream);
    Some((layout, places))
}

/// What may be there, and its place where it is.
fn split<T>(placed: Option<(T, Span)>) -> (Option<T>, Span) {
    placed.map_or((None, Span::default()), |(value, place)| (Some(value), place))
}

fn attributes(reader: &mut Reader<'_>, value: &Value<'_>, is_triton: bool) -> Option<Attributes> {
    let expected = "a table such as `{ cluster = [2] }`";
    let mut fields = reader.table("attr", value, "`attr`", expected)?;
    if is_triton {
        triton::refuse_said(reader, &fields);
    }
    let cluster = optional(&mut fields, "cluster", |value| dims(reader, "cluster", value));
    let mut flag = |key| optional(&mut fields, key, |value| reader.truth(key, value));
    let (cooperative, dependent) = (flag("cooperative"), flag("pdl"));
    let priority = optional(&mut fields, "priority", |value| number(reader, "`priority`", value));
    let stream = optional(&mut fields, "stream", |value| {
        reader.text("stream", value).map(|text| (text.text.to_string(), text.span))
    });
    fields.finish(reader);
    Some(Attributes {
        cluster: cluster?.unwrap_or_default(),
        cooperative: cooperative?.unwrap_or_default(),
        dependent: dependent?.unwrap_or_default(),
        priority: priority?,
        stream: stream?,
    })
}

/// What is read of a key that may be there; nothing at all where it is there and wrong.
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
) -> Option<Vec<Number>> {
    if let Some(value) = fields.take(key) {
        return dims(reader, key, value);
    }
    let message = format!("a launch on a GPU needs `{key}`");
    reader.missing(fields, key, &message, Some("one to three numbers or expressions, x first"));
    None
}

/// One to three numbers.
fn dims(reader: &mut Reader<'_>, key: &str, value: &Value<'_>) -> Option<Vec<Number>> {
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
fn number(reader: &mut Reader<'_>, what: &str, value: &Value<'_>) -> Option<Number> {
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
    Some((expr?, place))
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

/// A layout in which nothing can be wrong, and that is as complete as this one.
pub(super) fn plain(layout: &Geometry) -> Geometry {
    let one = || vec![Expr::Int(1)];
    // Without a block, the launch is one that Triton's JSON completes.
    Geometry::new(one(), if layout.block.is_empty() { vec![] } else { one() })
}

impl Places {
    /// The layout piece by piece: plain ones that each have one of its numbers, with the place of that.
    pub fn pieces(&self, layout: &Geometry) -> Vec<(Geometry, Span)> {
        let (plain, mut pieces) = (plain(layout), Vec::new());
        let grid = alone(&layout.grid, &self.grid);
        pieces.extend(grid.map(|(grid, at)| (Geometry { grid, ..plain.clone() }, at)));
        let block = alone(&layout.block, &self.block);
        pieces.extend(block.map(|(block, at)| (Geometry { block, ..plain.clone() }, at)));
        let cluster = alone(&layout.cluster, &self.cluster);
        pieces.extend(cluster.map(|(cluster, at)| (Geometry { cluster, ..plain.clone() }, at)));
        let Geometry { shared, priority, stream, .. } = layout.clone();
        pieces.push((Geometry { shared, ..plain.clone() }, self.shared));
        pieces.push((Geometry { priority, ..plain.clone() }, self.priority));
        pieces.push((Geometry { stream, ..plain }, self.stream));
        pieces
    }
}

/// As many numbers, of which one is as it is written and the others are 1.
fn alone<'l>(
    numbers: &'l [Expr],
    places: &'l [Span],
) -> impl Iterator<Item = (Vec<Expr>, Span)> + 'l {
    numbers.iter().zip(places).enumerate().map(|(i, (number, place))| {
        let mut alone = vec![Expr::Int(1); numbers.len()];
        alone[i] = number.clone();
        (alone, *place)
    })
}

#[cfg(test)]
mod tests;
