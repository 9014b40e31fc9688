// SPDX-License-Identifier: Apache-2.0
//! Launches as they are written, made whole before anything is planned: with what Triton's JSON
//! says of a cubin (`triton_launch.rs`), and with what the kernels that are written here become for
//! them (`kernel_launch.rs`). Behind it, a launch is one like any other.

use crate::file::Files;
use crate::kernel_launch::{KernelPools, PooledKernels, PooledLaunch};
use crate::package::{Function, Launch, Package, WrittenLaunch, WrittenPackage};
use crate::triton_launch;
use kernpack_syntax::Diagnostics;
use kernpack_validators::When;

/// A package of which every launch is whole.
#[derive(Debug)]
pub struct Settled {
    /// The package, without the functions that are not sound.
    pub package: Package,
    /// Functions in which something is wrong, with those launches of which all is known. Only their
    /// sources count.
    pub unsound: Vec<Function>,
}

/// A function while not all kernels of the package's files are known.
struct Settling {
    /// The function, without its launches.
    function: Function,
    launches: Vec<SettlingLaunch>,
    /// Whether nothing is wrong with it.
    is_sound: bool,
}

/// A launch that is whole, or lacks only what other launches need.
enum SettlingLaunch {
    Whole(Launch),
    Pooled(PooledLaunch),
}

/// Settles a package, and functions in which something is wrong already. What cannot be made whole
/// is a problem; its function is not sound then.
pub fn settle(
    package: &WrittenPackage,
    unsound: &[Function<WrittenLaunch>],
    files: &mut Files<'_>,
    problems: &mut Diagnostics,
) -> Settled {
    let mut pools = KernelPools::default();
    let settling = |function| settle_function(function, &mut pools, files, problems);
    let functions: Vec<Settling> = package.functions.iter().map(settling).collect();
    let others = unsound.iter().map(|function| whole_launches(function, files, problems));
    let others: Vec<Function> = others.collect();
    problems.extend(pools.warnings());

    let kernels = pools.into_kernels();
    let (sound, unsound): (Vec<_>, Vec<_>) = functions.into_iter().partition(|one| one.is_sound);
    let whole = |function: Settling| function.whole(&kernels);
    let functions = sound.into_iter().map(whole).collect();
    let unsound = unsound.into_iter().map(whole).chain(others).collect();
    Settled { package: Package { functions, ..package.without_functions() }, unsound }
}

fn settle_function(
    function: &Function<WrittenLaunch>,
    pools: &mut KernelPools,
    files: &mut Files<'_>,
    problems: &mut Diagnostics,
) -> Settling {
    let n_problems = problems.0.len();
    let (mut settled, mut launches) = (function.without_launches(), Vec::new());
    let whens: Vec<_> = function.launches.iter().map(WrittenLaunch::when).collect();
    for (index, written) in function.launches.iter().enumerate() {
        let place = (index, &whens[..]);
        match settle_launch(&mut settled, place, written, (&mut *pools, &mut *files)) {
            Ok(settled) => launches.extend(settled),
            Err(found) => problems.extend(found),
        }
    }
    Settling { function: settled, launches, is_sound: problems.0.len() == n_problems }
}

/// Settles the launch of that number, of those that run at these times.
fn settle_launch(
    function: &mut Function,
    place: (usize, &[&When]),
    written: &WrittenLaunch,
    (pools, files): (&mut KernelPools, &mut Files<'_>),
) -> Result<Vec<SettlingLaunch>, Diagnostics> {
    let pooled = match written {
        WrittenLaunch::Whole(launch) => return Ok(vec![SettlingLaunch::Whole(launch.clone())]),
        WrittenLaunch::Triton(written) => {
            let launch = triton_launch::settle(function, place, written, files);
            let launch = launch.map_err(|error| error.diagnostic(&function.signature.name, []))?;
            return Ok(vec![SettlingLaunch::Whole(launch)]);
        }
        WrittenLaunch::Kernel(written) => pools.settle_written(written, function, place, files)?,
        WrittenLaunch::Packed(written) => pools.settle_packed(written, files)?,
    };
    Ok(pooled.into_iter().map(SettlingLaunch::Pooled).collect())
}

impl Settling {
    /// The function with its launches.
    fn whole(self, kernels: &PooledKernels) -> Function {
        let whole = |launch| match launch {
            SettlingLaunch::Whole(launch) => launch,
            SettlingLaunch::Pooled(launch) => launch.whole(kernels),
        };
        let launches = self.launches.into_iter().map(whole).collect();
        Function { launches, ..self.function }
    }
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
