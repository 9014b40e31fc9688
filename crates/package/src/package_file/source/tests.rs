// SPDX-License-Identifier: Apache-2.0
//! Sources as package files have them.

use crate::package_file::tests::{FUNCTION, HEADER, expect_problems, on_gpu};
use expect_test::{Expect, expect};

/// Compares the problems of a source, in a launch that is otherwise as it should be.
fn expect_refused(source: &str, expected: Expect) {
    expect_problems(
        &on_gpu(&format!("source = {source}\nlaunch = {{ grid = [1], block = [1] }}")),
        expected,
    );
}

#[test]
fn lists_name_something() {
    expect_refused(
        "[]",
        expect![[r#"
            error[bad-value]: `source` is an empty list
              7:10 `[]` expected at least one file of GPU code"#]],
    );
    expect_refused(
        "{ cuda = 'a.cu', arch = [] }",
        expect![[r#"
            error[bad-value]: `arch` is an empty list
              7:34 `[]` expected at least one architecture
              help: leave `arch` out to compile for `compute_75`"#]],
    );
    expect_refused(
        "{ cuda = 'a.cu', arch = ['sm_90', 'sm_90a', 'sm_90'] }",
        expect![[r#"
            error[conflict]: `arch` names `sm_90` twice
              7:54 `'sm_90'` the second
              help: remove one"#]],
    );
}

#[test]
fn a_host_source_may_have_several_files() {
    for (host, problems) in [
        (
            "[]",
            expect![[r#"
                error[bad-value]: `host` is an empty list
                  7:19 `[]` expected at least one file"#]],
        ),
        (
            "['a.c', 'b.o', 'a.c']",
            expect![[r#"
                error[conflict]: `host` names `a.c` twice
                  7:34 `'a.c'` the second
                  help: remove one
                error[conflict]: `grid` is for launches on a GPU, and the source is a host function
                  8:12 `grid` has no effect
                  help: remove `grid`
                error[conflict]: `block` is for launches on a GPU, and the source is a host function
                  8:24 `block` has no effect
                  help: remove `block`"#]],
        ),
        (
            "['a.c', 1]",
            expect![[r#"
                error[value-type]: an item of `host` is of type integer
                  7:27 `1` expected a string"#]],
        ),
        (
            "['a.o', 'b.a'], define = { W = '4' }",
            expect![[r#"
                error[conflict]: `define` is for C files, and none is among the files of `host`
                  7:35 `define` has no effect
                  help: remove `define`
                error[conflict]: `grid` is for launches on a GPU, and the source is a host function
                  8:12 `grid` has no effect
                  help: remove `grid`
                error[conflict]: `block` is for launches on a GPU, and the source is a host function
                  8:24 `block` has no effect
                  help: remove `block`"#]],
        ),
    ] {
        expect_refused(&format!("{{ host = {host} }}"), problems);
    }
    expect_refused(
        "[{ host = 'a.c' }, { host = 'b.c' }]",
        expect![[r#"
            error[value-type]: a list of sources has files of GPU code only
              7:11 `{ host = 'a.c' }` expected a table such as `{ cubin = "a.cubin" }`
              help: write one source: `{ host = ["a.c", "b.c"] }`
            error[value-type]: a list of sources has files of GPU code only
              7:29 `{ host = 'b.c' }` expected a table such as `{ cubin = "a.cubin" }`
              help: write one source: `{ host = ["a.c", "b.c"] }`"#]],
    );
}

#[test]
fn a_source_names_a_file() {
    expect_refused(
        "{}",
        expect![[r#"
            error[missing-key]: the source names no file
              7:10 `{}` expected one of `host`, `cuda`, `cubin`, `fatbin`, `ptx`, `triton`, `kernel`"#]],
    );
    expect_refused(
        "{ include = ['.'] }",
        expect![[r#"
            error[missing-key]: the source names no file
              7:10 `{ include = ['.'] }` expected one of `host`, `cuda`, `cubin`, `fatbin`, `ptx`, `triton`, `kernel`"#]],
    );
    expect_refused(
        "{ cu = 'a.cu' }",
        expect![[r#"
            error[unknown-key]: a source has no key `cu`
              7:12 `cu` unknown key
              help: did you mean `cuda`?"#]],
    );
    expect_refused(
        "{ file = 'a.cu', arch = ['sm_90'] }",
        expect![[r#"
            error[unknown-key]: a source has no key `file`
              7:12 `file` unknown key
              help: use one of `host`, `cuda`, `cubin`, `fatbin`, `ptx`, `triton`, `kernel`, `arch`"#]],
    );
    expect_refused(
        "[{ cubn = 'a' }, {}, { ptx = 'b', arch = 'sm90' }, { cuda = 'c' }]",
        expect![[r#"
            error[unknown-key]: a source has no key `cubn`
              7:13 `cubn` unknown key
              help: did you mean `cubin`?
            error[missing-key]: the source names no file
              7:27 `{}` expected one of `cubin`, `fatbin`, `ptx`, `triton`
            error[bad-value]: `sm90` is no GPU architecture: expected `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`, as in `sm_90a`
              7:51 `'sm90'` no architecture
            error[value-type]: a list of sources has files of GPU code only
              7:61 `{ cuda = 'c' }` expected a table such as `{ cubin = "a.cubin" }`"#]],
    );
}

#[test]
fn a_source_names_one_file() {
    expect_refused(
        "{ cuda = 'a.cu', ptx = 'one.ptx' }",
        expect![[r#"
            error[conflict]: a source names two files
              7:27 `ptx` the second
              help: remove one; for several devices, write a list: `source = [{ cubin = "…" }, { ptx = "…" }]`"#]],
    );
    expect_refused(
        "{ fatbin = 'a', host = 'a.c', define = { W = '4' } }",
        expect![[r#"
            error[conflict]: a source names two files
              7:26 `host` the second
              help: remove one; for several devices, write a list: `source = [{ cubin = "…" }, { ptx = "…" }]`"#]],
    );
    expect_refused(
        "[{ cubin = 'a', triton = 'b' }]",
        expect![[r#"
            error[conflict]: a source names two files
              7:26 `triton` the second
              help: remove one; for several devices, write a list: `source = [{ cubin = "…" }, { ptx = "…" }]`"#]],
    );
    expect_refused(
        "{ kernel = 'a', host = 'a.c' }",
        expect![[r#"
            error[unknown-key]: a source has no key `kernel`
              7:12 `kernel` unknown key
              help: write `kernel` beside `source`, not in it
            error[conflict]: `grid` is for launches on a GPU, and the source is a host function
              8:12 `grid` has no effect
              help: remove `grid`
            error[conflict]: `block` is for launches on a GPU, and the source is a host function
              8:24 `block` has no effect
              help: remove `block`"#]],
    );
}

/// Whether a kernel must be named is for the kind to say, which is known before the rest can be
/// read.
#[test]
fn a_file_of_tritons_needs_no_kernel_even_where_it_is_wrong() {
    let text =
        on_gpu("source = { triton = 1 }\nlaunch = { grid = [1] }").replace("kernel = 'k'\n", "");
    expect_problems(
        &text,
        expect![[r#"
            error[value-type]: `triton` is of type integer
              6:21 `1` expected a string"#]],
    );
}

#[test]
fn options_of_the_c_compiler_that_cannot_serve() {
    let options =
        ["-O3", "-flto", "-flto=auto", "-m32", "-o", "-fno-pic", "-lm", "-Wl,-s", "-fno-lto"];
    let options = options.map(|option| format!("'{option}'")).join(", ");
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}source = {{ host = 'f.c', options = [{options}] }}\nkernel = 'f'\nargs = []"
        ),
        expect![[r#"
            error[bad-value]: the C compiler's option `-flto` cannot serve here
              5:44 `'-flto'` its object has no machine code, which only the compiler's own linker makes
              help: remove it, or link the objects yourself and give the result as `host = "….o"`
            error[bad-value]: the C compiler's option `-flto=auto` cannot serve here
              5:53 `'-flto=auto'` its object has no machine code, which only the compiler's own linker makes
              help: remove it, or link the objects yourself and give the result as `host = "….o"`
            error[bad-value]: the C compiler's option `-m32` cannot serve here
              5:67 `'-m32'` its object is for another machine than the target
              help: remove it; `kernpack build --target` names the machine
            error[bad-value]: the C compiler's option `-o` cannot serve here
              5:75 `'-o'` what the compiler writes is not for the source to say
              help: remove it
            error[bad-value]: the C compiler's option `-fno-pic` cannot serve here
              5:81 `'-fno-pic'` its object is not position-independent, and can be in no shared object
              help: remove it
            error[bad-value]: the C compiler's option `-lm` cannot serve here
              5:93 `'-lm'` it is for the linker, which does not see it
              help: remove it; `link = ["libm.so.6"]` in `[package]` names libraries
            error[bad-value]: the C compiler's option `-Wl,-s` cannot serve here
              5:100 `'-Wl,-s'` it is for the linker, which does not see it
              help: remove it; `link = ["libm.so.6"]` in `[package]` names libraries"#]],
    );
}

#[test]
fn keys_of_a_launch_in_a_source() {
    expect_problems(
        &format!(
            "{HEADER}{FUNCTION}source = {{ host = 'f.c', symbol = 'f', args = ['x'] }}\nkernel = 'f'\nargs = []"
        ),
        expect![[r#"
            error[unknown-key]: a source has no key `symbol`
              5:26 `symbol` unknown key
              help: write `symbol` beside `source`, not in it
            error[unknown-key]: a source has no key `args`
              5:40 `args` unknown key
              help: write `args` beside `source`, not in it"#]],
    );
    expect_refused(
        "{ cuda = 'f.cu', kernel = 'f', grid = [1], when = 'n > 3' }",
        expect![[r#"
            error[unknown-key]: a source has no key `kernel`
              7:27 `kernel` unknown key
              help: write `kernel` beside `source`, not in it
            error[unknown-key]: a source has no key `grid`
              7:41 `grid` unknown key
              help: write `grid` beside `source`, not in it
            error[unknown-key]: a source has no key `when`
              7:53 `when` unknown key
              help: write `when` beside `source`, not in it"#]],
    );
}
