// SPDX-License-Identifier: Apache-2.0
//! The walk: what is in flight at each point of a kernel, and what was touched since a fence.

use crate::group_product::{Elements, GroupProduct};
use crate::intrinsic::{MOST_GROUPS, Meaning, ProductOp};
use crate::kernel::{Kernel, Local, Place, Value};
use crate::op::{Call, Expr, Jump, Load, Op, OpKind, Operand, Region, Store};
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The register tensors that fences and waits hand on: those that were touched since the last
/// fence, and those of products that are done. By the number of the call, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handed {
    /// By fences.
    pub by_fences: Vec<BTreeSet<Local>>,
    /// By waits.
    pub by_waits: Vec<BTreeSet<Local>>,
    /// The register tensors of products.
    pub all: BTreeSet<Local>,
}

impl Handed {
    /// Those of a kernel.
    pub fn of(kernel: &Kernel) -> Handed {
        walk(kernel).map_or_else(Handed::default, |flow| flow.handed)
    }
}

/// A mistake, at the operation that makes it.
pub(super) struct Problem<'k> {
    pub op: &'k Op,
    pub of: Elements,
    pub mistake: Mistake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// Elements are touched that a product has which began there.
    Touched { by: Place, is_open: bool },
    /// A product begins, and its registers were touched there.
    Unfenced { touched: Place },
    /// A product begins, and there is a way without any fence.
    NoFence,
    /// Which elements are touched is not known.
    Indexed,
}

pub(super) fn problems(kernel: &Kernel) -> Vec<Problem<'_>> {
    walk(kernel).map_or_else(Vec::new, |flow| flow.problems)
}

/// Groups behind a product that no wait tells apart from more.
const OLDEST: u8 = MOST_GROUPS as u8 + 1;

/// The state at a point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    /// Whether no fence was there on some way.
    is_unfenced: bool,
    /// The elements that were touched since a fence, and where.
    touched: BTreeMap<(Local, u32), Place>,
    /// The registers of products in flight, where these began, and how many groups were made since:
    /// 0 where a product is in none.
    flying: BTreeMap<(Elements, Place, bool), u8>,
}

impl State {
    fn join(&mut self, other: State) {
        self.is_unfenced |= other.is_unfenced;
        for (element, place) in other.touched {
            self.touched.entry(element).or_insert(place);
        }
        for (product, age) in other.flying {
            let known = self.flying.entry(product).or_insert(age);
            *known = age.min(*known);
        }
    }
}

fn join(a: Option<State>, b: Option<State>) -> Option<State> {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.join(b);
            Some(a)
        }
        (a, b) => a.or(b),
    }
}

/// The ways that leave a loop that is walked, or a round of it.
#[derive(Default)]
struct Open {
    breaks: Option<State>,
    continues: Option<State>,
}

struct Flow<'k> {
    kernel: &'k Kernel,
    /// The elements that addresses are of; nothing of which is not known.
    elements: HashMap<Value, (Local, Option<u32>)>,
    /// Nothing where no way leads.
    state: Option<State>,
    open: Vec<Open>,
    n_fences: usize,
    n_waits: usize,
    handed: Handed,
    problems: Vec<Problem<'k>>,
}

/// Walks a kernel that has products.
fn walk(kernel: &Kernel) -> Option<Flow<'_>> {
    let mut all = BTreeSet::new();
    find_registers(&kernel.body, &mut all);
    if all.is_empty() {
        return None;
    }
    let state = State { is_unfenced: true, ..State::default() };
    let mut flow = Flow {
        kernel,
        elements: HashMap::new(),
        state: Some(state),
        open: Vec::new(),
        n_fences: 0,
        n_waits: 0,
        handed: Handed { all, ..Handed::default() },
        problems: Vec::new(),
    };
    flow.region(&kernel.body);
    Some(flow)
}

fn find_registers(region: &Region, all: &mut BTreeSet<Local>) {
    region.for_each(&mut |op| {
        if let OpKind::Call(call) = &op.kind
            && let Some(product) = GroupProduct::of(call)
        {
            all.insert(product.sums.local);
            all.extend(product.part_of_a().map(|part| part.local));
        }
    });
}

impl<'k> Flow<'k> {
    fn region(&mut self, region: &'k Region) {
        region.0.iter().for_each(|op| self.op(op));
    }

