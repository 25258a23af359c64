//! Gradient accumulation: each optimizer step follows several forward and backward passes. The passes repeat more often
//! than the steps and are found first. They are joined here.

use super::placed::PlacedAnnotations;
use base::slice::{SliceResult, TimeSlice};
use history::replay::DeviceHistory;
use history::snapshot::Snapshot;
use protocol::Span;

/// Start of the names of annotations that PyTorch records around the step of an optimizer.
const OPTIMIZER_STEP: &[u8] = b"Optimizer.step#";

/// Sets the flag of each span that contains the start of an optimizer step's annotation. `spans` are ascending.
pub(super) fn mark_annotated(
    (snapshot, history): (&Snapshot, &DeviceHistory),
    placed: &PlacedAnnotations,
    spans: &[Span],
    has_optimizer: &mut [bool],
    slice: &mut TimeSlice,
) -> SliceResult {
    if spans.is_empty() {
        return Ok(());
    }
    slice.spend(placed.annotations.len() as u32)?;
    for (annotation, at) in placed.annotations.iter().zip(&placed.spans) {
        let name = history.annotations.get(annotation.row as usize).map(|range| snapshot.strings.bytes(range.name));
        if name.is_some_and(|name| name.starts_with(OPTIMIZER_STEP)) {
            let index = spans.partition_point(|span| span.to <= at.from);
            let is_inside = spans.get(index).is_some_and(|span| span.from <= at.from);
            has_optimizer.get_mut(index).filter(|_| is_inside).into_iter().for_each(|has| *has = true);
        }
    }
    Ok(())
}

/// Joins passes, so that each span ends with the pass that has an optimizer step, and drops passes after the last one.
/// Returns the usual number of passes in a step, or 1 if the spans stay as they are: if most passes have an optimizer
/// step, fewer than two have one, or the number of passes varies.
pub(super) fn join_passes(spans: &mut Vec<Span>, has_optimizer: &[bool]) -> u32 {
    let flags = || has_optimizer.iter().copied().chain(std::iter::repeat(false)).take(spans.len());
    let count = flags().filter(|&has| has).count();
    // An optimizer without temporaries only allocates its state, in the first step.
    if count < 2 || count * 4 >= spans.len() * 3 {
        return 1;
    }
    let (mut joined, mut lengths): (Vec<Span>, Vec<u32>) = Default::default();
    let (mut from, mut length) = (None, 0);
    for (span, has) in spans.iter().zip(flags()) {
        let first = *from.get_or_insert(span.from);
        length += 1;
        if has {
            joined.push(Span { from: first, to: span.to });
            lengths.push(length);
            (from, length) = (None, 0);
        }
    }
    lengths.sort_unstable();
    let usual = lengths.get(lengths.len() / 2).copied().unwrap_or(1);
    let agreeing = lengths.iter().filter(|&&length| length == usual).count();
    if usual < 2 || length >= usual || agreeing * 4 < lengths.len() * 3 {
        return 1;
    }
    *spans = joined;
    usual
}

#[cfg(test)]
#[path = "../../../../tests/units/engine/report/step_finder/accumulation.rs"]
mod tests;
