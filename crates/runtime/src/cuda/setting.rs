// SPDX-License-Identifier: Apache-2.0
//! Settings of launches, from environment variables that are read once, before the driver starts.
//!
//! | variable | effect |
//! |---|---|
//! | `KERNPACK_LAUNCH` | `auto`, `plain` or `graph`, whatever functions want |
//! | `CUDA_LAUNCH_BLOCKING` | with a number other than 0, launches are plain: the driver waits for those |

use core::ffi::c_char;

use super::system::variable;
use crate::interface::layout::Submit;

/// How launches reach the driver, whatever functions want; `None` where they decide. A value that
/// means nothing is an error.
pub(super) fn read() -> Result<Option<Submit>, *const c_char> {
    let value = variable(c"KERNPACK_LAUNCH");
    let named = match value.is_null() {
        true => None,
        false => Some(named(value).ok_or(value)?),
    };
    Ok(if blocks() { Some(Submit::PLAIN) } else { named })
}

fn named(value: *const c_char) -> Option<Submit> {
    let names: [(&[u8], Submit); 3] =
        [(b"auto", Submit::AUTO), (b"plain", Submit::PLAIN), (b"graph", Submit::GRAPH)];
    let is_it = |name: &[u8]| bytes(value).eq(name.iter().copied());
    names.iter().find(|(name, _)| is_it(name)).map(|(_, submit)| *submit)
}

/// Whether the driver waits for each launch.
fn blocks() -> bool {
    bytes(variable(c"CUDA_LAUNCH_BLOCKING")).any(|byte| matches!(byte, b'1'..=b'9'))
}

/// The bytes of a C string that the environment has; none for NULL.
fn bytes(text: *const c_char) -> impl Iterator<Item = u8> {
    let at = move |place: usize| {
        // SAFETY: it ends with NUL, which nobody goes beyond.
        (!text.is_null()).then(|| unsafe { text.wrapping_add(place).read() } as u8)
    };
    (0..).map_while(at).take_while(|byte| *byte != 0)
}
