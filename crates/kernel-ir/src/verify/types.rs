// SPDX-License-Identifier: Apache-2.0
//! Rules of types: what each operation is defined on, and what it gives. Each rule gives the type
//! of the result, or says what is wrong.

use super::call;
use super::head::align_problem;
use super::report::Report;
use crate::kernel::{Kernel, Value};
use crate::op::{
    Asm, Assert, Binary, Compare, Dialect, Expr, Guard, Load, Op, OpKind, Qualifier, Rounding,
    Store, Unary,
};
use crate::types::{Class, MOST_VECTOR_BYTES, Scalar, Space, Type};

/// The type of the result, if there is one, or what is wrong.
pub(super) type Rule = Result<Option<Type>, String>;

const BOOL: Type = Type::Scalar(Scalar::Bool);
/// The most numbers of one line for a person.
const MOST_PRINTED: usize = 32;

pub(super) fn verify(report: &mut Report<'_>) {
    let mut is_const = vec![false; report.kernel.values.len()];
    report.each_op(|report, op| {
        if let (Some(result), OpKind::Expr(Expr::Const(_))) = (op.result, &op.kind) {
            is_const[result.index()] = true;
        }
        if let Err(problem) = op_rule(report.kernel, op) {
            report.malformed_op(op, problem);
        }
    });
    let kernel = report.kernel;
    let known = kernel
        .values
        .iter()
        .zip(&is_const)
        .position(|(data, is_const)| data.constant.is_some() && !is_const);
    if let Some(number) = known {
        report.malformed(format!("`v{number}` is known to be a constant, and no `const` gives it"));
    }
}

