// SPDX-License-Identifier: Apache-2.0
//! Following the offsets of a table.
//!
//! The reader trusts its table. Where the bytes come from is behind [`Bytes`]: the runtime reads
//! them through a pointer, hosts from a slice.

use super::{N_PARTS, NameTable, Part};

/// The bytes of a table.
pub(crate) trait Bytes: Copy {
    /// The bytes at `offset`, which the table says are inside.
    fn array<const N: usize>(self, offset: u32) -> [u8; N];
}

/// A table whose records can be read.
#[derive(Clone, Copy)]
pub(crate) struct Table<B>(pub(crate) B);

/// The string that a key leads to.
pub(super) enum Name {
    /// The key's own name.
    Known(u32),
    /// The table's fallback.
    Unknown(u32),
}

impl<B: Bytes> Table<B> {
    /// The string that names the kind of the fault at `fault`.
    pub(crate) fn fault_kind(self, fault: u32) -> u32 {
        self.u32(fault) & ((1 << N_PARTS) - 1)
    }

    /// The parts of the fault at `fault`, in the order of the message.
    /// A part that this version cannot decode ends them.
    pub(crate) fn fault_parts(self, fault: u32) -> impl Iterator<Item = Part<u32>> {
        let n_parts = self.u32(fault) >> N_PARTS;
        let part = move |i| Part::decode(self.u32(fault + 4 + 4 * i));
        (0..n_parts).map_while(part)
    }

    pub(super) fn name(self, NameTable(names): NameTable, key: u32) -> Name {
        let n_names = self.u32(names);
        let mut entries = (0..n_names).map(|i| names + 8 + 8 * i);
        match entries.find(|&entry| self.u32(entry) == key) {
            Some(entry) => Name::Known(self.u32(entry + 4)),
            None => Name::Unknown(self.u32(names + 4)),
        }
    }

    /// The 32 bits at `offset`.
    pub(crate) fn u32(self, offset: u32) -> u32 {
        u32::from_le_bytes(self.0.array(offset))
    }
}
