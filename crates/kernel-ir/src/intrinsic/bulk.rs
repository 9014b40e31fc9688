// SPDX-License-Identifier: Apache-2.0
//! Copies of many bytes that one thread begins, and that go on by themselves. Those into shared
//! memory belong to the phase of an mbarrier, which counts their bytes; those out of it to a group
//! of their thread. They touch memory by another way than threads do, the asynchronous proxy: what
//! threads have written they see behind a fence.

use super::{Accepts, BulkOp, Completes, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use super::{MOST_IN_FLIGHT, mbarrier};
use crate::types::{Scalar, Space};

/// Addresses and sizes are multiples of that.
pub const BULK_ALIGN: u32 = 16;

const fn row(
    name: &'static str,
    doc: &'static str,
    takes: &'static [Accepts],
    op: BulkOp,
) -> Intrinsic {
    let (touches, completes) = match op {
        BulkOp::Copy | BulkOp::LoadBox | BulkOp::MulticastBox => {
            (Touches::Copy, Completes::WithPhase)
        }
        BulkOp::Store | BulkOp::StoreBox | BulkOp::ReduceBox => {
            (Touches::Copy, Completes::WithGroup)
        }
        BulkOp::PrefetchBox => (Touches::Nothing, Completes::AtOnce),
        BulkOp::Commit | BulkOp::Wait | BulkOp::WaitRead | BulkOp::Fence | BulkOp::FenceShared => {
            (Touches::Order, Completes::AtOnce)
        }
    };
    Intrinsic {
        name,
        doc,
        takes,
        gives: Gives::Nothing,
        together: Level::Thread,
        uniform: Level::Thread,
        touches,
        completes,
        result: Spread::AsOperands,
        meaning: Meaning::Bulk(op),
    }
}

const BYTES: Accepts = Accepts::Exactly(Scalar::I32);
const MAP: Accepts = Accepts::Pointer(&[Space::Map]);
const AT: Accepts = Accepts::Exactly(Scalar::I32);

const fn load(name: &'static str, takes: &'static [Accepts]) -> Intrinsic {
    let doc = "Begins to copy a box of a tensor to the first address, from the coordinates on that \
               are given, the innermost first. What lies outside the tensor becomes zeros. The \
               phase of the mbarrier, which is in the memory that is written, counts the bytes of \
               the whole box.";
    row(name, doc, takes, BulkOp::LoadBox)
}

const fn store(name: &'static str, takes: &'static [Accepts]) -> Intrinsic {
    let doc = "Begins to copy a box to a tensor from the second address: to the coordinates on \
               that are given, the innermost first. What lies outside the tensor is left out.";
    row(name, doc, takes, BulkOp::StoreBox)
}

const fn multicast(name: &'static str, takes: &'static [Accepts]) -> Intrinsic {
    let doc = "As a load of a box, into the memory of several blocks of the cluster, at the same \
               place in each: of those whose bit is in the mask. The phase of the mbarrier at the \
               same place counts the bytes, in each of them.";
    row(name, doc, takes, BulkOp::MulticastBox)
}

const fn reduce(name: &'static str, takes: &'static [Accepts]) -> Intrinsic {
    let doc = "As a store of a box, of which each element is combined with that of the tensor, in \
               one step for all of the device.";
    row(name, doc, takes, BulkOp::ReduceBox)
}

const fn prefetch(name: &'static str, takes: &'static [Accepts]) -> Intrinsic {
    let doc = "Has the lines of the L2 cache fetched that a box of a tensor is in, as far as it \
               lies in the tensor.";
    row(name, doc, takes, BulkOp::PrefetchBox)
}

/// The operations that combine elements of a box with those of a tensor: each a
/// [`Binary`](crate::op::Binary) of that name.
pub const REDUCTIONS: &[&str] = &["add", "min", "max", "and", "or", "xor"];

/// The types of elements that the device combines so.
pub fn reduced_types(reduction: &str) -> &'static [Scalar] {
    match reduction {
        "add" => &[Scalar::I32, Scalar::U32, Scalar::U64, Scalar::F16, Scalar::BF16, Scalar::F32],
        "min" | "max" => {
            &[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64, Scalar::F16, Scalar::BF16]
        }
        // An H200 takes bits of int64 for an illegal instruction.
        _ => &[Scalar::I32, Scalar::U32, Scalar::U64],
    }
}

