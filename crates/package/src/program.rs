// SPDX-License-Identifier: Apache-2.0
//! Programs: a function of a running Python program with all that it uses, as the text of a
//! package.
//!
//! The text is JSON. It has the package's name and sources, each of which uses only those before
//! it; the packed function is the one of the last:
//!
//! ```json
//! {"package": "scale", "sources": [
//!   {"role": "kernel", "text": "@kp.kernel\ndef k(x): …", "names": {"kp": {"kernpack": null}, "N": {"int": "4"}}},
//!   {"role": "packed", "text": "…", "names": {"k": {"function": [0, "k"]}}, "signature": "scale(…)",
//!    "workspaces": [["ws", "Tensor([n], uint8)"]], "is_made": false, "is_strict": false}
//! ]}
//! ```
//!
//! Several functions are the text of the first with the others beside its sources, `"joined":
//! [{…}]`, each a program of its own.
//!
//! A source is what it says and what it captures. Where it stands, its path and first line, comes
//! beside the text ([`Place`]), as the same functions somewhere else are the same package. Not
//! here: who writes such texts (`python/kernpack/_program.py`).

use kernpack_ffi_abi::DType;
use kernpack_kernel_lang::builtin::cute;
use kernpack_kernel_lang::file::{Captured, Checks, Role, Said, Source, SourceId, Sources, Unheld};
use kernpack_kernel_lang::integer::Integer;
use kernpack_kernel_lang::layout;
use kernpack_kernel_lang::python;
use kernpack_kernel_lang::python::free::{self, Path};
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::path::PathBuf;
use std::sync::Arc;

/// Where a source stands: its file, and the line that it begins in, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Place(pub PathBuf, pub u32);

/// A program.
#[derive(Debug, Deserialize)]
pub struct Program {
    /// The name of the package.
    pub package: String,
    sources: Vec<Part>,
    /// Others, whose functions are in the same package.
    #[serde(default)]
    joined: Vec<Program>,
}

/// A source of a program.
#[derive(Debug, Deserialize)]
struct Part {
    role: PartRole,
    text: String,
    names: Map<String, Json>,
    signature: Option<String>,
    #[serde(default)]
    workspaces: Vec<(String, String)>,
    #[serde(default)]
    is_made: bool,
    #[serde(default)]
    is_strict: bool,
    /// Whether the first parameter is an object that the program gives, which is among the names.
    #[serde(default)]
    is_method: bool,
}

/// The kinds of functions that a program has.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PartRole {
    Kernel,
    Device,
    Jit,
    Packed,
}

impl Program {
    /// Reads the text of a program.
    ///
    /// # Errors
    /// What is wrong with it, which is a mistake of who wrote it.
    pub fn parse(text: &str) -> Result<Program, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Of each of its sources, and of those that are joined with it, the text, if kernels run it.
    pub fn run_by_kernels(&self) -> impl Iterator<Item = Option<&str>> {
        let parts = self.all().flat_map(|program| &program.sources);
        parts.map(|part| match part.role {
            PartRole::Kernel | PartRole::Device | PartRole::Jit => Some(&part.text[..]),
            PartRole::Packed => None,
        })
    }

    /// The texts of its sources, and of those that are joined with it.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.all().flat_map(|program| &program.sources).map(|part| &part.text[..])
    }

    /// It, and those that are joined with it.
    fn all(&self) -> impl Iterator<Item = &Program> {
        std::iter::once(self).chain(&self.joined)
    }

    /// The sources of each function, in a table, and the last of them. Places are those of all
    /// sources, in order.
    ///
    /// # Errors
    /// What is wrong with the values that they capture.
    pub fn sources(&self, mut places: &[Place]) -> Result<Vec<(Sources, SourceId)>, String> {
        let sources = self.all().map(|program| {
            let (own, others) = places.split_at(program.sources.len().min(places.len()));
            places = others;
            program.own_sources(own)
        });
        sources.collect()
    }

    fn own_sources(&self, places: &[Place]) -> Result<(Sources, SourceId), String> {
        let (mut sources, mut ids) = (Sources::default(), Vec::new());
        for (number, part) in self.sources.iter().enumerate() {
            let Place(path, line) =
                places.get(number).cloned().unwrap_or(Place("<program>".into(), 1));
            let mut source = Source::new(path, &part.text[..]).at_line(line).being(part.role()?);
            source.is_method = part.is_method;
            for (name, value) in &part.names {
                source = source.capturing(&name[..], captured(value, &ids)?);
            }
            ids.push(sources.add(source));
        }
        let root = ids.pop().ok_or("there is no source")?;
        Ok((sources, root))
    }
}

