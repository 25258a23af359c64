//! Search for better settings, and for the smallest capacity with which a run succeeds.

use super::plan::Plan;
use super::recording::Recording;
use super::run::Run;
use super::settings::{INTERVALS, Limits, MIB, Settings, Share};
use base::slice::{SliceResult, TimeSlice};

/// Returns about ten settings worth trying, without the recorded ones. All keep the recorded memory fraction. Garbage
/// collection is included only if the capacity is known.
pub fn candidates(recorded: &Settings, capacity: Option<u64>) -> Vec<Settings> {
    let normal = Settings { fraction: recorded.fraction, ..Settings::default() };
    let split = |mib: u64| Settings { max_split: Some(mib * MIB), ..normal.clone() };
    let large = |mib: u64| Settings { large_segment: mib * MIB, non_split: mib * MIB, ..normal.clone() };
    let expandable = Settings { expandable: true, ..normal.clone() };
    let mut all = vec![
        normal.clone(),
        expandable.clone(),
        Settings { divisions: [8; INTERVALS], ..normal.clone() },
        Settings { divisions: [8; INTERVALS], ..expandable },
        Settings { divisions: [4; INTERVALS], ..normal.clone() },
        split(128),
        split(256),
        split(512),
        large(64),
        large(128),
    ];
    if capacity.is_some() {
        all.push(Settings {
            collect_above: Share::millionths(800_000),
            fraction: Share::millionths(950_000).min(recorded.fraction),
            ..normal
        });
    }
    all.retain(|settings| settings != recorded);
    all
}

/// Binary search for the smallest capacity with which a run does not run out of memory, in steps of 2 MiB. It assumes
/// that more memory never makes a run fail.
#[derive(Clone, Debug)]
pub struct Fit {
    plan: Plan,
    run: Option<Box<Run>>,
    /// Largest capacity, in bytes, that is known to be too small.
    below: u64,
    /// Smallest capacity, in bytes, that is known to be enough.
    enough: Option<u64>,
}

/// Resolution of the search, in bytes.
const GRANULE: u64 = 2 * MIB;

impl Fit {
    /// Creates a search for the smallest capacity with which a run under `plan` succeeds.
    pub fn new(plan: &Plan) -> Fit {
        Fit { plan: Plan { keeps_curve: false, ..plan.clone() }, run: None, below: 0, enough: None }
    }

    /// Continues the search until the capacity is found or the time slice is used up. Returns `None` if no capacity is
    /// enough.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, recording: &Recording, slice: &mut TimeSlice) -> SliceResult<Option<u64>> {
        loop {
            let capacity = match self.enough {
                None => None,
                Some(enough) if enough - self.below <= GRANULE => return Ok(self.enough),
                Some(enough) => Some(self.below + (enough - self.below) / 2 / GRANULE * GRANULE),
            };
            let limits = Limits::new(capacity, capacity, &self.plan.settings);
            let new = || Box::new(Run::new(recording, &Plan { limits, ..self.plan.clone() }));
            let run = self.run.get_or_insert_with(new);
            run.step(recording, slice)?;
            let outcome = run.outcome().clone();
            self.run = None;
            match (outcome.oom_event, capacity) {
                (Some(_), None) => return Ok(None),
                (Some(_), Some(capacity)) => self.below = capacity,
                (None, None) => {
                    self.enough = Some(outcome.peak_reserved.next_multiple_of(GRANULE));
                    self.below = outcome.peak_allocated.saturating_sub(GRANULE) / GRANULE * GRANULE;
                }
                (None, Some(capacity)) => self.enough = Some(capacity),
            }
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/search.rs"]
mod tests;
