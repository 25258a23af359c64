//! Steps by the optimizer, for programs whose call stacks do not repeat at even intervals: few steps, gradient
//! accumulation, or batches of different shapes. A step starts with the first forward pass after an optimizer step that
//! follows a backward pass.

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
        Ok(if spans.len() > 1 { spans } else { Vec::new() })
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
