// SPDX-License-Identifier: Apache-2.0
//! The function that a case is about: a signature, with the workspaces and launches that follow it.

use crate::gpu_kernels::is_on_gpu;
use kernpack_ffi_abi::DeviceType;
use kernpack_syntax::{Diagnostic, Diagnostics, TextId, Texts};
use kernpack_validators::{LaunchSpec, Plan, Signature, Workspace};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A function under test.
#[derive(Debug)]
pub struct Subject {
    /// What the function is written in: the signature or kernel file, and the blocks behind it.
    pub texts: Texts,
    /// The signature.
    pub signature: Signature,
    /// What a call allocates for its launches.
    pub workspaces: Vec<Workspace>,
    /// What an accepted call runs.
    pub launches: Vec<LaunchSpec>,
    /// What the kernel of each launch returns; `None`: nothing.
    pub statuses: Vec<Option<i32>>,
    /// The plan, or what is wrong with the function.
    pub plan: Result<Plan, Diagnostics>,
    /// What it prints while it is built.
    pub notes: Diagnostics,
}

impl Subject {
    /// The function of that signature.
    pub fn new(text: &str) -> Subject {
        let mut texts = Texts::default();
        let id = texts.add("signature", text);
        let (signature, plan) = match Signature::parse(texts.snippet(id)) {
            Ok(signature) => (signature.clone(), planned(|| signature.plan(DeviceType::CPU))),
            Err(diagnostics) => (Signature::new("unreadable"), Err(diagnostics)),
        };
        let (workspaces, launches, statuses) = (vec![], vec![], vec![]);
        let notes = Diagnostics::default();
        Subject { texts, signature, workspaces, launches, statuses, plan, notes }
    }

    /// Adds a block about the function.
    pub fn add_text(&mut self, name: &str, text: &str) -> TextId {
        self.texts.add(name, text)
    }

    /// Plans the function again, after a launch or a workspace has been added. What is wrong with
    /// the signature remains.
    pub fn plan_again(&mut self) {
        if self.plan.is_ok() {
            self.plan = self.plan_of(&self.signature);
        }
    }

    /// The plan of the twin, which is passed the results: it has launches that no call of the
    /// function itself runs.
    pub fn plan_of_twin(&self) -> Option<Plan> {
        self.plan_of(&self.signature.out_variant()?).ok()
    }

    fn plan_of(&self, signature: &Signature) -> Result<Plan, Diagnostics> {
        let (workspaces, launches) = (&self.workspaces, &self.launches);
        let on_gpu = launches.iter().any(is_on_gpu);
        let device = if on_gpu { DeviceType::CUDA } else { DeviceType::CPU };
        planned(|| signature.plan_function(device, workspaces, launches))
    }

    /// The same function under another name, so that functions of one name fit one package.
    pub fn renamed(&self, name: String) -> Signature {
        Signature { name, ..self.signature.clone() }
    }

    /// Whether the printed signature reads back as the same one.
    pub fn reads_back(&self) -> bool {
        self.signature.to_string().parse().as_ref() == Ok(&self.signature)
    }
}

/// A plan, with a panic as a problem of that function alone: the other functions of a file are
/// still tested.
fn planned(plan: impl FnOnce() -> Result<Plan, Diagnostics>) -> Result<Plan, Diagnostics> {
    let panicked = |_| Err(Diagnostic::new("panic", "planning panicked, see above").into());
    catch_unwind(AssertUnwindSafe(plan)).unwrap_or_else(panicked)
}
