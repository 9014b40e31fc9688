// SPDX-License-Identifier: Apache-2.0
//! Names of kernels as C++ writes them, in a normal form: two spellings of one name have the same.
//!
//! ```text
//! flashinfer::norm::RMSNormKernel<8u, half>
//! void flashinfer::norm::RMSNormKernel<(unsigned int)8, __half>(__half*, __half*, unsigned int)
//! ```
//!
//! What a demangler shows of a symbol and what a person writes differ in white space, in casts of
//! numbers, in the words for a type, and in what stands around the name. None of that is left here,
//! and neither are parameters, the result, nor namespaces without a name, which C++ leaves out too.
//!
//! Not here: what a name means. Default arguments, values of enumerators and inline namespaces are
//! not in the text, so they have to be written out. Any text gives a form, never a panic.

use cpp_demangle::{DemangleOptions, Symbol};

/// The most bytes of a name in full: a short symbol may stand for gigabytes.
const MOST_BYTES: usize = 1 << 16;

/// How deep brackets may be nested in a name that has a form of its own: reading them takes stack.
const MOST_DEPTH: usize = 200;

/// The words that make up the name of an integer type.
const INTEGER_WORDS: [&str; 6] = ["signed", "unsigned", "char", "short", "int", "long"];

/// Words that C++ allows in front of the name of a type.
const ELABORATION: [&str; 6] = ["class", "struct", "union", "enum", "typename", "template"];

/// Words that C++ allows on either side of the name of a type.
const QUALIFIERS: [&str; 2] = ["const", "volatile"];

/// The namespace that nvcc makes for what other files must not see.
const INTERNAL: &str = "_INTERNAL_";

/// Which parts of a function's name in C++ are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Namespaces, the name and template arguments.
    Name,
    /// The types of its parameters too.
    Parameters,
}

/// The name of a symbol in C++; `None` where it is no mangled name.
pub(super) fn demangle(symbol: &str, shown: Shown) -> Option<String> {
    let options = DemangleOptions::new().no_return_type();
    let options = match shown {
        Shown::Name => options.no_params(),
        Shown::Parameters => options,
    };
    let mut text = Bounded(String::new());
    // What is not mangled would be read as a type: `f` as `float`.
    let symbol = Symbol::new(Some(symbol).filter(|symbol| symbol.starts_with("_Z"))?).ok()?;
    symbol.structured_demangle(&mut text, &options).ok()?;
    Some(text.0)
}

/// A text that may not get too long.
struct Bounded(String);

impl std::fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MOST_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The normal form of a function's name.
pub(super) fn normal_form(name: &str) -> String {
    let tokens = tokens(name);
    if depth(&tokens) > MOST_DEPTH {
        return tokens.join(" ");
    }
    let mut reader = Reader { tokens: &tokens };
    reader.skip(&["void"]);
    let form = reader.name();
    match reader.tokens.first() {
        None | Some(&"(") => form,
        // What is behind it makes it another name.
        Some(_) => format!("{form} {}", reader.tokens.join(" ")),
    }
}

