// SPDX-License-Identifier: Apache-2.0
//! Nothing: this is a crate of its own because each of its tests builds crates with all that it
//! depends on, which is `kernpack` with the features that a user has, and no compiler.
