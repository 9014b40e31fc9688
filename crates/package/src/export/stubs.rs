// SPDX-License-Identifier: Apache-2.0
//! The Python stub file of a package: what a type checker and an editor know of the module that
//! `kernpack.load_module` returns.
//!
//! Functions take keywords there, and several results are a NamedTuple. A module of
//! `tvm_ffi.load_module` has the same functions, without keywords and with a `tvm_ffi.Array`.

use super::{COMPILER, doc_lines};
use crate::package::{EntryPoint, Function, Package, Role};
use kernpack_ffi_abi::DType;
use kernpack_validators::{HostType, Literal, Signature};
use std::collections::{BTreeMap, BTreeSet};

/// Something that the functions of a stub file may name.
struct Name {
    name: &'static str,
    /// Its definition, where it is not imported.
    definition: &'static str,
    /// The imports that it needs: modules and names.
    imports: &'static [(&'static str, &'static str)],
}

const NAMES: &[Name] = &[
    Name {
        name: "_Tensor",
        definition: "class _Tensor(Protocol):
    \"\"\"Any array that speaks DLPack: of PyTorch, NumPy, JAX, or a tvm_ffi.Tensor.\"\"\"

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...
",
        imports: &[("typing", "Any"), ("typing", "Protocol")],
    },
    Name {
        name: "_Result",
        definition:
            "# Made by the environment's allocator: a torch.Tensor where the call had one among its arguments.
_Result: TypeAlias = Any
",
        imports: &[("typing", "Any"), ("typing", "TypeAlias")],
    },
    Name {
        name: "_Pointer",
        definition: "# An address.
_Pointer: TypeAlias = int | c_void_p | None
",
        imports: &[("ctypes", "c_void_p"), ("typing", "TypeAlias")],
    },
    Name {
        name: "_Stream",
        definition: "# A stream's handle, or an object that has `__cuda_stream__`.
_Stream: TypeAlias = Any
",
        imports: &[("typing", "Any"), ("typing", "TypeAlias")],
    },
    Name {
        name: "_DType",
        definition: "# A dtype of PyTorch, NumPy or tvm_ffi, or its name.
_DType: TypeAlias = Any
",
        imports: &[("typing", "Any"), ("typing", "TypeAlias")],
    },
    Name { name: "Callable", definition: "", imports: &[("collections.abc", "Callable")] },
    Name { name: "Sequence", definition: "", imports: &[("collections.abc", "Sequence")] },
    Name { name: "NamedTuple", definition: "", imports: &[("typing", "NamedTuple")] },
    Name { name: "Literal", definition: "", imports: &[("typing", "Literal")] },
];

/// The words that Python keeps for itself: a function of such a name is called through `getattr`.
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// The text of the package's `.pyi` file.
pub fn stubs(package: &Package) -> String {
    let functions: Vec<_> = package.entry_points().iter().map(stub).collect();
    let uses = |name: &str| functions.iter().any(|function| function.code.contains(name));
    let names = || NAMES.iter().filter(|row| uses(row.name));
    let imports: BTreeSet<_> = names().flat_map(|row| row.imports).copied().collect();

    let title =
        format!("# The functions of `{}`, packaged by kernpack {COMPILER}.\n", package.name);
    let imports = import_lines(&imports);
    let definitions = names().map(|row| row.definition.to_string());
    let functions = functions.iter().map(|function| format!("{}{}", function.code, function.body));
    let parts = [title, imports].into_iter().chain(definitions).chain(functions);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// One line a module.
fn import_lines(imports: &BTreeSet<(&str, &str)>) -> String {
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (module, name) in imports {
        modules.entry(module).or_default().push(name);
    }
    let line = |(module, names): (&&str, &Vec<&str>)| {
        format!("from {module} import {}\n", names.join(", "))
    };
    modules.iter().map(line).collect()
}

/// A function's stub, apart from its documentation, which may name anything.
struct Stub {
    code: String,
    body: String,
}

fn stub(EntryPoint { function, role }: &EntryPoint) -> Stub {
    let signature = &function.signature;
    let name = &signature.name;
    if KEYWORDS.contains(&&name[..]) {
        let body = format!("# `{name}` is a word of Python: call `module[\"{name}\"]`.\n");
        return Stub { code: String::new(), body };
    }
    let mut params: Vec<_> = signature
        .arguments()
        .map(|(_, param)| {
            let default = param.default.as_ref().map(|value| match value {
                Literal::DType(dtype) => format!(" = \"{dtype}\""),
                _ => format!(" = {value}"),
            });
            let name = identifier(&param.name);
            format!("{name}: {}{}", python(&param.kind.host_type()), default.unwrap_or_default())
        })
        .collect();
    if *role != Role::Call && !params.is_empty() {
        params.push("/".to_string());
    }
    let Results { definition, name: results } = results(signature, role);
    let code = format!("{definition}def {name}({}) -> {results}:\n", params.join(", "));
    Stub { code, body: docstring(function) }
}

fn identifier(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_string() }
}

