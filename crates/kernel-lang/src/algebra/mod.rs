// SPDX-License-Identifier: Apache-2.0
//! The functions of the layout algebra, which kernels and packed functions call alike: one row a
//! function, with its parameters as CuTe DSL calls them, and one operation a row.
//!
//! Kernels compute with numbers of threads, and packed functions with expressions over the dims of
//! a call. What differs is behind [`Algebra`]: what a value is as a layout, a tensor or a number,
//! and how a result becomes a value. [`run`] has each operation once, for both.
//!
//! Not here: the algebra itself, which is `kernpack_layout`, and functions of numbers.

mod attribute;
mod read;
mod run;
#[cfg(test)]
mod tests;

pub(crate) use attribute::{attribute, index_of, mode_of, names_of, shape_value};
pub(crate) use read::{Algebra, Form, Remake};
pub(crate) use run::run;

/// A function of the algebra.
pub(crate) struct Row {
    /// Its name, behind `kp.`.
    pub name: &'static str,
    /// Its parameters: `x`, which is passed, and `x=`, which may be left out.
    pub takes: &'static [&'static str],
    /// Its meaning.
    pub doc: &'static str,
    /// The operation that it computes.
    operation: Operation,
}

/// The operations of functions: their names say it.
#[derive(Clone, Copy, Debug)]
enum Operation {
    MakeLayout,
    MakeOrderedLayout,
    MakeSwizzle,
    MakeComposedLayout,
    MakeLayoutTv,
    TileToShape,
    Size,
    Cosize,
    Rank,
    Depth,
    Shape,
    Get,
    Select,
    GroupModes,
    Coalesce,
    Filter,
    Flatten,
    RightInverse,
    LeftInverse,
    Complement,
    Composition,
    LogicalDivide,
    ZippedDivide,
    TiledDivide,
    FlatDivide,
    LogicalProduct,
    ZippedProduct,
    TiledProduct,
    FlatProduct,
    BlockedProduct,
    RakedProduct,
    LocalTile,
    LocalPartition,
    DomainOffset,
    CrdToIdx,
    IdxToCrd,
    ElemLess,
}

const fn row(
    name: &'static str,
    takes: &'static [&'static str],
    doc: &'static str,
    operation: Operation,
) -> Row {
    Row { name, takes, doc, operation }
}