/// Reads tokens, and writes normal forms.
struct Reader<'t> {
    tokens: &'t [&'t str],
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&'t str> {
        self.tokens.first().copied()
    }

    fn next(&mut self) -> Option<&'t str> {
        let (token, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(token)
    }

    fn skip(&mut self, tokens: &[&'static str]) -> bool {
        let rest = self.tokens.strip_prefix(tokens);
        self.tokens = rest.unwrap_or(self.tokens);
        rest.is_some()
    }

    /// A name with the namespaces and classes that it is in, and with template arguments.
    fn name(&mut self) -> String {
        let mut components = Vec::new();
        loop {
            self.skip(&["::"]);
            if !self.skip_unnamed() {
                components.push(self.component());
            }
            if self.peek() != Some("::") {
                return components.join("::");
            }
        }
    }

    /// A namespace that names leave out.
    fn skip_unnamed(&mut self) -> bool {
        let is_internal = matches!(self.tokens, [name, "::", ..] if name.starts_with(INTERNAL));
        let is_unnamed = self.starts_unnamed();
        let n_tokens = usize::from(is_internal) + 4 * usize::from(is_unnamed);
        self.tokens = &self.tokens[n_tokens..];
        n_tokens > 0
    }

    fn starts_unnamed(&self) -> bool {
        self.tokens.starts_with(&["(", "anonymous", "namespace", ")"])
    }

    /// One name of a qualified one.
    fn component(&mut self) -> String {
        let mut form = self.next().unwrap_or_default().to_string();
        if form.ends_with('{') {
            while let Some(token) = self.next() {
                form.push_str(token);
                if token == "}" {
                    break;
                }
            }
        }
        while self.skip(&["[", "abi", ":"]) {
            self.next();
            self.skip(&["]"]);
        }
        if self.skip(&["<"]) {
            form.push_str(&format!("<{}>", self.list(">").join(",")));
        }
        form
    }

    /// Types and values up to the end of the list. Empty ones are packs without anything in them.
    fn list(&mut self, end: &str) -> Vec<String> {
        let mut forms = Vec::new();
        loop {
            let form = self.type_or_value(end);
            forms.extend(Some(form).filter(|form| !form.is_empty()));
            if self.next() != Some(",") {
                return forms;
            }
        }
    }

    fn type_or_value(&mut self, end: &str) -> String {
        let (mut parts, mut is_function) = (Vec::new(), false);
        while let Some(token) = self.peek().filter(|token| *token != "," && *token != end) {
            let first = token.chars().next().unwrap_or_default();
            match first {
                '(' if is_function && !self.starts_unnamed() => {
                    self.next();
                    self.list(")");
                }
                '(' if !self.starts_unnamed() => self.brackets(&mut parts, end),
                '[' => {
                    self.next();
                    parts.push(format!("[{}]", self.list("]").join(",")));
                }
                '0'..='9' | '\'' => {
                    self.next();
                    parts.push(number(token));
                }
                // A name behind it may begin with `::`.
                _ if ELABORATION.contains(&token) || QUALIFIERS.contains(&token) => {
                    parts.extend(self.next().map(str::to_string));
                }
                _ if is_word(first) || matches!(first, ':' | '{' | '(') => parts.push(self.name()),
                // A function is its address, and C++ leaves out what it takes.
                '&' if parts.is_empty() => {
                    self.next();
                    self.skip(&["void"]);
                    is_function = true;
                }
                _ => parts.extend(self.next().map(str::to_string)),
            }
        }
        plain_type(parts)
    }

    /// A cast, which is left out, what a function takes, or brackets around a value.
    fn brackets(&mut self, parts: &mut Vec<String>, end: &str) {
        self.next();
        let inner = self.list(")");
        let is_number =
            |form: &String| form.trim_start_matches("- ").starts_with(|c: char| c.is_ascii_digit());
        let is_value = inner.len() == 1 && inner.iter().all(is_number);
        let starts_value = |token: &str| {
            matches!(token, "-" | "&" | "[" | "(") || token.starts_with(is_word_or_literal)
        };
        let has_value = self.peek().is_some_and(|token| token != end && starts_value(token));
        match parts.last() {
            None if has_value => {}
            None => parts.extend(inner),
            Some(cast) if is_value && cast.starts_with(is_word) => {
                parts.pop();
                parts.extend(inner);
            }
            Some(_) => parts.push(format!("({})", inner.join(","))),
        }
    }
}

