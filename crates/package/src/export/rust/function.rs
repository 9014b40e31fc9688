// SPDX-License-Identifier: Apache-2.0
//! The text of one function of a package in Rust: a function, a method of a package that is loaded,
//! and the call that both return, with a method for each parameter that may be left out.

use super::argument::{Argument, passed_type};
use super::names::{Names, VALUES, plain};
use super::prepared::{self, PREPARE, Prepared};
use super::results::Results;
use super::types::{Generic, Types, angle};
use super::value::{Body, CALL, Objects, is_compound, is_passed};
use crate::export::doc_lines;
use crate::package::{EntryPoint, Function, Role};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_validators::param::Param;
use kernpack_validators::{HostType, Signature};

/// A function of a package, as Rust has it.
pub(super) struct RustFunction {
    /// The name in Rust.
    pub(super) name: String,
    /// The name of the entry point.
    pub(super) entry: String,
    signature: String,
    docs: Vec<String>,
    pub(super) arguments: Vec<Argument>,
    pub(super) types: Types,
    /// The name of the stream, in functions that take one in front.
    stream: Option<String>,
    /// Calls that are prepared, of a function that has them.
    prepared: Option<Prepared>,
    /// The statements of a call, up to the value that it returns.
    body: Vec<String>,
    results: Results,
    pub(super) is_unsafe: bool,
    /// Whether it is one that the package describes, and none of kernpack's own.
    is_described: bool,
}

impl RustFunction {
    /// A function of a package; `None` for one that holds what it is given, which only owners of
    /// memory can call.
    pub(super) fn new(entry_point: &EntryPoint, names: &mut Names) -> Option<RustFunction> {
        let EntryPoint { function, role } = entry_point;
        let signature = &function.signature;
        let name = match role {
            Role::Call => signature.name.clone(),
            Role::Preload => "preload".to_string(),
            Role::Synchronize => "synchronize".to_string(),
            Role::Launched(of) => format!("launched_{of}"),
            Role::Prepare(_) => return None,
        };
        let has_stream = *role == Role::Call && function.submits();
        let name = names.add(&name);
        let mut types = Types::new(&name, signature, function.default_device(), has_stream);
        let taken = &["call", "prepare", "kernpack_entry", "kernpack_prepare", "kernpack_stream"];
        let mut own = Names::without(VALUES.iter().chain(taken));
        let given = signature.params.iter().find(|param| has_stream && is_stream(param));
        let passed = signature.arguments().map(|(_, param)| {
            let is_stream = given.is_some_and(|given| given.name == param.name);
            (param, own.add(&param.name), is_stream)
        });
        let passed: Vec<_> = passed.collect();
        let stream = (has_stream && given.is_none()).then(|| own.add("stream"));
        let way = if has_stream { Way::OnStream } else { Way::Plain };
        let is_prepared = has_stream && signature.results.is_empty();
        let prepared = is_prepared.then(|| Prepared {
            field: names.add(&format!("prepare_{}", signature.name)),
            prepare: body(function, &passed, Way::Prepared),
            launch: lent(function, &passed, "call"),
            needs_memory: !function.workspaces.is_empty(),
        });
        let body = body(function, &passed, way);
        let arguments = passed.into_iter().filter_map(|(param, name, is_stream)| {
            Argument::new(param, name, is_stream, &mut types)
        });
        Some(RustFunction {
            arguments: arguments.collect(),
            name,
            entry: signature.name.clone(),
            signature: signature.to_string(),
            docs: docs(function),
            stream,
            prepared,
            body,
            results: match role {
                Role::Launched(_) => Results::text(),
                _ => Results::new(signature, &types),
            },
            types,
            is_described: *role == Role::Call,
            is_unsafe: signature.params.iter().any(|param| has_pointer(&param.kind.host_type())),
        })
    }

    fn symbol(&self) -> String {
        format!("{FUNCTION_PREFIX}{}", self.entry)
    }

