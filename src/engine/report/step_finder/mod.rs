//! Detects steps, which are iterations of training or inference, from annotations or from repeating allocations.
//!
//! 1. Annotations that differ only in a number, with a word for steps in the name, `step_1`, `step_2`, …: each
//!    annotation is a step.
//! 2. Other annotations that differ only in a number, or have the same name: each annotation is a step, or, if they
//!    have the same name and cover less than nine tenths of the trace between the first and the last, such as
//!    `Optimizer.step`, a step goes from the end of an annotation to the end of the next one.
//! 3. A call stack that allocates at even intervals (`recurrence.rs`), if that gives more steps than rule 2, or if the
//!    annotations are parts of these steps or epochs (`named.rs`). Passes of gradient accumulation are joined up to the
//!    optimizer step (`accumulation.rs`). If no stack does so, optimizer steps in the stacks (`optimizer_steps.rs`).
//!
//! Other reports create a [`StepFinder`], call its `step` until it is done, and read its `steps`. Their spans are
//! ascending and don't overlap.

mod accumulation;
mod families;
mod named;
mod optimizer_steps;
mod placed;
mod recurrence;
mod rule;

pub(super) use placed::PlacedAnnotations;
pub(super) use rule::{StepRule, Steps, WARM_UP_STEPS};

use crate::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use families::Families;
use named::{FamilyKind, NamedSteps};
use recurrence::Recurrence;

/// Finder of the training steps of a device.
pub(crate) struct StepFinder {
    device: i64,
    pub(super) placed: PlacedAnnotations,
    is_placed: bool,
    families: Families,
    /// Steps from annotations. `None` until all annotations are read.
    named: Option<NamedSteps>,
    recurrence: Recurrence,
    pub(super) steps: Steps,
    is_done: bool,
}

base::heap_bytes!(StepFinder: placed, steps);

impl StepFinder {
    pub(crate) fn new(device: i64) -> StepFinder {
        let (placed, families, named, recurrence, steps) = Default::default();
        StepFinder { device, placed, is_placed: false, families, named, recurrence, steps, is_done: false }
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
        let named = match &mut self.named {
            Some(named) => named,
            None => {
                self.families.step(&file.snapshot, history, &self.placed, slice)?;
                self.named.insert(self.families.take_steps())
            }
        };
        if named.kind == FamilyKind::NumberedStep {
            self.steps = std::mem::take(&mut named.steps);
        } else {
            self.recurrence.step(&file.snapshot, history, slice)?;
            named.step((&file.snapshot, history), self.recurrence.backward(), slice)?;
            let (by_stack, has_optimizer) = self.recurrence.found();
            let side = (&file.snapshot, history);
            accumulation::mark_annotated(side, &self.placed, &by_stack.spans, has_optimizer, slice)?;
            let joined = accumulation::join_passes(&mut by_stack.spans, has_optimizer);
            if let StepRule::Stack(.., passes) = &mut by_stack.rule {
                *passes = joined;
            }
            self.steps = std::mem::take(named).or_by_stack(&file.snapshot, std::mem::take(by_stack));
        }
        self.named = None;
        self.is_done = true;
        (self.families, self.recurrence) = Default::default();
        Ok(())
    }

    /// Returns the moments at which the steps end, in ascending order.
    pub(crate) fn step_ends(&self) -> Vec<u32> {
        self.steps.spans.iter().map(|span| span.to).collect()
    }
}
