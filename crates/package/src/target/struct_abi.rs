// SPDX-License-Identifier: Apache-2.0
//! How a C struct travels by value. LLVM leaves this to its users: what clang does is written down
//! in the platforms' ABI documents, the System V psABI for x86-64 (section 3.2.3) and AAPCS64
//! (section 6.8), and here.

use kernpack_validators::plan::CScalar;

/// A platform's rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructAbi {
    /// System V, x86-64.
    SystemV,
    /// AAPCS64, Linux.
    Aapcs64,
}

/// A struct's bytes: each scalar with its offset, in order, and the size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The scalars, nested structs flattened.
    pub scalars: Vec<(u32, CScalar)>,
    /// The size with its padding.
    pub size: u32,
    /// The alignment.
    pub align: u32,
}

/// A field of a struct: a scalar or a struct.
#[derive(Clone, Debug)]
pub enum FieldType {
    /// A scalar.
    Scalar(CScalar),
    /// A struct.
    Struct(Vec<FieldType>),
}

/// A register class of the System V ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A general register.
    Integer,
    /// A vector register.
    Sse,
}

/// How one struct argument is passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Each eight bytes in a register of that class.
    Registers(Vec<Class>),
    /// As a homogeneous aggregate: so many floats of one kind in consecutive vector registers.
    Floats(CScalar, u32),
    /// One or two 64-bit words in consecutive general registers.
    Words(u32),
    /// A copy in the caller's argument area.
    Memory,
    /// A pointer to a copy.
    Pointer,
}

/// The registers that the arguments so far have left.
#[derive(Clone, Copy, Debug)]
pub struct Registers {
    integer: u32,
    sse: u32,
}

impl Default for Registers {
    fn default() -> Registers {
        Registers { integer: 6, sse: 8 }
    }
}

impl Registers {
    /// Takes the register of a scalar argument.
    pub fn take(&mut self, class: Class) {
        match class {
            Class::Integer => self.integer = self.integer.saturating_sub(1),
            Class::Sse => self.sse = self.sse.saturating_sub(1),
        }
    }
}

/// The size and alignment of a scalar, in bytes.
pub fn scalar_bytes(scalar: CScalar) -> u32 {
    match scalar {
        CScalar::Int(dtype) | CScalar::Float(dtype) => dtype.element_bytes(),
        CScalar::Pointer => 8,
    }
}

/// The register class of a scalar.
pub fn class_of(scalar: CScalar) -> Class {
    match scalar {
        CScalar::Int(_) | CScalar::Pointer => Class::Integer,
        CScalar::Float(_) => Class::Sse,
    }
}

impl Layout {
    /// A `CUtensorMap`, of which no scalar is anybody's but the driver's. It is aligned as in
    /// `cuda.h` of CUDA 13; the driver asks for 64.
    pub const TENSOR_MAP: Layout = Layout { scalars: vec![], size: 128, align: 128 };

    /// The layout of a struct with these fields, as every C compiler of both platforms has it.
    pub fn of(fields: &[FieldType]) -> Layout {
        let mut layout = Layout { scalars: vec![], size: 0, align: 1 };
        for field in fields {
            let inner = match field {
                FieldType::Scalar(scalar) => {
                    let bytes = scalar_bytes(*scalar);
                    Layout { scalars: vec![(0, *scalar)], size: bytes, align: bytes }
                }
                FieldType::Struct(fields) => Layout::of(fields),
            };
            let at = layout.size.next_multiple_of(inner.align);
            layout
                .scalars
                .extend(inner.scalars.iter().map(|(offset, scalar)| (at + offset, *scalar)));
            layout.size = at + inner.size;
            layout.align = layout.align.max(inner.align);
        }
        layout.size = layout.size.next_multiple_of(layout.align);
        layout
    }

    /// The classes of its eight-byte pieces: a piece with any integer in it is one.
    fn classes(&self) -> Vec<Class> {
        let mut classes = vec![Class::Sse; self.size.div_ceil(8) as usize];
        for (offset, scalar) in &self.scalars {
            if class_of(*scalar) == Class::Integer {
                classes[(offset / 8) as usize] = Class::Integer;
            }
        }
        classes
    }

    /// The float and count of a homogeneous aggregate: one to four floats of one type.
    fn homogeneous(&self) -> Option<(CScalar, u32)> {
        let (_, first) = *self.scalars.first()?;
        let alike = self.scalars.iter().all(|(_, scalar)| *scalar == first);
        let fits = (1..=4).contains(&self.scalars.len());
        (alike && fits && class_of(first) == Class::Sse)
            .then_some((first, self.scalars.len() as u32))
    }
}

impl StructAbi {
    /// How a struct is passed, behind arguments that left these registers.
    pub fn passing(self, layout: &Layout, registers: &mut Registers) -> Passing {
        match self {
            StructAbi::SystemV if layout.size > 16 => Passing::Memory,
            StructAbi::SystemV => {
                let classes = layout.classes();
                let count = |class| classes.iter().filter(|c| **c == class).count() as u32;
                let (integer, sse) = (count(Class::Integer), count(Class::Sse));
                if integer > registers.integer || sse > registers.sse {
                    return Passing::Memory;
                }
                registers.integer -= integer;
                registers.sse -= sse;
                Passing::Registers(classes)
            }
            StructAbi::Aapcs64 => match layout.homogeneous() {
                Some((scalar, count)) => Passing::Floats(scalar, count),
                None if layout.size > 16 => Passing::Pointer,
                None => Passing::Words(layout.size.div_ceil(8)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernpack_ffi_abi::DType;

    const F32: FieldType = FieldType::Scalar(CScalar::Float(DType::FLOAT32));
    const I8: FieldType = FieldType::Scalar(CScalar::Int(DType::INT8));
    const PTR: FieldType = FieldType::Scalar(CScalar::Pointer);

    #[test]
    fn fields_are_aligned_as_c_has_it() {
        let layout = Layout::of(&[I8, PTR, I8]);
        assert_eq!((layout.size, layout.align), (24, 8));
        assert_eq!(layout.scalars[1].0, 8);
    }

    #[test]
    fn small_structs_travel_in_registers() {
        let mut registers = Registers::default();
        let layout = Layout::of(&[F32, F32, PTR]);
        let passing = StructAbi::SystemV.passing(&layout, &mut registers);
        assert_eq!(passing, Passing::Registers(vec![Class::Sse, Class::Integer]));
        assert_eq!(StructAbi::Aapcs64.passing(&layout, &mut registers), Passing::Words(2));
        let floats = Layout::of(&[F32, F32, F32]);
        let passing = StructAbi::Aapcs64.passing(&floats, &mut registers);
        assert_eq!(passing, Passing::Floats(CScalar::Float(DType::FLOAT32), 3));
    }

    #[test]
    fn a_struct_goes_to_memory_whole_when_registers_run_out() {
        let mut registers = Registers { integer: 1, sse: 8 };
        let layout = Layout::of(&[PTR, PTR]);
        assert_eq!(StructAbi::SystemV.passing(&layout, &mut registers), Passing::Memory);
        let layout = Layout::of(&[PTR]);
        let passing = StructAbi::SystemV.passing(&layout, &mut registers);
        assert_eq!(passing, Passing::Registers(vec![Class::Integer]));
    }
}
