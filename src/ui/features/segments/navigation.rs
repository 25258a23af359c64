//! Keyboard navigation between blocks and segments.

use super::data::{NavTarget, SegmentsStep, SegmentsTab, nav_target, nav_targets};

/// Moves to another block or segment. If its rows are not loaded, scrolls there and finishes the step when they
/// arrive.
pub(super) fn navigate(memory: &mut SegmentsTab, step: SegmentsStep) {
    let Some(page) = memory.page().cloned() else { return };
    let (now, last) = (memory.active, page.rows.saturating_sub(1));
    let places = || nav_targets(&page).map(|place| (nav_target(place), place.0.row));
    let here = now.and_then(|now| places().position(|(it, _)| it == now));
    let known = page.bars.last().map_or(page.first, |bar| bar.row);
    let (found, beyond) = match (step, here) {
        (SegmentsStep::First, _) => (places().next().filter(|_| page.first == 0), Some(0)),
        (SegmentsStep::Last, _) => (places().last().filter(|_| known >= last), Some(last)),
        (_, None) => {
            let above = memory.scroll.rows_above().ceil() as u32;
            (places().find(|(_, row)| *row >= above), None)
        }
        (SegmentsStep::NextBlock | SegmentsStep::NextSegment, Some(here)) => {
            let is_other = |it: &NavTarget| match step {
                SegmentsStep::NextBlock => Some(*it) != now,
                _ => now.is_some_and(|now| it.segment != now.segment),
            };
            (places().skip(here).find(|(it, _)| is_other(it)), (known < last).then_some(known + 1))
        }
        (_, Some(here)) => {
            let before: Vec<(NavTarget, u32)> = places().take(here).collect();
            let wanted = if step == SegmentsStep::PreviousBlock {
                before.last().copied()
            } else {
                // The first block of the segment, or the first loaded one if the segment is cut off.
                let other = before.iter().rev().find(|(it, _)| now.is_some_and(|now| it.segment != now.segment));
                other.and_then(|(other, _)| before.iter().find(|(it, _)| it.segment == other.segment)).copied()
            };
            (wanted, page.first.checked_sub(1))
        }
    };
    match (found, beyond) {
        (Some((to, row)), _) => {
            memory.active = Some(to);
            // Includes the heading if it is directly above.
            memory.scroll.scroll_to_row(row.saturating_sub(1));
            memory.scroll.scroll_to_row(row);
        }
        (None, Some(row)) if memory.pending_step.is_none() => {
            memory.scroll.scroll_to_row(row);
            memory.pending_step = Some(step);
        }
        _ => {}
    }
}
