// SPDX-License-Identifier: Apache-2.0
//! Checks.
//!
//! A check is one file of this folder and one line of `checks!`: one condition, its fault's name,
//! kind and text, and a `require` function that appends it to a plan. Parameter kinds call
//! `require`; they never build a comparison that another kind could need.

use crate::fault::{Complaint, Phrase};
use kernpack_ffi_abi::ErrorKind;

/// A check, as far as it is the same for every signature.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The fault's name.
    pub name: &'static str,
    /// The fault's kind.
    pub kind: ErrorKind,
    /// Its meaning, and the cure of a failure.
    pub doc: &'static str,
    /// A message.
    pub example: &'static str,
}

impl Info {
    /// A complaint of this check about `subject`.
    pub fn complaint(
        &self,
        subject: impl Into<Phrase>,
        expected: impl Into<Phrase>,
        got: impl Into<Phrase>,
    ) -> Complaint {
        let (subject, expected, got) = (subject.into(), expected.into(), got.into());
        Complaint { name: self.name, kind: self.kind, subject, expected, got }
    }
}

/// The registry: a line a check, in the order in which a call meets them.
macro_rules! checks {
    ($($module:ident,)*) => {
        $( pub mod $module; )*

        /// Every check, in the order in which a call meets them.
        pub const CATALOGUE: &[Info] = &[ $( $module::INFO, )* ];
    };
}

checks! {
    arity,
    type_index,
    literal,
    data_type,
    scalar,
    pointer_null,
    pointer_alignment,
    tuple_size,
    shape_size,
    rank,
    dtype,
    dtype_match,
    dtype_combination,
    device_type,
    device_index,
    null_data,
    negative_dim,
    dim,
    dim_solve,
    divisibility,
    rule,
    negative_stride,
    stride,
    mut_broadcast,
    alignment,
    alias,
    no_launch,
    argument_range,
    launch_range,
    tensor_map,
    host_status,
}
