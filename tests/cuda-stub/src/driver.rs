// SPDX-License-Identifier: Apache-2.0
//! The state of the driver: what there is of each kind of object, and the rules for finding the one
//! that a handle or the current context means.
//!
//! One lock guards all of it ([`crate::call`]). Objects are found by handle, never by pointer, so a
//! wrong handle is an error here where it may end the process with the real driver.

use crate::c_types::{
    CUcontext, CUdevice, CUevent, CUfunction, CUgraphExec, CUkernel, CUlaunchAttributeValue,
    CUlibrary, CUmodule, CUstream, ContextId, Handle, Kind, StreamId,
};
use crate::config::{Config, Device, Failure};
use crate::graph::{Executable, Graph, Node};
use crate::image::{Image, KernelImage};
use crate::log::Log;
use crate::memory::Memory;
use crate::status::Status;
use crate::thread::Thread;
use std::collections::BTreeMap;
use std::time::Instant;

/// The objects of one kind.
#[derive(Debug)]
pub struct Table<T> {
    kind: Kind,
    life: u16,
    n_made: usize,
    live: BTreeMap<usize, T>,
}

impl<T> Table<T> {
    fn new(kind: Kind, life: u16) -> Table<T> {
        Table { kind, life, n_made: 0, live: BTreeMap::new() }
    }

    /// A new object's handle.
    pub fn add(&mut self, object: T) -> usize {
        self.n_made += 1;
        let handle = self.handle(self.n_made);
        self.live.insert(handle, object);
        handle
    }

    /// The handle of an object that has ended, for a new one; a new handle if none has.
    pub fn add_again(&mut self, object: T) -> usize {
        let mut handles = (1..=self.n_made).map(|number| self.handle(number));
        let Some(handle) = handles.find(|handle| !self.live.contains_key(handle)) else {
            return self.add(object);
        };
        self.live.insert(handle, object);
        handle
    }

    fn handle(&self, number: usize) -> usize {
        Handle { kind: self.kind, life: self.life, number }.encode()
    }

    /// The object, if it lives.
    pub fn get(&self, handle: usize) -> Option<&T> {
        self.live.get(&handle)
    }

    /// The object, to change it.
    pub fn get_mut(&mut self, handle: usize) -> Option<&mut T> {
        self.live.get_mut(&handle)
    }

    /// Ends an object.
    pub fn remove(&mut self, handle: usize) -> Option<T> {
        self.live.remove(&handle)
    }

    /// Whether there has been such an object.
    pub fn has_been(&self, handle: usize) -> bool {
        Handle::decode(handle)
            .is_some_and(|handle| handle.kind == self.kind && handle.life == self.life)
    }

    /// Ends those for which something does not hold.
    pub fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.live.retain(|_, object| keep(object));
    }

    /// Every object and its handle.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.live.iter().map(|(handle, object)| (*handle, object))
    }
}

/// A context. None is ever forgotten: a thread may have one current that was destroyed.
#[derive(Debug)]
pub struct Context {
    /// The device.
    pub device: usize,
    /// Whether it is the device's primary one, which revives under the same handle.
    pub is_primary: bool,
    /// How many hold it: a context of a caller's own is held once, until it is destroyed.
    pub n_held: usize,
    /// Whether it can be used: a primary one that was reset cannot, though it is held, until it is
    /// retained again.
    pub is_alive: bool,
    /// What tells this life of it from others under the same handle.
    pub id: ContextId,
    /// The contexts whose memory its kernels reach.
    pub peers: Vec<CUcontext>,
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// The context it was made in.
    pub context: CUcontext,
    /// Whether it waits for the NULL stream and that for it.
    pub is_blocking: bool,
    /// Its priority: lower numbers go first.
    pub priority: i32,
    /// What tells it from others under the same handle.
    pub id: StreamId,
    /// Which part of memory its kernels are to keep in the second-level cache.
    pub window: CUlaunchAttributeValue,
}

