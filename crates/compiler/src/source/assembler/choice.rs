// SPDX-License-Identifier: Apache-2.0
//! Which assembler a text of PTX goes by. It is read off the text, as any source may have written
//! it. Not here: where that assembler is.

/// A kind of assembler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssemblerKind {
    /// The library.
    NvJitLink,
    /// The program, for texts that have to be assembled as whole programs.
    Ptxas,
}

/// The beginnings of instructions that are slow, or of no effect, in what may be linked with more:
/// those of matrix units, and registers that warps hand to one another.
const OF_WHOLE_PROGRAMS: [&str; 3] = ["wgmma.", "setmaxnreg.", "tcgen05."];

impl AssemblerKind {
    /// The kind that a text goes by.
    pub fn of(ptx: &str) -> AssemblerKind {
        let has = |start: &&str| ptx.contains(*start) && ptx.lines().any(|line| has(line, start));
        let is_whole = OF_WHOLE_PROGRAMS.iter().any(has);
        if is_whole { AssemblerKind::Ptxas } else { AssemblerKind::NvJitLink }
    }
}

/// Whether a line of PTX has an instruction that begins so. Neither comments nor texts in quotes,
/// such as names of files, have instructions.
fn has(line: &str, start: &str) -> bool {
    let outside = line.split('"').step_by(2);
    let mut code = outside.map(|part| part.split("//").next().unwrap_or_default());
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "_$%.".contains(c);
    code.any(|code| code.match_indices(start).any(|(at, _)| !code[..at].ends_with(is_of_name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_matrix_units_make_a_whole_program() {
        for line in [
            "wgmma.fence.sync.aligned;",
            "\t@%p1 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0}, %rd1, %rd2, 1, 1, 1;",
            "{ setmaxnreg.dec.sync.aligned.u32 40; }",
            "add.s32 %r1, %r1, 1; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;",
        ] {
            let text = format!(".version 8.0\n.target sm_90a\n{line}\nret;\n");
            assert_eq!(AssemblerKind::of(&text), AssemblerKind::Ptxas, "{line}");
            assert_eq!(AssemblerKind::of(&text.replace(line, "")), AssemblerKind::NvJitLink);
        }
    }

    #[test]
    fn names_and_comments_are_no_instructions() {
        for line in [
            "// wgmma.fence",
            "\t.file\t1 \"wgmma.py\"",
            "\t.file 1 \"a//wgmma.py\"",
            "mov.u32 %wgmma.x, 1;",
            "ld.param.u64 %rd1, [my_setmaxnreg.x];",
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0}, {%r1}, {%r2}, {%f0};",
            ".visible .entry wgmma(",
        ] {
            assert_eq!(AssemblerKind::of(line), AssemblerKind::NvJitLink, "{line}");
        }
    }
}
