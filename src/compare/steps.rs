//! Compares the steps that occur in both traces.

use crate::aligning::AlignmentResult;
use crate::answer::{PerSide, StepRow};
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use engine::Side;

/// Maximum number of listed steps.
const MAX_STEPS: usize = 5000;

/// Resumable comparison of steps.
#[derive(Default)]
pub(crate) struct Steps {
    next: usize,
    pub(crate) rows: Vec<StepRow>,
}

impl Steps {
    /// Continues looking up the peak and the number of allocations of each step.
    pub(crate) fn step(&mut self, sides: [&Side; 2], found: &AlignmentResult, slice: &mut TimeSlice) -> SliceResult {
        while let Some(part) = slice.next_range(&mut self.next, found.steps.len().min(MAX_STEPS), 64)? {
            for (number, [from, to]) in part.clone().zip(found.steps.get(part).unwrap_or_default()) {
                let peak = |side: &Side, from: u32, to: u32| side.peak_bytes_in(Moment(from), Moment(to));
                let made = |side: &Side, from: u32, to: u32| {
                    let by = |moment: u32| side.history.allocations.allocated_by(moment);
                    u64::from(by(to).saturating_sub(by(from)))
                };
                let two = |value: &dyn Fn(&Side, u32, u32) -> u64| PerSide {
                    a: value(sides[0], from.0, to.0),
                    b: value(sides[1], from.1, to.1),
                };
                let name = found.step_names.get(number).filter(|name| !name.is_empty()).cloned();
                self.rows.push(StepRow {
                    name: name.unwrap_or_else(|| number.to_string()),
                    begins: *from,
                    peak: two(&peak),
                    allocations: two(&made),
                });
            }
        }
        Ok(())
    }
}

impl AlignmentResult {
    /// Returns the number of steps that begin in B between two moments of B. Negative if `to` is before `from`.
    pub(crate) fn steps_between(&self, from: Moment, to: Moment) -> i64 {
        let started = |moment: Moment| self.steps.partition_point(|[begins, _]| begins.1 <= moment.0) as i64;
        started(to) - started(from)
    }
}
