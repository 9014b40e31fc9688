// SPDX-License-Identifier: Apache-2.0
//! Merging, localising and linking objects that real compilers made, and loading what comes out.

#![expect(unsafe_code, reason = "linked libraries are loaded and called")]

mod toolchain;

use std::ffi::c_int;

use kernpack_codegen::link::{
    Input, Isolated, LinkError, SharedOptions, UndefinedSymbol, gate, isolate, link_shared,
    localise, merge, undefined,
};
use kernpack_package::target::ElfTarget;
use libloading::Library;
use object::elf::{
    DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_SONAME, PF_X, PT_GNU_STACK, PT_NOTE, SHF_EXECINSTR,
};
use object::read::elf::{ElfFile64, ProgramHeader, SectionHeader};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol};

const X86_64: ElfTarget = ElfTarget::X86_64;

/// Symbols that a package must keep to itself, in every form that a C++ compiler has for it.
/// `PACKAGE` and `ENTRY` are replaced to tell packages apart.
const PACKAGE: &str = r#"
    __attribute__((noinline)) inline int comdat() { static int calls = 0; return ++calls; }
    template <class T> struct Shared { static T value; };
    template <class T> T Shared<T>::value = PACKAGE;
    struct Constructed { Constructed() : value(PACKAGE) {} ~Constructed() {} int value; };
    Constructed constructed;
    __attribute__((weak)) int weak() { return PACKAGE; }
    __attribute__((visibility("hidden"))) int hidden() { return PACKAGE; }
    int plain() { return PACKAGE; }
    extern "C" int nowhere() __attribute__((weak));
    extern "C" int ENTRY() {
        int missing = nowhere ? 9 : 0;
        int calls = comdat();
        return calls + 10 * (Shared<int>::value + 10 * (constructed.value + 10 * (weak()
            + 10 * (hidden() + 10 * (plain() + 10 * missing)))));
    }
    asm(".pushsection .note.kernpack,\"a\",@note\n"
        ".long 4, 4, 1\n.asciz \"abc\"\n.long PACKAGE\n.popsection");
"#;

/// An object with the function `entry<number>`, which returns 111111 times the number at first and
/// one more at each call.
fn package_object(number: u32) -> Vec<u8> {
    let source = PACKAGE.replace("PACKAGE", &number.to_string());
    toolchain::cpp(&source.replace("ENTRY", &format!("entry{number}")))
}

fn package(number: u32) -> Vec<u8> {
    let object = package_object(number);
    let merged = merge(X86_64, &[Input { name: "package.o", bytes: &object }]).unwrap();
    localise(&merged, &|name| name.starts_with("entry"), &[]).unwrap()
}

fn one(object: &[u8]) -> [Input<'_>; 1] {
    [Input { name: "one.o", bytes: object }]
}

/// Loads a library from memory.
fn load(library: &[u8]) -> Library {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("library.so");
    std::fs::write(&path, library).unwrap();
    // SAFETY: the library's constructors are those of the tests' own sources.
    unsafe { Library::new(path) }.unwrap()
}

fn call(library: &Library, name: &str) -> c_int {
    // SAFETY: the tests' sources declare every function that is called here as `int name(void)`.
    let function = unsafe { library.get::<unsafe extern "C" fn() -> c_int>(name.as_bytes()) };
    // SAFETY: as above.
    unsafe { function.unwrap()() }
}

fn elf(bytes: &[u8]) -> ElfFile64<'_, LittleEndian> {
    ElfFile64::parse(bytes).unwrap()
}

