// SPDX-License-Identifier: Apache-2.0
//! What the environment says of launches. It is read once, before the driver starts.
//!
//! | variable | effect |
//! |---|---|
//! | `KERNPACK_LAUNCH` | `auto`, `plain` or `graph`, whatever functions want |
//! | `CUDA_LAUNCH_BLOCKING` | with a number other than 0, launches are plain: the driver waits for those |

use core::ffi::{CStr, c_char};

use super::system::variable;
use crate::interface::layout::Submit;

/// How launches reach the driver, whatever functions want; `None` where they decide. A value that
/// means nothing is an error.
pub(super) fn read() -> Result<Option<Submit>, *const c_char> {
    let named = match variable(c"KERNPACK_LAUNCH") {
        Some(value) => Some(named(value).ok_or(value.as_ptr())?),
        None => None,
    };
    Ok(if blocks() { Some(Submit::PLAIN) } else { named })
}

fn named(value: &CStr) -> Option<Submit> {
    let names =
        [(c"auto", Submit::AUTO), (c"plain", Submit::PLAIN), (c"graph", Submit::GRAPH)];
    names.iter().find(|(name, _)| *name == value).map(|(_, submit)| *submit)
}

/// Whether the driver waits for each launch.
fn blocks() -> bool {
    variable(c"CUDA_LAUNCH_BLOCKING")
        .is_some_and(|value| value.to_bytes().iter().any(|byte| matches!(byte, b'1'..=b'9')))
}
