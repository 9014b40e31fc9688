// SPDX-License-Identifier: Apache-2.0
//! Which kernels of images a launch means: by their symbols, or by the names that C++ has for them.
//!
//! A symbol goes before a name in C++. All code that can be read must have the kernel, under one
//! symbol, as the driver is asked for one whatever the device is. Nothing but the kernels of the
//! images is a candidate. Not here: how names are compared ([`cpp_name`]).

use super::cpp_name::{self, Shown};
use super::{Image, ImageError, ImageProblem, Kernel};
use kernpack_machine::Arch;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::fmt;

/// A kernel of an image, by both of its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelName {
    /// The symbol.
    pub symbol: String,
    /// Its name in C++, where the symbol is a mangled name.
    pub cpp: Option<String>,
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cpp {
            None => write!(f, "`{}`", self.symbol),
            Some(cpp) => write!(f, "`{cpp}` (`{}`)", self.symbol),
        }
    }
}

impl KernelName {
    fn new(kernel: &Kernel, shown: Shown) -> KernelName {
        let cpp = cpp_name::demangle(&kernel.name, shown);
        KernelName { symbol: kernel.name.clone(), cpp }
    }
}

/// The symbol of each kernel that goes by one of these names, in all of the images, which have the
/// same kernels for different devices. Or else what is wrong, and the place of the image where it
/// is: code that can be read has no such kernel, or several, or under another symbol than the rest,
/// or a name can be no symbol and no code can be read.
pub fn symbols(images: &[Image], names: &[String]) -> Vec<Result<String, (usize, ImageError)>> {
    let codes = images.iter().enumerate().flat_map(|(at, image)| ReadableCode::of(at, image));
    let codes: Vec<_> = codes.collect();
    let symbol = |name: &String| match symbol(&codes, name) {
        Ok(Some(symbol)) => Ok(symbol.to_string()),
        Ok(None) if is_symbol(name) => Ok(name.clone()),
        Ok(None) => Err((0, ImageProblem::Compressed { kernel: name.clone() })),
        Err((code, problem)) => Err((code.at, problem)),
    };
    let error = |(at, problem): (usize, ImageProblem)| {
        (at, ImageError { image: images[at].name.clone(), problem })
    };
    names.iter().map(|name| symbol(name).map_err(error)).collect()
}

/// The symbol of a kernel in all of the code, if there is any.
fn symbol<'c, 'i>(
    codes: &'c [ReadableCode<'i>],
    name: &str,
) -> Result<Option<&'i str>, (&'c ReadableCode<'i>, ImageProblem)> {
    let mut first: Option<(Arch, &str)> = None;
    for code in codes {
        let symbol = code.symbol(name).map_err(|problem| (code, problem))?;
        let (other, expected) = *first.get_or_insert((code.arch, symbol));
        if symbol != expected {
            let problem = ImageProblem::OtherSymbol {
                kernel: name.to_string(),
                arch: code.arch,
                symbol: symbol.to_string(),
                other: (other, expected.to_string()),
            };
            return Err((code, problem));
        }
    }
    Ok(first.map(|(_, symbol)| symbol))
}

/// Whether a name can be a symbol: PTX has no other characters in one.
fn is_symbol(name: &str) -> bool {
    let is_in = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.');
    !name.is_empty() && name.chars().all(is_in)
}

/// Code whose kernels are known.
struct ReadableCode<'i> {
    /// Its image's place among all.
    at: usize,
    arch: Arch,
    kernels: &'i [Kernel],
    /// The normal form of each kernel's name in C++. Thousands of long names take a while.
    forms: OnceCell<Vec<String>>,
}

impl<'i> ReadableCode<'i> {
    fn of(at: usize, image: &'i Image) -> impl Iterator<Item = ReadableCode<'i>> {
        image.codes.iter().filter_map(move |code| {
            let kernels = code.kernels.as_deref()?;
            Some(ReadableCode { at, arch: code.arch, kernels, forms: OnceCell::new() })
        })
    }

    fn symbol(&self, name: &str) -> Result<&'i str, ImageProblem> {
        if let Some(kernel) = self.kernels.iter().find(|kernel| kernel.name == name) {
            return Ok(&kernel.name);
        }
        let form = cpp_name::normal_form(name);
        let forms = self.forms.get_or_init(|| self.kernels.iter().map(normal_form).collect());
        let named = self.kernels.iter().zip(forms).filter(|(_, known)| **known == form);
        let named: Vec<_> = named.map(|(kernel, _)| kernel).collect();
        match named[..] {
            [kernel] => Ok(&kernel.name),
            [] => Err(self.no_kernel(name, &form, forms)),
            _ => {
                let full = |kernel: &&Kernel| KernelName::new(kernel, Shown::Parameters);
                let among = named.iter().map(full).collect();
                Err(ImageProblem::Ambiguous { kernel: name.to_string(), arch: self.arch, among })
            }
        }
    }

