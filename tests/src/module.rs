// SPDX-License-Identifier: Apache-2.0
//! Functions compiled into one module and loaded into this process, to be called as hosts do.
#![expect(unsafe_code, reason = "loads generated code and calls it")]

use crate::callee::{Accepted, Callee, Launched, Outcome, Refused};
use crate::cuda_host::Host;
use crate::cuda_stub::Stub;
use crate::fake_ffi;
use crate::gpu_kernels;
use crate::kernels;
use crate::memory::Arguments;
use crate::subject::Subject;
use kernpack_codegen::link::{SharedOptions, link_shared};
use kernpack_compiler::{Options, compile_plans};
use kernpack_ffi_abi::FUNCTION_PREFIX;
use kernpack_ffi_abi::layout::Any;
use kernpack_package::{Function, HostSource, Launch, Package, Site, Target};
use kernpack_validators::plan::Launch as PlanLaunch;
use kernpack_validators::{self as validators, Plan};
use libloading::Library;
use std::collections::HashMap;
use std::error::Error;
use std::ffi::c_void;
use std::path::Path;

/// A TVM-FFI function.
type EntryPoint = unsafe extern "C" fn(*mut c_void, *const Any, i32, *mut Any) -> i32;

/// A loaded module with one entry point a function; one that has problems has none.
pub struct Module<'s> {
    library: Library,
    subjects: Vec<&'s Subject>,
    /// The driver, where there are kernels for a GPU: unloaded after the library, which unloads its
    /// images.
    stub: Option<Stub>,
}

impl<'s> Module<'s> {
    /// Compiles and loads the functions.
    ///
    /// # Errors
    /// Where they do not compile_plans, link or load.
    pub fn build(subjects: &[&'s Subject]) -> Result<Module<'s>, Box<dyn Error>> {
        Module::build_plans(subjects, &HashMap::new())
    }

    /// The same, where these plans, by the names that functions have here, are not what the
    /// signatures say.
    ///
    /// # Errors
    /// Where they do not compile_plans, link or load.
    pub fn build_plans(
        subjects: &[&'s Subject],
        plans: &HashMap<String, Plan>,
    ) -> Result<Module<'s>, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let package = package(subjects, folder.path())?;
        let path = folder.path().join("suite.so");
        // Linked without a question where the kernels find what records their calls: it is part of
        // this program.
        let object = compile_plans(&package, plans, &Options::default())?.object;
        let target = Target::host().elf;
        std::fs::write(&path, link_shared(target, &object, &SharedOptions::default())?)?;
        assert!(fake_ffi::exports().iter().all(|address| *address != 0));
        let on_gpu =
            subjects.iter().any(|subject| subject.launches.iter().any(gpu_kernels::is_on_gpu));
        let stub = on_gpu.then(|| {
            let stub = Stub::load("devices 1");
            // The device of calls without tensors.
            let host = Host::new();
            host.set_current(host.primary(0));
            stub
        });
        // SAFETY: the module was just compiled; loading it runs nothing.
        let library = unsafe { Library::new(&path) }?;
        Ok(Module { library, subjects: subjects.to_vec(), stub })
    }

    /// The entry point of a function that has no problems.
    pub fn callee(&self, number: usize) -> Compiled<'_> {
        let subject = self.subjects[number];
        let plan = subject.plan.as_ref().expect("the function has no problems");
        let symbol = format!("{FUNCTION_PREFIX}{}", name(number));
        // SAFETY: the compiler gives every entry point this type.
        let entry = unsafe { self.library.get::<EntryPoint>(symbol.as_bytes()) };
        let entry = *entry.unwrap_or_else(|error| panic!("{error}"));
        let renamed = subject.renamed(name(number)).short();
        let short = subject.signature.short();
        Compiled { module: self, entry, symbol, plan, name: name(number), renamed, short }
    }
}

/// Signatures of a file may share a name, functions of a package may not.
pub fn name(number: usize) -> String {
    format!("f{number}")
}

fn package(subjects: &[&Subject], folder: &Path) -> Result<Package, Box<dyn Error>> {
    let (c, ptx) = (folder.join("kernels.c"), folder.join("kernels.ptx"));
    let (mut c_text, mut ptx_text) =
        (kernels::PRELUDE.to_string(), gpu_kernels::PRELUDE.to_string());
    let mut functions = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        let Ok(plan) = &subject.plan else { continue };
        let name = name(number);
        let twin = subject.plan_of_twin();
        let of_twin = twin.iter().flat_map(|twin| twin.launches.iter().map(move |one| (twin, one)));
        let is_own = |one: &PlanLaunch| plan.launches.iter().any(|own| own.index == one.index);
        let of_twin = of_twin.filter(|(_, launch)| !is_own(launch));
        for (plan, launch) in plan.launches.iter().map(|launch| (plan, launch)).chain(of_twin) {
            let status = subject.statuses[launch.index];
            match gpu_kernels::is_on_gpu(&subject.launches[launch.index]) {
                true => ptx_text += &gpu_kernels::text(&name, plan, launch),
                false => c_text += &kernels::source(&name, plan, launch, status),
            }
        }
        let launches = subject.launches.iter().enumerate().map(|(i, spec)| Launch {
            when: spec.when.clone(),
            kernel: kernels::name(&name, &subject.signature, i).into(),
            args: spec.args.clone(),
            site: match &spec.site {
                validators::Site::Host(returns) => {
                    Site::Host { source: HostSource::new(&c), returns: *returns }
                }
                validators::Site::Gpu(launch) => {
                    Site::Gpu { source: gpu_kernels::source(&ptx), launch: launch.clone() }
                }
            },
        });
        functions.push(Function {
            launches: launches.collect(),
            workspaces: subject.workspaces.clone(),
            ..Function::new(subject.renamed(name))
        });
    }
    std::fs::write(c, c_text)?;
    std::fs::write(ptx, ptx_text)?;
    Ok(Package::new("suite", functions))
}