impl Part {
    fn role(&self) -> Result<Role, String> {
        Ok(match self.role {
            PartRole::Kernel => Role::Kernel,
            PartRole::Device => Role::Device,
            PartRole::Jit => Role::Jit,
            PartRole::Packed => {
                let signature = self.signature.as_deref().ok_or("there is no signature")?.into();
                let workspace = |(name, tensor): &(String, String)| {
                    (Arc::from(&name[..]), Arc::from(&tensor[..]))
                };
                let workspaces = self.workspaces.iter().map(workspace).collect();
                let Part { is_made, is_strict, .. } = *self;
                // What is compiled says it of the whole program.
                let checks = Checks::default();
                Role::Packed(Said { signature, workspaces, is_made, is_strict, checks })
            }
        })
    }
}

/// The names that the functions of a text use and do not bind, each with the attributes behind it;
/// none where the text is no Python. The object of a
/// method is among them.
pub fn names(text: &str, is_method: bool) -> Vec<Vec<String>> {
    let block = python::parse(text.into()).unwrap_or_default();
    let path = |path: Path| path.iter().map(ToString::to_string).collect();
    free::paths(&block, is_method).into_iter().map(path).collect()
}

/// What to do for a name of CuTe DSL's, or for a path of one, with points in it.
pub fn foreign_help(path: &str) -> Option<String> {
    cute::help_of(path)
}

/// A captured value, which may be a function of a source before it.
fn captured(value: &Json, sources: &[SourceId]) -> Result<Captured, String> {
    let wrong = || format!("no value: {value}");
    Ok(match value {
        Json::Null => Captured::None,
        Json::Bool(truth) => Captured::Bool(*truth),
        Json::String(text) => Captured::Text(text[..].into()),
        Json::Array(items) => {
            let items = items.iter().map(|item| captured(item, sources));
            Captured::tuple(items.collect::<Result<Vec<_>, _>>()?)
        }
        Json::Object(tagged) => {
            let (tag, of) = tagged.iter().next().ok_or_else(wrong)?;
            self::tagged(tag, of, sources)?.ok_or_else(wrong)?
        }
        Json::Number(_) => return Err(wrong()),
    })
}

/// A value with its kind in front: `{"int": "4"}`.
fn tagged(tag: &str, of: &Json, sources: &[SourceId]) -> Result<Option<Captured>, String> {
    let value = match (tag, of) {
        ("kernpack", Json::Null) => Some(Captured::Kernpack),
        ("record", Json::Array(fields)) => Some(record(fields, sources)?),
        ("function", Json::Array(of)) => function(of, sources),
        ("unheld", Json::Array(words)) => unheld(words),
        (_, Json::String(text)) => of_text(tag, text),
        _ => None,
    };
    Ok(value)
}

fn of_text(tag: &str, text: &str) -> Option<Captured> {
    Some(match tag {
        "int" => Captured::Int(Integer::parse(text)?),
        // By its bits.
        "float" => Captured::Float(f64::from_bits(text.parse().ok()?)),
        "dtype" => Captured::DType(DType::parse(text)?),
        "member" => Captured::Member(text.into()),
        "layout" => {
            let (layout, swizzle) = layout::parse_constant(text)?;
            Captured::Layout(layout, swizzle)
        }
        "swizzle" => Captured::Swizzle(layout::parse_swizzle(text)?),
        _ => return None,
    })
}

/// `[["name", value], …]`
fn record(fields: &[Json], sources: &[SourceId]) -> Result<Captured, String> {
    let field = |field: &Json| match field.as_array().map(Vec::as_slice) {
        Some([Json::String(name), value]) => {
            Ok((Some(Arc::from(&name[..])), captured(value, sources)?))
        }
        _ => Err(format!("no field: {field}")),
    };
    Ok(Captured::Tuple(fields.iter().map(field).collect::<Result<_, _>>()?))
}

fn function(of: &[Json], sources: &[SourceId]) -> Option<Captured> {
    let [number, Json::String(name)] = of else { return None };
    let number = usize::try_from(number.as_u64()?).ok()?;
    Some(Captured::Function(*sources.get(number)?, name[..].into()))
}

fn unheld(words: &[Json]) -> Option<Captured> {
    let [Json::String(what), Json::String(instead)] = words else { return None };
    Some(Captured::Foreign(Arc::new(Unheld { what: what.clone(), instead: instead.clone() })))
}
