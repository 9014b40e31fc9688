// SPDX-License-Identifier: Apache-2.0
//! Needs of rows, of a GPU and of PTX, beyond what every GPU has that kernpack makes code for. LLVM
//! ends the process where it is asked for what an architecture has not, so that nothing is lowered
//! before this is known.

use super::rows;
use kernpack_kernel_ir::group_product::has_products;
use kernpack_kernel_ir::intrinsic::{Geometry, Intrinsic, MatrixOp, MbarrierOp, Meaning};
use kernpack_kernel_ir::kernel::Kernel;
use kernpack_kernel_ir::op::{Call, Expr, Load, OpKind, Operand, Qualifier, Region, Store};
use kernpack_kernel_ir::verify::{check_calls_together, check_ops};
use kernpack_machine::{Arch, ArchKind, PtxVersion, Suffix};
use kernpack_syntax::{Diagnostic, Diagnostics};

/// The least that a GPU and PTX have to be: 80 is `sm_80`, and 70 PTX 7.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The compute capability.
    pub sm: u32,
    /// The version of PTX.
    pub ptx: u32,
    /// Whether it is of that one architecture, which code is made for by its `a`: 90 is `sm_90a`.
    pub is_of_one: bool,
}

impl Needs {
    /// Every GPU that kernpack makes code for has it.
    pub const NOTHING: Needs = Needs {
        sm: Arch::OLDEST_OF_KERNELS.number,
        ptx: PtxVersion::OLDEST_OF_KERNELS.number(),
        is_of_one: false,
    };

    /// Of clusters and dependent launches, which came with sm_90.
    pub const SINCE_SM_90: Needs = Needs { sm: 90, ptx: 78, ..Needs::NOTHING };

    /// Of mbarriers: what is said of their order is newer than they are.
    const MBARRIERS: Needs = Needs { ptx: 80, ..Needs::NOTHING };

    /// Of arrivals that order nothing.
    const RELAXED_ARRIVALS: Needs = Needs { sm: 90, ptx: 86, ..Needs::NOTHING };

    /// Of mbarriers that count bytes, and what goes with them.
    const COUNTS_OF_BYTES: Needs = Needs { sm: 90, ptx: 80, ..Needs::NOTHING };

    /// Of products of warpgroups, and of registers that these hand to one another.
    const WARPGROUPS: Needs = Needs { sm: 90, ptx: 80, is_of_one: true };

    /// Of a call: what its row does, and its words.
    pub fn of(call: &Call) -> Needs {
        let words = call.operands.iter().filter_map(|operand| match operand {
            Operand::Word(word) => Some(Needs::of_word(word)),
            Operand::Value(_) | Operand::Constant(_) | Operand::Local(_) => None,
        });
        words.fold(Needs::of_row(call.intrinsic), Needs::and)
    }

    /// Of a row: what its entry does, or what it is about.
    pub fn of_row(row: &Intrinsic) -> Needs {
        let entry = rows::find(row.name).map_or(Needs::NOTHING, |entry| entry.needs);
        entry.and(Needs::of_meaning(row.meaning))
    }

    fn of_meaning(meaning: Meaning) -> Needs {
        match meaning {
            Meaning::Cluster(_)
            | Meaning::Dependent(_)
            | Meaning::Geometry(
                Geometry::BlockInCluster(_)
                | Geometry::BlockInClusterDim(_)
                | Geometry::ClusterIdx(_)
                | Geometry::ClusterDim(_)
                | Geometry::ClusterRank
                | Geometry::ClusterSize,
            ) => Needs::SINCE_SM_90,
            // Stores of matrices came with clusters.
            Meaning::Matrix(MatrixOp::Store) => Needs::SINCE_SM_90,
            Meaning::Product(_) | Meaning::Registers { .. } => Needs::WARPGROUPS,
            Meaning::Bulk(_) => Needs::COUNTS_OF_BYTES,
            Meaning::Mbarrier(op) => match op {
                MbarrierOp::ArriveRelaxed => Needs::RELAXED_ARRIVALS,
                MbarrierOp::ExpectTx | MbarrierOp::ArriveExpectTx | MbarrierOp::CompleteTx => {
                    Needs::COUNTS_OF_BYTES
                }
                MbarrierOp::Init
                | MbarrierOp::Arrive
                | MbarrierOp::ArriveAfterCopies
                | MbarrierOp::TryWait
                | MbarrierOp::Wait => Needs::MBARRIERS,
            },
            _ => Needs::NOTHING,
        }
    }

    /// The needs of a word: clusters, where it is about them.
    fn of_word(word: &str) -> Needs {
        if word == "cluster" { Needs::SINCE_SM_90 } else { Needs::NOTHING }
    }

    /// Priorities in caches came after the first GPUs that have them.
    const fn of_qualifier(qualifier: Qualifier) -> Needs {
        match qualifier {
            Qualifier::Keep => Needs { ptx: 74, ..Needs::NOTHING },
            Qualifier::Volatile | Qualifier::Stream | Qualifier::LastUse => Needs::NOTHING,
        }
    }

    fn of_region(region: &Region) -> Needs {
        region.0.iter().fold(Needs::NOTHING, |all, op| match &op.kind {
            OpKind::Call(call) => all.and(Needs::of(call)),
            OpKind::Expr(Expr::Load(Load { qualifier: Some(qualifier), .. }))
            | OpKind::Store(Store { qualifier: Some(qualifier), .. }) => {
                all.and(Needs::of_qualifier(*qualifier))
            }
            kind => kind.regions().map(Needs::of_region).fold(all, Needs::and),
        })
    }

