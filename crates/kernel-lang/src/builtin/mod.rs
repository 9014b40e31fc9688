// SPDX-License-Identifier: Apache-2.0
//! Functions of kernpack that kernels call: tables, one file a family, one row a function. A row
//! says how it is called, what it does and how it is elaborated; the reference page is made of the
//! rows.

mod asynchronous;
mod atomic;
mod block;
mod cluster;
mod control;
pub mod cute;
mod dependent;
mod elsewhere;
mod geometry;
mod given;
mod layouts;
mod math;
mod matrix;
mod mbarrier;
mod memory;
mod method;
mod numbers;
mod ptx;
mod qualified;
mod reserved;
mod shown;
mod sync;
mod timer;
mod tma;
mod warp;
mod warpgroup;

pub(crate) use given::Given;

use crate::call::call_text;
use crate::elaborate::Elaborator;
use crate::file::library::{self, Written};
use crate::value::Elaborated;
use kernpack_kernel_ir::Scalar;
use kernpack_machine::block::WARP_SIZE;
use kernpack_syntax::Diagnostic;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// A function.
pub(crate) struct Builtin {
    /// Its name, behind `kp.` or behind the point of a value.
    pub name: &'static str,
    /// Its parameters: `x`, which is passed, `x=`, which may be left out, and `*xs`, which is any
    /// number.
    pub takes: &'static [&'static str],
    /// Its meaning, in a sentence or more.
    pub doc: &'static str,
    /// The difference among rows that are elaborated alike: a row of the intrinsics, an operation.
    pub data: &'static str,
    /// How it is elaborated.
    pub run: fn(&mut Elaborator<'_>, &Given) -> Elaborated,
}

impl Builtin {
    /// Its name with what stands in front: `kp.`, or a value and a point.
    fn path(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.name)
    }

    /// How it is called: `kp.make_layout(shape, stride=…)`.
    fn call(&self, prefix: &str) -> String {
        call_text(&self.path(prefix), self.takes)
    }
}

impl fmt::Debug for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kp.{}", self.name)
    }
}

/// The owner of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodOf {
    /// Tensors.
    Tensor,
    /// Elements of register tensors.
    Elements,
    /// Numbers and truth values.
    Number,
    /// Mbarriers.
    Mbarrier,
    /// Nothing else.
    Nothing,
}

/// The families, in the order of the reference.
const FAMILIES: &[(&str, &[Builtin])] = &[
    ("Where a thread is", geometry::ROWS),
    ("Compile time and control", control::ROWS),
    ("Numbers", numbers::ROWS),
    ("Functions of floats", math::ROWS),
    ("Tensors", memory::ROWS),
    ("How tensors are accessed", qualified::ROWS),
    ("Layouts", layouts::ROWS),
    ("Asynchronous copies", asynchronous::ROWS),
    ("Boxes of tensors", tma::ROWS),
    ("Barriers and fences", sync::ROWS),
    ("Mbarriers", mbarrier::ROWS),
    ("Clusters", cluster::ROWS),
    ("Dependent launches", dependent::ROWS),
    ("Clocks", timer::ROWS),
    ("Warps", warp::ROWS),
    ("Matrices", matrix::ROWS),
    ("Products of warpgroups", warpgroup::ROWS),
    ("Blocks", block::ROWS),
    ("Atomic operations", atomic::ROWS),
];

/// Methods, by what has them.
const METHODS: &[(&str, MethodOf, &[Builtin])] = &[
    ("Methods of tensors", MethodOf::Tensor, method::TENSOR),
    ("Methods of the elements of register tensors", MethodOf::Elements, method::ELEMENTS),
    ("Methods of numbers", MethodOf::Number, method::NUMBER),
    ("Methods of mbarriers", MethodOf::Mbarrier, mbarrier::METHODS),
];