    /// That it lacks a kernel, which has this form: with those that it has, the closest first.
    fn no_kernel(&self, name: &str, form: &str, forms: &[String]) -> ImageProblem {
        let mut has: Vec<_> = self.kernels.iter().zip(forms).collect();
        has.sort_by_cached_key(|(kernel, known)| {
            let of_symbol = strsim::normalized_levenshtein(name, &kernel.name);
            let of_name = strsim::normalized_levenshtein(form, known);
            Reverse((1e6 * of_symbol.max(of_name)) as u32)
        });
        let has = has.into_iter().map(|(kernel, _)| KernelName::new(kernel, Shown::Name)).collect();
        ImageProblem::NoKernel { kernel: name.to_string(), arch: self.arch, has }
    }
}

fn normal_form(kernel: &Kernel) -> String {
    let cpp = cpp_name::demangle(&kernel.name, Shown::Name);
    cpp.map_or(kernel.name.clone(), |cpp| cpp_name::normal_form(&cpp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// PTX with these kernels, none of which does anything.
    fn image(arch: &str, kernels: &[&str]) -> Image {
        let kernels =
            kernels.iter().map(|kernel| format!(".visible .entry {kernel}() {{ ret; }}\n"));
        let text = format!(".version 9.0\n.target {arch}\n{}", kernels.collect::<String>());
        Image::read(&format!("{arch}.ptx"), text.into_bytes()).unwrap()
    }

    fn symbol(images: &[Image], name: &str) -> Result<String, String> {
        let found = symbols(images, &[name.to_string()]).remove(0);
        found.map_err(|(at, error)| {
            assert_eq!(error.image, images[at].name);
            error.to_string()
        })
    }

    fn expect_error(images: &[Image], name: &str, expected: Expect) {
        expected.assert_eq(&symbol(images, name).expect_err("no error"));
    }

    const NORM_FLOAT: &str = "_ZN4norm3rmsILj8EfEEvPT0_";
    const NORM_HALF: &str = "_ZN4norm3rmsILj8E6__halfEEvPT0_";

    #[test]
    fn kernels_go_by_either_name() {
        let images = [image("sm_80", &["count", NORM_FLOAT, NORM_HALF, "_Z5counti"])];
        for (name, expected) in [
            ("norm::rms<8, half>", NORM_HALF),
            ("norm::rms<8, float>", NORM_FLOAT),
            (NORM_FLOAT, NORM_FLOAT),
            // The symbol goes before the name in C++.
            ("count", "count"),
            ("_Z5counti", "_Z5counti"),
            ("::norm::rms<8u,float>", NORM_FLOAT),
        ] {
            assert_eq!(symbol(&images, name).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn what_there_is_is_told_with_the_closest_first() {
        let images = [image("sm_80", &["count", "_Z3addPf", NORM_HALF, NORM_FLOAT])];
        expect_error(
            &images,
            "rms<8, float>",
            expect![
                "`sm_80.ptx` has no kernel `rms<8, float>` for compute_80; it has `norm::rms<(unsigned int)8, float>` (`_ZN4norm3rmsILj8EfEEvPT0_`), `norm::rms<(unsigned int)8, __half>` (`_ZN4norm3rmsILj8E6__halfEEvPT0_`), `count`, `add` (`_Z3addPf`)"
            ],
        );
        expect_error(
            &images,
            "_Z3addPi",
            expect![
                "`sm_80.ptx` has no kernel `_Z3addPi` for compute_80; it has `add` (`_Z3addPf`), `norm::rms<(unsigned int)8, __half>` (`_ZN4norm3rmsILj8E6__halfEEvPT0_`), `norm::rms<(unsigned int)8, float>` (`_ZN4norm3rmsILj8EfEEvPT0_`), `count`"
            ],
        );
        let many: Vec<_> = (10..25).map(|n| format!("k{n}")).collect();
        let many: Vec<_> = many.iter().map(|name| &name[..]).collect();
        expect_error(
            &[image("sm_80", &many)],
            "k2",
            expect![
                "`sm_80.ptx` has no kernel `k2` for compute_80; it has `k12`, `k20`, `k21`, `k22`, `k23`, `k24`, `k10`, `k11`, `k13`, `k14` and 5 more"
            ],
        );
    }

    #[test]
    fn code_without_kernels_has_none() {
        let expected = expect!["`sm_80.ptx` has no kernel `k` for compute_80; it has none"];
        expect_error(&[image("sm_80", &[])], "k", expected);
    }

    /// Both architectures of a fatbin must have the kernel.
    #[test]
    fn a_kernel_must_be_in_all_code_that_can_be_read() {
        let [mut both, other] = [image("sm_80", &["k", "none"]), image("sm_90", &["l", "none"])];
        both.codes.extend(other.codes);
        let both = [both];
        expect_error(
            &both,
            "k",
            expect!["`sm_80.ptx` has no kernel `k` for compute_90; it has `l`, `none`"],
        );
        assert_eq!(symbol(&both, "none").as_deref(), Ok("none"));
    }

    #[test]
    fn names_of_several_kernels_are_refused() {
        let images =
            [image("sm_80", &["_Z5scalePff", "_Z5scalePdd", "_Z3rmsIlEvv", "_Z3rmsIxEvv"])];
        expect_error(
            &images,
            "scale",
            expect![
                "`sm_80.ptx` has several kernels `scale` for compute_80: `scale(float*, float)` (`_Z5scalePff`), `scale(double*, double)` (`_Z5scalePdd`); name one by its symbol"
            ],
        );
        expect_error(
            &images,
            "rms<int64_t>",
            expect![
                "`sm_80.ptx` has several kernels `rms<int64_t>` for compute_80: `rms<long>()` (`_Z3rmsIlEvv`), `rms<long long>()` (`_Z3rmsIxEvv`); name one by its symbol"
            ],
        );
        assert_eq!(symbol(&images, "_Z5scalePff").as_deref(), Ok("_Z5scalePff"));
    }

    #[test]
    fn a_kernel_is_one_symbol_for_all_devices() {
        let name = "ns::hidden";
        let symbols = ["_ZN2ns12_GLOBAL__N_16hiddenEv", "_ZN2ns15_GLOBAL__N__abc6hiddenEv"];
        let of = |archs: [&str; 2], symbols: [&str; 2]| {
            [image(archs[0], &[symbols[0]]), image(archs[1], &[symbols[1]])]
        };
        let archs = ["sm_80", "sm_90"];
        let alike = of(archs, [symbols[0]; 2]);
        assert_eq!(symbol(&alike, name).as_deref(), Ok(symbols[0]));
        expect_error(
            &of(archs, symbols),
            name,
            expect![
                "`sm_90.ptx` has the kernel `ns::hidden` as `_ZN2ns15_GLOBAL__N__abc6hiddenEv` for compute_90, but for compute_80 it is `_ZN2ns12_GLOBAL__N_16hiddenEv`; declare it alike for all, outside of namespaces without a name"
            ],
        );
        expect_error(
            &of(archs, ["_Z1kv", "_Z1lv"]),
            "k",
            expect!["`sm_90.ptx` has no kernel `k` for compute_90; it has `l` (`_Z1lv`)"],
        );
    }

    #[test]
    fn where_nothing_can_be_read_a_name_is_the_symbol() {
        let compressed = Image {
            name: "a.fatbin".to_string(),
            kind: crate::image::ImageKind::Fatbin,
            codes: vec![crate::image::Code { arch: "sm_90".parse().unwrap(), kernels: None }],
            bytes: vec![],
            assembler: None,
        };
        let alone = [compressed.clone()];
        for name in ["k", "_Z1kIfEvv", "k$1", "%k.x"] {
            assert_eq!(symbol(&alone, name).as_deref(), Ok(name));
        }
        for name in ["k<float>", "ns::k", "k ", ""] {
            let error = symbol(&alone, name).unwrap_err();
            let expected = format!(
                "`a.fatbin` is compressed, so that the kernel `{name}` cannot be looked for in it; give its symbol"
            );
            assert_eq!(error, expected);
        }
        let beside = [compressed, image("sm_80", &["_Z1kIfEvv"])];
        assert_eq!(symbol(&beside, "k<float>").as_deref(), Ok("_Z1kIfEvv"));
    }
}
