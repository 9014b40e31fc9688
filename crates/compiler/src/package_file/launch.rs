// SPDX-License-Identifier: Apache-2.0
//! A launch: which kernel of which source, with which arguments.

use super::fields::{Fields, Reader, Text, Value, is_identifier};
use super::gpu;
use crate::package::{Launch, Returns};
use crate::source::{GpuSource, HostSource, Source};
use kernpack_syntax::{Diagnostic, Diagnostics, Span};
use kernpack_validators::{KernelArg, LaunchSpec, Rule, Signature, parse_kernel_arg, parse_rules};
use std::path::{Path, PathBuf};
use toml::de::DeValue;

/// The keys of a launch that a function may have itself.
pub(super) const KEYS: &[&str] = &["source", "kernel", "symbol", "args", "returns"];

/// Kinds of sources that later versions have.
const LATER_SOURCES: &[&str] = &["kernel"];

/// The endings of files whose code is made already.
const COMPILED: &[&str] = &["o", "a"];

/// Where the pieces of a launch stand.
pub(super) struct Places {
    /// The condition.
    pub when: Span,
    /// Each argument of the kernel.
    pub args: Vec<Span>,
    /// The layout.
    pub layout: Span,
}

/// A launch, and where its pieces stand.
pub(super) struct ReadLaunch {
    /// The launch.
    pub launch: Launch,
    /// The places.
    pub places: Places,
}

/// Whether the value of `launch` is how a GPU kernel is launched, and not a list of launches.
pub(super) fn is_geometry(value: &Value<'_>) -> bool {
    let DeValue::Table(table) = value.get_ref() else { return false };
    let mut keys = table.keys().map(|key| &**key.get_ref());
    !table.is_empty() && keys.all(|key| gpu::KEYS.contains(&key))
}

/// Marks the keys of a launch as known.
pub(super) fn know_keys(fields: &mut Fields<'_>) {
    for key in KEYS.iter().chain(gpu::KEYS) {
        fields.take(key);
    }
}

/// Marks the keys of a layout as known.
fn know_layout(fields: &mut Fields<'_>) {
    gpu::KEYS.iter().for_each(|key| _ = fields.take(key));
}

/// Reads every `[[function.launch]]`.
pub(super) fn list(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    signature: Option<&Signature>,
) -> Vec<ReadLaunch> {
    let DeValue::Array(items) = value.get_ref() else {
        reader.wrong_type("`launch`", value, "an array of tables: `[[function.launch]]`");
        return vec![];
    };
    let mut launches = Vec::new();
    for item in items.iter() {
        let Some(mut fields) = reader.table("launch", item, "a launch", "a table") else {
            continue;
        };
        let when = when(reader, &mut fields);
        if let Some(mut read) = read(reader, &mut fields, signature, None) {
            (read.launch.spec.when, read.places.when) = when;
            launches.push(read);
        }
        fields.finish(reader);
    }
    launches
}

/// Reads the keys that a launch has wherever it is written.
pub(super) fn read<'t>(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'t>,
    signature: Option<&Signature>,
    layout: Option<&mut Fields<'t>>,
) -> Option<ReadLaunch> {
    let source = reader.required(fields, "source", "the launch has no `source`");
    let source = source.and_then(|value| read_source(reader, value));
    let fields_of_layout = match layout {
        Some(layout) => layout,
        None => &mut *fields,
    };
    let place = gpu::place(fields_of_layout);
    let layout = match &source {
        None => None,
        Some(Source::Gpu(source)) => {
            gpu::geometry(reader, fields_of_layout, source.is_triton()).map(Some)
        }
        Some(Source::Host(_)) => {
            gpu::refuse_layout(reader, fields_of_layout);
            Some(None)
        }
    };
    know_layout(fields_of_layout);
    // Of a source that cannot be read, nothing is known.
    let is_cpp = |source: &Source| matches!(source, Source::Gpu(GpuSource::Cuda(..)));
    let is_c = source.as_ref().is_some_and(|source| !is_cpp(source));
    let is_named = matches!(&source, Some(Source::Gpu(source)) if source.is_triton());
    let kernel = match is_named && !fields.has("kernel") && !fields.has("symbol") {
        true => Some(String::new()),
        false => kernel(reader, fields, signature, is_c),
    };
    let args = args(reader, fields);
    let is_gpu = source.as_ref().is_some_and(Source::is_gpu);
    let returns = returns(reader, fields, is_gpu);
    let (args, places) = args?.into_iter().unzip();
    let spec = LaunchSpec { args, geometry: layout?, ..LaunchSpec::default() };
    let launch = Launch { spec, source: source?, kernel: kernel?, returns: returns? };
    Some(ReadLaunch {
        launch,
        places: Places { when: Span::default(), args: places, layout: place },
    })
}

