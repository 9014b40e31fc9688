// SPDX-License-Identifier: Apache-2.0
//! `source = …`: where a kernel comes from, written as a file of one kind and what is said beside
//! it, or as a list of files of GPU code. Not here: whether the files exist, and what is in them.

use super::fields::{Fields, Reader, Value, quoted};
use super::launch::misplace_in_source;
use super::{c_option, owned, triton};
use crate::image::ImageKind;
use crate::kernel_file::{KernelFile, KernelTarget};
use crate::source::{CudaSource, GpuFile, GpuSource, HostSource};
use kernpack_machine::Arch;
use kernpack_syntax::{Diagnostic, Placed, Snippet};
use std::path::{Path, PathBuf};
use toml::de::DeValue;

/// A source, which says where the launches of its kernels run.
pub(super) enum Source {
    /// Of functions of the host.
    Host(HostSource),
    /// Of kernels for GPUs.
    Gpu(GpuSource),
    /// Of kernels for GPUs, with Triton's JSON.
    Triton(Vec<GpuFile>),
    /// Of kernels for GPUs that are written here.
    Kernel(KernelFile),
}

impl Source {
    /// Of these files of GPU code.
    fn of_files(files: Vec<GpuFile>) -> Source {
        match files.iter().any(|file| file.triton.is_some()) {
            true => Source::Triton(files),
            false => Source::Gpu(GpuSource::Files(files)),
        }
    }
}

/// The kind of a source's file.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Functions of the C ABI.
    Host,
    /// CUDA C++.
    Cuda,
    /// Compiled GPU code.
    Image(ImageKind),
    /// Kernels that are written here.
    Kernel,
}

/// Every kind of source, by the key that names its file.
const KINDS: &[(&str, Kind)] = &[
    ("host", Kind::Host),
    ("cuda", Kind::Cuda),
    ("cubin", Kind::Image(ImageKind::Cubin)),
    ("fatbin", Kind::Image(ImageKind::Fatbin)),
    ("ptx", Kind::Image(ImageKind::Ptx)),
    (triton::KEY, Kind::Image(ImageKind::Cubin)),
    ("kernel", Kind::Kernel),
];

/// The keys that stand beside a file, of one kind or another.
const OPTIONS: &[&str] =
    &["include", "define", "options", "arch", "line_info", "asserts", "checked", "json"];

/// The endings of host files whose code is made already.
const COMPILED: &[&str] = &["o", "a"];

/// Reads a source.
pub(super) fn read(reader: &mut Reader<'_>, value: &Value<'_>) -> Option<Source> {
    if let DeValue::Array(items) = value.get_ref() {
        return files(reader, value, items).map(Source::of_files);
    }
    let mut fields =
        reader.table("source", value, "a source", "a table such as `{ host = \"norm.c\" }`")?;
    misplace_in_source(&mut fields);
    let (key, kind, fields) = kind(reader, fields, |_| true)?;
    match kind {
        Kind::Host => host(reader, fields).map(Source::Host),
        Kind::Cuda => cuda(reader, fields).map(Source::Gpu),
        Kind::Image(image) => {
            file(reader, fields, key, image).map(|file| Source::of_files(vec![file]))
        }
        Kind::Kernel => kernel(reader, fields).map(Source::Kernel),
    }
}

/// Whether a source, which perhaps cannot be read, names a file of Triton's.
pub(super) fn is_triton(value: &Value<'_>) -> bool {
    match value.get_ref() {
        DeValue::Array(items) => items.iter().any(is_triton),
        DeValue::Table(table) => table.keys().any(|key| key.get_ref() == triton::KEY),
        _ => false,
    }
}

/// The one kind of a source, with the key of its file. Nothing where the source has several kinds
/// or none. Where it has none, those that `fits` accepts are proposed.
fn kind<'t>(
    reader: &mut Reader<'_>,
    mut fields: Fields<'t>,
    fits: impl Fn(Kind) -> bool,
) -> Option<(&'static str, Kind, Fields<'t>)> {
    let mut named: Vec<_> = KINDS.iter().copied().filter(|(key, _)| fields.has(key)).collect();
    named.sort_by_key(|(key, _)| fields.place(key).start);
    if named.len() > 1 {
        // The file is named by another key, so this one is meant as that of a launch.
        named.retain(|(_, kind)| *kind != Kind::Kernel);
    }
    match named[..] {
        [] => {
            let kinds = KINDS.iter().filter(|(_, kind)| fits(*kind));
            names_no_file(reader, fields, kinds.map(|(key, _)| *key).collect());
            None
        }
        [(key, kind)] => {
            fields.take(key);
            Some((key, kind, fields))
        }
        [_, (second, _), ..] => {
            let problem = Diagnostic::new("conflict", "a source names two files");
            let problem = problem.label(fields.place(second), "the second");
            let help = "remove one; for several devices, write a list: `source = [{ cubin = \"…\" }, { ptx = \"…\" }]`";
            reader.report(problem.help(help));
            None
        }
    }
}

