// SPDX-License-Identifier: Apache-2.0
//! PTX text: what it is for, and the kernels it has.
//!
//! ```text
//! .version 9.0
//! .target sm_90a
//! .visible .entry scale(
//!     .param .u64 .ptr .global .align 16 scale_param_0,
//!     .param .align 8 .b8 scale_param_1[24]
//! )
//! .maxntid 256, 1, 1
//! {
//! ```
//!
//! Parameters lie one behind the other, each where its alignment allows, as the fields of a C
//! struct. Statements are not looked at. Not here: whether the text is right, which only the
//! driver's compiler knows.

use super::{Code, ImageProblem, Kernel, Param};

use kernpack_machine::Arch;

/// A word or a sign, and its line from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Token<'a> {
    text: &'a str,
    line: usize,
}

/// Whether the bytes look like PTX: the first thing in it must be its version.
pub(super) fn is_ptx(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    tokens(&text).next().is_some_and(|token| token.text == ".version")
}

/// Reads PTX.
pub(super) fn read(bytes: &[u8]) -> Result<Code, ImageProblem> {
    let text = String::from_utf8_lossy(bytes);
    let tokens: Vec<_> = tokens(&text).collect();
    let arch = arch(&tokens)?;
    let mut kernels: Vec<Kernel> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.text != ".entry" {
            continue;
        }
        let mut reader = Reader { tokens: &tokens[at + 1..], line: token.line };
        // A kernel may be declared before it is defined.
        if let Some(kernel) = reader.kernel()?
            && kernels.iter().all(|known| known.name != kernel.name)
        {
            kernels.push(kernel);
        }
    }
    Ok(Code { arch, kernels: Some(kernels) })
}

fn arch(tokens: &[Token<'_>]) -> Result<Arch, ImageProblem> {
    let at = tokens.iter().position(|token| token.text == ".target");
    let name = at.and_then(|at| tokens.get(at + 1));
    let name = name.ok_or_else(|| problem(1, "it has no .target".to_string()))?;
    let arch = name.text.parse::<Arch>().map_err(|error| problem(name.line, error.to_string()))?;
    Ok(arch.compute())
}

/// Reads what is behind `.entry`.
struct Reader<'t> {
    tokens: &'t [Token<'t>],
    /// The line of the last token, for what is missing behind it.
    line: usize,
}

impl<'t> Reader<'t> {
    /// A kernel, or nothing where it is only declared.
    fn kernel(&mut self) -> Result<Option<Kernel>, ImageProblem> {
        let name = self.next("a kernel's name")?.to_string();
        let params = if self.skip("(") { self.params()? } else { vec![] };
        let mut max_threads = None;
        loop {
            match self.next("`{`")? {
                "{" => break,
                ";" => return Ok(None),
                ".maxntid" | ".reqntid" => max_threads = Some(self.extents()?),
                ".entry" => return Err(self.wrong(".entry", "`{`")),
                _ => {}
            }
        }
        let (params, param_bytes) = lay_out(&params)
            .ok_or_else(|| problem(self.line, format!("the parameters of `{name}` have no end")))?;
        Ok(Some(Kernel { name, params, param_bytes, static_shared_bytes: None, max_threads }))
    }

    /// Sizes and alignments up to the closing bracket.
    fn params(&mut self) -> Result<Vec<(u32, u32)>, ImageProblem> {
        const EXPECTED: &str = "`.param` or `)`";
        let mut params = Vec::new();
        loop {
            match self.next(EXPECTED)? {
                ")" => return Ok(params),
                "," => {}
                ".param" => params.push(self.param()?),
                other => return Err(self.wrong(other, EXPECTED)),
            }
        }
    }

