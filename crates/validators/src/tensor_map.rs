// SPDX-License-Identifier: Apache-2.0
//! Tensor maps as they are written: how a kernel of sm_90 and later finds the boxes of a tensor
//! that the device copies for it.
//!
//! ```text
//! map    = "tma" "(" tensor {"," option} ")"
//! option = "box=" counts | "steps=" counts | "dims=" exprs | "strides=" exprs | "as=" dtype
//!        | "interleave=" (none | 16 | 32) | "swizzle=" (none | 32 | 64 | 128) | "l2=" (none | 64 | 128 | 256) | "fill=" (zero | nan)
//! ```
//!
//! Dims stand in the tensor's own order throughout. Every map needs its `box`, save where a
//! kernel's compiler says it. Here: the text both ways, what each option may be by itself, and its
//! numbers in the driver.
//! Whether they fit together and fit the tensor is for [`launch`](crate::launch) to say.

use crate::expr::Expr;
use crate::parse::Parser;
use crate::rule::join;
use kernpack_ffi_abi::DType;
use kernpack_machine::tensor_map::{LARGEST_STEP, MOST_IN_BOX, SWIZZLES};
use kernpack_syntax::{Diagnostic, Span};
use std::fmt;

/// A tensor map, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct MapSpec {
    /// The tensor: a parameter's path, a result or a workspace.
    pub tensor: String,
    /// The elements of a box along each dim; nothing where the kernel's compiler is to say it.
    pub box_dims: Option<Vec<u32>>,
    /// How far apart the elements of a box are along each dim; 1 where it is not written.
    pub steps: Option<Vec<u32>>,
    /// Other dims than the tensor's own.
    pub dims: Option<Vec<Expr>>,
    /// Other strides than the tensor's own, in elements of the map.
    pub strides: Option<Vec<Expr>>,
    /// The dtype of an element, where it is not the tensor's.
    pub element: Option<DType>,
    /// The choices of the map beyond that.
    pub choices: MapChoices,
}

/// The chunks of interleaved layouts.
pub const INTERLEAVES: [u32; 2] = [16, 32];
/// The bytes that the L2 cache may fetch at once.
pub const L2_PROMOTIONS: [u32; 3] = [64, 128, 256];

/// Options of the driver beside dims: sizes in bytes, 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapChoices {
    /// The chunks of an interleaved layout.
    pub interleave: u32,
    /// The span within which chunks change places in shared memory.
    pub swizzle: u32,
    /// The bytes that the L2 cache fetches at once.
    pub l2: u32,
    /// Whether elements out of bounds are nan, and not 0.
    pub nan: bool,
}

/// The dtypes that the driver can describe, each with its `CUtensorMapDataType`. Of those without
/// one of their own, elements of as many bits do: a copy is a copy.
const DATA_TYPES: &[(DType, i64)] = &[
    (DType::UINT8, 0),
    (DType::UINT16, 1),
    (DType::UINT32, 2),
    (DType::INT32, 3),
    (DType::UINT64, 4),
    (DType::INT64, 5),
    (DType::FLOAT16, 6),
    (DType::FLOAT32, 7),
    (DType::FLOAT64, 8),
    (DType::BFLOAT16, 9),
    (DType::INT8, 0),
    (DType::BOOL, 0),
    (DType::FLOAT8_E3M4, 0),
    (DType::FLOAT8_E4M3, 0),
    (DType::FLOAT8_E4M3B11FNUZ, 0),
    (DType::FLOAT8_E4M3FN, 0),
    (DType::FLOAT8_E4M3FNUZ, 0),
    (DType::FLOAT8_E5M2, 0),
    (DType::FLOAT8_E5M2FNUZ, 0),
    (DType::FLOAT8_E8M0FNU, 0),
    (DType::INT16, 1),
];

/// The `CUtensorMapDataType` of elements of a dtype, where the driver has one.
pub fn data_type(dtype: DType) -> Option<i64> {
    DATA_TYPES.iter().find(|(known, _)| *known == dtype).map(|(_, number)| *number)
}

impl MapChoices {
    /// The driver's numbers for them: of `CUtensorMapInterleave`, `CUtensorMapSwizzle`,
    /// `CUtensorMapL2promotion` and `CUtensorMapFloatOOBfill`.
    pub const fn enumerators(&self) -> [u32; 4] {
        let MapChoices { interleave, swizzle, l2, nan } = *self;
        let [interleave, swizzle, l2] =
            [enumerator(interleave, 16), enumerator(swizzle, 32), enumerator(l2, 64)];
        [interleave, swizzle, l2, nan as u32]
    }
}