/// Reports a source without a file, which one of `kinds` would name: the keys that should perhaps
/// do that, or else that there is none.
fn names_no_file(reader: &mut Reader<'_>, mut fields: Fields<'_>, kinds: Vec<&'static str>) {
    let options: Vec<_> = OPTIONS.iter().copied().filter(|key| fields.has(key)).collect();
    for key in kinds.iter().chain(&options) {
        fields.take(key);
    }
    if !fields.has_unknown() {
        let problem = Diagnostic::new("missing-key", "the source names no file");
        reader.report(problem.label(fields.span, format!("expected one of {}", quoted(&kinds))));
    }
    fields.finish(reader);
}

/// Functions of the C ABI: `{ host = "norm.c", include = ["."] }`, or of several files, `{ host =
/// ["norm.c", "sum.o"] }`.
fn host(reader: &mut Reader<'_>, mut fields: Fields<'_>) -> Option<HostSource> {
    let files = host_files(reader, fields.take("host")?);
    if let Some(files) = &files {
        refuse_c_options(reader, &mut fields, files);
    }
    let CompilerOptions { include, define, options } = compiler_options(reader, &mut fields);
    let options = options.into_iter().map(|option| option.value).collect();
    fields.finish(reader);
    let paths = files?.iter().map(|file| reader.path(file)).collect();
    Some(HostSource { paths, include, define, options })
}

/// One file, or a list of at least one, each once.
fn host_files<'t>(reader: &mut Reader<'_>, value: &'t Value<'t>) -> Option<Vec<Snippet<'t>>> {
    let DeValue::Array(items) = value.get_ref() else {
        return reader.text("host", value).map(|file| vec![file]);
    };
    if items.is_empty() {
        let problem = Diagnostic::new("bad-value", "`host` is an empty list");
        reader.report(problem.label(reader.span_of(value.span()), "expected at least one file"));
        return None;
    }
    let files = reader.texts("host", value);
    for (at, file) in files.iter().enumerate() {
        if files[..at].iter().any(|other| other.text == file.text) {
            let problem =
                Diagnostic::new("conflict", format!("`host` names `{}` twice", file.text));
            reader.report(problem.label(file.span, "the second").help("remove one"));
        }
    }
    (files.len() == items.len()).then_some(files)
}

/// Reports options of the C compiler that cannot serve, and any for files of which it sees none.
fn refuse_c_options(reader: &mut Reader<'_>, fields: &mut Fields<'_>, files: &[Snippet<'_>]) {
    let is_compiled = |file: &Snippet<'_>| {
        let extension = Path::new(file.text).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| COMPILED.contains(&extension))
    };
    if !files.iter().all(is_compiled) {
        if let Some(options) = fields.take("options") {
            c_option::check(reader, options);
        }
        return;
    }
    for key in ["include", "define", "options"].into_iter().filter(|key| fields.has(key)) {
        let message = match files {
            [file] => format!("`{key}` is for C files, and `{}` is none", file.text),
            _ => format!("`{key}` is for C files, and none is among the files of `host`"),
        };
        let problem =
            Diagnostic::new("conflict", message).label(fields.place(key), "has no effect");
        reader.report(problem.help(format!("remove `{key}`")));
    }
}

/// CUDA C++: `{ cuda = "norm.cu", arch = ["sm_90a", "compute_80"], line_info = true }`.
fn cuda(reader: &mut Reader<'_>, mut fields: Fields<'_>) -> Option<GpuSource> {
    let path = reader.string(&mut fields, "cuda").map(|text| reader.path(&text));
    let CompilerOptions { include, define, options } = compiler_options(reader, &mut fields);
    let line_info = fields.take("line_info").map(|value| reader.truth("line_info", value));
    let archs = match fields.take("arch") {
        Some(value) => archs(reader, value, Arch::OLDEST),
        None => Some(vec![Arch::OLDEST.into()]),
    };
    fields.finish(reader);
    let line_info = line_info.unwrap_or(Some(false))?;
    let source = CudaSource { path: path?, include, define, options, line_info };
    Some(GpuSource::Cuda(source, archs?))
}

/// Kernels that are written here: `{ kernel = "norm.py", arch = ["sm_90a", "compute_80"] }`.
fn kernel(reader: &mut Reader<'_>, mut fields: Fields<'_>) -> Option<KernelFile> {
    let path = reader.string(&mut fields, "kernel").map(|text| reader.path(&text));
    let line_info = fields.take("line_info").map(|value| reader.truth("line_info", value));
    let asserts = fields.take("asserts").map(|value| reader.truth("asserts", value));
    let checked = fields.take("checked").map(|value| reader.truth("checked", value));
    let archs = fields.take("arch").map(|value| archs(reader, value, Arch::OLDEST_OF_KERNELS));
    fields.finish(reader);
    let (line_info, asserts) = (line_info.unwrap_or(Some(false))?, asserts.unwrap_or(Some(true))?);
    let checked = checked.unwrap_or(Some(false))?;
    let target = match archs {
        Some(archs) => KernelTarget::Nvptx(archs?),
        None => KernelTarget::default(),
    };
    Some(KernelFile { target, line_info, asserts, checked, ..KernelFile::new(path?) })
}