/// A capture under way.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    /// The mode: 0 global, 1 thread-local, 2 relaxed.
    pub mode: u32,
    /// The thread that began it.
    pub thread: u64,
    /// The context of its stream.
    pub context: CUcontext,
    /// Whether its stream and the NULL stream wait for one another.
    pub is_blocking: bool,
    /// Whether something has spoilt it.
    pub is_invalid: bool,
}

/// An event.
#[derive(Debug)]
pub struct Event {
    /// The context it was made in.
    pub context: CUcontext,
    /// Whether it says when it was recorded.
    pub is_timed: bool,
    /// Where it was recorded last.
    pub recorded: Recorded,
    /// When that was.
    pub at: Instant,
}

/// Where an event was recorded last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// Nowhere yet: nobody waits for it.
    Never,
    /// In a stream, whose work up to there is done.
    Before,
    /// In a capture, which is under way.
    In((CUstream, u64)),
    /// In a capture that has ended.
    Gone,
}

/// A loaded image.
#[derive(Debug)]
pub struct Library {
    /// What is in it, or what is wrong with it.
    pub image: Result<Image, Status>,
    /// The kernels that were asked for, by name.
    pub kernels: BTreeMap<String, CUkernel>,
    /// The modules that were asked for, by context.
    pub modules: BTreeMap<CUcontext, CUmodule>,
}

/// A kernel that was asked for.
#[derive(Debug)]
pub struct Kernel {
    /// The library.
    pub library: CUlibrary,
    /// What the image says about it.
    pub image: KernelImage,
    /// Attributes that were set, by device and number.
    pub attributes: BTreeMap<(usize, u32), i32>,
    /// Functions that were asked for, by context.
    pub functions: BTreeMap<CUcontext, CUfunction>,
}

/// All of it.
#[derive(Debug)]
pub struct Driver {
    /// What the stub was told.
    pub config: Config,
    /// Which life this is: a reset begins a new one.
    pub life: u16,
    /// Whether cuInit has succeeded.
    pub is_initialised: bool,
    /// The contexts.
    pub contexts: Table<Context>,
    /// The streams.
    pub streams: Table<Stream>,
    /// The streams that every context has, by context, and by thread where the stream is each
    /// thread's own; as far as something was asked of them.
    pub default_streams: BTreeMap<(CUcontext, CUstream, u64), Stream>,
    /// The captures, by stream, and by thread where the stream is each thread's own.
    pub captures: BTreeMap<(CUstream, u64), Capture>,
    /// The events.
    pub events: Table<Event>,
    /// The libraries.
    pub libraries: Table<Library>,
    /// The kernels.
    pub kernels: Table<Kernel>,
    /// The functions: a kernel and a context.
    pub functions: Table<(CUkernel, CUcontext)>,
    /// The modules: a library and a context.
    pub modules: Table<(CUlibrary, CUcontext)>,
    /// The graphs.
    pub graphs: Table<Graph>,
    /// Their nodes.
    pub nodes: Table<Node>,
    /// The graphs that can be launched.
    pub executables: Table<Executable>,
    /// The memory.
    pub memory: Memory,
    /// How many launches there have been.
    pub n_launches: usize,
    /// The log.
    pub log: Log,
    n_ids: u64,
}

impl Driver {
    /// A driver that was just loaded.
    pub fn new(config: Config, life: u16) -> Driver {
        Driver {
            log: Log::new(config.log.as_deref()),
            config,
            life,
            is_initialised: false,
            contexts: Table::new(Kind::Context, life),
            streams: Table::new(Kind::Stream, life),
            default_streams: BTreeMap::new(),
            captures: BTreeMap::new(),
            events: Table::new(Kind::Event, life),
            libraries: Table::new(Kind::Library, life),
            kernels: Table::new(Kind::Kernel, life),
            functions: Table::new(Kind::Function, life),
            modules: Table::new(Kind::Module, life),
            graphs: Table::new(Kind::Graph, life),
            nodes: Table::new(Kind::Node, life),
            executables: Table::new(Kind::Executable, life),
            memory: Memory::default(),
            n_launches: 0,
            n_ids: 0,
        }
    }

