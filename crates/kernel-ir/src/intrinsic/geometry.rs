// SPDX-License-Identifier: Apache-2.0
//! Where in the grid a thread is. Each is an `int64`, as indices are.

use super::{Completes, Geometry, Gives, Intrinsic, Level, Meaning, Spread, Touches};
use crate::types::Scalar;

const fn row(
    name: &'static str,
    doc: &'static str,
    geometry: Geometry,
    result: Spread,
) -> Intrinsic {
    Intrinsic {
        name,
        doc,
        takes: &[],
        gives: Gives::Exactly(Scalar::I64),
        together: Level::Thread,
        uniform: Level::Thread,
        touches: Touches::Nothing,
        completes: Completes::AtOnce,
        result,
        meaning: Meaning::Geometry(geometry),
    }
}

const VARIES: Spread = Spread::Varies;
const BLOCK: Spread = Spread::Uniform(Level::Block);
const CLUSTER: Spread = Spread::Uniform(Level::Cluster);
const GRID: Spread = Spread::Uniform(Level::Grid);

/// Three rows each of what there is along an axis, and then the others.
macro_rules! rows {
    (
        along { $( $along:literal, $what:literal, $geometry:ident, $spread:expr; )* }
        others { $( $name:literal, $doc:literal, $other:ident, $its:expr; )* }
    ) => {
        &[
            $(
                row(concat!($along, ".x"), concat!($what, ", in x."), Geometry::$geometry(0), $spread),
                row(concat!($along, ".y"), concat!($what, ", in y."), Geometry::$geometry(1), $spread),
                row(concat!($along, ".z"), concat!($what, ", in z."), Geometry::$geometry(2), $spread),
            )*
            $( row($name, $doc, Geometry::$other, $its), )*
        ]
    };
}

pub(super) const ROWS: &[Intrinsic] = rows! {
    along {
        "thread_idx", "The thread within its block", ThreadIdx, VARIES;
        "block_idx", "The block within the grid", BlockIdx, BLOCK;
        "block_dim", "The threads of a block", BlockDim, GRID;
        "grid_dim", "The blocks of the grid", GridDim, GRID;
        "block_in_cluster_idx", "The block within its cluster", BlockInCluster, BLOCK;
        "block_in_cluster_dim", "The blocks of a cluster", BlockInClusterDim, GRID;
        "cluster_idx", "The cluster within the grid", ClusterIdx, CLUSTER;
        "cluster_dim", "The clusters of the grid", ClusterDim, GRID;
    }
    others {
        "block_idx_in_cluster",
            "The block within its cluster. Blocks are counted in x first, then in y, then in z.",
            ClusterRank, BLOCK;
        "cluster_size", "How many blocks a cluster has.", ClusterSize, GRID;
        "lane_idx", "The thread within its warp: 0 to 31.", Lane, VARIES;
        "warp_idx",
            "The warp within its block. Threads are counted in x first, then in y, then in z.",
            Warp, Spread::Uniform(Level::Warp);
        "warpgroup_idx", "The warpgroup within its block: four warps in a row are one.",
            Warpgroup, Spread::Uniform(Level::Warpgroup);
    }
};