    /// The declarations of its symbols.
    pub(super) fn declaration(&self) -> String {
        let prepare = self.prepared.iter().map(|_| prepared::symbol(&self.entry));
        let symbols = [self.symbol()].into_iter().chain(prepare);
        let declared = symbols.map(|symbol| {
            format!(
                "            pub(super) fn {symbol}(
                handle: *mut ::core::ffi::c_void,
                args: *const {CALL}::Any,
                n_args: i32,
                result: *mut {CALL}::Any,
            ) -> ::core::ffi::c_int;\n"
            )
        });
        declared.collect()
    }

    /// The line that has the function under its name.
    pub(super) fn reexport(&self) -> String {
        format!("    pub use self::{0}::{0};\n", self.name)
    }

    /// The names of the fields of a package that is loaded.
    pub(super) fn fields_of_module(&self) -> impl Iterator<Item = &String> {
        [&self.name].into_iter().chain(self.prepared.iter().map(|prepared| &prepared.field))
    }

    /// The fields of a package that is loaded.
    pub(super) fn lookup(&self) -> String {
        let RustFunction { name, entry, .. } = self;
        let prepared = self.prepared.iter().map(|prepared| prepared.lookup(entry));
        let own = match self.is_described {
            true => {
                format!("            {name}: library.entry({entry:?}, {name}::{SIGNATURE})?,\n")
            }
            false => format!("            {name}: library.function({entry:?})?,\n"),
        };
        [own].into_iter().chain(prepared).collect()
    }

    /// The function's module. `module` is the type of a package that is loaded.
    pub(super) fn module(&self, module: &str) -> String {
        let RustFunction { name, entry, signature, types, results, .. } = self;
        let variables = &types.variables;
        let sealed = types.sealed();
        let traits: String = variables.iter().map(|variable| variable.text()).collect();
        let (structs, results) = (&types.structs, &results.definition);
        let makers = self.makers(module);
        let prepare = self.prepared.iter();
        let prepare = prepare.map(|_| format!("            {PREPARE}: {CALL}::Entry<'p>,\n"));
        let prepare: String = prepare.collect();
        let prepared = self.prepared.iter().map(|prepared| prepared.text(self));
        let prepared: String = prepared.collect();
        let (call, setters) = (self.call(), self.setters());
        let (call_generics, fields) = (angle(&self.call_generics()), self.fields());
        format!(
            "
    /// The call of `{entry}`, and types of its own.
    pub mod {name} {{
        pub(super) const {SIGNATURE}: &str = {signature:?};
{sealed}{traits}{structs}{results}
        /// A call of `{entry}`.
        #[must_use = \"nothing is called before `call`\"]
        pub struct Call{call_generics} {{
            kernpack_entry: {CALL}::Entry<'p>,
{prepare}{fields}        }}
{makers}{setters}{call}{prepared}    }}
"
        )
    }

    /// The function and the method that make calls: of the symbol, and of a package that is loaded.
    fn makers(&self, module: &str) -> String {
        let name = &self.name;
        let params = self.params();
        let method_params = [vec!["&self".to_string()], params.clone()].concat().join(", ");
        let params = params.join(", ");
        let generics = self.generics();
        let (bounds, method_bounds) = (self.bounds(2), self.bounds(3));
        let (linked, loaded) = (self.call_type("'static"), self.call_type("'_"));
        let symbols = [self.symbol(), prepared::symbol(&self.entry)];
        let symbols = symbols.map(|symbol| format!("super::kernpack_symbols::{symbol}"));
        let field = self.prepared.as_ref().map_or("", |prepared| &prepared.field);
        let of_symbol = self.made(&symbols[0], &symbols[1], 3);
        let of_field = self.made(&format!("self.{name}"), &format!("self.{field}"), 4);
        let docs: Vec<_> = self.docs.iter().map(|line| format!("/// {line}")).collect();
        let (docs, method_docs) = (lines(&docs, 2), lines(&docs, 3));
        format!(
            "
{docs}        #[inline]
        pub fn {name}{generics}({params}) -> {linked}{bounds}
            // SAFETY: the symbol is part of the program.
{of_symbol}        }}

        impl super::{module} {{
{method_docs}            #[inline]
            pub fn {name}{generics}({method_params}) -> {loaded}{method_bounds}
                // SAFETY: the library is there as long as `self`.
{of_field}            }}
        }}
