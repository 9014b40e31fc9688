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

pub(super) const ROWS: &[Intrinsic] = &[
    row("thread_idx.x", "The thread within its block, in x.", Geometry::ThreadIdx(0), VARIES),
    row("thread_idx.y", "The thread within its block, in y.", Geometry::ThreadIdx(1), VARIES),
    row("thread_idx.z", "The thread within its block, in z.", Geometry::ThreadIdx(2), VARIES),
    row("block_idx.x", "The block within the grid, in x.", Geometry::BlockIdx(0), BLOCK),
    row("block_idx.y", "The block within the grid, in y.", Geometry::BlockIdx(1), BLOCK),
    row("block_idx.z", "The block within the grid, in z.", Geometry::BlockIdx(2), BLOCK),
    row("block_dim.x", "The threads of a block, in x.", Geometry::BlockDim(0), GRID),
    row("block_dim.y", "The threads of a block, in y.", Geometry::BlockDim(1), GRID),
    row("block_dim.z", "The threads of a block, in z.", Geometry::BlockDim(2), GRID),
    row("grid_dim.x", "The blocks of the grid, in x.", Geometry::GridDim(0), GRID),
    row("grid_dim.y", "The blocks of the grid, in y.", Geometry::GridDim(1), GRID),
    row("grid_dim.z", "The blocks of the grid, in z.", Geometry::GridDim(2), GRID),
    row(
        "block_in_cluster_idx.x",
        "The block within its cluster, in x.",
        Geometry::BlockInCluster(0),
        BLOCK,
    ),
    row(
        "block_in_cluster_idx.y",
        "The block within its cluster, in y.",
        Geometry::BlockInCluster(1),
        BLOCK,
    ),
    row(
        "block_in_cluster_idx.z",
        "The block within its cluster, in z.",
        Geometry::BlockInCluster(2),
        BLOCK,
    ),
    row(
        "block_in_cluster_dim.x",
        "The blocks of a cluster, in x.",
        Geometry::BlockInClusterDim(0),
        GRID,
    ),
    row(
        "block_in_cluster_dim.y",
        "The blocks of a cluster, in y.",
        Geometry::BlockInClusterDim(1),
        GRID,
    ),
    row(
        "block_in_cluster_dim.z",
        "The blocks of a cluster, in z.",
        Geometry::BlockInClusterDim(2),
        GRID,
    ),
    row("cluster_idx.x", "The cluster within the grid, in x.", Geometry::ClusterIdx(0), CLUSTER),
    row("cluster_idx.y", "The cluster within the grid, in y.", Geometry::ClusterIdx(1), CLUSTER),
    row("cluster_idx.z", "The cluster within the grid, in z.", Geometry::ClusterIdx(2), CLUSTER),
    row("cluster_dim.x", "The clusters of the grid, in x.", Geometry::ClusterDim(0), GRID),
    row("cluster_dim.y", "The clusters of the grid, in y.", Geometry::ClusterDim(1), GRID),
    row("cluster_dim.z", "The clusters of the grid, in z.", Geometry::ClusterDim(2), GRID),
    row(
        "block_idx_in_cluster",
        "The block within its cluster. Blocks are counted in x first, then in y, then in z.",
        Geometry::ClusterRank,
        BLOCK,
    ),
    row("cluster_size", "How many blocks a cluster has.", Geometry::ClusterSize, GRID),
    row("lane_idx", "The thread within its warp: 0 to 31.", Geometry::Lane, VARIES),
    row(
        "warp_idx",
        "The warp within its block. Threads are counted in x first, then in y, then in z.",
        Geometry::Warp,
        Spread::Uniform(Level::Warp),
    ),
];
