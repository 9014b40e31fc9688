// SPDX-License-Identifier: Apache-2.0
//! `[[function]]`: a signature with its workspaces and launches.

use super::fields::{Fields, Reader, Value};
use super::launch::{self, Described, Form};
use super::submit;
use crate::package::{Function, WrittenLaunch, is_submitted};
use kernpack_syntax::{Diagnostic, Placed, Span};
use kernpack_validators::{Signature, Workspace, parse_tensor};
use toml::de::DeValue;

/// A function that was read.
pub(super) struct ReadFunction {
    /// The function, without a name where its signature cannot be read.
    pub function: Function<WrittenLaunch>,
    /// Whether all of it could be read, and fits together.
    pub is_sound: bool,
}

/// Reads every `[[function]]`.
pub(super) fn functions(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Vec<ReadFunction> {
    let header = fields.place("package");
    match fields.take("function").map(|value| (value, value.get_ref())) {
        Some((_, DeValue::Array(items))) if !items.is_empty() => {
            items.iter().filter_map(|item| function(reader, item)).collect()
        }
        Some((value, other)) if !matches!(other, DeValue::Array(_)) => {
            reader.wrong_type("`function`", value, "an array of tables: `[[function]]`");
            vec![]
        }
        _ => {
            let problem = Diagnostic::new("empty-package", "the package has no functions");
            let help = "add a `[[function]]` with a `signature`";
            let number = reader.report(problem.label(header, "nothing to build").help(help));
            fields.miss("function", number);
            vec![]
        }
    }
}

fn function(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<ReadFunction> {
    let n_problems = reader.n_problems();
    let mut fields = reader.table("function", value, "a function", "a table")?;
    let text = reader.required_string(&mut fields, "signature", "the function needs a `signature`");
    let signature = text.and_then(|text| reader.parse(text, Signature::parse));
    let doc = reader.string(&mut fields, "doc").map(|doc| doc.text.to_string());
    let workspaces = workspaces(reader, &mut fields);
    let described = Described { signature: signature.as_ref(), workspaces: &workspaces };
    let submit = submit::read(reader, &mut fields);
    let n_before = reader.n_problems();
    let launches = launches(reader, &mut fields, described);
    // Where something of them cannot be read, or is called otherwise, nothing is known.
    let are_known = reader.n_problems() == n_before && !fields.has_unknown();
    if are_known && !launches.iter().any(|launch| is_submitted(launch.device())) {
        submit::refuse(reader, &fields);
    }
    fields.finish(reader);

    let signature = signature.unwrap_or_else(|| Signature::new(""));
    let function = Function { signature, doc, workspaces, launches, submit };
    if reader.n_problems() == n_problems
        && let (Err(problems), Some(text)) = (function.check(), text)
    {
        problems.into_iter().for_each(|problem| _ = reader.report(problem.at(text.span)));
    }
    Some(ReadFunction { function, is_sound: reader.n_problems() == n_problems })
}

fn workspaces(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Vec<Workspace> {
    let Some(value) = fields.take("workspace") else { return vec![] };
    let expected = "a table such as `{ ws = \"Tensor([n], uint8)\" }`";
    let Some(table) = reader.table("workspace", value, "a workspace", expected) else {
        return vec![];
    };
    let mut workspaces = Vec::new();
    for (name, span, value) in table.entries() {
        reader.check_identifier("a workspace's name", name, span);
        let Some(text) = reader.text(name, value) else { continue };
        let tensor = reader.parse(text, parse_tensor);
        let name = Placed::new(name.to_string(), span);
        workspaces.extend(tensor.map(|tensor| {
            let tensor = Placed::new(tensor, text.span);
            Workspace { name, tensor }
        }));
    }
    workspaces
}

/// The launches: a list of them, or one that is written on the function itself.
fn launches(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    function: Described<'_>,
) -> Vec<WrittenLaunch> {
    let own = launch::KEYS.iter().find(|key| fields.has(key)).copied();
    let written = fields.take_entry("launch");
    match own {
        Some(key) => short(reader, fields, function, key, written),
        None => {
            launch::know_keys(fields);
            launch::misplace(fields, written.is_some());
            written.map_or(vec![], |(key, value)| listed(reader, function, key, value))
        }
    }
}

/// One launch, with its keys on the function and its layout in `launch`. A list beside it is read
/// all the same.
fn short<'t>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'t>,
    function: Described<'_>,
    key: &str,
    written: Option<(Span, &'t Value<'t>)>,
) -> Vec<WrittenLaunch> {
    let mut list = None;
    let mut layout = written.and_then(|(span, value)| {
        if let DeValue::Array(_) = value.get_ref() {
            let message = format!("the function has both `{key}` and `[[function.launch]]`");
            let problem = Diagnostic::new("conflict", message).label(span, "the launches");
            reader.report(problem.help(format!("move `{key}` into a `[[function.launch]]`")));
            list = Some(value);
            return None;
        }
        let expected = "a table such as `{ grid = [\"n\"], block = [128] }`";
        reader.table("launch", value, "a launch's layout", expected)
    });
    let form = Form::Short(layout.as_mut());
    let own = launch::read(reader, fields, function, form);
    if let Some(layout) = layout {
        layout.finish(reader);
    }
    let list = list.map_or(vec![], |value| launch::list(reader, value, function));
    own.into_iter().chain(list).collect()
}

/// The launches of a function that has no keys of one itself.
fn listed(
    reader: &mut Reader<'_>,
    function: Described<'_>,
    key: Span,
    value: &Value<'_>,
) -> Vec<WrittenLaunch> {
    if let DeValue::Table(table) = value.get_ref()
        && !table.is_empty()
        && !launch::is_whole(&Fields::new(table, key, "a launch"))
    {
        let problem = Diagnostic::new("missing-key", "the launch has no `source`");
        reader.report(problem.label(key, "a layout alone"));
        return vec![];
    }
    launch::list(reader, value, function)
}
