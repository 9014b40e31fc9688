// SPDX-License-Identifier: Apache-2.0
//! `kernpack layout TEXT`
//!
//! A text is a layout, or an operation that results in one or in something else; `kernpack_layout`
//! reads and evaluates it. What is drawn is in [`table`], and for threads and values in [`owners`].

mod owners;
mod table;

use crate::{Failure, Report};
use anyhow::anyhow;
use clap::Args;
use kernpack_layout::evaluate::{OPERATIONS, Object, Operation, evaluate};
use kernpack_layout::parse::{self, ParseError};
use kernpack_layout::{
    self as algebra, Composed, Int, Shape, Symbol, Symbols, Tuple, coalesce, cosize, is_injective,
};
use kernpack_syntax::{Diagnostic, Span, Texts, Told};
use serde_json::{Value, json};
use table::Mapping;

/// The command's arguments.
#[derive(Args, Debug)]
pub struct Layout {
    /// A layout, such as "((2,2),4):((1,8),2)", or an operation on layouts, such as
    /// "zipped_divide((8,16):(16,1), (4,4))". Two with `--tv`: of threads, and of values.
    #[arg(required_unless_present = "list", num_args = 1..=2, value_name = "TEXT")]
    texts: Vec<String>,
    /// List the operations.
    #[arg(long, conflicts_with = "texts")]
    list: bool,
    /// Draw which thread has which element of a tile, as which of its values.
    #[arg(long)]
    tv: bool,
    /// The shape of the tile, where there is one TEXT: a layout from thread and value to an
    /// element.
    #[arg(long, value_name = "SHAPE", requires = "tv")]
    tile: Option<String>,
}

impl Layout {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        if self.list {
            return Ok(list());
        }
        let mut cx = Symbols::new();
        match (&self.texts[..], self.tv, &self.tile) {
            ([text], false, _) => {
                let object = read(text, |text| object(text, &mut cx))?;
                report(&mut cx, object)
            }
            ([threads, values], true, None) => {
                let threads = read(threads, |text| parse::layout(text, &mut cx))?;
                let values = read(values, |text| parse::layout(text, &mut cx))?;
                let (tile, layout) = algebra::make_layout_tv(&mut cx, &threads, &values)?;
                report(&mut cx, Object::ThreadValue(tile, layout))
            }
            ([layout], true, Some(tile)) => {
                let layout = read(layout, |text| parse::layout(text, &mut cx))?;
                let tile = read(tile, |text| parse::shape(text, &mut cx))?;
                report(&mut cx, Object::ThreadValue(tile, layout))
            }
            (_, true, _) => Err(anyhow!(
                "`--tv` takes a layout of threads and one of values, or one layout and `--tile`"
            )
            .into()),
            (_, false, _) => {
                Err(anyhow!("two layouts are drawn with `--tv` only: threads, and values").into())
            }
        }
    }
}

/// The operations, each with what it results in.
fn list() -> Report {
    let call = |operation: &Operation| format!("{}({})", operation.name, operation.arguments);
    let lines = OPERATIONS.iter().map(|row| format!("{}\n    {}\n", call(row), row.doc()));
    let rows = OPERATIONS
        .iter()
        .map(|row| json!({ "name": row.name, "arguments": row.arguments, "doc": row.doc() }));
    let answer = json!({ "operations": rows.collect::<Vec<_>>() });
    Report::new(lines.collect(), answer)
}

/// The object that a text describes. A shape that is no operation's result is the compact layout of
/// it.
fn object(text: &str, cx: &mut Symbols) -> Result<Object, ParseError> {
    let is_called = text.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
    match evaluate(text, cx)? {
        Object::Shape(_) if !is_called => parse::layout(text, cx).map(Object::Layout),
        object => Ok(object),
    }
}

/// The operation that a name was meant as.
fn nearest(name: &str) -> Option<&'static str> {
    let names = OPERATIONS.iter().map(|operation| operation.name);
    let likely = names.map(|known| (strsim::jaro_winkler(known, name), known));
    let (likeness, known) = likely.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness > 0.85).then_some(known)
}

/// The result of reading a text, or a diagnostic at the place that is wrong.
fn read<T>(text: &str, each: impl FnOnce(&str) -> Result<T, ParseError>) -> Result<T, Failure> {
    const NAME: &str = "layout";
    each(text).map_err(|ParseError { message, at, refused }| {
        let mut texts = Texts::default();
        let id = texts.add(NAME, text);
        let span = Span { text: Some(id), start: at.start, end: at.end };
        let diagnostic = match refused {
            Some(_) => Diagnostic::new("layout", message),
            None => Diagnostic::new("syntax", message),
        };
        let diagnostic = diagnostic.label(span, "");
        let is_unknown = diagnostic.message.starts_with("there is no operation");
        let name = text[at].split('(').next().filter(|_| is_unknown);
        let diagnostic = match name.and_then(nearest) {
            Some(known) => diagnostic.help(format!("did you mean `{known}`?")),
            None => diagnostic,
        };
        Failure::Diagnostics(Told::of(NAME, texts).and([diagnostic]))
    })
}

