// SPDX-License-Identifier: Apache-2.0
//! The C header of a package: for each function the entry point, and a plain C function over it,
//! `static inline`, with a typed argument for every parameter and the message in a buffer of the
//! caller's.
//!
//! It needs no other header and no object of TVM-FFI's making: what an entry point takes as an
//! object (a Shape, a Tuple, an integer beyond 2^63) is laid out on the caller's stack. That is
//! sound as entry points only read their arguments. A value that may be absent is a pointer
//! that may be NULL; literals are no parameters, the wrapper passes them.

use super::c_name::identifiers;
use super::{COMPILER, doc_lines};
use crate::package::{EntryPoint, Function, Package, Role};
use kernpack_ffi_abi::{DType, FUNCTION_PREFIX};
use kernpack_syntax::quote;
use kernpack_validators::dim::Rank;
use kernpack_validators::{HostType, Literal, float_text};
use std::collections::HashSet;
use std::fmt::Write;

/// The beginning of every header: types, and the making of values.
const PRELUDE: &str = include_str!("prelude.h");

/// The text of the package's header.
pub fn header(package: &Package) -> String {
    let mut header = Header { package: &package.name, text: String::new(), tags: HashSet::new() };
    header.open();
    for entry_point in package.entry_points() {
        header.entry_point(&entry_point);
    }
    header.close();
    header.text
}

/// A header as it is written.
struct Header<'p> {
    package: &'p str,
    text: String,
    /// The tags of the structs so far.
    tags: HashSet<String>,
}

