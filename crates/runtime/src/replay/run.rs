// SPDX-License-Identifier: Apache-2.0
//! Following a program on the arguments of a refused call.
#![expect(unsafe_code, reason = "the arguments and the table come from generated code as pointers")]

use core::ffi::{CStr, c_void};
use core::ptr;

use super::{ROW_NUMBERS, step, value};
use crate::blank::Blank;
use crate::fault::{TableBytes, kernpack_rt_fault};
use crate::fault_table::reader::Table;
use crate::interface::functions::PushFloat;
use crate::interface::layout::{DeviceFacts, ErrorParts};
use crate::interface::{MAX_TURNS, MAX_VALUES};
use crate::narrow::{kernpack_rt_round_to_bf16, kernpack_rt_round_to_f16};
use crate::string::kernpack_rt_text_is;

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Words the fault of the first check, from the step of number `first_step` on, that the arguments
/// fail; returns how many C strings its message has.
///
/// # Safety
///
/// `table` and `program` are as the compiler wrote them, and the steps before the first pass;
/// `args` points to `num_args` arguments that follow the ABI, `device` to what those steps have
/// found out of the device, and `error` to memory for an error. `push_float` is
/// `kernpack_rt_push_float` where a fault of the program prints floats.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn kernpack_rt_refuse(
    table: *const u8,
    program: u32,
    first_step: u32,
    args: *const u8,
    num_args: i32,
    device: *const DeviceFacts,
    push_float: Option<PushFloat>,
    error: *mut ErrorParts,
) -> i32 {
    let reader = Table(TableBytes(table));
    // SAFETY: as the caller says.
    let blank = unsafe { Blank::new(error) };
    let (n_values, n_steps) = (reader.u32(program), reader.u32(program + 4));
    let bytes = n_values as usize * size_of::<Slot>();
    // SAFETY: malloc takes any size.
    let slots: *mut Slot = unsafe { malloc(bytes) }.cast();
    if slots.is_null() {
        return own_error(blank, c"out of memory while an error was worded");
    }
    for i in 0..n_values as usize {
        let slot = slots.wrapping_add(i);
        // SAFETY: the memory has that many slots. (Clearing it whole would become a call of
        // `calloc`.)
        unsafe { (*slot).known = 0 };
    }
    let values = program + 8;
    let steps = values + 4 * ROW_NUMBERS * n_values;
    let mut run = Run { table: reader, values, steps, slots, args, num_args, device };
    let failed = run.steps(first_step, n_steps).map(|step| run.fault(step));
    // SAFETY: malloc gave it, and nothing uses it any more.
    unsafe { free(slots.cast()) };
    match failed {
        // SAFETY: the fault is one of the table's, and `shown` holds as many values as a fault may
        // print.
        Some((fault, shown)) => unsafe {
            kernpack_rt_fault(table, fault, shown.as_ptr(), push_float, error)
        },
        None => own_error(blank, c"the arguments changed while they were checked"),
    }
}

/// Words an error of the runtime's own.
fn own_error(blank: Blank, message: &CStr) -> i32 {
    blank.set_kind(c"RuntimeError".as_ptr());
    blank.set_part(0, [message.as_ptr(), ptr::null()]);
    2
}

/// A value that may have been evaluated.
#[derive(Clone, Copy)]
#[repr(C)]
struct Slot {
    value: i64,
    known: u64,
}

struct Run {
    table: Table<TableBytes>,
    /// Where the program's values lie in the table.
    values: u32,
    /// Where its steps do.
    steps: u32,
    slots: *mut Slot,
    args: *const u8,
    num_args: i32,
    device: *const DeviceFacts,
}

impl Run {
    /// Goes through the steps from `at` up to `end`; the number of the first that fails.
    fn steps(&mut self, mut at: u32, end: u32) -> Option<u32> {
        while at < end {
            let [operation, a, b, _] = self.row(self.steps, at);
            match operation {
                step::REQUIRE if self.value(a) == 0 => return Some(at),
                step::WHEN if self.value(a) == 0 => at = b,
                step::REPEAT => {
                    let failed = self.repeat(at);
                    if failed.is_some() {
                        return failed;
                    }
                    at = b;
                }
                _ => at += 1,
            }
        }
        None
    }

    /// Goes through the steps of the `repeat` at step `at`, turn by turn. What is handed on lies in
    /// the slots of the values behind it.
    fn repeat(&mut self, at: u32) -> Option<u32> {
        let [_, count, end, list] = self.row(self.steps, at);
        let (turn, values_end) = (self.table.u32(list + 4), self.table.u32(list + 8));
        let n_carried = (self.table.u32(list) - 2) / 4;
        let n_turns = self.value(count).clamp(0, MAX_TURNS);
        for i in 0..n_carried {
            let [_, first, _, outer] = self.carried(list, i);
            let first = self.value(first);
            self.set(outer, first);
        }
        for number in 0..n_turns {
            (turn..values_end).for_each(|value| self.forget(value));
            self.set(turn, number);
            for i in 0..n_carried {
                let [inner, _, _, outer] = self.carried(list, i);
                let handed_on = self.value(outer);
                self.set(inner, handed_on);
            }
            let failed = self.steps(at + 1, end);
            if failed.is_some() {
                return failed;
            }
            for i in 0..n_carried {
                let [_, _, next, outer] = self.carried(list, i);
                let next = self.value(next);
                self.set(outer, next);
            }
        }
        None
    }

