//! The view that a file is opened with, unless a link specifies another.

use crate::features::{State, insights};
use crate::plot::lane_focus::show_device;
use crate::scope::cursor;
use crate::session::first_group;
use crate::state::outbox::Outbox;
use crate::text::tab::TabGroup;

/// Shows the device with the index `chosen`, or else the default one, with the cursor at its out-of-memory event, if it
/// has one.
pub(crate) fn show_default_view(state: &mut State, chosen: Option<usize>, out: &mut Outbox) {
    let default_index = insights::choose_device(&mut state.insights, &state.shared, out);
    state.carry_out(out);
    show_device(state, chosen.unwrap_or(default_index));
    cursor::seek_out_of_memory(state);
    state.forget(out);
    // Without events the timeline is a single column, so the segments are the most useful view.
    let has_no_events = state.device().is_some_and(|device| device.events == 0);
    if has_no_events {
        state.views.show(TabGroup::Segments.first());
    }
    first_group::request(&mut state.shared);
}
