// SPDX-License-Identifier: Apache-2.0
//! The kernels of a package in a form that people read, for Python: `kernpack_emit(request, form,
//! function, name, bytes, …)` takes the request of `kernpack_get`, a form of `kernpack emit`, the
//! name of a function, and files in memory. It answers JSON: the `kernels` as of `kernpack emit
//! --json`, or an `error` with its `text` and its `diagnostics`.

use crate::build;
use crate::ffi::{Args, Error, Value};
use kernpack_cache::{Request, Wanted};
use kernpack_cli::emitted::{EmitError, Form, emitted};
use kernpack_compiler::CompileError;
use kernpack_compiler::source::kernel::CodeGenerator;
use kernpack_package::interpret::KernelImages;
use kernpack_render::told;
use kernpack_syntax::{Diagnostics, Texts, Told};
use serde_json::{Value as Json, json};

/// `kernpack_emit`
pub fn emit(args: Args<'_>) -> Result<Value, Error> {
    let mut request = build::request(args.text(0)?)?;
    let (form, function) = (args.text(1)?, args.text(2)?);
    for at in (3..args.len()).step_by(2) {
        request.held.insert(args.text(at)?, args.bytes(at + 1)?.to_vec());
    }
    let form = Form::of(form).ok_or_else(|| Error::value(format!("there is no form `{form}`")))?;
    Ok(Value::Text(answer(&request, form, function).to_string()))
}

fn answer(request: &Request, form: Form, function: &str) -> Json {
    let mut texts = Texts::default();
    let held = request.held.below(&request.base);
    let mut reading = request.package_text().read(&mut texts, &held);
    request.settle_code(&mut reading);
    match &request.archs {
        Wanted::Devices(devices) if !devices.is_empty() => {
            reading.settle_archs(devices, CodeGenerator.has_assembler());
        }
        Wanted::Archs(archs) => _ = reading.overrule_archs(archs),
        Wanted::Written | Wanted::Devices(_) => {}
    }
    let told = Told::of(request.name.clone(), texts);
    if reading.problems.has_errors() {
        return failed(told, reading.problems);
    }
    match emitted(&reading.package, form, Some(function), &held) {
        Ok(parts) => {
            let parts: Vec<_> = parts.into_iter().map(|part| part.json).collect();
            json!({ "kernels": parts })
        }
        Err(EmitError::Compile(CompileError::Problems(problems))) => failed(told, problems),
        Err(EmitError::Compile(error)) => other(&error.to_string()),
        Err(EmitError::Other(message)) => other(&message),
    }
}

fn failed(told: Told, problems: Diagnostics) -> Json {
    let told = told.and(problems);
    json!({ "error": { "text": told::text(&told, false), "diagnostics": told::json(&told) } })
}

fn other(message: &str) -> Json {
    json!({ "error": { "text": message, "diagnostics": [] } })
}
