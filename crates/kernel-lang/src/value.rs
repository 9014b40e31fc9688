// SPDX-License-Identifier: Apache-2.0
//! Values of a kernel's expressions while it is elaborated: constants, of which the compiler knows
//! everything, and what a thread computes, of which it knows the type.

use crate::builtin::Builtin;
use crate::file::{ClassDefinition, ModuleId};
use crate::integer::Integer;
use crate::names::FrameId;
use crate::python::tree::{Function, Name};
use crate::tensor::{Limit, Within};
use kernpack_kernel_ir::kernel::{self, TensorMap};
use kernpack_kernel_ir::op::Qualifier;
use kernpack_kernel_ir::{Const, Scalar, Space};
use kernpack_layout::{Facts, Layout, Shape, Swizzle};
use std::fmt;
use std::sync::Arc;

/// A number of a layout that a thread computes: an `int64`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    /// The number, as a thread has it.
    pub value: kernel::Value,
    /// The facts about it.
    pub facts: Facts,
}

/// One value is one number.
impl PartialEq for Leaf {
    fn eq(&self, other: &Leaf) -> bool {
        self.value == other.value
    }
}

/// As CuTe prints what is not known.
impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.facts.divisor {
            1 => f.write_str("?"),
            divisor => write!(f, "?{{div={divisor}}}"),
        }
    }
}

/// The value of an expression while a kernel is elaborated.
#[derive(Clone, Debug)]
pub(crate) enum Elaborated {
    /// Nothing that can be told: a mistake was reported, and what comes of it is none of its own.
    Poison,
    /// `None`; in a coordinate, all of a mode.
    None,
    /// `True`, `False`
    Bool(bool),
    /// An integer without a type.
    Int(Integer),
    /// A float without a type.
    Float(f64),
    /// A text.
    Text(Arc<str>),
    /// A dtype.
    DType(Scalar),
    /// A constant number with a type; no truth value.
    Const(Const),
    /// A number or a truth value that a thread computes.
    Typed(kernel::Value),
    /// The elements of a register tensor, each a value.
    Elements(Arc<Elements>),
    /// A tuple, or a list.
    Tuple(Arc<Items>),
    /// A layout.
    Layout(Arc<LayoutValue>),
    /// A swizzle.
    Swizzle(Swizzle),
    /// A tensor: a view of memory, or coordinates.
    Tensor(Arc<Tensor>),
    /// The address of a tensor's first element.
    Pointer(Arc<Tensor>),
    /// A function that is written.
    Closure(Arc<Closure>),
    /// A function of kernpack's.
    Builtin(&'static Builtin),
    /// A function of what stands in front of its point.
    Method(Arc<Elaborated>, &'static Builtin),
    /// `kp.async_group`: what a copy belongs to that goes on by itself.
    AsyncGroup,
    /// `kp.bulk_group`: what a copy of many bytes out of shared memory belongs to.
    BulkGroup,
    /// `kp.mbarrier()`, and one of several.
    Mbarrier(Arc<Mbarrier>),
    /// `kp`
    Kernpack,
    /// A class.
    Class(Arc<ClassDefinition>),
    /// An object.
    Object(Arc<Object>),
    /// Another kernel file.
    Module(ModuleId),
    /// An argument that may be None, by its number.
    Optional(usize),
    /// `range(…)`: what a `for` runs over.
    Range(Arc<Range>),
}

/// A tuple.
#[derive(Clone, Debug)]
pub(crate) struct Items {
    /// Its items.
    pub items: Vec<Elaborated>,
    /// The names of the items; empty where they have none.
    pub names: Vec<Option<Name>>,
}

impl Items {
    /// The names of items that come from one of two tuples.
    pub fn common_names(&self, other: &Items) -> Vec<Option<Name>> {
        if self.names == other.names { self.names.clone() } else { Vec::new() }
    }

    /// Whether there are no more items than that, those in items among them.
    pub fn has_at_most(&self, most: usize) -> bool {
        self.rest_of(most).is_some()
    }

    /// How many of so many items would be left.
    fn rest_of(&self, n_items: usize) -> Option<usize> {
        self.items.iter().try_fold(n_items, |left, item| match item {
            Elaborated::Tuple(inner) => inner.rest_of(left.checked_sub(1)?),
            _ => left.checked_sub(1),
        })
    }
}

/// The elements of a register tensor.
#[derive(Clone, Debug)]
pub(crate) struct Elements {
    /// Their type.
    pub scalar: Scalar,
    /// The shape, of which all is known.
    pub shape: Shape<Leaf>,
    /// Each of them, the first mode being the fastest.
    pub items: Vec<Elaborated>,
}

/// A layout, which may have a swizzle behind it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LayoutValue {
    /// The layout.
    pub layout: Layout<Leaf>,
    /// The swizzle of its indices.
    pub swizzle: Option<Swizzle>,
}

impl fmt::Display for LayoutValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.swizzle {
            Some(swizzle) => write!(f, "{swizzle} o 0 o {}", self.layout),
            None => self.layout.fmt(f),
        }
    }
}

