// SPDX-License-Identifier: Apache-2.0
//! The stub's own images: text that says which kernels there are and what they do.
//!
//! ```text
//! KPSTUB sm_90a sm_100f
//! kernel add_one params 8 8 4 effect add_one
//! kernel tiles params 128 8 12@200 static 1024 registers 64 threads 256
//! ```
//!
//! The first line has the architectures. A parameter is its size; it lies where a value of that
//! size would, unless `@` says at which offset. `static` is shared memory in bytes, `threads` the
//! most threads of a block. Effects are `nothing`, `add_one` and `copy`.

use super::{Arch, Effect, Image, KernelImage, Param, lay_out};

/// How such an image begins.
pub const FIRST_WORD: &str = "KPSTUB";

/// Reads one.
pub fn parse(text: &str) -> Option<Image> {
    let mut lines = text.lines();
    let mut first = lines.next()?.split_whitespace();
    let arches: Option<Vec<_>> =
        first.by_ref().skip(1).map(|name| Arch::parse(name, false)).collect();
    let kernels = lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let kernels: Option<Vec<_>> = kernels.map(kernel).collect();
    let arches = arches.filter(|arches| !arches.is_empty())?;
    Some(Image { arches, kernels: kernels?, is_ptx: false })
}

fn kernel(line: &str) -> Option<KernelImage> {
    let words: Vec<_> = line.split_whitespace().collect();
    let ["kernel", name, rest @ ..] = &words[..] else { return None };
    let mut kernel = KernelImage::new(name);
    let mut rest = rest.iter().peekable();
    while let Some(word) = rest.next() {
        match *word {
            "params" => {
                let is_param = |word: &&&str| word.starts_with(|c: char| c.is_ascii_digit());
                let words = std::iter::from_fn(|| rest.next_if(|word| is_param(word)).copied());
                kernel.params = params(words)?;
            }
            "static" => kernel.static_shared = rest.next()?.parse().ok()?,
            "registers" => kernel.registers = rest.next()?.parse().ok()?,
            "threads" => kernel.max_threads = rest.next()?.parse().ok()?,
            "effect" => kernel.effect = effect(rest.next()?)?,
            _ => return None,
        }
    }
    Some(kernel)
}

/// Parameters lie one behind the other, each aligned to the largest power of two that divides its
/// size, up to 64.
fn params<'a>(words: impl Iterator<Item = &'a str>) -> Option<Vec<Param>> {
    let mut params: Vec<Param> = Vec::new();
    for word in words {
        let (size, offset) = word.split_once('@').map_or((word, None), |(a, b)| (a, Some(b)));
        let size: usize = size.parse().ok().filter(|size| *size > 0)?;
        let end = params.last().map_or(0, |last| last.offset + last.size);
        let alignment = (1 << size.trailing_zeros()).min(64);
        let natural = lay_out([(end, 1), (size, alignment)])[1].offset;
        let offset = offset.map_or(Some(natural), |offset| offset.parse().ok())?;
        params.push(Param { offset, size });
    }
    Some(params)
}

fn effect(word: &str) -> Option<Effect> {
    match word {
        "nothing" => Some(Effect::Nothing),
        "add_one" => Some(Effect::AddOne),
        "copy" => Some(Effect::Copy),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_read() {
        let text = "KPSTUB sm_90a sm_100f\n# two\nkernel add_one params 8 4 8 effect add_one\n\n\
            kernel tiles params 4 128 12@200 2 static 1024 registers 64 threads 256\n";
        let image = parse(text).unwrap();
        assert_eq!(image.arches.len(), 2);
        let offsets = |kernel: &KernelImage| {
            kernel.params.iter().map(|p| (p.offset, p.size)).collect::<Vec<_>>()
        };
        assert_eq!(image.kernels[0].name, c"add_one");
        assert_eq!(image.kernels[0].effect, Effect::AddOne);
        assert_eq!(offsets(&image.kernels[0]), [(0, 8), (8, 4), (16, 8)]);
        let tiles = &image.kernels[1];
        assert_eq!(offsets(tiles), [(0, 4), (64, 128), (200, 12), (212, 2)]);
        let numbers = (tiles.static_shared, tiles.registers, tiles.max_threads);
        assert_eq!(numbers, (1024, 64, 256));
    }

    #[test]
    fn mistakes_are_refused() {
        let texts = [
            "KPSTUB",
            "KPSTUB sm_x",
            "KPSTUB sm_90\nkernel",
            "KPSTUB sm_90\nkernel a effect fly",
            "KPSTUB sm_90\nkernel a params 0",
            "KPSTUB sm_90\nkernel a 8",
        ];
        for text in texts {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
