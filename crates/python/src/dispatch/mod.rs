// SPDX-License-Identifier: Apache-2.0
//! Functions that are compiled for their arguments: a call finds its variant in a table, and one
//! that has none has it made.
//!
//! `kernpack_dispatcher(miss, constants, picks)` makes a dispatcher and answers a function that
//! controls it. `miss` is asked where a call has no variant: it gets the classes of the arguments
//! as JSON ([`key::Class`]), and answers the function to call, which is called from then on for
//! arguments of these classes. `constants` has `1` for each argument whose value counts, `0` for
//! each other one; without any, `None`, all arguments are of one class. `picks` is what else
//! counts, as JSON ([`pick::Pick`]), or `None`: where there are any, if but an empty list, `miss`
//! gets the arguments too, behind the classes and the number, and may answer an array of one
//! function, which is called this once.
//!
//! The control is called with a word: `"function"` answers the function that dispatches;
//! `("select", n)` has calls look among the variants of that number, which stands for what the
//! function has captured; and `("add", n, classes, function)` adds a variant.
//!
//! A call takes no lock and allocates nothing: tables are never changed, only replaced, and those
//! that were replaced are kept as long as the dispatcher. Not here: what variants are compiled of.

#![expect(unsafe_code, reason = "functions of TVM-FFI are C")]

pub mod key;
pub mod pick;

use crate::ffi::{Answer, Args, Error, Object, Value};
use kernpack_ffi_abi::layout::Any;
use kernpack_ffi_abi::slice;
use kernpack_process::fork;
use key::{Class, Words};
use pick::Pick;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A variant, with its key beside it: a call looks at both.
struct Variant {
    function: Object,
    words: Words,
}

/// Variants by their keys: at the place of its hash, or at the first one behind that is free.
struct Table(Box<[AtomicPtr<Variant>]>);

struct Dispatcher {
    miss: Object,
    /// Which arguments count by their values; nothing where all arguments are of one class.
    constants: Option<Constants>,
    /// Whatever else counts of them, where a variant is made for the arguments themselves.
    picks: Option<Vec<Pick>>,
    /// The number of what is captured now.
    selected: AtomicU64,
    table: AtomicPtr<Table>,
    /// The variant that was called last, if any: the next call looks there first. So the processor
    /// goes on into the variant while it still makes the key.
    last: AtomicPtr<Variant>,
    owned: Mutex<Owned>,
}

/// Tables and variants, which are freed with the dispatcher: others hold their addresses.
#[derive(Default)]
struct Owned {
    /// Every table that there was, the last one included. Each is larger than the one before.
    #[expect(clippy::vec_box, reason = "a table stays where it is while others are added")]
    tables: Vec<Box<Table>>,
    variants: Vec<Arc<Variant>>,
}

/// `kernpack_dispatcher(miss, constants, picks) -> control`
pub fn dispatcher(args: Args<'_>) -> Result<Value, Error> {
    let miss = args.function(0)?.ok_or_else(|| Error::value("there is no function"))?;
    let constants = match args.is_none(1) {
        true => None,
        false => Some(Constants::read(args.text(1)?)),
    };
    let picks = match args.is_none(2) {
        true => None,
        false => Some(pick::read(args.text(2)?)?),
    };
    let first = Box::new(Table::of(&[]));
    let table = AtomicPtr::new(ptr::from_ref(&*first).cast_mut());
    let owned = Mutex::new(Owned { tables: vec![first], variants: Vec::new() });
    let (selected, last) = (AtomicU64::new(0), AtomicPtr::default());
    let dispatcher = Dispatcher { miss, constants, picks, selected, table, last, owned };
    let dispatcher = Arc::new(dispatcher);
    // SAFETY: the arguments are those of an entry point's caller.
    let control = move |args, n_args, result| unsafe { control(&dispatcher, args, n_args, result) };
    Object::of_closure(control).map(Value::Function)
}

/// `kernpack_classes(constants, arg, …) -> JSON`: the classes of arguments.
pub fn classes(args: Args<'_>) -> Result<Value, Error> {
    let constants = Constants::read(args.text(0)?);
    // SAFETY: the arguments are those of an entry point's caller.
    Value::json(&unsafe { constants.classes(args.behind(1)) })
}

/// Which arguments count by their values.
struct Constants(Vec<bool>);

impl Constants {
    /// `1` for each that does, `0` for each other one.
    fn read(text: &str) -> Constants {
        Constants(text.bytes().map(|each| each == b'1').collect())
    }

