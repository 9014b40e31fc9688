// SPDX-License-Identifier: Apache-2.0
//! How much memory a call takes, which is known before any of it is allocated: what tensors hold,
//! and what it takes to know who has touched them: for each element, or for each part of one where
//! kernels touch parts. What blocks take that run side by side is bounded by the interpreter of
//! kernels.

use super::tensor::{InterpretedTensor, Role};
use kernpack_kernel_ir::Scalar;
use kernpack_kernel_ir::interp::{bookkeeping_bytes, touched_bytes};
use kernpack_syntax::Diagnostic;

/// How many tensors a message names: those that take the most.
const NAMED: usize = 3;

/// The bookkeeping of tensors besides their contents.
#[derive(Clone, Copy)]
pub(super) struct Kept<'k> {
    /// Whether a GPU begins with the same bytes.
    pub before: bool,
    /// The bytes that whoever asks keeps of each element.
    pub bytes_per_element: u64,
    /// Whether it is known who has touched them.
    pub is_tracked: bool,
    /// The bytes of the parts of elements of that type that kernels touch.
    pub cell_bytes: &'k dyn Fn(Scalar) -> u32,
    /// How many launches are remembered with what they touch, as another one may meet them.
    pub n_met: usize,
}

/// The bytes that a tensor holds, and those that it takes to know who has touched them.
fn held_and_known(tensor: &InterpretedTensor, kept: Kept<'_>) -> (u64, u64) {
    let size = u64::from(tensor.element.bytes());
    let held = (tensor.span() as u64).saturating_mul(size);
    let known = match tensor.role {
        _ if !kept.is_tracked => 0,
        Role::Read => 0,
        Role::Written | Role::Result | Role::Workspace => {
            bookkeeping_bytes((kept.cell_bytes)(tensor.element), held)
        }
    };
    (held, known)
}

/// The bytes that a tensor takes.
fn bytes_of(tensor: &InterpretedTensor, kept: Kept<'_>) -> u64 {
    let (held, known) = held_and_known(tensor, kept);
    let before = if kept.before { held } else { 0 };
    let told = tensor.n_elements().saturating_mul(kept.bytes_per_element);
    let met = touched_bytes((kept.cell_bytes)(tensor.element), held);
    let met = met.saturating_mul(kept.n_met as u64);
    [before, known, told, met].iter().fold(held, |all, more| all.saturating_add(*more))
}

/// Refuses a call that takes more than it may. Gives how many cores may run it, each of which has
/// what the call writes, and who has touched it, for itself.
pub(super) fn check<'t>(
    tensors: impl Iterator<Item = &'t InterpretedTensor>,
    kept: Kept<'_>,
    most: u64,
) -> Result<usize, Diagnostic> {
    let (mut needs, mut of_core) = (Vec::new(), 0_u64);
    for tensor in tensors {
        needs.push((bytes_of(tensor, kept), tensor.name.as_str()));
        if tensor.role != Role::Read {
            let (held, known) = held_and_known(tensor, kept);
            of_core = of_core.saturating_add(held).saturating_add(known);
        }
    }
    let all = needs.iter().fold(0_u64, |all, (bytes, _)| all.saturating_add(*bytes));
    if all <= most {
        let n_cores = (most - all) / of_core.max(1);
        return Ok(usize::try_from(n_cores).unwrap_or(usize::MAX).max(1));
    }
    needs.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let named = needs.iter().take(NAMED);
    let mut named: Vec<_> =
        named.map(|(bytes, name)| format!("{} for `{name}`", shown(*bytes))).collect();
    if needs.len() > NAMED {
        named.push("less for others".to_string());
    }
    let message = format!(
        "the call takes {} of memory, and may take {}: {}",
        shown(all),
        shown(most),
        named.join(", ")
    );
    let help = "say smaller dims, or let it take more with `--memory`";
    Err(Diagnostic::new("memory", message).help(help))
}

/// Bytes as a person reads them.
fn shown(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.iter().find(|(_, log2)| bytes >> log2 > 0) {
        Some((unit, log2)) => format!("{:.1}{unit}", bytes as f64 / (1_u64 << log2) as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_takes_is_known_before() {
        let tensor =
            |name: &str, n: i64, role| InterpretedTensor::compact(name, Scalar::F32, &[n], role);
        let kept = Kept {
            before: false,
            bytes_per_element: 0,
            is_tracked: true,
            cell_bytes: &|element| element.bytes(),
            n_met: 0,
        };
        let check = |tensors: &[InterpretedTensor], kept, most| {
            check(tensors.iter(), kept, most).map(|_| ()).map_err(|problem| problem.message)
        };
        let read = [tensor("x", 1000, Role::Read)];
        assert_eq!(check(&read, kept, 4000), Ok(()));
        let message = "the call takes 3.9KiB of memory, and may take 3.9KiB: 3.9KiB for `x`";
        assert_eq!(check(&read, kept, 3999), Err(message.to_string()));
        let compared = Kept { before: true, ..kept };
        assert_eq!(check(&read, compared, 8000), Ok(()));
        assert!(check(&read, compared, 7999).is_err());
        let told = Kept { bytes_per_element: 10, ..kept };
        assert_eq!(check(&read, told, 14_000), Ok(()));
        assert!(check(&read, told, 13_999).is_err());
        // Of each launch that another one may meet, 16 bytes more for each element.
        let met = Kept { n_met: 2, ..kept };
        assert_eq!(check(&read, met, 4000 + 2 * 16 * 1001), Ok(()));
        assert!(check(&read, met, 3999 + 2 * 16 * 1001).is_err());
        // What is written has at most 24 bytes more for each element.
        let written = [tensor("y", 1 << 20, Role::Result)];
        assert_eq!(check(&written, kept, 28 << 20), Ok(()));
        assert!(check(&written, kept, 24 << 20).is_err());
        let untracked = Kept { is_tracked: false, ..kept };
        assert_eq!(check(&written, untracked, 4 << 20), Ok(()));
        assert!(check(&written, untracked, (4 << 20) - 1).is_err());
        // And of what is touched byte by byte, for each byte.
        let bytewise = Kept { cell_bytes: &|_| 1, ..kept };
        assert!(check(&written, bytewise, 97 << 20).is_ok());
        assert!(check(&written, bytewise, 95 << 20).is_err());
        // Each core has 28 bytes for each element, and a little more.
        let cores = |most| super::check(written.iter(), kept, most).map_err(|_| ());
        assert_eq!(cores(30 << 20), Ok(1));
        assert_eq!(cores((28 << 20) * 3 + 4096), Ok(2));
        assert_eq!(cores(u64::MAX).map(|most| most > 1000), Ok(true));
        let names = ["a", "b", "c", "d"].map(|name| tensor(name, 1 << 40, Role::Read));
        assert_eq!(
            check(&names, kept, 1 << 30),
            Err("the call takes 16384.0GiB of memory, and may take 1.0GiB: 4096.0GiB for `a`, \
                 4096.0GiB for `b`, 4096.0GiB for `c`, less for others"
                .to_string())
        );
        let huge = [tensor("x", i64::MAX, Role::Written), tensor("y", i64::MAX, Role::Written)];
        assert!(check(&huge, told, u64::MAX - 1).is_err());
    }
}