/// The names that a library takes from others and gives to them.
fn dynamic_names(library: &[u8]) -> Vec<String> {
    elf(library).dynamic_symbols().map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

/// The names that an object defines for others.
fn exports(object: &[u8]) -> Vec<String> {
    let file = elf(object);
    let exported = file.symbols().filter(|symbol| !symbol.is_local() && !symbol.is_undefined());
    exported.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

fn refusal(inputs: &[Input<'_>]) -> String {
    merge(X86_64, inputs).unwrap_err().to_string()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn two_packages_with_the_same_names_keep_their_own_copies() {
    let (first, second) = (package(1), package(2));
    let both =
        [Input { name: "first.o", bytes: &first }, Input { name: "second.o", bytes: &second }];
    let merged = merge(X86_64, &both).unwrap();
    let ours = link_shared(X86_64, &merged, &SharedOptions::default()).unwrap();
    let users = toolchain::system_shared_library(&[&first, &second]);
    for library in [load(&ours), load(&users)] {
        assert_eq!(call(&library, "entry1"), 11_1111);
        assert_eq!(call(&library, "entry1"), 11_1112);
        assert_eq!(call(&library, "entry2"), 22_2221);
        // Unloaded here: a destructor that stayed registered would end the test process with a
        // crash.
    }
}

#[test]
fn a_localised_object_shows_its_entry_points_alone() {
    let object = package(1);
    assert_eq!(exports(&object), ["entry1"]);
    let file = elf(&object);
    assert_eq!(file.comdats().count(), 0);
    assert!(file.section_by_name(".comment").is_none());
    assert!(file.section_by_name(".debug_info").is_some());
    assert!(file.section_by_name(".init_array").is_some());
    let stack = file.section_by_name(".note.GNU-stack").unwrap();
    assert!(!stack.elf_section_header().sh_flags(LittleEndian).contains(SHF_EXECINSTR));
}

#[test]
fn section_groups_are_dissolved_without_a_merge() {
    let object = toolchain::cpp("inline int f() { return 1; } int (*g)() = f;");
    assert_ne!(elf(&object).comdats().count(), 0);
    let local = localise(&object, &|name| name == "g", &[]).unwrap();
    assert_eq!(elf(&local).comdats().count(), 0);
    assert_eq!(exports(&local), ["g"]);
}

#[test]
fn archive_members_take_part_by_need() {
    let user = toolchain::c("int used(void); int entry(void) { return used(); }");
    let used = toolchain::c("int deep(void); int used(void) { return deep() + 1; }");
    let deep = toolchain::c("int deep(void) { return 41; }");
    let unused = toolchain::c("int absent(void); int unused(void) { return absent(); }");
    let archive =
        toolchain::archive(&[("unused.o", &unused), ("deep.o", &deep), ("used.o", &used)]);
    let inputs = [Input { name: "user.o", bytes: &user }, Input { name: "lib.a", bytes: &archive }];
    let merged = merge(X86_64, &inputs).unwrap();
    assert_eq!(exports(&merged), ["entry", "used", "deep"]);
    assert_eq!(undefined(&merged, &inputs).unwrap(), []);
    let library = link_shared(X86_64, &merged, &SharedOptions::default()).unwrap();
    assert_eq!(call(&load(&library), "entry"), 42);
}

#[test]
fn undefined_symbols_name_their_owners() {
    let user = toolchain::c(
        "int used(void); int both(void); int maybe(void) __attribute__((weak));
         int entry(void) { return used() + both() + (maybe ? maybe() : 0); }",
    );
    let used = toolchain::c("int both(void); int used(void) { return both(); }");
    let unused = toolchain::c("int both(void); int unused(void) { return both(); }");
    let archive = toolchain::archive(&[("used.o", &used), ("unused.o", &unused)]);
    let inputs = [Input { name: "user.o", bytes: &user }, Input { name: "lib.a", bytes: &archive }];
    let merged = merge(X86_64, &inputs).unwrap();
    let local = localise(&merged, &|name| name == "entry", &[]).unwrap();

    let symbol = |name: &str, weak, owners: &[&str]| UndefinedSymbol {
        name: name.into(),
        weak,
        wanted_by: owners.iter().map(ToString::to_string).collect(),
    };
    let both = symbol("both", false, &["user.o", "lib.a(used.o)"]);
    let maybe = symbol("maybe", true, &["user.o"]);
    let found = undefined(&local, &inputs).unwrap();
    assert_eq!(found, [both, maybe]);

    gate(&found, &|symbol| symbol.weak || symbol.name == "both").unwrap();
    let refused = gate(&found, &|symbol| symbol.weak).unwrap_err();
    let message = "undefined symbol `both`, wanted by `user.o`, `lib.a(used.o)`";
    assert_eq!(refused.to_string(), message);
}

/// One archive, of whose members one has the kernel, twice: each source sees its own files, and
/// calls its own `malloc`.
#[test]
fn isolated_sources_see_themselves_alone() {
    let library = |number: u32| {
        let kernel = format!(
            "int malloc(int), away(void), shared = 1;\nint kernel(void) {{ return malloc({number}) + 10 * shared++ + away(); }}"
        );
        let kernel = toolchain::compile("gcc", &["-fPIC", "-fno-builtin"], "k.c", &kernel);
        let malloc = toolchain::compile(
            "gcc",
            &["-fPIC", "-fno-builtin"],
            "m.c",
            "int malloc(int size) { return size; }",
        );
        let unused = toolchain::c("int absent(void); int unused(void) { return absent(); }");
        toolchain::archive(&[("m.o", &malloc), ("k.o", &kernel), ("unused.o", &unused)])
    };
    let isolated = [1, 2].map(|number| {
        let archive = library(number);
        let input = Input { name: "lib.a", bytes: &archive };
        isolate(X86_64, &[input], &[("kernel", &format!("kernel_{number}"))]).unwrap()
    });
    for Isolated { needs, .. } in &isolated {
        let [away] = &needs[..] else { panic!("{needs:?}") };
        assert_eq!(
            (&away.name[..], &away.wanted_by[..]),
            ("away", &["lib.a(k.o)".to_string()][..])
        );
    }
    let objects = isolated.map(|isolated| isolated.object);
    assert_eq!(exports(&objects[1]), ["kernel_2"]);
    let caller = toolchain::c(
        "int kernel_1(void), kernel_2(void); int entry(void) { return kernel_1() + 100 * kernel_2(); }
         int away(void) { return 0; }",
    );
    let inputs = [&caller, &objects[0], &objects[1]].map(|bytes| Input { name: "o", bytes });
    let merged = merge(X86_64, &inputs).unwrap();
    let names = [("kernel_1", "kernel"), ("kernel_2", "kernel")];
    let local = localise(&merged, &|name| name == "entry", &names).unwrap();
    assert_eq!(exports(&local), ["entry"]);
    let file = elf(&local);
    let kernels = file.symbols().filter(|symbol| symbol.name() == Ok("kernel"));
    assert_eq!(kernels.count(), 2);
    let library = load(&link_shared(X86_64, &local, &SharedOptions::default()).unwrap());
    assert_eq!(call(&library, "entry"), 11 + 100 * 12);
    assert_eq!(call(&library, "entry"), 21 + 100 * 22);
}

#[test]
fn what_a_linker_defines_itself_is_not_undefined() {
    let object = package(1);
    let names = undefined(&object, &[]).unwrap().into_iter().map(|symbol| symbol.name);
    assert_eq!(names.collect::<Vec<_>>(), ["__cxa_atexit", "nowhere"]);
}

#[test]
fn a_symbol_defined_twice_is_refused_with_both_inputs() {
    let (a, b) = (toolchain::c("int twice(void) { return 1; }"), toolchain::c("int twice = 2;"));
    let message = refusal(&[Input { name: "a.o", bytes: &a }, Input { name: "b.o", bytes: &b }]);
    assert_eq!(
        message,
        "cannot link `a.o`, `b.o`: duplicate symbol: twice\n\
         >>> defined at object.c\n>>>            a.o:(twice)\n\
         >>> defined at object.c\n>>>            b.o:(.data+0x0)"
    );
}

#[test]
fn inputs_that_are_no_objects_are_refused_by_name() {
    let shared = toolchain::system_shared_library(&[&toolchain::c("int f;")]);
    let cases: [(&[u8], &str); 6] = [
        (b"", "Could not read file magic"),
        (b"INPUT(/etc/passwd)", "Unknown file magic"),
        (b"BC\xC0\xDE and more", "it is LLVM bitcode, expected a compiled object"),
        (b"!<thin>\n and more", "Unsupported file format"),
        (b"!<arch>\nnonsense", "Invalid archive member header"),
        (&shared, "it is linked already, expected a relocatable object"),
    ];
    for (bytes, reason) in cases {
        let message = refusal(&[Input { name: "x.o", bytes }]);
        assert_eq!(message, format!("cannot link `x.o`: {reason}"));
    }
}

#[test]
fn objects_for_other_machines_are_refused_by_name() {
    let x86_64 = toolchain::c("int f;");
    let aarch64 = toolchain::assemble("aarch64-linux-gnu", "ret");
    let message = refusal(&[Input { name: "arm.o", bytes: &aarch64 }]);
    assert_eq!(message, "cannot link `arm.o`: it is for aarch64, expected x86_64");

    let archive = toolchain::archive(&[("i386.o", &toolchain::assemble("i386-linux-gnu", "ret"))]);
    let message = refusal(&[Input { name: "lib.a", bytes: &archive }]);
    assert_eq!(message, "cannot link `lib.a(i386.o)`: it is for i386, expected x86_64");

    let error = link_shared(ElfTarget::Aarch64, &x86_64, &SharedOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot link `merged object`: it is for x86_64, expected aarch64"
    );
}

#[test]
fn damaged_objects_are_refused_and_leave_the_linker_fit() {
    let object = package_object(1);
    for length in (0..object.len()).step_by(61) {
        let error = merge(X86_64, &one(&object[..length])).unwrap_err();
        assert!(matches!(error, LinkError::Unreadable { .. }), "{length} bytes: {error}");
    }
    merge(X86_64, &one(&object)).unwrap();
}

#[test]
fn the_linker_is_fit_to_run_again_after_it_gave_up() {
    // A symbol in a section that does not exist passes our checks; lld cannot go on from there.
    let mut object = toolchain::c("asm(\".globl f\\nf: .size f, 0x1122334455667788\");");
    let size = 0x1122_3344_5566_7788_u64.to_le_bytes();
    let size_at = object.windows(8).position(|window| window == size).unwrap();
    object[size_at - 10..size_at - 8].copy_from_slice(&500_u16.to_le_bytes());
    for _ in 0..3 {
        let message = refusal(&one(&object));
        assert_eq!(message, "cannot link `one.o`: one.o: invalid section index: 500");
        merge(X86_64, &one(&toolchain::c("int f;"))).unwrap();
    }
}

#[test]
fn a_shared_library_needs_exactly_what_is_asked_for() {
    let options = SharedOptions {
        soname: Some("norm.so".into()),
        needed: vec!["libdl.so.2".into(), "libm.so.6".into(), "libdl.so.2".into()],
        ..SharedOptions::default()
    };
    let library = link_shared(X86_64, &package(1), &options).unwrap();
    let strings = |tag| {
        let file = elf(&library);
        let table = file.elf_dynamic_table().unwrap();
        let values = table.iter().filter(|entry| entry.tag == tag);
        let strings = values.map(|entry| table.string(entry).unwrap().to_vec());
        strings.map(|bytes| String::from_utf8(bytes).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(strings(DT_SONAME), ["norm.so"]);
    assert_eq!(strings(DT_NEEDED), ["libdl.so.2", "libm.so.6"]);
    assert_eq!(strings(DT_RPATH), [""; 0]);
    assert_eq!(strings(DT_RUNPATH), [""; 0]);
    let file = elf(&library);
    assert!(file.sections().all(|section| !section.name().unwrap().starts_with(".gnu.version")));
    assert_eq!(dynamic_names(&library), ["__cxa_finalize", "nowhere", "__cxa_atexit", "entry1"]);
}

#[test]
fn names_that_no_library_has_are_refused() {
    for name in ["", "a/b.so", "a\0b"] {
        let options = SharedOptions { needed: vec![name.into()], ..SharedOptions::default() };
        let error = link_shared(X86_64, &package(1), &options).unwrap_err();
        assert!(matches!(error, LinkError::LibraryName(found) if found == name));
    }
}

#[test]
fn a_shared_library_is_small_and_holds_its_note() {
    let library = link_shared(X86_64, &package(7), &SharedOptions::default()).unwrap();
    let file = elf(&library);
    let segments = file.elf_program_headers();
    let stack = segments.iter().find(|segment| segment.p_type(LittleEndian) == PT_GNU_STACK);
    assert_eq!(stack.unwrap().p_flags(LittleEndian).0 & PF_X.0, 0);
    let note = segments.iter().find(|segment| segment.p_type(LittleEndian) == PT_NOTE).unwrap();
    let section = file.section_by_name(".note.kernpack").unwrap();
    assert_eq!(note.p_vaddr(LittleEndian), section.address());
    assert_eq!(section.data().unwrap()[16], 7);
    assert!(file.section_by_name(".comment").is_none());
    let debug = file.sections().filter(|section| section.name().unwrap().starts_with(".debug"));
    let debug_bytes = debug.map(|section| section.size()).sum::<u64>();
    assert!(library.len() as u64 - debug_bytes < 8 << 10, "{} bytes", library.len());
}

#[test]
fn what_nothing_reaches_is_left_out_of_a_library() {
    let source = r#"
        extern "C" {
            __attribute__((section("rows"), used)) int row = 41;
            __attribute__((section(".rodata.unread"))) extern const char unread[] = "left out";
            __attribute__((section(".text.unused"))) const char *unused() { return unread; }
            extern int __start_rows[], __stop_rows[];
            int entry1() { return __start_rows[0] + int(__stop_rows - __start_rows); }
        }
    "#;
    let merged = merge(X86_64, &one(&toolchain::cpp(source))).unwrap();
    let object = localise(&merged, &|name| name.starts_with("entry"), &[]).unwrap();
    assert!(contains(&object, "left out"));
    let library = link_shared(X86_64, &object, &SharedOptions::default()).unwrap();
    assert!(!contains(&library, "left out"));
    assert_eq!(call(&load(&library), "entry1"), 42, "sections that are found by name stay");
}

#[test]
fn tentative_definitions_become_the_packages_own() {
    let source = "int counter; long long table[8]; int ENTRY(void) { return ++counter; }";
    let package = |entry| {
        let define = format!("-DENTRY={entry}");
        let flags = ["-O1", "-fPIC", "-fcommon", &define];
        let object = toolchain::compile("gcc", &flags, "object.c", source);
        let merged = merge(X86_64, &one(&object)).unwrap();
        localise(&merged, &|name| name == entry, &[]).unwrap()
    };
    let (first, second) = (package("first"), package("second"));
    assert_eq!(exports(&first), ["first"]);
    let library = load(&toolchain::system_shared_library(&[&first, &second]));
    assert_eq!([call(&library, "first"), call(&library, "first")], [1, 2]);
    assert_eq!(call(&library, "second"), 1);
}

#[test]
fn the_same_input_gives_the_same_bytes_on_many_threads() {
    let object = package_object(1);
    let options = SharedOptions { needed: vec!["libdl.so.2".into()], ..SharedOptions::default() };
    let build = || {
        let merged = merge(X86_64, &one(&object)).unwrap();
        let local = localise(&merged, &|name| name == "entry1", &[]).unwrap();
        let library = link_shared(X86_64, &local, &options).unwrap();
        (local, library)
    };
    let (local, library) = build();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                (0..25).for_each(|_| assert!(build() == (local.clone(), library.clone())))
            });
        }
    });
    for text in ["/proc/", "one.o", "merged", "LLD"] {
        assert!(!contains(&local, text) && !contains(&library, text), "{text}");
    }
}

#[test]
fn aarch64_packages_are_linked_too() {
    let object = toolchain::assemble(
        "aarch64-linux-gnu",
        ".globl entry, helper\nentry: bl helper\n bl TVMFFINoSuchFunction\n ret\nhelper: ret\n",
    );
    let inputs = [Input { name: "arm.o", bytes: &object }];
    let merged = merge(ElfTarget::Aarch64, &inputs).unwrap();
    let local = localise(&merged, &|name| name == "entry", &[]).unwrap();
    assert_eq!(exports(&local), ["entry"]);
    assert_eq!(undefined(&local, &inputs).unwrap()[0].wanted_by, ["arm.o"]);
    let options = SharedOptions { needed: vec!["libdl.so.2".into()], ..SharedOptions::default() };
    let library = link_shared(ElfTarget::Aarch64, &local, &options).unwrap();
    assert_eq!(dynamic_names(&library), ["TVMFFINoSuchFunction", "entry"]);
    assert!(library.len() < 4 << 10, "{} bytes", library.len());
}
