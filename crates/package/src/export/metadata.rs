// SPDX-License-Identifier: Apache-2.0
//! The record of a package: what it is called, what it was made of and for, what each function
//! takes. As JSON it is what `kernpack inspect` shows and, function by function, what
//! `Module.get_function_metadata` of `tvm_ffi` answers.
//!
//! Its [`FORMAT`] is major.minor. A newer minor adds keys, which an older reader ignores; a newer
//! major changes the meaning of keys, so that an older reader refuses it. Nothing in it depends on
//! the machine that made it, but which assembler there was.

use super::COMPILER;
use super::launch::{LaunchRecord, launch_record};
use crate::image::Image;
use crate::package::{EntryPoint, Function, Package, Role};
use crate::source::GpuSource;
use kernpack_ffi_abi::{DOC_PREFIX, DType, FUNCTION_PREFIX, METADATA_PREFIX, imports};
use kernpack_validators::param::Tensor;
use kernpack_validators::{HostType, Literal, Signature};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The format that this kernpack writes.
pub const FORMAT: Format = Format { major: 1, minor: 3 };

/// The version of the record's keys, written `1.3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Format {
    /// Changes when a key changes its meaning.
    pub major: u32,
    /// Changes when keys are added.
    pub minor: u32,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl From<Format> for String {
    fn from(format: Format) -> String {
        format.to_string()
    }
}

impl TryFrom<String> for Format {
    type Error = String;

    fn try_from(text: String) -> Result<Format, String> {
        let numbers = text.split_once('.').and_then(|(major, minor)| {
            Some(Format { major: u32::from_str(major).ok()?, minor: u32::from_str(minor).ok()? })
        });
        numbers.ok_or_else(|| format!("`{text}` is no format, expected one such as `{FORMAT}`"))
    }
}

/// The contents of a package.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The version of these keys.
    pub format: Format,
    /// The package's name.
    pub package: String,
    /// The version of kernpack that made it.
    pub compiler: String,
    /// The hosts that it runs on.
    pub targets: Vec<String>,
    /// The SHA-256 of its sources, in hexadecimal.
    pub sources: String,
    /// The global symbols that it defines.
    pub exports: Vec<String>,
    /// The symbols that its code needs of libtvm_ffi and of the C library.
    #[serde(default)]
    pub imports: Imports,
    /// The symbols that its users' objects need, beyond those of libtvm_ffi and the C library that
    /// any package may.
    pub undefined: Vec<String>,
    /// The sonames of the libraries that its shared object loads first.
    pub libraries: Vec<String>,
    /// The functions, `_out` twins among them.
    pub functions: Vec<FunctionRecord>,
}

/// Imports that any package may need, by the library they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imports {
    /// The functions of libtvm_ffi.
    pub libtvm_ffi: Vec<String>,
    /// The functions of the C library.
    pub libc: Vec<String>,
}

impl Imports {
    /// Those of the needed symbols that any package may need.
    pub fn of(needs: &[String]) -> Imports {
        let all_of = |listed: &dyn Fn(&str) -> bool| {
            needs.iter().filter(|name| listed(name)).cloned().collect()
        };
        Imports {
            libtvm_ffi: all_of(&|name| {
                imports::LIBTVM_FFI.iter().any(|import| import.symbol == name)
            }),
            libc: all_of(&|name| imports::LIBC.contains(&name)),
        }
    }
}

/// A function, as the record has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionRecord {
    /// Its name, as `tvm_ffi` looks it up.
    pub name: String,
    /// The full text, which parses back.
    pub signature: String,
    /// The text that messages show.
    pub short: String,
    /// Its documentation.
    pub doc: Option<String>,
    /// The names of its arguments, in order.
    pub args: Vec<String>,
    /// The values of the arguments that may be left out, for those who call by keyword.
    pub defaults: Map<String, Value>,
    /// The results, each with its type.
    pub results: Vec<String>,
    /// The memory that a call allocates, each with its type.
    pub workspaces: Vec<String>,
    /// The launches of a call.
    pub launches: Vec<LaunchRecord>,
    /// How launches on a GPU are submitted, where there are any: a word of package files. Formats
    /// before 1.2 do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<String>,
}

/// The part of a record that the package itself does not say.
#[derive(Clone, Copy, Debug)]
pub struct RecordContext<'c> {
    /// The name of the target.
    pub target: &'c str,
    /// The bytes of every source's object or archive, in order.
    pub sources: &'c [&'c [u8]],
    /// The symbols that users' objects need beyond what every package may.
    pub undefined: &'c [String],
    /// The sonames of the libraries that the shared object loads first.
    pub libraries: &'c [String],
    /// The images of each source whose kernels run on a GPU.
    pub images: &'c [(&'c GpuSource, &'c [Image])],
}

/// The record of a package, without its imports: what code needs is known when there is code.
pub fn record(package: &Package, context: &RecordContext<'_>) -> Record {
    let entry_points = package.entry_points();
    let described = entry_points.iter().filter(|entry_point| entry_point.role == Role::Call);
    let described = described.map(|entry_point| &entry_point.function);
    Record {
        format: FORMAT,
        package: package.name.clone(),
        compiler: COMPILER.to_string(),
        targets: vec![context.target.to_string()],
        sources: digest(context.sources),
        exports: entry_points.iter().flat_map(exports).collect(),
        imports: Imports::default(),
        undefined: context.undefined.to_vec(),
        libraries: context.libraries.to_vec(),
        functions: described.map(|function| function_record(package, function, context)).collect(),
    }
}

