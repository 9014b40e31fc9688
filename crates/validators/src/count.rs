// SPDX-License-Identifier: Apache-2.0
//! How many there are of something, as messages say it.

/// `1 dim`, `2 dims`: the noun is given in the singular, and takes an s.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0, 1, 2].map(|n| count(n, "dim")), ["0 dims", "1 dim", "2 dims"]);
    }
}
