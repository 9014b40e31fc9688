// SPDX-License-Identifier: Apache-2.0
//! What a launch on a GPU has beyond one on the host: its layout, and files of GPU code.

use super::fields::{Fields, Reader, Text, Value, span_of};
use super::triton;
use crate::image::{Arch, ImageKind};
use crate::source::{CudaSource, GpuFile, GpuSource};
use kernpack_syntax::{Diagnostic, Span};
use kernpack_validators::{Expr, Geometry, parse_expr};
use std::path::PathBuf;
use toml::de::DeValue;

/// The keys of a launch's layout.
pub(super) const KEYS: &[&str] = &["grid", "block", "smem", "attr"];

/// The keys of files of GPU code, with what they name.
const FILES: &[(&str, ImageKind)] = &[
    ("cubin", ImageKind::Cubin),
    ("fatbin", ImageKind::Fatbin),
    ("ptx", ImageKind::Ptx),
    (triton::KEY, ImageKind::Cubin),
];

/// Whether a source names a file of GPU code.
pub(super) fn is_file(fields: &Fields<'_>) -> bool {
    FILES.iter().any(|(key, _)| fields.has(key))
}

/// A file of GPU code: `{ cubin = "a.cubin", arch = "sm_90a" }`.
pub(super) fn file(reader: &mut Reader<'_>, mut fields: Fields<'_>) -> Option<GpuFile> {
    let mut named: Vec<_> = FILES.iter().filter(|(key, _)| fields.has(key)).collect();
    named.sort_by_key(|(key, _)| fields.place(key).start);
    if let [_, (second, _), ..] = named[..] {
        let problem = Diagnostic::new("conflict", "a source names two files");
        let problem = problem.label(fields.place(second), "the second");
        reader
            .report(problem.help("write a list: `source = [{ cubin = \"…\" }, { ptx = \"…\" }]`"));
    }
    let (key, kind) = named.first()?;
    FILES.iter().for_each(|(key, _)| _ = fields.take(key));
    let path = reader.string(&mut fields, key).map(|text| reader.path(&text));
    let text = reader.string(&mut fields, "arch");
    let arch = text.and_then(|text| arch(reader, &text));
    let is_triton = *key == triton::KEY;
    let json = is_triton.then(|| triton::json(reader, &mut fields, path.as_deref()));
    fields.finish(reader);
    let triton = if let Some(json) = json { Some(json?) } else { None };
    Some(GpuFile { path: path?, kind: *kind, arch, triton })
}

fn arch(reader: &mut Reader<'_>, text: &Text<'_>) -> Option<Arch> {
    let parsed = text.value.parse::<Arch>();
    if let Err(error) = &parsed {
        let problem = Diagnostic::new("bad-value", error.to_string());
        reader.report(problem.label(text.span, "no architecture"));
    }
    parsed.ok()
}

/// CUDA C++: `{ cuda = "norm.cu", arch = ["sm_90a", "compute_80"], line_info = true }`. Without `arch`, it becomes PTX that every device that
/// CUDA 13 knows compiles for itself.
pub(super) fn cuda(
    reader: &mut Reader<'_>,
    mut fields: Fields<'_>,
    include: Vec<PathBuf>,
    define: Vec<(String, String)>,
    options: Vec<String>,
) -> Option<GpuSource> {
    const OLDEST: &str = "compute_75";
    let path = reader.string(&mut fields, "cuda").map(|text| reader.path(&text));
    let line_info = fields.take("line_info").map(|value| truth(reader, "line_info", value));
    let texts = reader.strings(&mut fields, "arch");
    let archs: Option<Vec<_>> = texts.iter().map(|text| arch(reader, text)).collect();
    let mut archs = archs?;
    if archs.is_empty() {
        archs.extend(OLDEST.parse::<Arch>());
    }
    fields.finish(reader);
    let line_info = line_info.unwrap_or(Some(false))?;
    let source = CudaSource { path: path?, include, define, options, line_info };
    Some(GpuSource::Cuda(source, archs))
}

/// A list of such files.
pub(super) fn files(reader: &mut Reader<'_>, items: &[Value<'_>]) -> Option<GpuSource> {
    let mut files = Vec::new();
    for item in items {
        let expected = "a table such as `{ cubin = \"a.cubin\" }`";
        let fields = reader.table("source", item, "a source", expected)?;
        if !is_file(&fields) {
            let problem =
                Diagnostic::new("value-type", "a list of sources has files of GPU code only");
            reader.report(problem.label(span_of(&item.span()), format!("expected {expected}")));
            return None;
        }
        files.push(file(reader, fields)?);
    }
    Some(GpuSource::Files(files))
}