    fn op(&mut self, op: &'k Op) {
        match &op.kind {
            OpKind::Expr(expr) => self.expr(op, expr),
            OpKind::Store(Store { pointer, value, condition, .. }) => {
                self.access(op, *pointer, self.kernel.ty(*value), condition.is_some());
            }
            OpKind::If { then, otherwise, .. } => {
                let before = self.state.clone();
                self.region(then);
                let then = std::mem::replace(&mut self.state, before);
                self.region(otherwise);
                self.state = join(then, self.state.take());
            }
            OpKind::For { body, .. } => {
                let head = self.repeat(|flow| {
                    let head = flow.state.clone();
                    flow.region(body);
                    head
                });
                self.state = head;
            }
            OpKind::While { before, condition, body } => {
                // A loop without a condition is left by a `break` only.
                let constant = self.kernel.constant(*condition).and_then(|it| it.as_bool());
                let left = self.repeat(|flow| {
                    flow.region(before);
                    let left = flow.state.clone().filter(|_| constant != Some(true));
                    flow.region(body);
                    left
                });
                self.state = left;
            }
            OpKind::Jump(jump) => self.jump(*jump),
            OpKind::Call(call) => self.call(op, call),
            OpKind::Set(..) | OpKind::Asm(_) => self.addresses_used(op),
            // Of numbers only.
            OpKind::InBounds { .. } | OpKind::Print(..) | OpKind::Assert(_) => {}
        }
    }

    /// Walks a loop until nothing is new where it begins. Gives what there is where it has ended,
    /// of which a round says what it is where it ends by itself.
    fn repeat(&mut self, mut round: impl FnMut(&mut Self) -> Option<State>) -> Option<State> {
        let counts = (self.n_fences, self.n_waits);
        loop {
            (self.n_fences, self.n_waits) = counts;
            let head = self.state.clone();
            self.open.push(Open::default());
            let left = round(self);
            let open = self.open.pop().unwrap_or_default();
            let next = join(join(head.clone(), self.state.take()), open.continues);
            if next == head {
                return join(left, open.breaks);
            }
            self.state = next;
        }
    }

    fn jump(&mut self, jump: Jump) {
        let state = self.state.take();
        let Some(open) = self.open.last_mut() else { return };
        match jump {
            Jump::Break => open.breaks = join(open.breaks.take(), state),
            Jump::Continue => open.continues = join(open.continues.take(), state),
            Jump::Return => {}
        }
    }

    fn expr(&mut self, op: &'k Op, expr: &Expr) {
        let Some(result) = op.result else { return };
        match expr {
            Expr::Local(local) if self.handed.all.contains(local) => {
                self.elements.insert(result, (*local, Some(0)));
            }
            Expr::Offset(base, bytes) => {
                if let Some(&(local, element)) = self.elements.get(base) {
                    let element = element.and_then(|element| self.further(local, element, *bytes));
                    self.elements.insert(result, (local, element));
                }
            }
            Expr::Load(Load { pointer, guard, .. }) => {
                self.access(op, *pointer, self.kernel.ty(result), guard.is_some());
            }
            _ => self.addresses_used(op),
        }
    }

    /// The element so many bytes behind another, where there is one.
    fn further(&self, local: Local, element: u32, bytes: Value) -> Option<u32> {
        let array = &self.kernel.locals[local.index()];
        array.further(element, self.kernel.constant(bytes)?.as_int()?)
    }

    /// Addresses that an operation uses are for something else than an access.
    fn addresses_used(&mut self, op: &'k Op) {
        op.kind.uses(&mut |value| {
            if let Some(&(local, _)) = self.elements.get(value) {
                self.indexed(op, local);
            }
        });
    }

    fn indexed(&mut self, op: &'k Op, local: Local) {
        let count = self.kernel.locals[local.index()].count;
        self.found(op, Elements { local, first: 0, count }, Mistake::Indexed);
    }

    fn access(&mut self, op: &'k Op, address: Value, ty: Type, is_guarded: bool) {
        let Some(&(local, element)) = self.elements.get(&address) else { return };
        let array = &self.kernel.locals[local.index()];
        let count = u32::from(ty.lanes());
        let is_of = ty.scalar() == Some(array.element);
        let first = element.filter(|first| is_of && !is_guarded && first + count <= array.count);
        let Some(first) = first else { return self.indexed(op, local) };
        let elements = Elements { local, first, count };
        self.touch(op, elements, None);
        if let Some(state) = &mut self.state {
            for number in elements.numbers() {
                state.touched.insert((local, number), op.place);
            }
        }
    }

