// SPDX-License-Identifier: Apache-2.0
//! Output on a terminal.

use crate::bench::{Bench, KERNPACK};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::Read;
use std::process::Stdio;

/// The output on a terminal of a run of the program, whose standard error it is.
fn on_terminal(args: &[&str], variables: &[(&str, &str)]) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).expect("a terminal of ours");
    unlockpt(&controller).expect("a terminal of ours");
    let name = ptsname(&controller, Vec::new()).expect("a terminal of ours");
    let terminal = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty());
    let terminal = terminal.expect("a terminal of ours");
    let mut command = Bench::new().command(KERNPACK);
    command.current_dir("/").args(args).envs(variables.iter().copied());
    let ran = command.stdout(Stdio::null()).stderr(terminal).status();
    ran.expect("the program runs");
    // It holds the terminal's other end open.
    drop(command);
    let mut shown = Vec::new();
    // Where all of that is closed, reading ends in an error.
    let _ = File::from(controller).read_to_end(&mut shown);
    String::from_utf8(shown).expect("the program prints UTF-8")
}

#[test]
fn terminals_get_colours_unless_they_have_none_or_are_told_not_to() {
    for args in
        [&["plan", "f("][..], &["plan", "--no-such-option"], &["build", "none.toml", "-o", "a.so"]]
    {
        let has_colours = |variables: &[(&str, &str)]| {
            let shown = on_terminal(args, variables);
            assert!(shown.contains("error"), "{shown}");
            shown.contains('\u{1b}')
        };
        assert!(has_colours(&[("TERM", "xterm")]), "{args:?}");
        assert!(has_colours(&[("TERM", "xterm"), ("NO_COLOR", "")]), "{args:?}");
        assert!(!has_colours(&[("TERM", "xterm"), ("NO_COLOR", "1")]), "{args:?}");
        assert!(!has_colours(&[("TERM", "dumb")]), "{args:?}");
    }
}
