// SPDX-License-Identifier: Apache-2.0
//! The call's device: the one that the arguments tell, or else the one whose context is current. It
//! is found out once, and what launches ask of it is asked of that one: its attributes, and behind
//! them in memory how many blocks of a launch it holds at once.

use super::function::FunctionBuilder;
use super::import::call_runtime;
use kernpack_codegen::llvm::{Operation, Predicate, Ty, V};
use kernpack_runtime::interface::functions::{CUDA_BLOCKS, CUDA_CURRENT, CUDA_DEVICE, CUDA_PEER};
use kernpack_runtime::interface::layout::device_facts;
use kernpack_validators::plan::{AskBlocks, Device, DeviceFact, Expr, Launch};

// Plans read the facts as elements, and the runtime writes them as fields.
const _: () = {
    assert!(device_facts::SM_COUNT == 8 * DeviceFact::SmCount as u32);
    assert!(device_facts::SMEM_OPTIN == 8 * DeviceFact::SmemOptin as u32);
    assert!(device_facts::CC == 8 * DeviceFact::Cc as u32);
    assert!(device_facts::BYTES == 8 * DeviceFact::ALL.len() as u32);
};

impl<'f, 'c> FunctionBuilder<'f, 'c> {
    /// The number of the call's device.
    pub fn device_number(&mut self) -> V<'c> {
        if let Some(number) = self.device_number {
            return number;
        }
        let Device { index, is_told, .. } = self.plan.device;
        let number = match *self.plan.expr(is_told) {
            Expr::Bool(true) => self.value(index),
            Expr::Bool(false) => self.current_device(),
            _ => self.told_or_current_device(),
        };
        *self.device_number.insert(number)
    }

    fn told_or_current_device(&mut self) -> V<'c> {
        let e = self.e;
        let Device { index, is_told, .. } = self.plan.device;
        let (told, is_told) = (self.value(index), self.value(is_told));
        let (from, ask, behind) = (e.here(), self.block(), self.block());
        e.branch(is_told, behind, ask, Some(true));
        e.at(ask);
        let current = self.current_device();
        let asked = e.here();
        e.jump(behind);
        e.at(behind);
        e.phi(Ty::I64, &[(told, from), (current, asked)])
    }

    fn current_device(&mut self) -> V<'c> {
        let e = self.e;
        let at = e.stack(self.function, 8);
        let error = self.driver_error();
        let n_strings = call_runtime(e, CUDA_CURRENT, &[at, error]);
        self.leave_if_written(n_strings);
        e.sign_extend(e.load(Ty::I32, at))
    }

    /// Has the runtime see to it that kernels on the call's device reach those of its peers.
    pub(super) fn reach_peers(&mut self) {
        let e = self.e;
        for peer in &self.plan.peers {
            let (device, peer) = (self.device_number(), self.value(*peer));
            let is_own = e.compare(Predicate::EQ, peer, device);
            let is_none = e.compare(Predicate::SLT, peer, e.int(Ty::I64, 0));
            let is_reached = e.arith(Operation::Or, is_own, is_none);
            let (ask, behind) = (self.block(), self.block());
            e.branch(is_reached, behind, ask, Some(true));
            e.at(ask);
            let error = self.driver_error();
            let n_strings = call_runtime(e, CUDA_PEER, &[device, peer, error]);
            self.leave_if_written(n_strings);
            e.jump(behind);
            e.at(behind);
        }
    }

    /// Has the runtime write down what is known of the call's device.
    pub(super) fn ask_device(&mut self) {
        let e = self.e;
        let number = self.device_number();
        let answers = self.plan.asks_blocks().map(|asked| self.offset_of_answer(asked) + 8);
        let bytes = answers.max().unwrap_or(device_facts::BYTES);
        let facts = e.stack(self.function, bytes);
        let error = self.driver_error();
        let n_strings = call_runtime(e, CUDA_DEVICE, &[number, facts, error]);
        self.leave_if_written(n_strings);
        // Where an earlier check fails, there are none, and no message needs them.
        self.device = Some(facts);
    }

    /// Has the runtime write down how many blocks of a launch that runs the device holds at once.
    pub(super) fn ask_blocks(&mut self, asked: &AskBlocks) {
        let e = self.e;
        let facts = self.device.expect("a verified plan asks for the device first");
        let answer = e.offset_by(facts, self.offset_of_answer(asked));
        e.store(answer, e.int(Ty::I64, 0));
        let has_kernel = self.has_kernel(self.launch_asked(asked));
        let cond = asked.cond.map(|cond| self.value(cond));
        let runs = cond.into_iter().chain(has_kernel);
        let runs = runs.reduce(|a, b| e.arith(Operation::And, a, b));
        let behind = self.block();
        if let Some(runs) = runs {
            let ask = self.block();
            e.branch(runs, ask, behind, None);
            e.at(ask);
        }
        self.scoped(|builder| {
            let args = builder.blocks_asked(asked);
            let error = builder.driver_error();
            let [number, kernel, threads, shared] = args;
            let args = [number, kernel, threads, shared, answer, error];
            let n_strings = call_runtime(e, CUDA_BLOCKS, &args);
            builder.leave_if_written(n_strings);
        });
        e.jump(behind);
        e.at(behind);
    }

    /// The device, the kernel, its threads, and its bytes of dynamic shared memory.
    fn blocks_asked(&mut self, asked: &AskBlocks) -> [V<'c>; 4] {
        let e = self.e;
        let number = self.device_number();
        let kernel = self.kernel_asked(asked);
        let [x, y, z] = asked.block.map(|extent| self.value(extent));
        let threads = e.arith(Operation::Mul, e.arith(Operation::Mul, x, y), z);
        [number, kernel, threads, self.value(asked.shared)]
    }

    /// The number of the kernel of a launch, which the call's combination of dtypes may decide.
    fn kernel_asked(&mut self, asked: &AskBlocks) -> V<'c> {
        let (e, plan) = (self.e, self.plan);
        let numbers = self.kernels_asked.iter().find(|(launch, _)| *launch == asked.launch);
        let (_, numbers) = numbers.expect("every launch that is asked about has kernels");
        let numbers: Vec<_> = numbers.iter().map(|it| e.int(Ty::I32, *it as i64)).collect();
        let rows = &self.launch_asked(asked).rows;
        let mut rest = numbers.iter().zip(rows).skip(1);
        match plan.combinations.index {
            Some(index) if numbers.len() > 1 => {
                let index = self.value(index);
                rest.fold(numbers[0], |others, (number, row)| {
                    let is_it = e.compare(Predicate::EQ, index, e.int(Ty::I64, *row as i64));
                    e.select(is_it, *number, others)
                })
            }
            _ => {
                assert!(rest.next().is_none(), "without dtype variables there is one kernel");
                numbers[0]
            }
        }
    }

    /// Whether a launch has a kernel for the call's dtypes, where it has not one for all.
    pub(super) fn has_kernel(&mut self, launch: &Launch) -> Option<V<'c>> {
        let (e, plan) = (self.e, self.plan);
        let index = plan.combinations.index.filter(|_| !plan.has_every_kernel(launch))?;
        let index = self.value(index);
        let is = |row: &usize| e.compare(Predicate::EQ, index, e.int(Ty::I64, *row as i64));
        launch.rows.iter().map(is).reduce(|a, b| e.arith(Operation::Or, a, b))
    }

    fn launch_asked(&self, asked: &AskBlocks) -> &'f Launch {
        let mut launches = self.plan.launches.iter();
        let launch = launches.find(|launch| launch.index == asked.launch);
        launch.expect("a verified plan asks about launches that there are")
    }

    /// Where an answer lies behind the facts of the device.
    fn offset_of_answer(&self, asked: &AskBlocks) -> u32 {
        match self.plan.expr(asked.answer) {
            Expr::Element(_, index) => 8 * index,
            _ => unreachable!("a verified plan has the answers as elements"),
        }
    }
}
