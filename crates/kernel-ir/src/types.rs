// SPDX-License-Identifier: Apache-2.0
//! The types of values: scalars, short vectors of them, and pointers. Tensors and layouts are not
//! types here: they are gone when a kernel has become operations.

use kernpack_ffi_abi::DType;
use kernpack_interval::Interval;
use kernpack_machine::block::MOST_ACCESS_BYTES;
use std::fmt;

/// A row for each scalar: the dtype, the name, the bits in memory, the class, and of a float how
/// many of its bits are the exponent and how many the mantissa.
macro_rules! scalars {
    ($(
        $name:ident = $dtype:ident, $text:literal, $bits:literal, $class:ident
        $( , $exponent:literal + $mantissa:literal )?;
    )*) => {
        /// The type of one number, or of a truth value. Whether an integer has a sign is part of
        /// its type, not of the operations on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Scalar {
            $( #[doc = concat!("`", $text, "`.")] $name, )*
        }

        impl Scalar {
            /// Every one.
            pub const ALL: &[Scalar] = &[ $( Scalar::$name, )* ];

            /// Its name, which is the dtype's.
            pub const fn name(self) -> &'static str {
                match self { $( Scalar::$name => $text, )* }
            }

            /// Its bits in memory; those of `bool` are a byte.
            pub const fn bits(self) -> u32 {
                match self { $( Scalar::$name => $bits, )* }
            }

            /// Its class.
            pub const fn class(self) -> Class {
                match self { $( Scalar::$name => Class::$class, )* }
            }

            /// As the element type of a tensor.
            pub const fn dtype(self) -> DType {
                match self { $( Scalar::$name => DType::$dtype, )* }
            }

            /// How it is laid out, if it is a float.
            pub const fn format(self) -> Option<FloatFormat> {
                match self {
                    $( $( Scalar::$name => Some(FloatFormat {
                        exponent_bits: $exponent,
                        mantissa_bits: $mantissa,
                    }), )? )*
                    _ => None,
                }
            }
        }
    };
}

scalars! {
    Bool = BOOL, "bool", 8, Bool;
    I8 = INT8, "int8", 8, Signed;
    I16 = INT16, "int16", 16, Signed;
    I32 = INT32, "int32", 32, Signed;
    I64 = INT64, "int64", 64, Signed;
    U8 = UINT8, "uint8", 8, Unsigned;
    U16 = UINT16, "uint16", 16, Unsigned;
    U32 = UINT32, "uint32", 32, Unsigned;
    U64 = UINT64, "uint64", 64, Unsigned;
    F16 = FLOAT16, "float16", 16, Float, 5 + 10;
    BF16 = BFLOAT16, "bfloat16", 16, Float, 8 + 7;
    F32 = FLOAT32, "float32", 32, Float, 8 + 23;
    F64 = FLOAT64, "float64", 64, Float, 11 + 52;
}

/// The class of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// True or false.
    Bool,
    /// An integer in two's complement.
    Signed,
    /// An integer from 0.
    Unsigned,
    /// A binary floating point number.
    Float,
}

/// How a float type is laid out: a sign, exponent and mantissa, from above. The largest exponent is
/// of the infinities and of what is no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// The bits of the exponent.
    pub exponent_bits: u32,
    /// The bits of the mantissa, without the one above that is not kept.
    pub mantissa_bits: u32,
}

impl FloatFormat {
    /// The bits of the exponent for 1.
    pub const fn bias(self) -> u64 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    /// The bits of infinity. One less are those of the largest finite number.
    pub const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }

    /// The bit of the sign.
    pub const fn sign(self) -> u64 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The exponent of the least number that is not subnormal.
    pub const fn least_exponent(self) -> i32 {
        1 - self.bias() as i32
    }

    /// The bits of the usual NaN: quiet, without a sign or a payload.
    pub const fn quiet_nan(self) -> u64 {
        self.infinity() | 1 << (self.mantissa_bits - 1)
    }
}

impl Scalar {
    /// The scalar of that name.
    pub fn parse(name: &str) -> Option<Scalar> {
        Scalar::ALL.iter().copied().find(|scalar| scalar.name() == name)
    }

