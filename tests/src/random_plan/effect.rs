// SPDX-License-Identifier: Apache-2.0
//! What accepted calls of random plans do.

use super::Generator;
use crate::subject::Subject;
use kernpack_ffi_abi::{DType, DeviceType};
use kernpack_syntax::{Diagnostics, Texts};
use kernpack_validators::plan::{
    self, Alloc, AllocDim, Arith, CScalar, Device, Expr, Grid, Launch, LaunchArg, Status,
    TensorMap, Type, Value,
};
use kernpack_validators::{
    self as validators, Geometry, LaunchFlag, LaunchFlags, LaunchSpec, MapChoices, Returns,
    Signature, When, parse_kernel_name,
};

const INTS: [DType; 9] = [
    DType::INT8,
    DType::INT16,
    DType::INT32,
    DType::INT64,
    DType::UINT8,
    DType::UINT16,
    DType::UINT32,
    DType::UINT64,
    DType::BOOL,
];
const FLOATS: [DType; 4] = [DType::FLOAT16, DType::BFLOAT16, DType::FLOAT32, DType::FLOAT64];
/// `CU_TENSOR_MAP_DATA_TYPE_FLOAT32`
const MAP_OF_FLOATS: i64 = 7;

impl Generator<'_> {
    /// Adds what an accepted call does; the function, with what its kernels return.
    pub fn effects(mut self) -> Subject {
        let kind = if self.on_gpu { DeviceType::CUDA } else { DeviceType::CPU };
        self.plan.device = Device {
            kind: self.constant(kind.0.into()),
            index: self.constant(0),
            is_told: self.add(Expr::Bool(true)),
        };
        self.plan.results = self.allocs();
        self.plan.workspaces = self.allocs();
        let signature = self.combinations();
        let (mut launches, mut statuses) = (Vec::new(), Vec::new());
        let n_launches = self.rng.below(4).max(usize::from(self.on_gpu));
        for number in 0..n_launches {
            let on_gpu = self.on_gpu && (number == 0 || self.rng.sixteenths(8));
            let launch = self.launch(number, on_gpu, &mut statuses);
            launches.push(self.described(number, &launch));
            self.plan.launches.push(launch);
        }
        let (texts, workspaces, notes) = (Texts::default(), vec![], Diagnostics::default());
        Subject { texts, signature, workspaces, launches, statuses, plan: Ok(self.plan), notes }
    }

    fn allocs(&mut self) -> Vec<Alloc> {
        let mut allocs = Vec::new();
        for _ in 0..self.rng.below(3) {
            let dims = (0..self.rng.below(3)).map(|_| self.alloc_dim()).collect();
            let (name, bytes) = (self.name(), self.small(1));
            let dtype = self.constant(DType::FLOAT32.packed().into());
            let align = 1 << self.rng.below(9);
            allocs.push(Alloc { name, dims, bytes, dtype, align });
        }
        allocs
    }

    fn alloc_dim(&mut self) -> AllocDim {
        match self.scope.blocks.is_empty() || self.rng.sixteenths(10) {
            true => AllocDim::One(self.small(1)),
            false => {
                let (start, step) = (self.rng.pick(&self.scope.blocks), self.rng.pick(&[0, 8, 16]));
                AllocDim::Many { count: self.small(1), start, step: self.constant(step) }
            }
        }
    }

    /// Dtype variables, at times. What declares them is the signature, of which only that is used.
    fn combinations(&mut self) -> Signature {
        let name = self.plan.name.clone();
        if !self.rng.sixteenths(4) {
            return Signature::new(name);
        }
        let dtypes = [DType::INT8, DType::FLOAT16, DType::FLOAT32];
        let n_rows = 1 + self.rng.below(dtypes.len());
        let (number, n_rows_value) = (self.int(2), self.constant(n_rows as i64));
        let index = self.add(Expr::Arith(Arith::Mod, number, n_rows_value));
        let combinations = &mut self.plan.combinations;
        combinations.vars = vec!["T".to_string()];
        combinations.rows = dtypes[..n_rows].iter().map(|dtype| vec![*dtype]).collect();
        combinations.index = Some(index);
        let text = format!("{name}(x: Tensor([n], T)) where T in {{int8, float16, float32}}");
        text.parse().expect("this is a signature")
    }

    fn launch(&mut self, index: usize, on_gpu: bool, statuses: &mut Vec<Option<i32>>) -> Launch {
        let cond = if self.rng.sixteenths(8) { Some(self.truth(3)) } else { None };
        let n_args = self.rng.below(9);
        let mut args: Vec<_> = (0..n_args).map(|_| self.arg(on_gpu)).collect();
        // So that a call tells what its steps have handed on.
        let is_yield = |int: &Value| matches!(self.plan.expr(*int), Expr::Yield(..));
        let yielded = self.scope.ints.iter().copied().filter(is_yield).take(4);
        args.extend(yielded.map(|int| LaunchArg::Value(int, CScalar::Int(DType::INT64))));
        let has_status = !on_gpu && self.rng.sixteenths(5);
        statuses.push(has_status.then(|| self.rng.pick(&[0, 0, 0, 1, -7])));
        let site = match on_gpu {
            true => plan::Site::Gpu(self.grid()),
            false => plan::Site::Host(has_status.then(|| self.status())),
        };
        Launch { cond, rows: self.rows(), index, args, site }
    }

    /// The combinations of dtypes that a launch has kernels for: any of them, but one at least.
    fn rows(&mut self) -> Vec<usize> {
        let n_rows = self.plan.combinations.rows.len();
        let mut rows: Vec<_> = (0..n_rows).filter(|_| self.rng.sixteenths(12)).collect();
        if rows.is_empty() && n_rows > 0 {
            rows.push(self.rng.below(n_rows));
        }
        rows
    }

    fn status(&mut self) -> Status {
        let value = self.given(Expr::Yield, Type::Int);
        let shown = [value, self.int(2)];
        Status { value, fault: self.fault(&shown) }
    }

    fn grid(&mut self) -> Grid {
        let one = self.constant(1);
        Grid {
            grid: [self.small(1), self.small(1), one],
            block: [self.constant(32), one, one],
            cluster: None,
            shared: self.small(1),
            flags: self.flags(),
            priority: None,
            stream: None,
        }
    }

    /// Flags of a launch of any number of blocks: all of those that are cooperative have to fit on
    /// the device.
    fn flags(&mut self) -> LaunchFlags {
        let flags = LaunchFlag::ALL.iter().filter(|flag| **flag != LaunchFlag::Cooperative);
        flags.copied().filter(|_| self.rng.sixteenths(4)).collect()
    }

    fn arg(&mut self, on_gpu: bool) -> LaunchArg {
        match self.rng.below(12) {
            0 if on_gpu => LaunchArg::TensorMap(Box::new(self.map())),
            1 if on_gpu => LaunchArg::AssertRecord,
            0 | 1 if !on_gpu => {
                let n_fields = 1 + self.rng.below(5);
                let field = |generator: &mut Self| match generator.rng.sixteenths(2) {
                    true => LaunchArg::Struct(vec![generator.scalar(), generator.scalar()]),
                    false => generator.scalar(),
                };
                LaunchArg::Struct((0..n_fields).map(|_| field(self)).collect())
            }
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> LaunchArg {
        let (n_results, n_workspaces) = (self.plan.results.len(), self.plan.workspaces.len());
        match self.rng.below(10) {
            0 if n_results > 0 => LaunchArg::Result(self.rng.below(n_results)),
            1 if n_workspaces > 0 => LaunchArg::Workspace(self.rng.below(n_workspaces)),
            2 => LaunchArg::EnvStream,
            3 => LaunchArg::Value(self.int(2), CScalar::Pointer),
            4..=6 => {
                let dtype = self.rng.pick(&FLOATS);
                LaunchArg::Value(self.float(dtype), CScalar::Float(dtype))
            }
            _ => {
                let dtype = self.rng.pick(&INTS);
                let value = self.int(2);
                let value = if dtype == DType::BOOL { self.bit(value) } else { value };
                LaunchArg::Value(value, CScalar::Int(dtype))
            }
        }
    }

    /// The bits of a float. What the kernels here tell of a half that is no number is not its bits.
    fn float(&mut self, dtype: DType) -> Value {
        let value = self.int(2);
        match dtype {
            DType::FLOAT16 | DType::BFLOAT16 => self.add(Expr::FloatBits(value)),
            _ => value,
        }
    }

    /// C has only these two values of `bool`.
    fn bit(&mut self, value: Value) -> Value {
        let one = self.constant(1);
        self.add(Expr::Arith(Arith::BitAnd, value, one))
    }

    /// A map that the driver takes: of rows of 64 floats, some of them.
    fn map(&mut self) -> TensorMap {
        let (bytes, columns, one) = (self.constant(256), self.constant(64), self.constant(1));
        let (row, rows) = (self.small(1), self.small(1));
        let rows = self.add(Expr::Arith(Arith::Add, rows, one));
        let row = self.add(Expr::Arith(Arith::Add, row, one));
        let address = self.add(Expr::Arith(Arith::Mul, row, bytes));
        TensorMap {
            tensor: "x".to_string(),
            base: LaunchArg::Value(address, CScalar::Pointer),
            data_type: self.constant(MAP_OF_FLOATS),
            dims: vec![columns, rows],
            strides: vec![bytes],
            box_dims: vec![16, 1],
            steps: vec![1, 1],
            choices: MapChoices { swizzle: self.rng.pick(&[0, 64, 128]), ..MapChoices::default() },
        }
    }

    /// The launch as a package file would have it, as far as that matters.
    fn described(&self, number: usize, launch: &Launch) -> LaunchSpec {
        let kernel = parse_kernel_name(&format!("{}_{number}", self.plan.name));
        let site = match &launch.site {
            plan::Site::Host(None) => validators::Site::Host(Returns::Void),
            plan::Site::Host(Some(_)) => validators::Site::Host(Returns::Status),
            plan::Site::Gpu(_) => {
                let one = || vec![validators::Expr::Int(1)];
                validators::Site::Gpu(Geometry::new(one(), one()).into())
            }
        };
        LaunchSpec { when: When::Always, kernel: kernel.expect("a name"), args: vec![], site }
    }
}