fn op_rule(kernel: &Kernel, op: &Op) -> Result<(), String> {
    let result = op.result.map(|result| kernel.ty(result));
    let gives = Types { kernel, result }.rule(&op.kind)?;
    match (gives, result) {
        (None, Some(_)) => return Err("the operation gives nothing".to_string()),
        (Some(gives), None) => return Err(format!("the operation gives {gives}, to nothing")),
        (Some(gives), Some(result)) if gives != result => {
            return Err(format!("the operation gives {gives}, and its result is {result}"));
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    if let (Some(value), OpKind::Expr(Expr::Const(constant))) = (op.result, &op.kind)
        && kernel.constant(value) != Some(*constant)
    {
        return Err(format!("`{value}` is not known to be this constant"));
    }
    Ok(())
}

struct Types<'k> {
    kernel: &'k Kernel,
    /// The type that the result has: what is converted and loaded is of that type.
    result: Option<Type>,
}

impl Types<'_> {
    fn ty(&self, value: Value) -> Type {
        self.kernel.ty(value)
    }

    fn rule(&self, kind: &OpKind) -> Rule {
        match kind {
            OpKind::Expr(expr) => self.expr(expr).map(Some),
            OpKind::Store(store) => self.store(store).map(|()| None),
            OpKind::InBounds { index, extent, check } => {
                self.ints(&[*index, *extent])?;
                if let Some(check) = check {
                    self.format(&check.text(), &[*index, *extent], 2)?;
                }
                Ok(None)
            }
            OpKind::Set(slot, value) => {
                self.expect(*value, self.kernel.slots[slot.index()].ty).map(|()| None)
            }
            OpKind::If { condition, .. } | OpKind::While { condition, .. } => {
                self.expect(*condition, BOOL).map(|()| None)
            }
            OpKind::For { index, first, end, step, .. } => {
                self.ints(&[*index, *first, *end, *step]).map(|()| None)
            }
            OpKind::Jump(_) => Ok(None),
            OpKind::Call(called) => call::rule(self.kernel, called),
            OpKind::Print(text, values) => self.print(text, values).map(|()| None),
            OpKind::Assert(assert) => self.assert(assert).map(|()| None),
            OpKind::Asm(asm) => self.asm(asm).map(|()| None),
        }
    }

    /// The type of what an expression gives.
    fn expr(&self, expr: &Expr) -> Result<Type, String> {
        match expr {
            Expr::Const(constant) => Ok(Type::Scalar(constant.scalar())),
            Expr::Unary(op, value) => self.unary(*op, *value),
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b),
            Expr::Compare(op, a, b) => self.compare(*op, *a, *b),
            Expr::Select(condition, a, b) => {
                self.expect(*condition, BOOL)?;
                self.alike(*a, *b)
            }
            Expr::Convert(value, rounding) => self.convert(*value, *rounding),
            Expr::Bitcast(value) => self.bitcast(*value),
            Expr::Vector(lanes) => self.vector(lanes),
            Expr::Splat(value) => self.splat(*value),
            Expr::Extract(vector, lane) => self.lane(*vector, *lane),
            Expr::Insert(vector, lane, value) => {
                self.expect(*value, self.lane(*vector, *lane)?)?;
                Ok(self.ty(*vector))
            }
            Expr::Shared(_) => Ok(Type::Pointer(Space::Shared)),
            Expr::Local(_) => Ok(Type::Pointer(Space::Local)),
            Expr::Offset(pointer, bytes) => {
                self.expect(*bytes, Type::Scalar(Scalar::I64))?;
                match self.pointer(*pointer)? {
                    Space::Map => Err(NOTHING_BEHIND_MAPS.to_string()),
                    space => Ok(Type::Pointer(space)),
                }
            }
            Expr::Load(load) => self.load(load),
            Expr::Get(slot) => Ok(self.kernel.slots[slot.index()].ty),
        }
    }

    /// A value of that type.
    fn expect(&self, value: Value, expected: Type) -> Result<(), String> {
        let found = self.ty(value);
        let is_right = found == expected;
        is_right
            .then_some(())
            .ok_or_else(|| format!("expected {expected}, found `{value}`, which is {found}"))
    }

    /// Two values of one type.
    fn alike(&self, a: Value, b: Value) -> Result<Type, String> {
        let (left, right) = (self.ty(a), self.ty(b));
        let is_right = left == right;
        is_right
            .then_some(left)
            .ok_or_else(|| format!("expected two of one type, found {left} and {right}"))
    }

    /// Integers of one type.
    fn ints(&self, values: &[Value]) -> Result<(), String> {
        let ty = self.ty(values[0]);
        let is_right = matches!(ty, Type::Scalar(scalar) if scalar.is_int());
        if !is_right || values.iter().any(|value| self.ty(*value) != ty) {
            let types: Vec<_> = values.iter().map(|value| self.ty(*value).to_string()).collect();
            return Err(format!("expected integers of one type, found {}", types.join(", ")));
        }
        Ok(())
    }

    fn pointer(&self, value: Value) -> Result<Space, String> {
        match self.ty(value) {
            Type::Pointer(space) => Ok(space),
            found @ (Type::Scalar(_) | Type::Vector(..)) => {
                Err(format!("expected a pointer, found `{value}`, which is {found}"))
            }
        }
    }

    fn numbers(&self, value: Value) -> Result<Scalar, String> {
        self.ty(value).scalar().ok_or_else(|| format!("`{value}` is an address"))
    }

    fn unary(&self, op: Unary, value: Value) -> Result<Type, String> {
        let scalar = self.numbers(value)?;
        let is_defined = match op {
            Unary::Neg | Unary::Abs => scalar != Scalar::Bool,
            Unary::Not => !scalar.is_float(),
        };
        let ty = self.ty(value);
        is_defined.then_some(ty).ok_or_else(|| undefined(op.name(), ty))
    }

    fn binary(&self, op: Binary, a: Value, b: Value) -> Result<Type, String> {
        let ty = self.alike(a, b)?;
        let scalar = self.numbers(a)?;
        is_defined(op, scalar).then_some(ty).ok_or_else(|| undefined(op.name(), ty))
    }

    fn compare(&self, op: Compare, a: Value, b: Value) -> Result<Type, String> {
        let ty = self.alike(a, b)?;
        let is_defined = match (ty, op) {
            (Type::Scalar(Scalar::Bool), Compare::Eq | Compare::Ne) => true,
            (Type::Scalar(scalar), _) => scalar != Scalar::Bool,
            (Type::Vector(..) | Type::Pointer(_), _) => false,
        };
        is_defined.then_some(BOOL).ok_or_else(|| undefined(op.name(), ty))
    }

    fn convert(&self, value: Value, rounding: Rounding) -> Result<Type, String> {
        let from = self.ty(value);
        let Some((source, to)) = from.scalar().zip(self.result.and_then(Type::scalar)) else {
            return Err("an address is no number".to_string());
        };
        let rounds = to != Scalar::Bool && (source.is_float() || to.is_float());
        if rounding != Rounding::NearestEven && !rounds {
            return Err(format!("{source} is not rounded to {to}"));
        }
        Ok(from.with_scalar(to))
    }

    fn bitcast(&self, value: Value) -> Result<Type, String> {
        let from = self.ty(value);
        let has_bits = |ty: Type| ty.scalar().is_some_and(|scalar| scalar != Scalar::Bool);
        let is_as_long = |to: &Type| to.bytes() == from.bytes() && has_bits(*to) && has_bits(from);
        match self.result {
            Some(to) if is_as_long(&to) => Ok(to),
            Some(to) => Err(format!("{from} and {to} have not the same bits")),
            None => Ok(from),
        }
    }

    fn vector(&self, lanes: &[Value]) -> Result<Type, String> {
        let types: Vec<_> = lanes.iter().map(|lane| self.ty(*lane)).collect();
        match types[..] {
            [Type::Scalar(scalar), ..] if types.iter().all(|ty| *ty == types[0]) => {
                vector_of(scalar, lanes.len())
            }
            _ => Err("a vector is of scalars of one type".to_string()),
        }
    }

    fn splat(&self, value: Value) -> Result<Type, String> {
        match (self.ty(value), self.result) {
            (Type::Scalar(scalar), Some(Type::Vector(_, lanes))) => {
                vector_of(scalar, usize::from(lanes))
            }
            (from, _) => Err(format!("a splat makes a vector of a scalar, found {from}")),
        }
    }

    /// The type of a lane.
    fn lane(&self, vector: Value, lane: u8) -> Result<Type, String> {
        match self.ty(vector) {
            Type::Vector(scalar, lanes) if lane < lanes => Ok(Type::Scalar(scalar)),
            ty => Err(format!("{ty} has no lane {lane}")),
        }
    }

    fn load(&self, load: &Load) -> Result<Type, String> {
        let space = self.pointer(load.pointer)?;
        let Some(ty) = self.result else { return Err("a load is to nothing".to_string()) };
        access(ty, space, load.align)?;
        qualified(load.qualifier, space, ty)?;
        if let Some(Guard { condition, otherwise }) = load.guard {
            self.expect(condition, BOOL)?;
            self.expect(otherwise, ty)?;
        }
        Ok(ty)
    }

    fn store(&self, store: &Store) -> Result<(), String> {
        let (space, ty) = (self.pointer(store.pointer)?, self.ty(store.value));
        access(ty, space, store.align)?;
        qualified(store.qualifier, space, ty)?;
        if let Some(condition) = store.condition {
            self.expect(condition, BOOL)?;
        }
        Ok(())
    }

    fn print(&self, text: &str, values: &[Value]) -> Result<(), String> {
        self.format(text, values, MOST_PRINTED)
    }

    fn assert(&self, assert: &Assert) -> Result<(), String> {
        let Assert { condition, text, values } = assert;
        self.expect(*condition, BOOL)?;
        if text.len() > Assert::MOST_BYTES {
            let most = Assert::MOST_BYTES;
            return Err(format!("a message of {} bytes: the most are {most}", text.len()));
        }
        self.format(text, values, Assert::MOST_VALUES)
    }

    /// A text in which `{}` stands for each of so many numbers at most.
    fn format(&self, text: &str, values: &[Value], most: usize) -> Result<(), String> {
        without_nul(text)?;
        let n_places = text.matches("{}").count();
        if n_places != values.len() || values.len() > most {
            let n_values = values.len();
            return Err(format!("a format with {n_places} `{{}}` for {n_values} numbers"));
        }
        match values.iter().find(|value| !matches!(self.ty(**value), Type::Scalar(_))) {
            Some(value) => Err(format!("`{value}` is not one number: {}", self.ty(*value))),
            None => Ok(()),
        }
    }

    fn asm(&self, asm: &Asm) -> Result<(), String> {
        let dialect = asm.dialect;
        without_nul(&asm.text)?;
        let count = (asm.results.len() + asm.operands.len()) as u64;
        if let Some(place) = places(&asm.text).find(|place| *place >= count) {
            return Err(format!("`{{{place}}}` stands for nothing"));
        }
        let results = asm.results.iter().map(|slot| self.kernel.slots[slot.index()].ty);
        if results.clone().any(|ty| matches!(ty, Type::Pointer(_))) {
            return Err(format!("{dialect} gives no address"));
        }
        let mut types = asm.operands.iter().map(|value| self.ty(*value)).chain(results);
        match types.find(|ty| !is_register(dialect, *ty)) {
            Some(ty) => Err(format!("{dialect} takes and gives registers, which no {ty} is")),
            None => Ok(()),
        }
    }
}