/// The function of that name.
pub(crate) fn find(name: &str) -> Option<&'static Builtin> {
    static ROWS: OnceLock<HashMap<&'static str, &'static Builtin>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let rows = FAMILIES.iter().flat_map(|(_, rows)| rows.iter());
        rows.map(|row| (row.name, row)).collect()
    });
    rows.get(name).copied()
}

/// The method of that name.
pub(crate) fn method(of: MethodOf, name: &str) -> Option<&'static Builtin> {
    let tables = METHODS.iter().filter(|(_, kind, _)| *kind == of);
    tables.flat_map(|(_, _, rows)| rows.iter()).find(|row| row.name == name)
}

/// The names of all methods of a value.
pub(crate) fn methods(of: MethodOf) -> impl Iterator<Item = &'static str> {
    let tables = METHODS.iter().filter(move |(_, kind, _)| *kind == of);
    tables.flat_map(|(_, _, rows)| rows.iter()).map(|row| row.name)
}

/// The constant of a name: dtypes, and names of annotations.
pub(crate) fn constant(name: &str) -> Option<Elaborated> {
    match name {
        "Constexpr" => Some(Elaborated::None),
        "async_group" => Some(Elaborated::AsyncGroup),
        "bulk_group" => Some(Elaborated::BulkGroup),
        "WARP_SIZE" => Some(Elaborated::Int(i64::from(WARP_SIZE).into())),
        "bool" => Some(Elaborated::DType(Scalar::Bool)),
        _ => Scalar::parse(name).map(Elaborated::DType),
    }
}

/// Whether kernels have something of that name behind `kp.`.
pub(crate) fn is_member(name: &str) -> bool {
    find(name).is_some() || constant(name).is_some() || library::is_written(name)
}

/// The name of the device of a call, which packed functions have.
pub(crate) const DEVICE: &str = "device";

/// The name of the function for grids of blocks that run at once, which packed functions have.
pub(crate) const MAX_BLOCKS: &str = "max_blocks";

/// The diagnostic about a name that kernpack has not.
pub(crate) fn unknown(name: &str) -> Diagnostic {
    if let Some(instead) = reserved::reserved(name) {
        let message = format!("`kp.{name}` is reserved for later");
        return Diagnostic::new("reserved", message).help(instead);
    }
    if name == DEVICE {
        let problem = Diagnostic::new("unknown-name", "packed functions alone ask `kp.device`");
        return problem.help("pass the kernel the number: `k(x, kp.device.sm_count)`");
    }
    if name == MAX_BLOCKS {
        let message = "packed functions alone call `kp.max_blocks`";
        let problem = Diagnostic::new("unknown-name", message);
        return problem
            .help("compute the grid of the launch from it; a kernel asks `kp.grid_dim()`");
    }
    let problem = Diagnostic::new("unknown-name", format!("kernpack has no `{name}`"));
    problem.help(closest(name).unwrap_or_else(|| "see the reference for what there is".to_string()))
}

/// What to do for a function of another language or library: `` write `kp.sync_threads()` ``.
pub(crate) fn called_here(name: &str) -> Option<String> {
    const OTHERS: &[(&str, &str)] = &[
        ("threadIdx", "kp.thread_idx()"),
        ("blockIdx", "kp.block_idx()"),
        ("blockDim", "kp.block_dim()"),
        ("program_id", "kp.block_idx()"),
        ("syncthreads", "kp.sync_threads()"),
        ("print", "kp.printf(...)"),
        ("cdiv", "kp.ceil_div"),
        ("ceildiv", "kp.ceil_div"),
        ("load", "x.load()"),
        ("store", "x.store(value)"),
        ("arange", "kp.range_constexpr"),
        ("static_range", "kp.range_constexpr"),
        ("constexpr", "kp.Constexpr"),
        ("maximum", "kp.max"),
        ("minimum", "kp.min"),
    ];
    let others = OTHERS.iter().find(|(other, _)| *other == name);
    others.map(|(_, ours)| format!("write `{ours}`")).or_else(|| cute::help(name))
}

