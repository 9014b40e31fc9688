// SPDX-License-Identifier: Apache-2.0
//! Rules of well-formed kernels, and what is known of one that keeps them.
//!
//! This is the contract between those who make kernels and those who read them: what is accepted
//! here, the interpreter and every lowering take without a panic. So a reader may rely on each of
//! these rules, and on nothing else.
//!
//! Of what stands around the operations (`head`):
//!
//! 1. The kernel's name is a C identifier. Parameter `i` is value `v{i}`, of its type. Parameters
//!    have at most [`MOST_PARAM_BYTES`] bytes.
//! 2. What is known of a parameter holds for some number: the least is not above the largest, the
//!    divisor is 1 or more, and of floats and bools nothing is known.
//! 3. A block has at most [`MOST_THREADS`] threads, of which 64 in z, and one at least.
//!    Demands are such that some GPU meets them. Blocks are demanded where their threads are known,
//!    and not together with registers.
//! 4. Arrays of a block have together at most [`shared::MOST_BYTES`] bytes, as far as these are
//!    known, and a parameter that says how many is an `int64`. Register tensors have at most
//!    [`MOST_LOCAL_BYTES`].
//! 5. An alignment is a power of two, at least an element's size, and at most [`MOST_ALIGN`].
//! 6. A vector has 2, 4, 8 or 16 lanes, no bools, and at most 16 bytes.
//! 7. A map has 1 to 5 dims, and a box of 1 to 256 elements along each, which a block has room for.
//!    Its rows are a multiple of 16 bytes, and where there is a swizzle as long as its span.
//! 8. A place names a file and callers that exist; a caller has a smaller number.
//!
//! Of names and structure (`scope`):
//!
//! 9. Values, slots, arrays and places that are used exist. A value is defined once, and used
//!    behind its definition, in its region or within; values of the condition of a `while` are
//!    known in its body.
//! 10. `break` and `continue` stand in a loop. Nothing stands behind a jump, and none stands among
//!     the operations that compute the condition of a `while`, but in loops there.
//! 11. Regions nest at most [`MAX_DEPTH`] deep.
//!
//! Of types (`types`, `call`):
//!
//! 12. Operands have the types that the operation is defined on, and the result is what it gives. A
//!     value is known to be a constant where a `const` gives it, and only there. A volatile access
//!     is of one element that threads share, and one with a hint of global memory.
//! 13. A lane exists. A format has as many `{}` as there are numbers, of which an assertion has at
//!     most [`MOST_VALUES`](crate::op::Assert::MOST_VALUES). A `{0}` of assembly stands for something.
//!     No text has a NUL in it, and the name of what is checked has no `{}`. The message of an
//!     assertion has at most [`MOST_BYTES`](crate::op::Assert::MOST_BYTES).
//! 14. A call gives each operand that its row takes, of a type or kind that the row accepts, and
//!     constants within the row's bounds. A copy of a box is of a map that is a parameter, with a
//!     coordinate for each of its dims; nothing else is done with the address of a map.
//!
//! Of what happens as a kernel runs:
//!
//! 15. A slot is set on every way to where it is read (`assigned`).
//! 16. What is written lies in memory that may be written: behind a parameter that `is_written`, in
//!     an array of the block or in a register tensor (`write`). Assembly is not looked into.
//! 17. What threads do together, they all get to: around a row of a level, conditions are uniform
//!     at that level, and no thread has left (`uniform`).
//! 18. A block is whole warpgroups where one of these does something together, as far as its
//!     threads are known. All threads of a warpgroup mean the same product (`products`).
//! 19. Register tensors that products are made of are accessed at elements that are known, whole
//!     and without a condition, and not while a product with them is in flight. A fence stands
//!     between such an access and the next product with them.
//! 20. A multiprocessor has the registers that the warpgroups of a block ask for at last, as far as
//!     its threads are known, and where each of them comes by (`budget`).
//!
//! Whether a target has the rows that are called is a question of its own: [`check_calls`].
//! Functions have rules beyond these: [`verify_function`].
//!
//! [`MAX_DEPTH`]: crate::text::MAX_DEPTH
//! [`MOST_PARAM_BYTES`]: kernpack_machine::block::MOST_PARAM_BYTES
//! [`MOST_THREADS`]: kernpack_machine::block::MOST_THREADS
//! [`shared::MOST_BYTES`]: kernpack_machine::shared::MOST_BYTES

mod assigned;
mod budget;
mod call;
mod function;
mod head;
mod products;
mod refused;
mod report;
mod scope;
#[cfg(test)]
mod tests;
mod types;
mod uniform;
mod write;

use crate::kernel::Kernel;
use kernpack_syntax::Diagnostics;
use report::Report;

pub use function::verify_function;
pub use products::Handed;
pub use refused::{check_calls, check_calls_together, check_ops};
#[cfg(any(test, feature = "generate"))]
pub(crate) use types::is_defined;
pub use uniform::Uniformity;

/// The most bytes of a thread's register tensors.
pub const MOST_LOCAL_BYTES: u32 = 64 << 10;
/// The largest alignment, in bytes.
pub const MOST_ALIGN: u32 = 1024;

/// A kernel that keeps the rules, with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How alike values are among threads.
    pub uniformity: Uniformity,
}

/// Checks the rules that this module opens with.
///
/// # Errors
/// All that is wrong, at the places of the operations. Where names are wrong no more is said of
/// types, and where types are, no more of what happens as the kernel runs.
pub fn verify(kernel: &Kernel) -> Result<Verified, Diagnostics> {
    let mut report = Report::new(kernel);
    head::verify(&mut report);
    scope::verify(&mut report);
    let mut report = report.unless_wrong()?;
    types::verify(&mut report);
    let mut report = report.unless_wrong()?;
    assigned::verify(&mut report);
    write::verify(&mut report);
    let uniformity = uniform::verify(&mut report);
    products::verify(&mut report, &uniformity);
    budget::verify(&mut report);
    report.unless_wrong()?;
    Ok(Verified { uniformity })
}