    /// The scalar that elements of that dtype are, if they are one.
    pub fn of(dtype: DType) -> Option<Scalar> {
        Scalar::ALL.iter().copied().find(|scalar| scalar.dtype() == dtype)
    }

    /// Its bytes in memory.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self.class(), Class::Float)
    }

    /// Whether it is an integer, with a sign or without.
    pub const fn is_int(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// Whether it is an integer with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self.class(), Class::Signed)
    }

    /// How it is laid out.
    ///
    /// # Panics
    /// Where it is no float.
    pub fn float_format(self) -> FloatFormat {
        self.format().unwrap_or_else(|| unreachable!("{self} is no float"))
    }

    /// The largest finite number of the type, as bits.
    pub const fn largest(self) -> u64 {
        match self.format() {
            Some(format) => format.infinity() - 1,
            None => self.integers().max as u64,
        }
    }

    /// The mask of the bits that a value has: one bit of a `bool`.
    pub const fn mask(self) -> u64 {
        match self {
            Scalar::Bool => 1,
            _ => u64::MAX >> (64 - self.bits()),
        }
    }

    /// Every number of an integer type; of others what their bits are as a number.
    pub const fn integers(self) -> Interval {
        match self {
            Scalar::Bool => Interval::of_bits(1, false),
            _ => Interval::of_bits(self.bits(), self.is_signed()),
        }
    }

    /// Whether each of these integers is a number of the type.
    pub const fn holds(self, integers: Interval) -> bool {
        integers.is_within(self.integers())
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// The device's memory: tensors that a kernel was given.
    Global,
    /// A block's own.
    Shared,
    /// The shared memory of a block of the cluster, which may be another one.
    Cluster,
    /// A thread's own: register tensors.
    Local,
    /// Where a map says how a tensor lies. Nothing is read or written there: copies of boxes alone
    /// take such an address.
    Map,
}

impl Space {
    /// Every one.
    pub const ALL: &[Space] =
        &[Space::Global, Space::Shared, Space::Cluster, Space::Local, Space::Map];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Cluster => "cluster",
            Space::Local => "local",
            Space::Map => "map",
        }
    }

    /// Whether an address in one and one in the other may be of the same memory.
    pub const fn may_meet(self, other: Space) -> bool {
        match (self, other) {
            (Space::Shared, Space::Cluster) | (Space::Cluster, Space::Shared) => true,
            _ => self as u8 == other as u8,
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One.
    Scalar(Scalar),
    /// Several of one type, side by side: at least two, and no `bool`s.
    Vector(Scalar, u8),
    /// An address of a byte.
    Pointer(Space),
}

/// The most bytes of a vector: what the widest access of a thread moves.
pub const MOST_VECTOR_BYTES: u32 = MOST_ACCESS_BYTES;

impl Type {
    /// A vector of `lanes`, or the scalar itself where that is one.
    pub const fn of_lanes(scalar: Scalar, lanes: u8) -> Type {
        if lanes == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, lanes) }
    }

    /// The scalar that it is made of, unless it is a pointer.
    pub const fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) | Type::Vector(scalar, _) => Some(scalar),
            Type::Pointer(_) => None,
        }
    }

    /// How many of them it has.
    pub const fn lanes(self) -> u8 {
        match self {
            Type::Scalar(_) | Type::Pointer(_) => 1,
            Type::Vector(_, lanes) => lanes,
        }
    }

    /// As many lanes of another scalar.
    pub const fn with_scalar(self, scalar: Scalar) -> Type {
        Type::of_lanes(scalar, self.lanes())
    }

    /// Its bytes in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            Type::Scalar(scalar) => scalar.bytes(),
            Type::Vector(scalar, lanes) => scalar.bytes() * lanes as u32,
            Type::Pointer(_) => 8,
        }
    }
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Type {
        Type::Scalar(scalar)
    }
}

/// As in a kernel's text: `float32`, `float32x4`, `pointer.global`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Scalar(scalar) => scalar.fmt(f),
            Type::Vector(scalar, lanes) => write!(f, "{scalar}x{lanes}"),
            Type::Pointer(space) => write!(f, "pointer.{space}"),
        }
    }
}
