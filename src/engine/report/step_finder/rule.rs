//! The training steps of a device, and the rule that found them.

use crate::side::Side;
use base::units::{group_digits, pluralize};
use protocol::Span;

/// Rule that found the steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::report) enum StepRule {
    /// No steps were found.
    #[default]
    NotFound,
    /// The trace has no events. `NoStacks` means that it has events, but no call stacks.
    NoEvents,
    NoStacks,
    /// Each annotation with this name is a step. `#` in the name represents a number.
    Annotations(String),
    /// A step goes from the end of an annotation with this name to the end of the next one.
    BetweenAnnotations(String),
    /// A step goes from an allocation with this stack to the next one, or to the one after several passes of gradient
    /// accumulation. The other fields are the number of stacks that allocate equally often, and the number of passes.
    Stack(history::snapshot::StackId, u32, u32),
    /// A step goes from the first forward pass after an optimizer step to that after the next.
    Optimizer,
    /// No steps were found. This number of stacks repeats at even intervals, this many times, but within a step.
    Repeats(u32, u32),
}

/// The training steps of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::report) struct Steps {
    /// Range of each step, from the moment before its first event to the moment after its last one.
    pub(in crate::report) spans: Vec<Span>,
    /// Index of each step in [`DeviceHistory::annotations`](history::replay::DeviceHistory::annotations). Empty if the
    /// steps do not come from annotations.
    pub(in crate::report) annotation_rows: Vec<u32>,
    pub(in crate::report) rule: StepRule,
}

base::heap_bytes!(Steps: spans);

/// Number of steps at the start of the trace that are ignored when growth is measured. They allocate memory that stays
/// live: optimizer state, gradients and caches.
pub(in crate::report) const WARM_UP_STEPS: usize = 2;

impl Steps {
    /// Returns the moments that are compared to measure growth. The first is the end of the last warm-up step, which is
    /// the baseline. It is followed by the end of each later step. Empty if there is no later step. All reports use
    /// these moments.
    pub(in crate::report) fn growth_moments(&self) -> Vec<u32> {
        let ends: Vec<u32> = self.spans.iter().skip(WARM_UP_STEPS - 1).map(|step| step.to).collect();
        if ends.len() > 1 { ends } else { Vec::new() }
    }

    /// Returns the start of the first step and the end of each step, and the index of the baseline in them. With two or
    /// three steps, the start is the baseline. Empty if there are fewer steps.
    pub(in crate::report) fn all_growth_moments(&self) -> (Vec<u32>, u32) {
        let Some(first) = self.spans.first().filter(|_| self.spans.len() > 1) else { return (Vec::new(), 0) };
        let moments = std::iter::once(first.from).chain(self.spans.iter().map(|step| step.to)).collect();
        (moments, if self.spans.len() > WARM_UP_STEPS + 1 { WARM_UP_STEPS as u32 } else { 0 })
    }

    /// Returns the annotation text of the step with this index. `None` if the steps do not come from annotations.
    pub(in crate::report) fn annotation_text(&self, Side { file, history }: Side<'_>, number: usize) -> Option<String> {
        let annotation = self.annotation_rows.get(number).and_then(|&row| history.annotations.get(row as usize))?;
        Some(file.snapshot.strings.text(annotation.name).to_string())
    }

    /// Returns a sentence that describes the rule that found the steps.
    pub(in crate::report) fn describe(&self) -> String {
        match &self.rule {
            StepRule::NotFound => {
                "No steps found: no step annotations, and too few call stacks that repeat at even intervals.".to_owned()
            }
            StepRule::NoEvents => "No steps: no events.".to_owned(),
            StepRule::NoStacks => "No steps found: no step annotations, and no call stacks.".to_owned(),
            StepRule::Repeats(stacks, count) => format!(
                "No steps found: {} repeat at even intervals, {} times, but within a step (layers, iterations or parameters).",
                pluralize((*stacks).into(), "stack"),
                group_digits((*count).into())
            ),
            StepRule::Optimizer => {
                "No step annotations. Steps inferred from the call stacks of the optimizer.".to_owned()
            }
            StepRule::Annotations(name) => format!("Steps from annotations “{name}”."),
            StepRule::BetweenAnnotations(name) => format!("Steps between the ends of annotations “{name}”."),
            StepRule::Stack(_, agreeing_stacks, passes) => {
                let accumulation = match passes {
                    0 | 1 => String::new(),
                    _ => format!(
                        ", {} times before each optimizer step (gradient accumulation)",
                        group_digits((*passes).into())
                    ),
                };
                format!(
                    "No step annotations. Steps inferred from {} that repeat at even intervals{accumulation}.",
                    pluralize((*agreeing_stacks).into(), "stack")
                )
            }
        }
    }
}
