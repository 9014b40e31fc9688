// SPDX-License-Identifier: Apache-2.0
//! PTX text and fatbins made by hand. Cubins come from NVRTC, in `tests/cuda`.

use super::*;

const PTX: &str = r#"// by hand
.version 9.0
.target sm_90a, debug
.address_size 64
/* .entry not_one( */
.file 1 "a.cu // .entry nor_this("
.func (.param .b32 r) helper(.param .b32 x) { ret; }
.visible .entry declared(.param .u32 a);
.visible .entry scale(
	.param .u64 .ptr .global .align 16 scale_param_0,
	.param .u8 scale_param_1,
	.param .align 8 .b8 scale_param_2[24],
	.param .f32 scale_param_3,
	.param .align 64 .b8 scale_param_4[128],
	.param .b16 scale_param_5[2][3]
)
.maxntid 32, 4, 2
.minnctapersm 1
{
	ret;
}
.weak .entry declared(.param .u32 a)
{
	ret;
}
.entry none() { ret; }
"#;

fn read(bytes: &[u8]) -> Result<Image, ImageError> {
    Image::read("a.bin", bytes.to_vec())
}

fn expect_error(bytes: &[u8], expected: &str) {
    assert_eq!(read(bytes).expect_err(expected).to_string(), format!("`a.bin` {expected}"));
}

fn arch(text: &str) -> Arch {
    text.parse().expect(text)
}

/// Offset and size of each parameter.
fn layout(kernel: &Kernel) -> Vec<(u32, u32)> {
    kernel.params.iter().map(|param| (param.offset, param.size)).collect()
}

