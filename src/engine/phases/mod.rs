//! Phases of training steps: forward pass, backward pass and optimizer step.
//!
//! An event belongs to a phase by these rules:
//!
//! 1. If annotations name a phase ([`annotations`]), its events are those within the annotations. Stacks are not
//!    considered for this phase.
//! 2. The other phases are inferred from stacks ([`stacks`]). Consecutive events of a phase form a range, which also
//!    covers the events without a phase between them.
//! 3. The autograd engine runs on threads of its own, whose Python stacks are empty. Events with an empty stack extend
//!    the backward pass that they follow.
//! 4. A forward pass lasts until the backward pass that follows it, so it includes the loss.
//!
//! A trace without a backward pass and without an optimizer step has no phases: it is inference, or only a forward
//! pass.

mod annotations;
mod stacks;

use crate::side::Side;
use annotations::PhaseAnnotations;
use base::slice::{SliceResult, TimeSlice};
use history::replay::Curve;
use history::snapshot::StackId;
use protocol::{Span, StepPhase};
pub(super) use stacks::PhaseStacks;

/// A phase of a training step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    pub kind: StepPhase,
    /// Range from the moment before the first event to the moment after the last one.
    pub span: Span,
    /// Index of the annotation in [`DeviceHistory::annotations`](history::replay::DeviceHistory::annotations). `None`
    /// if the phase is inferred from stacks.
    pub annotation: Option<u32>,
    /// Maximum of live bytes in the range, including both ends. `peak_moment` is the first moment with this value.
    pub peak: u64,
    pub peak_moment: u32,
}

/// Search for the phases of a device.
#[derive(Default)]
pub struct PhaseFinder {
    annotations: PhaseAnnotations,
    stacks: PhaseStacks,
    next_event: u32,
    phases: Vec<Phase>,
    is_found: bool,
    has_only_forward: bool,
    /// Number of phases whose peak is known.
    with_peak: usize,
}

base::heap_bytes!(PhaseFinder: phases, stacks);

impl PhaseFinder {
    /// Continues searching until the phases are found or the time slice is used up. The stacks of the backward pass
    /// must be known. Each call must pass the same side.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues the search.
    pub fn step(&mut self, side: &Side<'_>, slice: &mut TimeSlice<'_>) -> SliceResult {
        self.annotations.step(side.snapshot(), side.history, slice)?;
        self.stacks.step(side.snapshot(), slice)?;
        for event in self.next_event.max(side.history.events.first())..side.history.event_count() {
            slice.tick()?;
            self.next_event = event + 1;
            self.add_event(*side, event);
        }
        if !self.is_found {
            self.is_found = true;
            self.complete_ranges();
        }
        let change = |event| side.history.drawn_change(event);
        while let Some(phase) = self.phases.get_mut(self.with_peak) {
            slice.spend(16)?;
            self.with_peak += 1;
            let moments = phase.span.from..phase.span.to.saturating_add(1);
            if let Some((moment, bytes)) = Curve::new(&side.history.drawn, &change).max_in(moments) {
                (phase.peak_moment, phase.peak) = (moment.0, u64::try_from(bytes).unwrap_or(0));
            }
        }
        Ok(())
    }

    /// Returns the phases in ascending order. They do not overlap. Complete once the search has finished.
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// Returns true if the trace has forward passes, but no backward pass and no optimizer step. Such a trace has no
    /// phases.
    pub fn has_only_forward(&self) -> bool {
        self.has_only_forward
    }

    fn add_event(&mut self, side: Side<'_>, event: u32) {
        let stack = side.history.events.stack(event);
        let annotated = self.annotations.at_event(event);
        let kind = match annotated {
            Some((kind, _)) => Some(kind),
            None if side.file.backward.contains(stack) => Some(StepPhase::Backward),
            None => self.stacks.phase(stack),
        };
        let kind = kind.filter(|&kind| annotated.is_some() || !self.annotations.has(kind));
        let annotation = annotated.map(|(_, row)| row);
        let last = self.phases.last_mut();
        match kind {
            Some(kind) => match last.filter(|last| (last.kind, last.annotation) == (kind, annotation)) {
                Some(last) => last.span.to = event + 1,
                None => {
                    let span = Span { from: event, to: event + 1 };
                    self.phases.push(Phase { kind, span, annotation, peak: 0, peak_moment: event });
                }
            },
            // A thread of the autograd engine.
            None if stack == StackId::EMPTY => {
                let is_inferred_backward =
                    |last: &&mut Phase| last.kind == StepPhase::Backward && last.annotation.is_none();
                last.filter(is_inferred_backward).into_iter().for_each(|last| last.span.to = event + 1);
            }
            None => {}
        }
    }

    /// Extends each forward pass to the backward pass after it. Drops all phases of a trace that has only forward
    /// passes.
    fn complete_ranges(&mut self) {
        if self.phases.iter().all(|phase| phase.kind == StepPhase::Forward) {
            self.has_only_forward = !self.phases.is_empty();
            self.phases.clear();
        }
        let mut next: Option<Phase> = None;
        for phase in self.phases.iter_mut().rev() {
            if let (StepPhase::Forward, None, Some(next)) = (phase.kind, phase.annotation, next)
                && next.kind == StepPhase::Backward
            {
                phase.span.to = next.span.from;
            }
            next = Some(*phase);
        }
    }
}
