// SPDX-License-Identifier: Apache-2.0
//! How a launch on a GPU is laid out: its grid, its blocks, its clusters, and what else the driver
//! is told beside the kernel's arguments.
//!
//! What is told by a yes or no is a [`LaunchFlag`]: a row of `launch_flags!`, which all that reads,
//! plans, prints or records launches goes through. The driver's number of one is the compiler's to
//! know, and what Triton calls it the package's.

use crate::expr::Expr;
use kernpack_syntax::Placed;

/// The layout of a launch, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    /// Blocks in the grid, x first; up to three. A grid without blocks is no launch.
    pub grid: Vec<Placed<Expr>>,
    /// Threads in a block, x first; up to three.
    pub block: Vec<Placed<Expr>>,
    /// Blocks in a cluster, x first; none where there are no clusters.
    pub cluster: Vec<Placed<Expr>>,
    /// Bytes of dynamic shared memory.
    pub shared: Placed<Expr>,
    /// The flags that it asks for.
    pub flags: LaunchFlags,
    /// The tensors, by their paths, that nothing has written that may still run when the launch
    /// begins. Only the interpreter asks for them.
    pub unwritten: Vec<Placed<String>>,
    /// The priority, where it is not the stream's.
    pub priority: Option<Placed<Expr>>,
    /// The parameter that is the stream; the environment's where there is none.
    pub stream: Option<Placed<String>>,
}

impl Geometry {
    /// A grid of blocks, and nothing else.
    pub fn new(grid: Vec<Expr>, block: Vec<Expr>) -> Geometry {
        let built = |exprs: Vec<Expr>| exprs.into_iter().map(Placed::from).collect();
        let (grid, block) = (built(grid), built(block));
        Geometry {
            grid,
            block,
            cluster: vec![],
            shared: Expr::Int(0).into(),
            flags: LaunchFlags::default(),
            unwritten: vec![],
            priority: None,
            stream: None,
        }
    }
}

/// The registry: a row a flag, in the order in which everything lists them. Its key in package
/// files and kernels, its word in the text of plans, and what the reference page says of the key.
macro_rules! launch_flags {
    ($( $(#[$about:meta])* $flag:ident: $key:literal, $word:literal, $doc:literal; )*) => {
        /// A flag, which a launch asks of the driver or does not.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum LaunchFlag { $( $(#[$about])* $flag, )* }

        impl LaunchFlag {
            /// Every flag.
            pub const ALL: &'static [LaunchFlag] = &[ $( LaunchFlag::$flag, )* ];

            /// The key in package files and records, and the keyword of launches in kernels.
            pub const fn key(self) -> &'static str {
                match self { $( LaunchFlag::$flag => $key, )* }
            }

            /// The word in the text of plans.
            pub const fn word(self) -> &'static str {
                match self { $( LaunchFlag::$flag => $word, )* }
            }

            /// The meaning of the key, for people.
            pub const fn doc(self) -> &'static str {
                match self { $( LaunchFlag::$flag => $doc, )* }
            }
        }
    };
}

launch_flags! {
    /// All blocks run at once.
    Cooperative: "cooperative", "cooperative", "`True` where all blocks have to run at once.";
    /// The kernel may start before the one before it in the stream has ended (programmatic
    /// dependent launch).
    Dependent: "pdl", "dependent",
        "`True` where the kernel may begin before the one in front of it has ended; or a tuple of \
         the names of tensors that this one has not written, `(\"w\",)`, which are read without \
         waiting for it.";
}

/// The flags that a launch has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchFlags {
    /// A bit for each.
    bits: u32,
}

impl LaunchFlags {
    /// Asks for each flag, in their order, whether a launch has it. The others are asked for also
    /// behind one that has no answer.
    ///
    /// # Errors
    /// Why the first one has none.
    pub fn ask<E>(mut has: impl FnMut(LaunchFlag) -> Result<bool, E>) -> Result<LaunchFlags, E> {
        let ask = |flag: &LaunchFlag| has(*flag).map(|has| has.then_some(*flag));
        let answers: Vec<_> = LaunchFlag::ALL.iter().map(ask).collect();
        answers.into_iter().filter_map(Result::transpose).collect()
    }

    /// Whether the flag is among them.
    pub fn has(self, flag: LaunchFlag) -> bool {
        self.bits & (1 << flag as u32) != 0
    }

    /// The flags, in their order.
    pub fn iter(self) -> impl Iterator<Item = LaunchFlag> {
        LaunchFlag::ALL.iter().copied().filter(move |flag| self.has(*flag))
    }
}

impl FromIterator<LaunchFlag> for LaunchFlags {
    fn from_iter<I: IntoIterator<Item = LaunchFlag>>(flags: I) -> LaunchFlags {
        let bits = flags.into_iter().fold(0, |bits, flag| bits | 1 << flag as u32);
        LaunchFlags { bits }
    }
}
