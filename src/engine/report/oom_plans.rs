//! Plans that reduce sizes, evaluated at each OOM: how many bytes stay live, and whether the failed request would have
//! fitted. The sizes come from the planner, the outcome from the simulated allocator.

use crate::open::OpenFile;
use crate::plan::PlannedSizes;
use crate::what_if::{NewSimulator, Simulator};
use analysis::category::UNKNOWN;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use protocol::{OomPlan, WhatIfQuestion, WhatIfRun};

/// Effect of a plan on a device with OOMs.
pub(super) struct OomPlanEffect {
    pub(super) plan: OomPlan,
    /// Bytes that the plan saves at each OOM, in order of events.
    pub(super) saved_bytes: Vec<u64>,
    /// The part of `saved_bytes` that has no category, so that the plan only assumes that it becomes smaller.
    pub(super) assumed_bytes: Vec<u64>,
    /// Simulated run with the planned sizes and the recorded settings, if there is a simulator.
    pub(super) run: Option<WhatIfRun>,
}

impl OomPlanEffect {
    /// Returns the most bytes that the plan saves at an OOM, without those that it only assumes.
    pub(super) fn max_certain(&self) -> u64 {
        let bytes = self.saved_bytes.iter().zip(&self.assumed_bytes);
        bytes.map(|(saved, assumed)| saved.saturating_sub(*assumed)).max().unwrap_or(0)
    }
}

/// Progress of evaluating the plans.
#[derive(Default)]
pub(super) struct OomPlans {
    current: Option<Box<Current>>,
    pub(super) effects: Vec<OomPlanEffect>,
    /// Number of evaluated plans, including those that do not apply.
    done: usize,
}

/// Evaluation of one plan.
struct Current {
    sizes: PlannedSizes,
    /// Encoded planned sizes, once complete.
    bytes: Option<Vec<u8>>,
    next: usize,
    /// Changes of the saved and of the assumed bytes from one OOM to the next. The sizes in a file can add up to more
    /// than 64 bits.
    changes: Vec<[i128; 2]>,
}

impl OomPlans {
    /// Continues evaluating all plans until they are complete or the time slice is used up. Does nothing if the trace
    /// has no OOM.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        (simulator, new_simulator): (&mut Option<Box<dyn Simulator>>, Option<NewSimulator>),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let ooms: Vec<u32> = file.history(device).into_iter().flat_map(|history| history.oom_events()).collect();
        if ooms.is_empty() {
            return Ok(());
        }
        file.find_backward(slice)?;
        file.compute_segments(device, slice)?;
        // Only these stacks show that activations are kept for a backward pass.
        let has_backward = !file.backward.is_empty();
        let unknown = file.groups.categories.set().categories().iter().position(|name| name == UNKNOWN);
        while let Some(&plan) = OomPlan::ALL.get(self.done) {
            // Without a backward pass, no activation is kept for it, and there is no optimizer state.
            if !matches!(plan, OomPlan::HalfBatch | OomPlan::EightBitKvCache) && !has_backward {
                self.done += 1;
                continue;
            }
            let new = || Current {
                sizes: PlannedSizes::new(device, &plan.question()),
                bytes: None,
                next: 0,
                changes: vec![[0; 2]; ooms.len() + 1],
            };
            let Current { sizes, bytes, next, changes } = &mut **self.current.get_or_insert_with(|| Box::new(new()));
            if bytes.is_none() {
                *bytes = Some(sizes.step(file, slice)?);
            }
            let bytes = bytes.as_deref().unwrap_or_default();
            let Some(history) = file.history(device) else { return Ok(()) };
            let (sizes, _) = bytes.as_chunks();
            while let Some(size) = sizes.get(*next) {
                slice.tick()?;
                let id = AllocationId(*next as u32);
                *next += 1;
                let (allocated_at, freed_at, recorded) = history.allocations.span(id);
                let saved = i128::from(recorded.saturating_sub(u64::from_le_bytes(*size)));
                // An event is before the moment with the next number.
                let first = ooms.partition_point(|event| event.saturating_add(1) < allocated_at);
                let end = ooms.partition_point(|event| event.saturating_add(1) < freed_at);
                if saved > 0 && first < end {
                    let is_assumed = Some(usize::from(file.groups.categories.category(history, id))) == unknown;
                    let assumed = if is_assumed { saved } else { 0 };
                    for (index, [saved, assumed]) in [(first, [saved, assumed]), (end, [-saved, -assumed])] {
                        let Some(change) = changes.get_mut(index) else { continue };
                        *change = [change[0] + saved, change[1] + assumed];
                    }
                }
            }
            let mut run = None;
            let saves = changes.iter().any(|change| *change != [0; 2]);
            if let Some(new) = new_simulator.filter(|_| saves) {
                let simulator = simulator.get_or_insert_with(new);
                if *next == sizes.len() {
                    simulator.reset();
                    simulator.set_planned_sizes(device, bytes);
                    *next += 1;
                }
                let question = WhatIfQuestion { is_planned: true, ..WhatIfQuestion::default() };
                let answer = simulator.answer(file, device, &question, &mut |_| {}, slice)?;
                run = answer.filter(|answer| answer.proof.refused.is_none() && answer.proof.is_exact);
            }
            if !bytes.is_empty() {
                let sums = |part: fn(&[i128; 2]) -> i128| {
                    let sums = changes.iter().scan(0i128, |sum, change| {
                        *sum += part(change);
                        Some(u64::try_from(*sum).unwrap_or(u64::MAX))
                    });
                    sums.take(ooms.len()).collect()
                };
                let (saved_bytes, assumed_bytes) = (sums(|[saved, _]| *saved), sums(|[_, assumed]| *assumed));
                let run = run.and_then(|answer| answer.runs.into_iter().next());
                self.effects.push(OomPlanEffect { plan, saved_bytes, assumed_bytes, run });
            }
            self.current = None;
            self.done += 1;
        }
        Ok(())
    }
}