impl Header<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn open(&mut self) {
        let package = self.package;
        self.line(&format!("/* The functions of `{package}`, packaged by kernpack {COMPILER}."));
        self.line(&format!(
            " *
 * `{FUNCTION_PREFIX}<name>` is the entry point, for `tvm::ffi::Function::InvokeExternC` and its like. `{package}_<name>` calls
 * it: it returns 0, or -1 with \"Kind: message\" in `message`, cut to `message_size` bytes and ended by a zero. Pointers to what a
 * function may do without can be NULL. Link with the package and with libtvm_ffi.
 */"
        ));
        self.line(&format!("#ifndef KERNPACK_PACKAGE_{package}_H"));
        self.line(&format!("#define KERNPACK_PACKAGE_{package}_H\n"));
        let (_license, prelude) = PRELUDE.split_once('\n').expect("the prelude has many lines");
        self.text.push_str(prelude);
        self.line("\n#ifdef __cplusplus\nextern \"C\" {\n#endif");
    }

    fn close(&mut self) {
        self.line("\n#ifdef __cplusplus\n}\n#endif\n#endif");
    }

    fn entry_point(&mut self, EntryPoint { function, role }: &EntryPoint) {
        let symbol = format!("{FUNCTION_PREFIX}{}", function.signature.name);
        let declaration = format!(
            "int {symbol}(void* handle, const kernpack_packed_any* args, int32_t num_args, \
             kernpack_packed_any* result);"
        );
        self.line("");
        // A function that returns an object has no plain form: C has nothing to hold it with.
        let returns_nothing = match role {
            Role::Call | Role::Preload | Role::Synchronize => function.signature.results.is_empty(),
            Role::Prepare(_) | Role::Launched(_) => false,
        };
        if returns_nothing {
            self.line(&declaration);
            self.plain_function(function, &symbol);
        } else {
            self.documentation(function);
            self.line(&declaration);
        }
    }

    fn documentation(&mut self, function: &Function) {
        let signature = &function.signature;
        let mut lines: Vec<_> = function.doc.iter().flat_map(|doc| doc_lines(doc)).collect();
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(signature.to_string());
        if !signature.results.is_empty() {
            lines.push(String::new());
            lines.push(format!("Plain C calls `{}_{}_out`.", self.package, signature.name));
        }
        self.line("/**");
        for line in lines {
            let line = line.replace("*/", "* /").replace("/*", "/ *");
            self.line(format!(" * {line}").trim_end());
        }
        self.line(" */");
    }

    fn plain_function(&mut self, function: &Function, symbol: &str) {
        let signature = &function.signature;
        let name = format!("{}_{}", self.package, signature.name);
        let args: Vec<_> = signature.arguments().map(|(_, param)| param).collect();
        let names = identifiers(args.iter().map(|param| Some(&param.name[..])));
        let mut params = String::new();
        let mut body = Body::default();
        for (i, (param, access)) in args.iter().zip(&names).enumerate() {
            let host = param.kind.host_type();
            if let Some(c_type) = self.c_type(&host, &format!("{name}_{access}")) {
                let _ = write!(params, "\n    {c_type}{access},");
            }
            body.assign(&format!("kernpack_args[{i}]"), &host, access, 1);
        }
        let (n_args, locals, statements) = (args.len(), body.locals, body.statements);
        let (array, values) = match n_args {
            0 => (String::new(), "NULL"),
            _ => (
                format!("  kernpack_any kernpack_args[{n_args}];\n"),
                "(const kernpack_packed_any*)kernpack_args",
            ),
        };
        self.line("");
        self.documentation(function);
        self.line(&format!(
            "static inline int {name}({params}
    char* message,
    size_t message_size) {{
  kernpack_any kernpack_out = kernpack_none();
{array}{locals}{statements}  return kernpack_result(
      {symbol}(NULL, {values}, {n_args}, (kernpack_packed_any*)&kernpack_out),
      message,
      message_size);
}}"
        ));
    }

    /// The C type of a value, up to its name; `None` where there is nothing to pass. A tuple's
    /// struct is written first, with that tag.
    fn c_type(&mut self, host: &HostType, tag: &str) -> Option<String> {
        Some(match host {
            HostType::EnvStream | HostType::Literal(_) => return None,
            HostType::Tensor(_) => "const kernpack_tensor* ".to_string(),
            HostType::Int(DType::BOOL) => "bool ".to_string(),
            HostType::Int(dtype) => format!("{dtype}_t "),
            HostType::Float(DType::FLOAT64) => "double ".to_string(),
            HostType::Float(_) => "float ".to_string(),
            HostType::Shape(dims) => match Rank::of(dims).fixed() {
                Some(_) => "const int64_t* ".to_string(),
                None => "const kernpack_dims* ".to_string(),
            },
            HostType::Pointer(_) | HostType::Stream => "void* ".to_string(),
            HostType::String => "const char* ".to_string(),
            HostType::DataType => "kernpack_dtype ".to_string(),
            HostType::Tuple(elements) => format!("const struct {}* ", self.tuple(elements, tag)?),
            HostType::Optional(inner) => match (self.c_type(inner, tag), &**inner) {
                (None, _) => "bool ".to_string(),
                (Some(c_type), HostType::Int(_) | HostType::Float(_)) => {
                    format!("const {}* ", c_type.trim_end())
                }
                (Some(c_type), _) => c_type,
            },
        })
    }

    /// Writes the struct of a tuple; `None` where it would have no members.
    fn tuple(&mut self, elements: &[(Option<String>, HostType)], tag: &str) -> Option<String> {
        let names = members(elements);
        let mut members = String::new();
        for ((_, host), name) in elements.iter().zip(&names) {
            if let Some(c_type) = self.c_type(host, &format!("{tag}_{name}")) {
                let _ = writeln!(members, "  {c_type}{name};");
            }
        }
        if members.is_empty() {
            return None;
        }
        let mut tag = tag.to_string();
        while !self.tags.insert(tag.clone()) {
            tag.push('_');
        }
        let _ = write!(self.text, "\nstruct {tag} {{\n{members}}};\n");
        Some(tag)
    }
}

/// The statements of a plain function that make its arguments.
#[derive(Default)]
struct Body {
    locals: String,
    statements: String,
    n_locals: usize,
}

