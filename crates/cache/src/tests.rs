// SPDX-License-Identifier: Apache-2.0
//! The cache as a whole: a folder with a package, a cache, and questions. Rules that belong to one
//! module have their tests there.

mod bench;
mod cuda;
mod cuda_headers;
mod damage;
mod eviction;
mod faults;
mod folders;
mod forbid;
mod headers;
mod held;
mod hits;
mod processes;
mod sources;
mod variables;

use kernpack_compiler::source::identity::Identity;
use std::cell::RefCell;

/// The C compiler and NVRTC.
type Pair = (Option<Identity>, Option<Identity>);

thread_local! {
    static PRETENDED: RefCell<Option<Pair>> = const { RefCell::new(None) };
}

/// The compilers that this thread pretends to find, if it does.
pub(crate) fn pretended() -> Option<Pair> {
    PRETENDED.with_borrow(Clone::clone)
}

/// Has this thread find these compilers: for what is compared, and not for what is run.
fn with_compilers<T>(pair: Pair, work: impl FnOnce() -> T) -> T {
    PRETENDED.set(Some(pair));
    let result = work();
    PRETENDED.set(None);
    result
}

/// A compiler at that path.
fn compiler(path: &str) -> Option<Identity> {
    Some(Identity { path: path.into(), marks: vec![] })
}