    /// Whether the argument of that number does.
    fn has(&self, at: usize) -> bool {
        self.0.get(at).copied().unwrap_or(false)
    }

    /// The classes of arguments.
    ///
    /// # Safety
    /// They are those of an entry point's caller.
    unsafe fn classes(&self, args: &[Any]) -> Vec<Class> {
        // SAFETY: as the caller says.
        let class = |(at, arg)| unsafe { key::class(arg, self.has(at), 0) };
        args.iter().enumerate().map(class).collect()
    }
}

/// Does what a word asks for.
unsafe fn control(
    dispatcher: &Arc<Dispatcher>,
    args: *const Any,
    n_args: i32,
    result: *mut Any,
) -> i32 {
    let control = |args: Args<'_>| match args.text(0)? {
        "function" => {
            let dispatcher = dispatcher.clone();
            // SAFETY: the arguments are those of an entry point's caller.
            let call =
                move |args, n_args, result| unsafe { call(&dispatcher, args, n_args, result) };
            Object::of_closure(call).map(Value::Function)
        }
        "select" => {
            let number = args.int(1)? as u64;
            dispatcher.selected.store(number, Ordering::Release);
            Ok(Value::None)
        }
        "add" => {
            let classes: Vec<Class> = serde_json::from_str(args.text(2)?)
                .map_err(|error| Error::value(error.to_string()))?;
            let function = args.function(3)?.ok_or_else(|| Error::value("no function"))?;
            let words = dispatcher.words(args.int(1)? as u64, &classes);
            fork::section(|| dispatcher.insert(&words, function));
            Ok(Value::None)
        }
        other => Err(Error::value(format!("a dispatcher knows no `{other}`"))),
    };
    // SAFETY: the arguments are those of the caller.
    unsafe { crate::ffi::run(args, n_args, result, control) }
}

/// Calls the variant of the arguments.
#[inline]
unsafe fn call(dispatcher: &Dispatcher, args: *const Any, n_args: i32, result: *mut Any) -> i32 {
    // SAFETY: there are as many arguments as the caller says.
    let passed = unsafe { slice(args, usize::try_from(n_args).unwrap_or(0)) };
    // SAFETY: the arguments are those of an entry point's caller.
    match dispatcher.last().filter(|last| unsafe { dispatcher.is_key(&last.words, passed) }) {
        // SAFETY: the call is handed on as it came.
        Some(variant) => unsafe { variant.function.call(args, n_args, result) },
        // SAFETY: as above.
        None => unsafe { dispatcher.call_another(args, passed, result) },
    }
}

impl Dispatcher {
    /// Takes the key of a call, word by word.
    ///
    /// # Safety
    /// The arguments are those of an entry point's caller.
    #[inline]
    unsafe fn key(&self, args: &[Any], take: &mut impl FnMut(u64)) {
        take(self.selected.load(Ordering::Acquire));
        if let Some(constants) = &self.constants {
            take(args.len() as u64);
            for (at, arg) in args.iter().enumerate() {
                // SAFETY: as the caller says.
                unsafe { key::of(arg, constants.has(at), take) };
            }
        }
        for pick in self.picks.iter().flatten() {
            // SAFETY: as the caller says.
            unsafe { pick.of(args, take) };
        }
    }

    /// Whether that is the key of a call.
    ///
    /// # Safety
    /// As of [`Dispatcher::key`].
    #[inline]
    unsafe fn is_key(&self, words: &[u64], args: &[Any]) -> bool {
        let (mut left, mut is_same) = (words.iter(), true);
        // SAFETY: as the caller says.
        unsafe { self.key(args, &mut |word| is_same &= left.next() == Some(&word)) };
        is_same && left.next().is_none()
    }

    /// The variant that was called last.
    #[inline]
    fn last(&self) -> Option<&Variant> {
        // SAFETY: a variant lives as long as the dispatcher, and is not changed.
        unsafe { self.last.load(Ordering::Acquire).as_ref() }
    }

    /// Calls another variant than the last one.
    ///
    /// # Safety
    /// The call is that of an entry point's caller.
    #[inline(never)]
    unsafe fn call_another(&self, args: *const Any, passed: &[Any], result: *mut Any) -> i32 {
        let mut words = Words::new();
        // SAFETY: as the caller says.
        unsafe { self.key(passed, &mut |word| words.push(word)) };
        // SAFETY: a table lives as long as the dispatcher, and is not changed.
        let table = unsafe { &*self.table.load(Ordering::Acquire) };
        let Some(variant) = table.find(&words) else {
            // SAFETY: the call is handed on as it came.
            return unsafe { self.miss(&words, args, passed, result) };
        };
        self.last.store(ptr::from_ref(variant).cast_mut(), Ordering::Release);
        // SAFETY: as above.
        unsafe { variant.function.call(args, passed.len() as i32, result) }
    }