/// A fatbin of entries: kind, architecture, flags, image.
fn fatbin(entries: &[(u16, u32, u64, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (kind, arch, flags, image) in entries {
        let mut header = [0; 64];
        header[0..2].copy_from_slice(&kind.to_le_bytes());
        header[2..4].copy_from_slice(&0x101_u16.to_le_bytes());
        header[4..8].copy_from_slice(&64_u32.to_le_bytes());
        let padded = image.len().next_multiple_of(8);
        header[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
        header[28..32].copy_from_slice(&arch.to_le_bytes());
        header[40..48].copy_from_slice(&flags.to_le_bytes());
        body.extend(header);
        body.extend_from_slice(image);
        body.extend(vec![0; padded - image.len()]);
    }
    let mut file = fatbin::MAGIC.to_vec();
    file.extend([1, 0, 16, 0]);
    file.extend((body.len() as u64).to_le_bytes());
    file.extend(body);
    file
}

/// Reads every shortened form and every form with one byte changed: whatever they are, they are no
/// panic.
fn expect_no_panic(bytes: &[u8]) {
    for length in 0..bytes.len() {
        drop(read(&bytes[..length]));
    }
    let mut changed = bytes.to_vec();
    for at in 0..bytes.len() {
        for mask in [0x01, 0x10, 0x80, 0xFF] {
            changed[at] = bytes[at] ^ mask;
            drop(read(&changed));
        }
        changed[at] = bytes[at];
    }
}

#[test]
fn ptx_says_what_it_is_for_and_what_it_takes() {
    let image = read(PTX.as_bytes()).unwrap();
    assert_eq!((image.kind, image.archs()), (ImageKind::Ptx, vec![arch("compute_90a")]));
    let kernels = image.codes[0].kernels.as_ref().unwrap();
    let names: Vec<_> = kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["scale", "declared", "none"]);
    // The offsets of `struct { void *; char; struct { alignas(8) char[24] }; float; alignas(64)
    // char[128]; short[2][3]; }`.
    let expected = [(0, 8), (8, 1), (16, 24), (40, 4), (64, 128), (192, 12)];
    assert_eq!(layout(&kernels[0]), expected);
    assert_eq!((kernels[0].param_bytes, kernels[0].max_threads), (204, Some(256)));
    assert_eq!((layout(&kernels[1]), kernels[1].max_threads), (vec![(0, 4)], None));
    assert_eq!((layout(&kernels[2]), kernels[2].static_shared_bytes), (vec![], None));
}

#[test]
fn ptx_is_terminated_or_not_and_stays_as_it_is() {
    let with_nul = format!("{PTX}\0");
    for (text, is_terminated) in [(PTX, false), (with_nul.as_str(), true)] {
        let image = read(text.as_bytes()).unwrap();
        assert_eq!(
            (image.is_terminated(), image.bytes.as_slice()),
            (is_terminated, text.as_bytes())
        );
    }
    assert_eq!(read(PTX.as_bytes()).unwrap().codes, read(with_nul.as_bytes()).unwrap().codes);
}

#[test]
fn ptx_that_cannot_be_read_names_the_line() {
    let expect = |from: &str, to: &str, expected: &str| {
        assert!(PTX.contains(from), "{from}");
        expect_error(
            PTX.replace(from, to).as_bytes(),
            &format!("is no PTX that kernpack can read: {expected}"),
        );
    };
    expect(".target sm_90a, debug", "", "line 1: it has no .target");
    let no_arch = "line 3: `gfx90` is no GPU architecture: expected `sm_` or `compute_`, two or three digits, and perhaps `a` or `f`, as in `sm_90a`";
    expect("sm_90a", "gfx90", no_arch);
    expect(".f32 scale", ".f80 scale", "line 13: expected a type, found `.f80`");
    expect("[24]", "[n]", "line 12: expected a number, found `n`");
    expect("[24]", "[24", "line 12: expected `]`, found `,`");
    expect(".align 64", ".align 3", "line 14: an alignment of 3 bytes");
    expect(".f32 scale", "scale", "line 13: a parameter has no type");
    expect("\n)\n.maxntid", "\n.maxntid", "line 16: expected `.param` or `)`, found `.maxntid`");
    let twice = ".entry none .entry none() { ret; }";
    expect(".entry none() { ret; }", twice, "line 26: expected `{`, found `.entry`");
    let huge = "[4294967295][4294967295]";
    expect("[2][3]", huge, "line 19: the parameters of `scale` have no end");
    let cut = &PTX[..PTX.find("[24]").unwrap()];
    expect_error(
        cut.as_bytes(),
        "is no PTX that kernpack can read: line 12: expected `.param` or `)`, found the end",
    );
}

#[test]
fn other_bytes_are_no_image() {
    let advice = "give a cubin, a fatbin or PTX text";
    expect_error(b"", "is empty; build or copy it again");
    expect_error(
        b"!<arch>\n",
        &format!("is no GPU image: it begins with \"!<arch>\\n\"; {advice}"),
    );
    let code = b"__global__ void k();";
    expect_error(code, &format!("is no GPU image: it begins with \"__global__ void \"; {advice}"));
}

#[test]
fn a_fatbin_has_code_for_several() {
    let zstd = b"\x28\xb5\x2f\xfd rest";
    let image = read(&fatbin(&[
        (1, 90, 0x11, PTX.as_bytes()),
        (2, 80, 0x8011, zstd),
        (2, 90, 0x10_2011, zstd),
        (2, 100, 0x120_8011, zstd),
        (8, 75, 0x11, b"link-time code"),
        (1, 120, 0x10_8011, zstd),
    ]));
    let image = image.unwrap();
    let expected = ["compute_90", "sm_80", "sm_90a", "sm_100f", "compute_120a"].map(arch);
    assert_eq!((image.kind, image.archs()), (ImageKind::Fatbin, expected.to_vec()));
    let known: Vec<_> = image.codes.iter().map(|code| code.kernels.is_some()).collect();
    assert_eq!(known, [true, false, false, false, false]);
    assert_eq!(image.kernel("scale").unwrap().params.len(), 6);
    assert!(image.is_terminated());
}

#[test]
fn kernels_of_compressed_code_are_not_known() {
    let image = read(&fatbin(&[(2, 80, 0x2011, b"LZ4")])).unwrap();
    assert_eq!(image.kernel("anything"), None);
}

#[test]
fn a_damaged_fatbin_says_where() {
    let whole = fatbin(&[(1, 80, 0x11, PTX.as_bytes())]);
    let (n, advice) = (whole.len(), "copy or build it again");
    expect_error(
        &whole[..8],
        &format!("is cut short: its header ends at byte 16, but the file has 8; {advice}"),
    );
    let cut = format!(
        "is cut short: its last entry ends at byte {n}, but the file has {}; {advice}",
        n - 1
    );
    expect_error(&whole[..n - 1], &cut);
    let patched = |at: usize, byte: u8| {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        bytes
    };
    expect_error(
        &patched(6, 8),
        &format!("is damaged: its header has 8 bytes, expected 16; {advice}"),
    );
    expect_error(
        &patched(20, 8),
        &format!("is damaged: the entry at byte 16 has a header of 8 bytes; {advice}"),
    );
    expect_error(&patched(44, 3), &format!("is damaged: an entry is for architecture 3; {advice}"));
    let longer = format!(
        "is cut short: its entry ends at byte {}, but the file has {n}; {advice}",
        n + 65536
    );
    expect_error(&patched(26, 1), &longer);
    expect_error(&fatbin(&[]), "has no code for any architecture; build it with nvcc's --gpu-code");
    expect_error(
        &fatbin(&[(8, 80, 0, b"")]),
        "has no code for any architecture; build it with nvcc's --gpu-code",
    );
}

#[test]
fn no_bytes_make_it_panic() {
    expect_no_panic(PTX.as_bytes());
    expect_no_panic(&fatbin(&[(1, 80, 0x11, PTX.as_bytes()), (2, 90, 0x2011, b"compressed")]));
}
