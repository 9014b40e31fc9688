// SPDX-License-Identifier: Apache-2.0
//! Headers of C: however a compiler comes to one, or to none, it is seen to change and to appear.

use super::bench::{Bench, SCALE, expect_loadable};
use kernpack_package::Target;
use std::fs;

/// A bench whose C file begins with these lines and needs `FACTOR`.
fn bench(lines: &str) -> Bench {
    let bench = Bench::new();
    let rest =
        "void scale(float *x, int64_t n) { for (int64_t i = 0; i < n; i++) x[i] *= FACTOR; }";
    bench.write("pkg/scale.c", format!("#include <stdint.h>\n{lines}\n{rest}\n"));
    bench
}

/// The package with more keys of its source.
fn with(keys: &str) -> String {
    SCALE.replace("include =", &format!("{keys}, include ="))
}

fn is_hit(bench: &Bench, text: &str) -> bool {
    let got = bench.get(text).unwrap();
    expect_loadable(&got);
    got.is_hit
}

const ASKS: &str = "#define FACTOR 1\n#else\n#define FACTOR 2\n#endif";

#[test]
fn what_a_condition_asks_for_counts_once_it_is_there() {
    for lines in [
        format!("#if __has_include(<new.h>)\n{ASKS}"),
        format!("#if __has_include /* here */ (\"new.h\")\n{ASKS}"),
        format!("#define NEW <new.h>\n#if __has_include(NEW)\n{ASKS}"),
        format!("#ifdef __has_include\n%:if 0 || \\\n __has_include(<new.h>)\n{ASKS}\n#endif"),
    ] {
        let bench = bench(&lines);
        assert!(!is_hit(&bench, SCALE), "{lines}");
        assert!(is_hit(&bench, SCALE), "{lines}");
        bench.write("pkg/second/new.h", "");
        assert!(!is_hit(&bench, SCALE), "{lines}");
        assert!(is_hit(&bench, SCALE), "{lines}");
        fs::remove_file(bench.path("pkg/second/new.h")).unwrap();
        assert!(is_hit(&bench, SCALE), "as it was first: {lines}");
    }
}

#[test]
fn a_condition_of_a_header_that_a_definition_names_counts() {
    let bench = bench(&format!("#if __has_include(NEW)\n{ASKS}"));
    let text = with("define = { NEW = \"<new.h>\" }");
    assert!(!is_hit(&bench, &text));
    bench.write("pkg/first/new.h", "");
    assert!(!is_hit(&bench, &text));
}

#[test]
fn a_name_that_a_macro_makes_of_pieces_counts_beside_the_file() {
    let bench = bench("#define S_(x) #x\n#define S(x) S_(x)\n#include S(cfg.h)");
    bench.write("pkg/second/cfg.h", "#define FACTOR 2\n");
    assert!(!is_hit(&bench, SCALE));
    assert!(is_hit(&bench, SCALE));
    bench.write("pkg/cfg.h", "#define FACTOR 3\n");
    assert!(!is_hit(&bench, SCALE));
    assert!(is_hit(&bench, SCALE));
}

#[test]
fn what_a_condition_asks_for_by_a_macro_of_a_header_counts_beside_the_file() {
    let bench = bench(&format!("#include \"sub/names.h\"\n#if __has_include(NEW)\n{ASKS}"));
    bench.write("pkg/second/sub/names.h", "#define NEW \"new.h\"\n");
    assert!(!is_hit(&bench, SCALE));
    assert!(is_hit(&bench, SCALE));
    bench.write("pkg/new.h", "");
    assert!(!is_hit(&bench, SCALE));
    fs::remove_file(bench.path("pkg/new.h")).unwrap();
    assert!(is_hit(&bench, SCALE));
}

#[test]
fn what_is_behind_include_next_counts_once_it_is_there() {
    let bench = bench("#include \"factor.h\"");
    bench.write("pkg/first/factor.h", "#include_next <factor.h>\n#include_next <limits.h>\n");
    assert!(!is_hit(&bench, SCALE));
    assert!(is_hit(&bench, SCALE));
    bench.write("pkg/second/limits.h", "#include_next <limits.h>\n");
    assert!(!is_hit(&bench, SCALE));
    assert!(is_hit(&bench, SCALE));
}