    /// Both.
    fn and(self, other: Needs) -> Needs {
        Needs {
            sm: self.sm.max(other.sm),
            ptx: self.ptx.max(other.ptx),
            is_of_one: self.is_of_one || other.is_of_one,
        }
    }

    /// Whether an architecture has it.
    pub fn are_met_by(self, arch: Arch) -> bool {
        match self.is_of_one {
            true => arch.number == self.sm && arch.suffix == Suffix::A,
            false => arch.number >= self.sm,
        }
    }

    /// The architecture that has it, as its code is called.
    fn arch(self) -> Arch {
        let suffix = if self.is_of_one { Suffix::A } else { Suffix::None };
        Arch { kind: ArchKind::Sm, number: self.sm, suffix }
    }
}

/// The least version of PTX that has what these kernels do.
pub(super) fn needed_ptx(kernels: &[&Kernel]) -> PtxVersion {
    let needs = kernels.iter().map(|kernel| Needs::of_region(&kernel.body));
    let Needs { ptx, .. } = needs.fold(Needs::NOTHING, Needs::and);
    PtxVersion::of_number(ptx)
}

/// The lack of something that a row needs, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lack {
    /// A version of PTX.
    Ptx(u32),
    /// An architecture: of that number or a newer one, or that alone.
    Arch(u32, bool),
}

/// Checks that each row that a kernel calls can be had by an architecture: `ptx` is a version of
/// PTX, 80 for PTX 8.0. And that it does not print beside products of warpgroups.
///
/// # Errors
/// The call of a row that needs most, else each that prints.
pub fn check_needs(kernel: &Kernel, arch: Arch, ptx: u32) -> Result<(), Diagnostics> {
    let lacks = |call: &Call| {
        let needs = Needs::of(call);
        match needs.are_met_by(arch) {
            false => Some(Lack::Arch(needs.sm, needs.is_of_one)),
            true => (needs.ptx > ptx).then_some(Lack::Ptx(needs.ptx)),
        }
    };
    check_calls_together(kernel, lacks, |call, lack| {
        let (name, needs) = (call.intrinsic.name, Needs::of(call));
        match lack {
            Lack::Arch(..) => {
                let (needed, made) = (needs.arch(), Arch { kind: ArchKind::Sm, ..arch });
                let message = format!("`{name}` needs {needed}, and code is made for {made}");
                let or_newer = if needs.is_of_one { "" } else { " or newer" };
                let help = format!(
                    "build for {needed}{or_newer} alone, or give it a launch of its own, \
                     `launch(…, arch=\"{needed}\")`, beside one that does without it"
                );
                Diagnostic::new("kernel-arch", message).help(help)
            }
            Lack::Ptx(needed) => {
                let (least, has) = (PtxVersion::of_number(needed), PtxVersion::of_number(ptx));
                let message = format!("`{name}` needs PTX {least}, and code is made for PTX {has}");
                Diagnostic::new("kernel-arch", message)
            }
        }
    })?;
    check_prints(kernel)
}

/// Checks that no kernel with products of warpgroups prints.
fn check_prints(kernel: &Kernel) -> Result<(), Diagnostics> {
    if !has_products(&kernel.body) {
        return Ok(());
    }
    check_ops(kernel, |kind| {
        let OpKind::Print(..) = kind else { return None };
        let message = "printing is a call, for which an assembler has each product of a warpgroup wait for the one before";
        let help =
            "run it on the interpreter, which prints, too: `kernpack run`; an assertion is no call";
        Some(Diagnostic::new("printf", message).help(help))
    })
}

#[cfg(test)]
mod tests {
    use super::check_needs;
    use crate::kernel::nvptx::tests::kernel;
    use expect_test::expect;

    #[test]
    fn a_call_needs_an_architecture_and_a_version_of_ptx() {
        let arch = |name: &str| name.parse().expect("it is one");
        let fence = kernel("kernel k() { call fence(cluster) }");
        assert!(check_needs(&fence, arch("sm_90"), 78).is_ok());
        expect![[r#"
            error[kernel-arch]: `fence` needs sm_90, and code is made for sm_89, in `call fence(cluster)`
              help: build for sm_90 or newer alone, or give it a launch of its own, `launch(…, arch="sm_90")`, beside one that does without it"#]].assert_eq(&check_needs(&fence, arch("sm_89"), 78).unwrap_err().to_string());
        expect!["error[kernel-arch]: `fence` needs PTX 7.8, and code is made for PTX 7.7, in `call fence(cluster)`"].assert_eq(&check_needs(&fence, arch("sm_90"), 77).unwrap_err().to_string());
    }

    #[test]
    fn kernels_with_products_do_not_print() {
        let arch = "sm_90a".parse().expect("it is one");
        let of = |rest: &str| {
            kernel(&format!(
                "kernel k(v0 more: bool) block [128, 1, 1] {{
                   shared0 a: bfloat16 bytes 2048 align 256
                   local0 acc: float32 count 4
                   v1: pointer.shared = shared0
                   call wgmma.fence()
                   if v0 {{ call wgmma.shared(local0, 0, v1, v1, v0, bfloat16, 8, k, swizzle32, 16, 256, k, swizzle32, 16, 256) }}
                   call wgmma.commit()
                   call wgmma.wait(0)
                   {rest}
                 }}"
            ))
        };
        assert!(check_needs(&of(""), arch, 80).is_ok());
        assert!(check_needs(&kernel("kernel k() { print \"done\" }"), arch, 80).is_ok());
        expect![[r#"
            error[printf]: printing is a call, for which an assembler has each product of a warpgroup wait for the one before, in `print "done"`
              help: run it on the interpreter, which prints, too: `kernpack run`; an assertion is no call"#]]
            .assert_eq(&check_needs(&of("print \"done\""), arch, 80).unwrap_err().to_string());
    }
}
