// SPDX-License-Identifier: Apache-2.0
//! What two threads must not use at once: an executable graph. The driver does not look; here, a
//! call that begins while another has the same one says so in the log. A `delay` makes calls long
//! enough to meet.

use crate::argument::Argument;
use crate::memory::Memory;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What such arguments are called, in every function that uses one.
const NAME: &str = "executable";

/// What calls are at work on, by their names in the log.
static USED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn used() -> MutexGuard<'static, Vec<String>> {
    USED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A call's use of something, until it is dropped.
pub struct Use {
    of: Option<String>,
    /// Whether another call was using it when this one began.
    pub overlaps: bool,
}

impl Use {
    /// What a call with these arguments uses, if it is anything.
    pub fn begin(arguments: &[(&str, &dyn Argument)]) -> Use {
        let found = arguments.iter().find(|(name, _)| *name == NAME);
        // The name of a handle needs no memory.
        let of = found.map(|(_, argument)| argument.given(&Memory::default()));
        let mut used = used();
        let overlaps = of.as_ref().is_some_and(|of| used.contains(of));
        used.extend(of.clone());
        Use { of, overlaps }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut used = used();
        if let Some(index) = used.iter().position(|of| Some(of) == self.of.as_ref()) {
            used.swap_remove(index);
        }
    }
}