    /// A number that nothing else has in the life of the process.
    pub fn new_id(&mut self) -> u64 {
        self.n_ids += 1;
        u64::from(self.life) << 32 | self.n_ids
    }

    /// The code that a rule wants this call to fail with.
    pub fn wanted_failure(&mut self, function: &str, device: Option<usize>) -> Option<Status> {
        let mut wanted = None;
        let rules = self.config.failures.iter_mut().filter(|rule| rule.function == function);
        for rule in rules {
            rule.n_seen += 1;
            let Failure { nth, device: on, n_seen, code, .. } = *rule;
            if nth.is_none_or(|nth| nth == n_seen) && (on.is_none() || on == device) {
                wanted = wanted.or(Some(Status(code)));
            }
        }
        wanted
    }

    /// The index of a device.
    pub fn device_index(&self, device: CUdevice) -> Result<usize, Status> {
        let index = usize::try_from(device.0).ok();
        index.filter(|index| *index < self.config.devices.len()).ok_or(Status::INVALID_DEVICE)
    }

    /// The primary context of a device, if it has ever been retained.
    pub fn primary(&self, device: usize) -> Option<CUcontext> {
        let is_it = |context: &Context| context.is_primary && context.device == device;
        self.contexts.iter().find(|(_, context)| is_it(context)).map(|found| CUcontext(found.0))
    }

    /// A context that lives.
    pub fn live_context(&self, context: CUcontext) -> Result<&Context, Status> {
        let found = self.contexts.get(context.0).ok_or(Status::INVALID_CONTEXT)?;
        if found.is_alive { Ok(found) } else { Err(Status::CONTEXT_IS_DESTROYED) }
    }

    /// The device of a context, whether or not it lives.
    pub fn device_of(&self, context: CUcontext) -> Result<(usize, &Device), Status> {
        let found = self.contexts.get(context.0).ok_or(Status::INVALID_CONTEXT)?;
        let device = self.config.devices.get(found.device).ok_or(Status::INVALID_DEVICE)?;
        Ok((found.device, device))
    }

    /// The thread's current context, which must live.
    pub fn current(&self, thread: &Thread) -> Result<CUcontext, Status> {
        let context = thread.current().ok_or(Status::INVALID_CONTEXT)?;
        self.live_context(context).map(|_| context)
    }

    /// Ends a context, with all that belongs to it.
    pub fn end_context(&mut self, context: CUcontext) {
        if let Some(ended) = self.contexts.get_mut(context.0) {
            ended.is_alive = false;
            ended.peers.clear();
        }
        self.streams.retain(|stream| stream.context != context);
        self.events.retain(|event| event.context != context);
        self.functions.retain(|function| function.1 != context);
        self.modules.retain(|module| module.1 != context);
        self.default_streams.retain(|(of, ..), _| *of != context);
        self.nodes.retain(|node| node.work.context() != context);
        self.executables.retain(|executable| !executable.is_of(context));
        for kernel in self.kernels.live.values_mut() {
            kernel.functions.remove(&context);
        }
        for library in self.libraries.live.values_mut() {
            library.modules.remove(&context);
        }
        let streams = &self.streams;
        self.captures.retain(|(stream, _), _| stream.0 == 2 || streams.get(stream.0).is_some());
        self.memory.free_of(context);
    }

    /// Ends a capture, if there is one, and what was recorded in it.
    pub fn end_capture(&mut self, key: (CUstream, u64)) {
        self.captures.remove(&key);
        let events = self.events.live.values_mut();
        for event in events.filter(|event| event.recorded == Recorded::In(key)) {
            event.recorded = Recorded::Gone;
        }
    }

    /// An event that lives.
    pub fn event(&mut self, event: CUevent) -> Result<&mut Event, Status> {
        self.events.get_mut(event.0).ok_or(Status::INVALID_HANDLE)
    }

    /// When an event that takes time was recorded.
    pub fn when(&mut self, event: CUevent) -> Result<Instant, Status> {
        let event = self.event(event)?;
        let is_told = event.is_timed && event.recorded == Recorded::Before;
        if is_told { Ok(event.at) } else { Err(Status::INVALID_HANDLE) }
    }