/// The type of what a function returns.
struct Results {
    /// Its definition, where it has one of its own.
    definition: String,
    name: String,
}

fn results(signature: &Signature, role: &Role) -> Results {
    let name = match (role, signature.results.len()) {
        (Role::Prepare(_), _) => "Callable[[], None]",
        (Role::Launched(_), _) => "str",
        (_, 0) => "None",
        (_, 1) => "_Result",
        (_, _) => return named_results(signature),
    };
    Results { definition: String::new(), name: name.to_string() }
}

/// The NamedTuple of several results, or a tuple where one has a name that no field can have.
fn named_results(signature: &Signature) -> Results {
    let names = || signature.results.iter().map(|result| &result.name[..]);
    if names().any(|name| name.starts_with('_') || KEYWORDS.contains(&name)) {
        let items = vec!["_Result"; signature.results.len()].join(", ");
        return Results { definition: String::new(), name: format!("tuple[{items}]") };
    }
    let name = format!("_results_of_{}", signature.name);
    let fields: String = names().map(|field| format!("    {field}: _Result\n")).collect();
    Results { definition: format!("class {name}(NamedTuple):\n{fields}\n"), name }
}

/// The type of what a caller passes. Empty where that is nothing.
fn python(host: &HostType) -> String {
    match host {
        HostType::EnvStream => String::new(),
        HostType::Tensor(_) => "_Tensor".to_string(),
        HostType::Int(DType::BOOL) => "bool".to_string(),
        HostType::Int(_) => "int".to_string(),
        HostType::Float(_) => "float".to_string(),
        HostType::String => "str".to_string(),
        HostType::DataType | HostType::Literal(Literal::DType(_)) => "_DType".to_string(),
        HostType::Shape(_) => "Sequence[int]".to_string(),
        HostType::Tuple(elements) if elements.is_empty() => "tuple[()]".to_string(),
        HostType::Tuple(elements) => {
            let elements: Vec<_> = elements.iter().map(|(_, element)| python(element)).collect();
            format!("tuple[{}]", elements.join(", "))
        }
        HostType::Optional(inner) => format!("{} | None", python(inner)),
        HostType::Pointer(_) => "_Pointer".to_string(),
        HostType::Stream => "_Stream".to_string(),
        HostType::Literal(Literal::None) => "None".to_string(),
        HostType::Literal(Literal::Float(_)) => "float".to_string(),
        HostType::Literal(value) => format!("Literal[{value}]"),
    }
}

fn docstring(function: &Function) -> String {
    let doc = function.doc.iter().flat_map(|doc| doc_lines(doc));
    let mut lines: Vec<_> = doc.collect();
    if !lines.is_empty() {
        lines.push(String::new());
    }
    lines.push(function.signature.to_string());
    let lines = lines.iter().map(|line| match &line[..] {
        "" => String::new(),
        line => format!("    {}", line.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")),
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    // A quote in front of those that end the string would end it.
    let end = if text.contains('\n') || text.ends_with('"') { "\n    " } else { "" };
    format!("    \"\"\"{}{end}\"\"\"\n    ...\n", text.trim_start())
}