    /// A value that turns hand on: inside a turn, in the first, in the next, behind the last.
    fn carried(&self, list: u32, number: u32) -> [u32; 4] {
        let at = list + 12 + 16 * number;
        core::array::from_fn(|i| self.table.u32(at + 4 * i as u32))
    }

    /// The value that the `repeat` at step `at` leaves, where going through the steps began behind
    /// that step.
    fn left_by(&mut self, at: u32, number: u32) -> i64 {
        // It is not found out once more while it is.
        self.set(number, 0);
        self.repeat(at);
        self.value(number)
    }

    /// The fault of a step that has failed, and the values that it prints.
    fn fault(&mut self, step: u32) -> (u32, [i64; MAX_VALUES]) {
        let [_, _, fault, list] = self.row(self.steps, step);
        let mut shown = [0; MAX_VALUES];
        let n_values = self.table.u32(list);
        for (place, i) in shown.iter_mut().zip(0..n_values) {
            *place = self.value(self.table.u32(list + 4 + 4 * i));
        }
        (fault, shown)
    }

    fn row(&self, start: u32, number: u32) -> [u32; 4] {
        let at = start + 4 * ROW_NUMBERS * number;
        core::array::from_fn(|i| self.table.u32(at + 4 * i as u32))
    }

    fn slot(&self, number: u32) -> *mut Slot {
        self.slots.wrapping_add(number as usize)
    }

    fn set(&mut self, number: u32, value: i64) {
        // SAFETY: there is a slot for each value of the program.
        unsafe { *self.slot(number) = Slot { value, known: 1 } };
    }

    fn forget(&mut self, number: u32) {
        // SAFETY: there is a slot for each value of the program.
        unsafe { (*self.slot(number)).known = 0 };
    }

    #[inline(never)]
    fn value(&mut self, number: u32) -> i64 {
        // SAFETY: there is a slot for each value of the program.
        let slot = unsafe { *self.slot(number) };
        if slot.known != 0 {
            return slot.value;
        }
        let value = self.evaluate(number);
        self.set(number, value);
        value
    }

    fn evaluate(&mut self, number: u32) -> i64 {
        let [operation, a, b, c] = self.row(self.values, number);
        match operation {
            value::INT => i64::from(a) | i64::from(b) << 32,
            value::ARGS => self.args as i64,
            value::NUM_ARGS => self.num_args.into(),
            value::DEVICE => self.device as i64,
            value::GIVEN => self.left_by(a, number),
            value::LOAD_U8 => self.load::<u8>(a, b).into(),
            value::LOAD_U16 => self.load::<u16>(a, b).into(),
            value::LOAD_I32 => self.load::<i32>(a, b).into(),
            value::LOAD_U32 => self.load::<u32>(a, b).into(),
            value::LOAD_I64 => self.load(a, b),
            value::AND => {
                if self.value(a) == 0 {
                    0
                } else {
                    self.value(b)
                }
            }
            value::OR => {
                if self.value(a) != 0 {
                    1
                } else {
                    self.value(b)
                }
            }
            value::NOT => (self.value(a) == 0).into(),
            value::SELECT => {
                let chosen = if self.value(a) != 0 { b } else { c };
                self.value(chosen)
            }
            value::FLOAT_BITS => (self.value(a) as f64).to_bits() as i64,
            value::ROUNDED_TO_F16 => kernpack_rt_round_to_f16(self.value(a) as u64) as i64,
            value::ROUNDED_TO_BF16 => kernpack_rt_round_to_bf16(self.value(a) as u64) as i64,
            value::ROUNDED_TO_F32 => {
                f64::from(f64::from_bits(self.value(a) as u64) as f32).to_bits() as i64
            }
            value::TEXT => self.text(a) as i64 + 1,
            value::TEXT_AT => self.value(a),
            value::TEXT_IS => {
                let text = self.value(a);
                // SAFETY: the program compares texts with texts of the table.
                unsafe { kernpack_rt_text_is(text, self.text(b)) }.into()
            }
            operation => {
                let (a, b) = (self.value(a), self.value(b));
                binary(operation, a, b)
            }
        }
    }

    /// Where a text of the table is.
    fn text(&self, offset: u32) -> *const u8 {
        self.table.0.0.wrapping_add(offset as usize)
    }

    /// Reads a `T`, which may have any bits, `offset` bytes behind an address.
    fn load<T>(&mut self, base: u32, offset: u32) -> T {
        let address = self.value(base).wrapping_add(offset.into()) as usize as *const T;
        // SAFETY: the caller vouches for arguments that follow the ABI, and the steps before this
        // one passed.
        unsafe { address.read_unaligned() }
    }
}

fn binary(operation: u32, a: i64, b: i64) -> i64 {
    match operation {
        value::ADD => a.wrapping_add(b),
        value::SUB => a.wrapping_sub(b),
        value::MUL => a.wrapping_mul(b),
        value::FLOOR_DIV if b > 0 => a.checked_div_euclid(b).unwrap_or(0),
        value::MOD if b > 0 => a.checked_rem_euclid(b).unwrap_or(0),
        value::BIT_AND => a & b,
        value::ADD_OVERFLOWS => a.checked_add(b).is_none().into(),
        value::SUB_OVERFLOWS => a.checked_sub(b).is_none().into(),
        value::MUL_OVERFLOWS => a.checked_mul(b).is_none().into(),
        value::EQ => (a == b).into(),
        value::NE => (a != b).into(),
        value::LT => (a < b).into(),
        value::LE => (a <= b).into(),
        _ => 0,
    }
}
