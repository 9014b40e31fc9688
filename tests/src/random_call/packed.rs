// SPDX-License-Identifier: Apache-2.0
//! Random packed functions: `if`s over what a signature has, with a launch on each side. A launch
//! is told by its grid.

use super::rule::Names;
use super::signature::Drawn;
use crate::random_plan::Rng;
use kernpack_validators::{Branch, When, parse_when};

/// How deep `if`s stand in one another.
const DEPTH: usize = 3;

/// The body of a packed function.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// The launch of that number.
    Launch(usize),
    /// A condition as rules have it, and the sides where it holds and where it does not.
    If(String, Box<Body>, Box<Body>),
}

impl Body {
    /// A body of a signature's function.
    pub fn new(rng: &mut Rng, names: &Names) -> Body {
        Body::at(rng, names, DEPTH, &mut 0)
    }

    fn at(rng: &mut Rng, names: &Names, depth: usize, n_launches: &mut usize) -> Body {
        if depth == 0 || (depth < DEPTH && rng.sixteenths(5)) {
            *n_launches += 1;
            return Body::Launch(*n_launches);
        }
        let condition = names.rule(rng, false);
        let then = Body::at(rng, names, depth - 1, n_launches);
        let otherwise = Body::at(rng, names, depth - 1, n_launches);
        Body::If(condition, Box::new(then), Box::new(otherwise))
    }

    /// The file with the packed function, and the kernel that it launches.
    pub fn text(&self, drawn: &Drawn) -> String {
        let mut params: Vec<_> = drawn.params.iter().map(|(name, _)| *name).collect();
        params.extend(drawn.result.iter().map(|_| "r"));
        let params = params.join(", ");
        let mut text =
            format!("import kernpack as kp\n\n@kp.kernel\ndef kernel({params}):\n    pass\n\n");
        text += &format!("@kp.jit(\"{}\")\ndef f({params}):\n", drawn.text());
        self.write(&params, 1, &mut text);
        text
    }

    fn write(&self, params: &str, depth: usize, text: &mut String) {
        let indent = "    ".repeat(depth);
        match self {
            Body::Launch(number) => {
                *text += &format!("{indent}kernel({params}).launch(grid={number}, block=1)\n");
            }
            Body::If(condition, then, otherwise) => {
                *text += &format!("{indent}if {}:\n", python(condition));
                then.write(params, depth + 1, text);
                *text += &format!("{indent}else:\n");
                otherwise.write(params, depth + 1, text);
            }
        }
    }

    /// The launches, each with the sides of `if`s on which it stands, as they are written; nothing
    /// where one of them is no condition.
    pub fn ways(&self) -> Option<Vec<(usize, When)>> {
        let mut ways = Vec::new();
        self.add_ways(&mut Vec::new(), &mut ways)?;
        Some(ways)
    }

    fn add_ways(&self, way: &mut Vec<Branch>, ways: &mut Vec<(usize, When)>) -> Option<()> {
        match self {
            Body::Launch(number) => ways.push((*number, When::Branches(way.clone()))),
            Body::If(condition, then, otherwise) => {
                let When::Rules(mut rules) = parse_when(&condition[..]).ok()? else { return None };
                let rule = rules.pop()?;
                for (side, holds) in [(then, true), (otherwise, false)] {
                    way.push(Branch { rule: rule.clone(), holds });
                    side.add_ways(way, ways)?;
                    way.pop();
                }
            }
        }
        Some(())
    }
}

/// A condition as packed functions have it.
fn python(condition: &str) -> String {
    let text = condition.replace("aligned(", "kp.aligned(");
    let text = text.replace(".given == 1", " is not None").replace(".given == 0", " is None");
    text.replace('{', "(").replace('}', ")")
}