fn report(cx: &mut Symbols, object: Object) -> Result<Report, Failure> {
    let text = object.to_string();
    let kind = object.kind().trim_start_matches("a ").to_string();
    let mut answer = json!({ "text": text, "kind": kind });
    let mapping = match object {
        Object::Layout(layout) => Mapping::of(layout),
        Object::Composed(composed) => {
            Mapping { composed: Some(composed.clone()), ..Mapping::of(composed.inner) }
        }
        Object::Part(part) => Mapping { offset: part.offset, ..Mapping::of(part.layout) },
        Object::ThreadValue(tile, layout) => {
            let (drawn, owners) = owners::draw(cx, &tile, &layout)?;
            answer["tile"] = tile.to_string().into();
            answer["layout"] = layout.to_string().into();
            answer["owners"] = owners;
            return Ok(Report::new(format!("{text}\n{drawn}"), answer));
        }
        Object::Shape(_)
        | Object::Coord(_)
        | Object::Swizzle(_)
        | Object::Tiler(_)
        | Object::Strides(_)
        | Object::Truth(_) => return Ok(Report::new(format!("{text}\n"), answer)),
    };
    let facts = Description::of(cx, &mapping)?;
    facts.add_to(&mut answer);
    let drawn = table::draw(cx, &mapping)?;
    Ok(Report::new(format!("{text}\n{facts}\n{drawn}"), answer))
}

/// The description of a layout.
struct Description {
    shape: String,
    stride: String,
    size: Int<Symbol>,
    /// Of a layout with a swizzle there is none.
    cosize: Option<Int<Symbol>>,
    rank: usize,
    depth: usize,
    coalesced: String,
    is_injective: Option<bool>,
}

impl Description {
    fn of(cx: &mut Symbols, mapping: &Mapping) -> Result<Description, Failure> {
        let Mapping { layout, composed, .. } = mapping;
        let coalesced = coalesce(cx, layout)?;
        Ok(Description {
            shape: layout.shape().to_string(),
            stride: layout.strides().to_string(),
            size: algebra::size(cx, layout)?,
            cosize: match composed {
                Some(_) => None,
                None => Some(cosize(cx, layout)?),
            },
            rank: layout.rank(),
            depth: layout.depth(),
            is_injective: match composed {
                // A swizzle gives each index another one; an outer layout need not.
                Some(Composed { outer: algebra::Outer::Layout(_), .. }) => None,
                Some(Composed { outer: algebra::Outer::Swizzle(_), .. }) | None => {
                    is_injective(layout)
                }
            },
            coalesced: match composed {
                Some(composed) => Composed { inner: coalesced, ..composed.clone() }.to_string(),
                None => coalesced.to_string(),
            },
        })
    }

    fn add_to(&self, answer: &mut Value) {
        let number = |int: &Int<Symbol>| match int {
            Int::Known(number) => json!(number),
            Int::Dynamic(symbol) => json!(symbol.to_string()),
        };
        answer["shape"] = json!(self.shape);
        answer["stride"] = json!(self.stride);
        answer["size"] = number(&self.size);
        answer["cosize"] = self.cosize.as_ref().map_or(Value::Null, number);
        answer["rank"] = json!(self.rank);
        answer["depth"] = json!(self.depth);
        answer["coalesced"] = json!(self.coalesced);
        answer["injective"] = json!(self.is_injective);
    }
}

impl std::fmt::Display for Description {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "size {}, ", self.size)?;
        if let Some(cosize) = &self.cosize {
            write!(f, "cosize {cosize}, ")?;
        }
        write!(f, "rank {}, depth {}, ", self.rank, self.depth)?;
        f.write_str(match self.is_injective {
            Some(true) => "injective",
            Some(false) => "not injective",
            None => "not known to be injective",
        })?;
        write!(f, "\ncoalesced {}", self.coalesced)
    }
}

/// The numbers of a shape, where all are known.
fn known(shape: &Shape<Symbol>) -> Option<Vec<i64>> {
    shape
        .modes()
        .iter()
        .map(|mode| {
            mode.leaves()
                .into_iter()
                .map(Int::known)
                .try_fold(1_i64, |size, extent| size.checked_mul(extent?))
        })
        .collect()
}

/// The coordinate with a number in each mode.
fn coord(shape: &Shape<Symbol>, numbers: &[i64]) -> algebra::Coord<Symbol> {
    let at = |number: &i64| Tuple::Leaf(algebra::Slot::At(Int::Known(*number)));
    match (shape, numbers) {
        (Tuple::Leaf(_), [number]) => at(number),
        (_, numbers) => Tuple::Node(numbers.iter().map(at).collect()),
    }
}
