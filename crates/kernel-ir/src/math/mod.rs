// SPDX-License-Identifier: Apache-2.0
//! Functions of floats that are computed with operations which every machine does alike, so that
//! all of them get the same bits. Each is a file of its own, in the form of
//! [`text`](crate::text), and says in its comments how large its error is.
//!
//! The rows of [`intrinsic`](crate::intrinsic) that stand for them name them. A function may call
//! rows, those that stand for other functions too, but not itself on any way.

use crate::expand::expand;
use crate::function::Function;
use crate::text::{Item, parse};
use std::sync::OnceLock;

/// A function, as text and as data.
struct Row {
    name: &'static str,
    text: &'static str,
    /// With the functions that it calls in it.
    expanded: OnceLock<Function>,
}

macro_rules! rows {
    ($( $name:literal, )*) => {
        static ROWS: [Row; [$( $name, )*].len()] = [$( Row {
            name: $name,
            text: include_str!(concat!($name, ".kir")),
            expanded: OnceLock::new(),
        }, )*];
    };
}

rows! {
    "cos",
    "erf",
    "exp",
    "exp2",
    "log",
    "log2",
    "pow",
    "rsqrt",
    "sin",
    "tanh",
}

/// The function of that name, without calls of other functions.
pub fn find(name: &str) -> Option<&'static Function> {
    let row = ROWS.iter().find(|row| row.name == name)?;
    Some(row.expanded.get_or_init(|| {
        let mut function = row.parse();
        expand(&mut function.kernel);
        function
    }))
}

impl Row {
    fn parse(&self) -> Function {
        match parse(&self.text.into()).map(<[Item; 1]>::try_from) {
            Ok(Ok([Item::Function(function)])) => function,
            Ok(_) => panic!("`{}.kir` is one function", self.name),
            Err(problems) => panic!("`{}.kir`: {problems}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intrinsic::{self, Meaning};
    use crate::op::{OpKind, Region};
    use crate::verify::verify_function;

    /// The functions that a region calls.
    fn called(region: &Region) -> Vec<&'static str> {
        let mut names = Vec::new();
        for op in &region.0 {
            if let OpKind::Call(call) = &op.kind
                && let Meaning::Expand(name) = call.intrinsic.meaning
            {
                names.push(name);
            }
            names.extend(op.kind.regions().flat_map(called));
        }
        names
    }

    #[test]
    fn no_function_calls_itself() {
        // Whoever calls one that ends, ends: in as many rounds as there are functions all do.
        let functions: Vec<_> = ROWS.iter().map(Row::parse).collect();
        let mut ending: Vec<&str> = Vec::new();
        for _ in &ROWS {
            let ends = |function: &&Function| {
                called(&function.kernel.body).iter().all(|name| ending.contains(name))
            };
            let next = functions.iter().filter(ends).map(|it| it.kernel.name.as_str());
            ending = next.collect();
        }
        assert_eq!(ending, ROWS.iter().map(|row| row.name).collect::<Vec<_>>());
    }

    #[test]
    fn each_has_a_row_of_its_types() {
        for row in &ROWS {
            let function = find(row.name).expect("it is in the table");
            assert_eq!(function.kernel.name, row.name);
            verify_function(&row.parse()).unwrap_or_else(|e| panic!("`{}`: {e}", row.name));
            verify_function(function).unwrap_or_else(|e| panic!("`{}`: {e}", row.name));
            let intrinsic = intrinsic::all()
                .find(|it| matches!(it.meaning, Meaning::Expand(name) if name == row.name))
                .unwrap_or_else(|| panic!("no row calls `{}`", row.name));
            let types: Vec<_> =
                function.kernel.params.iter().map(|param| Some(param.kind.ty())).collect();
            assert_eq!(types.len(), intrinsic.takes.len(), "`{}`", row.name);
            assert_eq!(intrinsic.result(&types), Some(function.ty), "`{}`", row.name);
        }
    }
}