/// A type of several words in the one way in which it is written here; other things as they are.
fn plain_type(mut parts: Vec<String>) -> String {
    let is_behind = |part: &String| part.starts_with(['*', '&', '(', '[']);
    let behind = parts.split_off(parts.iter().position(is_behind).unwrap_or(parts.len()));
    let mut qualifiers = Vec::new();
    for word in QUALIFIERS {
        if parts.iter().any(|part| part == word) {
            parts.retain(|part| part != word);
            qualifiers.push(word.to_string());
        }
    }
    parts.retain(|part| !ELABORATION.contains(&&**part));
    let is_integer = |part: &String| INTEGER_WORDS.contains(&&**part);
    if !parts.is_empty() && parts.iter().all(is_integer) {
        parts = vec![integer(&parts)];
    }
    for part in &mut parts {
        if let Some(meant) = meaning(part) {
            *part = meant.to_string();
        }
    }
    parts.extend(qualifiers.into_iter().chain(behind));
    parts.join(" ")
}

/// The integer type of these words. `long` is as wide as `long long` where CUDA runs, and a dtype
/// is either.
fn integer(words: &[String]) -> String {
    let has = |word: &str| words.iter().any(|known| known == word);
    let width = ["char", "short", "long"].into_iter().find(|width| has(width)).unwrap_or("int");
    match (has("signed"), has("unsigned"), width) {
        (_, true, _) => format!("unsigned {width}"),
        (true, _, "char") => "signed char".to_string(),
        _ => width.to_string(),
    }
}

/// The meaning of another name: in CUDA's headers, in the standard's, or of a bool.
fn meaning(word: &str) -> Option<&'static str> {
    let of_standard = word.strip_prefix("cuda::").unwrap_or(word);
    Some(match of_standard.strip_prefix("std::").unwrap_or(of_standard) {
        "true" => "1",
        "false" => "0",
        "half" => "__half",
        "half2" => "__half2",
        "nv_bfloat16" => "__nv_bfloat16",
        "nv_bfloat162" => "__nv_bfloat162",
        "int8_t" => "signed char",
        "int16_t" => "short",
        "int32_t" => "int",
        "int64_t" | "ptrdiff_t" => "long",
        "uint8_t" => "unsigned char",
        "uint16_t" => "unsigned short",
        "uint32_t" => "unsigned int",
        "uint64_t" | "size_t" => "unsigned long",
        _ => return None,
    })
}

/// A number in decimal digits, without a suffix; what is no integer stays as it is.
fn number(text: &str) -> String {
    if let ['\'', character, '\''] = text.chars().collect::<Vec<_>>()[..] {
        return u32::from(character).to_string();
    }
    let digits = text.replace('\'', "").to_lowercase();
    let digits = digits.trim_end_matches(['u', 'l', 'z']);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x', ..] => (&digits[2..], 16),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    u64::from_str_radix(digits, radix).map_or(text.to_string(), |number| number.to_string())
}

fn is_word(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

fn is_word_or_literal(c: char) -> bool {
    is_word(c) || c.is_ascii_digit() || c == '\''
}

/// How deep brackets are nested at most.
fn depth(tokens: &[&str]) -> usize {
    let depths = tokens.iter().scan(0_usize, |depth, token| {
        *depth = match *token {
            "<" | "(" | "[" => *depth + 1,
            ">" | ")" | "]" => depth.saturating_sub(1),
            _ => *depth,
        };
        Some(*depth)
    });
    depths.max().unwrap_or_default()
}

/// Words, numbers, characters and signs. White space is left out.
fn tokens(text: &str) -> Vec<&str> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() {
        let (token, behind) = rest.split_at(token_length(rest));
        tokens.push(token);
        rest = behind.trim_start();
    }
    tokens
}

