// SPDX-License-Identifier: Apache-2.0
//! A launch: which kernel of which source, with which arguments.

use super::fields::{Fields, Reader, Value, is_identifier};
use super::layout::{self, Layout, TritonLayout};
use super::source::{self, Source};
use super::submit;
use crate::package::{KernelLaunch, Launch, Returns, Site, TritonLaunch, WrittenLaunch};
use kernpack_kernel_lang::packed::written::WrittenArg;
use kernpack_syntax::{Diagnostic, Placed, Snippet};
use kernpack_validators::{
    KernelArg, KernelName, NamePiece, Signature, When, Workspace, parse_kernel_arg,
    parse_kernel_name, parse_literal, parse_when,
};
use toml::de::DeValue;

/// The keys of a launch that a function may have itself.
pub(super) const KEYS: &[&str] = &["source", "kernel", "symbol", "args", "returns"];

/// The help for a `when` elsewhere.
const WHEN_IS_LISTED: &str = "write a launch with `when` as a `[[function.launch]]`";

/// How a launch is written.
pub(super) enum Form<'a, 't> {
    /// As a `[[function.launch]]`, with its layout among the other keys.
    Listed,
    /// On the function itself, with its layout in `launch`, where there is one.
    Short(Option<&'a mut Fields<'t>>),
}

/// The function that a launch is of.
#[derive(Clone, Copy)]
pub(super) struct Described<'a> {
    /// Its signature, where that can be read.
    pub signature: Option<&'a Signature>,
    /// Its workspaces.
    pub workspaces: &'a [Workspace],
}

/// Whether a table has keys of a launch that are not those of its layout.
pub(super) fn is_whole(fields: &Fields<'_>) -> bool {
    KEYS.iter().chain(&["when"]).any(|key| fields.has(key))
}

/// Marks the keys of a launch as known.
pub(super) fn know_keys(fields: &mut Fields<'_>) {
    KEYS.iter().for_each(|key| _ = fields.take(key));
}

/// Says where keys belong that a launch has, but not where these stand: in a source.
pub(super) fn misplace_in_source(fields: &mut Fields<'_>) {
    for key in KEYS.iter().chain(layout::KEYS).chain(&["when"]) {
        fields.misplace(key, format!("write `{key}` beside `source`, not in it"));
    }
    submit::misplace(fields);
}

/// Says where keys belong that a launch has, but not where these stand: on a function.
pub(super) fn misplace(fields: &mut Fields<'_>, has_list: bool) {
    let stray: Vec<_> = layout::KEYS.iter().copied().filter(|key| fields.has(key)).collect();
    let whole: Vec<_> = stray.iter().map(|key| format!("{key} = …")).collect();
    for key in stray {
        let help = match has_list {
            true => format!("move `{key}` into a `[[function.launch]]`"),
            false if fields.has("launch") => format!("move `{key}` into `launch = {{ … }}`"),
            false => format!("write `launch = {{ {} }}`", whole.join(", ")),
        };
        fields.misplace(key, help);
    }
    fields.misplace("when", WHEN_IS_LISTED);
}

/// Reads every `[[function.launch]]`.
pub(super) fn list(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    function: Described<'_>,
) -> Vec<WrittenLaunch> {
    let DeValue::Array(items) = value.get_ref() else {
        reader.wrong_type("`launch`", value, "an array of tables: `[[function.launch]]`");
        return vec![];
    };
    let mut launches = Vec::new();
    for item in items.iter() {
        let Some(mut fields) = reader.table("launch", item, "a launch", "a table") else {
            continue;
        };
        submit::misplace(&mut fields);
        launches.extend(read(reader, &mut fields, function, Form::Listed));
        fields.finish(reader);
    }
    launches
}

