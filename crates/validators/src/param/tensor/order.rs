// SPDX-License-Identifier: Apache-2.0
//! Where the elements of a tensor lie, as it is written: `order=` and `strides=`.

use crate::dim::Dim;
use crate::rule::join;

/// The order of a compact tensor's dims in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// The last dim is the fastest.
    Row,
    /// The first dim is the fastest.
    Col,
    /// A rank for each dim, 0 for the fastest.
    Ranks(Vec<usize>),
}

impl Order {
    /// The dims from the fastest to the slowest; nothing where the ranks are no permutation.
    pub fn fastest_first(&self, n_dims: usize) -> Option<Vec<usize>> {
        match self {
            Order::Row => Some((0..n_dims).rev().collect()),
            Order::Col => Some((0..n_dims).collect()),
            Order::Ranks(ranks) => {
                let dim_of = |rank| ranks.iter().position(|r| *r == rank);
                let dims: Option<Vec<_>> = (0..n_dims).map(dim_of).collect();
                dims.filter(|_| ranks.len() == n_dims)
            }
        }
    }

    /// Its words in messages: `row-major order`.
    pub fn words(&self) -> String {
        match self {
            Order::Row => "row-major order".to_string(),
            Order::Col => "column-major order".to_string(),
            Order::Ranks(ranks) => format!("order ({})", join(ranks)),
        }
    }
}

/// The strides that a tensor must have.
#[derive(Clone, Debug, PartialEq)]
pub enum Strides {
    /// Those of a compact tensor.
    Compact(Order),
    /// Anything.
    Any,
    /// The stride of each dim, in elements.
    Dims(Vec<Dim>),
}
