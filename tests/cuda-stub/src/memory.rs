// SPDX-License-Identifier: Apache-2.0
//! Device memory, which is memory of the host: what allocations there are, and what the log calls
//! an address in one.

#![expect(
    unsafe_code,
    reason = "device memory is memory of the host, which callers and kernels use by address"
)]

use crate::c_types::CUcontext;
use crate::status::Status;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;

/// What the driver aligns allocations to.
const ALIGNMENT: usize = 512;
/// More than a device has.
const MOST_BYTES: usize = 1 << 37;

/// One allocation.
#[derive(Clone, Copy, Debug)]
pub struct Allocation {
    /// How many there were before it, and one.
    pub number: usize,
    /// Its size in bytes.
    pub size: usize,
    /// The context it belongs to.
    pub context: CUcontext,
}

/// The allocations, by address.
#[derive(Debug, Default)]
pub struct Memory {
    allocations: BTreeMap<u64, Allocation>,
    n_made: usize,
    /// Memory of the host that kernels see, by address, with the context that it was registered in.
    registered: BTreeMap<u64, CUcontext>,
}

impl Memory {
    /// New memory, of zeros.
    pub fn allocate(&mut self, size: usize, context: CUcontext) -> Result<u64, Status> {
        if size == 0 {
            return Err(Status::INVALID_VALUE);
        }
        if size > MOST_BYTES {
            return Err(Status::OUT_OF_MEMORY);
        }
        let layout = Layout::from_size_align(size, ALIGNMENT).map_err(|_| Status::OUT_OF_MEMORY)?;
        // SAFETY: The size is not 0.
        let address = unsafe { alloc_zeroed(layout) } as u64;
        if address == 0 {
            return Err(Status::OUT_OF_MEMORY);
        }
        self.n_made += 1;
        self.allocations.insert(address, Allocation { number: self.n_made, size, context });
        Ok(address)
    }

    /// Has kernels see memory of the host.
    pub fn register(&mut self, address: u64, context: CUcontext) -> Result<(), Status> {
        if self.is_registered(address) {
            return Err(Status::HOST_MEMORY_ALREADY_REGISTERED);
        }
        self.registered.insert(address, context);
        Ok(())
    }

    /// Ends that.
    pub fn unregister(&mut self, address: u64) -> Result<(), Status> {
        let found = self.registered.remove(&address);
        found.map(|_| ()).ok_or(Status::HOST_MEMORY_NOT_REGISTERED)
    }

    /// Whether kernels see memory of the host.
    pub fn is_registered(&self, address: u64) -> bool {
        self.registered.contains_key(&address)
    }

    /// Frees what begins at an address.
    pub fn free(&mut self, address: u64) -> Result<(), Status> {
        let allocation = self.allocations.remove(&address).ok_or(Status::INVALID_VALUE)?;
        if let Ok(layout) = Layout::from_size_align(allocation.size, ALIGNMENT) {
            // SAFETY: `allocate` got the memory with this layout, and it is no longer listed.
            unsafe { dealloc(address as *mut u8, layout) };
        }
        Ok(())
    }

    /// Frees all that belongs to a context.
    pub fn free_of(&mut self, context: CUcontext) {
        self.registered.retain(|_, of| *of != context);
        let of = self.allocations.iter().filter(|(_, memory)| memory.context == context);
        for address in of.map(|(address, _)| *address).collect::<Vec<_>>() {
            let _listed = self.free(address);
        }
    }

    /// The allocation that an address lies in, and where it begins.
    pub fn find(&self, address: u64) -> Option<(u64, Allocation)> {
        let (start, allocation) = self.allocations.range(..=address).next_back()?;
        (address - start < allocation.size as u64).then_some((*start, *allocation))
    }

    /// What the log calls an address.
    pub fn name(&self, address: u64) -> String {
        match self.find(address) {
            Some((start, found)) if start == address => format!("memory{}", found.number),
            Some((start, found)) => format!("memory{}+{}", found.number, address - start),
            None => format!("{address:#x}"),
        }
    }

    /// Whether so many bytes at an address all lie in one allocation.
    fn holds(&self, address: u64, size: usize) -> bool {
        self.find(address)
            .is_some_and(|(start, found)| size as u64 <= start + found.size as u64 - address)
    }

    /// Bytes of an allocation.
    pub fn read(&self, address: u64, size: usize) -> Result<Vec<u8>, Status> {
        if size == 0 {
            return Ok(Vec::new());
        }
        if !self.holds(address, size) {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: All of these bytes lie in one allocation, made of zeros and listed.
        Ok(unsafe { std::slice::from_raw_parts(address as *const u8, size) }.to_vec())
    }

    /// Overwrites bytes of an allocation.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), Status> {
        if bytes.is_empty() {
            return Ok(());
        }
        if !self.holds(address, bytes.len()) {
            return Err(Status::INVALID_VALUE);
        }
        // SAFETY: All of these bytes lie in one listed allocation, and the source is memory of our
        // own.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        Ok(())
    }

    /// How many allocations there are.
    pub fn count(&self) -> usize {
        self.allocations.len()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for address in self.allocations.keys().copied().collect::<Vec<_>>() {
            let _listed = self.free(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_names_and_bounds() {
        let mut memory = Memory::default();
        let start = memory.allocate(8, CUcontext(0)).unwrap();
        assert_eq!(memory.name(start), "memory1");
        assert_eq!(memory.name(start + 7), "memory1+7");
        assert_eq!(memory.name(start + 8), format!("{:#x}", start + 8));
        memory.write(start + 4, &[1, 2, 3, 4]).unwrap();
        assert_eq!(memory.read(start, 8).unwrap(), [0, 0, 0, 0, 1, 2, 3, 4]);
        assert_eq!(memory.write(start + 4, &[0; 5]), Err(Status::INVALID_VALUE));
        assert_eq!(memory.read(start + 1, 8), Err(Status::INVALID_VALUE));
        assert_eq!(memory.free(start + 1), Err(Status::INVALID_VALUE));
        assert_eq!(memory.free(start), Ok(()));
        assert_eq!(memory.free(start), Err(Status::INVALID_VALUE));
        assert_eq!(memory.allocate(0, CUcontext(0)), Err(Status::INVALID_VALUE));
        assert_eq!(memory.allocate(1 << 50, CUcontext(0)), Err(Status::OUT_OF_MEMORY));
    }
}
