// SPDX-License-Identifier: Apache-2.0
//! `kernpack explain NAME|MESSAGE`
//!
//! Checks explain themselves, in their catalogue ([`fault`]). What builds refuse, what runs find
//! and what the CUDA driver says is explained in documents, a row each ([`page`]).

mod fault;
mod page;

use crate::{Failure, Report};
use anyhow::anyhow;
use clap::Args;
use kernpack_validators::check::{CATALOGUE, Info};
use page::Page;
use serde_json::json;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Explain {
    /// A name, such as tensor-rank or unbound-symbol, or a message; quote a message with '…', as it
    /// has backquotes.
    #[arg(required = true, value_name = "NAME|MESSAGE")]
    words: Vec<String>,
}

/// The explanation of an error.
struct Explanation {
    name: String,
    kind: String,
    doc: String,
    example: String,
}

impl From<&Info> for Explanation {
    fn from(info: &Info) -> Explanation {
        let Info { name, kind, doc, example } = info;
        let (kind, doc, example) = (kind.to_string(), doc.to_string(), example.to_string());
        Explanation { name: name.to_string(), kind, doc, example }
    }
}

impl From<Page> for Explanation {
    fn from(page: Page) -> Explanation {
        let Page { names, kind, doc, examples } = page;
        let example = examples.first().copied().unwrap_or_default().to_string();
        Explanation { name: names.join(", "), kind: kind.to_string(), doc, example }
    }
}

impl Explain {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        let asked = self.words.join(" ");
        let found = find(asked.trim());
        if found.is_empty() {
            return Err(unknown(asked.trim()).into());
        }
        let text = found.iter().map(|Explanation { name, kind, doc, example }| {
            format!("{name} ({kind})\n\n{doc}\n\nexample: {example}\n")
        });
        let pages = found.iter().map(|Explanation { name, kind, doc, example }| {
            json!({ "name": name, "kind": kind, "doc": doc, "example": example })
        });
        let pages: Vec<_> = pages.collect();
        Ok(Report::new(text.collect::<Vec<_>>().join("\n"), json!({ "pages": pages })))
    }
}

/// The errors of that name, or those that have the text as a message.
fn find(asked: &str) -> Vec<Explanation> {
    let named = CATALOGUE.iter().filter(|info| info.name == asked);
    let checks: Vec<_> = named.chain(fault::find(asked)).map(Explanation::from).collect();
    let is_message = !checks.is_empty() && CATALOGUE.iter().all(|info| info.name != asked);
    // A check and a code may have one name.
    let pages = if is_message { vec![] } else { page::find(asked) };
    checks.into_iter().chain(pages.into_iter().map(Explanation::from)).collect()
}

