// SPDX-License-Identifier: Apache-2.0
//! Every operation and every row of the table, of every type that it is defined on, through LLVM
//! and the assembler for each generation of GPUs: what LLVM cannot select would end the process.

use crate::source::assembler::{AssembleOptions, Assembler};
use crate::source::nvjitlink::nvjitlink;
use kernpack_codegen::kernel::nvptx::{Needs, check_needs, ptx};
use kernpack_kernel_ir::Kernel;
use kernpack_kernel_ir::builder::Builder;
use kernpack_kernel_ir::generate::generate;
use kernpack_kernel_ir::intrinsic::{self, Accepts, Intrinsic};
use kernpack_kernel_ir::kernel::{
    Facts, Param, ParamKind, Pointer, SharedArray, Size, TensorMap, Value,
};
use kernpack_kernel_ir::op::{
    Asm, Assert, Binary, Call, Compare, Dialect, Guard, Jump, Load, OpKind, Operand, Qualifier,
    Region, Rounding, Store, Unary,
};
use kernpack_kernel_ir::text::MAX_DEPTH;
use kernpack_kernel_ir::types::{Class, MOST_VECTOR_BYTES, Scalar, Space, Type};
use kernpack_machine::Arch;
use kernpack_machine::tensor_map::MOST_RANK;
use kernpack_package::image::ImageKind;

/// How many random kernels there are besides.
const RANDOM: u64 = 150;
/// How many values of each type a kernel has to compute with.
const OPERANDS: usize = 3;

/// A kernel in the making, that reads operands from global memory and writes every result there.
struct Maker {
    b: Builder,
    /// Where the next result goes.
    end: i64,
}

const MEMORY: Value = Value(0);
const NUMBER: Value = Value(1);
/// The map of a vector. Those of higher ranks are behind it.
const MAPS: Value = Value(2);

fn map_of_rank(rank: u32) -> Param {
    let map = TensorMap {
        element: Scalar::I32,
        rank: rank as usize,
        extents: [4, 1, 1, 1, 1],
        swizzle: 0,
        is_written: true,
    };
    Param { name: format!("map{rank}"), kind: ParamKind::Map(map) }
}

impl Maker {
    fn new(name: &str) -> Maker {
        Maker::with_maps(name, 0)
    }

    /// One that is passed maps of tensors of so many ranks, too.
    fn with_maps(name: &str, ranks: u32) -> Maker {
        let pointer =
            Pointer { element: Scalar::U8, align: 256, is_written: true, is_alone: false };
        let mut params = vec![
            Param { name: "memory".to_string(), kind: ParamKind::Pointer(pointer) },
            Param { name: "n".to_string(), kind: ParamKind::Scalar(Scalar::I64, Facts::NONE) },
        ];
        params.extend((1..=ranks).map(map_of_rank));
        let mut b = Builder::new(name, params);
        let array = |element| SharedArray {
            name: "shared".to_string(),
            element,
            size: Size::Bytes(4096),
            align: 16,
        };
        b.shared(array(Scalar::F32));
        b.local("local", Scalar::F64, 64);
        Maker { b, end: 4096 }
    }

    fn at(&mut self, base: Value, bytes: i64) -> Value {
        let bytes = self.b.index(bytes);
        self.b.offset(base, bytes)
    }

    /// A value of a type that nobody knows.
    fn operand(&mut self, ty: Type, number: usize) -> Value {
        let pointer = self.at(MEMORY, 16 * number as i64);
        self.b.load(ty, Load { pointer, align: 16, qualifier: None, guard: None })
    }

    fn operands(&mut self, ty: Type) -> Vec<Value> {
        (0..OPERANDS).map(|number| self.operand(ty, number)).collect()
    }

    fn keep(&mut self, value: Value) {
        self.end += 16;
        let pointer = self.at(MEMORY, self.end);
        self.b.store(Store { pointer, value, align: 16, qualifier: None, condition: None });
    }

    fn base(&mut self, space: Space) -> Value {
        match space {
            Space::Global => MEMORY,
            Space::Shared => self.b.shared_address(kernpack_kernel_ir::kernel::Shared(0)),
            Space::Cluster => {
                let own = self.base(Space::Shared);
                let rank = self.b.int(Scalar::I32, 1);
                let operands = [own, rank].map(Operand::Value).to_vec();
                let row = intrinsic::find("shared.map").expect("the row is there");
                self.b.call(row, operands).expect("it gives an address")
            }
            Space::Local => self.b.local_address(kernpack_kernel_ir::kernel::Local(0)),
            Space::Map => unreachable!("a map is a parameter"),
        }
    }
}

