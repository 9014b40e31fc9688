// SPDX-License-Identifier: Apache-2.0
//! From a signature to a plan: the parameters plan themselves one after another, and the planner keeps what they share: the names that have
//! a value by now, the checks that wait for one, the devices seen, the `Optional`s around.
//!
//! A check is made as soon as everything it names has a value. So each definition of a name is an event: checks that wait for it
//! are made right then, in the order written, dims before rules.

use crate::check;
use crate::declare::Bindings;
use crate::expr::{Expr, Field};
use crate::fault::Complaint;
use crate::param::TensorDType;
use crate::path::Path;
use crate::plan::{Arith, Builder, Combinations, Compare, Guarded, Plan, Value};
use crate::rule::Rule;
use kernpack_ffi_abi::{DType, DeviceType, TypeIndex};
use std::collections::HashMap;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedKind {
    /// An integer, or a truth as 0 or 1.
    Int,
    /// The bits of a float64.
    Float,
    /// An address.
    Pointer,
    /// A packed dtype.
    DType,
    /// The environment's stream, which has no value while arguments are checked.
    EnvStream,
}

/// A name with a value.
#[derive(Clone, Debug)]
pub struct Named {
    /// The value.
    pub value: Value,
    /// What it is.
    pub kind: NamedKind,
    /// As it is written: `n`, `a.shape[0]`.
    pub name: String,
    /// Where it got its value.
    pub path: Path,
    /// The conditions under which it has one.
    guards: Vec<Value>,
    /// What a stride symbol has its value from.
    stride: Option<StrideOrigin>,
    /// Whether the value is what stands at the path, and not solved from it.
    pub exact: bool,
    /// Whether it has a value at all: a product may overflow.
    pub valid: Option<Value>,
}

impl Named {
    /// A name of a path's own: the value that stands there.
    pub fn new(value: Value, kind: NamedKind, path: &Path) -> Named {
        let (name, path) = (path.text.clone(), path.clone());
        Named { value, kind, name, path, guards: vec![], stride: None, exact: true, valid: None }
    }

    /// The same under another name.
    pub fn called(self, name: &str) -> Named {
        Named { name: name.to_string(), ..self }
    }

    /// The same; `exact` says whether the value is what stands at the path, and not solved from it.
    pub fn solved(self, exact: bool) -> Named {
        Named { exact, ..self }
    }
}

/// Where the value of a symbol that only strides bind comes from.
#[derive(Clone, Copy, Debug)]
struct StrideOrigin {
    /// Whether it is a stride, and not a compact one for want of it.
    bound: Value,
    /// Whether a use of the symbol is given at all.
    given: Value,
}

/// A check that waits for a value.
#[derive(Clone, Debug)]
struct Pending {
    needs: Vec<String>,
    guards: Vec<Value>,
    check: PendingCheck,
}

#[derive(Clone, Debug)]
enum PendingCheck {
    Dim { path: Path, actual: Value, expr: Expr },
    Stride { path: Path, actual: Value, free: Value, expr: Expr },
    DType { path: Path, actual: Value, var: String },
    Rule(usize),
}

/// A tensor whose device index others are compared with.
#[derive(Clone, Debug)]
pub struct Anchor {
    /// Where it stands.
    pub path: Path,
    /// Its device type and index.
    pub device: (Value, Value),
    /// Whether it takes part in this call.
    pub cond: Value,
}

/// A stride of a symbol that only strides bind.
#[derive(Clone, Debug)]
pub struct StrideSeen {
    /// The symbol.
    pub symbol: String,
    /// Where it stands.
    pub path: Path,
    /// Its value.
    pub actual: Value,
    /// Whether its dim is not free.
    pub here: Value,
}

/// What there is to know of a tensor that tensor maps may be of, beside its address, extents and strides, which have names.
#[derive(Clone, Debug)]
pub struct MapSource {
    /// Its dtype.
    pub dtype: TensorDType,
    /// Its dims from the innermost to the outermost, by number.
    pub fastest_first: Vec<usize>,
    /// What its address is known to be a multiple of, in bytes.
    pub align: Option<u32>,
    /// Whether it may be absent.
    pub optional: bool,
}

