// SPDX-License-Identifier: Apache-2.0
//! The layout algebra for Python: expressions as text, and what they result in as data.
//!
//! A number is itself. One that is not known is `{"name": "n", "divisibility": 8}`, of which the
//! name may be an expression, and a stride along a mode is a text, `"1@0"`. The `text` of an answer
//! says what is known of each name, so that nothing is lost where it stands in the next expression.
//! Not here: operations, and what is drawn.

use crate::ffi::{Args, Error, Value};
use kernpack_layout::draw::{Banks, draw};
use kernpack_layout::evaluate::{Object, evaluate};
use kernpack_layout::{
    Arith, Composed, Int, Layout, Outer, Part, Stride, Swizzle, Symbol, Symbols, Tuple, parse,
};
use serde_json::{Value as Json, json};

/// `kernpack_layout(expression) -> JSON`: what an expression results in: its `kind` and `text`, and
/// by the kind `value`, `layout` (`shape`, `stride`, `rank`, `depth`), `offset`, `outer`, `inner`,
/// `tile`, and the numbers of a swizzle.
pub fn layout(args: Args<'_>) -> Result<Value, Error> {
    let mut cx = Symbols::new();
    let object = evaluate(args.text(0)?, &mut cx);
    let object = object.map_err(|error| Error::value(error.message))?;
    Value::json(&described(&cx, &object))
}

/// `kernpack_layout_svg(expression, element_bytes, threads) -> str`: the picture of what it results
/// in; with the banks of elements of so many bytes, where those are not 0, and with a layout of
/// the threads that access them, where that is not empty.
pub fn svg(args: Args<'_>) -> Result<Value, Error> {
    let mut cx = Symbols::new();
    let object = evaluate(args.text(0)?, &mut cx);
    let object = object.map_err(|error| Error::value(error.message))?;
    let threads = match args.text(2)? {
        "" => None,
        text => {
            let threads = parse::layout(text, &mut cx);
            Some(threads.map_err(|error| Error::value(error.message))?)
        }
    };
    let element_bytes = args.int(1)?;
    let banks = (element_bytes != 0).then_some(Banks { element_bytes, threads });
    let picture = draw(&mut cx, &object, banks.as_ref());
    let picture = picture.map_err(|error| Error::value(error.to_string()))?;
    Ok(Value::Text(picture.svg))
}

fn described(cx: &Symbols, object: &Object) -> Json {
    let mut answer = json!({
        "kind": object.kind().trim_start_matches("a "),
        "text": format!("{object:#}"),
    });
    match object {
        Object::Shape(shape) => answer["value"] = nested(shape, &|int| number(cx, int)),
        Object::Truth(truth) => answer["value"] = json!(truth),
        Object::Layout(layout) => answer["layout"] = of_layout(cx, layout),
        Object::Part(part @ Part { layout, offset }) => {
            answer["layout"] = of_layout(cx, layout);
            answer["inner"] = json!(format!("{layout:#}"));
            answer["offset"] = nested(offset, &|int| number(cx, int));
            answer["is_at_origin"] = json!(part.is_at_origin());
        }
        Object::Composed(Composed { outer, offset, inner }) => {
            answer["layout"] = of_layout(cx, inner);
            answer["inner"] = json!(format!("{inner:#}"));
            answer["offset"] = nested(offset, &|int| number(cx, int));
            answer["outer"] = json!(match outer {
                Outer::Swizzle(swizzle) => swizzle.to_string(),
                Outer::Layout(layout) => format!("{layout:#}"),
            });
        }
        Object::ThreadValue(tile, layout) => {
            answer["tile"] = nested(tile, &|int| number(cx, int));
            answer["inner"] = json!(format!("{layout:#}"));
        }
        Object::Swizzle(swizzle) => answer["value"] = of_swizzle(*swizzle),
        Object::Coord(_) | Object::Tiler(_) | Object::Strides(_) => {}
    }
    answer
}

fn of_layout(cx: &Symbols, layout: &Layout<Symbol>) -> Json {
    json!({
        "shape": nested(&layout.shape(), &|int| number(cx, int)),
        "stride": nested(&layout.strides(), &|stride| of_stride(cx, stride)),
        "rank": layout.rank(),
        "depth": layout.depth(),
    })
}

fn of_swizzle(swizzle: Swizzle) -> Json {
    json!([swizzle.bits(), swizzle.base(), swizzle.shift()])
}

fn nested<T>(tuple: &Tuple<T>, leaf: &impl Fn(&T) -> Json) -> Json {
    match tuple {
        Tuple::Leaf(value) => leaf(value),
        Tuple::Node(modes) => modes.iter().map(|mode| nested(mode, leaf)).collect(),
    }
}

fn of_stride(cx: &Symbols, stride: &Stride<Symbol>) -> Json {
    match stride.is_plain() {
        true => number(cx, &stride.scale),
        false => json!(format!("{stride:#}")),
    }
}

fn number(cx: &Symbols, int: &Int<Symbol>) -> Json {
    match int {
        Int::Known(number) => json!(number),
        Int::Dynamic(symbol) => json!({
            "name": symbol.name().map_or_else(|| format!("{symbol:#}"), str::to_string),
            "divisibility": cx.facts(symbol).divisor,
        }),
    }
}
