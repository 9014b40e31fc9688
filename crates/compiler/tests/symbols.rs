// SPDX-License-Identifier: Apache-2.0
//! Symbols of packages: which a source may define and need.

use kernpack_compiler::{CompileError, Compiled, Options, compile, package_file};
use object::{Object, ObjectSymbol};
use std::fs;
use tempfile::TempDir;

/// A package with these C files, and a function for each that calls the function of its name with a tensor.
struct Sources(TempDir);

impl Sources {
    fn new(files: &[(&str, &str)]) -> Sources {
        let folder = TempDir::new().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Sources(folder)
    }

    /// Builds it: a function for each kernel, which is in the file of its name. Kernels with a `+` between them are of one source.
    fn build(&self, kernels: &[&str]) -> Result<Compiled, CompileError> {
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
        compile(&package_file::parse(&text, self.0.path()).unwrap(), &Options::default())
    }

    fn expect_error(&self, kernels: &[&str], expected: &str) {
        let error = self.build(kernels).expect_err(expected).to_string();
        assert_eq!(error.replace(&format!("{}/", self.0.path().display()), ""), expected);
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
        "in function `f0`: `a.c` needs the symbol `kernpack_rt_refuse`, which is kernpack's own; define it in the source, or call it otherwise\n\
         in function `f1`: `b.c` needs the symbol `kernpack_host_0_a`, which is kernpack's own; define it in the source, or call it otherwise",
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
        ["__tvm_ffi_f0", "__tvm_ffi__metadata_f0", "__tvm_ffi_f1", "__tvm_ffi__metadata_f1"]
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
        "in function `f0`: cannot read `x.c`: No such file or directory (os error 2)",
    );
    let sources = Sources::new(&[("a.c", "int a;"), ("b.c", "void b(void) {}")]);
    sources
        .expect_error(&["a+b"], "in function `f0`: `a.c`, `b.c` have no function `a`; they have b");
}