"
        )
    }

    /// The parameters that are required.
    fn params(&self) -> Vec<String> {
        let stream =
            self.stream.iter().map(|name| format!("{name}: {}", self.types.stream_reference()));
        let required = self.arguments.iter().filter(|argument| argument.default.is_none());
        stream
            .chain(required.map(|argument| format!("{}: {}", argument.name, argument.ty)))
            .collect()
    }

    /// The generics of all arguments.
    pub(super) fn of_arguments(&self, required_only: bool) -> impl Iterator<Item = &Generic> {
        let chosen = move |argument: &&Argument| !required_only || argument.default.is_none();
        self.arguments.iter().filter(chosen).flat_map(|argument| &argument.generics)
    }

    /// The lifetime of what is borrowed, the dtype variables that tensors tell, the stream.
    fn common_generics(&self, with_variables: bool) -> Vec<String> {
        let lifetime = self.types.borrows.then(|| "'a".to_string());
        let told = self.types.told().map(|variable| variable.name.clone());
        let told = told.filter(|_| with_variables);
        lifetime.into_iter().chain(told).chain(self.types.stream.clone()).collect()
    }

    /// The generics of the function.
    fn generics(&self) -> String {
        let mut generics = self.common_generics(true);
        generics.extend(self.of_arguments(true).map(|generic| generic.name.clone()));
        angle(&generics)
    }

    /// The bounds of the function.
    fn bounds(&self, level: usize) -> String {
        let own = self.of_arguments(true).map(Generic::bounded);
        where_clause(self.common_bounds().chain(own), level)
    }

    pub(super) fn common_bounds(&self) -> impl Iterator<Item = String> {
        let told = self.types.told().map(|variable| variable.bounded());
        let stream = self.types.stream.iter().map(|name| format!("{name}: ::kernpack::Place"));
        told.chain(stream)
    }

    /// The generics where calls are made.
    pub(super) fn impl_generics(&self) -> Vec<String> {
        let mut generics = vec!["'p".to_string()];
        generics.extend(self.common_generics(true));
        generics.extend(self.of_arguments(false).map(|generic| generic.name.clone()));
        generics
    }

    /// The generics of the call's type.
    pub(super) fn call_generics(&self) -> Vec<String> {
        let own = self.of_arguments(false).map(|generic| generic.name.clone());
        let common = self.common_generics(false);
        ["'p".to_string()].into_iter().chain(common).chain(own).collect()
    }

    /// The type of a call to which nothing has been given that may be left out.
    fn call_type(&self, lifetime: &str) -> String {
        let mut generics = vec![lifetime.to_string()];
        generics.extend(self.common_generics(false));
        for argument in &self.arguments {
            generics.extend(argument.generics.iter().map(|generic| match &argument.default {
                None => generic.name.clone(),
                Some(_) => generic.absent.clone(),
            }));
        }
        format!("Call{}", angle(&generics))
    }

    fn fields(&self) -> String {
        let stream = self
            .stream
            .iter()
            .map(|_| format!("kernpack_stream: {},", self.types.stream_reference()));
        let own =
            self.arguments.iter().map(|argument| format!("{}: {},", argument.name, argument.ty));
        lines(&stream.chain(own).collect::<Vec<_>>(), 3)
    }

    /// A call of that entry point.
    fn made(&self, entry_of: &str, prepare: &str, level: usize) -> String {
        let entry = |name: &str, of: &str| {
            format!("let {name} = unsafe {{ {CALL}::Entry::new({of}, {SIGNATURE}) }};")
        };
        let prepare = self.prepared.iter().map(|_| entry(PREPARE, prepare));
        let entries: Vec<_> =
            [entry("kernpack_entry", entry_of)].into_iter().chain(prepare).collect();
        let own = self.arguments.iter().map(|argument| match &argument.default {
            None => format!("{},", argument.name),
            Some(value) => format!("{}: {value},", argument.name),
        });
        let prepare = self.prepared.iter().map(|_| format!("{PREPARE},"));
        let stream = self.stream.iter().map(|name| format!("kernpack_stream: {name},"));
        let fields: Vec<_> = prepare.chain(stream).chain(own).collect();
        let made = format!("Call {{ kernpack_entry, {} }}", fields.join(" "));
        lines(&[entries, vec![made]].concat(), level)
    }

    /// The methods of a call for what may be left out.
    fn setters(&self) -> String {
        let optional = self.arguments.iter().filter(|argument| argument.default.is_some());
        let setters: String = optional.map(|argument| self.setter(argument)).collect();
        let generics = angle(&self.call_generics());
        match setters.is_empty() {
            true => String::new(),
            false => format!("\n        impl{generics} Call{generics} {{\n{setters}        }}\n"),
        }
    }

    fn setter(&self, argument: &Argument) -> String {
        let name = &argument.name;
        let (ty, value) = argument.setter();
        let plain = plain(name);
        let docs = format!("/// `{plain}`: `{}` where it is left out.", argument.shown_default);
        if !argument.generics.is_empty() {
            return self.setter_of_type(argument, &docs);
        }
        format!(
            "            {docs}
            #[inline]
            pub fn {name}(mut self, {name}: {ty}) -> Self {{
                self.{name} = {value};
                self
            }}
"
        )
    }

    /// The method for a parameter of which another type makes another type of the call.
    fn setter_of_type(&self, argument: &Argument, docs: &str) -> String {
        let name = &argument.name;
        let (ty, value) = argument.renamed().setter();
        let renamed = argument.renamed().generics;
        let generics =
            angle(&renamed.iter().map(|generic| generic.name.clone()).collect::<Vec<_>>());
        let bounds = renamed.iter().map(|each| format!("{}: {}", each.name, each.loose_bound));
        let bounds = where_clause(bounds, 3);
        let of_call = self.arguments.iter().flat_map(|each| match each.name == *name {
            true => renamed.clone(),
            false => each.generics.clone(),
        });
        let mut call = vec!["'p".to_string()];
        call.extend(self.common_generics(false));
        call.extend(of_call.map(|generic| generic.name));
        let call = angle(&call);
        let stream = self.stream.iter().map(|_| "kernpack_stream");
        let prepare = self.prepared.iter().map(|_| PREPARE);
        let fields = ["kernpack_entry"].into_iter().chain(prepare).chain(stream);
        let fields = fields.chain(self.arguments.iter().map(|each| &each.name[..]));
        let kept =
            fields.filter(|field| field != name).map(|field| format!("{field}: self.{field},"));
        let fields = lines(&kept.chain([format!("{name}: {value},")]).collect::<Vec<_>>(), 5);
        format!(
            "            {docs}
            #[inline]
            pub fn {name}{generics}(self, {name}: {ty}) -> Call{call}{bounds}
                Call {{
{fields}                }}
            }}
