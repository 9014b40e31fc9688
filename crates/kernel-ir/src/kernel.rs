// SPDX-License-Identifier: Apache-2.0
//! Kernels: parameters, memory, and the operations that each thread runs. Ids are numbers that
//! print as they are written in a kernel's text.

use crate::constant::Const;
use crate::intrinsic::Level;
use crate::op::{Call, OpKind, Operand, Region};
use crate::types::{MOST_VECTOR_BYTES, Scalar, Space, Type};
use kernpack_machine::Arch;
use kernpack_machine::tensor_map::MOST_RANK;
use kernpack_syntax::Span;
use std::fmt;

macro_rules! ids {
    ($( #[doc = $doc:literal] $name:ident = $prefix:literal; )*) => { $(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl $name {
            /// Its place in the kernel's list.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )* };
}

ids! {
    /// A value: the result of one operation, a parameter, or the index of a loop. Prints as `v7`.
    Value = "v";
    /// A variable that each thread has one of. Prints as `s2`.
    Slot = "s";
    /// An array that the threads of a block share. Prints as `shared0`.
    Shared = "shared";
    /// An array that each thread has one of: a register tensor. Prints as `local0`.
    Local = "local";
    /// Where an operation was written. It is printed as file, line and column.
    Place = "p";
    /// A file of the kernel's source.
    File = "f";
}

/// A kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// Its symbol: a C identifier.
    pub name: String,
    /// Its parameters. Parameter `i` is value `v{i}`.
    pub params: Vec<Param>,
    /// The threads of a block in x, y and z, as far as they are known.
    pub block: [Option<u32>; 3],
    /// The demands on whoever assembles it.
    pub demands: Demands,
    /// The architectures that it is for; every one where there are none.
    pub archs: Vec<Arch>,
    /// The arrays of a block.
    pub shared: Vec<SharedArray>,
    /// The register tensors of a thread.
    pub locals: Vec<LocalArray>,
    /// The variables of a thread.
    pub slots: Vec<SlotData>,
    /// The values.
    pub values: Vec<ValueData>,
    /// The operations of a thread.
    pub body: Region,
    /// The files that it was written in.
    pub files: Vec<String>,
    /// The places of operations. The first is where nothing was written.
    pub places: Vec<PlaceData>,
}

/// The demands on whoever assembles a kernel. They change no result. A kernel has one of them at
/// most, as both say how many registers there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// How many of its blocks a multiprocessor has to hold at once, as far as registers matter.
    pub min_blocks: Option<u32>,
    /// The most registers of a thread.
    pub max_registers: Option<u32>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name, for messages: `x`, `x.shape[1]`.
    pub name: String,
    /// Its kind.
    pub kind: ParamKind,
}

/// The kind of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// A number, and what is known of it.
    Scalar(Scalar, Facts),
    /// The address of a tensor in global memory.
    Pointer(Pointer),
    /// A map of a tensor in global memory, passed by value.
    Map(TensorMap),
}

impl ParamKind {
    /// The type of its value.
    pub const fn ty(&self) -> Type {
        match self {
            ParamKind::Scalar(scalar, _) => Type::Scalar(*scalar),
            ParamKind::Pointer(_) => Type::Pointer(Space::Global),
            ParamKind::Map(_) => Type::Pointer(Space::Map),
        }
    }

    /// The bytes that it is passed in, at a multiple of as many as the second number says.
    pub const fn passed_bytes(&self) -> [u32; 2] {
        match self {
            ParamKind::Scalar(..) | ParamKind::Pointer(_) => [self.ty().bytes(); 2],
            ParamKind::Map(_) => [MAP_BYTES, MAP_ALIGN],
        }
    }
}

/// The bytes of a map.
pub const MAP_BYTES: u32 = 128;
/// The alignment of a map, in bytes.
pub const MAP_ALIGN: u32 = 64;

/// How a tensor is copied box by box. Where it lies, its extents and its strides are the call's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The type of its elements.
    pub element: Scalar,
    /// How many dims it has.
    pub rank: usize,
    /// The elements of a box along each of them, the innermost first; 1 beyond.
    pub extents: [u32; MOST_RANK],
    /// The span in bytes within which chunks of 16 bytes change places in shared memory; 0 where
    /// they stay in order.
    pub swizzle: u32,
    /// Whether the kernel may write there.
    pub is_written: bool,
}

impl TensorMap {
    /// The elements of a box along each dim, the innermost first.
    pub fn box_extents(&self) -> &[u32] {
        &self.extents[..self.rank]
    }

    /// The bytes of a row of the box.
    pub fn row_bytes(&self) -> u32 {
        self.extents[0] * self.element.bytes()
    }

    /// The bytes of a box.
    pub fn box_bytes(&self) -> u32 {
        self.box_extents().iter().product::<u32>() * self.element.bytes()
    }

    /// The alignment of a box in shared memory, in bytes: that of a pattern of the swizzle.
    pub fn box_align(&self) -> u32 {
        BOX_ALIGN.max(self.swizzle * 8)
    }

    /// Where a byte of a box lies in shared memory, counted from its beginning.
    pub fn place_in_box(&self, byte: u32) -> u32 {
        let mask = (self.swizzle / 16).saturating_sub(1);
        byte ^ (((byte / BOX_ALIGN) & mask) * 16)
    }
}

/// The alignment of every box in shared memory, in bytes.
pub const BOX_ALIGN: u32 = 128;

