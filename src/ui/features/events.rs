//! The Events tab: filter, scrolling, selection of rows, and synchronization of the list with the cursor.

mod data;

pub(crate) use data::Lead;
pub use data::{EventStep, Events, EventsAction, ROW_PX};

mod feature;
mod link;
mod view;

pub use view::{COLUMNS, Chip, EventsStatus, chips, grid, status};

pub(crate) use feature::FEATURE;

use crate::binding::{Binding, Scope, line};
use crate::change::Change;
use crate::effect::Effect;
use crate::rows::{Chosen, Extent, RowsStep};
use crate::selecting::select;
use crate::shared::Shared;
use crate::tab::Tab;
use engine::protocol::{Answer, EventsFilter, EventsQuestion, Question};
use std::rc::Rc;

/// Handles pointer and text input.
pub(crate) fn act(events: &mut Events, shared: &mut Shared, action: EventsAction, effects: &mut Vec<Effect>) {
    match action {
        EventsAction::Scrolled(top, height) => events.scroll.seen_at(top, height),
        EventsAction::RowClicked(row, extent) => {
            go_to(events, shared, row, extent);
            if extent == Extent::One {
                select_of(events, shared, row, effects);
            }
        }
        EventsAction::Typed(text) => {
            events.wrong = view::problem(&text);
            if events.wrong.is_none() {
                text.trim().clone_into(&mut events.filter.text);
            }
            events.text = text;
        }
        EventsAction::ActionToggled(action) => events.filter.actions ^= 1u32.checked_shl(action).unwrap_or(0),
    }
}

/// Handles the keys and controls that all lists of rows share.
pub(crate) fn rows(events: &mut Events, shared: &mut Shared, step: RowsStep, effects: &mut Vec<Effect>) {
    match step {
        RowsStep::Go(go, extent) => {
            if let Some(last) = events.scroll.rows.checked_sub(1) {
                let row = events.chosen.gone(go, last, &events.scroll);
                go_to(events, shared, row, extent);
            }
        }
        RowsStep::ChooseAll => events.chosen.all(events.scroll.rows),
        RowsStep::Copy => copy(events, shared, effects),
        RowsStep::Filter => effects.push(Effect::FocusFilter),
        RowsStep::Clear => (events.text, events.wrong, events.filter) = Default::default(),
        RowsStep::SortByNext | RowsStep::SortOtherWay => {}
    }
}

/// Runs a command of the tab.
fn step(events: &mut Events, shared: &mut Shared, step: EventStep, effects: &mut Vec<Effect>) {
    let selection = shared.selection.as_deref();
    let (event, otherwise) = match (step, selection) {
        (EventStep::Select, _) => {
            if let Some(row) = events.chosen.active() {
                select_of(events, shared, row, effects);
            }
            return;
        }
        (_, None) => (None, "Select an allocation first."),
        (EventStep::ToBorn, Some(details)) => (details.born_event, "It was allocated before recording."),
        (EventStep::ToFreed, Some(details)) => (details.freed_event, "It is never freed."),
    };
    match event {
        None => shared.remark = Some(otherwise.to_owned()),
        Some(event) => {
            shared.views.show(Tab::Events);
            shared.pin_and_show(event.saturating_add(1));
            effects.push(Effect::FocusView);
        }
    }
}

fn go_to(events: &mut Events, shared: &mut Shared, row: u32, extent: Extent) {
    if row >= events.scroll.rows {
        return;
    }
    match extent {
        Extent::One => events.chosen.only(row),
        Extent::Through => events.chosen.through(row),
        Extent::Toggle => events.chosen.toggle(row),
    }
    events.scroll.bring(row);
    if extent == Extent::One {
        events.lead = Lead::Row;
        lead(events, shared);
    }
}

/// Moves the cursor to the active row, if the list leads and the event of that row is known.
fn lead(events: &mut Events, shared: &mut Shared) {
    let event = events.chosen.active().and_then(|row| events.row(row)).map(|row| row.event);
    if let Some(event) = event.filter(|_| events.lead == Lead::Row) {
        events.lead = Lead::Moment;
        shared.pin_and_show(event.saturating_add(1));
        events.followed = Some(shared.pinned.moment);
    }
}

