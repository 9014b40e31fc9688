// SPDX-License-Identifier: Apache-2.0
//! From a line of signature to a plan of checks.
//!
//! ```
//! use kernpack_ffi_abi::DeviceType;
//! use kernpack_validators::Signature;
//!
//! let text = "add_one(a: Tensor([n], float32), b: Tensor([n], float32, mut)) where n % 16 == 0";
//! let signature: Signature = text.parse().unwrap();
//! assert_eq!(signature.to_string(), text);
//! assert_eq!(signature.short(), "add_one(a: Tensor([n], float32), b: Tensor([n], float32))");
//!
//! let plan = signature.plan(DeviceType::CPU).unwrap();
//! assert!(plan.to_string().contains("require (a.shape[0] & 15) == 0"));
//! ```
//!
//! The way of a signature: [`parse`] reads it ([`param`] has the kinds, [`expr`], [`dim`] and
//! [`rule`] what stands between them); [`declare`] decides which use of each name binds it, and
//! finds what is wrong; [`planner`] lets the parameters append to one [`plan`], through the
//! [`check`]s, each of which knows its [`fault`]. The same signature can be built in Rust:
//!
//! ```
//! use kernpack_ffi_abi::DType;
//! use kernpack_validators::param::Tensor;
//! use kernpack_validators::{Comparison, Expr, Rule, RuleKind, Signature};
//!
//! let rule = RuleKind::Compare(Expr::symbol("n") % 16, Comparison::Eq, Expr::Int(0));
//! let signature = Signature::new("add_one")
//!     .param("a", Tensor::new(["n"], DType::FLOAT32))
//!     .param("b", Tensor::new(["n"], DType::FLOAT32).mutable())
//!     .rule(Rule::new(rule));
//! assert!(signature.resolve().is_ok());
//! ```
//!
//! # Where things live
//!
//! `parse/` reads a signature, and `spelling.rs` guesses what a wrong word was meant as. What is
//! read is a signature (`signature.rs`) of params, dims (`dim.rs`), expressions (`expr.rs`), rules
//! (`rule.rs`) and literals (`literal.rs`). `param/` has the kinds, one file each; `host_type.rs`
//! is what hosts pass for them, `description.rs` a signature as data, and `solution.rs` how hosts
//! find what its names stand for. `declare/` decides which use of each name binds it, and `path.rs`
//! says where in a call that is. `planner/` holds what parameters share while they plan themselves.
//! `check/` has the checks, one file each, and `fault.rs` the layout of every message.
//!
//! `launch/` has kernel arguments, hidden ones too, workspaces and `when` as written, and joins
//! them to a plan; `kernel_name.rs` reads names of kernels with `{T}` in them, `geometry.rs` is how
//! a launch on a GPU is laid out, `tensor_map.rs` tensor maps. `plan/` is the plan itself: builder,
//! verifier, printer, interpreter. `described/` has the interpreter check calls of which only types
//! and shapes are known.
//!
//! Invariants, besides those of ARCHITECTURE.md:
//! * parameters are not walked a second time: device, names and kernel arguments are recorded while
//!   a kind plans itself, so there is no second walk that could forget tuples.
//!
//! Not here: LLVM, kernels, IO, and any unsafe code.
#![forbid(unsafe_code)]

pub mod check;
mod count;
pub mod declare;
pub mod described;
pub mod description;
pub mod dim;
pub mod expr;
pub mod fault;
mod geometry;
pub mod host_type;
mod kernel_name;
mod launch;
mod literal;
pub mod param;
pub mod parse;
mod path;
pub mod plan;
pub mod planner;
pub mod rule;
mod signature;
pub mod solution;
mod spelling;
mod tensor_map;

pub use description::{Description, describe_workspace};
pub use dim::Dim;
pub use expr::Expr;
pub use geometry::{Geometry, LaunchFlag, LaunchFlags};
pub use host_type::HostType;
pub use kernel_name::{KernelName, NamePiece, parse_kernel_name};
pub use launch::{
    Branch, Constant, GpuLaunch, HiddenArg, KernelArg, LaunchSpec, NamedTensor, Number, Returns,
    Site, When, Workspace,
};
pub use literal::{Literal, float_text};
pub use parse::{parse_expr, parse_kernel_arg, parse_literal, parse_tensor, parse_when};
pub use path::Path;
pub use plan::Plan;
pub use rule::{Comparison, FloatSide, Known, KnownValue, Outcomes, Rule, RuleKind};
pub use signature::{Signature, SignatureResult};
pub use tensor_map::{MapChoices, MapSpec, data_type as map_data_type};