/// The answer of `__tvm_ffi__metadata_<name>`: the types, as `tvm_ffi` reads them, and under
/// `kernpack` the function's part of the record.
///
/// The types come as `named_args`, as TVM-FFI 0.1.14 and later write them. Earlier versions had
/// them as `args`, the result's first, which newer ones still read, but not of a function without
/// arguments.
pub fn function_metadata(function: &Function, record: &Record) -> String {
    let mut kernpack = json!({
        "format": record.format,
        "package": record.package,
        "compiler": record.compiler,
        "targets": record.targets,
        "sources": record.sources,
    });
    let own = record.functions.iter().find(|known| known.name == function.signature.name);
    let own = own.expect("the record is of the function's package");
    let own = serde_json::to_value(own).expect("a record has text keys only");
    if let (Value::Object(keys), Value::Object(own)) = (&mut kernpack, own) {
        keys.extend(own);
    }
    json!({ "type_schema": type_schema(&function.signature).to_string(), "kernpack": kernpack })
        .to_string()
}

/// The digest of the sources; each goes in after its length, so that bytes cannot move from one to
/// the next unseen.
fn digest(sources: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for source in sources {
        hasher.update((source.len() as u64).to_le_bytes());
        hasher.update(source);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The symbols of a function. What comes with functions is described by theirs.
fn exports(EntryPoint { function, role }: &EntryPoint) -> Vec<String> {
    let name = &function.signature.name;
    let is_described = *role == Role::Call;
    let mut prefixes = vec![FUNCTION_PREFIX];
    prefixes.extend(is_described.then_some(METADATA_PREFIX));
    prefixes.extend((is_described && function.doc.is_some()).then_some(DOC_PREFIX));
    prefixes.iter().map(|prefix| format!("{prefix}{name}")).collect()
}

fn function_record(
    package: &Package,
    function: &Function,
    context: &RecordContext<'_>,
) -> FunctionRecord {
    let signature = &function.signature;
    let args: Vec<_> = signature.arguments().map(|(_, param)| param).collect();
    let defaults =
        args.iter().filter_map(|arg| Some((arg.name.clone(), json!(arg.default.as_ref()?))));
    let results = &signature.results;
    let workspaces = &function.workspaces;
    let launches = function.launches.iter();
    FunctionRecord {
        name: signature.name.clone(),
        signature: signature.to_string(),
        short: signature.short(),
        doc: function.doc.clone(),
        args: args.iter().map(|arg| arg.name.clone()).collect(),
        defaults: defaults.collect(),
        results: results.iter().map(|result| slot(&result.name, &result.tensor)).collect(),
        workspaces: workspaces.iter().map(|space| slot(&space.name, &space.tensor)).collect(),
        launches: launches.map(|launch| launch_record(launch, context.images)).collect(),
        submit: function.submits().then(|| package.submit_of(function).to_string()),
    }
}

/// `y: Tensor([m], float32)`
fn slot(name: &str, tensor: &Tensor) -> String {
    let signature = Signature::new("").param(name, tensor.clone()).to_string();
    let param = signature.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    param.expect("parameters stand in parentheses").to_string()
}

/// The type of the function, as `tvm_ffi` describes types.
fn type_schema(signature: &Signature) -> Value {
    let result = match signature.results.len() {
        0 => leaf("None"),
        1 => leaf("ffi.Tensor"),
        n => node("Tuple", (0..n).map(|_| leaf("ffi.Tensor"))),
    };
    let params = signature.arguments().map(|(_, param)| host_schema(&param.kind.host_type()));
    let params: Vec<_> = params.flatten().collect();
    json!({ "type": "ffi.Function", "named_args": { "return": [result], "params": params } })
}

/// The type of an argument; `None` where there is no argument.
fn host_schema(host: &HostType) -> Option<Value> {
    Some(match host {
        HostType::EnvStream => return None,
        HostType::Tensor(_) => leaf("ffi.Tensor"),
        HostType::Int(DType::BOOL) | HostType::Literal(Literal::Bool(_)) => leaf("bool"),
        HostType::Int(_) | HostType::Literal(Literal::Int(_)) => leaf("int"),
        HostType::Float(_) | HostType::Literal(Literal::Float(_)) => leaf("float"),
        HostType::Literal(Literal::None) => leaf("None"),
        HostType::String | HostType::Literal(Literal::Text(_)) => leaf("ffi.String"),
        HostType::DataType | HostType::Literal(Literal::DType(_)) => leaf("DataType"),
        HostType::Shape(_) => leaf("ffi.Shape"),
        HostType::Pointer(_) | HostType::Stream => leaf("void*"),
        HostType::Optional(inner) => node("Optional", host_schema(inner)),
        HostType::Tuple(elements) => {
            node("Tuple", elements.iter().filter_map(|(_, element)| host_schema(element)))
        }
    })
}

fn leaf(name: &str) -> Value {
    json!({ "type": name })
}

fn node(name: &str, args: impl IntoIterator<Item = Value>) -> Value {
    json!({ "type": name, "args": args.into_iter().collect::<Vec<_>>() })
}
