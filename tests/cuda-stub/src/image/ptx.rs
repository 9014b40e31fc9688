// SPDX-License-Identifier: Apache-2.0
//! PTX, as far as its entries go: `.target`, `.entry` with its `.param`s, `.maxntid`, and `.shared` variables in them. Instructions are not
//! looked at.

use super::{Arch, Image, KernelImage, lay_out};

/// Reads a text, if it has a version and a target as PTX must.
pub fn parse(text: &str) -> Option<Image> {
    let text = without_comments(text);
    text.split_once(".version")?;
    let target = text.split_once(".target")?.1.split([',', '\n', ' ']).find(|w| !w.is_empty())?;
    let arch = Arch::parse(target.trim(), true)?;
    let entries = text.split(".entry").skip(1).map(entry);
    Some(Image { arches: vec![arch], kernels: entries.collect::<Option<_>>()? })
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

/// What follows `.entry`: a name, parameters in brackets, directives, the body.
fn entry(text: &str) -> Option<KernelImage> {
    let (head, body) = text.split_once('{').unwrap_or((text, ""));
    let (name, rest) = head.split_once('(').unwrap_or((head, ""));
    let mut kernel = KernelImage::new(name.trim());
    let (params, directives) = rest.split_once(')').unwrap_or(("", rest));
    let variables = body.split(';').filter(|line| line.trim().starts_with(".shared"));
    kernel.static_shared = variables.filter_map(param).map(|(size, _)| size as u32).sum();
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
            .visible .entry k(\n .param .u64 .ptr .global .align 16 a, // .param .u8 x\n .param .u32 n,\n\
             .param .align 64 .b8 map[128]\n)\n.maxntid 128, 2, 1\n.minnctapersm 2\n{ .shared .align 4 .b8 s[1000]; .shared .f32 t;\n ld.shared.f32 %f1, [t]; ret; }\n\
            /* .entry no() */ .visible .entry empty()\n{ ret; }\n";
        let image = parse(text).unwrap();
        assert_eq!(image.arches, [Arch::parse("sm_90a", true).unwrap()]);
        let names: Vec<_> = image.kernels.iter().map(|kernel| kernel.name).collect();
        assert_eq!(names, [c"k", c"empty"]);
        let params = image.kernels[0].params.iter().map(|p| (p.offset, p.size));
        assert_eq!(params.collect::<Vec<_>>(), [(0, 8), (8, 4), (64, 128)]);
        assert_eq!(image.kernels[0].max_threads, 256);
        assert_eq!((image.kernels[0].static_shared, image.kernels[1].static_shared), (1004, 0));
        assert_eq!(image.kernels[1].max_threads, 1024);
    }
}
