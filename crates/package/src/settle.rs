// SPDX-License-Identifier: Apache-2.0
//! Launches as they are written, made whole before anything is planned: with what Triton's JSON
//! says of a cubin (`triton_launch.rs`), and with what the kernels that are written here become for
//! them (`kernel_launch.rs`). Behind it, a launch is one like any other.

use crate::file::Files;
use crate::kernel_launch::KernelPools;
use crate::package::{Function, Package, WrittenLaunch, WrittenPackage};
use crate::triton_launch;
use kernpack_syntax::Diagnostics;

/// A package of which every launch is whole.
#[derive(Debug)]
pub struct Settled {
    /// The package, without the functions that are not sound.
    pub package: Package,
    /// Functions in which something is wrong, with those launches of which all is known. Only their
    /// sources count.
    pub unsound: Vec<Function>,
}

/// Settles a package, and functions in which something is wrong already. What cannot be made whole
/// is a problem; its function is not sound then.
pub fn settle(
    package: &WrittenPackage,
    unsound: &[Function<WrittenLaunch>],
    files: &mut Files<'_>,
    problems: &mut Diagnostics,
) -> Settled {
    let mut settled = Settled { package: package.without_functions(), unsound: vec![] };
    let mut pools = KernelPools::default();
    for function in &package.functions {
        let n_problems = problems.0.len();
        let function = settle_function(function, &mut pools, files, problems);
        match problems.0.len() == n_problems {
            true => settled.package.functions.push(function),
            false => settled.unsound.push(function),
        }
    }
    for function in unsound {
        settled.unsound.push(whole_launches(function, files, problems));
    }
    problems.extend(pools.warnings());
    pools.complete(settled.package.functions.iter_mut().chain(&mut settled.unsound));
    settled
}

fn settle_function(
    function: &Function<WrittenLaunch>,
    pools: &mut KernelPools,
    files: &mut Files<'_>,
    problems: &mut Diagnostics,
) -> Function {
    let mut settled = function.without_launches();
    let whens: Vec<_> = function.launches.iter().map(WrittenLaunch::when).collect();
    for (index, written) in function.launches.iter().enumerate() {
        let place = (index, &whens[..]);
        let launches = match written {
            WrittenLaunch::Whole(launch) => Ok(vec![launch.clone()]),
            WrittenLaunch::Triton(written) => {
                let launch = triton_launch::settle(&mut settled, place, written, files);
                let name = &function.signature.name;
                launch.map(|one| vec![one]).map_err(|error| error.diagnostic(name, []).into())
            }
            WrittenLaunch::Kernel(written) => pools.settle_written(written, &settled, place, files),
            WrittenLaunch::Packed(written) => pools.settle_packed(written, files),
        };
        match launches {
            Ok(launches) => settled.launches.extend(launches),
            Err(found) => problems.extend(found),
        }
    }
    settled
}

/// The launches that are whole as they are written. Of the others, which may be wrong, only the
/// files are looked at.
fn whole_launches(
    function: &Function<WrittenLaunch>,
    files: &mut Files<'_>,
    problems: &mut Diagnostics,
) -> Function {
    let mut settled = function.without_launches();
    for launch in &function.launches {
        match launch {
            WrittenLaunch::Whole(launch) => settled.launches.push(launch.clone()),
            WrittenLaunch::Triton(launch) => {
                let error = triton_launch::check_files(launch, files).err();
                problems.extend(error.map(|error| error.diagnostic(&function.signature.name, [])));
            }
            WrittenLaunch::Kernel(_) | WrittenLaunch::Packed(_) => {}
        }
    }
    settled
}
