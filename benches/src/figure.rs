// SPDX-License-Identifier: Apache-2.0
//! A figure: what was measured, what it may be at most, and whether the run was quiet enough to
//! tell.

use crate::series::Medians;

/// How often a figure is measured before it is given up as noise.
const MAX_TRIES: usize = 12;

/// How a figure is judged.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    /// Ours divided by the reference.
    Ratio(f64),
    /// Ours, in the figure's unit; a tenth of it is the margin.
    Most(f64),
}

/// A measured figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of the figure.
    pub name: String,
    /// The unit of the numbers.
    pub unit: &'static str,
    /// The numbers. A figure that takes no time, such as a size, has itself as reference and
    /// control.
    pub medians: Medians,
    /// The target that it is held to.
    pub target: Target,
}

/// The verdict of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The target is met.
    Met,
    /// It is not.
    Missed,
    /// The control differs too much from the reference to tell.
    Noisy,
}

impl Figure {
    /// Measures until the control is quiet, and keeps the last run.
    ///
    /// # Errors
    /// Those of `measure`.
    pub fn measure<E>(
        name: impl Into<String>,
        unit: &'static str,
        target: Target,
        mut measure: impl FnMut() -> Result<Medians, E>,
    ) -> Result<Figure, E> {
        let name = name.into();
        let mut n_tries = 1;
        loop {
            let figure = Figure { name: name.clone(), unit, medians: measure()?, target };
            if figure.is_quiet() || n_tries == MAX_TRIES {
                return Ok(figure);
            }
            n_tries += 1;
        }
    }

    /// The number that is compared with the target.
    pub fn result(&self) -> f64 {
        match self.target {
            Target::Ratio(_) => self.medians.ours / self.medians.reference,
            Target::Most(_) => self.medians.ours,
        }
    }

    /// The reference's second samples by its first: 1 on a quiet machine.
    pub fn control(&self) -> f64 {
        self.medians.control / self.medians.reference
    }

    /// Whether the control is off by at most a third of the target's margin, or of what is between
    /// the target and the result.
    pub fn is_quiet(&self) -> bool {
        let margin = match self.target {
            Target::Ratio(limit) => (limit - 1.0).abs().max((limit - self.result()).abs()),
            Target::Most(_) => 0.1,
        };
        (self.control() - 1.0).abs() <= margin / 3.0
    }

    /// Whether the target is met.
    pub fn verdict(&self) -> Verdict {
        let (Target::Ratio(limit) | Target::Most(limit)) = self.target;
        match (self.is_quiet(), self.result() <= limit) {
            (false, _) => Verdict::Noisy,
            (true, true) => Verdict::Met,
            (true, false) => Verdict::Missed,
        }
    }
}

/// The columns of the table.
pub const COLUMNS: [&str; 7] =
    ["figure", "ours", "reference", "result", "control", "target", "verdict"];

impl Figure {
    /// The figure as a row of the table.
    pub fn row(&self) -> [String; 7] {
        let unit = self.unit;
        let amount = |value: f64| format!("{} {unit}", digits(value));
        let (result, target) = match self.target {
            Target::Ratio(limit) => (format!("{:.3}", self.result()), format!("{limit:.2}")),
            Target::Most(limit) => (amount(self.result()), amount(limit)),
        };
        let control = format!("{:.3}", self.control());
        let reference = match self.target {
            Target::Ratio(_) => amount(self.medians.reference),
            Target::Most(_) => String::new(),
        };
        let verdict = match self.verdict() {
            Verdict::Met => "met",
            Verdict::Missed => "MISSED",
            Verdict::Noisy => "noisy",
        };
        let ours = amount(self.medians.ours);
        [self.name.clone(), ours, reference, result, control, target, verdict.to_string()]
    }
}

/// Three digits or so.
fn digits(value: f64) -> String {
    match value {
        ..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Figure, Target, Verdict};
    use crate::series::Medians;

    fn verdict(target: Target, ours: f64, reference: f64, control: f64) -> Verdict {
        let medians = Medians { ours, reference, control };
        Figure { name: String::new(), unit: "ns", medians, target }.verdict()
    }

    #[test]
    fn verdicts() {
        assert_eq!(verdict(Target::Ratio(1.1), 10.9, 10.0, 10.3), Verdict::Met);
        assert_eq!(verdict(Target::Ratio(1.1), 11.1, 10.0, 9.7), Verdict::Missed);
        assert_eq!(verdict(Target::Ratio(1.1), 10.0, 10.0, 10.4), Verdict::Noisy);
        assert_eq!(verdict(Target::Ratio(0.1), 0.9, 10.0, 12.9), Verdict::Met);
        assert_eq!(verdict(Target::Ratio(0.1), 0.9, 10.0, 13.1), Verdict::Noisy);
        assert_eq!(verdict(Target::Ratio(1.0), 9.0, 10.0, 10.3), Verdict::Met);
        assert_eq!(verdict(Target::Ratio(1.0), 9.0, 10.0, 10.4), Verdict::Noisy);
        assert_eq!(verdict(Target::Most(8.0), 7.9, 7.9, 8.1), Verdict::Met);
        assert_eq!(verdict(Target::Most(8.0), 8.1, 8.1, 8.0), Verdict::Missed);
        assert_eq!(verdict(Target::Most(8.0), 5.0, 5.0, 5.2), Verdict::Noisy);
    }
}