    /// The context that work on a stream goes to: the current one for the streams that every
    /// context has.
    pub fn context_of(&self, stream: CUstream, thread: &Thread) -> Result<CUcontext, Status> {
        if stream.0 <= 2 {
            return self.current(thread);
        }
        match self.streams.get(stream.0) {
            Some(found) => self.live_context(found.context).map(|_| found.context),
            // A destroyed stream: its context can no longer be told.
            None if self.streams.has_been(stream.0) => Err(Status::INVALID_CONTEXT),
            None => Err(Status::INVALID_HANDLE),
        }
    }

    /// The kernel of a function or kernel handle, and the context if the handle has one.
    pub fn kernel_of(&self, function: CUfunction) -> Result<(CUkernel, Option<CUcontext>), Status> {
        if self.kernels.get(function.0).is_some() {
            return Ok((CUkernel(function.0), None));
        }
        let found = self.functions.get(function.0).ok_or(Status::INVALID_HANDLE)?;
        Ok((found.0, Some(found.1)))
    }

    /// A kernel that lives.
    pub fn kernel(&self, kernel: CUkernel) -> Result<&Kernel, Status> {
        self.kernels.get(kernel.0).ok_or(Status::INVALID_HANDLE)
    }

    /// A graph that can be launched. A dead one has a code of its own, which no launch or change is
    /// refused with, so that tests do not take it for the shape's fault.
    pub fn executable(&self, executable: CUgraphExec) -> Result<&Executable, Status> {
        let missing =
            if executable.0 == 0 { Status::INVALID_VALUE } else { Status::INVALID_HANDLE };
        self.executables.get(executable.0).ok_or(missing)
    }

    /// Whether a library's image has code for a device.
    pub fn runs_on(&self, library: CUlibrary, device: usize) -> Result<(), Status> {
        let library = self.libraries.get(library.0).ok_or(Status::INVALID_HANDLE)?;
        let device = self.config.devices.get(device).ok_or(Status::INVALID_DEVICE)?;
        let image = library.image.as_ref().map_err(|status| *status)?;
        if image.runs_on(device.compute()) { Ok(()) } else { Err(image.refusal()) }
    }

    /// Ends a library, with its kernels.
    pub fn end_library(&mut self, library: CUlibrary) -> Result<(), Status> {
        self.libraries.remove(library.0).ok_or(Status::INVALID_HANDLE)?;
        self.kernels.retain(|kernel| kernel.library != library);
        self.modules.retain(|module| module.0 != library);
        let kernels = &self.kernels;
        self.functions.retain(|function| kernels.get(function.0.0).is_some());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_of_another_life_or_kind_are_nothing() {
        let mut old = Table::new(Kind::Stream, 1);
        let handle = old.add(());
        assert!(old.get(handle).is_some() && old.has_been(handle));
        assert_eq!(old.remove(handle), Some(()));
        assert!(old.get(handle).is_none() && old.has_been(handle));
        let mut new = Table::new(Kind::Stream, 2);
        new.add(());
        assert!(new.get(handle).is_none() && !new.has_been(handle));
        let graphs: Table<()> = Table::new(Kind::Graph, 1);
        assert!(!graphs.has_been(handle));
    }

    #[test]
    fn rules_count_from_when_they_were_made() {
        let text = "fail cuInit 2 with 100\nfail cuMemAlloc_v2 on 1 with 2\n";
        let mut driver = Driver::new(Config::parse(text).unwrap(), 1);
        let answers = [(); 3].map(|()| driver.wanted_failure("cuInit", None));
        assert_eq!(answers, [None, Some(Status::NO_DEVICE), None]);
        assert_eq!(driver.wanted_failure("cuMemAlloc_v2", Some(0)), None);
        assert_eq!(driver.wanted_failure("cuMemAlloc_v2", None), None);
        assert_eq!(driver.wanted_failure("cuMemAlloc_v2", Some(1)), Some(Status::OUT_OF_MEMORY));
    }
}
