// SPDX-License-Identifier: Apache-2.0
//! Mistakes of a run, where they are, and which thread of which block did it.

use super::clock::{Event, grid_of, in_grid};
use super::warp::LANES;
use crate::kernel::{BY_LIBRARY, Kernel, Place, PlaceData};
use kernpack_syntax::{Diagnostic, Span};
use std::collections::HashMap;
use std::fmt;

macro_rules! kinds {
    ($( $( #[doc = $doc:literal] )+ $name:ident = $code:literal; )*) => {
        /// The kind of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $( $( #[doc = $doc] )+ $name, )*
        }

        impl Kind {
            /// Every one.
            pub const ALL: &[Kind] = &[ $( Kind::$name, )* ];

            /// Its name: the code of its diagnostics.
            pub const fn code(self) -> &'static str {
                match self { $( Kind::$name => $code, )* }
            }
        }
    };
}

kinds! {
    /// An access to bytes that an allocation has not.
    OutOfBounds = "out-of-bounds";
    /// A read of what was never written.
    UninitialisedRead = "uninitialised-read";
    /// An index that is not below its extent.
    IndexOutOfBounds = "index-out-of-bounds";
    /// An address that is not aligned as the access says.
    MisalignedAccess = "misaligned-access";
    /// A write to a tensor that the kernel may not write.
    ReadOnlyWrite = "read-only-write";
    /// Two accesses to shared memory, one of them a write, that nothing orders.
    SharedRace = "shared-race";
    /// Two such accesses to global memory.
    GlobalRace = "global-race";
    /// An access of a launch that has begun before an earlier one has ended, to what that one
    /// touches, and one of the two is a write.
    DependentRace = "dependent-race";
    /// An access to what a copy in flight writes, or a write to what one reads.
    CopyInFlight = "copy-in-flight";
    /// A write to what a product in flight reads.
    ProductInFlight = "product-in-flight";
    /// A copy that its thread has not waited for when it ends.
    UnawaitedCopy = "unawaited-copy";
    /// A copy of many bytes that begins where a thread has written, without a fence between.
    MissingProxyFence = "missing-proxy-fence";
    /// An access to the memory of a block that may not have begun, or may have ended.
    AbsentBlock = "absent-block";
    /// An arrival before the wait that belongs to the last one, a wait without an arrival, or a
    /// barrier that those who come to it mean otherwise.
    MisusedBarrier = "misused-barrier";
    /// A barrier that some threads do not come to.
    DivergentBarrier = "divergent-barrier";
    /// A shuffle or vote that some threads of the warp do not come to, or that reads a lane that is
    /// not there.
    DivergentExchange = "divergent-exchange";
    /// An assertion of the kernel that does not hold.
    FailedAssert = "failed-assert";
    /// Threads that wait for what never happens.
    Deadlock = "deadlock";
    /// A loop that has run for too long.
    EndlessLoop = "endless-loop";
    /// Something that cannot be interpreted. The run ends there.
    Unsupported = "unsupported";
    /// A launch that no kernel can run with, or that this one says it is never launched with.
    BadLaunch = "bad-launch";
}

/// A thread of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its block, in x, y and z.
    pub block: [u32; 3],
    /// Where it is in its block.
    pub thread: [u32; 3],
    /// The rank that launched its grid, where several did.
    pub rank: Option<u32>,
}

impl Thread {
    /// The thread of an event, in a launch of that many blocks and threads, by so many ranks.
    pub(super) fn of(grid: [u32; 3], block: [u32; 3], n_ranks: usize, event: Event) -> Thread {
        let [x, y, _] = block;
        let thread = event.warp * LANES as u32 + event.lane;
        Thread {
            block: index_of(event.block, grid),
            thread: [thread % x, thread / x % y, thread / x / y],
            rank: (n_ranks > 1).then(|| (grid_of(event.block) % n_ranks as u64) as u32),
        }
    }
}

/// Where a block with that number is in a grid.
pub(super) fn index_of(number: u64, grid: [u32; 3]) -> [u32; 3] {
    let ([x, y, _], number) = (grid.map(u64::from), in_grid(number));
    [number % x, number / x % y, number / x / y].map(|index| index as u32)
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y, z], [bx, by, bz]) = (self.thread, self.block);
        write!(f, "thread ({x}, {y}, {z}) of block ({bx}, {by}, {bz})")?;
        self.rank.map_or(Ok(()), |rank| write!(f, " of rank {rank}"))
    }
}

/// The deed of another thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// Where that was written.
    pub place: Place,
    /// Who did it.
    pub thread: Thread,
    /// Its words: `writes it`.
    pub what: &'static str,
}

