// SPDX-License-Identifier: Apache-2.0
//! A launch with memories of its own: a kernel, what its parameters are given one by one, and what
//! the memories hold behind the run. Tests, proofs and measurements run kernels so.
//!
//! Not here: a call's allocations, which several launches share; and where kernels come from.

use super::{
    Argument, Finding, Launch, MappedTensor, Memories, Memory, MemoryId, Options, Outcome, run,
};
use crate::constant::Const;
use crate::expand::expand;
use crate::kernel::Kernel;
use crate::text::{Item, parse};
use crate::types::Scalar;
use crate::verify::verify;
use kernpack_machine::tensor_map::MOST_RANK;
use kernpack_syntax::Diagnostics;

/// A launch in the making.
#[derive(Debug)]
pub struct Trial {
    /// The kernel.
    pub kernel: Kernel,
    /// The memory that its arguments point into, and what is held beside it.
    pub memories: Memories,
    /// The arguments of its first parameters.
    pub arguments: Vec<Argument>,
    /// How many blocks.
    pub grid: [u32; 3],
    /// How many threads in a block.
    pub block: [u32; 3],
    /// How many blocks in a cluster.
    pub cluster: [u32; 3],
    /// How the interpreter runs.
    pub options: Options,
}

impl Trial {
    /// A launch of a kernel as it is, of one thread.
    pub fn of(kernel: Kernel) -> Trial {
        let (memories, arguments) = (Memories::default(), Vec::new());
        let [grid, block, cluster] = [[1; 3]; 3];
        Trial { kernel, memories, arguments, grid, block, cluster, options: Options::default() }
    }

    /// A launch of a kernel that keeps the rules, in which no functions are left that are made of
    /// operations.
    ///
    /// # Errors
    /// The rules that it breaks.
    pub fn of_verified(mut kernel: Kernel) -> Result<Trial, Diagnostics> {
        verify(&kernel)?;
        expand(&mut kernel);
        verify(&kernel)?;
        Ok(Trial::of(kernel))
    }

    /// A launch of the first kernel of a text.
    ///
    /// # Panics
    /// Where the text has none.
    pub fn of_text(text: &str) -> Trial {
        let items = parse(&text.into()).unwrap_or_else(|problems| panic!("{text}{problems}"));
        let mut kernels = items.into_iter().filter_map(|item| match item {
            Item::Kernel(kernel) => Some(kernel),
            Item::Function(_) => None,
        });
        Trial::of(kernels.next().expect("the text has a kernel"))
    }

    /// With so many blocks.
    pub fn grid(self, grid: [u32; 3]) -> Trial {
        Trial { grid, ..self }
    }

    /// With so many threads in a block.
    pub fn block(self, block: [u32; 3]) -> Trial {
        Trial { block, ..self }
    }

    /// With so many blocks in a cluster.
    pub fn cluster(self, cluster: [u32; 3]) -> Trial {
        Trial { cluster, ..self }
    }

    /// With warps and blocks in the order of a seed.
    pub fn seed(mut self, seed: u64) -> Trial {
        self.options.seed = seed;
        self
    }

    /// The name of the parameter that is given something next.
    ///
    /// # Panics
    /// Where there is none.
    pub fn next_name(&self) -> &str {
        &self.kernel.params[self.arguments.len()].name
    }

    /// Gives the next parameter a number.
    pub fn number(mut self, number: Const) -> Trial {
        self.arguments.push(Argument::Scalar(number));
        self
    }

    /// Gives the next parameter a memory of its own.
    pub fn tensor(mut self, memory: Memory) -> Trial {
        let memory = self.hold(memory);
        self.at(memory)
    }

    /// Gives the next parameter a memory that is held already.
    pub fn at(mut self, memory: MemoryId) -> Trial {
        self.arguments.push(Argument::Tensor { memory, offset: 0 });
        self
    }

    /// Gives the next parameter the map of a tensor that is held already: its extents, and its
    /// strides in elements, those of the innermost dim first.
    ///
    /// # Panics
    /// Where it has more dims than maps have.
    pub fn mapped(mut self, memory: MemoryId, extents: &[i64], strides: &[i64]) -> Trial {
        let element = i64::from(self.memories.get(memory).element.bytes());
        let mut mapped = MappedTensor {
            memory,
            offset: 0,
            extents: [1; MOST_RANK],
            strides: [0; MOST_RANK - 1],
        };
        for (place, extent) in extents.iter().enumerate() {
            mapped.extents[place] = *extent as u64;
        }
        for (place, stride) in strides.iter().skip(1).enumerate() {
            mapped.strides[place] = (stride * element) as u64;
        }
        self.arguments.push(Argument::Map(mapped));
        self
    }

    /// Holds a memory.
    pub fn hold(&mut self, memory: Memory) -> MemoryId {
        self.memories.add(memory)
    }

    /// Runs it. What the memories hold then is what a second run begins with.
    pub fn run(&mut self) -> Outcome {
        let launch = Launch {
            kernel: &self.kernel,
            grid: self.grid,
            block: self.block,
            cluster: self.cluster,
            arguments: self.arguments.clone(),
        };
        run(&launch, &mut self.memories, &self.options)
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// Where something is found.
    pub fn clean(&mut self) -> Outcome {
        let outcome = self.run();
        let told = self.told(&outcome.findings);
        assert!(told.is_empty() && outcome.is_complete, "{told}{}", self.kernel);
        outcome
    }

    /// The findings, a line each.
    pub fn told(&self, findings: &[Finding]) -> String {
        findings.iter().map(|one| format!("{}\n", one.diagnostic(&self.kernel))).collect()
    }

    /// The memory of an argument.
    ///
    /// # Panics
    /// Where the argument is a number.
    pub fn left(&self, argument: usize) -> &Memory {
        match self.arguments[argument] {
            Argument::Tensor { memory, .. } => self.memories.get(memory),
            Argument::Map(mapped) => self.memories.get(mapped.memory),
            Argument::Scalar(_) => unreachable!("a number has no memory"),
        }
    }
}

impl Memory {
    /// An allocation that holds these elements.
    pub fn of(name: impl Into<String>, element: Scalar, values: &[Const]) -> Memory {
        let width = element.bytes() as usize;
        let bytes = |value: &Const| value.bits().to_le_bytes()[..width].to_vec();
        Memory::new(name, element, values.iter().flat_map(bytes).collect())
    }

    /// Its contents, element by element.
    pub fn elements(&self) -> Vec<Const> {
        let element = |chunk: &[u8]| {
            let mut bits = [0; 8];
            bits[..chunk.len()].copy_from_slice(chunk);
            Const::from_bits(self.element, u64::from_le_bytes(bits))
        };
        self.bytes.chunks(self.element.bytes() as usize).map(element).collect()
    }
}
