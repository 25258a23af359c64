//! Drops data that a change of the file, the device or the rules has invalidated.

use crate::plot::planned::DrawnCurve;
use crate::scope::cursor;
use crate::state::change::Change;
use crate::state::comparing::Comparing;
use crate::state::cursor::Cursor;
use crate::state::find::Find;
use crate::state::first_group::FirstGroup;
use crate::state::planned::Planned;
use crate::state::plots::{Plots, unfiltered};
use crate::state::shared::Shared;
use crate::state::slices::Slices;
use crate::state::surroundings::Surroundings;
use crate::state::tools::Tools;
use std::mem::take;

/// Resets the shared state after a change, and queues the change for the features, which are reset before the next
/// request to the worker.
pub(crate) fn reset(state: &mut Shared, change: Change) {
    match change {
        // The grouping and the user's choices for the comparison are kept.
        Change::File => {
            state.first_group = FirstGroup::default();
            state.tools.markers = Default::default();
            let pending_second = state.comparing.pending_second.take();
            state.comparing = Comparing { pending_second, ..take(&mut state.comparing).user_choices() };
        }
        // The user's settings are kept, except for the shown part of memory.
        Change::Device => {
            state.lanes.reset();
            state.plots = Plots { hidden_lines: take(&mut state.plots.hidden_lines), ..Plots::default() };
            state.plot_settings.plot = unfiltered(state.plot_settings.plot);
            state.surroundings = Surroundings::default();
        }
        // Colours have the same meaning in all lanes, so the faded ones are kept.
        Change::Lane => {
            state.surroundings = Surroundings { faded: take(&mut state.surroundings.faded), ..Surroundings::default() };
        }
        Change::Categories | Change::InternalFrames => {}
    }
    if change.is_device_change() {
        (state.hover, state.question) = (None, None);
        (state.selection, state.selecting, state.segment) = (None, None, None);
        let Find { text, error, match_case, .. } = take(&mut state.find);
        state.find = Find { text, error, match_case, ..Find::default() };
        // Markers belong to a device, and are kept until the file is closed.
        let Tools { capacity, markers, .. } = take(&mut state.tools);
        state.tools = Tools { capacity, markers, ..Tools::default() };
        state.slices = Slices::default();
        state.cursor = Cursor { moment: state.peak_moment(), ..Cursor::default() };
        state.views.node = None;
        cursor::update_scope(state);
    }
    // Curves and peaks depend on the device, the categories and the tree nodes.
    let Planned { drawn, plan, .. } = take(&mut state.planned);
    let drawn = if drawn == DrawnCurve::Simulated { DrawnCurve::None } else { drawn };
    state.planned = Planned { drawn, plan, ..Planned::default() };
    state.selected_label = None;
    state.changes.push(change);
}