/// A compiled entry point.
pub struct Compiled<'m> {
    /// Keeps the code loaded.
    module: &'m Module<'m>,
    entry: EntryPoint,
    symbol: String,
    plan: &'m Plan,
    name: String,
    /// The short forms of its signature: as it was compiled, and as it is written.
    renamed: String,
    short: String,
}

impl Compiled<'_> {
    /// A message with the names that the function and its kernels have in the suite.
    fn shown(&self, message: &str) -> String {
        let kernel = format!("`{}_", self.name);
        let message = message.replacen(&self.renamed, &self.short, 1);
        message.replacen(&kernel, &format!("`{}_", kernels::SHOWN_FUNCTION), 1)
    }
}

fn in_order(launches: &[Launched]) -> bool {
    launches.is_sorted_by_key(|launched| launched.number)
}

impl Callee for Compiled<'_> {
    fn name(&self) -> &'static str {
        "compiled"
    }

    fn call(&mut self, arguments: &Arguments) -> Outcome {
        let args: *const Any = std::ptr::with_exposed_provenance(arguments.address() as usize);
        let mut result = Any::default();
        fake_ffi::take_record();
        fake_ffi::enter(&self.symbol);
        if let Some(stub) = &self.module.stub {
            stub.take_log();
        }
        fake_ffi::set_stream(kernels::stream_of(self.plan));
        // SAFETY: the arguments follow the ABI, and the result is an empty value.
        let status =
            unsafe { (self.entry)(std::ptr::null_mut(), args, arguments.count(), &mut result) };
        fake_ffi::drop_result(&result);
        let mut record = fake_ffi::take_record();
        record.launches.iter_mut().for_each(|launched| kernels::decode(self.plan, launched));
        if let Some(stub) = &self.module.stub {
            let on_gpu = gpu_kernels::launched(&self.name, self.plan, &stub.take_log());
            // Each side has kept its own launches only, in order.
            if !in_order(&record.launches) || !in_order(&on_gpu) {
                return Outcome::Broken(format!("launches {:?}, {on_gpu:?}", record.launches));
            }
            record.launches.extend(on_gpu);
            record.launches.sort_by_key(|launched| launched.number);
        }
        match (status, record.error) {
            _ if !record.broken.is_empty() => Outcome::Broken(record.broken.join(", ")),
            (0, None) => {
                // Behind them come workspaces, as so many bytes.
                let n_results = self.plan.results.len();
                let results = record.allocated.into_iter().take(n_results).map(|it| it.shape);
                Outcome::Accepted(Accepted {
                    launches: record.launches,
                    results: results.collect(),
                })
            }
            (-1, Some((kind, message))) => {
                Outcome::Refused(Refused { fault: None, kind, message: self.shown(&message) })
            }
            (status, error) => Outcome::Broken(format!("returned {status} with error {error:?}")),
        }
    }
}