const BLOCKS: Accepts = Accepts::Exactly(Scalar::U16);
const BY: Accepts = Accepts::Word(REDUCTIONS);
const FROM: Accepts = Accepts::Pointer(&[Space::Shared]);
const GROUPS: &[Accepts] = &[Accepts::Constant(0, MOST_IN_FLIGHT)];

pub(super) const ROWS: &[Intrinsic] = &[
    row(
        "copy.bulk",
        "Begins to copy so many bytes to the first address from the second, all of them multiples of 16. The phase of the mbarrier, which is in the memory that is written, counts them.",
        &[mbarrier::ANY, Accepts::Pointer(&[Space::Global, Space::Shared]), BYTES, mbarrier::ANY],
        BulkOp::Copy,
    ),
    row(
        "copy.bulk_store",
        "Begins to copy so many bytes to the first address from the second, all of them multiples of 16.",
        &[Accepts::Pointer(&[Space::Global]), Accepts::Pointer(&[Space::Shared]), BYTES],
        BulkOp::Store,
    ),
    load("tma.load1", &[mbarrier::ANY, MAP, mbarrier::ANY, AT]),
    load("tma.load2", &[mbarrier::ANY, MAP, mbarrier::ANY, AT, AT]),
    load("tma.load3", &[mbarrier::ANY, MAP, mbarrier::ANY, AT, AT, AT]),
    load("tma.load4", &[mbarrier::ANY, MAP, mbarrier::ANY, AT, AT, AT, AT]),
    load("tma.load5", &[mbarrier::ANY, MAP, mbarrier::ANY, AT, AT, AT, AT, AT]),
    store("tma.store1", &[MAP, FROM, AT]),
    store("tma.store2", &[MAP, FROM, AT, AT]),
    store("tma.store3", &[MAP, FROM, AT, AT, AT]),
    store("tma.store4", &[MAP, FROM, AT, AT, AT, AT]),
    store("tma.store5", &[MAP, FROM, AT, AT, AT, AT, AT]),
    multicast("tma.multicast1", &[FROM, MAP, FROM, BLOCKS, AT]),
    multicast("tma.multicast2", &[FROM, MAP, FROM, BLOCKS, AT, AT]),
    multicast("tma.multicast3", &[FROM, MAP, FROM, BLOCKS, AT, AT, AT]),
    multicast("tma.multicast4", &[FROM, MAP, FROM, BLOCKS, AT, AT, AT, AT]),
    multicast("tma.multicast5", &[FROM, MAP, FROM, BLOCKS, AT, AT, AT, AT, AT]),
    reduce("tma.reduce1", &[MAP, FROM, BY, AT]),
    reduce("tma.reduce2", &[MAP, FROM, BY, AT, AT]),
    reduce("tma.reduce3", &[MAP, FROM, BY, AT, AT, AT]),
    reduce("tma.reduce4", &[MAP, FROM, BY, AT, AT, AT, AT]),
    reduce("tma.reduce5", &[MAP, FROM, BY, AT, AT, AT, AT, AT]),
    prefetch("tma.prefetch1", &[MAP, AT]),
    prefetch("tma.prefetch2", &[MAP, AT, AT]),
    prefetch("tma.prefetch3", &[MAP, AT, AT, AT]),
    prefetch("tma.prefetch4", &[MAP, AT, AT, AT, AT]),
    prefetch("tma.prefetch5", &[MAP, AT, AT, AT, AT, AT]),
    row(
        "copy.bulk_commit",
        "Makes a group of the copies out of shared memory that this thread has begun since its last group.",
        &[],
        BulkOp::Commit,
    ),
    row(
        "copy.bulk_wait",
        "Waits until no more than so many groups of this thread are in flight, the last ones.",
        GROUPS,
        BulkOp::Wait,
    ),
    row(
        "copy.bulk_wait_read",
        "Waits until no more than so many groups of this thread read what they copy, the last ones.",
        GROUPS,
        BulkOp::WaitRead,
    ),
    row(
        "fence.proxy_async",
        "What was written before it is seen by copies of many bytes that begin behind it.",
        &[],
        BulkOp::Fence,
    ),
    row(
        "fence.proxy_async_shared",
        "What was written into shared memory before it is seen by copies of many bytes that begin behind it, and by products of warpgroups.",
        &[],
        BulkOp::FenceShared,
    ),
];