/// Facts of every caller's number. Of floats and truth values nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The least.
    pub min: i64,
    /// The largest.
    pub max: i64,
    /// A divisor of it: 1 or more.
    pub divisor: i64,
}

impl Facts {
    /// Nothing is known.
    pub const NONE: Facts = Facts { min: i64::MIN, max: i64::MAX, divisor: 1 };
}

/// The address of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The type of its elements.
    pub element: Scalar,
    /// Its alignment, in bytes.
    pub align: u32,
    /// Whether the kernel may write there.
    pub is_written: bool,
    /// Whether nothing that is written through another parameter lies there, nor, where this one is
    /// written, anything that another one reads.
    pub is_alone: bool,
}

/// An array of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedArray {
    /// Its name, for messages.
    pub name: String,
    /// The type of its elements.
    pub element: Scalar,
    /// How large it is.
    pub size: Size,
    /// The alignment of its address, in bytes.
    pub align: u32,
}

/// How large an array of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So many bytes.
    Bytes(u32),
    /// As many bytes as a parameter says, an `int64`.
    Param(Value),
}

/// The alignment of a register tensor's address: as much as the widest access needs.
pub const LOCAL_ALIGN: u32 = MOST_VECTOR_BYTES;

/// A register tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalArray {
    /// Its name, for messages.
    pub name: String,
    /// The type of its elements.
    pub element: Scalar,
    /// How many.
    pub count: u32,
    /// Where it was made.
    pub place: Place,
}

impl LocalArray {
    /// The element so many bytes behind another, where there is one.
    pub fn further(&self, element: u32, bytes: i64) -> Option<u32> {
        let width = i64::from(self.element.bytes());
        let further = (bytes % width == 0).then_some(bytes / width)?;
        let element = u32::try_from(i64::from(element).checked_add(further)?).ok()?;
        (element < self.count).then_some(element)
    }
}

/// A variable.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotData {
    /// Its name, for messages.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its value, where an operation gives a constant.
    pub constant: Option<Const>,
}

/// The beginning of the names of files that belong to the language.
pub const OF_LIBRARY: &str = "<kernpack>/";

/// The label of a line of the library, beside that of who called it.
pub const BY_LIBRARY: &str = "where the library does it";

/// Where an operation was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlaceData {
    /// The place in the table of texts, where there is one.
    pub span: Span,
    /// The file; nothing where nothing was written.
    pub file: Option<File>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, in characters.
    pub column: u32,
    /// Where the function that has it was called, if it was inlined.
    pub caller: Option<Place>,
}

impl PlaceData {
    /// Where nothing was written.
    pub const NOWHERE: PlaceData =
        PlaceData { span: Span::new(0, 0), file: None, line: 0, column: 0, caller: None };
}

impl Place {
    /// Where nothing was written.
    pub const NOWHERE: Place = Place(0);
}

impl Kernel {
    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// The constant that a value is, where an operation gives one.
    pub fn constant(&self, value: Value) -> Option<Const> {
        self.values[value.index()].constant
    }

    /// Whether it asserts or checks something as it runs. Its code has one parameter more then, the
    /// last: the address of an [`AssertRecord`](crate::assert_record::AssertRecord).
    pub fn asserts(&self) -> bool {
        self.body.any(&|kind| {
            matches!(kind, OpKind::Assert(_) | OpKind::InBounds { check: Some(_), .. })
        })
    }

    /// Whether its blocks wait for the whole grid, so that its launches are cooperative.
    pub fn waits_for_grid(&self) -> bool {
        self.body.any_call(|call| call.intrinsic.together == Level::Grid)
    }

    /// The kernel without its assertions. What is checked is checked still.
    #[must_use]
    pub fn without_asserts(&self) -> Kernel {
        fn leave_out(region: &mut Region) {
            region.0.retain(|op| !matches!(op.kind, OpKind::Assert(_)));
            region.0.iter_mut().for_each(|op| op.kind.regions_mut().for_each(leave_out));
        }
        let mut kernel = self.clone();
        leave_out(&mut kernel.body);
        kernel
    }

    /// The map of a copy of a box, and the parameter that it is.
    pub fn map_of(&self, call: &Call) -> Option<(Value, &TensorMap)> {
        let (place, _) = call.intrinsic.map_operand()?;
        let Some(Operand::Value(value)) = call.operands.get(place) else { return None };
        match &self.params.get(value.index())?.kind {
            ParamKind::Map(map) => Some((*value, map)),
            ParamKind::Scalar(..) | ParamKind::Pointer(_) => None,
        }
    }

    /// Where an operation was written.
    pub fn place(&self, place: Place) -> &PlaceData {
        &self.places[place.index()]
    }

    /// Where an operation was written by who wrote the kernel: what a function of the library does,
    /// its call does. Callers are in front of what they call: a circle of them ends here.
    pub fn place_of_user(&self, mut place: Place) -> &PlaceData {
        let mut data = self.place(place);
        while self.is_of_library(data)
            && let Some(caller) = data.caller.filter(|caller| *caller < place)
        {
            (place, data) = (caller, self.place(caller));
        }
        data
    }

    fn is_of_library(&self, place: &PlaceData) -> bool {
        let file = place.file.and_then(|file| self.files.get(file.index()));
        file.is_some_and(|file| file.starts_with(OF_LIBRARY))
    }
}
