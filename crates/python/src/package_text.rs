// SPDX-License-Identifier: Apache-2.0
//! Package files as Python describes them: values as JSON become TOML, in their order.
//!
//! In JSON, `{"table": {…}}` is a table, and `{"int": "…"}` an integer of any size: that it is too
//! large is for the reader of the text to say, where it stands.
//!
//! The text is the package's identity in the cache, and what messages show: the same values give
//! the same bytes. Texts of several lines stay so. Not here: which keys there are, and what they
//! mean; who reads the text says what is wrong with it.

use crate::ffi::{Args, Error, Value};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// A package: the keys of its tables, those of null left out.
#[derive(Deserialize)]
struct Package {
    package: Map<String, Json>,
    functions: Vec<Function>,
}

/// A function, with its launches.
#[derive(Deserialize)]
struct Function {
    keys: Map<String, Json>,
    launches: Vec<Map<String, Json>>,
}

/// `kernpack_write(package) -> str`
pub fn write(args: Args<'_>) -> Result<Value, Error> {
    let package: Package =
        serde_json::from_str(args.text(0)?).map_err(|error| Error::value(error.to_string()))?;
    let mut text = "[package]\n".to_string();
    write_keys(&package.package, &mut text);
    for Function { keys, launches } in &package.functions {
        text.push_str("\n[[function]]\n");
        write_keys(keys, &mut text);
        for launch in launches {
            text.push_str("\n[[function.launch]]\n");
            write_keys(launch, &mut text);
        }
    }
    Ok(Value::Text(text))
}

fn write_keys(keys: &Map<String, Json>, text: &mut String) {
    for (key, value) in keys.iter().filter(|(_, value)| !value.is_null()) {
        *text += &format!("{key} = {}\n", toml(value));
    }
}

/// A value as TOML has it, which has no null.
fn toml(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => format!("[{}]", joined(items.iter().map(toml))),
        Json::Object(tagged) => match (tagged.get("int"), tagged.get("table")) {
            (Some(Json::String(digits)), _) => digits.clone(),
            (_, Some(Json::Object(table))) => {
                let pair =
                    |(name, value): (&String, &Json)| format!("{} = {}", key(name), toml(value));
                format!("{{ {} }}", joined(table.iter().map(pair)))
            }
            _ => String::new(),
        },
    }
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

/// A key, bare where it may be.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_string(),
        false => escaped(name),
    }
}

/// A text: one of several lines stays so, for messages to show.
fn quoted(text: &str) -> String {
    let is_shown = |c: char| matches!(c, '\n' | '\t') || c >= ' ' && c != '\x7f';
    match text.contains('\n') && !text.contains("'''") && text.chars().all(is_shown) {
        true => format!("'''\n{text}'''"),
        false => escaped(text),
    }
}

/// A text in one line. TOML has the escapes of JSON, and wants one more.
fn escaped(text: &str) -> String {
    Json::from(text).to_string().replace('\x7f', "\\u007f")
}
