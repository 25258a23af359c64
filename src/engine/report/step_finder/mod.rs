//! Detects steps, which are iterations of training or inference, from annotations or from repeating allocations.
//!
//! 1. Annotations that differ only in a number, `step_1`, `step_2`, …: each annotation is a step. The same holds for
//!    repeated annotations with the same name if they cover nine tenths of the trace between the first and the last.
//! 2. Annotations with the same name that cover less, such as `Optimizer.step`: a step goes from the end of an
//!    annotation to the end of the next one.
//! 3. A call stack that allocates at even intervals (`recurrence.rs`), if that gives more steps than rule 2. Passes of
//!    gradient accumulation are joined up to the optimizer step (`accumulation.rs`). If no stack does so, optimizer
//!    steps in the stacks (`optimizer_steps.rs`).
//!
//! Other reports create a [`StepFinder`], call its `step` until it is done, and read its `steps`. Their spans are
//! ascending and don't overlap.

mod accumulation;
mod families;
mod optimizer_steps;
mod placed;
mod recurrence;
mod rule;

pub(super) use placed::PlacedAnnotations;
pub(super) use rule::{StepRule, Steps, WARM_UP_STEPS};

use crate::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use families::Families;
use recurrence::Recurrence;

/// Finder of the training steps of a device.
pub(crate) struct StepFinder {
    device: i64,
    pub(super) placed: PlacedAnnotations,
    is_placed: bool,
    families: Families,
    /// Steps that were found from annotations. `None` until all annotations are read.
    from_annotations: Option<Steps>,
    recurrence: Recurrence,
    pub(super) steps: Steps,
    is_done: bool,
}

base::heap_bytes!(StepFinder: placed, steps);

impl StepFinder {
    pub(crate) fn new(device: i64) -> StepFinder {
        let (placed, families, from_annotations, recurrence, steps) = Default::default();
        StepFinder { device, placed, is_placed: false, families, from_annotations, recurrence, steps, is_done: false }
    }

    /// Continues searching until the steps are found or the time slice is used up. Afterwards, `steps` and `placed` are
    /// complete. Both are empty if the file does not have the device.
    pub(crate) fn step(&mut self, file: &OpenFile, slice: &mut TimeSlice) -> SliceResult {
        let Some(history) = file.history(self.device) else { return Ok(()) };
        if self.is_done {
            return Ok(());
        }
        if !self.is_placed {
            self.placed.step(history, slice)?;
            self.is_placed = true;
        }
        if self.from_annotations.is_none() {
            self.families.step(&file.snapshot, history, &self.placed, slice)?;
            self.from_annotations = Some(self.families.take_steps().unwrap_or_default());
        }
        let are_annotations =
            self.from_annotations.as_ref().is_some_and(|steps| matches!(steps.rule, StepRule::Annotations(_)));
        if !are_annotations {
            self.recurrence.step(&file.snapshot, history, slice)?;
        }
        let (by_stack, has_optimizer) = self.recurrence.found();
        accumulation::mark_annotated((&file.snapshot, history), &self.placed, &by_stack.spans, has_optimizer, slice)?;
        let joined = accumulation::join_passes(&mut by_stack.spans, has_optimizer);
        if let StepRule::Stack(.., passes) = &mut by_stack.rule {
            *passes = joined;
        }
        let (by_name, by_stack) = (self.from_annotations.take().unwrap_or_default(), std::mem::take(by_stack));
        let is_by_name = are_annotations || !by_name.spans.is_empty() && by_name.spans.len() >= by_stack.spans.len();
        self.steps = if is_by_name { by_name } else { by_stack };
        self.is_done = true;
        (self.families, self.recurrence) = Default::default();
        Ok(())
    }

    /// Returns the moments at which the steps end, in ascending order.
    pub(crate) fn step_ends(&self) -> Vec<u32> {
        self.steps.spans.iter().map(|span| span.to).collect()
    }
}
