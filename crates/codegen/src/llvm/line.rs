// SPDX-License-Identifier: Apache-2.0
//! Which line of source each instruction of a kernel comes from, for PTX's `.file` and `.loc`.
//!
//! LLVM can write these alone, or together with descriptions for debuggers, which make another kind
//! of code: `.target sm_90, debug`. Its C interface knows the second way only. So the first is
//! asked for in LLVM's text form: a module that has nothing but the kernels' names and lines is
//! read, and what it says of them is used in the module being written.

use super::{Emitter, Function};
use inkwell::context::Context;
use inkwell::debug_info::{
    AsDIScope, DICompileUnit, DIFile, DIScope, DISubprogram, DWARFEmissionKind,
    DWARFSourceLanguage, DebugInfoBuilder,
};
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::{FlagBehavior, Module};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The version of LLVM's metadata of this kind.
const METADATA_VERSION: u64 = 3;

/// Where a kernel is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelLine<'a> {
    /// The kernel's name.
    pub name: &'a str,
    /// The number of its file.
    pub file: usize,
    /// The line from 1.
    pub line: u32,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the file.
    pub file: usize,
    /// The line from 1.
    pub line: u32,
    /// The column from 1, or 0 for none.
    pub column: u32,
}

/// The lines of one module.
pub struct Lines<'c> {
    context: &'c Context,
    /// Makes places. It belongs to the module that was read, which goes after it.
    builder: DebugInfoBuilder<'c>,
    files: Vec<DIFile<'c>>,
    kernels: Vec<DISubprogram<'c>>,
    /// Of each kernel and file.
    scopes: RefCell<HashMap<(usize, usize), DIScope<'c>>>,
    _read: Module<'c>,
}

impl<'c> Lines<'c> {
    /// Makes the module being written one with lines: `files` are their names as they are to be
    /// shown, as far as PTX can spell them, and `kernels` are all that it is going to have.
    ///
    /// # Panics
    /// Where there are no files, or a kernel's is not among them.
    pub fn new(emitter: &Emitter<'c>, files: &[&str], kernels: &[KernelLine<'_>]) -> Lines<'c> {
        let files: Vec<_> = files.iter().map(|name| spelled(name)).collect();
        let read = read(emitter.context, &skeleton(&files, kernels));
        let unit = read.get_global_metadata("llvm.dbg.cu");
        let unit = unit.first().expect("the text has a unit");
        emitter.module.add_global_metadata("llvm.dbg.cu", unit).expect("a unit is a node");
        let version = emitter.context.i32_type().const_int(METADATA_VERSION, false);
        let flag = "Debug Info Version";
        emitter.module.add_basic_value_flag(flag, FlagBehavior::Warning, version);
        let kernel = |at| {
            let function = read.get_function(&stand_in(at)).expect("the text has the kernel");
            function.get_subprogram().expect("the kernel has a line")
        };
        let kernels = (0..kernels.len()).map(kernel).collect();
        let (builder, _) = places(&read);
        let files = files.iter().map(|name| builder.create_file(name, "")).collect();
        let (context, scopes) = (emitter.context, RefCell::default());
        Lines { context, builder, files, kernels, scopes, _read: read }
    }

    /// Says that a function is the kernel of that number.
    ///
    /// # Panics
    /// Where there are fewer kernels.
    pub fn begin(&self, emitter: &Emitter<'c>, function: Function<'c>, kernel: usize) {
        function.set_subprogram(self.kernels[kernel]);
        emitter.builder.unset_current_debug_location();
    }

    /// Sets the place of the code from here on, in the kernel of that number.
    ///
    /// # Panics
    /// Where there are fewer kernels, or fewer files.
    pub fn at(&self, emitter: &Emitter<'c>, kernel: usize, place: Place) {
        let scope = self.scope(kernel, place.file);
        let (line, column) = (place.line, place.column);
        let location = self.builder.create_debug_location(self.context, line, column, scope, None);
        emitter.builder.set_current_debug_location(location);
    }

    /// The part of a kernel that comes from a file.
    fn scope(&self, kernel: usize, file: usize) -> DIScope<'c> {
        let make = || {
            let scope = self.kernels[kernel].as_debug_info_scope();
            let block = self.builder.create_lexical_block(scope, self.files[file], 0, 0);
            block.as_debug_info_scope()
        };
        *self.scopes.borrow_mut().entry((kernel, file)).or_insert_with(make)
    }
}

/// The maker of places: a builder wants a unit of its own, which is in no module that is written.
fn places<'c>(module: &Module<'c>) -> (DebugInfoBuilder<'c>, DICompileUnit<'c>) {
    let (language, emission) = (DWARFSourceLanguage::Python, DWARFEmissionKind::LineTablesOnly);
    module.create_debug_info_builder(
        true, language, "", "", "", true, "", 0, "", emission, 0, false, false, "", "",
    )
}

/// The name in the text of the kernel of that number.
fn stand_in(kernel: usize) -> String {
    format!("k{kernel}")
}

fn read<'c>(context: &'c Context, text: &str) -> Module<'c> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "lines");
    context.create_module_from_ir(buffer).expect("the text is LLVM's")
}

/// The text: the unit, each file, and each kernel as a function that does nothing.
fn skeleton(files: &[String], kernels: &[KernelLine<'_>]) -> String {
    let first_file = 3;
    let first_kernel = first_file + files.len();
    let mut text = String::from(
        "!llvm.dbg.cu = !{!0}\n\
         !llvm.module.flags = !{!1}\n\
         !1 = !{i32 2, !\"Debug Info Version\", i32 3}\n\
         !2 = !DISubroutineType(types: !{})\n",
    );
    let _ = writeln!(
        text,
        "!0 = distinct !DICompileUnit(language: DW_LANG_Python, file: !{first_file}, \
         isOptimized: true, emissionKind: DebugDirectivesOnly)"
    );
    for (at, name) in (first_file..).zip(files) {
        let _ = writeln!(text, "!{at} = !DIFile(filename: \"{}\", directory: \"\")", escaped(name));
    }
    for (at, kernel) in kernels.iter().enumerate() {
        let (id, name, line) = (first_kernel + at, escaped(kernel.name), kernel.line);
        let (file, stand_in) = (first_file + kernel.file, stand_in(at));
        assert!(kernel.file < files.len(), "the kernel `{}` is of no file", kernel.name);
        let _ = writeln!(text, "define void @{stand_in}() !dbg !{id} {{ unreachable }}");
        let _ = writeln!(
            text,
            "!{id} = distinct !DISubprogram(name: \"{name}\", scope: !{file}, file: !{file}, \
             line: {line}, scopeLine: {line}, type: !2, unit: !0, \
             spFlags: DISPFlagDefinition | DISPFlagOptimized)"
        );
    }
    text
}

/// A file's name as PTX can have it, which knows printable ASCII and no way to write a quote.
fn spelled(name: &str) -> String {
    let is_spelled = |c: &char| matches!(c, ' '..='~') && !matches!(c, '"' | '\\');
    name.chars().map(|c| if is_spelled(&c) { c } else { '_' }).collect()
}

/// A text as LLVM's text form has it between quotes.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => escaped.push(char::from(byte)),
            _ => drop(write!(escaped, "\\{byte:02X}")),
        }
    }
    escaped
}
