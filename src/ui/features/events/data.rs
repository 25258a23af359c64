//! State and actions of the Events tab.

use crate::features::rows::{Copying, RowSelection, SelectMode};
use crate::plot::scroll::Scroll;
use crate::state::latest::Latest;
use protocol::{EventRow, EventsFilter, EventsPage, EventsQuestion};
use std::rc::Rc;

/// State of the Events tab.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Text of the filter field.
    pub text: String,
    pub error: Option<String>,
    /// Active filter: the last valid text and the selected actions.
    pub(crate) filter: EventsFilter,
    /// Selected rows and the active row.
    pub selected_rows: RowSelection,
    pub scroll: Scroll,
    pub(crate) answer: Latest<EventsQuestion, Rc<EventsPage>>,
    /// Cursor position that the list last scrolled to, or that was last set from the list.
    pub(crate) revealed_moment: Option<u32>,
    pub(crate) lead: SyncDirection,
    pub(crate) copying: Copying,
}

impl Events {
    /// Returns the loaded rows of the list.
    pub fn page(&self) -> Option<&EventsPage> {
        self.answer.latest().map(|page| &**page)
    }

    /// Returns true if a filter text or an action restricts the list. A selected range does not count.
    pub fn is_filtered(&self) -> bool {
        !self.text.is_empty() || self.filter.actions != 0
    }

    /// Returns the selected actions as a bit set. See [`EventsFilter::actions`].
    pub(crate) fn actions(&self) -> u32 {
        self.filter.actions
    }

    /// Sets the selected actions from a bit set.
    pub(crate) fn set_actions(&mut self, actions: u32) {
        self.filter.actions = actions;
    }

    pub(crate) fn row(&self, row: u32) -> Option<&EventRow> {
        let page = self.page()?;
        page.rows.get(row.checked_sub(page.first)? as usize)
    }
}

/// User input in the list of events, and scroll events of the browser.
#[derive(Clone, Debug, PartialEq)]
pub enum EventsAction {
    /// Scroll offset and visible height in CSS pixels.
    Scrolled(f64, f64),
    RowClicked(u32, SelectMode),
    /// Text of the filter field.
    FilterTyped(String),
    /// Toggles the filter for an action, given by its index in [`protocol::Action::ALL`].
    ActionToggled(u32),
}

/// Direction of the synchronization between the list and the cursor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SyncDirection {
    /// The list follows the cursor.
    #[default]
    CursorLeads,
    /// The cursor moves to the active row, once the event of that row is known.
    RowLeads,
}