/// The architectures that CUDA C++ is compiled for: at least one architecture, each once.
fn archs(reader: &mut Reader<'_>, value: &Value<'_>, oldest: Arch) -> Option<Vec<Placed<Arch>>> {
    if matches!(value.get_ref(), DeValue::Array(items) if items.is_empty()) {
        let problem = Diagnostic::new("bad-value", "`arch` is an empty list");
        let problem =
            problem.label(reader.span_of(value.span()), "expected at least one architecture");
        reader.report(problem.help(format!("leave `arch` out to compile for `{oldest}`")));
        return None;
    }
    let mut archs = Vec::new();
    for text in reader.texts("arch", value) {
        let arch = arch(reader, &text);
        if arch.is_some() && archs.contains(&arch) {
            let problem =
                Diagnostic::new("conflict", format!("`arch` names `{}` twice", text.text));
            reader.report(problem.label(text.span, "the second").help("remove one"));
        }
        archs.push(arch);
    }
    archs.into_iter().collect()
}

fn arch(reader: &mut Reader<'_>, text: &Snippet<'_>) -> Option<Placed<Arch>> {
    let parsed = text.text.parse::<Arch>();
    if let Err(error) = &parsed {
        let problem = Diagnostic::new("bad-value", error.to_string());
        reader.report(problem.label(text.span, "no architecture"));
    }
    parsed.ok().map(|arch| Placed::new(arch, text.span))
}

/// The options of a compiler: folders for headers, macros, further options.
struct CompilerOptions {
    include: Vec<PathBuf>,
    define: Vec<(String, String)>,
    options: Vec<Placed<String>>,
}

fn compiler_options(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> CompilerOptions {
    let include = reader.strings(fields, "include");
    let include = include.iter().map(|folder| reader.path(folder).value).collect();
    let define = defines(reader, fields);
    let options = reader.strings(fields, "options");
    let options = options.iter().map(owned).collect();
    CompilerOptions { include, define, options }
}

fn defines(reader: &mut Reader<'_>, fields: &mut Fields<'_>) -> Vec<(String, String)> {
    let Some(value) = fields.take("define") else { return vec![] };
    let expected = "a table such as `{ W = \"4\" }`";
    let Some(table) = reader.table("define", value, "a define", expected) else { return vec![] };
    let mut defines = Vec::new();
    for (name, span, value) in table.entries() {
        reader.check_identifier("a macro's name", name, span);
        let text = reader.text(name, value);
        defines.extend(text.map(|text| (name.to_string(), text.text.to_string())));
    }
    defines
}

/// A list of files of GPU code, at least one.
fn files(reader: &mut Reader<'_>, value: &Value<'_>, items: &[Value<'_>]) -> Option<Vec<GpuFile>> {
    if items.is_empty() {
        let problem = Diagnostic::new("bad-value", "`source` is an empty list");
        let label = "expected at least one file of GPU code";
        reader.report(problem.label(reader.span_of(value.span()), label));
        return None;
    }
    let files: Vec<_> = items.iter().map(|item| listed_file(reader, item)).collect();
    files.into_iter().collect()
}

/// An item of such a list.
fn listed_file(reader: &mut Reader<'_>, item: &Value<'_>) -> Option<GpuFile> {
    let expected = "a table such as `{ cubin = \"a.cubin\" }`";
    let fields = reader.table("source", item, "a source", expected)?;
    match kind(reader, fields, |kind| matches!(kind, Kind::Image(_)))? {
        (key, Kind::Image(image), fields) => file(reader, fields, key, image),
        (_, kind, _) => {
            let message = "a list of sources has files of GPU code only";
            let problem = Diagnostic::new("value-type", message);
            let problem =
                problem.label(reader.span_of(item.span()), format!("expected {expected}"));
            reader.report(match kind {
                Kind::Host => problem.help("write one source: `{ host = [\"a.c\", \"b.c\"] }`"),
                _ => problem,
            });
            None
        }
    }
}

/// A file of GPU code: `{ cubin = "a.cubin", arch = "sm_90a" }`.
fn file(
    reader: &mut Reader<'_>,
    mut fields: Fields<'_>,
    key: &'static str,
    kind: ImageKind,
) -> Option<GpuFile> {
    let path = reader.string(&mut fields, key).map(|text| reader.path(&text));
    let text = reader.string(&mut fields, "arch");
    let arch = text.and_then(|text| arch(reader, &text));
    let json = (key == triton::KEY).then(|| triton::json(reader, &mut fields, path.as_ref()));
    fields.finish(reader);
    let triton = if let Some(json) = json { Some(json?) } else { None };
    Some(GpuFile { path: path?, kind, arch, triton })
}

#[cfg(test)]
mod tests;
