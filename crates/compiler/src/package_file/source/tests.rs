// SPDX-License-Identifier: Apache-2.0
//! Sources as package files have them.

use crate::package_file::tests::{expect_problems, on_gpu};
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
        bad-value: `source` is an empty list
          "[]" expected at least one file of GPU code
    "#]],
    );
    expect_refused(
        "{ cuda = 'a.cu', arch = [] }",
        expect![[r#"
        bad-value: `arch` is an empty list
          "[]" expected at least one architecture
          help: leave `arch` out to compile for `compute_75`
    "#]],
    );
    expect_refused(
        "{ cuda = 'a.cu', arch = ['sm_90', 'sm_90a', 'sm_90'] }",
        expect![[r#"
        conflict: `arch` names `sm_90` twice
          "'sm_90'" the second
          help: remove one
    "#]],
    );
}

#[test]
fn a_host_source_may_have_several_files() {
    for (host, problems) in [
        (
            "[]",
            expect![[r#"
            bad-value: `host` is an empty list
              "[]" expected at least one file
        "#]],
        ),
        (
            "['a.c', 'b.o', 'a.c']",
            expect![[r#"
            conflict: `host` names `a.c` twice
              "'a.c'" the second
              help: remove one
            conflict: `grid` is for launches on a GPU, and the source is a host function
              "grid" has no effect
              help: remove `grid`
            conflict: `block` is for launches on a GPU, and the source is a host function
              "block" has no effect
              help: remove `block`
        "#]],
        ),
        (
            "['a.c', 1]",
            expect![[r#"
            value-type: an item of `host` is of type integer
              "1" expected a string
        "#]],
        ),
        (
            "['a.o', 'b.a'], define = { W = '4' }",
            expect![[r#"
            conflict: `define` is for C files, and none is among the files of `host`
              "define" has no effect
              help: remove `define`
            conflict: `grid` is for launches on a GPU, and the source is a host function
              "grid" has no effect
              help: remove `grid`
            conflict: `block` is for launches on a GPU, and the source is a host function
              "block" has no effect
              help: remove `block`
        "#]],
        ),
    ] {
        expect_refused(&format!("{{ host = {host} }}"), problems);
    }
    expect_refused(
        "[{ host = 'a.c' }, { host = 'b.c' }]",
        expect![[r#"
        value-type: a list of sources has files of GPU code only
          "{ host = 'a.c' }" expected a table such as `{ cubin = "a.cubin" }`
          help: write one source: `{ host = ["a.c", "b.c"] }`
        value-type: a list of sources has files of GPU code only
          "{ host = 'b.c' }" expected a table such as `{ cubin = "a.cubin" }`
          help: write one source: `{ host = ["a.c", "b.c"] }`
    "#]],
    );
}

#[test]
fn a_source_names_a_file() {
    expect_refused(
        "{}",
        expect![[r#"
        missing-key: the source names no file
          "{}" expected one of `host`, `cuda`, `cubin`, `fatbin`, `ptx`, `triton`
    "#]],
    );
    expect_refused(
        "{ include = ['.'] }",
        expect![[r#"
        missing-key: the source names no file
          "{ include = ['.'] }" expected one of `host`, `cuda`, `cubin`, `fatbin`, `ptx`, `triton`
    "#]],
    );
    expect_refused(
        "{ cu = 'a.cu' }",
        expect![[r#"
        unknown-key: a source has no key `cu`
          "cu" unknown key
          help: did you mean `cuda`?
    "#]],
    );
    expect_refused(
        "{ file = 'a.cu', arch = ['sm_90'] }",
        expect![[r#"
        unknown-key: a source has no key `file`
          "file" unknown key
          help: use one of `host`, `cuda`, `cubin`, `fatbin`, `ptx`, `triton`, `arch`
    "#]],
    );
    expect_refused(
        "[{ cubn = 'a' }, {}, { ptx = 'b', arch = 'sm90' }, { cuda = 'c' }]",
        expect![[r#"
            unknown-key: a source has no key `cubn`
              "cubn" unknown key
              help: did you mean `cubin`?
            missing-key: the source names no file
              "{}" expected one of `cubin`, `fatbin`, `ptx`, `triton`
            bad-value: `sm90` is no GPU architecture: expected `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`, as in `sm_90a`
              "'sm90'" no architecture
            value-type: a list of sources has files of GPU code only
              "{ cuda = 'c' }" expected a table such as `{ cubin = "a.cubin" }`
        "#]],
    );
}

#[test]
fn a_source_names_one_file() {
    expect_refused(
        "{ cuda = 'a.cu', ptx = 'one.ptx' }",
        expect![[r#"
        conflict: a source names two files
          "ptx" the second
          help: remove one; for several devices, write a list: `source = [{ cubin = "…" }, { ptx = "…" }]`
    "#]],
    );
    expect_refused(
        "{ fatbin = 'a', host = 'a.c', define = { W = '4' } }",
        expect![[r#"
        conflict: a source names two files
          "host" the second
          help: remove one; for several devices, write a list: `source = [{ cubin = "…" }, { ptx = "…" }]`
    "#]],
    );
    expect_refused(
        "[{ cubin = 'a', triton = 'b' }]",
        expect![[r#"
        conflict: a source names two files
          "triton" the second
          help: remove one; for several devices, write a list: `source = [{ cubin = "…" }, { ptx = "…" }]`
    "#]],
    );
    expect_refused(
        "{ kernel = 'a', host = 'a.c' }",
        expect![[r#"
            not-supported: `kernel` is not supported yet: this version of kernpack takes CUDA C++, compiled GPU code and host functions
              "kernel" of a later version
              help: give CUDA C++, `source = { cuda = "…" }`, or compile the kernel first: `{ cubin = "…" }`, `{ ptx = "…" }` or `{ fatbin = "…" }`
        "#]],
    );
}

/// Whether a kernel must be named is for the kind to say, which is known before the rest can be read.
#[test]
fn a_file_of_tritons_needs_no_kernel_even_where_it_is_wrong() {
    let text =
        on_gpu("source = { triton = 1 }\nlaunch = { grid = [1] }").replace("kernel = 'k'\n", "");
    expect_problems(
        &text,
        expect![[r#"
        value-type: `triton` is of type integer
          "1" expected a string
    "#]],
    );
}