/// A view of memory, or coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tensor {
    /// Its name in messages.
    pub name: Name,
    /// The memory or coordinates that it is a view of.
    pub base: Base,
    /// The index of its first element: in elements from the base, or a coordinate.
    pub offset: Shape<Leaf>,
    /// Its extents and strides.
    pub layout: Layout<Leaf>,
    /// The limits that accesses keep to beyond them.
    pub limits: Vec<Limit>,
}

/// The memory or coordinates that a tensor is a view of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Base {
    /// Memory.
    Memory(Memory),
    /// Nothing: an element is its own coordinate.
    Coordinates,
    /// A map: an element is a coordinate of the tensor that it is of.
    Map(Arc<Mapped>),
}

impl Base {
    /// Whether elements are coordinates.
    pub fn is_coordinates(&self) -> bool {
        matches!(self, Base::Coordinates | Base::Map(_))
    }
}

/// The map of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mapped {
    /// The parameter that it is.
    pub pointer: kernel::Value,
    /// The address of its tensor.
    pub tensor: kernel::Value,
    /// How boxes are copied.
    pub map: TensorMap,
    /// The modes of the tensor that the dims of the map are, the innermost first.
    pub order: Vec<usize>,
    /// How many boxes a tile is, side by side along the innermost dim.
    pub n_boxes: i64,
    /// The coordinates of a tile.
    pub tile: Layout<Leaf>,
    /// The layout of a tile in shared memory, coalesced.
    pub layout: Layout<Leaf>,
    /// The swizzle of its bytes.
    pub swizzle: Option<Swizzle>,
    /// Whether rows of the tensor are known to end where the device ends to write.
    pub has_whole_units: bool,
}

/// Memory that a view is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Memory {
    /// Where it is.
    pub space: Space,
    /// Its address.
    pub pointer: kernel::Value,
    /// The alignment of the address, in bytes.
    pub align: u32,
    /// The type of the elements.
    pub element: Scalar,
    /// Whether it may be written.
    pub is_written: bool,
    /// Which bytes take the place of which, counted from the address.
    pub swizzle: Option<Swizzle>,
    /// How it is accessed, where the view says that.
    pub qualifier: Option<Qualifier>,
}

/// A barrier in shared memory, or several that are indexed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mbarrier {
    /// Its name in messages.
    pub name: Name,
    /// Where it is.
    pub space: Space,
    /// Its address, or that of the first.
    pub pointer: kernel::Value,
    /// How many there are, where they are indexed.
    pub stages: Option<u32>,
    /// Which one it is, an `int32`.
    pub stage: kernel::Value,
    /// The parities of the phases that a thread waits for next: a bit for each.
    pub phases: kernel::Slot,
    /// Where there is such an mbarrier: elsewhere what is done with it is skipped.
    pub within: Within,
}

