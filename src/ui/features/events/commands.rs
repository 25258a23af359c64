//! Commands of the Events tab. The commands for rows are the same in all lists ([`crate::commands::rows`]).

use super::select_allocation_of;
use crate::binding::KeyScope::Page;
use crate::command::{SEARCH, row, rows, tab_row};
use crate::effect::Effect;
use crate::shared::Shared;
use crate::tab::Tab;
use protocol::Details;

rows! {
    pub(crate) ROWS:
    TO_ALLOCATED = row(Page, SEARCH, &["Shift+b"], "Go to the event that allocated the selection", "details-born",
        |state, _, effects| {
            let missing = "It was allocated before recording.";
            go_to_event(&mut state.shared, |details| details.allocated_event, missing, effects);
        });
    TO_FREED = row(Page, SEARCH, &["Shift+d"], "Go to the event that freed the selection", "details-freed",
        |state, _, effects| {
            go_to_event(&mut state.shared, |details| details.freed_event, "It is never freed.", effects);
        });
    SELECT = tab_row(Tab::Events, &["Enter"], "Select the allocation of the event", "events-grid", |state, _, effects| {
        if let Some(row) = state.events.selected_rows.active() {
            select_allocation_of(&mut state.events, &mut state.shared, row, effects);
        }
    });
}

/// Shows an event of the selected allocation in the Events tab. `missing` is the message if there is no such event.
fn go_to_event(shared: &mut Shared, event_of: fn(&Details) -> Option<u32>, missing: &str, effects: &mut Vec<Effect>) {
    let event = shared.selection.as_deref().map(event_of);
    match event {
        None => shared.remark = Some("Select an allocation first.".to_owned()),
        Some(None) => shared.remark = Some(missing.to_owned()),
        Some(Some(event)) => {
            shared.views.show(Tab::Events);
            shared.go_to(event.saturating_add(1));
            effects.push(Effect::FocusView);
        }
    }
}
