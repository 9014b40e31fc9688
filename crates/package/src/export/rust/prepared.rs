// SPDX-License-Identifier: Apache-2.0
//! Prepared calls of a function on a GPU in Rust: they are checked once, hold their tensors, and
//! lend them between launches.

use super::argument::Argument;
use super::function::{RustFunction, lines, where_clause};
use super::names::{Names, plain};
use super::types::{Generic, angle};
use super::value::CALL;
use kernpack_ffi_abi::FUNCTION_PREFIX;

/// The field of a call that has the entry point which prepares it.
pub(super) const PREPARE: &str = "kernpack_prepare";

/// The calls of a function that are prepared.
pub(super) struct Prepared {
    /// The field of a package that is loaded.
    pub(super) field: String,
    /// The statements that prepare a call, up to what is returned.
    pub(super) prepare: Vec<String>,
    /// The statements that have a prepared `call` lend its tensors.
    pub(super) launch: Vec<String>,
    /// Whether a launch allocates.
    pub(super) needs_memory: bool,
}

/// The name of the entry point that prepares calls.
fn entry(of: &str) -> String {
    format!("kernpack_prepare_{of}")
}

/// The symbol of that.
pub(super) fn symbol(of: &str) -> String {
    format!("{FUNCTION_PREFIX}{}", entry(of))
}

impl Prepared {
    /// The line that looks the entry point of a function up.
    pub(super) fn lookup(&self, of: &str) -> String {
        format!("            {}: library.function({:?})?,\n", self.field, entry(of))
    }

    /// The type of prepared calls of that function, and the method that makes one.
    pub(super) fn text(&self, of: &RustFunction) -> String {
        let generics = of.call_generics();
        let (generics, all) = (angle(&generics), angle(&of.impl_generics()));
        let own = of.of_arguments(false).map(Generic::bounded);
        let tensors = of.of_arguments(false).filter(|generic| generic.is_tensor());
        let holds = tensors.map(|generic| format!("{}: ::kernpack::Hold", generic.name));
        let stream = of.types.stream.iter().map(|name| format!("{name}: ::kernpack::Stream"));
        let told = of.types.told().map(|variable| variable.bounded());
        let bounds = where_clause(told.chain(stream).chain(own), 2);
        let holds = where_clause(holds, 3);
        let (word, safety) = match of.is_unsafe {
            true => (
                "unsafe ",
                "\n            ///\n            /// # Safety\n            /// Pointers lead to what the function says, as long as the prepared call is there.",
            ),
            false => ("", ""),
        };
        let (prepare, launch) = (self.prepare_lines(of), self.launch_lines(of));
        let accessors = accessors(of);
        let entry = &of.entry;
        format!(
            "
        /// A prepared call of `{entry}`.
        #[must_use = \"nothing is launched before `call`\"]
        pub struct Prepared{generics} {{
            // It is dropped before what it holds.
            kernpack_function: {CALL}::Function,
            kernpack_call: Call{generics},
        }}

        impl{all} Call{generics}{bounds}
            /// Checks the call, once, and prepares it: what comes of it only launches, each time on
            /// what the tensors hold then.
            ///
            /// # Errors
            /// Why it was refused, or failed.{safety}
            pub {word}fn prepare(mut self) -> ::kernpack::Result<Prepared{generics}>{holds}
                let kernpack_function = {{
{prepare}                    returned.function()?
                }};
                Ok(Prepared {{ kernpack_function, kernpack_call: self }})
            }}
        }}

        impl{all} Prepared{generics}{bounds}
            /// Launches.
            ///
            /// # Errors
            /// Why it failed.
            #[inline]
            pub fn call(&mut self) -> ::kernpack::Result<()> {{
{launch}            }}
{accessors}        }}
"
        )
    }

    fn prepare_lines(&self, of: &RustFunction) -> String {
        let stream = of.stream_statement("self");
        lines(&stream.into_iter().chain(self.prepare.clone()).collect::<Vec<_>>(), 5)
    }

    fn launch_lines(&self, of: &RustFunction) -> String {
        let call = "let call = &mut self.kernpack_call;".to_string();
        let memory = self.needs_memory.then(|| format!("{CALL}::need_memory()?;"));
        let mut launch: Vec<_> = [call].into_iter().chain(of.stream_statement("call")).collect();
        launch.extend(memory);
        launch.extend(self.launch.clone());
        launch
            .push("// SAFETY: what it was prepared with is there, and is lent to it.".to_string());
        launch.push(format!("unsafe {{ {CALL}::launch(stream, &self.kernpack_function) }}"));
        lines(&launch, 4)
    }
}

/// The methods that lend what a prepared call holds.
fn accessors(of: &RustFunction) -> String {
    let mut names = Names::without(&["call"]);
    let of_tensors = of.arguments.iter().filter(|argument| argument.is_tensor());
    let of_tensors: Vec<_> =
        of_tensors.map(|argument| (argument, names.add(plain(&argument.name)))).collect();
    let text = |(argument, name): &(&Argument, String), name_mut: &str| {
        let Argument { name: field, ty, .. } = argument;
        format!(
            "
            /// `{0}`, to be read between calls.
            #[inline]
            pub fn {name}(&self) -> &{ty} {{
                &self.kernpack_call.{field}
            }}

            /// The elements of `{0}`, to be written between calls.
            #[inline]
            pub fn {name_mut}(&mut self) -> {ty}::Contents<'_>
            where
                {ty}: ::kernpack::HoldMut,
            {{
                ::kernpack::HoldMut::contents(&mut self.kernpack_call.{field})
            }}
",
            plain(field)
        )
    };
    let methods = of_tensors.iter().map(|each| {
        let name_mut = names.add(&format!("{}_mut", plain(&each.0.name)));
        text(each, &name_mut)
    });
    methods.collect()
}