    /// Size and alignment of the parameter behind `.param`.
    fn param(&mut self) -> Result<(u32, u32), ImageProblem> {
        let (mut own_alignment, mut size, mut is_pointer) = (None, None, false);
        loop {
            match self.next("a parameter's name")? {
                // Behind `.ptr` it is what the pointer points to that is aligned.
                ".align" if is_pointer => drop(self.number()?),
                ".align" => own_alignment = Some(self.number()?),
                ".ptr" => is_pointer = true,
                ".const" | ".global" | ".local" | ".shared" => {}
                word if word.starts_with('.') => {
                    size = Some(size_of_type(word).ok_or_else(|| self.wrong(word, "a type"))?);
                }
                _ => break,
            }
        }
        let one = size.ok_or_else(|| problem(self.line, "a parameter has no type".to_string()))?;
        let mut all = one;
        while self.skip("[") {
            let n_elements = self.number()?;
            all = all.saturating_mul(n_elements);
            if !self.skip("]") {
                let found = self.next("`]`")?;
                return Err(self.wrong(found, "`]`"));
            }
        }
        let alignment = own_alignment.unwrap_or(one);
        if !alignment.is_power_of_two() {
            return Err(problem(self.line, format!("an alignment of {alignment} bytes")));
        }
        Ok((all, alignment))
    }

    /// The product of one to three extents.
    fn extents(&mut self) -> Result<u32, ImageProblem> {
        let mut product = self.number()?;
        while self.skip(",") {
            product = product.saturating_mul(self.number()?);
        }
        Ok(product)
    }

    fn number(&mut self) -> Result<u32, ImageProblem> {
        let text = self.next("a number")?;
        text.parse().map_err(|_| self.wrong(text, "a number"))
    }

    fn skip(&mut self, text: &str) -> bool {
        let is_next = self.tokens.first().is_some_and(|token| token.text == text);
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn next(&mut self, expected: &str) -> Result<&'t str, ImageProblem> {
        let Some((token, rest)) = self.tokens.split_first() else {
            return Err(problem(self.line, format!("expected {expected}, found the end")));
        };
        (self.tokens, self.line) = (rest, token.line);
        Ok(token.text)
    }

    fn wrong(&self, found: &str, expected: &str) -> ImageProblem {
        problem(self.line, format!("expected {expected}, found `{found}`"))
    }
}

/// The bytes of a type of PTX. Textures, samplers and surfaces are handles.
fn size_of_type(word: &str) -> Option<u32> {
    match word {
        ".b8" | ".u8" | ".s8" => Some(1),
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => Some(2),
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => Some(4),
        ".b64" | ".u64" | ".s64" | ".f64" | ".texref" | ".samplerref" | ".surfref" => Some(8),
        ".b128" => Some(16),
        _ => None,
    }
}

/// Where parameters of these sizes and alignments lie, and where the last ends.
fn lay_out(params: &[(u32, u32)]) -> Option<(Vec<Param>, u32)> {
    let (mut end, mut laid_out) = (0_u32, Vec::new());
    for &(size, alignment) in params {
        let offset = end.checked_next_multiple_of(alignment)?;
        end = offset.checked_add(size)?;
        laid_out.push(Param { offset, size });
    }
    Some((laid_out, end))
}

fn problem(line: usize, reason: String) -> ImageProblem {
    ImageProblem::Ptx { line, reason }
}

/// Words, quoted names and signs. Comments and white space are left out, and everything from the
/// first NUL on.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text.split('\0').next().unwrap_or_default();
    let mut line = 1;
    std::iter::from_fn(move || {
        loop {
            let length = token_length(rest)?;
            let (token, behind) = rest.split_at(length);
            let at = line;
            line += token.matches('\n').count();
            rest = behind;
            let is_comment = token.starts_with("//") || token.starts_with("/*");
            if !is_comment && !token.trim().is_empty() {
                return Some(Token { text: token, line: at });
            }
        }
    })
}

/// The bytes of the token, the comment or the white space at the start, or nothing at the end.
fn token_length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    let up_to = |is_in: &dyn Fn(char) -> bool| text.find(|c| !is_in(c)).unwrap_or(text.len());
    let behind = |from: usize, end: &str| {
        text[from..].find(end).map_or(text.len(), |at| from + at + end.len())
    };
    Some(match first {
        _ if first.is_whitespace() => up_to(&char::is_whitespace),
        _ if text.starts_with("//") => text.find('\n').unwrap_or(text.len()),
        _ if text.starts_with("/*") => behind(2, "*/"),
        '"' => behind(1, "\""),
        _ if is_word(first) => up_to(&is_word),
        _ => first.len_utf8(),
    })
}