/// The place of a size among `first`, twice that, and so on; 0 for none. The driver's enumerations
/// count so.
const fn enumerator(bytes: u32, first: u32) -> u32 {
    match bytes {
        0 => 0,
        _ => 1 + (bytes / first).ilog2(),
    }
}

impl MapSpec {
    /// A map of a tensor, to build on.
    pub fn new(tensor: impl Into<String>) -> MapSpec {
        MapSpec {
            tensor: tensor.into(),
            box_dims: None,
            steps: None,
            dims: None,
            strides: None,
            element: None,
            choices: MapChoices::default(),
        }
    }
}

impl fmt::Display for MapSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tma({}", self.tensor)?;
        self.box_dims.as_ref().map_or(Ok(()), |counts| write!(f, ", box=[{}]", join(counts)))?;
        self.steps.as_ref().map_or(Ok(()), |steps| write!(f, ", steps=[{}]", join(steps)))?;
        self.dims.as_ref().map_or(Ok(()), |dims| write!(f, ", dims=[{}]", join(dims)))?;
        self.strides.as_ref().map_or(Ok(()), |all| write!(f, ", strides=[{}]", join(all)))?;
        self.element.map_or(Ok(()), |dtype| write!(f, ", as={dtype}"))?;
        let MapChoices { interleave, swizzle, l2, nan } = self.choices;
        for (name, bytes) in [("interleave", interleave), ("swizzle", swizzle), ("l2", l2)] {
            if bytes != 0 {
                write!(f, ", {name}={bytes}")?;
            }
        }
        f.write_str(if nan { ", fill=nan)" } else { ")" })
    }
}

/// Whether a tensor map comes next.
pub(crate) fn at_map(parser: &Parser<'_>) -> bool {
    let is_call = parser.peek_second().text == "(";
    parser.at_name("tma") && is_call
}

/// Reads `tma(…)`; the parser stands before it.
pub(crate) fn parse_map(parser: &mut Parser<'_>) -> Result<MapSpec, Diagnostic> {
    parser.expect_keyword("tma")?;
    parser.expect("(")?;
    let place = parser.peek().span;
    let tensor = match parser.parse_expr()? {
        Expr::Symbol(name, _) => name,
        other => {
            let problem = Diagnostic::new("tensor-map", format!("`{other}` is no tensor"));
            return Err(problem.label(place, "expected a parameter, a result or a workspace"));
        }
    };
    let mut map = MapSpec::new(tensor);
    let mut seen = Vec::new();
    while parser.eat(",") {
        if parser.at_mark(")") {
            break;
        }
        let span = parser.peek().span;
        let option = parse_option(parser, &mut map)?;
        if seen.contains(&option) {
            let problem = Diagnostic::new("repeated-option", format!("`{option}` is given twice"));
            let problem = problem.label(span, "an earlier option says this already");
            return Err(problem.help("remove one of the two"));
        }
        seen.push(option);
    }
    parser.expect(")")?;
    Ok(map)
}

