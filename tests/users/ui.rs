// SPDX-License-Identifier: Apache-2.0
//! Programs that do not compile, and the messages that say why: a file in `ui/` each.

#[test]
fn what_is_wrong_does_not_compile() {
    trybuild::TestCases::new().compile_fail("ui/*.rs");
}
