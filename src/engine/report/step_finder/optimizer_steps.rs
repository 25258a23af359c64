//! Steps by the optimizer, for programs whose call stacks do not repeat at even intervals: few steps, gradient
//! accumulation, or batches of different shapes. A step starts with the first forward pass after an optimizer step that
//! follows a backward pass. Fused optimizers only allocate their state, in the first step. If this is the only
//! optimizer step in the stacks, and follows the first backward pass, a step starts with the first forward pass after
//! each backward pass.

use crate::backward_stacks::BackwardStacks;
use crate::phases::PhaseStacks;
use base::slice::{SliceResult, TimeSlice};
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StackId};
use protocol::{Span, StepPhase};

/// Search for steps that no stack marks.
#[derive(Default)]
pub(super) struct OptimizerSteps {
    next_event: u32,
    steps: Parts,
    /// Forward passes, each with its backward pass.
    passes: Parts,
}

/// Parts of the trace that each start with a forward pass.
#[derive(Default)]
struct Parts {
    /// Start of the current part. `None` before the first forward pass.
    from: Option<u32>,
    /// True if the current part has a backward pass, and if an optimizer step follows it.
    has_backward: bool,
    has_optimizer: bool,
    /// Range of each earlier part, and whether it has an optimizer step.
    found: Vec<(Span, bool)>,
}

impl Parts {
    fn add(&mut self, phase: Option<StepPhase>) {
        match phase {
            Some(StepPhase::Backward) => self.has_backward |= self.from.is_some(),
            Some(StepPhase::Optimizer) => self.has_optimizer |= self.has_backward,
            _ => {}
        }
    }

    /// Starts a part with the next event. The current part is dropped if it is not complete.
    fn start_next(&mut self, event: u32, is_complete: bool) {
        let from = self.from.replace(event).filter(|_| is_complete);
        self.found.extend(from.map(|from| (Span { from, to: event }, self.has_optimizer)));
        (self.has_backward, self.has_optimizer) = (false, false);
    }
}

impl OptimizerSteps {
    /// Continues searching, and returns the steps once all events are examined. Empty if there are fewer than two.
    pub(super) fn step(
        &mut self,
        (snapshot, history): (&Snapshot, &DeviceHistory),
        phases: &PhaseStacks,
        backward: &BackwardStacks,
        slice: &mut TimeSlice,
    ) -> SliceResult<Vec<Span>> {
        let OptimizerSteps { next_event, steps, passes } = self;
        let end = history.event_count();
        for event in *next_event..end {
            slice.tick()?;
            *next_event = event + 1;
            let stack = history.events.stack(event);
            let phase = if backward.contains(stack) { Some(StepPhase::Backward) } else { phases.phase(stack) };
            steps.add(phase);
            passes.add(phase);
            if phase != Some(StepPhase::Forward) {
                continue;
            }
            if passes.from.is_none() || passes.has_backward {
                passes.start_next(event, passes.has_backward);
            }
            if steps.from.is_none() || steps.has_optimizer && !is_in_optimizer(snapshot, phases, stack) {
                steps.start_next(event, steps.has_optimizer);
            }
        }
        steps.start_next(end, steps.has_optimizer);
        passes.start_next(end, passes.has_backward);
        let [steps, passes] = [steps, passes].map(|parts| std::mem::take(&mut parts.found));
        let is_first_only = passes.iter().map(|(_, has)| *has).eq((0..passes.len()).map(|index| index == 0));
        let found = if steps.len() > 1 || !is_first_only { steps } else { passes };
        Ok(if found.len() > 1 { found.into_iter().map(|(span, _)| span).collect() } else { Vec::new() })
    }
}

/// Returns whether an optimizer calls this forward pass, such as the closure of LBFGS.
fn is_in_optimizer(snapshot: &Snapshot, phases: &PhaseStacks, mut stack: StackId) -> bool {
    while let Some((callers, _)) = snapshot.stacks.innermost(stack) {
        if phases.phase(callers) == Some(StepPhase::Optimizer) {
            return true;
        }
        stack = callers;
    }
    false
}
