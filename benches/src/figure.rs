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
    /// Ours without the reference, in the figure's unit.
    Excess(f64),
    /// Ours, in the figure's unit; a tenth of it is the margin.
    Most(f64),
}

/// A measured figure.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// What the numbers are in.
    pub unit: &'static str,
    /// The numbers. A figure that takes no time, such as a size, has itself as reference and
    /// control.
    pub medians: Medians,
    /// What it is held to.
    pub target: Target,
}

/// What a figure says.
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
    /// What `measure` returns.
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

    /// What is compared with the target.
    pub fn result(&self) -> f64 {
        self.compare(self.medians.ours)
    }

    /// The like of the reference's second samples: 1 or 0 on a quiet machine.
    pub fn control(&self) -> f64 {
        match self.target {
            Target::Most(_) => self.medians.control / self.medians.reference,
            _ => self.compare(self.medians.control),
        }
    }

    fn compare(&self, ours: f64) -> f64 {
        match self.target {
            Target::Ratio(_) => ours / self.medians.reference,
            Target::Excess(_) => ours - self.medians.reference,
            Target::Most(_) => ours,
        }
    }

    /// Whether the control is off by at most a third of the target's margin.
    pub fn is_quiet(&self) -> bool {
        let (still, margin) = match self.target {
            Target::Ratio(limit) => (1.0, (limit - 1.0).abs()),
            Target::Excess(limit) => (0.0, limit),
            Target::Most(_) => (1.0, 0.1),
        };
        (self.control() - still).abs() <= margin / 3.0
    }

    /// What the figure says.
    pub fn verdict(&self) -> Verdict {
        let (Target::Ratio(limit) | Target::Excess(limit) | Target::Most(limit)) = self.target;
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
        let (result, control, target) = match self.target {
            Target::Ratio(limit) => (
                format!("{:.3}", self.result()),
                format!("{:.3}", self.control()),
                format!("{limit:.2}"),
            ),
            Target::Excess(limit) => (
                format!("{:+.2} {unit}", self.result()),
                format!("{:+.2} {unit}", self.control()),
                format!("+{}", amount(limit)),
            ),
            Target::Most(limit) => {
                (amount(self.result()), format!("{:.3}", self.control()), amount(limit))
            }
        };
        let reference = match self.target {
            Target::Most(_) => String::new(),
            _ => amount(self.medians.reference),
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
        assert_eq!(verdict(Target::Excess(2.0), 11.9, 10.0, 10.6), Verdict::Met);
        assert_eq!(verdict(Target::Excess(2.0), 12.1, 10.0, 9.4), Verdict::Missed);
        assert_eq!(verdict(Target::Excess(2.0), 10.0, 10.0, 10.7), Verdict::Noisy);
        assert_eq!(verdict(Target::Most(8.0), 7.9, 7.9, 8.1), Verdict::Met);
        assert_eq!(verdict(Target::Most(8.0), 8.1, 8.1, 8.0), Verdict::Missed);
        assert_eq!(verdict(Target::Most(8.0), 5.0, 5.0, 5.2), Verdict::Noisy);
    }
}