/// The function of that name.
pub(crate) fn find(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// Every function, in the order of the reference.
pub(crate) const ROWS: &[Row] = &[
    row(
        "make_layout",
        &["shape", "stride="],
        "The layout of a shape and strides. Without strides it is compact, and its first mode the \
         fastest.",
        Operation::MakeLayout,
    ),
    row(
        "make_ordered_layout",
        &["shape", "order"],
        "The compact layout of a shape, whose modes of smaller `order` are faster.",
        Operation::MakeOrderedLayout,
    ),
    row(
        "make_swizzle",
        &["b", "m", "s"],
        "The swizzle that changes `b` bits of an index, above `m` bits that stay, by those `s` \
         places above them.",
        Operation::MakeSwizzle,
    ),
    row(
        "make_composed_layout",
        &["inner", "offset", "outer"],
        "The layout `outer` with a swizzle of its indices, `inner`. The offset is 0. It has no \
         tiles, partitions, slices, inverses and complement of its own: a tensor in shared memory \
         that is made with it has tiles.",
        Operation::MakeComposedLayout,
    ),
    row(
        "make_layout_tv",
        &["thr_layout", "val_layout"],
        "A tuple: the tile that threads with some values each have together, and the layout that \
         says for a thread and a value which element of the tile it is.",
        Operation::MakeLayoutTv,
    ),
    row(
        "tile_to_shape",
        &["atom", "trg_shape", "order="],
        "As many copies of a layout as cover a shape, those along modes of smaller `order` first.",
        Operation::TileToShape,
    ),
    row(
        "size",
        &["a", "mode="],
        "How many elements there are, in all or in some modes.",
        Operation::Size,
    ),
    row("cosize", &["a"], "One more than the largest index.", Operation::Cosize),
    row("rank", &["a"], "How many modes there are.", Operation::Rank),
    row("depth", &["a"], "How deep modes are nested.", Operation::Depth),
    row("shape", &["input"], "The extents, as a tuple.", Operation::Shape),
    row("get", &["input", "mode"], "One mode, as a layout or a tensor.", Operation::Get),
    row("select", &["input", "mode"], "Some modes, in that order.", Operation::Select),
    row(
        "group_modes",
        &["input", "begin", "end="],
        "With the modes from `begin` up to `end` in one, or all from there on.",
        Operation::GroupModes,
    ),
    row(
        "coalesce",
        &["input"],
        "With as few modes as can be, and the same indices.",
        Operation::Coalesce,
    ),
    row("filter", &["input"], "Without modes of stride 0 or extent 1.", Operation::Filter),
    row("flatten", &["a"], "With all modes at the top.", Operation::Flatten),
    row(
        "right_inverse",
        &["input"],
        "The layout that undoes it from the right.",
        Operation::RightInverse,
    ),
    row(
        "left_inverse",
        &["input"],
        "The layout that undoes it from the left.",
        Operation::LeftInverse,
    ),
    row(
        "complement",
        &["input", "cotarget="],
        "What a layout leaves out of so many indices, or below its largest one.",
        Operation::Complement,
    ),
    row(
        "composition",
        &["lhs", "rhs"],
        "The layout `lhs(rhs(c))`; of a tensor, its elements in that order.",
        Operation::Composition,
    ),
    row(
        "logical_divide",
        &["target", "tiler"],
        "Tiles, and what is left of each mode.",
        Operation::LogicalDivide,
    ),
    row(
        "zipped_divide",
        &["target", "tiler"],
        "The tiles' modes in one mode, and the rests in another.",
        Operation::ZippedDivide,
    ),
    row(
        "tiled_divide",
        &["target", "tiler"],
        "The tiles' modes in one mode, and a mode for each rest.",
        Operation::TiledDivide,
    ),
    row(
        "flat_divide",
        &["target", "tiler"],
        "A mode for each mode of the tile, and one for each rest.",
        Operation::FlatDivide,
    ),
    row(
        "logical_product",
        &["block", "tiler"],
        "A block, and its copies.",
        Operation::LogicalProduct,
    ),
    row(
        "zipped_product",
        &["block", "tiler"],
        "The blocks' modes in one mode, and the copies in another.",
        Operation::ZippedProduct,
    ),
    row(
        "tiled_product",
        &["block", "tiler"],
        "The blocks' modes in one mode, and a mode for each of the copies.",
        Operation::TiledProduct,
    ),
    row(
        "flat_product",
        &["block", "tiler"],
        "A mode for each of the block, and one for each of the copies.",
        Operation::FlatProduct,
    ),
    row(
        "blocked_product",
        &["block", "tiler"],
        "Copies of a block side by side.",
        Operation::BlockedProduct,
    ),
    row(
        "raked_product",
        &["block", "tiler"],
        "Copies of a block, interleaved.",
        Operation::RakedProduct,
    ),
    row(
        "local_tile",
        &["input", "tiler", "coord", "proj="],
        "The tile at a coordinate, counted in tiles; `None` keeps all of a mode. `proj` leaves \
         out modes of tiler and coordinate where it is `None`.",
        Operation::LocalTile,
    ),
    row(
        "local_partition",
        &["target", "tiler", "index"],
        "The elements of thread `index`, where a layout says how the threads lie.",
        Operation::LocalPartition,
    ),
    row(
        "domain_offset",
        &["coord", "tensor"],
        "The tensor from a coordinate on, with its extents.",
        Operation::DomainOffset,
    ),
    row(
        "crd2idx",
        &["coord", "layout"],
        "The index of a coordinate; `layout(coord)` is that, too.",
        Operation::CrdToIdx,
    ),
    row(
        "idx2crd",
        &["idx", "shape"],
        "The coordinate with a number, the first mode being the fastest.",
        Operation::IdxToCrd,
    ),
    row(
        "elem_less",
        &["lhs", "rhs"],
        "Whether each number of a coordinate is less than that of another.",
        Operation::ElemLess,
    ),
];
