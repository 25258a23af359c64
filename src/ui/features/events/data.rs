//! The list of events: what is known and seen of it, and what can be done there.

use crate::latest::Latest;
use crate::rows::{Chosen, Copying, Extent};
use crate::scroll::Scroll;
use engine::protocol::{EventRow, EventsFilter, EventsPage, EventsQuestion};
use std::rc::Rc;

/// CSS pixels of a row.
pub const ROW_PX: f64 = 22.0;

/// The list of events.
#[derive(Clone, Debug)]
pub struct Events {
    /// What stands in the field of the filter.
    pub text: String,
    pub wrong: Option<String>,
    /// What is listed: the last text that nothing was wrong with, the chosen actions.
    pub(crate) filter: EventsFilter,
    /// Rows that are chosen, and the one that keys start from.
    pub chosen: Chosen,
    pub scroll: Scroll,
    pub(crate) answer: Latest<EventsQuestion, Rc<EventsPage>>,
    /// The moment whose row was looked for last, or that the list has set.
    pub(crate) followed: Option<u32>,
    pub(crate) lead: Lead,
    pub(crate) copying: Copying,
}

impl Default for Events {
    fn default() -> Events {
        Events {
            text: String::new(),
            wrong: None,
            filter: EventsFilter::default(),
            chosen: Chosen::default(),
            scroll: Scroll::new(ROW_PX),
            answer: Latest::default(),
            followed: None,
            lead: Lead::default(),
            copying: Copying::default(),
        }
    }
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
    pub(crate) fn actions(&self) -> u32 {
        self.filter.actions
    }

    /// Lists these actions alone.
    pub(crate) fn list_actions(&mut self, actions: u32) {
        self.filter.actions = actions;
    }

    pub(crate) fn row(&self, row: u32) -> Option<&EventRow> {
        let page = self.page()?;
        page.rows.get(row.checked_sub(page.first)? as usize)
    }
}

/// What a person does in the list with pointer and field; and what the browser reports of it.
#[derive(Clone, Debug, PartialEq)]
pub enum EventsAction {
    /// So many CSS pixels are above what is seen, and so many are seen.
    Scrolled(f64, f64),
    RowClicked(u32, Extent),
    /// This stands in the field of the filter.
    Typed(String),
    /// Events of this action, by its place among all, are listed alone beside the others that are, or no longer.
    ActionToggled(u32),
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventStep {
    Select,
    /// To the event that made the selected allocation.
    ToBorn,
    ToFreed,
}

/// Who follows whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lead {
    /// The list follows the moment.
    #[default]
    Moment,
    /// The moment becomes that of the row that keys led to, as soon as it is known which event that is.
    Row,
}
