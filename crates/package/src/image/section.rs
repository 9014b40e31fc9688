// SPDX-License-Identifier: Apache-2.0
//! The section of a package that has its images, one behind the other.

use super::bytes::{u16_at, u64_at};
use super::{Image, fatbin};
use std::ops::Range;

/// The name of the section.
pub const SECTION: &str = ".kernpack.images";

/// The alignment of each image in it, in bytes.
pub const ALIGNMENT: usize = 64;

/// The images of a section, each with where it lies there. What is no image ends the list.
pub fn split(section: &[u8]) -> Vec<(Range<usize>, Image)> {
    let (mut images, mut at) = (Vec::new(), 0);
    while let Some(image) = section.get(at..).and_then(first) {
        let range = at..at + image.bytes.len();
        at = range.end.next_multiple_of(ALIGNMENT);
        images.push((range, image));
    }
    images
}

/// The image that bytes begin with.
fn first(bytes: &[u8]) -> Option<Image> {
    let end = if bytes.starts_with(b"\x7fELF") {
        elf_end(bytes)?
    } else if bytes.starts_with(&fatbin::MAGIC) {
        fatbin::end(bytes)?
    } else {
        // The NUL is the driver's, and belongs to the text.
        bytes.iter().position(|byte| *byte == 0)? + 1
    };
    Image::read("an image", bytes.get(..end)?.to_vec()).ok()
}

/// Where an ELF file ends: its tables of headers stand behind what they describe.
fn elf_end(file: &[u8]) -> Option<usize> {
    let word = |at| Some(usize::from(u16_at(file, at)?));
    let table = |offset: usize, size: usize, count: usize| {
        let start = usize::try_from(u64_at(file, offset)?).ok()?;
        start.checked_add(word(size)?.checked_mul(word(count)?)?)
    };
    Some(table(32, 54, 56)?.max(table(40, 58, 60)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::ImageKind;

    const PTX: &[u8] = b".version 9.0\n.target sm_75\n.address_size 64\n.entry f() { ret; }\n\0";

    fn section(images: &[&[u8]]) -> Vec<u8> {
        let mut section = Vec::new();
        for image in images {
            section.resize(section.len().next_multiple_of(ALIGNMENT), 0);
            section.extend_from_slice(image);
        }
        section
    }

    #[test]
    fn images_come_back_as_they_went_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/images");
        let images = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let images: Vec<_> = images.filter_map(|path| std::fs::read(path).ok()).collect();
        let images: Vec<_> = images
            .into_iter()
            .filter(|bytes| {
                Image::read("", bytes.clone()).is_ok_and(|it| it.kind != ImageKind::Ptx)
            })
            .collect();
        assert!(images.len() > 1, "{folder} has images");
        let mut all: Vec<_> = images.iter().map(Vec::as_slice).collect();
        all.insert(1, PTX);
        let found: Vec<_> =
            split(&section(&all)).into_iter().map(|(_, image)| image.bytes).collect();
        assert_eq!(found, all);
    }

    #[test]
    fn any_bytes_give_a_list() {
        assert!(split(b"").is_empty());
        assert!(split(b"\x7fELF and no more").is_empty());
        let cut = section(&[PTX, b".version 9.0 without an end"]);
        assert_eq!(split(&cut).len(), 1);
    }
}
