// SPDX-License-Identifier: Apache-2.0
//! Values that a source captures: what the names that it does not define itself are in the program
//! that it was cut out of.
//!
//! They are constants of the kernels, and part of what the source is, by type and value. What
//! kernels have nothing of is a value too, which is a mistake only where it is used.

use super::source::{add, add_text};
use super::{ModuleId, SourceId};
use crate::integer::Integer;
use crate::python::tree::Name;
use kernpack_ffi_abi::DType;
use kernpack_layout::{Layout, Swizzle};
use kernpack_syntax::{Diagnostic, Span};
use std::sync::Arc;

/// The value of a name that a source does not define itself, as the program has it. Functions are
/// those of sources `F`.
#[derive(Clone, Debug, PartialEq)]
pub enum Captured<F = SourceId> {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer.
    Int(Integer),
    /// A float.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// A dtype.
    DType(DType),
    /// A layout, with a swizzle of its indices or without.
    Layout(Layout, Option<Swizzle>),
    /// A swizzle.
    Swizzle(Swizzle),
    /// A tuple; with names the fields of a NamedTuple or of an object, or what a module has.
    Tuple(Vec<(Option<Name>, Captured<F>)>),
    /// kernpack itself: `kp`.
    Kernpack,
    /// The function or dtype that kernpack has by that name.
    Member(Name),
    /// The function of that name in another source: a kernel, or one that kernels call.
    Function(F, Name),
    /// Something that no kernel can hold.
    Foreign(Arc<Unheld>),
}

/// A value of a program that no kernel can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unheld {
    /// The words for it: `a torch.Tensor`.
    pub what: String,
    /// The help: what to do about it, as an imperative.
    pub instead: String,
}

impl Unheld {
    /// That it is used as what a kernel can hold.
    pub(crate) fn diagnostic(&self, code: &'static str, span: Span) -> Diagnostic {
        let message = format!("this is {}, which is no constant of kernels", self.what);
        Diagnostic::new(code, message).label(span, "captured here").help(self.instead.clone())
    }
}

impl<F> Captured<F> {
    /// A tuple without names.
    pub fn tuple(items: impl IntoIterator<Item = Captured<F>>) -> Captured<F> {
        Captured::Tuple(items.into_iter().map(|item| (None, item)).collect())
    }

    /// Adds it to what a source is.
    pub(super) fn add_to(&self, number: fn(&F) -> usize, content: &mut String) {
        match self {
            Captured::None => add(format_args!("None\n"), content),
            Captured::Bool(truth) => add(format_args!("bool {truth}\n"), content),
            Captured::Int(int) => add(format_args!("int {int}\n"), content),
            Captured::Float(float) => {
                add(format_args!("float {:016x}\n", float.to_bits()), content);
            }
            Captured::Text(text) => add_text(text, content),
            Captured::DType(dtype) => add(format_args!("dtype {dtype}\n"), content),
            Captured::Layout(layout, swizzle) => {
                add(format_args!("layout {layout}\n"), content);
                swizzle.iter().for_each(|swizzle| add(format_args!("of {swizzle}\n"), content));
            }
            Captured::Swizzle(swizzle) => add(format_args!("swizzle {swizzle}\n"), content),
            Captured::Tuple(items) => {
                add(format_args!("tuple {}\n", items.len()), content);
                for (name, item) in items {
                    name.iter().for_each(|name| add_text(name, content));
                    item.add_to(number, content);
                }
            }
            Captured::Kernpack => add(format_args!("kernpack\n"), content),
            Captured::Member(name) => {
                add(format_args!("member "), content);
                add_text(name, content);
            }
            Captured::Function(of, name) => {
                add(format_args!("function {} ", number(of)), content);
                add_text(name, content);
            }
            Captured::Foreign(unheld) => {
                add(format_args!("foreign "), content);
                add_text(&unheld.what, content);
            }
        }
    }
}

impl Captured {
    /// The same, with the files of functions in the place of their sources.
    pub(super) fn of_files(&self, file: &dyn Fn(SourceId) -> ModuleId) -> Captured<ModuleId> {
        match self {
            Captured::None => Captured::None,
            Captured::Bool(truth) => Captured::Bool(*truth),
            Captured::Int(int) => Captured::Int(int.clone()),
            Captured::Float(float) => Captured::Float(*float),
            Captured::Text(text) => Captured::Text(text.clone()),
            Captured::DType(dtype) => Captured::DType(*dtype),
            Captured::Layout(layout, swizzle) => Captured::Layout(layout.clone(), *swizzle),
            Captured::Swizzle(swizzle) => Captured::Swizzle(*swizzle),
            Captured::Tuple(items) => {
                let items = items.iter().map(|(name, item)| (name.clone(), item.of_files(file)));
                Captured::Tuple(items.collect())
            }
            Captured::Kernpack => Captured::Kernpack,
            Captured::Member(name) => Captured::Member(name.clone()),
            Captured::Function(source, name) => Captured::Function(file(*source), name.clone()),
            Captured::Foreign(unheld) => Captured::Foreign(unheld.clone()),
        }
    }

    /// The sources of the functions in it.
    pub(super) fn sources(&self, each: &mut dyn FnMut(SourceId)) {
        match self {
            Captured::Function(source, _) => each(*source),
            Captured::Tuple(items) => items.iter().for_each(|(_, item)| item.sources(each)),
            Captured::None
            | Captured::Bool(_)
            | Captured::Int(_)
            | Captured::Float(_)
            | Captured::Text(_)
            | Captured::DType(_)
            | Captured::Layout(..)
            | Captured::Swizzle(_)
            | Captured::Kernpack
            | Captured::Member(_)
            | Captured::Foreign(_) => {}
        }
    }
}