/// The bytes of the token at the start of a text that is not empty.
fn token_length(text: &str) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    let up_to = |is_in: &dyn Fn(char) -> bool| text.find(|c| !is_in(c)).unwrap_or(text.len());
    match text.as_bytes() {
        [b':', b':', ..] => 2,
        [b'\'', ..] => text[1..].find('\'').map_or(text.len(), |at| at + 2),
        [b'0'..=b'9', ..] => up_to(&|c| is_word_or_literal(c) || c == '.'),
        _ if text.starts_with(is_word) => up_to(&|c| is_word(c) || c.is_numeric()),
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of these are one name.
    fn expect_alike(names: &[&str]) {
        let forms: Vec<_> = names.iter().map(|name| normal_form(name)).collect();
        for (name, form) in names.iter().zip(&forms) {
            assert_eq!(form, &forms[0], "{name}");
        }
    }

    /// No two of these are one name.
    fn expect_different(names: &[&str]) {
        let mut forms: Vec<_> = names.iter().map(|name| normal_form(name)).collect();
        forms.sort();
        forms.dedup();
        assert_eq!(forms.len(), names.len(), "{forms:?}");
    }

    /// The name of a kernel in an image, as a person may write it.
    fn expect_named(symbol: &str, names: &[&str]) {
        let shown = [Shown::Name, Shown::Parameters].map(|shown| demangle(symbol, shown).unwrap());
        let shown = shown.iter().map(|shown| &shown[..]);
        expect_alike(&shown.chain(names.iter().copied()).collect::<Vec<_>>());
    }

    #[test]
    fn a_mangled_name_is_what_a_person_writes() {
        expect_named("_Z3addPKfPfi", &["add", "::add", "add(float const*, float*, int)"]);
        expect_named(
            "_ZN10flashinfer4norm13RMSNormKernelILj8E6__halfEEvPT0_S4_S4_jjjff",
            &[
                "flashinfer::norm::RMSNormKernel<8, half>",
                "void flashinfer :: norm::RMSNormKernel< 8u ,__half >(__half*, unsigned)",
            ],
        );
        expect_named("_Z4fillIfLi3EEvPT_", &["fill<float, 3>", "fill<float,0x3>"]);
        expect_named(
            "_Z1kILb1ELc97ELin1EEvv",
            &["k<true, 'a', -1>", "k<(bool)1, char(97), (short)-1L>"],
        );
        expect_named(
            "_Z1kIL4Mode2EEvv",
            &["k<(Mode)2>", "k<Mode(2)>", "k<static_cast<Mode>(2)>", "k<2ull>", "k<((Mode)2)>"],
        );
        expect_named("_Z1kIJEEvDpT_", &["k<>"]);
        expect_named("_Z1kI4PackIJEEJifEEvv", &["k<Pack<>, int, float>"]);
        expect_named("_Z1kB5cxx11IiEvv", &["k<int>"]);
        expect_named("_Z1kIXadL_Z1fiEEXadL_Z1gIiEvT_EEEvv", &["k<f, g<int>>", "k<&f, &g<int> >"]);
    }

    #[test]
    fn namespaces_without_a_name_are_left_out() {
        let names = ["ns::hidden", "ns::(anonymous namespace)::hidden"];
        expect_named("_ZN2ns12_GLOBAL__N_16hiddenEPi", &names);
        expect_named("_ZN2ns40_GLOBAL__N__3dd9e4e0_4_k_cu_ab12cd34_1116hiddenEPi", &names);
        expect_named("_ZN38_INTERNAL_3dd9e4e0_4_k_cu_ab12cd34_1112ns6hiddenEPi", &names);
        expect_named("_Z1kIN12_GLOBAL__N_13TagEEvv", &["k<Tag>", "k<(anonymous namespace)::Tag>"]);
    }

    #[test]
    fn types_have_one_spelling() {
        let of = |spelling: &&str| format!("k<{spelling}>");
        let alike = |spellings: &[&str]| {
            let names: Vec<_> = spellings.iter().map(of).collect();
            expect_alike(&names.iter().map(|name| &name[..]).collect::<Vec<_>>());
        };
        alike(&["long", "long long", "signed long int", "long long int", "int64_t", "ptrdiff_t"]);
        alike(&["unsigned long long", "long unsigned int", "std::uint64_t", "size_t"]);
        alike(&["unsigned", "unsigned int", "cuda::std::uint32_t"]);
        alike(&["short", "short int", "int16_t"]);
        alike(&["unsigned short", "short unsigned int", "uint16_t"]);
        alike(&["unsigned char", "uint8_t"]);
        alike(&["signed char", "int8_t"]);
        alike(&["int", "signed", "signed int", "int32_t"]);
        alike(&["half2", "__half2"]);
        alike(&["nv_bfloat16", "__nv_bfloat16"]);
        alike(&["nv_bfloat162", "__nv_bfloat162"]);
        alike(&["const float*", "float const *"]);
        alike(&["const volatile unsigned *const&", "unsigned int volatile const * const &"]);
        alike(&["struct A::B", "A::B", "typename ::A::B"]);
        alike(&["A<B<unsigned>>", "A< B< unsigned int > >"]);
        alike(&["void (*)(const int, half)", "void(*)(int const, __half)"]);
        alike(&["int (*) [3]", "int(*)[3u]"]);
    }

    #[test]
    fn numbers_are_decimal() {
        let alike = ["k<31>", "k<0x1F>", "k<0b11111>", "k<037u>", "k<31ULL>", "k<3'1>"];
        expect_alike(&alike);
        expect_alike(&["k<0>", "k<false>", "k<0u>", "k<(A)0>"]);
    }

    #[test]
    fn other_names_stay_other_names() {
        expect_different(&[
            "k", "ns::k", "k<>", "k<1>", "k<-1>", "k<1, 1>", "k<1>::k", "k<1.5f>", "k<1.5>",
            r"k<'\n'>", r"k<'\t'>", "k<92>", "k::ns",
        ]);
        expect_different(&[
            "k<char>",
            "k<signed char>",
            "k<unsigned char>",
            "k<short>",
            "k<int>",
            "k<long>",
            "k<unsigned>",
            "k<unsigned long>",
            "k<double>",
            "k<long double>",
            "k<float>",
        ]);
        expect_different(&[
            "k<float*>",
            "k<const float*>",
            "k<float* const>",
            "k<float&>",
            "k<float[3]>",
            "k<float(int)>",
            "k<float(*)(int)>",
            "k<A::B>",
            "k<A<B>>",
            "k<A, B>",
        ]);
        expect_different(&["k", "k[2]", "k + 1", "k void"]);
    }

    #[test]
    fn only_mangled_names_have_another() {
        for symbol in ["scale", "", "_Z", "_Z4fillIf", "_ZTV1A1", "f"] {
            assert_eq!(demangle(symbol, Shown::Name), None, "{symbol}");
        }
    }

    /// Each argument has twice the one before it: 24 of them would be 80 million types.
    #[test]
    fn a_name_that_grows_without_bound_is_given_up() {
        let doubled = |n_times: usize| {
            let places: Vec<_> = ('1'..='9').chain('A'..='Z').take(n_times).collect();
            let args: String = places.iter().map(|at| format!("S0_IS{at}_S{at}_E")).collect();
            demangle(&format!("_Z1kI1AIiiE{args}Evv"), Shown::Name)
        };
        assert_eq!(doubled(1).unwrap(), "k<A<int, int>, A<A<int, int>, A<int, int> > >");
        assert!(doubled(10).is_some());
        assert_eq!(doubled(24), None);
    }

    #[test]
    fn no_text_makes_it_panic() {
        let name = "void a::(anonymous namespace)::k<(M)-1, 'x', f(int)::{lambda(int)#1}, B[abi:c]<const int*>>(x)";
        for start in 0..name.len() {
            for end in start..=name.len() {
                normal_form(&name[start..end]);
            }
        }
        for odd in
            ["k<<<<", ">>>", "k<(((", "'", "k<'", "::::", "k<é>", "{", "[", "(anonymous namespace)"]
        {
            normal_form(odd);
        }
        for open in ["<", "(", "[", "f<", "(*)("] {
            normal_form(&format!("k<{}", open.repeat(100_000)));
        }
    }
}
