// SPDX-License-Identifier: Apache-2.0
//! The text of a tensor: its options, both ways.

use super::{Order, Strides, Tensor};
use crate::check::dtype::alternatives;
use crate::count::count;
use crate::dim::Star;
use crate::param::{Kind, ParamSyntax};
use crate::parse::Parser;
use crate::rule::join;
use kernpack_syntax::{Diagnostic, Span, TokenKind};
use std::fmt;

impl ParamSyntax for Tensor {
    const NAME: &'static str = "Tensor";
    const SAMPLES: &'static [&'static str] = &[
        "Tensor([], float32)",
        "Tensor([m, 2*n + 1, _], T, order=(1, 0, 2), align=16)",
        "Tensor([m, n], bfloat16, strides=[s, 1], device={cpu, cuda}, peer, mut)",
        "Tensor([m], int4, strides=any, device=cuda)",
    ];

    fn keywords() -> Vec<&'static str> {
        let words = OPTIONS.iter().flat_map(|option| [&[option.word], option.values].concat());
        [Self::NAME].into_iter().chain(words).collect()
    }

    fn parse(parser: &mut Parser<'_>) -> Option<Result<Kind, Diagnostic>> {
        parser.at_name("Tensor").then(|| parse_tensor(parser).map(Kind::from))
    }
}

/// How an option of a tensor is read and written.
pub(super) struct OptionSyntax {
    word: &'static str,
    /// Whether it is written `word=…`.
    has_value: bool,
    /// The words that its value may have.
    values: &'static [&'static str],
    /// Its subject: of two options that say one thing, a tensor has one at most.
    says: &'static str,
    /// Whether what an entry point allocates may have it.
    pub(super) is_of_allocations: bool,
    /// Reads what follows the word, `=` included.
    parse: fn(&mut Parser<'_>, &mut Tensor) -> Result<(), Diagnostic>,
    /// The option as it is written, if the tensor has it.
    write: fn(&Tensor) -> Option<String>,
}

/// The options, in the order in which they print.
const OPTIONS: &[OptionSyntax] = &[
    OptionSyntax {
        word: "order",
        has_value: true,
        values: &["row", "col"],
        says: "strides",
        is_of_allocations: false,
        parse: |parser, tensor| {
            tensor.strides = Strides::Compact(parse_order(parser)?);
            Ok(())
        },
        write: |tensor| match &tensor.strides {
            Strides::Compact(Order::Col) => Some("order=col".to_string()),
            Strides::Compact(Order::Ranks(ranks)) => Some(format!("order=({})", join(ranks))),
            Strides::Compact(Order::Row) | Strides::Any | Strides::Dims(_) => None,
        },
    },
    OptionSyntax {
        word: "strides",
        has_value: true,
        values: &["any"],
        says: "strides",
        is_of_allocations: false,
        parse: |parser, tensor| {
            tensor.strides = parse_strides(parser)?;
            Ok(())
        },
        write: |tensor| match &tensor.strides {
            Strides::Compact(_) => None,
            Strides::Any => Some("strides=any".to_string()),
            Strides::Dims(strides) => Some(format!("strides=[{}]", join(strides))),
        },
    },
    OptionSyntax {
        word: "align",
        has_value: true,
        values: &[],
        says: "align",
        is_of_allocations: true,
        parse: |parser, tensor| {
            tensor.align = Some(parser.parse_align()?);
            Ok(())
        },
        write: |tensor| tensor.align.map(|align| format!("align={align}")),
    },
    OptionSyntax {
        word: "device",
        has_value: true,
        values: &[],
        says: "device",
        is_of_allocations: false,
        parse: |parser, tensor| {
            tensor.devices = Some(parser.parse_devices()?);
            Ok(())
        },
        write: |tensor| match tensor.devices.as_deref()? {
            [device] => Some(format!("device={device}")),
            devices => Some(format!("device={{{}}}", join(devices))),
        },
    },
    OptionSyntax {
        word: "peer",
        has_value: false,
        values: &[],
        says: "peer",
        is_of_allocations: false,
        parse: |_, tensor| {
            tensor.peer = true;
            Ok(())
        },
        write: |tensor| tensor.peer.then(|| "peer".to_string()),
    },
    OptionSyntax {
        word: "mut",
        has_value: false,
        values: &[],
        says: "mut",
        is_of_allocations: false,
        parse: |_, tensor| {
            tensor.mutable = true;
            Ok(())
        },
        write: |tensor| tensor.mutable.then(|| "mut".to_string()),
    },
];

/// The options that a tensor has.
pub(super) fn options_of(tensor: &Tensor) -> impl Iterator<Item = &'static OptionSyntax> {
    OPTIONS.iter().filter(|option| (option.write)(tensor).is_some())
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
    let mut said = Vec::new();
    while parser.eat(",") && !parser.at_mark(")") {
        let span = parser.peek().span;
        let option = parse_option(parser, &mut tensor)?;
        if said.contains(&option.says) {
            return Err(repeated(option, span));
        }
        said.push(option.says);
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

fn repeated(option: &OptionSyntax, span: Span) -> Diagnostic {
    let others = OPTIONS.iter().filter(|other| other.says == option.says);
    let others: Vec<_> = others.map(|other| format!("`{}`", other.written())).collect();
    let help = match &others[..] {
        [_] => "remove one of the two".to_string(),
        _ => format!("remove one of the two; {} exclude each other", others.join(" and ")),
    };
    Diagnostic::new("repeated-option", format!("`{}` is given twice", option.word))
        .label(span, "an earlier option says this already")
        .help(help)
}

impl OptionSyntax {
    /// As a list of the options has it.
    fn written(&self) -> String {
        format!("{}{}", self.word, if self.has_value { "=" } else { "" })
    }
}

fn parse_option(
    parser: &mut Parser<'_>,
    tensor: &mut Tensor,
) -> Result<&'static OptionSyntax, Diagnostic> {
    if let Some(option) = OPTIONS.iter().find(|option| parser.eat_name(option.word)) {
        (option.parse)(parser, tensor)?;
        return Ok(option);
    }
    let all: Vec<_> = OPTIONS.iter().map(|option| format!("`{}`", option.written())).collect();
    let problem = parser.unexpected(&format!("an option: {}", alternatives(&all)));
    let is_param = parser.peek_second().kind == TokenKind::Mark(":");
    let unclosed = "close the brackets of `Tensor(` in front of the next parameter";
    Err(if is_param { problem.help(unclosed) } else { problem })
}

fn parse_strides(parser: &mut Parser<'_>) -> Result<Strides, Diagnostic> {
    parser.expect("=")?;
    if parser.eat_name("any") {
        return Ok(Strides::Any);
    }
    let strides = parser.parse_dims_as("stride").map_err(|problem| match problem.code {
        "negative-dim" => problem.help("write `strides=any` where strides may be negative"),
        _ => problem,
    });
    strides.map(Strides::Dims)
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
    /// The problem of the options as a whole.
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
            Strides::Dims(strides) if let Some((_, star)) = Star::among(strides) => {
                Some(format!("expected one stride for all dims of a star, found `{star}`"))
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
        let mut options = OPTIONS.iter().filter_map(|option| (option.write)(self));
        options.try_for_each(|option| write!(f, ", {option}"))
    }
}
