// SPDX-License-Identifier: Apache-2.0
//! The hosts that there are packages for, as cargo and as the program name them.

use crate::problem::Problem;

/// A host, which the calling program runs on.
#[derive(Debug, PartialEq, Eq)]
pub struct Host {
    /// The name in cargo's variable `TARGET`.
    pub triple: &'static str,
    /// The name after the program's option `--target`.
    pub name: &'static str,
}

/// All of them.
const HOSTS: [Host; 2] = [
    Host { triple: "x86_64-unknown-linux-gnu", name: "x86_64-linux-gnu" },
    Host { triple: "aarch64-unknown-linux-gnu", name: "aarch64-linux-gnu" },
];

impl Host {
    /// The host of that triple.
    pub fn of_triple(triple: &str) -> Result<&'static Host, Problem> {
        let found = HOSTS.iter().find(|host| host.triple == triple);
        found.ok_or_else(|| Problem::Host {
            triple: triple.to_string(),
            known: HOSTS.each_ref().map(|host| format!("`{}`", host.triple)).join(" and "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Host;
    use expect_test::expect;

    #[test]
    fn a_host_has_two_names() {
        let host = Host::of_triple("aarch64-unknown-linux-gnu").unwrap();
        assert_eq!(host.name, "aarch64-linux-gnu");
    }

    #[test]
    fn another_target_is_refused_with_those_that_there_are() {
        let problem = Host::of_triple("x86_64-unknown-linux-musl").unwrap_err();
        expect![[r#"
            there are no packages for the target `x86_64-unknown-linux-musl`
            help: there are for `x86_64-unknown-linux-gnu` and `aarch64-unknown-linux-gnu`"#]]
        .assert_eq(&problem.to_string());
    }
}
