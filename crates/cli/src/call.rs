// SPDX-License-Identifier: Apache-2.0
//! A call as the command line says it: what `kernpack run` makes, and `kernpack bench` measures.

use crate::input;
use crate::npy::Npy;
use crate::package_file::PackageFile;
use anyhow::{Context, anyhow};
use clap::Args;
use kernpack_package::interpret::{Array, Fill, Wanted};
use kernpack_process::memory;
use std::io::Read;
use std::path::Path;

/// The arguments of a command about a call.
#[derive(Args, Debug)]
pub struct Call {
    #[command(flatten)]
    pub package_file: PackageFile,
    /// The function.
    pub function: String,
    /// What its arguments are: dims, dtypes and scalars by their names, as in m=8 T=float16
    /// eps=0.1; w=None leaves an Optional out, and b=2,3 are the dims of a star. Launches that ask
    /// of the device are told of the GPU that runs them, and on the interpreter alone
    /// device.sm_count=132 device.smem_optin=232448 device.cc=90, unless other numbers stand here.
    /// A tensor is x=@x.npy: what the file of NumPy's holds, of its dtype, shape and order.
    #[arg(value_name = "NAME=VALUE", value_parser = parse_value)]
    pub values: Vec<(String, String)>,
    /// What tensors hold: random, count, zeros, ones or a number; with a name in front, as in
    /// x=ones, only that one. May be repeated.
    #[arg(long, value_name = "[NAME=]FILL", value_parser = parse_fill)]
    pub fill: Vec<(Option<String>, Fill)>,
    /// How much memory the call may take, such as 800MiB or 16GiB: half of what the machine has,
    /// unless it stands here.
    #[arg(long, value_name = "AMOUNT", value_parser = memory::parse)]
    pub memory: Option<u64>,
    /// What random numbers begin with, and the order in which warps and blocks run.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

impl Call {
    /// The call that is wanted.
    pub fn wanted(&self) -> anyhow::Result<Wanted> {
        let is_file = |(_, value): &&(String, String)| value.starts_with('@');
        let (files, values): (Vec<_>, Vec<_>) = self.values.iter().partition(is_file);
        let arrays = files.into_iter().map(|(name, path)| {
            let array = read_array(Path::new(path.trim_start_matches('@')))?;
            Ok::<_, anyhow::Error>((name.clone(), array))
        });
        Ok(Wanted {
            function: self.function.clone(),
            values: values.into_iter().cloned().collect(),
            arrays: arrays.collect::<Result<_, _>>()?,
            fill: self.fill.clone(),
            seed: self.seed,
            most_memory: self.memory.or_else(memory::usual),
            ..Wanted::default()
        })
    }
}

/// A name with a value.
pub fn parse_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_string(), value.trim().to_string())),
        None => Err(format!("expected a name with a value, such as `n=100`, found `{text}`")),
    }
}

fn parse_fill(text: &str) -> Result<(Option<String>, Fill), String> {
    match text.split_once('=') {
        Some((name, fill)) => Ok((Some(name.to_string()), fill.parse()?)),
        None => Ok((None, text.parse()?)),
    }
}

/// The array of a file of NumPy's.
fn read_array(path: &Path) -> anyhow::Result<Array> {
    let mut file = Vec::new();
    let read = input::open(path)?.read_to_end(&mut file);
    read.with_context(|| format!("cannot read `{}`", path.display()))?;
    let array = Npy::read(&file);
    let array = array.map_err(|problem| anyhow!("`{}` {problem}", path.display()))?;
    let origin = path.display().to_string();
    let strides = array.strides();
    let Npy { dtype, shape, bytes, .. } = array;
    Ok(Array { origin, dtype, shape, strides, bytes })
}