"
        )
    }

    /// The first line of what is done with a call: what is the stream.
    pub(super) fn stream_statement(&self, call: &str) -> Option<String> {
        let given = self.arguments.iter().find(|argument| argument.is_stream);
        let field = match (&self.stream, given) {
            (Some(_), _) => "kernpack_stream",
            (None, given) => &given?.name,
        };
        Some(format!("let stream = {call}.{field};"))
    }

    /// The method that makes the call.
    fn call(&self) -> String {
        let generics = self.impl_generics();
        let own = self.of_arguments(false).map(Generic::bounded);
        let bounds = where_clause(self.common_bounds().chain(own), 2);
        let untold = &self.results.untold;
        let untold_bounds = where_clause(untold.iter().map(|variable| variable.bounded()), 3);
        let untold: Vec<_> = untold.iter().map(|variable| variable.name.clone()).collect();
        let body: Vec<_> =
            self.stream_statement("self").into_iter().chain(self.body.clone()).collect();
        let (safety, word) = match self.is_unsafe {
            true => (
                &["///", "/// # Safety", "/// Pointers lead to what the function says."][..],
                "unsafe ",
            ),
            false => (&[][..], ""),
        };
        let safety: Vec<_> = safety.iter().map(|line| line.to_string()).collect();
        format!(
            "
        impl{generics} Call{of_call}{bounds}
            /// Makes the call.
            ///
            /// # Errors
            /// Why it was refused, or failed.
{safety}            #[inline]
            pub {word}fn call{untold}(mut self) -> ::kernpack::Result<{ty}>{untold_bounds}
{body}{value}            }}
        }}
",
            generics = angle(&generics),
            of_call = angle(&self.call_generics()),
            safety = lines(&safety, 3),
            untold = angle(&untold),
            ty = self.results.ty,
            body = lines(&body, 4),
            value = lines(&self.results.value, 4),
        )
    }
}

/// The name of the constant that has a function's signature, in its module.
const SIGNATURE: &str = "KERNPACK_SIGNATURE";

/// Lines, so many levels deep.
pub(super) fn lines(lines: &[String], level: usize) -> String {
    let indent = " ".repeat(4 * level);
    let line = |line: &String| format!("{}\n", format!("{indent}{line}").trim_end());
    lines.iter().map(line).collect()
}