fn unknown(asked: &str) -> anyhow::Error {
    let pages = page::pages();
    let checks = CATALOGUE.iter().map(|info| info.name);
    let names = checks.chain(pages.iter().flat_map(|page| page.names.iter().copied()));
    let similarity = |name: &&str| (1e6 * strsim::jaro_winkler(name, asked)) as i64;
    match names.max_by_key(similarity) {
        Some(name) if strsim::jaro_winkler(name, asked) > 0.9 => {
            anyhow!("nothing is called `{asked}`; did you mean `{name}`?")
        }
        _ => anyhow!(
            "nothing is called `{asked}` or says so; docs/faults.md, docs/diagnostics.md, docs/debugging.md and docs/errors.md have all that there is"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{CATALOGUE, find, page};
    use kernpack_kernel_ir::interp::Kind;

    fn names(message: &str) -> Vec<String> {
        find(message).into_iter().map(|found| found.name).collect()
    }

    #[test]
    fn every_check_is_found_by_its_name_and_by_its_example() {
        for info in CATALOGUE {
            assert_eq!(names(info.name)[0], info.name);
            assert_eq!(names(info.example), [info.name], "{}", info.example);
            let raised = format!("Traceback:\n  x\n{}: {}", info.kind, info.example);
            assert_eq!(names(&raised), [info.name], "{raised}");
        }
    }

    /// The table of messages says of each check every form that its message has.
    #[test]
    fn every_documented_message_is_found() {
        let document = include_str!("../../../../docs/faults.md");
        let mut n_messages = 0;
        for row in document.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<_> = row.split(" | ").collect();
            let name = cells[0].trim_matches(['|', ' ', '`']);
            let quoted = cells[2].split("``").skip(1).step_by(2);
            let mut whole = String::new();
            for message in quoted {
                let message = match message.find("expected ") {
                    // A further form of the text behind `expected`.
                    Some(at) if !message.contains("when calling") => {
                        let start = whole.find("expected ").expect("the first form is whole");
                        format!("{}{}", &whole[..start], &message[at..])
                    }
                    _ if message.contains("when calling") => {
                        whole = message.replace("SIG", "f(a: Tensor([n], T), m: int32, k: int32)");
                        whole = whole.replace("LOC", "on argument #0");
                        whole.clone()
                    }
                    _ => continue,
                };
                assert_eq!(names(&message), [name], "{message}");
                n_messages += 1;
            }
        }
        assert!(n_messages >= CATALOGUE.len(), "{n_messages} messages were found");
    }

    #[test]
    fn messages_are_found_in_what_others_make_of_them() {
        let message = "Mismatched b.shape[0] on argument #1 when calling: `f(a: Tensor([n], int8), b: Tensor([n], int8))`, expected to match a.shape[0], got 4 (a.shape[0] is 8)";
        let wrapped = [
            format!("jax.errors.JaxRuntimeError: INTERNAL: {message}"),
            format!("INTERNAL: {message} [executable_name='jit_ffi_call']"),
            format!(
                "jaxlib._jax.XlaRuntimeError: INTERNAL: {message}\n--------------------\nFor simplicity, JAX has removed its internal frames"
            ),
            format!(
                "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f(a, b)\nValueError: {message}\n"
            ),
            format!(
                "terminate called after throwing an instance of 'tvm::ffi::Error'\n  what():  ValueError: {message}"
            ),
            message.replace(" when calling: ", "\nwhen calling:\n  "),
        ];
        for text in wrapped {
            assert_eq!(names(&text), ["dim"], "{text}");
        }
    }

    #[test]
    fn every_page_is_found_by_its_names_and_its_messages() {
        for page in page::pages() {
            let name = page.names.join(", ");
            for own in &page.names {
                assert!(names(own).contains(&name), "{own}");
            }
            assert!(!page.examples.is_empty(), "{name}");
            for example in &page.examples {
                let text = match page.kind {
                    "RuntimeError" => format!("RuntimeError: {example}"),
                    _ => format!("error[{}]: {example}\n --> p.toml:3:1\n", page.names[0]),
                };
                assert_eq!(names(&text), [&name[..]], "{text}");
            }
        }
        assert!(page::pages().len() > 70, "{}", page::pages().len());
        let kinds = ["missing-library", "undefined-symbol"].map(|code| page::find(code)[0].kind);
        assert_eq!(kinds, ["warning of a build", "error of a build"]);
        assert_eq!(names("tensor-map"), ["tensor-map", "tensor-map"]);
        let field = page::find("unknown-field").remove(0);
        assert!(field.doc.starts_with("Tensors have `shape[i]`, `strides[i]`"), "{}", field.doc);
        let syntax = page::find("syntax").remove(0);
        assert!(syntax.doc.contains("the grammar (signature.md) wants"), "{}", syntax.doc);
        assert_eq!(names("CUDA_ERROR_OUT_OF_MEMORY"), ["cudaErrorMemoryAllocation"]);
        assert_eq!(
            names("RuntimeError: CUDA Error: cudaErrorPeerAccess (9, X) launching `k`: x"),
            ["cuda-error"]
        );
    }

    #[test]
    fn every_finding_has_a_page() {
        for kind in Kind::ALL {
            let found = page::find(kind.code());
            assert_eq!(found.len(), 1, "{}", kind.code());
            assert_eq!(found[0].kind, "finding of a run", "{}", kind.code());
        }
        let findings = page::pages().into_iter().filter(|page| page.kind == "finding of a run");
        assert_eq!(findings.count(), Kind::ALL.len());
    }

    /// Without the code that it is printed with.
    #[test]
    fn a_finding_is_known_by_its_words() {
        let page = |message: &str| names(message).join(" ");
        let index =
            "index 7 is out of bounds: the extent is 5, in thread (1, 0, 0) of block (0, 0, 0)";
        assert_eq!(page(index), "index-out-of-bounds");
        let loops = "a loop does not end: its warp has run 65536 turns, in thread (0, 0, 0)";
        assert_eq!(page(loops), "endless-loop");
        let barrier = "a barrier that not all threads come to: thread (0, 0, 0) has ended";
        assert_eq!(page(barrier), "divergent-barrier");
    }

    /// As the tests of the driver's errors have them.
    #[test]
    fn every_error_of_the_driver_has_a_page() {
        let texts = [
            include_str!("../../../../tests/tests/cuda/errors.rs"),
            include_str!("../../../../tests/tests/cuda/devices.rs"),
            include_str!("../../../../tests/tests/cuda/loading.rs"),
            include_str!("../../../../tests/tests/cuda/tensor_map.rs"),
        ];
        let errors = texts.iter().flat_map(|text| text.split('"').skip(1).step_by(2));
        let errors = errors.filter(|text| text.contains(" (") && text.contains("cudaError"));
        let errors: Vec<_> = errors.map(|text| format!("CUDA Error: {text}")).collect();
        assert!(errors.len() > 10, "{errors:?}");
        for error in errors {
            assert_eq!(names(&error).len(), 1, "{error}");
        }
    }

    #[test]
    fn other_texts_are_of_no_check() {
        for text in
            ["", "x", "Mismatched", "tensor-rnk", " when calling: ", "`", " on , expected , got "]
        {
            assert!(find(text).is_empty(), "{text:?}");
        }
    }
}
