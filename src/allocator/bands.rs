//! How far a prediction may be off: addresses of new segments are not known, nor is how what was live before the trace was placed.

use super::driver::Order;
use super::recording::Recording;
use super::run::{Outcome, Plan, Run};
use base::slice::{Slice, Sliced};

/// A run and the same with other orders of addresses.
#[derive(Clone, Debug, Default)]
pub struct Band {
    run: Option<Box<Run>>,
    done: Vec<Outcome>,
}

/// What a band comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banded {
    /// With ascending addresses.
    pub outcome: Outcome,
    /// The lowest and the highest peak of reserved bytes.
    pub band: [u64; 2],
}

impl Band {
    /// Works until it is done.
    ///
    /// # Errors
    /// The time is up.
    pub fn step(&mut self, recording: &Recording, plan: &Plan, slice: &mut Slice) -> Sliced<Banded> {
        while let Some(&order) = Order::ALL.get(self.done.len()) {
            let new = || Box::new(Run::new(recording, &Plan { order, keeps_curve: false, ..plan.clone() }));
            let run = self.run.get_or_insert_with(new);
            run.step(recording, slice)?;
            self.done.push(run.outcome().clone());
            self.run = None;
        }
        let peaks = || self.done.iter().map(|outcome| outcome.peak_reserved);
        let band = [peaks().min().unwrap_or(0), peaks().max().unwrap_or(0)];
        Ok(Banded { outcome: self.done.first().cloned().unwrap_or_default(), band })
    }
}

/// What the recorded settings come to with everything placed again, against what was recorded: how much the past matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    pub recorded: u64,
    pub fresh: u64,
}

impl Calibration {
    /// Whether it matters at all.
    pub fn is_off(self) -> bool {
        self.recorded != self.fresh
    }

    /// A band, as much wider as the past matters.
    pub fn widened(self, [low, high]: [u64; 2]) -> [u64; 2] {
        let below = self.fresh.saturating_sub(self.recorded);
        let above = self.recorded.saturating_sub(self.fresh);
        [low.saturating_sub(below), high.saturating_add(above)]
    }
}
