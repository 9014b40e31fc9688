// SPDX-License-Identifier: Apache-2.0
//! Symbols of packages: which a source may define and need.

use kernpack_compiler::{CompileError, Compiled, Options, compile};
use kernpack_package::inspect::inspect;
use kernpack_package::{WrittenPackage, package_file};
use object::{Object, ObjectSymbol};
use std::fs;
use tempfile::TempDir;

/// A package with these C files, and a function for each that calls the function of its name with a
/// tensor.
struct Sources(TempDir);

impl Sources {
    fn new(files: &[(&str, &str)]) -> Sources {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Sources(folder)
    }

    /// The messages where a shared object is made of these kernels, and these libraries are linked:
    /// warnings, or an error.
    fn link(&self, kernels: &[&str], libraries: &[&str]) -> Result<Vec<String>, String> {
        let mut package = self.package(kernels);
        package.link = libraries.iter().map(|name| name.to_string().into()).collect();
        let shared = compile(&package, &Options::default()).unwrap().shared_object();
        let shared = shared.map_err(|error| self.without_folder(&error.to_string()))?;
        let texts = shared.warnings.iter().map(|warning| self.without_folder(&warning.to_string()));
        Ok(texts.collect())
    }

    fn without_folder(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.0.path().display()), "")
    }

    /// Builds it: a function for each kernel, which is in the file of its name. Kernels with a `+`
    /// between them are of one source.
    fn build(&self, kernels: &[&str]) -> Result<Compiled, CompileError> {
        compile(&self.package(kernels), &Options::default())
    }

    fn package(&self, kernels: &[&str]) -> WrittenPackage {
        let function = |(at, kernels): (usize, &&str)| {
            let files: Vec<_> = kernels.split('+').map(|name| format!("\"{name}.c\"")).collect();
            let (files, kernel) = (files.join(", "), kernels.split('+').next().unwrap());
            format!(
                "[[function]]\nsignature = \"f{at}(x: Tensor([n], float32, mut))\"\n\
                 source = {{ host = [{files}] }}\nkernel = \"{kernel}\"\nargs = [\"x\"]\n"
            )
        };
        let functions: String = kernels.iter().enumerate().map(function).collect();
        let text = format!("[package]\nname = \"symbols\"\n{functions}");
        package_file::parse(&text, self.0.path()).unwrap()
    }

    fn expect_error(&self, kernels: &[&str], expected: &str) {
        let error = self.build(kernels).expect_err(expected).to_string();
        assert_eq!(self.without_folder(&error), expected);
    }
}

/// The package's own code and its other sources are nothing that a source could call.
#[test]
fn what_is_the_packages_own_cannot_be_called() {
    let sources = Sources::new(&[
        ("a.c", "void kernpack_rt_refuse(void); void a(float *x) { kernpack_rt_refuse(); }"),
        ("b.c", "void kernpack_host_0_a(float *); void b(float *x) { kernpack_host_0_a(x); }"),
    ]);
    sources.expect_error(
        &["a", "b"],
        "error[undefined-symbol]: in function `f0`: `a.c` needs the symbol `kernpack_rt_refuse`, which is kernpack's own; define it in the source, or call it otherwise\n\
         error[undefined-symbol]: in function `f1`: `b.c` needs the symbol `kernpack_host_0_a`, which is kernpack's own; define it in the source, or call it otherwise",
    );
}

#[test]
fn objects_have_the_names_that_users_gave() {
    let sources = Sources::new(&[
        ("a.c", "static void help(void) {} void a(float *x) { help(); }"),
        ("malloc.c", "void help(void) {} void malloc(float *x) { help(); }"),
    ]);
    let object = sources.build(&["a", "malloc"]).unwrap().object;
    let file = object::File::parse(&object[..]).unwrap();
    let defined = file.symbols().filter(|symbol| symbol.is_definition());
    let (local, global): (Vec<_>, Vec<_>) = defined.partition(|symbol| symbol.is_local());
    let has = |name: &str| local.iter().any(|symbol| symbol.name() == Ok(name));
    assert!(has("a") && has("malloc"));
    assert!(!local.iter().any(|symbol| symbol.name().unwrap().starts_with("kernpack_host_")));
    let global: Vec<_> = global.iter().map(|symbol| symbol.name().unwrap()).collect();
    assert_eq!(
        global,
        ["__tvm_ffi_f0", "__tvm_ffi_f1", "__tvm_ffi__metadata_f0", "__tvm_ffi__metadata_f1"]
    );
}

#[test]
fn files_of_a_source_see_each_other() {
    let sources = Sources::new(&[
        ("a.c", "void b(float *); void a(float *x) { b(x); }"),
        ("b.c", "void b(float *x) { *x = 1; }"),
        ("c.c", "void b(float *x) { *x = 2; }"),
    ]);
    sources.build(&["a+b", "a+c", "b"]).unwrap();
    let error = sources.build(&["a+b+c"]).unwrap_err().to_string();
    assert!(error.contains("duplicate symbol: b"), "{error}");
    sources.expect_error(
        &["b+x"],
        "error[source-file]: in function `f0`: cannot read `x.c`: No such file or directory (os error 2)",
    );
    let sources = Sources::new(&[("a.c", "int a;"), ("b.c", "void b(void) {}")]);
    sources.expect_error(
        &["a+b"],
        "error[missing-kernel]: in function `f0`: `a.c`, `b.c` have no function `a`; they have b",
    );
}

