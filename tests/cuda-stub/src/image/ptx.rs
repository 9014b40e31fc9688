// SPDX-License-Identifier: Apache-2.0
//! PTX, as far as its entries go: `.target`, `.entry` with its `.param`s, `.maxntid`, and `.shared`
//! variables in them. Instructions are not looked at.

use super::{Arch, Image, KernelImage, lay_out};

/// Reads a text, if it has a version and a target as PTX must.
pub fn parse(text: &str) -> Option<Image> {
    let text = without_comments(text);
    let target = text.split_once(".target")?.1.split([',', '\n', ' ']).find(|w| !w.is_empty())?;
    let arch = Arch::parse(target.trim(), true)?;
    let mut parts = text.split(".entry");
    let mut outside = parts.next()?.to_string();
    let mut entries = Vec::new();
    for part in parts {
        let (head, body, behind) = in_braces(part);
        entries.push((head, body));
        outside.push_str(behind);
    }
    let kernels = entries.iter().map(|(head, body)| entry(head, body, &outside));
    Some(Image { arches: vec![arch], kernels: kernels.collect::<Option<_>>()?, is_ptx: true })
}

/// What stands before the first brace, between it and the one that closes it, and behind.
fn in_braces(text: &str) -> (&str, &str, &str) {
    let (head, rest) = text.split_once('{').unwrap_or((text, ""));
    let mut depth = 1;
    for (at, character) in rest.char_indices() {
        depth += i32::from(character == '{') - i32::from(character == '}');
        if depth == 0 {
            return (head, &rest[..at], &rest[at + 1..]);
        }
    }
    (head, rest, "")
}

/// The bytes of shared memory that a kernel always takes: its own variables, and those of the file
/// that it names.
fn static_shared(body: &str, outside: &str) -> u32 {
    let variables = |text: &str| {
        let lines = text.split([';', '\n', '}']).map(str::trim);
        let lines = lines.filter(|line| line.starts_with(".shared"));
        lines.map(String::from).collect::<Vec<_>>()
    };
    let is_named = |line: &String| {
        let name = line.split_whitespace().next_back().unwrap_or_default();
        let name = name.split('[').next().unwrap_or_default();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        body.split(|c| !is_part(c)).any(|word| word == name)
    };
    let own = variables(body).into_iter();
    let all = own.chain(variables(outside).into_iter().filter(is_named));
    all.filter_map(|line| param(&line)).map(|(size, _)| size as u32).sum()
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut code = parts.next().unwrap_or_default().to_string();
    for part in parts {
        code.push_str(part.split_once("*/").map_or("", |(_, behind)| behind));
    }
    let lines = code.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.collect::<Vec<_>>().join("\n")
}

/// What follows `.entry`: a name, parameters in brackets, directives; and the body.
fn entry(head: &str, body: &str, outside: &str) -> Option<KernelImage> {
    let (name, rest) = head.split_once('(').unwrap_or((head, ""));
    let mut kernel = KernelImage::new(name.trim());
    let (params, directives) = rest.split_once(')').unwrap_or(("", rest));
    kernel.static_shared = static_shared(body, outside);
    let params = params.split(',').filter(|param| param.contains(".param"));
    kernel.params = lay_out(params.map(param).collect::<Option<Vec<_>>>()?);
    if let Some((_, numbers)) = directives.split_once(".maxntid") {
        let numbers = numbers.split('.').next().unwrap_or_default().split(',');
        kernel.max_threads = numbers.filter_map(|n| n.trim().parse::<u32>().ok()).product();
    }
    Some(kernel)
}

/// Size and alignment of `.param .align 64 .b8 name[128]` or `.param .u64 name`.
fn param(text: &str) -> Option<(usize, usize)> {
    let words: Vec<_> = text.split_whitespace().collect();
    let mut kinds = words.iter().filter_map(|word| word.strip_prefix(['.'])).filter_map(|word| {
        let bits = word.strip_prefix(['b', 's', 'u', 'f'])?.parse::<usize>().ok()?;
        Some(bits / 8)
    });
    let size = kinds.next_back()?;
    let count = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let count = count.map_or(Some(1), |(count, _)| count.trim().parse().ok())?;
    // Behind `.ptr`, an alignment is that of what is pointed to.
    let own = words.iter().position(|word| *word == ".ptr").unwrap_or(words.len());
    let align = words[..own].iter().position(|word| *word == ".align");
    let align = align.and_then(|at| words.get(at + 1)).and_then(|word| word.parse().ok());
    Some((size * count, align.unwrap_or(size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read() {
        let text = "// one\n.version 8.0\n.target sm_90a, debug\n.address_size 64\n\
            .shared .align 4 .b8 both[16];\n.shared .f32 of_none;\n.extern .shared .align 16 .b8 rest[];\n\
            .visible .entry k(\n .param .u64 .ptr .global .align 16 a, // .param .u8 x\n .param .u32 n,\n\
             .param .align 64 .b8 map[128]\n)\n.maxntid 128, 2, 1\n.minnctapersm 2\n{ .shared .align 4 .b8 s[1000]; .shared .f32 t;\n { ld.shared.f32 %f1, [t]; st.shared.f32 [both+4], %f1; } ret; }\n\
            .shared .f32 late;\n\
            /* .entry no() */ .visible .entry empty()\n{ ret; }\n.visible .entry last() { ld.shared.f32 %f1, [late]; ld.shared.f32 %f2, [both]; }\n";
        let image = parse(text).unwrap();
        assert_eq!(image.arches, [Arch::parse("sm_90a", true).unwrap()]);
        let names: Vec<_> = image.kernels.iter().map(|kernel| kernel.name).collect();
        assert_eq!(names, [c"k", c"empty", c"last"]);
        let params = image.kernels[0].params.iter().map(|p| (p.offset, p.size));
        assert_eq!(params.collect::<Vec<_>>(), [(0, 8), (8, 4), (64, 128)]);
        assert_eq!(image.kernels[0].max_threads, 256);
        let shared = image.kernels.iter().map(|kernel| kernel.static_shared);
        assert_eq!(shared.collect::<Vec<_>>(), [1020, 0, 20]);
        assert_eq!(image.kernels[1].max_threads, 1024);
    }
}
