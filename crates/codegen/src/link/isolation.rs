// SPDX-License-Identifier: Apache-2.0
//! A source by itself: one object, of which only some functions can be seen from outside, under
//! other names.
//!
//! C has one space of names for a whole program. A source of a package may call a function
//! `malloc`, as another source does, or the runtime's helpers; it means its own, and the others
//! mean theirs. So the files of a source see each other and nobody else, and what they need and do
//! not have is left to the process that loads the package.

use super::error::LinkError;
use super::input::Input;
use super::undefined::{UndefinedSymbol, undefined};
use kernpack_package::target::ElfTarget;

/// A source as one object.
#[derive(Clone, Debug)]
pub struct Isolated {
    /// The object. It defines the names that were given, and nothing else for others.
    pub object: Vec<u8>,
    /// The symbols that it needs, and who in it does.
    pub needs: Vec<UndefinedSymbol>,
}

/// Joins the inputs to one object. Of what they define, others see the symbols in `exports` alone,
/// each under the name beside it.
///
/// The inputs must define these symbols; a member of an archive takes part if it defines one of
/// them, or what another part needs.
pub fn isolate(
    target: ElfTarget,
    inputs: &[Input<'_>],
    exports: &[(&str, &str)],
) -> Result<Isolated, LinkError> {
    let wanted: Vec<_> = exports.iter().map(|(symbol, _)| *symbol).collect();
    let merged = super::merge_with(target, inputs, &wanted)?;
    let needs = undefined(&merged, inputs)?;
    let object = super::localise(&merged, &|symbol| wanted.contains(&symbol), exports)?;
    Ok(Isolated { object, needs })
}