/// A function that calls another one.
fn calling(kernel: &str, other: &str) -> (String, String) {
    let text = format!("long {other}(); void {kernel}(float *x) {{ *x = {other}(); }}");
    (format!("{kernel}.c"), text)
}

fn calls(pairs: &[(&str, &str)]) -> Sources {
    let files: Vec<_> = pairs.iter().map(|(kernel, other)| calling(kernel, other)).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (&name[..], &text[..])).collect();
    Sources::new(&files)
}

#[test]
fn what_every_process_has_may_be_called() {
    let sources = calls(&[
        ("a", "getpid"),
        ("b", "TVMFFIGetVersion"),
        ("c", "pthread_self"),
        ("d", "expf"),
        ("e", "dlopen"),
    ]);
    assert_eq!(sources.link(&["a", "b", "c", "d", "e"], &[]), Ok(vec![]));
    let weak = "int nowhere(void) __attribute__((weak)); void a(float *x) { *x = nowhere ? nowhere() : 2; }";
    assert_eq!(Sources::new(&[("a.c", weak)]).link(&["a"], &[]), Ok(vec![]));
}

/// All such symbols are told. An object lists them, and is linked by somebody who has them.
#[test]
fn what_nothing_has_is_an_error_of_a_shared_object() {
    let sources = calls(&[("a", "nowhere"), ("b", "a"), ("c", "atexit")]);
    let help = "and neither libtvm_ffi, nor the C library, nor a library of `link` has it";
    let define = "define it in a file of the source, or name the library that has it under `link`";
    let expected = format!(
        "error[undefined-symbol]: in function `f0`: `a.c` needs the symbol `nowhere`, {help}; {define}\n\
         error[undefined-symbol]: in function `f1`: `b.c` needs the symbol `a`, {help}; `a.c` has it, but a source sees itself alone: name the files of both in one `host`\n\
         error[undefined-symbol]: in function `f2`: `c.c` needs the symbol `atexit`, {help}; {define}"
    );
    assert_eq!(sources.link(&["a", "b", "c"], &["libm.so.6"]), Err(expected));
    let object = sources.build(&["a", "b", "c"]).unwrap().object;
    let others = &inspect(&object).unwrap().packages[0].undefined;
    assert_eq!(*others, ["a", "atexit", "nowhere"]);
}

#[test]
fn what_a_library_has_may_be_called_and_is_told_where_there_is_none() {
    let sources = calls(&[("a", "deflate"), ("b", "__gcc_personality_v0")]);
    assert_eq!(sources.link(&["b"], &["libgcc_s.so.1"]), Ok(vec![]));
    let missing = "warning[missing-library]: in function `f0`: `a.c` needs the symbol `deflate`, which must be in `libnone.so.1` or `libnowhere.so`: that is not on this machine, and nothing else has it";
    assert_eq!(
        sources.link(&["a", "b"], &["libnone.so.1", "libgcc_s.so.1", "libnowhere.so"]),
        Ok(vec![missing.to_string()])
    );
    assert!(sources.link(&["a"], &["libgcc_s.so.1"]).is_err());
}

#[test]
fn what_only_later_versions_have_is_told() {
    let sources = calls(&[("a", "getrandom"), ("b", "TVMFFIHandleInitOnce")]);
    let expected = [
        "warning[later-symbol]: in function `f0`: `a.c` needs the symbol `getrandom`, which glibc has since version 2.25: with an older one, the process ends where it is called",
        "warning[later-symbol]: in function `f1`: `b.c` needs the symbol `TVMFFIHandleInitOnce`, which libtvm_ffi 0.1.0 lacks: the process ends where it is called",
    ];
    assert_eq!(sources.link(&["a", "b"], &[]), Ok(expected.map(str::to_string).to_vec()));
}

/// As they are written, and once: those that kernpack asks for by itself too.
#[test]
fn libraries_of_the_c_library_are_linked_where_they_are_named() {
    let sources = calls(&[("a", "expf"), ("b", "getpid")]);
    let needed = |kernels: &[&str], libraries: &[&str]| {
        let mut package = sources.package(kernels);
        package.link = libraries.iter().map(|name| name.to_string().into()).collect();
        let shared = compile(&package, &Options::default()).unwrap().shared_object().unwrap();
        inspect(&shared.bytes).unwrap().packages[0].libraries.clone()
    };
    assert_eq!(needed(&["b"], &["libm.so.6", "libdl.so.2"]), ["libm.so.6", "libdl.so.2"]);
    assert_eq!(needed(&["a"], &["libdl.so.2", "libm.so.6"]), ["libm.so.6", "libdl.so.2"]);
    assert_eq!(needed(&["a"], &[]), ["libm.so.6"]);
}

/// A symbol that the linker leaves out needs nothing.
#[test]
fn what_is_left_out_of_a_shared_object_needs_nothing() {
    let unused =
        "__attribute__((section(\".text.unused\"))) int unused(void) { return nowhere(); }";
    let both = format!("int nowhere(void); {unused} void a(float *x) {{ *x = 1; }}");
    assert_eq!(Sources::new(&[("a.c", &both)]).link(&["a"], &[]), Ok(vec![]));
}
