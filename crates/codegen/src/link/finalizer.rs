// SPDX-License-Identifier: Apache-2.0
//! The finalizer, which runs the destructors of C++ objects when their library is unloaded.
//!
//! Compiled C++ registers a destructor with `__cxa_atexit`, under the library's `__dso_handle`.
//! When the library goes, `__cxa_finalize` must be called with that handle, or the process jumps
//! into memory that is gone when it ends. A compiler links a start file of its own for this
//! (`crtbeginS.o`); here an object of two or three instructions does it.

use object::elf::{self, RelocationType};
use object::write::{self, Object, Relocation, SectionId, Symbol, SymbolId, SymbolSection};
use object::{BinaryFormat, Endianness, ObjectSymbol, RelocationFlags, SectionFlags, SectionKind};
use object::{SymbolFlags, SymbolKind, SymbolScope};

use super::elf::{ElfFile, globals};
use kernpack_package::target::ElfTarget;

/// Passes `__dso_handle` to `__cxa_finalize`.
struct Code {
    instructions: &'static [u8],
    /// Where the handle's address goes: offset, type, addend.
    handle: &'static [(u64, RelocationType, i64)],
    /// Where the function's address goes.
    callee: (u64, RelocationType, i64),
    /// The relocation type of a whole address.
    address: RelocationType,
}

/// `lea rdi, [rip + __dso_handle]; jmp __cxa_finalize`
const X86_64: Code = Code {
    instructions: &[0x48, 0x8d, 0x3d, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0],
    handle: &[(3, elf::R_X86_64_PC32, -4)],
    callee: (8, elf::R_X86_64_PLT32, -4),
    address: elf::R_X86_64_64,
};

/// `adrp x0, __dso_handle; add x0, x0, :lo12:__dso_handle; b __cxa_finalize`
const AARCH64: Code = Code {
    instructions: &[0, 0, 0, 0x90, 0, 0, 0, 0x91, 0, 0, 0, 0x14],
    handle: &[(0, elf::R_AARCH64_ADR_PREL_PG_HI21, 0), (4, elf::R_AARCH64_ADD_ABS_LO12_NC, 0)],
    callee: (8, elf::R_AARCH64_JUMP26, 0),
    address: elf::R_AARCH64_ABS64,
};

/// Whether `file` registers destructors.
pub(super) fn is_needed(file: &ElfFile<'_>) -> bool {
    globals(file).any(|(name, symbol)| name == "__cxa_atexit" && symbol.is_undefined())
}

/// An object that finalizes the library it is linked into. Linked first, it runs after all other
/// finalizers.
pub(super) fn object(target: ElfTarget) -> Result<Vec<u8>, write::Error> {
    let code = match target {
        ElfTarget::X86_64 => X86_64,
        ElfTarget::Aarch64 => AARCH64,
    };
    let mut object = Object::new(BinaryFormat::Elf, target.architecture(), Endianness::Little);
    let handle = symbol(&mut object, "__dso_handle", SymbolSection::Undefined);
    let callee = symbol(&mut object, "__cxa_finalize", SymbolSection::Undefined);

    let text = object.add_section(Vec::new(), b".text".into(), SectionKind::Text);
    object.append_section_data(text, code.instructions, 4);
    for place in code.handle {
        relocate(&mut object, text, *place, handle)?;
    }
    relocate(&mut object, text, code.callee, callee)?;

    let finalizers = object.add_section(Vec::new(), b".fini_array".into(), SectionKind::Data);
    object.section_mut(finalizers).flags = SectionFlags::Elf {
        sh_type: elf::SHT_FINI_ARRAY,
        sh_flags: elf::SHF_ALLOC | elf::SHF_WRITE,
    };
    object.append_section_data(finalizers, &[0; 8], 8);
    let function = symbol(&mut object, "finalize", SymbolSection::Section(text));
    relocate(&mut object, finalizers, (0, code.address, 0), function)?;
    object.write()
}

fn symbol(object: &mut Object<'_>, name: &str, section: SymbolSection) -> SymbolId {
    let scope = match section {
        SymbolSection::Undefined => SymbolScope::Unknown,
        _ => SymbolScope::Compilation,
    };
    object.add_symbol(Symbol {
        name: name.into(),
        value: 0,
        size: 0,
        kind: SymbolKind::Text,
        scope,
        weak: false,
        section,
        flags: SymbolFlags::None,
    })
}

fn relocate(
    object: &mut Object<'_>,
    section: SectionId,
    (offset, r_type, addend): (u64, RelocationType, i64),
    symbol: SymbolId,
) -> Result<(), write::Error> {
    let flags = RelocationFlags::Elf { r_type };
    object.add_relocation(section, Relocation { offset, symbol, addend, flags })
}
