//! Commands of the Events tab. The commands for rows are the same in all lists ([`crate::shell::commands::rows`]).

use crate::features::command::{SEARCH, row, rows, tab_row};
use crate::features::events::select_allocation_of;
use crate::state::binding::KeyScope::Page;
use crate::state::effect::Effect;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use protocol::Details;

rows! {
    pub(crate) ROWS:
    TO_ALLOCATED = row(Page, SEARCH, &["Shift+b"], "Go to the event that allocated the selection", "details-born",
        |state, out| {
            let missing = "It was allocated before recording.";
            go_to_event(&state.shared, |details| details.allocated_event, missing, out);
        });
    TO_FREED = row(Page, SEARCH, &["Shift+d"], "Go to the event that freed the selection", "details-freed",
        |state, out| {
            go_to_event(&state.shared, |details| details.freed_event, "It is never freed.", out);
        });
    SELECT = tab_row(Tab::Events, &["Enter"], "Select the allocation of the event", "events-grid", |state, out| {
        if let Some(row) = state.events.selected_rows.active() {
            select_allocation_of(&state.events, row, out);
        }
    });
}

/// Shows an event of the selected allocation in the Events tab. `missing` is the message if there is no such event.
pub(super) fn go_to_event(shared: &Shared, event_of: fn(&Details) -> Option<u32>, missing: &str, out: &mut Outbox) {
    let event = shared.selection.as_deref().map(event_of);
    match event {
        None => out.say("Select an allocation first."),
        Some(None) => out.say(missing),
        Some(Some(event)) => {
            out.intend(Intent::Show(Tab::Events));
            out.intend(Intent::MoveCursor(event.saturating_add(1)));
            out.push(Effect::FocusView);
        }
    }
}
