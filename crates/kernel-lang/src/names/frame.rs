// SPDX-License-Identifier: Apache-2.0
//! The names of calls. Each call of a function has names of its own. A function that stands in
//! another one sees the names around it, wherever it is called, and as they are when it is called.
//! It may be called when what it stands in has returned, so the names of a call are kept.

/// The names of one call, by number: a later call has a higher one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FrameId(usize);

/// The names of one call.
pub(crate) trait Scope {
    /// The meaning of a name.
    type Bound;

    /// The meaning of a name of this call.
    fn own(&self, name: &str) -> Option<&Self::Bound>;
    /// The names around the function that is called.
    fn outer(&self) -> Option<FrameId>;
}

/// The names of all calls.
#[derive(Clone, Debug)]
pub(crate) struct Frames<S>(Vec<S>);

impl<S> Default for Frames<S> {
    fn default() -> Frames<S> {
        Frames(Vec::new())
    }
}

impl<S: Scope> Frames<S> {
    /// Adds those of a call.
    pub fn open(&mut self, scope: S) -> FrameId {
        self.0.push(scope);
        FrameId(self.0.len() - 1)
    }

    /// The number of the call that comes next.
    pub fn next(&self) -> FrameId {
        FrameId(self.0.len())
    }

    /// Those of one call.
    pub fn get(&self, id: FrameId) -> &S {
        &self.0[id.0]
    }

    /// Those of one call, to be changed.
    pub fn get_mut(&mut self, id: FrameId) -> &mut S {
        &mut self.0[id.0]
    }

    /// The meaning of a name in a call, or around the function that is called.
    pub fn find(&self, mut from: Option<FrameId>, name: &str) -> Option<&S::Bound> {
        while let Some(id) = from {
            let scope = self.get(id);
            if let Some(found) = scope.own(name) {
                return Some(found);
            }
            from = scope.outer();
        }
        None
    }
}