/// An integer with the condition under which it has a value at all.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    /// The value, meaningless where it is not valid.
    pub value: Value,
    /// Whether nothing overflowed and every divisor was positive.
    pub valid: Value,
    /// Which of the two may not be so.
    pub dangers: Dangers,
}

/// Why an integer may have no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dangers {
    /// It may need more than 64 bits.
    pub overflow: bool,
    /// It may be divided by what is not positive.
    pub divisor: bool,
}

impl Dangers {
    /// Those of either.
    pub fn and(self, other: Dangers) -> Dangers {
        let (overflow, divisor) = (self.overflow || other.overflow, self.divisor || other.divisor);
        Dangers { overflow, divisor }
    }

    /// What a message says was received where there is no value. Which danger it was is not told apart.
    pub fn text(self) -> &'static str {
        match (self.overflow, self.divisor) {
            (true, true) => "an overflow or a divisor that is not positive",
            (false, true) => "a divisor that is not positive",
            (_, false) => "an overflow",
        }
    }
}

/// The state of planning one signature.
pub struct Planner<'s> {
    /// The plan's steps and expressions.
    pub b: Builder,
    /// The device of tensors that name none.
    pub default_device: DeviceType,
    signature: &'s str,
    bindings: &'s Bindings,
    rules: &'s [Rule],
    names: HashMap<String, Named>,
    tensors: HashMap<String, check::alias::Extent>,
    map_sources: HashMap<String, MapSource>,
    pending: Vec<Pending>,
    guards: Vec<Value>,
    anchors: Vec<Anchor>,
    stride_uses: Vec<StrideSeen>,
}

