// SPDX-License-Identifier: Apache-2.0
//! From objects to a package, in process: no linker and no compiler is needed on the user's
//! machine.
//!
//! A package starts as several relocatable objects: the generated entry points, the runtime, what a
//! user brings. These steps make one object or library of them:
//!
//! 1. [`isolate`] makes one object of each of the user's sources, of which nothing can be seen but
//!    its kernels, under names of ours: whatever else two sources call alike, or a source and the
//!    rest of the package, does not meet.
//! 2. [`merge`] joins the objects, and the archive members they need, into one relocatable object,
//!    as `ld -r` does.
//! 3. [`localise`] makes every symbol local that the package does not export. Hidden visibility
//!    would not do: it keeps a symbol out of a library, but two objects with one hidden symbol
//!    still clash when a user links both into one program.
//! 4. [`undefined`] lists what is left to the process that loads the package, with who wants it;
//!    [`gate`] refuses what a package must not need.
//! 5. [`link_shared`] makes a shared library of the object.
//!
//! The work is done by LLVM's linker (lld) and LLVM's ObjCopy, linked into this process. The same
//! input gives the same bytes, on any machine: no path, time or version of a tool gets into a
//! result. All of this may be called from many threads; lld itself keeps global state, so its runs
//! wait for each other. Each run of lld also resets LLVM's command line options (`cl::opt`) to
//! their defaults, so nothing in this process can rely on setting them.
//!
//! Not here: what a package exports and may need (the callers' lists), and any other object format
//! than ELF.

mod common;
mod elf;
mod error;
mod finalizer;
mod input;
mod isolation;
mod library;
mod listing;
mod lld;
mod native;
mod note;
mod output;
mod stub;
mod undefined;

pub use error::LinkError;
pub use input::Input;
pub use isolation::{Isolated, isolate};
pub use library::{SharedLibrary, loader_needs};
pub use listing::{definitions, functions, needs};
pub use native::initialize_llvm;
pub use note::note;
pub use undefined::{UndefinedSymbol, gate, undefined};

use kernpack_package::target::ElfTarget;
use object::ObjectSymbol;

use lld::Link;
use native::Changes;

/// The name in messages of an object that an earlier step made.
const MERGED: &str = "merged object";

/// Sections that say which tools made an object, or list its symbols by number for one particular
/// linker.
const TOOL_SECTIONS: [&str; 2] = [".comment", ".llvm_addrsig"];

/// The names that a shared library has of itself and others.
#[derive(Clone, Debug, Default)]
pub struct SharedOptions {
    /// The library's own name, for programs that link with it.
    pub soname: Option<String>,
    /// The names of the libraries to load first (`DT_NEEDED`), exactly these, in this order. They
    /// need not exist here.
    pub needed: Vec<String>,
    /// Symbols that are not left out though no other library sees them, nor what they need.
    pub kept: Vec<String>,
}

/// Joins relocatable objects and archives into one relocatable object.
///
/// A member of an archive takes part if it defines what something before it needs. A symbol that
/// nothing defines stays undefined; one that two inputs define is an error. Of an inline function
/// that several inputs hold (a COMDAT group), one copy is kept. Tentative definitions (`int x;` of
/// C compiled with `-fcommon`) become ordinary ones.
pub fn merge(target: ElfTarget, inputs: &[Input<'_>]) -> Result<Vec<u8>, LinkError> {
    merge_with(target, inputs, &[])
}

/// The same, where members of archives take part that define one of `wanted`.
fn merge_with(
    target: ElfTarget,
    inputs: &[Input<'_>],
    wanted: &[&str],
) -> Result<Vec<u8>, LinkError> {
    for input in inputs {
        input.verify(target)?;
    }
    let merged = link_relocatable(target, inputs, wanted)?;
    let Some(storage) = common::storage(target, &merged)? else { return Ok(merged) };
    let storage = Input { name: "storage for tentative definitions", bytes: &storage };
    link_relocatable(target, &[Input { name: MERGED, bytes: &merged }, storage], &[])
}

fn link_relocatable(
    target: ElfTarget,
    inputs: &[Input<'_>],
    wanted: &[&str],
) -> Result<Vec<u8>, LinkError> {
    let mut link = Link::new(target);
    link.flags(&["--relocatable", "--force-group-allocation"]);
    for symbol in wanted {
        link.flags(&["--undefined", symbol]);
    }
    for input in inputs {
        link.input(*input)?;
    }
    link.run()
}

/// Makes every symbol local that `object` defines and `keep` refuses, so that nothing outside can
/// meet or replace it, and gives those of `renamed` other names.
///
/// Section groups are dissolved: a later linker would keep one group of each name and drop the
/// other packages' copies. Debug information and constructors stay; what names the tools that were
/// used goes.
pub fn localise(
    object: &[u8],
    keep: &dyn Fn(&str) -> bool,
    renamed: &[(&str, &str)],
) -> Result<Vec<u8>, LinkError> {
    let file = elf::parse(MERGED, object)?;
    let mut local = Vec::new();
    for (name, symbol) in elf::globals(&file) {
        if symbol.is_undefined() || keep(name) {
            continue;
        }
        if symbol.is_common() {
            let reason = format!("`{name}` is a tentative definition, which only `merge` takes");
            return Err(LinkError::unreadable(MERGED, reason));
        }
        local.push(name);
    }
    let removed = elf::group_lists(&file).chain(TOOL_SECTIONS).collect();
    let changes = Changes { local, renamed: renamed.to_vec(), removed };
    native::objcopy(object, &changes).map_err(|failure| LinkError::new(failure, [MERGED]))
}

/// Links a relocatable object into a shared library.
///
/// Every global symbol with default visibility is exported; the names of local ones are dropped, so
/// that a traceback names entry points and not what they are made of. References to symbols that
/// the object defines are bound inside the library, so another library with the same names cannot
/// replace them; the others are found when the library is loaded, by name alone and, for functions,
/// at the first call. Constructors run when it is loaded, destructors when it is unloaded. Sections
/// that neither an exported symbol nor one of those needs are left out; notes stay.
pub fn link_shared(
    target: ElfTarget,
    object: &[u8],
    options: &SharedOptions,
) -> Result<Vec<u8>, LinkError> {
    let input = Input { name: MERGED, bytes: object };
    input.verify(target)?;
    let finalizer = finalizer::is_needed(&elf::parse(MERGED, object)?)
        .then(|| finalizer::object(target))
        .transpose()?;
    let mut link = Link::new(target);
    link.flags(&["--shared", "-Bsymbolic", "--eh-frame-hdr", "--hash-style=gnu"]);
    // A section that is found through its `__start_` symbol is needed, too.
    link.flags(&["--gc-sections", "-z", "nostart-stop-gc"]);
    link.flags(&[
        "-z",
        "relro",
        "-z",
        "lazy",
        "-z",
        "noexecstack",
        "--build-id=none",
        "--strip-all",
    ]);
    for symbol in &options.kept {
        link.flags(&["--undefined", symbol]);
    }
    if let Some(soname) = &options.soname {
        link.soname(soname)?;
    }
    if let Some(bytes) = &finalizer {
        link.object(bytes)?;
    }
    link.input(input)?;
    for needed in &options.needed {
        link.needed(needed)?;
    }
    let library = link.run()?;
    let changes = Changes { removed: TOOL_SECTIONS.to_vec(), ..Changes::default() };
    native::objcopy(&library, &changes).map_err(|failure| LinkError::new(failure, [MERGED]))
}
