// SPDX-License-Identifier: Apache-2.0
//! How a launch on a GPU is laid out: its grid, its blocks, its clusters, and what else the driver
//! is told beside the kernel's arguments.

use crate::expr::Expr;
use kernpack_syntax::Placed;

/// The layout of a launch, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Blocks in the grid, x first; up to three. A grid without blocks is no launch.
    pub grid: Vec<Placed<Expr>>,
    /// Threads in a block, x first; up to three.
    pub block: Vec<Placed<Expr>>,
    /// Blocks in a cluster, x first; none where there are no clusters.
    pub cluster: Vec<Placed<Expr>>,
    /// Bytes of dynamic shared memory.
    pub shared: Placed<Expr>,
    /// Whether all blocks run at once.
    pub cooperative: bool,
    /// Whether the kernel may start before the one before it in the stream has ended (programmatic
    /// dependent launch).
    pub dependent: bool,
    /// The priority, where it is not the stream's.
    pub priority: Option<Placed<Expr>>,
    /// The parameter that is the stream; the environment's where there is none.
    pub stream: Option<Placed<String>>,
}

impl Geometry {
    /// A grid of blocks, and nothing else.
    pub fn new(grid: Vec<Expr>, block: Vec<Expr>) -> Geometry {
        let built = |exprs: Vec<Expr>| exprs.into_iter().map(Placed::from).collect();
        let (grid, block) = (built(grid), built(block));
        Geometry {
            grid,
            block,
            cluster: vec![],
            shared: Expr::Int(0).into(),
            cooperative: false,
            dependent: false,
            priority: None,
            stream: None,
        }
    }
}
