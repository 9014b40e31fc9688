// SPDX-License-Identifier: Apache-2.0
//! Functions of other languages and libraries that kernpack has not. Whoever writes one of them
//! means it: a name that only looks like it would compute something else.

/// Names of CUDA C++, NumPy, PyTorch, Triton and CuTe. What a name here is spelled like is found
/// without this list where one is the other with something added.
const NAMES: &[&str] = &[
    "acos",
    "acosh",
    "all_sync",
    "any_sync",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "atomic_and",
    "atomic_cas",
    "atomic_dec",
    "atomic_exch",
    "atomic_inc",
    "atomic_max",
    "atomic_min",
    "atomic_nand",
    "atomic_or",
    "atomic_sub",
    "atomic_xchg",
    "atomic_xor",
    "brev",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "cospi",
    "cumprod",
    "cumsum",
    "div_rn",
    "erfc",
    "erfcinv",
    "erfcx",
    "erfinv",
    "expm1",
    "fabs",
    "fdim",
    "ffs",
    "floor",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gelu",
    "hypot",
    "ilogb",
    "isfinite",
    "isinf",
    "isnan",
    "ldexp",
    "lgamma",
    "log10",
    "log1p",
    "logaddexp",
    "logb",
    "mad",
    "mulhi",
    "nearbyint",
    "nextafter",
    "norm",
    "normcdf",
    "popc",
    "prod",
    "rcbrt",
    "rcp",
    "relu",
    "remainder",
    "rhypot",
    "rint",
    "rnorm",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "silu",
    "sin",
    "sincos",
    "sinh",
    "sinpi",
    "softmax",
    "sort",
    "sum",
    "tan",
    "tanh",
    "tgamma",
    "trunc",
    "umulhi",
    "xor_sum",
];

/// Whether a function is called so elsewhere.
pub(super) fn is_function(name: &str) -> bool {
    NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use crate::builtin::{self, unknown};

    /// A help that offers a function offers none that computes something else.
    #[test]
    fn a_function_of_another_meaning_is_not_offered() {
        let others = super::NAMES.iter().copied().filter(|name| builtin::find(name).is_none());
        let with_more =
            ["sync_threads_or", "sync_threads_and", "sync_threads_count", "exp10", "log3", "rexp"];
        for name in others.chain(with_more) {
            if builtin::called_here(name).is_some() {
                continue;
            }
            let help = unknown(name).help.unwrap_or_default();
            assert_eq!(help, "see the reference for what there is", "{name}");
        }
    }

    #[test]
    fn a_slip_of_the_pen_is_told() {
        for (name, meant) in [
            ("sync_thread", "kp.sync_threads"),
            ("syncthreads", "kp.sync_threads()"),
            ("sqrtf", "kp.sqrt"),
            ("slqrt", "kp.sqrt"),
            ("atomic_ad", "kp.atomic_add"),
            ("make_tensr", "kp.make_tensor"),
            ("flaot32", "kp.float32"),
        ] {
            assert_eq!(unknown(name).help, Some(format!("write `{meant}`")), "{name}");
        }
    }
}
