// SPDX-License-Identifier: Apache-2.0
//! `kernpack layout TEXT`
//!
//! A text is a layout, or an operation that results in one or in something else; `kernpack_layout`
//! reads and evaluates it, and makes pictures. The tables are in [`table`], and for threads and
//! values in [`owners`].

mod owners;
mod table;

use crate::publish::{publish, require_folder};
use crate::{Failure, Report};
use anyhow::anyhow;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use kernpack_layout::draw::{Banks, Mapping, draw};
use kernpack_layout::evaluate::{OPERATIONS, Object, Operation, evaluate};
use kernpack_layout::parse::{self, ParseError};
use kernpack_layout::{
    self as algebra, Composed, Int, Symbol, Symbols, coalesce, cosize, is_injective,
};
use kernpack_syntax::{Diagnostic, Span, Texts, Told};
use serde_json::{Value, json};
use std::path::PathBuf;

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
    /// A file to write the picture to, which ends in .svg.
    #[arg(short, long, value_name = "OUT", value_parser = PathBufValueParser::new().try_map(parse_output))]
    output: Option<PathBuf>,
    /// Colour the picture by the banks of shared memory, for elements of so many bytes, and mark
    /// the accesses of a warp that conflict.
    #[arg(long, value_name = "BYTES", requires = "output", conflicts_with = "tv")]
    banks: Option<i64>,
    /// The layout from a thread of the warp to the number of the coordinate that it accesses; the
    /// first 32 coordinates if left out.
    #[arg(long, value_name = "LAYOUT", requires = "banks")]
    threads: Option<String>,
}

fn parse_output(path: PathBuf) -> Result<PathBuf, String> {
    match path.extension().is_some_and(|extension| extension == "svg") {
        true => Ok(path),
        false => Err("the name must end in .svg".to_string()),
    }
}

impl Layout {
    /// Runs the command.
    pub fn run(self) -> Result<Report, Failure> {
        if self.list {
            return Ok(list());
        }
        if let Some(path) = &self.output {
            require_folder(path, "make it first")?;
        }
        let mut cx = Symbols::new();
        let object = self.object(&mut cx)?;
        let report = report(&mut cx, &object)?;
        let Some(path) = &self.output else { return Ok(report) };
        let banks = self.banks(&mut cx)?;
        let picture = draw(&mut cx, &object, banks.as_ref())?;
        publish(&[(path, picture.svg.as_bytes())])?;
        let mut answer = report.json;
        answer["output"] = path.display().to_string().into();
        if let Some(ways) = picture.ways {
            answer["ways"] = ways.into();
        }
        // The picture takes the place of the table.
        let remarks = picture.remarks.iter().map(|line| format!("{line}\n"));
        Ok(Report::new(remarks.collect(), answer))
    }

    /// The layout that the texts say, or what else they result in.
    fn object(&self, cx: &mut Symbols) -> Result<Object, Failure> {
        match (&self.texts[..], self.tv, &self.tile) {
            ([text], false, _) => read(text, |text| object(text, cx)),
            ([threads, values], true, None) => {
                let threads = read(threads, |text| parse::layout(text, cx))?;
                let values = read(values, |text| parse::layout(text, cx))?;
                let (tile, layout) = algebra::make_layout_tv(cx, &threads, &values)?;
                Ok(Object::ThreadValue(tile, layout))
            }
            ([layout], true, Some(tile)) => {
                let layout = read(layout, |text| parse::layout(text, cx))?;
                let tile = read(tile, |text| parse::shape(text, cx))?;
                Ok(Object::ThreadValue(tile, layout))
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

    /// The banks that are asked for.
    fn banks(&self, cx: &mut Symbols) -> Result<Option<Banks>, Failure> {
        let Some(element_bytes) = self.banks else { return Ok(None) };
        let threads = match &self.threads {
            None => None,
            Some(text) => Some(read(text, |text| parse::layout(text, cx))?),
        };
        Ok(Some(Banks { element_bytes, threads }))
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

fn report(cx: &mut Symbols, object: &Object) -> Result<Report, Failure> {
    let text = object.to_string();
    let kind = object.kind().trim_start_matches("a ").to_string();
    let mut answer = json!({ "text": text, "kind": kind });
    if let Object::ThreadValue(tile, layout) = object {
        let (drawn, owners) = owners::draw(cx, tile, layout)?;
        answer["tile"] = tile.to_string().into();
        answer["layout"] = layout.to_string().into();
        answer["owners"] = owners;
        return Ok(Report::new(format!("{text}\n{drawn}"), answer));
    }
    let Some(mapping) = Mapping::of_object(object) else {
        return Ok(Report::new(format!("{text}\n"), answer));
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
