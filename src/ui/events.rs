//! The list of events: what it lists, which part of it is seen, which rows are chosen; and how it and the moment follow each other.

mod view;

pub use view::{COLUMNS, Chip, EventsStatus, chips, grid, status};

use super::action::{Command, Effect};
use super::answer::Answer;
use super::feature::{Change, Feature, Turn};
use super::pointing::select;
use super::scroll::Scroll;
use super::state::State;
use super::table::{self, Chosen, Extent};
use super::views::Tab;
use engine::protocol::{self, Ask, EventRow, EventsFilter, EventsPage, EventsQuestion, Question, Reply, Request};
use std::rc::Rc;

/// CSS pixels of a row.
pub const ROW_PX: f64 = 22.0;

/// The list of events.
#[derive(Clone, Debug)]
pub struct Events {
    /// What stands in the field of the filter.
    pub text: String,
    /// What is wrong with it.
    pub wrong: Option<String>,
    /// What is listed: the last text that nothing was wrong with, the chosen actions.
    filter: EventsFilter,
    /// Rows that are chosen, and the one that keys start from.
    pub chosen: Chosen,
    /// How far its rows are scrolled.
    pub scroll: Scroll,
    answer: Answer<EventsQuestion, Rc<EventsPage>>,
    /// The moment whose row was looked for last, or that the list has set.
    followed: Option<u32>,
    /// Who follows whom.
    lead: Lead,
    /// The allocation that was selected in the list, until its details are here.
    selecting: Option<u32>,
}

/// Who follows whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lead {
    /// The list follows the moment.
    #[default]
    Moment,
    /// The moment becomes that of the row that keys led to, as soon as it is known which event that is.
    Row,
}

impl Default for Events {
    fn default() -> Events {
        Events {
            text: String::new(),
            wrong: None,
            filter: EventsFilter::default(),
            chosen: Chosen::default(),
            scroll: Scroll::new(ROW_PX),
            answer: Answer::default(),
            followed: None,
            lead: Lead::default(),
            selecting: None,
        }
    }
}

/// What a person does in the list with pointer and field; and what the browser reports of it.
#[derive(Clone, Debug, PartialEq)]
pub enum EventsAction {
    /// So many CSS pixels are above what is seen, and so many are seen.
    Scrolled(f64, f64),
    /// A row was clicked.
    RowClicked(u32, Extent),
    /// This stands in the field of the filter.
    Typed(String),
    /// Events of this action, by its place among all, are listed alone beside the others that are, or no longer.
    ActionToggled(u32),
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventStep {
    /// Select the allocation of the row.
    Select,
    /// To the event that made the selected allocation.
    ToBorn,
    /// To the event that ended it.
    ToFreed,
}

impl Events {
    /// The part of the list that is shown.
    pub fn page(&self) -> Option<&EventsPage> {
        self.answer.latest().map(|page| &**page)
    }

    /// Whether anything but the range decides what is listed.
    pub fn is_filtered(&self) -> bool {
        !self.text.is_empty() || self.filter.actions != 0
    }

    /// The actions that are listed alone: see [`EventsFilter::actions`].
    pub(super) fn actions(&self) -> u32 {
        self.filter.actions
    }

    /// Lists these actions alone.
    pub(super) fn list_actions(&mut self, actions: u32) {
        self.filter.actions = actions;
    }

    fn row(&self, row: u32) -> Option<&EventRow> {
        let page = self.page()?;
        page.rows.get(row.checked_sub(page.first)? as usize)
    }