/// Reads the keys that a launch has wherever it is written.
pub(super) fn read<'t>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'t>,
    function: Described<'_>,
    form: Form<'_, 't>,
) -> Option<WrittenLaunch> {
    let when = match form {
        Form::Listed => when(reader, fields),
        Form::Short(_) => When::Always,
    };
    let written = reader.required(fields, "source", "the launch has no `source`");
    let is_triton = written.is_some_and(source::is_triton);
    let n_problems = reader.n_problems();
    let source = written.and_then(|value| source::read(reader, value));
    let is_source_sound = reader.n_problems() == n_problems;
    let layout = layout(reader, fields, form, source.as_ref(), is_triton);
    if let Some(Source::Kernel(file)) = source {
        let (kernel, args) = (own_kernel(reader, fields), own_args(reader, fields, function));
        refuse_returns(reader, fields);
        let (kernel, args) = (kernel?, args?);
        let Layout::Whole(geometry) = layout? else { return None };
        let launch = KernelLaunch { when, file, kernel, args, geometry };
        return is_source_sound.then_some(WrittenLaunch::Kernel(launch));
    }
    // Of a source that cannot be read, nothing is known.
    let is_c = matches!(source, Some(Source::Host(_)));
    let kernel = match is_triton && !fields.has("kernel") && !fields.has("symbol") {
        true => Some(None),
        false => kernel(reader, fields, function.signature, is_c).map(Some),
    };
    let args = args(reader, fields, function);
    let returns = match source {
        Some(Source::Gpu(_) | Source::Triton(_) | Source::Kernel(_)) => {
            refuse_returns(reader, fields)
        }
        Some(Source::Host(_)) | None => returns(reader, fields),
    };
    // Whatever a compiler said of it would follow from what is told already.
    if !is_source_sound {
        return None;
    }
    let (kernel, args) = (kernel?, args?);
    let site = match (source?, layout?) {
        (Source::Host(source), _) => Site::Host { source, returns: returns? },
        (Source::Gpu(source), Layout::Whole(geometry)) => {
            Site::Gpu { source, launch: geometry.into() }
        }
        (Source::Triton(files), Layout::Triton(TritonLayout { grid, flags, priority, stream })) => {
            let launch = TritonLaunch { when, kernel, args, files, grid, flags, priority, stream };
            return Some(WrittenLaunch::Triton(launch));
        }
        // Its layout has not been read, which is told.
        (Source::Gpu(_) | Source::Triton(_) | Source::Kernel(_), _) => return None,
    };
    Some(Launch { when, kernel: kernel?, args, site }.into())
}

/// The layout of a launch: nothing in it where the source is a host function, and nothing at all
/// where it cannot be read.
fn layout<'t>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'t>,
    form: Form<'_, 't>,
    source: Option<&Source>,
    is_triton: bool,
) -> Option<Layout> {
    let own = match form {
        Form::Listed => return layout_of(reader, fields, source),
        Form::Short(own) => own,
    };
    let is_elsewhere = layout::KEYS.iter().chain(&["launch"]).any(|key| fields.has(key));
    misplace(fields, false);
    if let Some(Source::Host(_)) = source {
        layout::refuse(reader, fields);
    }
    match (own, source) {
        (Some(own), _) => {
            own.misplace("when", WHEN_IS_LISTED);
            submit::misplace(own);
            layout_of(reader, own, source)
        }
        (None, Some(Source::Gpu(_) | Source::Triton(_) | Source::Kernel(_))) => {
            if !is_elsewhere {
                let block = if is_triton { "" } else { ", block = […]" };
                let help = format!("write `launch = {{ grid = […]{block} }}`");
                reader.missing(fields, "launch", "a launch on a GPU needs a layout", Some(&help));
            }
            None
        }
        (None, _) => Some(Layout::None),
    }
}

/// The layout whose keys stand here.
fn layout_of(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    source: Option<&Source>,
) -> Option<Layout> {
    let layout = match source {
        None => None,
        Some(Source::Gpu(_) | Source::Kernel(_)) => layout::read(reader, fields).map(Layout::Whole),
        Some(Source::Triton(_)) => layout::read_triton(reader, fields).map(Layout::Triton),
        Some(Source::Host(_)) => {
            layout::refuse(reader, fields);
            Some(Layout::None)
        }
    };
    layout::know(fields);
    layout
}

