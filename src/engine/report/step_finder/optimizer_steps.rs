//! Steps by the optimizer, for programs whose call stacks do not repeat at even intervals: few steps, gradient
//! accumulation, or batches of different shapes. A step starts with the first forward pass after an optimizer step that
//! follows a backward pass. Fused optimizers only allocate their state, in the first step. If this is the only optimizer step
//! in the stacks, and follows the first backward pass, a step starts with the first forward pass after each backward pass.

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
    /// Start of the current step. `None` before the first forward pass.
    from: Option<u32>,
    has_backward: bool,
    has_optimizer: bool,
    spans: Vec<Span>,
    /// Start of the current pass, whether it has a backward pass and an optimizer step, and the earlier passes with the
    /// latter.
    pass_from: Option<u32>,
    pass_has: [bool; 2],
    passes: Vec<(Span, bool)>,
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
        for event in self.next_event..history.event_count() {
            slice.tick()?;
            self.next_event = event + 1;
            let stack = history.events.stack(event);
            self.add_to_pass(event, phases.phase(stack), backward.contains(stack));
            match phases.phase(stack) {
                _ if backward.contains(stack) => self.has_backward = true,
                Some(StepPhase::Optimizer) => self.has_optimizer |= self.has_backward,
                Some(StepPhase::Forward) if self.from.is_none() => self.from = Some(event),
                Some(StepPhase::Forward) if self.has_optimizer && !is_in_optimizer(snapshot, phases, stack) => {
                    self.end_step(event);
                }
                _ => {}
            }
        }
        if self.has_optimizer {
            self.end_step(history.event_count());
        }
        let spans = std::mem::take(&mut self.spans);
        if spans.len() > 1 {
            return Ok(spans);
        }
        self.end_pass(history.event_count());
        let passes = std::mem::take(&mut self.passes);
        let is_first_only = passes.iter().map(|(_, has)| *has).eq((0..passes.len()).map(|index| index == 0));
        Ok(if is_first_only && passes.len() > 1 {
            passes.into_iter().map(|(span, _)| span).collect()
        } else {
            Vec::new()
        })
    }

    fn add_to_pass(&mut self, event: u32, phase: Option<StepPhase>, is_backward: bool) {
        match phase {
            _ if is_backward => self.pass_has[0] |= self.pass_from.is_some(),
            Some(StepPhase::Optimizer) => self.pass_has[1] |= self.pass_has[0],
            Some(StepPhase::Forward) if self.pass_has[0] || self.pass_from.is_none() => self.end_pass(event),
            _ => {}
        }
    }

    fn end_pass(&mut self, event: u32) {
        let [has_backward, has_optimizer] = std::mem::take(&mut self.pass_has);
        let from = self.pass_from.replace(event).filter(|_| has_backward);
        self.passes.extend(from.map(|from| (Span { from, to: event }, has_optimizer)));
    }

    fn end_step(&mut self, event: u32) {
        self.spans.extend(self.from.map(|from| Span { from, to: event }));
        (self.from, self.has_backward, self.has_optimizer) = (Some(event), false, false);
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