    /// Registers are touched: by a product, as sums or not, or by something else.
    fn touch(&mut self, op: &'k Op, elements: Elements, as_sums: Option<bool>) {
        let Some(state) = &self.state else { return };
        let is_in_order = |of: Elements, of_sums: bool| match as_sums {
            // Products of one shape add to the same sums one after another, and read A at once.
            Some(true) => of_sums && of == elements,
            Some(false) => !of_sums,
            None => false,
        };
        let touched = state
            .flying
            .iter()
            .find(|((of, _, of_sums), _)| of.meet(elements) && !is_in_order(*of, *of_sums));
        if let Some(((_, by, _), age)) = touched {
            let mistake = Mistake::Touched { by: *by, is_open: *age == 0 };
            self.found(op, elements, mistake);
        }
    }

    fn call(&mut self, op: &'k Op, call: &Call) {
        let Meaning::Product(deed) = call.intrinsic.meaning else {
            return self.addresses_used(op);
        };
        match (deed, &call.operands[..]) {
            (ProductOp::Fence, _) => self.fence(),
            (ProductOp::Multiply, _) => {
                if let Some(product) = GroupProduct::of(call) {
                    self.begin(op, &product);
                }
            }
            (ProductOp::Commit, _) => {
                if let Some(state) = &mut self.state {
                    state.flying.values_mut().for_each(|age| *age = OLDEST.min(*age + 1));
                }
            }
            (ProductOp::Wait, [Operand::Constant(n_left)]) => self.wait(*n_left),
            (ProductOp::Wait, _) => {}
        }
    }

    fn fence(&mut self) {
        let number = self.n_fences;
        self.n_fences += 1;
        let handed = at_number(&mut self.handed.by_fences, number);
        let Some(state) = &mut self.state else { return };
        handed.extend(state.touched.keys().map(|(local, _)| *local));
        state.touched.clear();
        state.is_unfenced = false;
    }

    fn wait(&mut self, n_left: i64) {
        let number = self.n_waits;
        self.n_waits += 1;
        let handed = at_number(&mut self.handed.by_waits, number);
        let Some(state) = &mut self.state else { return };
        let is_done = |age: u8| i64::from(age) > n_left;
        let done = state.flying.iter().filter(|(_, age)| is_done(**age));
        handed.extend(done.map(|((of, _, _), _)| of.local));
        state.flying.retain(|_, age| !is_done(*age));
        // What another product has that is in flight is not handed on.
        handed.retain(|local| state.flying.keys().all(|(of, _, _)| of.local != *local));
    }

    fn begin(&mut self, op: &'k Op, product: &GroupProduct) {
        let sums = [(product.sums, true)].into_iter();
        let registers = sums.chain(product.part_of_a().map(|part| (part, false)));
        for (elements, of_sums) in registers {
            self.touch(op, elements, Some(of_sums));
            let Some(state) = &self.state else { return };
            let mut numbers = elements.numbers();
            let touched = numbers.find_map(|number| state.touched.get(&(elements.local, number)));
            let mistake = match touched {
                Some(place) => Some(Mistake::Unfenced { touched: *place }),
                None => state.is_unfenced.then_some(Mistake::NoFence),
            };
            if let Some(mistake) = mistake {
                self.found(op, elements, mistake);
            }
            if let Some(state) = &mut self.state {
                state.flying.insert((elements, op.place, of_sums), 0);
            }
        }
    }

    /// Each mistake is told once at a place.
    fn found(&mut self, op: &'k Op, of: Elements, mistake: Mistake) {
        let is_there = |other: &Op| match op.place {
            Place::NOWHERE => std::ptr::eq(other, op),
            place => other.place == place,
        };
        let is_it = |known: &Problem<'_>| {
            is_there(known.op)
                && known.of.local == of.local
                && std::mem::discriminant(&known.mistake) == std::mem::discriminant(&mistake)
        };
        if !self.problems.iter().any(is_it) {
            self.problems.push(Problem { op, of, mistake });
        }
    }
}

fn at_number(sets: &mut Vec<BTreeSet<Local>>, number: usize) -> &mut BTreeSet<Local> {
    if sets.len() <= number {
        sets.resize_with(number + 1, BTreeSet::new);
    }
    &mut sets[number]
}
