// SPDX-License-Identifier: Apache-2.0
//! LLVM's texts, assembled: those that its own tests have.

use super::*;

const ADD_ONE: &str = include_str!("../../../../../codegen/src/llvm/nvptx/tests/add_one.ptx");
const WITH_LINES: &str =
    include_str!("../../../../../codegen/src/llvm/nvptx/tests/add_one_lines.ptx");

/// One of the texts as it is for another architecture.
fn add_one(arch: Arch, with_lines: bool) -> String {
    let version = arch.first_ptx().expect("LLVM knows it");
    let (text, head) = match with_lines {
        false => (ADD_ONE, ".version 8.0\n.target sm_90a\n"),
        true => (WITH_LINES, ".version 7.0\n.target sm_80\n"),
    };
    assert!(text.contains(head), "{text}");
    text.replace(head, &format!(".version {version}\n.target {arch}\n"))
}

fn assemble(arch_name: &str, with_lines: bool) -> Assembled {
    let text = add_one(arch(arch_name), with_lines);
    nvjitlink()
        .assemble(&text, "add_one", arch(arch_name), &AssembleOptions::default())
        .expect(arch_name)
}

#[test]
fn the_text_is_assembled_for_every_architecture() {
    let archs = [
        "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100",
        "sm_100a", "sm_100f", "sm_103", "sm_103a", "sm_110", "sm_120", "sm_120a", "sm_121f",
    ];
    let assembled = parallel::map(&archs, |name| assemble(name, false));
    for (assembled, name) in assembled.iter().zip(archs) {
        assert_eq!(assembled.image.archs(), [arch(name)]);
        let kernel = assembled.image.kernel("add_one").expect("the kernel");
        let param = |offset, size| Param { offset, size };
        assert_eq!(kernel.params, [param(0, 8), param(8, 8), param(16, 4)], "{name}");
        assert_eq!(kernel.max_threads, Some(256), "{name}");
        let report = assembled.report.function("add_one").expect("the kernel");
        assert_eq!((report.has_spills(), report.stack_bytes), (false, Some(0)), "{name}");
        assert_eq!(assembled.report.remarks, [], "{name}");
    }
}

#[test]
fn machine_code_knows_the_lines() {
    let has = |assembled: &Assembled, name: &str| {
        assembled.image.bytes.windows(name.len()).any(|bytes| bytes == name.as_bytes())
    };
    let (with, without) = (assemble("sm_90a", true), assemble("sm_90a", false));
    assert!(has(&with, "more.py") && has(&with, ".debug_line"));
    assert!(!has(&without, "more.py") && !has(&without, ".debug_line"));
    // Lines change no instruction.
    assert_eq!(with.report, without.report);
}

#[test]
fn a_line_of_the_text_comes_from_a_line_of_source() {
    let text = add_one(arch("sm_90a"), true);
    let table = LineTable::read(&text);
    let place = |instruction: &str| {
        let at = text.lines().position(|line| line.contains(instruction)).expect(instruction);
        let place = table.place(u32::try_from(at + 1).expect("a short text")).expect(instruction);
        (place.file, place.line, place.column)
    };
    assert_eq!(place("add.rn.f32"), ("more.py".to_string(), 30, 5));
    assert_eq!(place("st.global"), ("_add_ _ _n_.py".to_string(), 9, 5));
    assert_eq!(table.start("add_one").map(|place| place.line), Some(8));
}

#[test]
fn the_same_module_gives_the_same_bytes_on_any_thread() {
    let first = assemble("sm_90a", true);
    let all = parallel::map(&[(); 8], |()| assemble("sm_90a", true));
    assert!(all.iter().all(|assembled| *assembled == first));
}
