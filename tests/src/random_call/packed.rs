// SPDX-License-Identifier: Apache-2.0
//! Random packed functions: `if`s over what a signature has, with a launch on each side, which may
//! be passed layouts. A launch is told by its grid.

use super::rule::Names;
use super::signature::Drawn;
use crate::random_plan::Rng;
use kernpack_validators::expr::{Expr, Field};
use kernpack_validators::{Branch, Rule, RuleKind, When, parse_expr, parse_when};

/// How deep `if`s stand in one another.
const DEPTH: usize = 3;

/// The body of a packed function.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// The launch of that number.
    Launch(usize),
    /// A condition as rules have it, and the sides where it holds and where it does not.
    If(String, Box<Body>, Box<Body>),
    /// A condition that is asserted, and what is behind it.
    Assert(String, Box<Body>),
}

/// A layout that a packed function makes and passes.
#[derive(Clone, Debug)]
pub(super) struct LayoutArg {
    extents: Vec<String>,
    /// The strides; those of a compact layout, the first mode fastest, where there are none.
    strides: Option<Vec<String>>,
}

impl LayoutArg {
    /// A layout of a signature's numbers, of which none of the extents is negative.
    pub fn new(rng: &mut Rng, names: &Names) -> LayoutArg {
        let of_tensors: Vec<_> = names.numbers.iter().filter(|name| name.contains('.')).collect();
        let shapes: Vec<_> = of_tensors.iter().filter(|name| name.contains(".shape[")).collect();
        let extent = |rng: &mut Rng| match (shapes.len(), rng.below(4)) {
            (0, _) | (_, 0) => rng.pick(&[1, 2, 4, 8]).to_string(),
            (n, 1) => format!("{}*{}", shapes[rng.below(n)], rng.pick(&[2, 4])),
            (n, _) => shapes[rng.below(n)].to_string(),
        };
        let stride = |rng: &mut Rng| match (of_tensors.len(), rng.below(4)) {
            (0, _) | (_, 0) => rng.pick(&[0, 1, 4, 16]).to_string(),
            (n, 1) => format!("{}*{}", of_tensors[rng.below(n)], rng.pick(&[2, 4])),
            (n, _) => of_tensors[rng.below(n)].to_string(),
        };
        let extents: Vec<_> = (0..1 + rng.below(3)).map(|_| extent(rng)).collect();
        let strides = rng.sixteenths(10).then(|| extents.iter().map(|_| stride(rng)).collect());
        LayoutArg { extents, strides }
    }

    /// As a packed function makes it.
    fn text(&self) -> String {
        let list = |texts: &[String]| format!("({},)", python(&texts.join(", ")));
        let strides = self.strides.as_ref().map(|strides| format!(", stride={}", list(strides)));
        format!("kp.make_layout({}{})", list(&self.extents), strides.unwrap_or_default())
    }

    /// The extent and the stride of each mode.
    pub fn modes(&self, drawn: &Drawn) -> Option<Vec<(Expr, Expr)>> {
        let read = |text: &String| Some(meant_number(&parse_expr(&text[..]).ok()?, drawn));
        let extents = self.extents.iter().map(read).collect::<Option<Vec<_>>>()?;
        let strides = match &self.strides {
            Some(strides) => strides.iter().map(read).collect::<Option<Vec<_>>>()?,
            None => {
                let inner = (0..extents.len()).map(|i| extents[..i].iter().cloned());
                inner.map(|inner| inner.fold(Expr::Int(1), |a, b| a * b)).collect()
            }
        };
        Some(extents.into_iter().zip(strides).collect())
    }
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

    /// The same with assertions; nothing where none was drawn.
    pub fn asserting(&self, rng: &mut Rng, names: &Names) -> Option<Body> {
        let mut n_asserted = 0;
        let body = self.with_assertions(rng, names, &mut n_asserted);
        (n_asserted > 0).then_some(body)
    }

    fn with_assertions(&self, rng: &mut Rng, names: &Names, n_asserted: &mut usize) -> Body {
        let is_asserted = rng.sixteenths(3).then(|| names.rule(rng, false));
        let body = match self {
            Body::If(condition, then, otherwise) => {
                let then = then.with_assertions(rng, names, n_asserted);
                let otherwise = otherwise.with_assertions(rng, names, n_asserted);
                Body::If(condition.clone(), Box::new(then), Box::new(otherwise))
            }
            other => other.clone(),
        };
        match is_asserted {
            Some(condition) => {
                *n_asserted += 1;
                Body::Assert(condition, Box::new(body))
            }
            None => body,
        }
    }

