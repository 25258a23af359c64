//! Keyboard navigation between blocks and segments.

use crate::features::segments::data::{BlockMove, NavTarget, SegmentsTab, nav_target, nav_targets};

/// Moves to another block or segment. If its rows are not loaded, scrolls there and finishes the step once they arrive.
pub(super) fn navigate(tab: &mut SegmentsTab, step: BlockMove) {
    let Some(page) = tab.page().cloned() else { return };
    let (active, last) = (tab.active, page.rows.saturating_sub(1));
    let targets = || nav_targets(&page).map(|target| (nav_target(target), target.0.row));
    let active_index = active.and_then(|active| targets().position(|(it, _)| it == active));
    let last_loaded_row = page.bars.last().map_or(page.first, |bar| bar.row);
    let (found, row_beyond) = match (step, active_index) {
        (BlockMove::First, _) => (targets().next().filter(|_| page.first == 0), Some(0)),
        (BlockMove::Last, _) => (targets().last().filter(|_| last_loaded_row >= last), Some(last)),
        (_, None) => {
            let first_row = tab.scroll.rows_above().ceil() as u32;
            (targets().find(|(_, row)| *row >= first_row), None)
        }
        (BlockMove::NextBlock | BlockMove::NextSegment, Some(active_index)) => {
            let is_other = |it: &NavTarget| match step {
                BlockMove::NextBlock => Some(*it) != active,
                _ => active.is_some_and(|active| it.segment != active.segment),
            };
            (
                targets().skip(active_index).find(|(it, _)| is_other(it)),
                (last_loaded_row < last).then_some(last_loaded_row + 1),
            )
        }
        (_, Some(active_index)) => {
            let before: Vec<(NavTarget, u32)> = targets().take(active_index).collect();
            let wanted = if step == BlockMove::PreviousBlock {
                before.last().copied()
            } else {
                // The first block of the segment, or the first loaded one if the segment is cut off.
                let other =
                    before.iter().rev().find(|(it, _)| active.is_some_and(|active| it.segment != active.segment));
                other.and_then(|(other, _)| before.iter().find(|(it, _)| it.segment == other.segment)).copied()
            };
            (wanted, page.first.checked_sub(1))
        }
    };
    match (found, row_beyond) {
        (Some((to, row)), _) => {
            tab.active = Some(to);
            // Includes the heading if it is directly above.
            tab.scroll.scroll_to_row(row.saturating_sub(1));
            tab.scroll.scroll_to_row(row);
        }
        (None, Some(row)) if tab.pending_step.is_none() => {
            tab.scroll.scroll_to_row(row);
            tab.pending_step = Some(step);
        }
        _ => {}
    }
}
