// SPDX-License-Identifier: Apache-2.0
//! The program `kernpack`. All of it is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    kernpack_cli::main(std::env::args_os()).into()
}
