//! The Events tab: filter, scrolling and selection of rows. Keeps the active row and the cursor at the same event.

mod data;

pub(crate) use data::SyncDirection;
pub use data::{Events, EventsAction};

pub mod commands;
mod feature;
mod link;
mod view;

pub use view::{ActionFilter, COLUMNS, EventColumn, EventsStatus, SITE_COLUMN, action_filters, grid, status};

pub(crate) use feature::FEATURE;

use crate::features::rows::{RowSelection, RowsStep, SelectMode};
use crate::state::change::Change;
use crate::state::effect::Effect;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use protocol::{Answer, EventsFilter, EventsQuestion, Question};
use std::rc::Rc;

/// Handles pointer, scroll and text input.
pub(crate) fn handle_action(events: &mut Events, shared: &Shared, action: EventsAction, out: &mut Outbox) {
    match action {
        EventsAction::Scrolled(top, height) => events.scroll.set_visible(top, height),
        EventsAction::RowClicked(row, extent) => {
            activate_row(events, shared, row, extent, out);
            if extent == SelectMode::Only {
                select_allocation_of(events, row, out);
            }
        }
        EventsAction::FilterTyped(text) => {
            events.error = view::filter_error(&text);
            if events.error.is_none() {
                text.trim().clone_into(&mut events.filter.text);
            }
            events.text = text;
        }
        EventsAction::ActionToggled(action) => events.filter.actions ^= 1u32.checked_shl(action).unwrap_or(0),
    }
}

/// Runs a command that is available in all lists of rows, such as copying the selected rows.
pub(crate) fn on_rows_step(events: &mut Events, shared: &Shared, step: RowsStep, out: &mut Outbox) {
    match step {
        RowsStep::Go(go, extent) => {
            if let Some(last) = events.scroll.rows.checked_sub(1) {
                let row = events.selected_rows.moved(go, last, &events.scroll);
                activate_row(events, shared, row, extent, out);
            }
        }
        RowsStep::ChooseAll => events.selected_rows.select_all(events.scroll.rows),
        RowsStep::Copy => copy(events, shared, out),
        RowsStep::Filter => out.push(Effect::FocusFilter),
        RowsStep::Clear => (events.text, events.error, events.filter) = Default::default(),
        RowsStep::SortByNextColumn | RowsStep::ReverseSort => {}
    }
}

fn activate_row(events: &mut Events, shared: &Shared, row: u32, extent: SelectMode, out: &mut Outbox) {
    if row >= events.scroll.rows {
        return;
    }
    events.selected_rows.select(row, extent);
    events.scroll.scroll_to_row(row);
    if extent == SelectMode::Only {
        events.lead = SyncDirection::RowLeads;
        move_cursor_to_row(events, shared, out);
    }
}

/// Moves the cursor to the event of the active row, if the cursor follows the list and the row is loaded.
fn move_cursor_to_row(events: &mut Events, shared: &Shared, out: &mut Outbox) {
    let event = events.selected_rows.active().and_then(|row| events.row(row)).map(|row| row.event);
    if let Some(event) = event.filter(|_| events.lead == SyncDirection::RowLeads) {
        events.lead = SyncDirection::CursorLeads;
        let moment = event.saturating_add(1).min(shared.end_moment());
        out.intend(Intent::MoveCursor(moment));
        events.revealed_moment = Some(moment);
    }
}

fn select_allocation_of(events: &Events, row: u32, out: &mut Outbox) {
    match events.row(row).map(|row| row.allocation) {
        Some(Some(allocation)) => out.intend(Intent::SelectOfEvent(allocation)),
        Some(None) => out.intend(Intent::Select(None)),
        None => {}
    }
}

fn copy(events: &mut Events, shared: &Shared, out: &mut Outbox) {
    let Some(device) = shared.device().map(|device| device.device) else { return };
    let Some(mut question) = events.answer.answered_question().cloned() else { return };
    question.selected = events.selected_rows.ranges_or_all(&events.scroll);
    let rows = question.selected.clone();
    events.copying.start(device, &rows, Question::EventsText(Box::new(question)), out);
}

/// Resets the tab after a change of device, but keeps the filter.
fn reset(events: &mut Events, _: &Shared, change: Change, _: &mut Outbox) {
    if change.is_device_change() {
        let Events { text, error, filter, mut scroll, .. } = std::mem::take(events);
        scroll.clear();
        *events = Events { text, error, filter, scroll, ..Events::default() };
    }
}

/// Requests missing rows unless a request is already pending.
fn ask(events: &mut Events, shared: &Shared, device: i64, out: &mut Outbox) {
    if shared.views.visible() != Some(Tab::Events) || events.answer.pending().is_some() {
        return;
    }
    let (moment, search_serial) = (shared.cursor.moment, shared.find.serial());
    let range = shared.cursor.range.map(|span| [span.from, span.to]);
    let filter = EventsFilter { range, ..events.filter.clone() };
    let known = events.answer.answered_question().filter(|known| known.filter == filter).map(|known| known.rows);
    let rows = events.scroll.rows_to_request(known);
    // In a changed list, the row of the cursor has another index.
    let is_elsewhere = known.is_none() || events.revealed_moment != Some(moment);
    let follows = events.lead == SyncDirection::CursorLeads && is_elsewhere;
    let reveal = follows.then(|| moment.saturating_sub(1));
    let question = EventsQuestion { filter, rows, reveal, selected: Vec::new(), search_serial };
    if events.answer.ask(question, device, out, |it| Question::Events(Box::new(it))) && follows {
        events.revealed_moment = Some(moment);
    }
}

/// Handles a reply with rows of the list. Returns replies for other features.
fn take(events: &mut Events, shared: &Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    let page = match answer {
        Answer::Events(page) => page,
        Answer::TableText(ref part) if events.copying.take(serial, part, out) => return None,
        other => return Some(other),
    };
    let mut question = events.answer.take_pending(serial)?;
    let is_other = events.answer.answered_question().is_none_or(|known| known.filter != question.filter);
    if is_other {
        events.selected_rows = RowSelection::default();
        events.lead = SyncDirection::CursorLeads;
        if question.reveal.is_none() {
            // The row has another index now.
            events.revealed_moment = None;
        }
    }
    let revealed = question.reveal.take().and(page.revealed);
    events.scroll.rows = page.listed;
    events.answer.store(question, Rc::from(page));
    if let Some(row) = revealed.filter(|_| events.lead == SyncDirection::CursorLeads) {
        events.selected_rows.select_only(row);
        events.scroll.scroll_to_row(row);
    }
    move_cursor_to_row(events, shared, out);
    None
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/events.rs"]
mod tests;