/// The deed of an earlier launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Where that was written.
    pub span: Span,
    /// Its words, which say file, line and column where that is in no table of texts.
    pub text: String,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind.
    pub kind: Kind,
    /// Where the operation was written.
    pub place: Place,
    /// The first thread that it happened to; nothing where it is no thread's.
    pub thread: Option<Thread>,
    /// The mistake, in one line.
    pub message: String,
    /// The other one of a race, or of threads that part.
    pub other: Option<Other>,
    /// The other one of a race with an earlier launch.
    pub earlier: Option<Earlier>,
    /// How often it was found at that place, and with the other one at the other place.
    pub count: u64,
}

impl Finding {
    /// As a diagnostic, with the places in the kernel's source. Where that is in no table of texts,
    /// the message says file, line and column.
    pub fn diagnostic(&self, kernel: &Kernel) -> Diagnostic {
        let who = |thread: Option<Thread>| thread.map_or(String::new(), |one| one.to_string());
        let mut message = self.message.clone();
        if let Some(thread) = self.thread {
            message += &format!(", in {thread}");
        }
        let place = kernel.place_of_user(self.place);
        if place.span.text.is_none() && place.line > 0 {
            message += &format!(", at {}", spelled(kernel, place));
        }
        let mut diagnostic = Diagnostic::new(self.kind.code(), message);
        diagnostic = diagnostic.mark(place.span, who(self.thread));
        if let Some(other) = &self.other {
            diagnostic = tell(diagnostic, kernel, other);
        }
        if let Some(Earlier { span, text }) = &self.earlier {
            match span.text {
                Some(_) => diagnostic = diagnostic.mark(*span, text.clone()),
                None => diagnostic.message += &format!("; {text}"),
            }
        }
        let written = kernel.place(self.place);
        if written != place {
            diagnostic = diagnostic.mark(written.span, BY_LIBRARY);
        }
        diagnostic = callers(diagnostic, kernel, place);
        match self.count {
            ..=1 => diagnostic,
            count => diagnostic.detail(format!("found {count} times")),
        }
    }
}

fn tell(mut diagnostic: Diagnostic, kernel: &Kernel, other: &Other) -> Diagnostic {
    let place = kernel.place_of_user(other.place);
    let text = format!("{} {}", other.thread, other.what);
    if place.span.text.is_some() {
        return diagnostic.mark(place.span, text);
    }
    diagnostic.message += &format!("; {text}");
    if place.line > 0 {
        diagnostic.message += &format!(", at {}", spelled(kernel, place));
    }
    diagnostic
}

/// Where functions that hold the place were called.
fn callers(mut diagnostic: Diagnostic, kernel: &Kernel, place: &PlaceData) -> Diagnostic {
    let mut caller = place.caller;
    while let Some(place) = caller {
        let place = kernel.place(place);
        diagnostic = diagnostic.mark(place.span, "called here");
        caller = place.caller;
    }
    diagnostic
}

/// `file:line:column`.
pub(super) fn spelled(kernel: &Kernel, place: &PlaceData) -> String {
    let file = place.file.and_then(|file| kernel.files.get(file.index()));
    let file = file.map_or("", String::as_str);
    format!("{file}:{}:{}", place.line, place.column)
}

/// The other one that a finding is with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum With {
    Nobody,
    /// A thread of the launch, at this place.
    Own(Place),
    /// An earlier launch, at the place of its accesses with that number; nothing of what is not
    /// known.
    Earlier(usize, Option<u32>),
}

impl From<Option<&Other>> for With {
    fn from(other: Option<&Other>) -> With {
        other.map_or(With::Nobody, |other| With::Own(other.place))
    }
}

/// The findings so far, each once.
#[derive(Debug)]
pub(super) struct Findings {
    pub all: Vec<Finding>,
    known: HashMap<(Kind, Place, With), usize>,
    most: usize,
}

impl Findings {
    pub fn new(most: usize) -> Findings {
        Findings { all: Vec::new(), known: HashMap::new(), most: most.max(1) }
    }

    /// Whether nothing new is kept any more.
    pub fn is_full(&self) -> bool {
        self.all.len() >= self.most
    }

    /// Counts a finding again; says whether it is known.
    pub fn again(&mut self, kind: Kind, place: Place, other: impl Into<With>) -> bool {
        match self.known.get(&(kind, place, other.into())) {
            Some(known) => {
                self.all[*known].count += 1;
                true
            }
            None => false,
        }
    }

    /// Counts a finding; makes it where it is new.
    pub fn add(
        &mut self,
        kind: Kind,
        place: Place,
        other: Option<Other>,
        make: impl FnOnce() -> (Option<Thread>, String),
    ) {
        let with = With::from(other.as_ref());
        if self.again(kind, place, with) {
            return;
        }
        let (thread, message) = make();
        let finding = Finding { kind, place, thread, message, other, earlier: None, count: 1 };
        self.add_new(finding, with);
    }

    /// Adds a finding that is new, unless there are enough.
    pub fn add_new(&mut self, finding: Finding, with: With) {
        if !self.is_full() {
            self.known.insert((finding.kind, finding.place, with), self.all.len());
            self.all.push(finding);
        }
    }
}