#[test]
fn a_header_that_shadows_one_of_a_system_header_counts() {
    let bench = bench("#define FACTOR 1");
    assert!(!is_hit(&bench, SCALE));
    // <stdint.h> includes it.
    bench.write("pkg/first/bits/libc-header-start.h", "#include_next <bits/libc-header-start.h>\n");
    assert!(!is_hit(&bench, SCALE));
    assert!(is_hit(&bench, SCALE));
}

#[test]
fn a_folder_that_was_not_there_counts_once_it_is() {
    let bench = bench("#include \"factor.h\"");
    let folder = bench.path("pkg/later");
    let text = with(&format!("options = [\"-iquote\", \"{}\"]", folder.display()));
    assert!(!is_hit(&bench, &text));
    assert!(is_hit(&bench, &text));
    bench.write("pkg/later/factor.h", "#define FACTOR 4\n");
    assert!(!is_hit(&bench, &text));
    assert!(is_hit(&bench, &text));
}

#[test]
fn a_header_that_an_option_includes_counts() {
    let bench = bench("");
    for (option, at) in [("-include", "second"), ("-imacros", "first")] {
        let text = with(&format!("options = [\"{option}\", \"extra.h\"]"));
        bench.write(&format!("pkg/{at}/extra.h"), "#define FACTOR 2\n");
        assert!(!is_hit(&bench, &text));
        assert!(is_hit(&bench, &text));
        bench.write(&format!("pkg/{at}/extra.h"), "#define FACTOR 3\n");
        assert!(!is_hit(&bench, &text));
    }
}

#[test]
fn headers_with_blanks_in_their_names_count() {
    for name in ["a b.h", "a\tb.h", "a#b$c.h", "a\\b.h", "a\\ b.h", "a\u{e9}.h"] {
        let bench = bench(&format!("#include \"{name}\""));
        bench.write(&format!("pkg/second/{name}"), "#define FACTOR 2\n");
        assert!(!is_hit(&bench, SCALE), "{name}");
        assert!(is_hit(&bench, SCALE), "{name}");
        bench.write(&format!("pkg/second/{name}"), "#define FACTOR 3\n");
        assert!(!is_hit(&bench, SCALE), "{name}");
    }
}

#[test]
fn a_header_whose_folder_has_two_lines_for_a_name_is_not_found_again_wrongly() {
    let bench = bench("#include <factor.h>");
    bench.write("pkg/second/two\nlines/factor.h", "#define FACTOR 2\n");
    let folder = format!("{}", bench.path("pkg/second/two\nlines").display()).replace('\n', "\\n");
    let text =
        with(&format!("options = [\"-I{folder}\"]")).replace("\"first\", \"second\"", "\"first\"");
    assert!(!is_hit(&bench, &text));
    bench.write("pkg/second/two\nlines/factor.h", "#define FACTOR 3\n");
    assert!(!is_hit(&bench, &text));
}

#[test]
fn what_an_assembler_reads_is_not_found_again() {
    if Target::host().name != "x86_64-linux-gnu" {
        return;
    }
    let bench = bench("");
    bench.write("pkg/data", "one");
    let data = bench.path("pkg/data");
    let lines = format!(
        "__asm__(\".section .rodata\\nd: .incbin \\\"{}\\\"\\n.text\");\n#define FACTOR 1",
        data.display()
    );
    bench.write(
        "pkg/scale.c",
        format!("#include <stdint.h>\n{lines}\nvoid scale(float *x, int64_t n) {{ x[0] = n; }}\n"),
    );
    let digest = || {
        let got = bench.get(SCALE).unwrap();
        (got.is_hit, got.entry.read(crate::Artifact::Object).unwrap())
    };
    let first = digest();
    bench.write("pkg/data", "two");
    let second = digest();
    assert!(!first.0 && !second.0);
    assert_ne!(first.1, second.1);
}

#[test]
fn options_that_read_or_write_what_nobody_sees_are_refused() {
    let bench = bench("#define FACTOR 1");
    for option in [
        "@o",
        "-MD",
        "-MF",
        "-MMD",
        "-MTx",
        "-Wp,-MD,x",
        "-Wp,-DX,-MMD,x",
        "-Wp,@o",
        "-Wa,-g,@o",
        "--write-user-dependencies",
        "-Wp,--write-dependencies",
    ] {
        let failure = bench.get(&with(&format!("options = [\"{option}\"]"))).unwrap_err();
        let crate::Failure::Told(told) = failure else { panic!("{option}: {failure}") };
        assert!(format!("{:?}", told.diagnostics).contains("cannot serve here"), "{option}");
    }
}