impl<'s> Planner<'s> {
    /// A planner for the signature that prints as `signature` in messages.
    pub fn new(
        signature: &'s str,
        bindings: &'s Bindings,
        rules: &'s [Rule],
        default_device: DeviceType,
    ) -> Planner<'s> {
        let rule = |(i, rule): (usize, &Rule)| Pending {
            needs: check::rule::needs(rule),
            guards: vec![],
            check: PendingCheck::Rule(i),
        };
        Planner {
            b: Builder::default(),
            default_device,
            signature,
            bindings,
            rules,
            names: HashMap::new(),
            tensors: HashMap::new(),
            map_sources: HashMap::new(),
            pending: rules.iter().enumerate().map(rule).filter(|p| !p.needs.is_empty()).collect(),
            guards: vec![],
            anchors: vec![],
            stride_uses: vec![],
        }
    }

    /// Makes a check: ends the call with the complaint unless `cond` holds.
    pub fn require(&mut self, cond: Value, complaint: Complaint) {
        self.b.require(cond, complaint.into_fault(self.signature));
    }

    /// How the names get their values.
    pub fn bindings(&self) -> &'s Bindings {
        self.bindings
    }

    /// The rules of the signature.
    pub fn rules(&self) -> &'s [Rule] {
        self.rules
    }

    /// The name's value, where it has one.
    pub fn named(&self, name: &str) -> Option<&Named> {
        self.names.get(name)
    }

    /// Every name with a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// The tensors' extents in memory, for `noalias`.
    pub fn extent(&self, tensor: &str) -> Option<&check::alias::Extent> {
        self.tensors.get(tensor)
    }

    /// The tensor of that path, for tensor maps.
    pub fn map_source(&self, tensor: &str) -> Option<&MapSource> {
        self.map_sources.get(tensor)
    }

    /// Every tensor that tensor maps may be of, by its path.
    pub fn map_sources(&self) -> impl Iterator<Item = (&str, &MapSource)> {
        self.map_sources.iter().map(|(path, source)| (path.as_str(), source))
    }

    /// Adds a tensor that tensor maps may be of.
    pub fn add_map_source(
        &mut self,
        tensor: &str,
        dtype: &TensorDType,
        fastest_first: Vec<usize>,
        align: Option<u32>,
    ) {
        let optional = !self.guards.is_empty();
        let source = MapSource { dtype: dtype.clone(), fastest_first, align, optional };
        self.map_sources.insert(tensor.to_string(), source);
    }

    /// The tensors seen so far whose device indices must agree.
    pub fn anchors(&self) -> &[Anchor] {
        &self.anchors
    }

    /// Adds a tensor whose device index later ones are compared with.
    pub fn add_anchor(&mut self, anchor: Anchor) {
        self.anchors.push(anchor);
    }

    /// Plans `body` under a condition. What it defines is 0, NULL or false elsewhere.
    pub fn when(&mut self, cond: Value, body: impl FnOnce(&mut Planner<'s>)) {
        let before = self.names.clone();
        let marks = (self.pending.clone(), self.anchors.len(), self.stride_uses.len());
        self.b.open();
        self.guards.push(cond);
        body(self);
        self.guards.pop();
        let mut b = std::mem::take(&mut self.b);
        let mut escaping = self.escaping(&before, marks);
        let mut guarded = Vec::new();
        for (place, otherwise) in &mut escaping {
            let inner = **place;
            let otherwise = otherwise.unwrap_or_else(|| b.zero_like(inner));
            guarded.push(Guarded { inner, otherwise });
        }
        for ((place, _), outer) in escaping.into_iter().zip(b.close(cond, &guarded)) {
            *place = outer;
        }
        self.b = b;
    }

    /// Gives a name its value, and makes the checks that waited for it.
    pub fn define(&mut self, named: Named) {
        self.define_all([named]);
    }

    /// The like for several names that get their values at one place.
    pub fn define_all(&mut self, all: impl IntoIterator<Item = Named>) {
        let mut names = Vec::new();
        for named in all {
            let name = named.name.clone();
            self.names.insert(name.clone(), Named { guards: self.guards.clone(), ..named });
            names.push(name);
        }
        if let Some(first) = names.first() {
            let path = self.names[first].path.clone();
            self.flush_on(&names, &path, None);
        }
    }

    /// Defines the number of a tensor's elements: the product of its extents, from the first to the last.
    pub fn define_numel(&mut self, path: &Path, extents: &[Value]) {
        let (mut numel, mut valid) = (self.b.int(1), self.b.bool(true));
        for extent in extents {
            let overflows = self.b.overflows(Arith::Mul, numel, *extent);
            let fits = self.b.not(overflows);
            valid = self.b.and(valid, fits);
            numel = self.b.mul(numel, *extent);
        }
        // An extent 0 makes the product 0, whatever overflowed on the way.
        let empty = self.b.eq_zero_any(extents);
        let valid = self.b.or(empty, valid);
        let named = Named::new(numel, NamedKind::Int, &path.part(Field::Numel));
        self.define(Named { valid: Some(valid), ..named });
    }

    /// Defines a tensor's strides.
    pub fn define_strides(&mut self, path: &Path, strides: &[Value]) {
        for (i, stride) in strides.iter().enumerate() {
            self.define(Named::new(*stride, NamedKind::Int, &path.part(Field::Stride(i))));
        }
    }

    /// Defines a tensor itself: the address of its first element, and where rules ask for it, the memory it spans.
    pub fn define_tensor(
        &mut self,
        path: &Path,
        address: Value,
        extents: &[Value],
        strides: &[Value],
        element: check::alias::Element,
    ) {
        if check::alias::is_asked(self.rules, &path.text) {
            let extent = check::alias::extent(self, &path.text, address, extents, strides, element);
            self.tensors.insert(path.text.clone(), extent);
        }
        self.define(Named::new(address, NamedKind::Pointer, path));
    }

    /// The payload of a pointer-like argument; NULL where None came.
    pub fn pointer_payload(&mut self, at: &crate::param::Argument) -> Value {
        let is_none = self.b.eq_int(at.type_index, TypeIndex::NONE.0);
        let null = self.b.int(0);
        self.b.select(is_none, null, at.payload)
    }

    /// The bits of the float64 that a number's argument holds.
    pub fn float_payload(&mut self, at: &crate::param::Argument) -> Value {
        let is_float = self.b.eq_int(at.type_index, TypeIndex::FLOAT.0);
        let converted = self.b.float_bits(at.payload);
        self.b.select(is_float, at.payload, converted)
    }

    /// Whether the float64s with these bits are equal; `constant` is a constant and no nan.
    pub fn eq_float(&mut self, bits: Value, constant: Value) -> Value {
        let equal = self.b.eq(bits, constant);
        let zeros = [0, i64::MIN];
        if self.b.as_int(constant).is_some_and(|bits| zeros.contains(&bits)) {
            return self.b.eq_any(bits, zeros);
        }
        equal
    }

    /// The dtypes that a tensor may have.
    pub fn allowed_dtypes(&self, dtype: &TensorDType) -> Vec<DType> {
        match dtype {
            TensorDType::Fixed(dtype) => vec![*dtype],
            TensorDType::Var(var, _) => self.bindings.dtypes[var].allowed.clone(),
        }
    }

    /// The bits of one element.
    pub fn element_bits(&mut self, dtype: &TensorDType, actual: Value) -> Value {
        let allowed = self.allowed_dtypes(dtype);
        let bits = |dtype: &DType| i64::from(dtype.element_bits());
        let (last, others) = allowed.split_last().expect("a dtype variable has a dtype");
        let mut value = self.b.int(bits(last));
        for dtype in others.iter().rev() {
            let (is, these) = (self.b.eq_int(actual, dtype.packed()), self.b.int(bits(dtype)));
            value = self.b.select(is, these, value);
        }
        value
    }

    /// The integer of that name.
    fn int_named(&mut self, name: &str) -> Checked {
        let (value, valid) = (self.names[name].value, self.names[name].valid);
        let dangers = Dangers { overflow: valid.is_some(), divisor: false };
        Checked { value, valid: valid.unwrap_or_else(|| self.b.bool(true)), dangers }
    }

    /// The value of an expression whose names all have one.
    pub fn expr(&mut self, expr: &Expr) -> Checked {
        match expr {
            Expr::Int(value) => {
                let (value, valid) = (self.b.int(*value), self.b.bool(true));
                Checked { value, valid, dangers: Dangers::default() }
            }
            Expr::Symbol(name, _) => self.int_named(name),
            Expr::Field(param, field, _) => self.int_named(&format!("{param}{field}")),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(a), self.expr(b));
                let result = self.apply(*op, a.value, b.value);
                let operands = self.b.and(a.valid, b.valid);
                let valid = self.b.and(operands, result.valid);
                let dangers = result.dangers.and(a.dangers).and(b.dangers);
                Checked { valid, dangers, ..result }
            }
        }
    }

    fn apply(&mut self, op: crate::expr::Op, a: Value, b: Value) -> Checked {
        use crate::expr::Op;
        let always = self.b.bool(true);
        let by_divisor =
            Dangers { overflow: false, divisor: self.b.as_int(b).is_none_or(|b| b <= 0) };
        let arith = match op {
            Op::Add => Arith::Add,
            Op::Sub => Arith::Sub,
            Op::Mul => Arith::Mul,
            Op::FloorDiv => Arith::FloorDiv,
            Op::Mod => Arith::Mod,
            Op::Min | Op::Max => {
                let less = self.b.compare(Compare::Lt, a, b);
                let (yes, no) = if op == Op::Min { (a, b) } else { (b, a) };
                let (value, dangers) = (self.b.select(less, yes, no), Dangers::default());
                return Checked { value, valid: always, dangers };
            }
            Op::CeilDiv => {
                let quotient = self.b.arith(Arith::FloorDiv, a, b);
                let rest = self.b.arith(Arith::Mod, a, b);
                let (zero, one) = (self.b.int(0), self.b.int(1));
                let exact = self.b.eq(rest, zero);
                let up = self.b.select(exact, zero, one);
                let valid = self.b.compare(Compare::Lt, zero, b);
                let value = self.b.add_ints(quotient, up);
                return Checked { value, valid, dangers: by_divisor };
            }
        };
        let (valid, dangers) = match op {
            Op::FloorDiv | Op::Mod => {
                let zero = self.b.int(0);
                (self.b.compare(Compare::Lt, zero, b), by_divisor)
            }
            _ => {
                let overflows = self.b.overflows(arith, a, b);
                (self.b.not(overflows), Dangers { overflow: true, divisor: false })
            }
        };
        Checked { value: self.b.arith(arith, a, b), valid, dangers }
    }

    /// Makes the check of a dim now, or as soon as what it names has a value.
    pub fn check_dim(&mut self, path: &Path, actual: Value, expr: &Expr) {
        let (path, expr) = (path.clone(), expr.clone());
        let needs = expr.names().into_iter().map(|name| name.text).collect();
        self.check(Pending {
            needs,
            guards: self.guards.clone(),
            check: PendingCheck::Dim { path, actual, expr },
        });
    }

    /// The like for a stride that is an expression.
    pub fn check_stride(&mut self, path: &Path, actual: Value, free: Value, expr: &Expr) {
        let (path, expr) = (path.clone(), expr.clone());
        let needs = expr.names().into_iter().map(|name| name.text).collect();
        let check = PendingCheck::Stride { path, actual, free, expr };
        self.check(Pending { needs, guards: self.guards.clone(), check });
    }

    /// The like for a tensor's dtype variable.
    pub fn check_dtype(&mut self, path: &Path, actual: Value, var: &str) {
        let check = PendingCheck::DType { path: path.clone(), actual, var: var.to_string() };
        self.check(Pending { needs: vec![var.to_string()], guards: self.guards.clone(), check });
    }

    fn check(&mut self, pending: Pending) {
        if self.is_ready(&pending) {
            let path = Path::argument("", 0);
            self.make_unless_unbound(&pending, &path);
        } else {
            let at = self.pending.iter().position(|p| matches!(p.check, PendingCheck::Rule(_)));
            self.pending.insert(at.unwrap_or(self.pending.len()), pending);
        }
    }

    fn is_ready(&self, pending: &Pending) -> bool {
        pending.needs.iter().all(|name| {
            let settled = matches!(pending.check, PendingCheck::Rule(_)) || self.is_settled(name);
            self.names.contains_key(name) && settled
        })
    }

    /// Whether a name's value is final: a stride symbol's may still come from a later stride.
    fn is_settled(&self, name: &str) -> bool {
        let binding = self.bindings.symbols.get(name);
        let last = binding.and_then(|binding| binding.stride_uses.last());
        last.is_none_or(|last| self.names.get(name).is_some_and(|named| named.path.text == *last))
    }

    /// Makes the checks that waited for one of `names`, which got their values at `path`. Rules over a stride symbol are about that one
    /// stride, with that condition to skip them.
    fn flush_on(&mut self, names: &[String], path: &Path, stride: Option<(Value, Value)>) {
        let mut i = 0;
        while i < self.pending.len() {
            let pending = self.pending[i].clone();
            if !pending.needs.iter().any(|need| names.contains(need)) || !self.is_ready(&pending) {
                i += 1;
                continue;
            }
            if pending.needs.iter().all(|need| self.is_settled(need)) {
                self.pending.remove(i);
            } else {
                i += 1;
            }
            match (&pending.check, stride) {
                (PendingCheck::Rule(_), Some(stride)) => {
                    self.make_on_stride(&pending, &names[0], path, stride);
                }
                _ => self.make_unless_unbound(&pending, path),
            }
        }
    }

    /// Makes a rule about one stride of a symbol, whose value it has for the moment.
    fn make_on_stride(
        &mut self,
        pending: &Pending,
        symbol: &str,
        path: &Path,
        (actual, skip): (Value, Value),
    ) {
        let named = self.names.get_mut(symbol).expect("the symbol has a value");
        let (merged, stride) = (std::mem::replace(&mut named.value, actual), named.stride.take());
        self.make(pending, path, skip);
        let named = self.names.get_mut(symbol).expect("the symbol has a value");
        (named.value, named.stride) = (merged, stride);
    }

    fn make_unless_unbound(&mut self, pending: &Pending, path: &Path) {
        let never = self.b.bool(false);
        self.make(pending, path, never);
    }

    /// Makes a check under the conditions it and its names stand under. A rule holds where `skip` does, or a stride symbol has no stride.
    fn make(&mut self, pending: &Pending, path: &Path, skip: Value) {
        let mut guards = pending.guards.clone();
        let mut skip = skip;
        for need in &pending.needs {
            let named = &self.names[need];
            guards.extend(&named.guards);
            if let (Some(stride), PendingCheck::Rule(_)) = (named.stride, &pending.check) {
                let unbound = self.b.not(stride.bound);
                skip = self.b.or(skip, unbound);
            }
        }
        guards.retain(|guard| !self.guards.contains(guard));
        guards.dedup();
        guards.iter().for_each(|_| self.b.open());
        match &pending.check {
            PendingCheck::Dim { path, actual, expr } => {
                check::dim::require_expr(self, path, *actual, expr);
            }
            PendingCheck::Stride { path, actual, free, expr } => {
                check::stride::require_expr(self, path, *actual, *free, expr);
            }
            PendingCheck::DType { path, actual, var } => {
                check::dtype::require_match(self, path, *actual, var);
            }
            PendingCheck::Rule(number) => {
                check::rule::require(self, path, &self.rules[*number], skip)
            }
        }
        for guard in guards.iter().rev() {
            self.b.close(*guard, &[]);
        }
    }

    /// Takes a stride of a symbol that only strides bind: its value so far, and the rules over it.
    pub fn bind_stride(&mut self, symbol: &str, at: &check::stride::StrideUse<'_>) {
        let before = self.names.get(symbol).map(|named| (named.value, named.stride));
        let here = self.b.not(at.free);
        let given = self.b.bool(true);
        let (value, bound, skip) = match before {
            Some((value, Some(StrideOrigin { bound: known, given }))) => {
                let compact = self.b.select(given, value, at.compact);
                let later = self.b.select(at.free, compact, at.actual);
                let merged = self.b.select(known, value, later);
                (merged, self.b.or(known, here), self.b.or(at.free, known))
            }
            _ => (self.b.select(at.free, at.compact, at.actual), here, at.free),
        };
        let (symbol, path) = (symbol.to_string(), at.path.clone());
        let seen =
            StrideSeen { symbol: symbol.clone(), path: path.clone(), actual: at.actual, here };
        self.stride_uses.push(seen);
        let named = Named {
            name: symbol.clone(),
            stride: Some(StrideOrigin { bound, given }),
            ..Named::new(value, NamedKind::Int, &path)
        };
        self.names.insert(symbol.clone(), named);
        self.flush_on(&[symbol], &path, Some((at.actual, skip)));
    }

    /// The strides seen so far of a symbol that only strides bind.
    pub fn strides_of(&self, symbol: &str) -> Vec<StrideSeen> {
        self.stride_uses.iter().filter(|seen| seen.symbol == symbol).cloned().collect()
    }

    /// Whether only strides bind the symbol.
    pub fn is_stride_symbol(&self, symbol: &str) -> bool {
        self.bindings.symbols.get(symbol).is_some_and(|binding| !binding.stride_uses.is_empty())
    }

    /// Whether the use of `symbol` at `path` is the one that gives it its value.
    pub fn is_binding(&self, symbol: &str, path: &Path) -> bool {
        self.bindings.symbols.get(symbol).is_some_and(|binding| binding.path == path.text)
    }

    /// What follows from the checks: the call's device and its combination of dtypes.
    pub(crate) fn finish_checks(&mut self, plan: &mut Plan) {
        // Without a tensor that tells, a GPU is the one whose context is current: -1.
        let unknown = if self.default_device == DeviceType::CPU { 0 } else { -1 };
        let (mut device, mut index) = (self.b.int(self.default_device.0), self.b.int(unknown));
        for anchor in self.anchors.iter().rev() {
            let cuda = self.b.int(DeviceType::CUDA.0);
            device = self.b.select(anchor.cond, cuda, device);
            index = self.b.select(anchor.cond, anchor.device.1, index);
        }
        plan.device = (device, index);
        if self.bindings.dtypes.is_empty() {
            return;
        }
        let vars: Vec<_> = self.bindings.dtypes.keys().cloned().collect();
        let rows = self.bindings.combinations(self.rules);
        let mut number = self.b.int(0);
        for (i, row) in rows.iter().enumerate().skip(1) {
            let mut all = self.b.bool(true);
            for (var, dtype) in vars.iter().zip(row) {
                let eq = self.b.eq_int(self.names[var].value, dtype.packed());
                all = self.b.and(all, eq);
            }
            let these = self.b.int(i as i64);
            number = self.b.select(all, these, number);
        }
        plan.combinations = Combinations { vars, rows, index: Some(number) };
    }

    /// Moves what was planned into `plan`.
    pub(crate) fn finish(self, plan: &mut Plan) {
        let mut used = Vec::new();
        plan.for_each_effect_value(&mut |value| used.push(value));
        self.b.finish(plan, &used);
    }

    /// What leaves a `when`: the values defined or changed in it, with what they are elsewhere (`None`: nothing).
    fn escaping(
        &mut self,
        before: &HashMap<String, Named>,
        (pending, n_anchors, n_strides): (Vec<Pending>, usize, usize),
    ) -> Vec<(&mut Value, Option<Value>)> {
        let mut escaping: Vec<(&mut Value, Option<Value>)> = Vec::new();
        let mut names: Vec<_> = self.names.values_mut().collect();
        names.sort_by(|a, b| a.name.cmp(&b.name));
        for named in names {
            let old = before.get(&named.name);
            if old.is_none_or(|old| old.value != named.value) {
                escaping.push((&mut named.value, old.map(|old| old.value)));
            }
            if let Some(valid) = &mut named.valid
                && old.is_none_or(|old| old.valid != Some(*valid))
            {
                escaping.push((valid, old.and_then(|old| old.valid)));
            }
            if let Some(StrideOrigin { bound, given }) = &mut named.stride {
                let old = old.and_then(|old| old.stride);
                if old.is_none_or(|old| old.bound != *bound) {
                    escaping.push((bound, old.map(|old| old.bound)));
                }
                if old.is_none_or(|old| old.given != *given) {
                    escaping.push((given, old.map(|old| old.given)));
                }
            }
        }
        let n_old = |p: &Pending| pending.iter().any(|old| old.is(p));
        for waiting in self.pending.iter_mut().filter(|p| !n_old(p)) {
            match &mut waiting.check {
                PendingCheck::Dim { actual, .. } | PendingCheck::DType { actual, .. } => {
                    escaping.push((actual, None));
                }
                PendingCheck::Stride { actual, free, .. } => {
                    escaping.extend([(actual, None), (free, None)]);
                }
                PendingCheck::Rule(_) => {}
            }
        }
        for anchor in self.anchors.iter_mut().skip(n_anchors) {
            let values = [&mut anchor.device.0, &mut anchor.device.1, &mut anchor.cond];
            escaping.extend(values.map(|value| (value, None)));
        }
        for seen in self.stride_uses.iter_mut().skip(n_strides) {
            escaping.extend([(&mut seen.actual, None), (&mut seen.here, None)]);
        }
        let mut tensors: Vec<_> =
            self.tensors.iter_mut().filter(|(tensor, _)| !before.contains_key(*tensor)).collect();
        tensors.sort_by(|a, b| a.0.cmp(b.0));
        for (_, extent) in tensors {
            let values = [&mut extent.low, &mut extent.high, &mut extent.valid, &mut extent.empty];
            escaping.extend(values.map(|value| (value, None)));
        }
        escaping
    }
}

impl Pending {
    /// Whether both are the same check: a path is checked once for each expression.
    fn is(&self, other: &Pending) -> bool {
        use PendingCheck::{DType, Dim, Rule, Stride};
        match (&self.check, &other.check) {
            (Dim { path: a, .. }, Dim { path: b, .. })
            | (Stride { path: a, .. }, Stride { path: b, .. })
            | (DType { path: a, .. }, DType { path: b, .. }) => a == b,
            (Rule(a), Rule(b)) => a == b,
            _ => false,
        }
    }
}