fn parse_option(parser: &mut Parser<'_>, map: &mut MapSpec) -> Result<&'static str, Diagnostic> {
    const OPTIONS: [&str; 10] =
        ["box", "steps", "dims", "strides", "as", "interleave", "swizzle", "l2", "fill", "im2col"];
    let Some(option) = OPTIONS.into_iter().find(|option| parser.at_name(option)) else {
        return Err(parser.unexpected(
            "an option: `box=`, `steps=`, `dims=`, `strides=`, `as=`, `interleave=`, `swizzle=`, `l2=` or `fill=`",
        ));
    };
    let span = parser.expect_keyword(option)?;
    if option == "im2col" {
        let problem = Diagnostic::new("tensor-map", "`im2col` maps are not there yet");
        return Err(problem.label(span, "reserved").help("describe the tensor in tiles: `box=`"));
    }
    parser.expect("=")?;
    match option {
        "box" => map.box_dims = Some(counts(parser, "box", MOST_IN_BOX)?),
        "steps" => map.steps = Some(counts(parser, "step", LARGEST_STEP)?),
        "dims" => map.dims = Some(parser.parse_list("[", "]", Parser::parse_expr)?),
        "strides" => map.strides = Some(parser.parse_list("[", "]", Parser::parse_expr)?),
        "as" => map.element = Some(parser.parse_dtype()?),
        "interleave" => map.choices.interleave = one_of(parser, INTERLEAVES)?,
        "swizzle" => map.choices.swizzle = one_of(parser, SWIZZLES)?,
        "l2" => map.choices.l2 = one_of(parser, L2_PROMOTIONS)?,
        _ => map.choices.nan = fill(parser)?,
    }
    Ok(option)
}

/// Numbers from 1 to `most`.
fn counts(parser: &mut Parser<'_>, what: &str, most: i64) -> Result<Vec<u32>, Diagnostic> {
    parser.parse_list("[", "]", |parser| {
        let span = parser.peek().span;
        let count = parser.parse_count("a number")?;
        let fits = u32::try_from(count).ok().filter(|_| (1..=most).contains(&count));
        fits.ok_or_else(|| out_of_range(what, count, span, most))
    })
}

fn out_of_range(what: &str, count: i64, span: Span, most: i64) -> Diagnostic {
    Diagnostic::new("tensor-map", format!("a {what} of {count} is not possible"))
        .label(span, format!("expected 1 to {most}"))
}

/// `none`, which is 0, or one of some sizes.
fn one_of<const N: usize>(parser: &mut Parser<'_>, sizes: [u32; N]) -> Result<u32, Diagnostic> {
    if parser.eat_name("none") {
        return Ok(0);
    }
    let chosen = sizes.into_iter().find(|size| parser.peek_text() == size.to_string());
    let chosen = chosen.ok_or_else(|| {
        let (last, others) = sizes.split_last().expect("there are sizes");
        parser.unexpected(&format!("none, {} or {last}", join(others)))
    })?;
    parser.bump();
    Ok(chosen)
}

fn fill(parser: &mut Parser<'_>) -> Result<bool, Diagnostic> {
    match () {
        () if parser.eat_name("zero") => Ok(false),
        () if parser.eat_name("nan") => Ok(true),
        () => Err(parser.unexpected("zero or nan")),
    }
}

#[cfg(test)]
mod tests {
    use crate::parse_kernel_arg;

    #[test]
    fn what_is_printed_reads_back() {
        let texts = [
            "tma(a, box=[64])",
            "tma(p.x, box=[1, 64, 128], steps=[1, 2, 1], swizzle=128, l2=256, fill=nan)",
            "tma(p[0].x, box=[8, 16], dims=[m, 2*n], strides=[s + 1, 1], as=uint8)",
            "tma(a, box=[4, 4, 8], interleave=32, swizzle=32)",
            "tma(a)",
            "tma(a, dims=[m*n], fill=nan)",
        ];
        for text in texts {
            let map = parse_kernel_arg(text).unwrap();
            assert_eq!(map.to_string(), text);
        }
        let text = "tma(a, fill=zero, l2=none, swizzle=none, interleave=none, box=[64,],)";
        assert_eq!(parse_kernel_arg(text).unwrap().to_string(), "tma(a, box=[64])");
    }

    #[track_caller]
    fn expect(text: &str, problem: &str) {
        let problems = parse_kernel_arg(text).unwrap_err().to_string();
        assert!(problems.starts_with(problem), "{problems}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        expect("tma(a + 1, box=[8])", "error[tensor-map]: `a + 1` is no tensor");
        expect("tma(a, box=[0])", "error[tensor-map]: a box of 0 is not possible");
        expect("tma(a, box=[257])", "error[tensor-map]: a box of 257 is not possible");
        expect("tma(a, box=[8], steps=[9])", "error[tensor-map]: a step of 9 is not possible");
        expect("tma(a, box=[8], box=[8])", "error[repeated-option]: `box` is given twice");
        expect(
            "tma(a, box=[8], swizzle=16)",
            "error[syntax]: expected none, 32, 64 or 128, found `16`",
        );
        expect(
            "tma(a, box=[8], interleave=64)",
            "error[syntax]: expected none, 16 or 32, found `64`",
        );
        expect(
            "tma(a, box=[8], l2=32)",
            "error[syntax]: expected none, 64, 128 or 256, found `32`",
        );
        expect("tma(a, box=[8], fill=one)", "error[syntax]: expected zero or nan, found `one`");
        expect("tma(a, im2col=[1])", "error[tensor-map]: `im2col` maps are not there yet");
        expect("tma(a, boxes=[8])", "error[syntax]: expected an option: `box=`");
        expect("tma(a, box=[n])", "error[syntax]: expected a number, found `n`");
    }
}
