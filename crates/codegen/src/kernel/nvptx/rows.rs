// SPDX-License-Identifier: Apache-2.0
//! NVIDIA's column of the table of intrinsics: how each row that computes is done, and what that
//! needs. Rows of another meaning are done as they mean (`call.rs`).

use super::needs::Needs;

/// How a row that computes is done.
pub(super) struct Entry {
    /// The row's name.
    pub name: &'static str,
    /// How it is done.
    pub how: How,
    /// The needs of that.
    pub needs: Needs,
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By a function of LLVM that takes the operands, and has variants by the type of the first.
    Llvm(&'static str),
    /// By PTX, with `{0}` for the result and `{1}`, `{2}` ... for the operands.
    Ptx(&'static str),
}

const fn llvm(name: &'static str, function: &'static str) -> Entry {
    Entry { name, how: How::Llvm(function), needs: Needs::NOTHING }
}

const fn ptx(name: &'static str, text: &'static str, needs: Needs) -> Entry {
    Entry { name, how: How::Ptx(text), needs }
}

/// Every entry, in the order of the table.
pub(super) const ENTRIES: &[Entry] = &[
    llvm("fma", "llvm.fma"),
    llvm("sqrt", "llvm.sqrt"),
    llvm("floor", "llvm.floor"),
    llvm("ceil", "llvm.ceil"),
    llvm("trunc", "llvm.trunc"),
    llvm("round_even", "llvm.rint"),
    ptx("fast_exp2", "ex2.approx.ftz.f32 {0}, {1};", Needs::NOTHING),
    ptx("fast_log2", "lg2.approx.f32 {0}, {1};", Needs::NOTHING),
    ptx("fast_sin", "sin.approx.f32 {0}, {1};", Needs::NOTHING),
    ptx("fast_cos", "cos.approx.f32 {0}, {1};", Needs::NOTHING),
    ptx("fast_tanh", "tanh.approx.f32 {0}, {1};", Needs::NOTHING),
    ptx("fast_rsqrt", "rsqrt.approx.f32 {0}, {1};", Needs::NOTHING),
    ptx("fast_rcp", "rcp.approx.f32 {0}, {1};", Needs::NOTHING),
    llvm("popcount", "llvm.ctpop"),
    llvm("clz", "llvm.ctlz"),
    llvm("ctz", "llvm.cttz"),
    llvm("reverse_bits", "llvm.bitreverse"),
];

/// The entry of the row of that name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::ENTRIES;
    use kernpack_kernel_ir::intrinsic::{self, Intrinsic, Meaning};

    #[test]
    fn each_row_that_computes_has_an_entry_and_no_other_has() {
        let is_entered =
            |row: &&Intrinsic| row.computes() && !matches!(row.meaning, Meaning::Expand(_));
        let computes = intrinsic::all().filter(is_entered);
        let rows: Vec<_> = computes.map(|row| row.name).collect();
        let entries: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
        assert_eq!(entries, rows);
    }
}
