// SPDX-License-Identifier: Apache-2.0
//! Names that C or C++ reads otherwise, as parameters and as fields of tuples: compilers take the
//! header whatever was included before.

use crate::{function, package, run};
use kernpack_package::export::header;
use kernpack_package::{Function, package_file};
use kernpack_validators::Signature;
use std::collections::BTreeSet;
use std::path::Path;

/// The headers of the C library: those of the standard, and those of POSIX that a host may well
/// include.
const HEADERS: &str = "
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal
    stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string threads time
    uchar wchar wctype dirent dlfcn fcntl netdb netinet/in pthread sched semaphore sys/mman
    sys/param sys/socket sys/stat sys/time sys/types sys/wait termios unistd";

/// Those that a C++ program can include too.
const NOT_OF_CPP: [&str; 3] = ["stdatomic", "stdnoreturn", "threads"];

/// The keywords of C23 and of C++26, those of words that a name may begin with `_` aside.
const KEYWORDS: &str = "
    alignas alignof auto bool break case char const constexpr continue default do double else
    enum extern false float for goto if inline int long nullptr register restrict return short
    signed sizeof static static_assert struct switch thread_local true typedef typeof
    typeof_unqual union unsigned void volatile while and and_eq asm bitand bitor catch char8_t
    char16_t char32_t class co_await co_return co_yield compl concept const_cast consteval
    constinit contract_assert decltype delete dynamic_cast explicit export friend mutable
    namespace new noexcept not not_eq operator or or_eq private protected public
    reinterpret_cast requires static_cast template this throw try typeid typename using virtual
    wchar_t xor xor_eq";

/// Names of the generated functions, and those that a user might have.
const OWN: &str = "
    message message_size size_t int64_t uint8_t kernpack_args kernpack_out kernpack_result
    kernpack_0 __tvm_ffi_f0 names_f0 int_ __int _Int";

fn includes(is_cpp: bool) -> String {
    let names = HEADERS.split_whitespace().filter(|name| !(is_cpp && NOT_OF_CPP.contains(name)));
    names.map(|name| format!("#include <{name}.h>\n")).collect()
}

/// The macros without parameters that a program has once it includes all that.
fn macros(folder: &Path, compiler: &str, standard: &str) -> BTreeSet<String> {
    let path = folder.join(if compiler == "gcc" { "all.c" } else { "all.cc" });
    std::fs::write(&path, includes(compiler == "g++")).unwrap();
    let text = run(compiler, &[standard, "-dM", "-E", path.to_str().unwrap()]);
    let names = text.lines().filter_map(|line| line.strip_prefix("#define ")?.split(' ').next());
    names.filter(|name| !name.contains('(')).map(str::to_string).collect()
}

/// Functions that have these names for parameters, and for fields of tuples, but for those that
/// signatures keep for themselves.
fn functions(names: &BTreeSet<String>) -> Vec<Function> {
    let is_free = |param: &String| format!("f({param})").parse::<Signature>().is_ok();
    let names: Vec<_> = names.iter().map(|name| format!("{name}: int32")).filter(is_free).collect();
    let chunks = names.chunks(200).enumerate();
    let texts = chunks.map(|(i, names)| {
        let list = names.join(", ");
        [format!("f{i}({list})"), format!("t{i}(kernpack: Tuple({list}))")]
    });
    texts.flatten().map(|text| function(&text)).collect()
}

#[test]
fn keywords_and_macros_are_spelled_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let mut words: BTreeSet<_> =
        [KEYWORDS, OWN].into_iter().flat_map(str::split_whitespace).map(str::to_string).collect();
    let compilers = [
        ("gcc", "-std=c99"),
        ("gcc", "-std=gnu17"),
        ("gcc", "-std=gnu2x"),
        ("g++", "-std=gnu++11"),
        ("g++", "-std=c++23"),
    ];
    for (compiler, standard) in compilers {
        words.extend(macros(folder.path(), compiler, standard));
    }
    assert!(["EOF", "errno", "linux", "stdin", "PRId64"].iter().all(|name| words.contains(*name)));
    let names = package(functions(&words));
    std::fs::write(folder.path().join("names.h"), header(&names)).unwrap();
    for (compiler, standard) in compilers {
        let path = folder.path().join(if compiler == "gcc" { "use.c" } else { "use.cc" });
        let text = includes(compiler == "g++") + "#include \"names.h\"\n";
        std::fs::write(&path, text).unwrap();
        run(compiler, &[standard, "-Wall", "-Werror", "-fsyntax-only", path.to_str().unwrap()]);
    }
}

#[test]
fn other_names_stay() {
    let header = header(&package(vec![function(
        "f(A: int32, Q: int32, W1: int32, interface: int32, x_max: int32, t: Tuple(index: int32, K: int32))",
    )]));
    for param in ["int32_t A,", "int32_t Q,", "int32_t W1,", "int32_t interface,", "int32_t x_max,"]
    {
        assert!(header.contains(param), "{param}\n{header}");
    }
    assert!(header.contains("{\n  int32_t index;\n  int32_t K;\n}"), "{header}");
}

/// The prelude of every header has names such as `kernpack_int`.
#[test]
fn packages_leave_the_names_of_the_prelude() {
    let is_free = |name: &str| {
        let text = format!("[package]\nname = '{name}'\n[[function]]\nsignature = 'int(n: int32)'");
        package_file::parse(&text, Path::new("")).is_ok()
    };
    let free =
        ["kernpack", "kernpack_", "kernpack_packed", "kernpacks", "my_kernpack"].map(is_free);
    assert_eq!(free, [false, false, false, true, true]);
}