fn when(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> When {
    let text = reader.string(fields, "when");
    text.and_then(|text| reader.parse(text, parse_when)).unwrap_or_default()
}

fn args(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    function: Described<'_>,
) -> Option<Vec<Placed<KernelArg>>> {
    let Some(value) = fields.take("args") else { return unsaid_args(reader, fields, function) };
    let mut args = Vec::new();
    for text in reader.texts("args", value) {
        let arg = reader.parse(text, parse_kernel_arg);
        args.extend(arg.map(|arg| Placed::new(arg, text.span)));
    }
    Some(args)
}

/// The arguments of a kernel that is written here: what other kernels get, or a constant.
fn own_args(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    function: Described<'_>,
) -> Option<Vec<Placed<WrittenArg>>> {
    let Some(value) = fields.take("args") else {
        let args = unsaid_args(reader, fields, function)?;
        return Some(args.into_iter().map(|arg| arg.map(WrittenArg::Arg)).collect());
    };
    let mut args = Vec::new();
    for text in reader.texts("args", value) {
        let arg = match parse_literal(text) {
            Ok(literal) => Some(WrittenArg::Literal(literal)),
            Err(_) => reader.parse(text, parse_kernel_arg).map(WrittenArg::Arg),
        };
        args.extend(arg.map(|arg| Placed::new(arg, text.span)));
    }
    Some(args)
}

/// The name of a kernel that is written here, which stands for itself: which dtypes it is compiled
/// for follows from what it is passed.
fn own_kernel(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Placed<String>> {
    let name = kernel(reader, fields, None, false)?;
    let text = name.to_string();
    if !is_identifier(&text) {
        let message = format!("`{text}` cannot be the name of a kernel");
        let label = "expected the name of a function of the file";
        let problem = Diagnostic::new("bad-name", message).label(name.span, label);
        reader.report(problem.help("write it without `{…}`: its dtypes are those of its tensors"));
        return None;
    }
    Some(Placed::new(text, name.span))
}

/// The arguments of a launch without `args`: all that the function takes. Where that is more than
/// tensors, scalars and pointers, or memory of its own comes with it, they have to be written.
fn unsaid_args(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    function: Described<'_>,
) -> Option<Vec<Placed<KernelArg>>> {
    let place = fields.span;
    let reason = match (function.signature?.unsaid_args(), function.workspaces.first()) {
        (Ok(args), None) => {
            return Some(args.into_iter().map(|arg| Placed::new(arg, place)).collect());
        }
        (Err(param), _) => {
            format!("the parameter `{}` is no tensor, scalar or pointer", param.name)
        }
        (Ok(_), Some(workspace)) => format!("the function has the workspace `{}`", workspace.name),
    };
    let message = format!("the launch has no `args`, and {reason}");
    let help = "write what the kernel takes, in order; `args = []` for nothing";
    reader.missing(fields, "args", &message, Some(help));
    None
}

/// Reports what a kernel on a GPU is said to return.
fn refuse_returns(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Returns> {
    let (span, _) = fields.take_entry("returns")?;
    let problem = Diagnostic::new("conflict", "a kernel on a GPU returns nothing");
    reader.report(problem.label(span, "has no effect").help("remove `returns`"));
    None
}

fn returns(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Returns> {
    let Some(value) = fields.take("returns") else { return Some(Returns::default()) };
    let text = reader.text("returns", value)?;
    match text.text {
        "void" => Some(Returns::Void),
        "int" => Some(Returns::Status),
        other => {
            let message = format!("a host function cannot return `{other}`");
            let label = "expected `\"void\"` or `\"int\"`";
            reader.report(Diagnostic::new("bad-value", message).label(text.span, label));
            None
        }
    }
}

/// The kernel's name, under one of its two keys.
fn kernel(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    signature: Option<&Signature>,
    is_c: bool,
) -> Option<Placed<KernelName>> {
    let symbol = fields.take_entry("symbol");
    let value = match (fields.take("kernel"), symbol) {
        (Some(kernel), None) => kernel,
        (None, Some((_, symbol))) => symbol,
        (None, None) => {
            let help = "name the function of the source that runs: `kernel = \"norm_f32\"`";
            let number = reader.missing(fields, "kernel", "the launch has no `kernel`", Some(help));
            fields.miss("symbol", number);
            return None;
        }
        (Some(_), Some((span, _))) => {
            let problem = Diagnostic::new("conflict", "the launch has both `kernel` and `symbol`");
            reader.report(problem.label(span, "means the same").help("remove one"));
            return None;
        }
    };
    let text = reader.text("kernel", value)?;
    let name = reader.parse(text, parse_kernel_name)?;
    if let Some(signature) = signature {
        check_name(reader, &text, &name, signature, is_c);
    }
    Some(Placed::new(name, text.span))
}

/// Reports a `T` in `{T}` that is no dtype variable, and, of a C function, what is no identifier
/// once dtypes are in the place of those.
fn check_name(
    reader: &mut Reader<'_>,
    text: &Snippet<'_>,
    name: &KernelName,
    signature: &Signature,
    is_c: bool,
) {
    let Ok(bindings) = signature.resolve() else { return };
    name.unknown_vars(&bindings).into_iter().for_each(|problem| _ = reader.report(problem));
    let plain = name.pieces().iter().map(|piece| match piece {
        NamePiece::Text(text) => text,
        NamePiece::DType(..) => "t",
    });
    let plain: String = plain.collect();
    if is_c && !is_identifier(&plain) {
        let message = format!("`{}` cannot be the symbol of a C function", text.text);
        let label = "expected letters, digits and `_`, no digit in front, and `{T}` for dtypes";
        reader.report(Diagnostic::new("bad-name", message).label(text.span, label));
    }
}

#[cfg(test)]
mod tests;