fn when(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> (Vec<Rule>, Span) {
    let Some(text) = reader.string(fields, "when") else { return Default::default() };
    let rules = reader.parse(&text, |text| match parse_rules(text)? {
        rules if rules.is_empty() => Err(empty_condition()),
        rules => Ok(rules),
    });
    (rules.unwrap_or_default(), text.span)
}

fn empty_condition() -> Diagnostics {
    Diagnostic::new("launch", "`when` has no condition").help("leave `when` out").into()
}

fn args(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Option<Vec<(KernelArg, Span)>> {
    let Some(value) = fields.take("args") else {
        let help = "write `args = []` for a kernel that takes none";
        reader.missing(fields, "args", "the launch has no `args`", Some(help));
        return None;
    };
    let mut args = Vec::new();
    for text in reader.texts("args", value) {
        let arg = reader.parse(&text, parse_kernel_arg);
        args.extend(arg.map(|arg| (arg, text.span)));
    }
    Some(args)
}

fn returns(reader: &mut Reader<'_>, fields: &mut Fields<'_>, is_gpu: bool) -> Option<Returns> {
    let Some((span, value)) = fields.take_entry("returns") else {
        return Some(Returns::default());
    };
    if is_gpu {
        let problem = Diagnostic::new("conflict", "a kernel on a GPU returns nothing");
        reader.report(problem.label(span, "has no effect").help("remove `returns`"));
        return None;
    }
    let text = reader.text("returns", value)?;
    match text.value {
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

/// The kernel's symbol, under one of its two names.
fn kernel(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
    signature: Option<&Signature>,
    is_c: bool,
) -> Option<String> {
    let symbol = fields.take_entry("symbol");
    let value = match (fields.take("kernel"), symbol) {
        (Some(kernel), None) => kernel,
        (None, Some((_, symbol))) => symbol,
        (None, None) => {
            let help = "name the function of the source that runs: `kernel = \"norm_f32\"`";
            reader.missing(fields, "kernel", "the launch has no `kernel`", Some(help));
            return None;
        }
        (Some(_), Some((span, _))) => {
            let problem = Diagnostic::new("conflict", "the launch has both `kernel` and `symbol`");
            reader.report(problem.label(span, "means the same").help("remove one"));
            return None;
        }
    };
    let text = reader.text("kernel", value)?;
    if let Some(signature) = signature {
        check_template(reader, &text, signature, is_c);
    }
    Some(text.value.to_string())
}

/// Reports a `T` in `{T}` that is no dtype variable, and, of a C function, what is no identifier once dtypes are in the place of those.
fn check_template(reader: &mut Reader<'_>, text: &Text<'_>, signature: &Signature, is_c: bool) {
    let Ok(bindings) = signature.resolve() else { return };
    let vars: Vec<_> = bindings.dtypes.keys().cloned().collect();
    let mut plain = String::new();
    let mut rest = text.value;
    while let Some((before, behind)) = rest.split_once('{') {
        let at = text.value.len() - behind.len();
        let Some((var, behind)) = behind.split_once('}') else {
            let problem = Diagnostic::new("kernel-template", "`{` without its `}`");
            let place = text.place(Span::new(at - 1, text.value.len()));
            return reader.report(problem.label(place, "not closed"));
        };
        if !vars.iter().any(|known| known == var) {
            let place = text.place(Span::new(at, at + var.len()));
            reader.report(unknown_var(var, place, signature, &vars));
        }
        plain.push_str(before);
        plain.push('t');
        rest = behind;
    }
    plain.push_str(rest);
    if is_c && !is_identifier(&plain) {
        let message = format!("`{}` cannot be the symbol of a C function", text.value);
        let label = "expected letters, digits and `_`, no digit in front, and `{T}` for dtypes";
        reader.report(Diagnostic::new("bad-name", message).label(text.span, label));
    }
}

fn unknown_var(var: &str, place: Span, signature: &Signature, vars: &[String]) -> Diagnostic {
    let message = format!("`{var}` is no dtype variable of `{}`", signature.name);
    let problem = Diagnostic::new("kernel-template", message);
    let problem = problem.label(place, "stands for no dtype");
    problem.help(match vars {
        [] => "write the symbol without braces".to_string(),
        vars => format!("the dtype variables are {}", vars.join(", ")),
    })
}

fn read_source(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Source> {
    if let DeValue::Array(items) = value.get_ref() {
        return gpu::files(reader, items).map(Source::Gpu);
    }
    let mut fields =
        reader.table("source", value, "a source", "a table such as `{ host = \"norm.c\" }`")?;
    if gpu::is_file(&fields) {
        let file = gpu::file(reader, fields)?;
        return Some(Source::Gpu(GpuSource::Files(vec![file])));
    }
    if fields.has("cuda") {
        let (include, define, options) = compiler_options(reader, &mut fields);
        return gpu::cuda(reader, fields, include, define, options).map(Source::Gpu);
    }
    let is_later = refuse_later_sources(reader, &fields);
    let host = fields.take("host");
    if host.is_none() && !is_later {
        let help = "name a file that ends in .c, .o or .a";
        reader.missing(&fields, "host", "the source has no `host`", Some(help));
    }
    let host = host.and_then(|value| reader.text("host", value));
    if let Some(host) = &host {
        refuse_c_options(reader, &mut fields, host);
    }
    let (include, define, options) = compiler_options(reader, &mut fields);
    if !is_later {
        fields.finish(reader);
    }
    Some(Source::Host(HostSource { path: reader.path(&host?), include, define, options }))
}

/// What a compiler is told: folders for headers, macros, further options.
fn compiler_options(
    reader: &mut Reader<'_>,
    fields: &mut Fields<'_>,
) -> (Vec<PathBuf>, Vec<(String, String)>, Vec<String>) {
    let include = reader.strings(fields, "include");
    let include = include.iter().map(|folder| reader.path(folder)).collect();
    let options = reader.strings(fields, "options");
    let options = options.iter().map(|option| option.value.to_string()).collect();
    (include, defines(reader, fields), options)
}

/// Reports kinds of sources that later versions have; whether there are any.
fn refuse_later_sources(reader: &mut Reader<'_>, fields: &Fields<'_>) -> bool {
    let found: Vec<_> = LATER_SOURCES.iter().filter(|key| fields.has(key)).collect();
    for key in &found {
        reader.not_yet(key, fields.place(key));
    }
    !found.is_empty()
}

/// Reports options of the C compiler for a file that it does not see.
fn refuse_c_options(reader: &mut Reader<'_>, fields: &mut Fields<'_>, host: &Text<'_>) {
    let extension = Path::new(host.value).extension().and_then(|extension| extension.to_str());
    if !extension.is_some_and(|extension| COMPILED.contains(&extension)) {
        return;
    }
    for key in ["include", "define", "options"].into_iter().filter(|key| fields.has(key)) {
        let message = format!("`{key}` is for C files, and `{}` is none", host.value);
        let problem =
            Diagnostic::new("conflict", message).label(fields.place(key), "has no effect");
        reader.report(problem.help(format!("remove `{key}`")));
    }
}

fn defines(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Vec<(String, String)> {
    let Some(value) = fields.take("define") else { return vec![] };
    let expected = "a table such as `{ W = \"4\" }`";
    let Some(table) = reader.table("define", value, "a define", expected) else { return vec![] };
    let mut defines = Vec::new();
    for (name, span, value) in table.entries() {
        reader.check_identifier("a macro's name", name, span);
        let text = reader.text(name, value);
        defines.extend(text.map(|text| (name.to_string(), text.value.to_string())));
    }
    defines
}
