// SPDX-License-Identifier: Apache-2.0
//! Address spaces, by LLVM's numbers. A plain pointer may point into any of them.

use crate::llvm::{AddressSpace, Ty};
use kernpack_kernel_ir::types::Space;

/// Memory that all blocks see, where tensors are.
const GLOBAL: AddressSpace = AddressSpace(1);
/// Memory of a block.
pub(super) const SHARED: AddressSpace = AddressSpace(3);
/// Memory of the blocks of a cluster.
pub(super) const CLUSTER: AddressSpace = AddressSpace(7);

/// The type of pointers into a space. Register tensors are on the stack, and maps among
/// the parameters, where plain pointers point.
pub(super) const fn pointer_ty(space: Space) -> Ty {
    match space {
        Space::Global => Ty::PtrTo(GLOBAL),
        Space::Shared => Ty::PtrTo(SHARED),
        Space::Cluster => Ty::PtrTo(CLUSTER),
        Space::Local | Space::Map => Ty::Ptr,
    }
}