/// The types of values: vectors of every length that is allowed.
fn types() -> Vec<Type> {
    let of = |scalar: Scalar| {
        let lanes = [1_u8, 2, 4, 8, 16].into_iter().filter(move |lanes| {
            *lanes == 1
                || scalar != Scalar::Bool && scalar.bytes() * u32::from(*lanes) <= MOST_VECTOR_BYTES
        });
        lanes.map(move |lanes| Type::of_lanes(scalar, lanes))
    };
    Scalar::ALL.iter().copied().flat_map(of).collect()
}

fn has_unary(op: Unary, class: Class) -> bool {
    match op {
        Unary::Neg | Unary::Abs => class != Class::Bool,
        Unary::Not => class != Class::Float,
    }
}

fn has_binary(op: Binary, class: Class) -> bool {
    match class {
        Class::Bool => matches!(op, Binary::And | Binary::Or | Binary::Xor),
        Class::Float => matches!(
            op,
            Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Min | Binary::Max
        ),
        Class::Signed | Class::Unsigned => op != Binary::Div,
    }
}

/// Operations on numbers, of one type.
fn arithmetic(ty: Type, name: &str) -> Kernel {
    let mut maker = Maker::new(name);
    let class = ty.scalar().expect("a number").class();
    let operands = maker.operands(ty);
    let [a, b, _] = operands[..] else { unreachable!() };
    for op in Unary::ALL.iter().filter(|op| has_unary(**op, class)) {
        let result = maker.b.unary(*op, a);
        maker.keep(result);
    }
    for op in Binary::ALL.iter().filter(|op| has_binary(**op, class)) {
        let result = maker.b.binary(*op, a, b);
        maker.keep(result);
        constant_operands(&mut maker, *op, ty, a);
    }
    let zero = maker.b.index(0);
    let condition = maker.b.compare(Compare::Lt, NUMBER, zero);
    let chosen = maker.b.select(condition, a, b);
    maker.keep(chosen);
    if ty.lanes() == 1 {
        let is_ordered = class != Class::Bool;
        let of_truths = |op: &&Compare| matches!(op, Compare::Eq | Compare::Ne);
        for op in Compare::ALL.iter().filter(|op| is_ordered || of_truths(op)) {
            let result = maker.b.compare(*op, a, b);
            maker.keep(result);
        }
    } else {
        let lane = maker.b.extract(a, ty.lanes() - 1);
        maker.keep(lane);
        let vector = maker.b.insert(b, 1, lane);
        maker.keep(vector);
        let vector = maker.b.splat(lane, ty.lanes());
        maker.keep(vector);
        let vector = maker.b.vector(vec![lane; ty.lanes().into()]);
        maker.keep(vector);
    }
    maker.b.finish()
}

/// The same operation with constants, which LLVM has other instructions for.
fn constant_operands(maker: &mut Maker, op: Binary, ty: Type, a: Value) {
    let Type::Scalar(scalar) = ty else { return };
    if scalar.is_int() {
        for number in [-1, 0, 1, 2, 3, 7, 64] {
            let constant = maker.b.int(scalar, number);
            let result = maker.b.binary(op, a, constant);
            maker.keep(result);
            let result = maker.b.binary(op, constant, a);
            maker.keep(result);
        }
    }
}

/// Conversions to every type, and the same bits as every type.
fn conversions(ty: Type, name: &str) -> Kernel {
    let mut maker = Maker::new(name);
    let a = maker.operand(ty, 0);
    let scalar = ty.scalar().expect("a number");
    for to in Scalar::ALL {
        let converted = ty.with_scalar(*to);
        let is_type =
            ty.lanes() == 1 || *to != Scalar::Bool && converted.bytes() <= MOST_VECTOR_BYTES;
        let rounds = *to != Scalar::Bool && (scalar.is_float() || to.is_float());
        let has = |rounding: &&Rounding| rounds || **rounding == Rounding::NearestEven;
        for rounding in Rounding::ALL.iter().filter(has).filter(|_| is_type && *to != scalar) {
            let result = maker.b.convert(a, *to, *rounding);
            maker.keep(result);
        }
    }
    let has_bits = |ty: Type| ty.scalar() != Some(Scalar::Bool);
    let alike = types().into_iter().filter(|to| to.bytes() == ty.bytes() && has_bits(*to));
    for to in alike.filter(|_| has_bits(ty)) {
        let result = maker.b.bitcast(a, to);
        maker.keep(result);
    }
    maker.b.finish()
}