    /// Whether this allocation was selected in the list: whose free was clicked shall not be seen at its birth.
    pub(super) fn has_selected(&mut self, allocation: u32) -> bool {
        self.selecting.take() == Some(allocation)
    }
}

/// What pointer and field do.
pub(super) fn act(state: &mut State, action: EventsAction, effects: &mut Vec<Effect>) {
    let events = &mut state.events;
    match action {
        EventsAction::Scrolled(top, height) => events.scroll.told(top, height),
        EventsAction::RowClicked(row, extent) => {
            go_to(state, row, extent);
            if extent == Extent::One {
                select_of(state, row, effects);
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

/// What the keys and controls that it shares with the table do here.
pub(super) fn command(state: &mut State, command: Command, effects: &mut Vec<Effect>) {
    match command {
        Command::Row(go, extent) => {
            if let Some(last) = state.events.scroll.rows.checked_sub(1) {
                let row = state.events.chosen.gone(go, last, &state.events.scroll);
                go_to(state, row, extent);
            }
        }
        Command::ChooseAllRows => state.events.chosen.all(state.events.scroll.rows),
        Command::CopyRows => copy(state, effects),
        Command::FilterTable => effects.push(Effect::FocusFilter),
        Command::ClearFilters => {
            let events = &mut state.events;
            (events.text, events.wrong, events.filter) = Default::default();
        }
        _ => {}
    }
}

/// What its own keys do.
pub(super) fn step(state: &mut State, step: EventStep, effects: &mut Vec<Effect>) {
    let selection = state.selection.as_deref();
    let (event, otherwise) = match (step, selection) {
        (EventStep::Select, _) => {
            if let Some(row) = state.events.chosen.active() {
                select_of(state, row, effects);
            }
            return;
        }
        (_, None) => (None, "Select an allocation first."),
        (EventStep::ToBorn, Some(details)) => (details.born_event, "It was born before the recording."),
        (EventStep::ToFreed, Some(details)) => (details.freed_event, "It is live at the end."),
    };
    match event {
        None => state.remark = Some(otherwise.to_owned()),
        Some(event) => {
            state.views.show(Tab::Events);
            state.pin_and_show(event.saturating_add(1));
            effects.push(Effect::FocusView);
        }
    }
}

fn go_to(state: &mut State, row: u32, extent: Extent) {
    let events = &mut state.events;
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
        lead(state);
    }
}

/// The moment becomes that of the row, where it leads and is known.
fn lead(state: &mut State) {
    let events = &mut state.events;
    let event = events.chosen.active().and_then(|row| events.row(row)).map(|row| row.event);
    if let Some(event) = event.filter(|_| events.lead == Lead::Row) {
        events.lead = Lead::Moment;
        state.pin_and_show(event.saturating_add(1));
        state.events.followed = Some(state.pinned.moment);
    }
}

fn select_of(state: &mut State, row: u32, effects: &mut Vec<Effect>) {
    match state.events.row(row).map(|row| row.allocation) {
        Some(Some(allocation)) => {
            state.events.selecting = Some(allocation);
            select(state, allocation, effects);
        }
        Some(None) => (state.selection, state.selecting) = (None, None),
        None => {}
    }
}

fn copy(state: &mut State, effects: &mut Vec<Effect>) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    let Some(mut question) = state.events.answer.question().cloned() else { return };
    question.chosen = state.events.chosen.or_all(&state.events.scroll);
    table::copy_rows(state, question.chosen.clone(), effects, &|serial| {
        Request::Ask(Ask { serial, device, what: Question::EventsText(Box::new(question.clone())) })
    });
}

/// How it takes part.
pub(super) const FEATURE: Feature = Feature { reset, asks: &[(Turn::WithScene, ask)], take };

/// Another device: what a person typed stays.
fn reset(state: &mut State, change: Change) {
    if change != Change::File {
        let Events { text, wrong, filter, mut scroll, .. } = std::mem::take(&mut state.events);
        scroll.rows = 0;
        scroll.to(0.0);
        state.events = Events { text, wrong, filter, scroll, ..Events::default() };
    }
}

/// Asks for what is to be seen and is not known; the next question waits for the answer to the one before.
fn ask(state: &mut State, device: i64, effects: &mut Vec<Effect>) {
    if state.views.seen() != Some(Tab::Events) || state.events.answer.asked().is_some() {
        return;
    }
    let (moment, find) = (state.pinned.moment, state.find.serial());
    let between = state.pinned.range.map(|span| [span.from, span.to]);
    let events = &state.events;
    let filter = EventsFilter { between, ..events.filter.clone() };
    let known = events.answer.question().filter(|known| known.filter == filter).map(|known| known.rows);
    let rows = events.scroll.wanted(known);
    // In another list its row is elsewhere.
    let is_elsewhere = known.is_none() || events.followed != Some(moment);
    let follows = events.lead == Lead::Moment && is_elsewhere;
    let reveal = follows.then(|| moment.saturating_sub(1));
    let question = EventsQuestion { filter, rows, reveal, chosen: Vec::new(), find };
    let request = |serial, question| Request::Ask(Ask { serial, device, what: Question::Events(Box::new(question)) });
    if state.events.answer.ask(question, &mut state.serial, effects, request) && follows {
        state.events.followed = Some(moment);
    }
}

/// Takes a part of the list.
fn take(state: &mut State, reply: Reply, _: f64, _: &mut Vec<Effect>) -> Option<Reply> {
    let Reply::Answer { serial, answer: protocol::Answer::Events(page) } = reply else { return Some(reply) };
    let events = &mut state.events;
    let mut question = events.answer.answered(serial)?;
    let is_other = events.answer.question().is_none_or(|known| known.filter != question.filter);
    if is_other {
        events.chosen = Chosen::default();
        events.lead = Lead::Moment;
        if question.reveal.is_none() {
            // Its row is elsewhere now.
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
    lead(state);
    None
}