/// The bounds of generics of an item so many levels deep, up to the bracket that opens its body.
pub(super) fn where_clause(bounds: impl Iterator<Item = String>, level: usize) -> String {
    let bounds: Vec<_> = bounds.map(|bound| format!("{bound},")).collect();
    let indent = " ".repeat(4 * level);
    match bounds.is_empty() {
        true => " {".to_string(),
        false => format!("\n{indent}where\n{}{indent}{{", lines(&bounds, level + 1)),
    }
}

/// The documentation, and the signature as it is written.
fn docs(function: &Function) -> Vec<String> {
    let mut docs: Vec<_> = function.doc.iter().flat_map(|doc| doc_lines(doc)).collect();
    if docs.iter().any(|line| CODE.iter().any(|mark| line.contains(mark))) {
        docs = fenced(docs);
    }
    if !docs.is_empty() {
        docs.push(String::new());
    }
    docs.extend(fenced(vec![function.signature.to_string()]));
    docs
}

/// Marks of what Markdown takes for code, which rustdoc takes for Rust's, and runs as a test.
const CODE: &[&str] = &["```", "~~~", "    "];

/// Lines as text that is no Markdown.
fn fenced(lines: Vec<String>) -> Vec<String> {
    let mut fence = "```".to_string();
    while lines.iter().any(|line| line.contains(&fence)) {
        fence.push('`');
    }
    [vec![format!("{fence}text")], lines, vec![fence]].concat()
}

fn is_stream(param: &Param) -> bool {
    matches!(param.kind.host_type(), HostType::Stream)
}

fn has_pointer(host: &HostType) -> bool {
    match host {
        HostType::Pointer(_) => true,
        HostType::Optional(inner) => has_pointer(inner),
        HostType::Tuple(elements) => elements.iter().any(|(_, element)| has_pointer(element)),
        _ => false,
    }
}

/// A way to make a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    OnStream,
    Prepared,
}

/// The statements of a call, up to what it returns.
fn body(function: &Function, passed: &[(&Param, String, bool)], way: Way) -> Vec<String> {
    let signature: &Signature = &function.signature;
    let (device, holds) = (function.default_device(), way == Way::Prepared);
    let mut body = Body { device, holds, objects: Objects::default() };
    let needs_memory = !signature.results.is_empty() || !function.workspaces.is_empty();
    let values = passed.iter().enumerate().map(|(i, (param, name, is_stream))| {
        let host = passed_type(param, *is_stream);
        let place = match lends(&host) {
            true => format!("lent_{i}"),
            false => format!("self.{name}"),
        };
        format!("    {},", body.any(&host, &place))
    });
    let values: Vec<_> = values.collect();
    let mut statements: Vec<String> = Vec::new();
    statements.extend(needs_memory.then(|| format!("{CALL}::need_memory()?;")));
    statements.extend(lent(function, passed, "self"));
    statements.extend(body.objects.declarations());
    statements.push(format!("let args: [{CALL}::Any; {}] = [", values.len()));
    statements.extend(values);
    statements.push("];".to_string());
    let call = match way {
        Way::Plain => "self.kernpack_entry.call(&args)".to_string(),
        Way::OnStream => format!("{CALL}::on(stream, self.kernpack_entry, &args)"),
        Way::Prepared => format!("{CALL}::on(stream, self.{PREPARE}, &args)"),
    };
    statements.push("// SAFETY: the arguments are what the signature asks for.".to_string());
    statements.push(format!("let returned = unsafe {{ {call} }}?;"));
    statements
}

/// The statements that have the fields of a call lend their tensors.
fn lent(function: &Function, passed: &[(&Param, String, bool)], of: &str) -> Vec<String> {
    let (device, objects) = (function.default_device(), Objects::default());
    let body = Body { device, holds: false, objects };
    let lent = passed.iter().enumerate().filter_map(|(i, (param, name, is_stream))| {
        let host = passed_type(param, *is_stream);
        let place = format!("{of}.{name}");
        lends(&host).then(|| format!("let lent_{i} = {};", body.lend(&host, &place)))
    });
    lent.collect()
}

/// Whether what is passed for a parameter is made of what its value lends.
fn lends(host: &HostType) -> bool {
    is_passed(host) && is_compound(host)
}