/// How accesses of a type to a space may be made.
fn qualifiers(ty: Type, space: Space) -> impl Iterator<Item = Option<Qualifier>> {
    let is_one = move |one: &Qualifier| match one.is_hint() {
        true => space == Space::Global,
        false => space != Space::Local && ty.lanes() == 1,
    };
    std::iter::once(None).chain(Qualifier::ALL.iter().copied().filter(is_one).map(Some))
}

/// Loads and stores of every alignment, in every space, with conditions and without.
fn accesses(ty: Type, name: &str, sm: u32) -> Kernel {
    let mut maker = Maker::new(name);
    let otherwise = maker.operand(ty, 0);
    let zero = maker.b.index(0);
    let condition = maker.b.compare(Compare::Lt, NUMBER, zero);
    let slot = maker.b.slot("s", ty);
    let least = ty.scalar().expect("a number").bytes();
    let is_memory = |space: &&Space| **space != Space::Map && has_space(**space, sm);
    for space in Space::ALL.iter().filter(is_memory) {
        for align in [1, 2, 4, 8, 16].into_iter().filter(|align| *align >= least) {
            let base = maker.base(*space);
            let pointer = maker.at(base, 256);
            for qualifier in qualifiers(ty, *space) {
                for condition in [None, Some(condition)] {
                    let value = otherwise;
                    maker.b.store(Store { pointer, value, align, qualifier, condition });
                }
            }
            let pointer = maker.b.offset(base, NUMBER);
            for qualifier in qualifiers(ty, *space) {
                let plain = maker.b.load(ty, Load { pointer, align, qualifier, guard: None });
                maker.keep(plain);
                let guard = Some(Guard { condition, otherwise });
                let guarded = maker.b.load(ty, Load { pointer, align, qualifier, guard });
                maker.b.set(slot, guarded);
                let guarded = maker.b.get(slot);
                maker.keep(guarded);
            }
        }
    }
    maker.b.finish()
}

/// Whether an architecture has memory of that kind.
fn has_space(space: Space, sm: u32) -> bool {
    !matches!(space, Space::Cluster | Space::Map) || sm >= 90
}

/// The types that an operand of a row may have.
fn accepted(accepts: Accepts) -> Vec<Type> {
    let spaces = Space::ALL.iter().map(|space| Type::Pointer(*space));
    let vectors = Scalar::ALL.iter().flat_map(|scalar| [2, 4, 8, 16].map(|lanes| (scalar, lanes)));
    let vectors = vectors.map(|(scalar, lanes)| Type::Vector(*scalar, lanes));
    let all = Scalar::ALL.iter().map(|scalar| Type::Scalar(*scalar)).chain(spaces).chain(vectors);
    all.filter(|ty| accepts.takes(*ty, &[])).collect()
}

/// Every way to give a row its operands: of each of several types, one after the other.
fn ways(row: &Intrinsic) -> Vec<Vec<Way>> {
    row.takes.iter().fold(vec![vec![]], |ways, accepts| {
        let next: Vec<Way> = match accepts {
            Accepts::Word(words) => words.iter().map(|word| Way::Word(word)).collect(),
            Accepts::Constant(least, most) => vec![Way::Constant(*least), Way::Constant(*most)],
            Accepts::PowerOfTwo(least, most) => {
                let all = (0..63).map(|bits| 1 << bits).filter(|one| (least..=most).contains(&one));
                all.map(Way::Constant).collect()
            }
            Accepts::Warps => vec![Way::Constant(32), Way::Constant(1024)],
            Accepts::Like(operand) => vec![Way::Like(*operand)],
            Accepts::VectorLike(operand, lanes) => vec![Way::Lanes(*operand, *lanes)],
            _ => accepted(*accepts).into_iter().map(Way::Type).collect(),
        };
        let with = |way: &Vec<Way>| {
            let way = way.clone();
            next.iter().map(move |last| [&way[..], &[*last]].concat()).collect::<Vec<_>>()
        };
        ways.iter().flat_map(with).collect()
    })
}

