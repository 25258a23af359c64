//! Uncertainty of a prediction. Neither the addresses of new segments nor the placement of early allocations is known,
//! so a run is repeated with several address orders.

use super::driver::Order;
use super::recording::Recording;
use super::run::{Outcome, Plan, Run};
use base::slice::{SliceResult, TimeSlice};

/// Progress of one run repeated with every [`Order`].
#[derive(Clone, Debug, Default)]
pub struct Band {
    run: Option<Box<Run>>,
    done: Vec<Outcome>,
}

/// Result of a [`Band`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banded {
    /// Outcome with ascending addresses.
    pub outcome: Outcome,
    /// Lowest and highest peak of reserved bytes.
    pub band: [u64; 2],
}

impl Band {
    /// Runs until all orders are simulated.
    ///
    /// # Errors
    /// The time is up.
    pub fn step(&mut self, recording: &Recording, plan: &Plan, slice: &mut TimeSlice) -> SliceResult<Banded> {
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

/// Peaks under the recorded settings with early allocations kept and placed again. The difference shows how much their
/// placement matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calibration {
    pub recorded: u64,
    pub fresh: u64,
}

impl Calibration {
    /// Returns true if the two peaks differ.
    pub fn is_off(self) -> bool {
        self.recorded != self.fresh
    }

    /// Returns the band, widened by the difference of the two peaks.
    pub fn widened(self, [low, high]: [u64; 2]) -> [u64; 2] {
        let below = self.fresh.saturating_sub(self.recorded);
        let above = self.recorded.saturating_sub(self.fresh);
        [low.saturating_sub(below), high.saturating_add(above)]
    }
}