fn undefined(name: &str, ty: Type) -> String {
    format!("`{name}` is not defined on {ty}")
}

/// Whether an operation is defined on numbers of a type.
pub(crate) fn is_defined(op: Binary, scalar: Scalar) -> bool {
    match op {
        Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max => {
            scalar != Scalar::Bool
        }
        Binary::Div => scalar.is_float(),
        Binary::FloorDiv | Binary::FloorMod | Binary::MulHigh | Binary::Shl | Binary::Shr => {
            scalar.is_int()
        }
        Binary::And | Binary::Or | Binary::Xor => !scalar.is_float(),
    }
}

/// Why an address of a map is read, written or moved by nobody.
const NOTHING_BEHIND_MAPS: &str = "nothing lies behind the address of a map";

fn vector_of(scalar: Scalar, lanes: usize) -> Result<Type, String> {
    let is_small = scalar.bytes() as usize * lanes <= MOST_VECTOR_BYTES as usize;
    if lanes < 2 || scalar == Scalar::Bool || !is_small {
        return Err(format!("a vector of {lanes} {scalar}"));
    }
    Ok(Type::Vector(scalar, lanes as u8))
}

/// Loads and stores are of no addresses, and lie at a multiple of its elements' size.
fn access(ty: Type, space: Space, align: u32) -> Result<(), String> {
    if space == Space::Map {
        return Err(NOTHING_BEHIND_MAPS.to_string());
    }
    let Some(scalar) = ty.scalar() else {
        return Err("an address is not kept in memory".to_string());
    };
    match align_problem(align, scalar) {
        Some(problem) => Err(format!("the access {problem}")),
        None => Ok(()),
    }
}