#[derive(Clone, Copy)]
enum Way {
    Type(Type),
    Like(usize),
    /// So many of the type that the operand with that number has several of.
    Lanes(usize, u8),
    Word(&'static str),
    Constant(i64),
}

fn give(maker: &mut Maker, way: Way, number: usize, ways: &[Way]) -> Operand {
    match way {
        Way::Word(word) => Operand::Word(word),
        Way::Constant(number) => Operand::Constant(number),
        Way::Type(Type::Pointer(Space::Map)) => {
            let is_coordinate = |way: &&Way| matches!(way, Way::Type(Type::Scalar(Scalar::I32)));
            let rank = ways.iter().filter(is_coordinate).count() as u32;
            Operand::Value(Value(MAPS.0 + rank - 1))
        }
        Way::Type(Type::Pointer(space)) => Operand::Value(maker.base(space)),
        Way::Type(ty) => Operand::Value(maker.operand(ty, number)),
        Way::Like(other) => give(maker, ways[other], number, ways),
        Way::Lanes(other, lanes) => {
            let Way::Type(ty) = ways[other] else { unreachable!("it is a vector") };
            let scalar = ty.scalar().unwrap_or_else(|| unreachable!("{ty} is a vector"));
            Operand::Value(maker.operand(Type::Vector(scalar, lanes), number))
        }
    }
}

/// Calls of a row in every way that an architecture has.
fn calls(row: &'static Intrinsic, sm: u32) -> Kernel {
    let ranks = if row.map_operand().is_some() && sm >= 90 { MOST_RANK as u32 } else { 0 };
    let mut maker = Maker::with_maps(&format!("call_{}", row.name.replace('.', "_")), ranks);
    let is_had = |way: &Way| match way {
        Way::Type(Type::Pointer(space)) => has_space(*space, sm),
        _ => true,
    };
    for way in ways(row).into_iter().filter(|way| way.iter().all(is_had)) {
        let operands: Vec<_> = way
            .iter()
            .enumerate()
            .map(|(number, one)| give(&mut maker, *one, number, &way))
            .collect();
        let call = Call { intrinsic: row, operands: operands.clone() };
        let result = match Needs::of(&call).sm <= sm {
            true => maker.b.call(row, operands),
            false => None,
        };
        match result.map(|result| (result, maker.b.ty(result))) {
            Some((pointer, Type::Pointer(_))) => {
                let load = Load { pointer, align: 1, qualifier: None, guard: None };
                let byte = maker.b.load(Scalar::U8.into(), load);
                maker.keep(byte);
            }
            Some((result, _)) => maker.keep(result),
            None => {}
        }
    }
    maker.b.finish()
}

/// Loops that count in every type, whatever the step.
fn loops(scalar: Scalar) -> Kernel {
    let mut maker = Maker::new(&format!("loop_{scalar}"));
    let bounds = maker.operands(scalar.into());
    let [first, end, step] = bounds[..] else { unreachable!() };
    let one = maker.b.int(scalar, 1);
    for step in [step, one] {
        let index = maker.b.loop_index(scalar.into());
        maker.b.open();
        maker.keep(index);
        let condition = maker.b.compare(Compare::Eq, index, end);
        maker.b.open();
        maker.b.effect(OpKind::Jump(Jump::Continue));
        let then = maker.b.close();
        maker.b.open();
        maker.b.effect(OpKind::Jump(Jump::Break));
        let otherwise = maker.b.close();
        maker.b.if_else(condition, then, otherwise);
        let body = maker.b.close();
        maker.b.effect(OpKind::For { index, first, end, step, body });
    }
    maker.b.finish()
}

/// Numbers that are printed, asserted, and in registers of PTX.
fn escapes() -> Kernel {
    let mut maker = Maker::new("escapes");
    let mut printed = vec![];
    for ty in types() {
        let value = maker.operand(ty, 0);
        printed.extend((ty.lanes() == 1).then_some(value));
        if ty.lanes() == 1 && ty.bytes() > 1 {
            let text = format!("{{ mov.b{} {{0}}, {{1}}; // $ }}\n}}", 8 * ty.bytes());
            for has_effects in [false, true] {
                let (slot, operands) = (maker.b.slot("result", ty), vec![value]);
                let (text, results) = (text.clone(), vec![slot]);
                let asm = Asm { dialect: Dialect::Ptx, text, results, operands, has_effects };
                maker.b.effect(OpKind::Asm(asm));
                let result = maker.b.get(slot);
                maker.keep(result);
            }
        }
    }
    let address = Asm {
        dialect: Dialect::Ptx,
        text: "prefetch.global.L2 [{0}];".to_string(),
        results: vec![],
        operands: vec![MEMORY],
        has_effects: true,
    };
    maker.b.effect(OpKind::Asm(address));
    let asserted = printed.clone();
    let text = format!("100 % {}\u{1}", "{} ".repeat(printed.len()));
    maker.b.effect(OpKind::Print(text, printed));
    maker.b.effect(OpKind::Print("nothing".to_string(), vec![]));
    for values in asserted.chunks(Assert::MOST_VALUES) {
        let condition = maker.operand(Type::Scalar(Scalar::Bool), 0);
        let (text, values) = ("{}".repeat(values.len()), values.to_vec());
        maker.b.effect(OpKind::Assert(Assert { condition, text, values }));
    }
    maker.b.finish()
}

/// Whether every architecture of that number, and newer ones, have a row. Products of warpgroups
/// have tests of their own, of registers that go together.
fn is_everywhere(row: &Intrinsic, sm: u32) -> bool {
    let needs = Needs::of_row(row);
    needs.sm <= sm && !needs.is_of_one
}

fn kernels(sm: u32) -> Vec<Kernel> {
    let numbered = |make: fn(Type, &str) -> Kernel, name: &'static str| {
        types().into_iter().map(move |ty| make(ty, &format!("{name}_{ty}")))
    };
    let accesses = |ty: Type| accesses(ty, &format!("access_{ty}"), sm);
    let rows = intrinsic::all();
    numbered(arithmetic, "arithmetic")
        .chain(numbered(conversions, "convert"))
        .chain(types().into_iter().map(accesses))
        .chain(rows.filter(|row| is_everywhere(row, sm)).map(|row| calls(row, sm)))
        .chain(Scalar::ALL.iter().filter(|scalar| scalar.is_int()).map(|scalar| loops(*scalar)))
        .chain([escapes(), nest()])
        .collect()
}