/// A function that is written, and the place that it is written in.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    /// The function.
    pub function: Arc<Function>,
    /// The file.
    pub module: ModuleId,
    /// The names around it, where it stands in a function.
    pub frame: Option<FrameId>,
    /// Whether it is a kernel or a packed function, which cannot be called.
    pub uncallable: Option<&'static str>,
    /// The object that it is a method of.
    pub object: Option<Arc<Object>>,
}

/// An object: two that are one have the same fields.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Its class.
    pub class: Arc<ClassDefinition>,
    /// Its fields.
    pub fields: FrameId,
}

/// `range(first, end, step)`
#[derive(Clone, Debug)]
pub(crate) struct Range {
    /// The first.
    pub first: Elaborated,
    /// One past the last.
    pub end: Elaborated,
    /// The step.
    pub step: Elaborated,
    /// Whether it unrolls while compiling.
    pub is_constant: bool,
}

impl Elaborated {
    /// A tuple without names.
    pub fn tuple(items: Vec<Elaborated>) -> Elaborated {
        Elaborated::Tuple(Arc::new(Items { items, names: Vec::new() }))
    }

    /// A constant `int64`: what layouts are made of.
    pub fn index(value: i64) -> Elaborated {
        Elaborated::Const(Const::int(Scalar::I64, value))
    }

    /// A number or truth value of the code itself.
    pub fn of_const(constant: Const) -> Elaborated {
        match constant.as_bool() {
            Some(truth) => Elaborated::Bool(truth),
            None => Elaborated::Const(constant),
        }
    }

    /// The integer that it is, where the compiler knows it and it fits 128 bits.
    pub fn as_int(&self) -> Option<i128> {
        match self {
            Elaborated::Int(int) => int.small(),
            Elaborated::Const(constant) => match constant.scalar().is_signed() {
                true => constant.as_int().map(i128::from),
                false => constant.scalar().is_int().then(|| constant.bits().into()),
            },
            _ => None,
        }
    }

    /// Whether a mistake was reported where it comes from.
    pub fn is_poison(&self) -> bool {
        matches!(self, Elaborated::Poison)
    }

    /// Its words in messages: `a text`, `a tuple`.
    pub fn what(&self) -> &'static str {
        match self {
            Elaborated::Poison => "nothing",
            Elaborated::None => "`None`",
            Elaborated::Bool(_) => "a bool",
            Elaborated::Int(_) => "an integer",
            Elaborated::Float(_) => "a float",
            Elaborated::Text(_) => "a text",
            Elaborated::DType(_) => "a dtype",
            Elaborated::Const(_) | Elaborated::Typed(_) => "a number",
            Elaborated::Elements(_) => "the elements of a register tensor",
            Elaborated::Tuple(_) => "a tuple",
            Elaborated::Layout(_) => "a layout",
            Elaborated::Swizzle(_) => "a swizzle",
            Elaborated::Tensor(_) => "a tensor",
            Elaborated::Pointer(_) => "a pointer",
            Elaborated::Closure(_) | Elaborated::Builtin(_) | Elaborated::Method(..) => {
                "a function"
            }
            Elaborated::AsyncGroup => "`kp.async_group`",
            Elaborated::BulkGroup => "`kp.bulk_group`",
            Elaborated::Mbarrier(_) => "an mbarrier",
            Elaborated::Class(_) => "a class",
            Elaborated::Object(_) => "an object",
            Elaborated::Kernpack | Elaborated::Module(_) => "a module",
            Elaborated::Optional(_) => "an argument that may be None",
            Elaborated::Range(_) => "a range",
        }
    }
}

impl Items {
    /// The item of that name.
    pub fn named(&self, name: &str) -> Option<&Elaborated> {
        let is_it = |one: &Option<Name>| one.as_deref() == Some(name);
        self.items.get(self.names.iter().position(is_it)?)
    }
}
