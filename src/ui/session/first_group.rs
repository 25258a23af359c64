//! Initial grouping of a newly opened file. The timeline is grouped by category if most bytes at the peak have one.

pub use crate::state::first_group::FirstGroup;

use crate::plot::axis_switch;
use crate::state::change::AskPhase;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use protocol::{Answer, Grouping, LegendEntry, Question};

/// Minimum share of the bytes at the peak that must have a category, in percent.
const MIN_PERCENT: u128 = 80;

/// Callbacks of the initial grouping.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::AfterScene, ask)], take };

/// Requests the initial grouping of a file that was just opened.
pub(crate) fn request(state: &mut Shared) {
    state.first_group.is_wanted = true;
}

/// Cancels the initial grouping, because a link specifies the grouping.
pub(crate) fn cancel(state: &mut Shared) {
    state.first_group.is_wanted = false;
}

fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    if state.first_group.is_wanted {
        let peak = state.peak_moment();
        let legend = |()| Question::Legend { colouring: Grouping::Category, at: Some(peak) };
        state.first_group.answer.ask((), device, out, legend);
    }
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    let Answer::Legend(entries) = answer else { return Some(answer) };
    if state.first_group.answer.take_pending(serial).is_none() {
        return Some(Answer::Legend(entries));
    }
    // A grouping that was chosen meanwhile is kept.
    let is_untouched = state.plot_settings.stacking.is_none() && state.plot_settings.colouring == Grouping::default();
    if std::mem::take(&mut state.first_group.is_wanted) && is_untouched && is_classified(&entries) {
        axis_switch::change_plot_settings(state, state.plot_settings.grouped_by(Some(Grouping::Category)));
    }
    None
}

/// Returns whether enough bytes at the peak have a category. The last of `entries` counts the bytes without a category.
fn is_classified(entries: &[LegendEntry]) -> bool {
    let sum = |entries: &[LegendEntry]| entries.iter().map(|entry| u128::from(entry.peak_requested)).sum::<u128>();
    let Some((_, known)) = entries.split_last() else { return false };
    let all = sum(entries);
    all > 0 && sum(known) * 100 >= all * MIN_PERCENT
}

#[cfg(test)]
#[path = "../../../tests/units/ui/first_group.rs"]
mod tests;
