// SPDX-License-Identifier: Apache-2.0
//! Placeholder while the tree is laid out.

pub mod link;