impl Body {
    fn statement(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.statements, "{}{text}", "  ".repeat(depth));
    }

    /// A local of that type, for an object that the call borrows.
    fn local(&mut self, c_type: &str, suffix: &str) -> String {
        let name = format!("kernpack_{}", self.n_locals);
        self.n_locals += 1;
        let _ = writeln!(self.locals, "  {c_type} {name}{suffix};");
        name
    }

    /// Sets `target` to the value that the parameter `access` has.
    fn assign(&mut self, target: &str, host: &HostType, access: &str, depth: usize) {
        let value = match host {
            HostType::EnvStream => "kernpack_none()".to_string(),
            HostType::Tensor(_) => format!("kernpack_view({access})"),
            HostType::Int(DType::BOOL) => format!("kernpack_bool({access})"),
            HostType::Int(DType::UINT64) => {
                format!("kernpack_uint(&{}, {access})", self.local("kernpack_big_int", ""))
            }
            HostType::Int(_) => format!("kernpack_int({access})"),
            HostType::Float(_) => format!("kernpack_float({access})"),
            HostType::Pointer(_) | HostType::Stream => format!("kernpack_pointer({access})"),
            HostType::String => format!("kernpack_text({access})"),
            HostType::DataType => {
                format!("kernpack_data_type({access}.code, {access}.bits, {access}.lanes)")
            }
            HostType::Literal(value) => literal(value),
            HostType::Shape(dims) => {
                let shape = self.local("kernpack_shape", "");
                match Rank::of(dims).fixed() {
                    Some(size) => format!("kernpack_ints(&{shape}, {access}, {size})"),
                    None => format!("kernpack_any_ints(&{shape}, {access})"),
                }
            }
            HostType::Tuple(elements) if is_passed(host) => {
                return self.when(target, access, depth, |body, depth| {
                    body.assign_tuple(target, elements, access, depth);
                });
            }
            HostType::Tuple(elements) => {
                return self.assign_tuple(target, elements, access, depth);
            }
            HostType::Optional(inner) => return self.assign_optional(target, inner, access, depth),
        };
        self.statement(depth, &format!("{target} = {value};"));
    }

    fn assign_optional(&mut self, target: &str, inner: &HostType, access: &str, depth: usize) {
        match inner {
            HostType::Tensor(_) | HostType::Shape(_) | HostType::String => {
                self.assign(target, inner, access, depth);
            }
            HostType::Tuple(_) if is_passed(inner) => self.assign(target, inner, access, depth),
            HostType::Int(_) | HostType::Float(_) => {
                self.when(target, access, depth, |body, depth| {
                    body.assign(target, inner, &format!("*{access}"), depth);
                });
            }
            _ => self.when(target, access, depth, |body, depth| {
                body.assign(target, inner, access, depth);
            }),
        }
    }

    /// Sets `target` to None, or to what `assign` sets it to where there is something to pass.
    fn when(
        &mut self,
        target: &str,
        access: &str,
        depth: usize,
        assign: impl FnOnce(&mut Body, usize),
    ) {
        self.statement(depth, &format!("{target} = kernpack_none();"));
        self.statement(depth, &format!("if ({access}) {{"));
        assign(self, depth + 1);
        self.statement(depth, "}");
    }

    fn assign_tuple(
        &mut self,
        target: &str,
        elements: &[(Option<String>, HostType)],
        access: &str,
        depth: usize,
    ) {
        let object = self.local("kernpack_array", "");
        let size = elements.len();
        let items = match size {
            0 => "NULL".to_string(),
            _ => self.local("kernpack_any", &format!("[{size}]")),
        };
        for (i, ((_, host), name)) in elements.iter().zip(members(elements)).enumerate() {
            self.assign(&format!("{items}[{i}]"), host, &format!("{access}->{name}"), depth);
        }
        self.statement(depth, &format!("{target} = kernpack_values(&{object}, {items}, {size});"));
    }
}

/// Whether a caller passes anything for it.
fn is_passed(host: &HostType) -> bool {
    match host {
        HostType::EnvStream | HostType::Literal(_) => false,
        HostType::Tuple(elements) => elements.iter().any(|(_, element)| is_passed(element)),
        _ => true,
    }
}

/// The names of a tuple's elements in C.
fn members(elements: &[(Option<String>, HostType)]) -> Vec<String> {
    identifiers(elements.iter().map(|(name, _)| name.as_deref()))
}

/// A text as C has it: `?` begins trigraphs.
fn c_text(text: &str) -> String {
    quote(text).replace('?', "\\?")
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::None => "kernpack_none()".to_string(),
        Literal::Bool(value) => format!("kernpack_bool({value})"),
        Literal::Text(text) => format!("kernpack_text({})", c_text(text)),
        Literal::DType(DType { code, bits, lanes }) => {
            format!("kernpack_data_type({code}, {bits}, {lanes})")
        }
        Literal::Int(i64::MIN) => "kernpack_int(-INT64_MAX - 1)".to_string(),
        Literal::Int(value) => format!("kernpack_int(INT64_C({value}))"),
        Literal::Float(value) => format!("kernpack_float({})", float_text(*value)),
    }
}