fn select_of(events: &mut Events, shared: &mut Shared, row: u32, effects: &mut Vec<Effect>) {
    match events.row(row).map(|row| row.allocation) {
        Some(Some(allocation)) => {
            shared.stays_put = Some(allocation);
            select(shared, allocation, effects);
        }
        Some(None) => (shared.selection, shared.selecting) = (None, None),
        None => {}
    }
}

fn copy(events: &mut Events, shared: &mut Shared, effects: &mut Vec<Effect>) {
    let Some(device) = shared.device().map(|device| device.device) else { return };
    let Some(mut question) = events.answer.question().cloned() else { return };
    question.chosen = events.chosen.or_all(&events.scroll);
    let rows = question.chosen.clone();
    events.copying.begin(shared, device, &rows, Question::EventsText(Box::new(question)), effects);
}

const KEYS: &[Binding<EventStep>] = {
    use EventStep::*;
    use Scope::Page;
    const AT: Scope = Scope::Tab(Tab::Events);
    &[
        line(Page, &["Shift+b"], ToBorn, "Go to the event that allocated the selection", "details-born"),
        line(Page, &["Shift+d"], ToFreed, "Go to the event that freed the selection", "details-freed"),
        line(AT, &["Enter"], Select, "Select the allocation of the event", "events-grid"),
    ]
};

/// Handles a change of device. The filter is kept.
fn reset(events: &mut Events, _: &mut Shared, change: Change) {
    if change.is_of_device() {
        let Events { text, wrong, filter, mut scroll, .. } = std::mem::take(events);
        scroll.rows = 0;
        scroll.to(0.0);
        *events = Events { text, wrong, filter, scroll, ..Events::default() };
    }
}

/// Requests the missing rows. The next question waits for the reply to the previous one.
fn ask(events: &mut Events, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    if shared.views.seen() != Some(Tab::Events) || events.answer.asked().is_some() {
        return;
    }
    let (moment, find) = (shared.pinned.moment, shared.find.serial());
    let between = shared.pinned.range.map(|span| [span.from, span.to]);
    let filter = EventsFilter { between, ..events.filter.clone() };
    let known = events.answer.question().filter(|known| known.filter == filter).map(|known| known.rows);
    let rows = events.scroll.wanted(known);
    // In a changed list, the row of the cursor has another index.
    let is_elsewhere = known.is_none() || events.followed != Some(moment);
    let follows = events.lead == Lead::Moment && is_elsewhere;
    let reveal = follows.then(|| moment.saturating_sub(1));
    let question = EventsQuestion { filter, rows, reveal, chosen: Vec::new(), find };
    if events.answer.ask(question, device, &mut shared.serial, effects, |it| Question::Events(Box::new(it))) && follows
    {
        events.followed = Some(moment);
    }
}

/// Handles a reply with rows of the list.
fn take(
    events: &mut Events,
    shared: &mut Shared,
    serial: u32,
    answer: Answer,
    effects: &mut Vec<Effect>,
) -> Option<Answer> {
    let page = match answer {
        Answer::Events(page) => page,
        Answer::TableText(ref part) if events.copying.take(shared, serial, part, effects) => return None,
        other => return Some(other),
    };
    let mut question = events.answer.answered(serial)?;
    let is_other = events.answer.question().is_none_or(|known| known.filter != question.filter);
    if is_other {
        events.chosen = Chosen::default();
        events.lead = Lead::Moment;
        if question.reveal.is_none() {
            // The row has another index now.
            events.followed = None;
        }
    }
    let revealed = question.reveal.take().and(page.revealed);
    events.scroll.rows = page.listed;
    events.answer.keep(question, Rc::from(page));
    if let Some(row) = revealed.filter(|_| events.lead == Lead::Moment) {
        events.chosen.only(row);
        events.scroll.bring(row);
    }
    lead(events, shared);
    None
}