/// What to do for a name that kernpack has not, and that may be meant for another one.
fn closest(name: &str) -> Option<String> {
    if let Some(help) = called_here(name) {
        return Some(help);
    }
    let rows = FAMILIES.iter().flat_map(|(_, rows)| rows.iter()).map(|row| row.name);
    let names = rows.chain(Scalar::ALL.iter().map(|scalar| scalar.name()));
    nearest(name, names).map(|near| format!("write `kp.{near}`"))
}

/// The help for an attribute that is not there, where these are.
pub(crate) fn attribute_help(name: &str, known: &[&str]) -> String {
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("write `{near}`"),
        None if known.is_empty() => "leave it out: there is nothing behind a point".to_string(),
        None => format!("it has `{}`", known.join("`, `")),
    }
}

/// The name that was meant, if any is near. What is a function elsewhere is no slip of the pen.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if elsewhere::is_function(name) {
        return None;
    }
    let known = known.filter(|known| !is_another(known, name));
    let (distance, near) = known.map(|known| (distance(known, name), known)).min()?;
    (distance <= 1 + name.len() / 4).then_some(near)
}

/// Whether two names that look alike mean different things all the same: one is the other with
/// something in front or behind, as `log1p` and `log`, `rsqrt` and `sqrt`, or they differ in
/// digits, as `exp2` and `exp10`. A letter that is left out or put in is no meaning, unless the
/// name is short.
fn is_another(known: &str, name: &str) -> bool {
    let (short, long) = if known.len() < name.len() { (known, name) } else { (name, known) };
    let added = long.strip_prefix(short).or_else(|| long.strip_suffix(short));
    let is_slip = |added: &str| {
        let is_letter = added.len() == 1 && !added.starts_with(|c: char| c.is_ascii_digit());
        added.is_empty() || is_letter && short.len() > 5 || matches!(added, "s" | "f" | "_")
    };
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    added.is_some_and(|added| !is_slip(added)) || digits(known) != digits(name)
}

/// How many characters have to be changed, put in or left out.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<_> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.chars().enumerate() {
            let replaced = before + usize::from(x != y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

/// A function, as the reference shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As it is called: `atomic_add(target, *place_and_value, order="relaxed", …)`.
    pub call: String,
    /// Its meaning.
    pub doc: Cow<'static, str>,
}

/// All functions, family by family: what the reference page is made of.
pub fn reference() -> Vec<(&'static str, Vec<Entry>)> {
    let entry = |prefix: &str, row: &Builtin| Entry { call: row.call(prefix), doc: row.doc.into() };
    let functions = FAMILIES.iter().map(|(family, rows)| {
        (*family, rows.iter().map(|row| entry("kp.", row)).collect::<Vec<_>>())
    });
    let methods = METHODS.iter().map(|(family, of, rows)| {
        let prefix = match of {
            MethodOf::Tensor => "x.",
            MethodOf::Elements => "values.",
            MethodOf::Number | MethodOf::Nothing => "n.",
            MethodOf::Mbarrier => "bar.",
        };
        (*family, rows.iter().map(|row| entry(prefix, row)).collect::<Vec<_>>())
    });
    let reserved = reserved::NAMES
        .iter()
        .map(|(name, doc)| Entry { call: format!("kp.{name}"), doc: (*doc).into() });
    let written = library::written().into_iter();
    let written = written.map(|(family, rows)| (family, rows.iter().map(of_library).collect()));
    functions
        .chain(written)
        .chain(methods)
        .chain([("Reserved for later", reserved.collect())])
        .collect()
}

/// A function or class that is written in the language, as the reference shows it.
fn of_library(written: &Written) -> Entry {
    let path = format!("kp.{}{}", written.of, written.name);
    let call = match &written.takes {
        Some(takes) => call_text(&path, takes),
        None => path,
    };
    Entry { call, doc: written.doc.clone().into() }
}