/// Conditions in loops in conditions, as deep as they may stand.
fn nest() -> Kernel {
    let mut maker = Maker::new("nest");
    let (zero, one) = (maker.b.index(0), maker.b.index(1));
    let condition = maker.b.compare(Compare::Lt, NUMBER, zero);
    let mut inner = {
        maker.b.open();
        maker.keep(one);
        maker.b.close()
    };
    for depth in 1..MAX_DEPTH - 1 {
        maker.b.open();
        if depth % 2 == 0 {
            maker.b.if_else(condition, inner, Region::default());
        } else {
            let index = maker.b.loop_index(Scalar::I64.into());
            let kind = OpKind::For { index, first: zero, end: NUMBER, step: one, body: inner };
            maker.b.effect(kind);
        }
        inner = maker.b.close();
    }
    maker.b.if_else(condition, inner, Region::default());
    maker.b.finish()
}

fn expect_assembled(name: &str) {
    let arch: Arch = name.parse().expect(name);
    let random = (0..RANDOM).map(|seed| generate(seed).kernel);
    let random = random.filter(|kernel| check_needs(kernel, arch, u32::MAX).is_ok());
    let mut kernels: Vec<_> = kernels(arch.number).into_iter().chain(random).collect();
    kernels.iter_mut().for_each(kernpack_kernel_ir::expand);
    let kernels: Vec<_> = kernels.iter().collect();
    for kernel in &kernels {
        kernpack_kernel_ir::verify(kernel).unwrap_or_else(|problems| panic!("{problems}"));
    }
    let lowered = ptx(&kernels, arch, false).expect("LLVM takes what is lowered");
    let assembled = nvjitlink().assemble(&lowered.text, name, arch, &AssembleOptions::default());
    let assembled = assembled.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(assembled.image.kind, ImageKind::Cubin);
    for kernel in kernels {
        assert!(assembled.image.kernel(&kernel.name).is_some(), "{}", kernel.name);
    }
}

#[test]
fn all_is_assembled_for_sm_80() {
    expect_assembled("sm_80");
}

#[test]
fn all_is_assembled_for_sm_90a() {
    expect_assembled("sm_90a");
}

#[test]
fn all_is_assembled_for_sm_100() {
    expect_assembled("sm_100");
}