    /// The file with the packed function, and the kernel that it launches.
    pub fn text(&self, drawn: &Drawn) -> String {
        let mut params: Vec<_> = drawn.params.iter().map(|(name, _)| *name).collect();
        params.extend(drawn.result.iter().map(|_| "r"));
        params.extend(drawn.workspaces.iter().map(|(name, _)| *name));
        let params = params.join(", ");
        let layouts: Vec<_> = (0..drawn.layouts.len()).map(|i| format!("l{i}")).collect();
        let args = drawn.passed().map(str::to_string).chain(layouts.iter().cloned());
        let args = args.collect::<Vec<_>>().join(", ");
        let mut text =
            format!("import kernpack as kp\n\n@kp.kernel\ndef kernel({args}):\n    pass\n\n");
        let workspaces = drawn.workspaces.iter();
        let workspaces = workspaces.map(|(name, of)| format!("\"{name}\": \"{}\"", of.text()));
        let workspaces: Vec<_> = workspaces.collect();
        let workspaces = match &workspaces[..] {
            [] => String::new(),
            workspaces => format!(", workspace={{{}}}", workspaces.join(", ")),
        };
        let signature = drawn.text().replace('"', "\\\"");
        text += &format!("@kp.jit(\"{signature}\"{workspaces})\ndef f({params}):\n");
        for (name, layout) in layouts.iter().zip(&drawn.layouts) {
            text += &format!("    {name} = {}\n", layout.text());
        }
        self.write(&args, 1, &mut text);
        text
    }

    fn write(&self, args: &str, depth: usize, text: &mut String) {
        let indent = "    ".repeat(depth);
        match self {
            Body::Launch(number) => {
                *text += &format!("{indent}kernel({args}).launch(grid={number}, block=1)\n");
            }
            Body::If(condition, then, otherwise) => {
                *text += &format!("{indent}if {}:\n", python(condition));
                then.write(args, depth + 1, text);
                *text += &format!("{indent}else:\n");
                otherwise.write(args, depth + 1, text);
            }
            Body::Assert(condition, behind) => {
                *text += &format!("{indent}assert {}\n", python(condition));
                behind.write(args, depth, text);
            }
        }
    }

    /// The launches, each with the sides of `if`s on which it stands, as they are written; nothing
    /// where one of them is no condition.
    pub fn ways(&self, drawn: &Drawn) -> Option<Vec<(usize, When)>> {
        let mut ways = Vec::new();
        self.add_ways(drawn, &mut Vec::new(), &mut ways)?;
        Some(ways)
    }

    fn add_ways(
        &self,
        drawn: &Drawn,
        way: &mut Vec<Branch>,
        ways: &mut Vec<(usize, When)>,
    ) -> Option<()> {
        match self {
            Body::Launch(number) => ways.push((*number, When::Branches(way.clone()))),
            Body::If(condition, then, otherwise) => {
                let When::Rules(mut rules) = parse_when(&condition[..]).ok()? else { return None };
                let rule = meant(&rules.pop()?, drawn);
                for (side, holds) in [(then, true), (otherwise, false)] {
                    way.push(Branch { rule: rule.clone(), holds });
                    side.add_ways(drawn, way, ways)?;
                    way.pop();
                }
            }
            // A call in which it does not hold is refused.
            Body::Assert(_, behind) => behind.add_ways(drawn, way, ways)?,
        }
        Some(())
    }
}

/// A condition, with what strides of tensors are in packed functions: what the signature says.
fn meant(rule: &Rule, drawn: &Drawn) -> Rule {
    let all = |rules: &[Rule]| rules.iter().map(|rule| meant(rule, drawn)).collect();
    let kind = match &rule.kind {
        RuleKind::Compare(a, comparison, b) => {
            RuleKind::Compare(meant_number(a, drawn), *comparison, meant_number(b, drawn))
        }
        RuleKind::In(number, values) => RuleKind::In(meant_number(number, drawn), values.clone()),
        RuleKind::Not(rule) => RuleKind::Not(Box::new(meant(rule, drawn))),
        RuleKind::And(rules) => RuleKind::And(all(rules)),
        RuleKind::Or(rules) => RuleKind::Or(all(rules)),
        other => other.clone(),
    };
    Rule { kind, span: rule.span }
}

fn meant_number(number: &Expr, drawn: &Drawn) -> Expr {
    match number {
        Expr::Binary(op, a, b) => Expr::binary(*op, meant_number(a, drawn), meant_number(b, drawn)),
        Expr::Field(path, Field::Stride(i), _) => {
            let text = drawn.tensor(path).map(|tensor| tensor.stride(path, *i as usize));
            let written = text.and_then(|text| parse_expr(&text[..]).ok());
            written.unwrap_or_else(|| number.clone())
        }
        other => other.clone(),
    }
}

/// A condition as packed functions have it.
fn python(condition: &str) -> String {
    let text = condition.replace("aligned(", "kp.aligned(").replace(".strides[", ".stride[");
    let text = text.replace(".given == 1", " is not None").replace(".given == 0", " is None");
    text.replace('{', "(").replace('}', ")")
}
