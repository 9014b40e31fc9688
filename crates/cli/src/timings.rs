// SPDX-License-Identifier: Apache-2.0
//! Where the time of a build goes: the spans of its phases, added up by name.

use std::fmt::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::span::{Attributes, Id};
use tracing::{Subscriber, subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// A phase: spans of one name in one other phase.
#[derive(Clone, Debug)]
struct Phase {
    name: &'static str,
    parent: Option<usize>,
    depth: usize,
    count: usize,
    total: Duration,
}

/// The phases, in the order in which they began first.
type Phases = Arc<Mutex<Vec<Phase>>>;

/// Which phase a span is of, how many threads are in it, and when the first of them entered it.
struct Running {
    phase: usize,
    n_inside: usize,
    since: Instant,
}

struct Recorder(Phases);

impl<S: Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Recorder {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let name = attributes.metadata().name();
        let parent = span
            .parent()
            .and_then(|parent| parent.extensions().get::<Running>().map(|running| running.phase));
        let mut phases = self.0.lock().expect("no holder of the lock panics");
        let known = phases.iter().position(|phase| phase.name == name && phase.parent == parent);
        let phase = known.unwrap_or_else(|| {
            let depth = parent.map_or(0, |parent| phases[parent].depth + 1);
            phases.push(Phase { name, parent, depth, count: 0, total: Duration::ZERO });
            phases.len() - 1
        });
        phases[phase].count += 1;
        span.extensions_mut().insert(Running { phase, n_inside: 0, since: Instant::now() });
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(running) = span.extensions_mut().get_mut::<Running>() {
            if running.n_inside == 0 {
                running.since = Instant::now();
            }
            running.n_inside += 1;
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(Running { phase, n_inside, since }) = span.extensions_mut().get_mut() {
            *n_inside -= 1;
            if *n_inside == 0 {
                let mut phases = self.0.lock().expect("no holder of the lock panics");
                phases[*phase].total += since.elapsed();
            }
        }
    }
}

/// Runs `work`; if wanted, shows on the standard error how long each of its phases took.
pub fn show<T>(is_wanted: bool, work: impl FnOnce() -> T) -> T {
    if !is_wanted {
        return work();
    }
    let (result, table) = measure(work);
    crate::tell(&table);
    result
}

/// Runs `work`; returns also a table of the time that each of its phases took.
fn measure<T>(work: impl FnOnce() -> T) -> (T, String) {
    let phases = Phases::default();
    let recording = Registry::default().with(Recorder(phases.clone()));
    let result = subscriber::with_default(recording, work);
    let phases = phases.lock().expect("no holder of the lock panics");
    (result, table(&phases))
}

fn table(phases: &[Phase]) -> String {
    let mut text = String::new();
    for (number, _) in phases.iter().enumerate().filter(|(_, phase)| phase.parent.is_none()) {
        write_rows(&mut text, phases, number);
    }
    text
}

/// The row of a phase, then those of its parts.
fn write_rows(text: &mut String, phases: &[Phase], number: usize) {
    let Phase { name, depth, count, total, .. } = &phases[number];
    let times = if *count > 1 { format!(" x{count}") } else { String::new() };
    let label = format!("{:indent$}{name}{times}", "", indent = 2 * depth);
    let milliseconds = total.as_secs_f64() * 1000.0;
    writeln!(text, "{label:<32}{milliseconds:>10.2} ms").expect("writing to a string");
    for (part, _) in phases.iter().enumerate().filter(|(_, phase)| phase.parent == Some(number)) {
        write_rows(text, phases, part);
    }
}

#[cfg(test)]
mod tests {
    use super::{Phase, measure, table};
    use std::time::Duration;

    #[test]
    fn spans_of_one_name_are_one_phase() {
        let ((), text) = measure(|| {
            let _build = tracing::info_span!("build").entered();
            for _ in 0..2 {
                let _plan = tracing::debug_span!("plan").entered();
            }
        });
        let labels: Vec<_> = text.lines().map(|line| line[..32].trim_end()).collect();
        assert_eq!(labels, ["build", "  plan x2"]);
    }

    #[test]
    fn parts_stand_below_their_whole() {
        let phase = |name, parent: Option<usize>, ms| {
            let depth = usize::from(parent.is_some());
            Phase { name, parent, depth, count: 1, total: Duration::from_millis(ms) }
        };
        let text = table(&[phase("a", None, 1500), phase("b", None, 2), phase("c", Some(0), 3)]);
        let rows: Vec<_> = text.lines().map(|line| line.split_whitespace().next()).collect();
        assert_eq!(rows, [Some("a"), Some("c"), Some("b")]);
        assert!(text.starts_with("a                                  1500.00 ms\n"), "{text}");
    }
}