/// The layout of a launch: `grid` and `block`, and what there may be beside them. Of a kernel of Triton's, much of it is not the user's to say.
pub(super) fn geometry(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    is_triton: bool,
) -> Option<Geometry> {
    let grid = required_dims(reader, fields, "grid");
    if is_triton {
        triton::refuse_said(reader, fields);
    }
    let block = match is_triton {
        true => Some(vec![]),
        false => required_dims(reader, fields, "block"),
    };
    let shared = fields.take("smem").map(|value| number(reader, "smem", value));
    let mut geometry = Geometry::new(grid?, block?);
    if let Some(shared) = shared {
        geometry.shared = shared?;
    }
    if let Some(value) = fields.take("attr") {
        let expected = "a table such as `{ cluster = [2] }`";
        let attributes = reader.table("attr", value, "a launch's attributes", expected)?;
        if is_triton {
            triton::refuse_said(reader, &attributes);
        }
        self::attributes(reader, attributes, &mut geometry)?;
    }
    Some(geometry)
}

fn attributes(
    reader: &mut Reader<'_>,
    mut fields: Fields<'_>,
    geometry: &mut Geometry,
) -> Option<()> {
    if let Some(value) = fields.take("cluster") {
        geometry.cluster = dims(reader, "cluster", value)?;
    }
    if let Some(value) = fields.take("cooperative") {
        geometry.cooperative = truth(reader, "cooperative", value)?;
    }
    if let Some(value) = fields.take("pdl") {
        geometry.dependent = truth(reader, "pdl", value)?;
    }
    if let Some(value) = fields.take("priority") {
        geometry.priority = Some(number(reader, "priority", value)?);
    }
    geometry.stream = reader.string(&mut fields, "stream").map(|text| text.value.to_string());
    fields.finish(reader);
    Some(())
}

fn required_dims(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    key: &'static str,
) -> Option<Vec<Expr>> {
    match fields.take(key) {
        Some(value) => dims(reader, key, value),
        None => {
            let message = format!("a launch on a GPU needs `{key}`");
            reader.missing(
                fields,
                key,
                &message,
                Some("one to three numbers or expressions, x first"),
            );
            None
        }
    }
}

/// One to three numbers.
fn dims(reader: &mut Reader<'_>, key: &str, value: &Value<'_>) -> Option<Vec<Expr>> {
    let DeValue::Array(items) = value.get_ref() else {
        reader.wrong_type(
            &format!("`{key}`"),
            value,
            "an array such as `[\"ceildiv(n, 256)\", 2]`",
        );
        return None;
    };
    if items.is_empty() || items.len() > 3 {
        let message = format!("`{key}` has {} numbers", items.len());
        let problem = Diagnostic::new("bad-value", message);
        reader.report(problem.label(span_of(&value.span()), "expected one to three, x first"));
        return None;
    }
    let what = format!("an item of `{key}`");
    items.iter().map(|item| number(reader, &what, item)).collect()
}

/// A number: an integer, or an expression in a string.
fn number(reader: &mut Reader<'_>, what: &str, value: &Value<'_>) -> Option<Expr> {
    match value.get_ref() {
        DeValue::Integer(integer) => {
            match i64::from_str_radix(&integer.as_str().replace('_', ""), integer.radix()) {
                Ok(number) => Some(Expr::Int(number)),
                Err(_) => {
                    let problem = Diagnostic::new("bad-number", "not a number that fits 64 bits");
                    reader.report(problem.label(span_of(&value.span()), "too large"));
                    None
                }
            }
        }
        DeValue::String(_) => {
            let text = reader.text(what, value)?;
            reader.parse(&text, parse_expr)
        }
        _ => {
            reader.wrong_type(what, value, "an integer, or an expression in a string");
            None
        }
    }
}

fn truth(reader: &mut Reader<'_>, key: &str, value: &Value<'_>) -> Option<bool> {
    match value.get_ref() {
        DeValue::Boolean(truth) => Some(*truth),
        _ => {
            reader.wrong_type(&format!("`{key}`"), value, "`true` or `false`");
            None
        }
    }
}

/// Reports the keys of a layout in a launch that does not run on a GPU.
pub(super) fn refuse_layout(reader: &mut Reader<'_>, fields: &Fields<'_>) {
    for key in KEYS.iter().filter(|key| fields.has(key)) {
        let message =
            format!("`{key}` is for launches on a GPU, and the source is a host function");
        let problem =
            Diagnostic::new("conflict", message).label(fields.place(key), "has no effect");
        reader.report(problem.help(format!("remove `{key}`")));
    }
}

/// For problems of a layout that have no place of their own.
pub(super) fn place(fields: &Fields<'_>) -> Span {
    fields.place("grid")
}