    /// The key of a call with arguments of these classes.
    fn words(&self, selected: u64, classes: &[Class]) -> Words {
        let mut words = Words::new();
        words.push(selected);
        if self.constants.is_some() {
            words.push(classes.len() as u64);
            classes.iter().for_each(|class| class.add_to(&mut words));
        }
        words
    }

    /// Has a variant made, and calls it.
    #[cold]
    unsafe fn miss(
        &self,
        words: &[u64],
        args: *const Any,
        passed: &[Any],
        result: *mut Any,
    ) -> i32 {
        let none = Constants(Vec::new());
        let constants = self.constants.as_ref().unwrap_or(&none);
        // SAFETY: the arguments are those of an entry point's caller.
        let classes = unsafe { constants.classes(passed) };
        let asked = serde_json::to_string(&classes).unwrap_or_default();
        let shown = if self.picks.is_some() { passed } else { &[] };
        match self.miss.ask(&asked, words[0] as i64, shown) {
            Ok(Answer::Lasting(function)) => {
                let variant = fork::section(|| self.insert(words, function));
                // SAFETY: the call is handed on as it came.
                unsafe { variant.function.call(args, passed.len() as i32, result) }
            }
            // SAFETY: as above.
            Ok(Answer::Once(function)) => unsafe {
                function.call(args, passed.len() as i32, result)
            },
            Ok(Answer::None) => Error::runtime("there is no variant").raise(),
            Err(error) => error.raise(),
        }
    }

    /// Adds a variant, unless there is one by now; gives the one that is there.
    fn insert(&self, words: &[u64], function: Object) -> Arc<Variant> {
        let mut owned = self.owned.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = owned.known(words) {
            return known;
        }
        let variant = Arc::new(Variant { function, words: words.into() });
        owned.variants.push(variant.clone());
        let n_variants = owned.variants.len();
        match owned.tables.last() {
            Some(table) if n_variants * 2 <= table.0.len() => table.insert(&variant),
            _ => {
                let table = Box::new(Table::of(&owned.variants));
                self.table.store(ptr::from_ref(&*table).cast_mut(), Ordering::Release);
                owned.tables.push(table);
            }
        }
        variant
    }
}

impl Owned {
    /// The variant of a key.
    fn known(&self, words: &[u64]) -> Option<Arc<Variant>> {
        let found = ptr::from_ref(self.tables.last()?.find(words)?);
        self.variants.iter().rev().find(|known| ptr::eq(Arc::as_ptr(known), found)).cloned()
    }
}

impl Table {
    /// A table of variants, with room for more.
    fn of(variants: &[Arc<Variant>]) -> Table {
        let n_slots = (variants.len() * 4).next_power_of_two().max(16);
        let table = Table((0..n_slots).map(|_| AtomicPtr::default()).collect());
        variants.iter().for_each(|variant| table.insert(variant));
        table
    }

    /// The places at which a key may be, in order.
    #[inline]
    fn slots(&self, words: &[u64]) -> impl Iterator<Item = &AtomicPtr<Variant>> {
        let last = self.0.len() - 1;
        let first = hash(words) as usize;
        (0..=last).map(move |by| &self.0[first.wrapping_add(by) & last])
    }

    /// There is room for one more.
    fn insert(&self, variant: &Arc<Variant>) {
        let free = self.slots(&variant.words).find(|slot| slot.load(Ordering::Relaxed).is_null());
        if let Some(slot) = free {
            slot.store(Arc::as_ptr(variant).cast_mut(), Ordering::Release);
        }
    }

    #[inline]
    fn find(&self, words: &[u64]) -> Option<&Variant> {
        for slot in self.slots(words) {
            // SAFETY: a variant lives as long as the dispatcher, and is not changed.
            let variant = unsafe { slot.load(Ordering::Acquire).as_ref() }?;
            // A key has a few words: less than it takes to call a function that compares memory.
            if variant.words.iter().eq(words) {
                return Some(variant);
            }
        }
        None
    }
}

/// A number for a key, in whose lowest bits all of it counts.
#[inline]
fn hash(words: &[u64]) -> u64 {
    // Knuth's multiplicative hashing, by the golden ratio of 64 bits.
    let mix =
        |hash: u64, word: &u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let hash = words.iter().fold(0, mix);
    hash ^ hash >> 32
}
