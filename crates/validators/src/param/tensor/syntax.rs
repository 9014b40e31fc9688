// SPDX-License-Identifier: Apache-2.0
//! The text of a tensor: its options, both ways.

use super::{Order, Strides, Tensor};
use crate::count::count;
use crate::dim::Dim;
use crate::param::{Kind, ParamSyntax};
use crate::parse::Parser;
use crate::rule::join;
use kernpack_syntax::{Diagnostic, Span, TokenKind};
use std::fmt;

impl ParamSyntax for Tensor {
    const SAMPLES: &'static [&'static str] = &[
        "Tensor([], float32)",
        "Tensor([m, 2*n + 1, _], T, order=(1, 0, 2), align=16)",
        "Tensor([m, n], bfloat16, strides=[s, 1], device={cpu, cuda}, peer, mut)",
        "Tensor([m], int4, strides=any, device=cuda)",
    ];

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.at_name("Tensor").then(|| parse_tensor(parser).map(Kind::from))
    }
}

/// Reads `Tensor(…)`; the parser stands before it.
pub(crate) fn parse_tensor(parser: &mut Parser<'_>) -> Result<Tensor, Diagnostic> {
    let start = parser.expect_keyword("Tensor")?;
    parser.expect("(")?;
    let dims = parser.parse_dims()?;
    if parser.at_mark(")") {
        let help = format!("name the dtype of the elements: `Tensor([{}], float32)`", join(&dims));
        return Err(parser.unexpected("`,` and a dtype").help(help));
    }
    parser.expect(",")?;
    let mut tensor = Tensor::new(dims, parser.parse_tensor_dtype()?);
    let mut seen = Vec::new();
    while parser.eat(",") {
        if parser.at_mark(")") {
            break;
        }
        let (option, span) = parse_option(parser, &mut tensor)?;
        if seen.contains(&option) || (option == "strides" && seen.contains(&"order")) {
            return Err(repeated(option, span));
        }
        seen.push(if option == "order" { "strides" } else { option });
        seen.push(option);
    }
    let span = start.to(parser.expect(")")?);
    match tensor.problem() {
        Some(problem) => {
            Err(Diagnostic::new("tensor-options", "the tensor's options do not fit its dims")
                .label(span, problem))
        }
        None => Ok(tensor),
    }
}

fn repeated(option: &str, span: Span) -> Diagnostic {
    let help = match option {
        "order" | "strides" => "remove one of the two; `order=` and `strides=` exclude each other",
        _ => "remove one of the two",
    };
    Diagnostic::new("repeated-option", format!("`{option}` is given twice"))
        .label(span, "an earlier option says this already")
        .help(help)
}

fn parse_option(
    parser: &mut Parser<'_>,
    tensor: &mut Tensor,
) -> Result<(&'static str, Span), Diagnostic> {
    let span = parser.peek().span;
    let option = if parser.eat_name("mut") {
        tensor.mutable = true;
        "mut"
    } else if parser.eat_name("peer") {
        tensor.peer = true;
        "peer"
    } else if parser.eat_name("align") {
        tensor.align = Some(parser.parse_align()?);
        "align"
    } else if parser.eat_name("device") {
        tensor.devices = Some(parser.parse_devices()?);
        "device"
    } else if parser.eat_name("order") {
        tensor.strides = Strides::Compact(parse_order(parser)?);
        "order"
    } else if parser.eat_name("strides") {
        parser.expect("=")?;
        tensor.strides = if parser.eat_name("any") {
            Strides::Any
        } else {
            Strides::Dims(parse_strides(parser)?)
        };
        "strides"
    } else {
        let problem = parser
            .unexpected("an option: `order=`, `strides=`, `align=`, `device=`, `peer` or `mut`");
        let is_param = parser.peek_second().kind == TokenKind::Mark(":");
        let unclosed = "close the brackets of `Tensor(` in front of the next parameter";
        return Err(if is_param { problem.help(unclosed) } else { problem });
    };
    Ok((option, span))
}

fn parse_strides(parser: &mut Parser<'_>) -> Result<Vec<Dim>, Diagnostic> {
    parser.parse_dims_as("stride").map_err(|problem| match problem.code {
        "negative-dim" => problem.help("write `strides=any` where strides may be negative"),
        _ => problem,
    })
}

fn parse_order(parser: &mut Parser<'_>) -> Result<Order, Diagnostic> {
    parser.expect("=")?;
    if parser.eat_name("row") {
        return Ok(Order::Row);
    }
    if parser.eat_name("col") {
        return Ok(Order::Col);
    }
    if !parser.at_mark("(") {
        return Err(parser.unexpected("an order: `row`, `col` or a rank for each dim, `(1, 0, 2)`"));
    }
    let ranks =
        parser.parse_list("(", ")", |parser| parser.parse_count("a dim's rank in memory"))?;
    Ok(Order::Ranks(ranks.into_iter().map(|rank| rank as usize).collect()))
}

impl Tensor {
    /// What is wrong with the options as a whole.
    fn problem(&self) -> Option<String> {
        let n_dims = self.dims.len();
        match &self.strides {
            Strides::Compact(order) if order.fastest_first(n_dims).is_none() => {
                let ranks = match n_dims {
                    0 => "()".to_string(),
                    1 => "(0)".to_string(),
                    _ => format!("a permutation of 0 to {}", n_dims - 1),
                };
                Some(format!("expected `order` to be {ranks} for {}", count(n_dims, "dim")))
            }
            Strides::Dims(strides) if strides.len() != n_dims => Some(format!(
                "expected {} for {}, found {}",
                count(n_dims, "stride"),
                count(n_dims, "dim"),
                strides.len()
            )),
            _ => None,
        }
    }

    pub(super) fn write_options(&self, f: &mut dyn fmt::Write) -> fmt::Result {
        match &self.strides {
            Strides::Compact(Order::Row) => {}
            Strides::Compact(Order::Col) => f.write_str(", order=col")?,
            Strides::Compact(Order::Ranks(ranks)) => write!(f, ", order=({})", join(ranks))?,
            Strides::Any => f.write_str(", strides=any")?,
            Strides::Dims(strides) => write!(f, ", strides=[{}]", join(strides))?,
        }
        self.align.map_or(Ok(()), |align| write!(f, ", align={align}"))?;
        match self.devices.as_deref() {
            None => {}
            Some([device]) => write!(f, ", device={device}")?,
            Some(devices) => write!(f, ", device={{{}}}", join(devices))?,
        }
        f.write_str(if self.peer { ", peer" } else { "" })?;
        f.write_str(if self.mutable { ", mut" } else { "" })
    }
}
