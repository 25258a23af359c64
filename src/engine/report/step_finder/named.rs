//! Steps from annotations whose names do not say that they are steps: whether they are parts of a step, such as layers,
//! or contain many steps, such as epochs.

use super::rule::{StepRule, Steps};
use crate::backward_stacks::BackwardStacks;
use crate::report::frame_roles::{FrameRoles, Role};
use analysis::IdSet;
use base::slice::{SliceResult, TimeSlice};
use history::replay::DeviceHistory;
use history::snapshot::{Action, FrameId, Snapshot};
use protocol::Span;

/// Kind of a family, by its names. Later kinds are more likely to mark steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FamilyKind {
    /// Annotations with the same name.
    #[default]
    Repeated,
    /// Epochs, which contain many steps.
    Epoch,
    /// With a word for steps in the name.
    Step,
    /// With different numbers.
    Numbered,
    /// With different numbers and a word for steps.
    NumberedStep,
}

/// Steps from a family of annotations.
#[derive(Default)]
pub(super) struct NamedSteps {
    pub(super) steps: Steps,
    /// Range of each annotation, in ascending order.
    pub(super) marks: Vec<Span>,
    pub(super) kind: FamilyKind,
    parts: PartSearch,
}

/// Search for signs that annotations are parts of a step: they lack the backward pass that the trace has, or all of
/// their allocations are made at one place in a `forward`.
#[derive(Default)]
struct PartSearch {
    next_event: u32,
    /// Index of the mark and of the span that contains the next event, or follows it.
    mark: usize,
    span: usize,
    /// Stacks that were compared.
    seen: Option<IdSet>,
    roles: FrameRoles,
    /// Python frames that the allocations in all annotations share, outermost first.
    common_frames: Option<Vec<FrameId>>,
    is_backward_recorded: bool,
    /// Index after the last span that contains a part of the backward pass, and the number of these spans.
    last_with_backward: usize,
    with_backward: usize,
}

/// Returns the index of the first span at or after `index` that does not end before an event, and whether it contains
/// the event.
fn advance(spans: &[Span], mut index: usize, event: u32) -> (usize, bool) {
    while spans.get(index).is_some_and(|span| span.to <= event) {
        index += 1;
    }
    (index, spans.get(index).is_some_and(|span| span.from <= event))
}

impl NamedSteps {
    pub(super) fn new(steps: Steps, marks: Vec<Span>, kind: FamilyKind) -> NamedSteps {
        NamedSteps { steps, marks, kind, parts: PartSearch::default() }
    }

    /// Continues examining the events. `backward` is complete.
    pub(super) fn step(
        &mut self,
        (snapshot, history): (&Snapshot, &DeviceHistory),
        backward: &BackwardStacks,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let NamedSteps { steps, marks, parts, .. } = self;
        if steps.spans.is_empty() {
            return Ok(());
        }
        let seen = parts.seen.get_or_insert_with(|| IdSet::with_bound(snapshot.stacks.len()));
        for event in parts.next_event..history.event_count() {
            slice.tick()?;
            parts.next_event = event + 1;
            let stack = history.events.stack(event);
            let (mark, is_marked) = advance(marks, parts.mark, event);
            let (span, is_in_span) = advance(&steps.spans, parts.span, event);
            (parts.mark, parts.span) = (mark, span);
            if backward.contains(stack) {
                parts.is_backward_recorded = true;
                if is_in_span && parts.last_with_backward <= span {
                    (parts.last_with_backward, parts.with_backward) = (span + 1, parts.with_backward + 1);
                }
            }
            if !is_marked || history.events.action(event) != Action::Alloc || seen.contains(stack.0) {
                continue;
            }
            seen.insert(stack.0);
            let frames = parts.roles.python_frames(snapshot, stack);
            if !frames.is_empty() {
                let common = parts.common_frames.get_or_insert_with(|| frames.clone());
                let count = common.iter().zip(&frames).take_while(|(one, other)| one == other).count();
                common.truncate(count);
            }
            // For the frames, whose result is kept.
            slice.spend(16)?;
        }
        Ok(())
    }

    /// Returns whether most of the steps are parts of a step.
    fn are_parts(&mut self, snapshot: &Snapshot) -> bool {
        let PartSearch { roles, common_frames, is_backward_recorded, with_backward, .. } = &mut self.parts;
        if *is_backward_recorded {
            return 2 * *with_backward < self.steps.spans.len();
        }
        let mut frames = common_frames.iter().flatten();
        frames.any(|&frame| roles.classify(snapshot, frame) == Role::Forward)
    }

    /// Returns the steps, or those from call stacks if the annotations are parts of them, contain several of them, or
    /// are fewer.
    pub(super) fn or_by_stack(mut self, snapshot: &Snapshot, by_stack: Steps) -> Steps {
        let are_parts = self.are_parts(snapshot);
        let NamedSteps { steps, marks, kind, .. } = self;
        let has_step_word = kind == FamilyKind::Step;
        let is_by_stack = match (steps.spans.is_empty(), by_stack.spans.is_empty()) {
            (true, _) => true,
            (false, true) => are_parts && !has_step_word,
            _ if are_parts => true,
            _ if !has_step_word && are_in(&marks, &by_stack.spans) => true,
            _ if kind == FamilyKind::Epoch && are_in(&by_stack.spans, &steps.spans) => true,
            _ if matches!(steps.rule, StepRule::Annotations(_)) => false,
            _ => steps.spans.len() < by_stack.spans.len(),
        };
        if is_by_stack { by_stack } else { steps }
    }
}

/// Returns whether most of the outer spans contain the starts of several inner ones.
fn are_in(inner: &[Span], outer: &[Span]) -> bool {
    let starts = |moment: u32| inner.partition_point(|span| span.from < moment);
    let several = outer.iter().filter(|span| starts(span.to) > starts(span.from) + 1).count();
    2 * several > outer.len()
}
