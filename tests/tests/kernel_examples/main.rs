// SPDX-License-Identifier: Apache-2.0
//! The kernel files of `examples/kernels`, run by the interpreter. Each example has a module: what
//! its packed functions compute ([`results`], [`products`] of matrices, [`attention`]) for sizes on
//! both sides of every tile and condition, against sums in float64 and the bound that
//! `docs/kernel-examples.md` states; where arguments may overlap, and where not; and defects that
//! are planted in it ([`planted`]), which have to be found at their lines. [`stub`] calls the
//! packages that the files become, and [`page`] reads what that page shows of them.

mod attention;
mod call;
mod page;
mod planted;
mod products;
mod results;
mod stub;

use std::path::{Path, PathBuf};

/// Where the files are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/kernels")
}

/// The text of an example.
fn text(name: &str) -> String {
    let path = folder().join(format!("{name}.py"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