/// Volatile accesses are of one element that threads share, and hints of global memory.
fn qualified(qualifier: Option<Qualifier>, space: Space, ty: Type) -> Result<(), String> {
    let Some(qualifier) = qualifier else { return Ok(()) };
    let is_right = match (qualifier.is_hint(), space) {
        (true, space) => space == Space::Global,
        (false, Space::Local | Space::Map) => false,
        (false, Space::Global | Space::Shared | Space::Cluster) => ty.lanes() == 1,
    };
    let name = qualifier.name();
    is_right.then_some(()).ok_or_else(|| format!("no access of {ty} in {space} memory is `{name}`"))
}

fn without_nul(text: &str) -> Result<(), String> {
    if text.contains('\0') { Err("a text has a NUL in it".to_string()) } else { Ok(()) }
}

/// The numbers in `{0}`, `{1}` ... of assembly. Other braces are its own.
fn places(text: &str) -> impl Iterator<Item = u64> {
    text.split('{').skip(1).filter_map(|rest| {
        let (number, _) = rest.split_once('}')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| number.parse().unwrap_or(u64::from(u32::MAX)))
    })
}

/// Whether a register holds a value of that type, or two or four do.
fn is_register(dialect: Dialect, ty: Type) -> bool {
    match (dialect, ty) {
        (Dialect::Ptx, Type::Scalar(scalar)) => match scalar.class() {
            Class::Bool => false,
            Class::Signed | Class::Unsigned | Class::Float => scalar.bits() >= 16,
        },
        (Dialect::Ptx, Type::Pointer(_)) => true,
        (Dialect::Ptx, Type::Vector(scalar, lanes)) => {
            matches!(lanes, 2 | 4) && is_register(dialect, Type::Scalar(scalar))
        }
    }
}
