//! Contents of the Events tab: rows, action filters and status line.

use crate::features::events::Events;
use crate::features::rows::cells::{bytes_cell, cell, classes, number, pool_cell, set_shared_beginnings, stream_cell};
use crate::features::rows::{Cell, Grid, RowView};
use crate::scope::details::time_of_day;
use crate::state::shared::Shared;
use crate::text::amount::elapsed;
use base::units::{Bytes, duration_us, group_digits, pluralize};
use protocol::{Action, EventRow, EventTerms, NO_STACK, versioned};

/// A column of the list.
pub struct EventColumn {
    pub title: &'static str,
    pub tooltip: &'static str,
    /// True if the column has texts, which the terminal aligns to the left.
    pub is_text: bool,
    /// Position among the columns that a narrow terminal hides. `None` if it always shows the column.
    pub hidden: Option<u8>,
    cell: fn(&ListedEvent<'_>) -> Cell,
}

/// An event, and what its cells need.
struct ListedEvent<'a> {
    shared: &'a Shared,
    action: Action,
    row: &'a EventRow,
}

const fn number_column(
    title: &'static str,
    tooltip: &'static str,
    hidden: Option<u8>,
    cell: fn(&ListedEvent<'_>) -> Cell,
) -> EventColumn {
    EventColumn { title, tooltip, is_text: false, hidden, cell }
}

const fn text_column(
    title: &'static str,
    tooltip: &'static str,
    hidden: Option<u8>,
    cell: fn(&ListedEvent<'_>) -> Cell,
) -> EventColumn {
    EventColumn { is_text: true, ..number_column(title, tooltip, hidden, cell) }
}

/// Index of the column with call sites.
pub const SITE_COLUMN: usize = 8;

/// Columns of the list.
pub const COLUMNS: [EventColumn; 12] = [
    number_column("Event", "Index of the event in the trace", None, |it| plain(number(it.row.event))),
    number_column("Time, s", "Seconds since the first event", Some(6), |it| it.time()),
    number_column("Δt", "Time since the previous event", Some(2), |it| {
        it.row.since_us.map_or_else(nothing, |us| plain(duration_us(us)))
    }),
    text_column("Action", "Action of the allocator", None, |it| {
        plain([symbol(it.action), " ", it.action.name()].concat())
    }),
    number_column("Size", "Requested bytes of an allocation, or reserved bytes of a segment", None, |it| {
        if it.row.size == 0 && !it.action.requires_address() { nothing() } else { bytes_cell(it.row.size) }
    }),
    text_column(
        "Address",
        "Address, and how many blocks or segments were freed there before (as in memory_viz)",
        Some(4),
        |it| it.row.address.map_or_else(nothing, |address| plain(versioned(address, it.row.version))),
    ),
    number_column("Stream", "Stream of the device", Some(1), |it| stream_cell(it.row.stream)),
    text_column("Pool", "Memory pool", Some(0), |it| pool_cell(it.shared, it.row.pool)),
    text_column(
        "Call site",
        "Innermost frame of your code; for a free without a stack, that of its allocation",
        None,
        |it| it.call_site(),
    ),
    number_column("Live", "Live bytes (requested) after the event", None, |it| bytes_cell(it.row.active)),
    number_column(
        "Awaiting free",
        "Part of the live bytes that was freed and waits for another stream",
        Some(3),
        |it| if it.row.awaiting_free == 0 { nothing() } else { bytes_cell(it.row.awaiting_free) },
    ),
    number_column("Reserved", "Reserved bytes after the event", Some(5), |it| {
        let knows_reserved = it.shared.device().is_some_and(|device| device.has_reserved());
        if knows_reserved { bytes_cell(it.row.reserved) } else { nothing() }
    }),
];

/// Button that filters the list by an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionFilter {
    pub action: u32,
    /// Symbol, name and number of events.
    pub text: String,
    /// True if the list is filtered by this action.
    pub is_pressed: bool,
}

/// The status line of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsStatus {
    pub text: String,
    /// True if the filter is invalid. `text` is then the error message.
    pub is_error: bool,
    /// True if there is a filter to clear.
    pub is_filtered: bool,
    /// Number of listed events and number of all events.
    pub counts: [u32; 2],
}

/// Returns the error message for a filter text. `None` if the text is valid.
pub(super) fn filter_error(text: &str) -> Option<String> {
    EventTerms::parse(text).err().map(|error| error.to_string())
}

/// Returns a symbol for an action, so that colour is not the only distinction.
fn symbol(action: Action) -> &'static str {
    match action {
        Action::Alloc => "+",
        Action::FreeRequested => "◌",
        Action::FreeCompleted => "−",
        Action::SegmentAlloc => "▣",
        Action::SegmentFree => "▢",
        Action::SegmentMap => "◧",
        Action::SegmentUnmap => "◨",
        Action::Snapshot => "◉",
        Action::Oom => "▲",
        Action::Annotate => "✎",
        Action::Unknown => "?",
        Action::UserDefined => "✎",
    }
}

/// Returns the visible part of the list.
pub fn grid(events: &Events, shared: &Shared) -> Grid {
    let Some(page) = events.page() else { return Grid::default() };
    let shown = events.scroll.rendered_rows();
    let selected = shared.selection.as_deref().map(|selection| selection.allocation);
    let row = |(row, facts): (u32, &EventRow)| {
        let is_chosen = events.selected_rows.contains(row);
        let action = Action::ALL.get(usize::from(facts.action)).copied().unwrap_or(Action::Unknown);
        let class = classes(&[
            (is_chosen, "chosen "),
            (events.selected_rows.active() == Some(row), "active "),
            (facts.event.checked_add(1) == Some(shared.cursor.moment), "now "),
            (selected.is_some() && selected == facts.allocation, "selected "),
            (facts.matches, "found "),
            (action == Action::Alloc, "alloc"),
            (matches!(action, Action::FreeCompleted | Action::FreeRequested), "free"),
            (action == Action::Oom, "oom"),
        ]);
        let listed = ListedEvent { shared, action, row: facts };
        let cells = COLUMNS.iter().map(|column| (column.cell)(&listed)).collect();
        RowView { row, item: facts.event, cells, class, is_chosen }
    };
    let mut rows: Vec<RowView> =
        (page.first..).zip(&page.rows).filter(|(row, _)| shown.contains(row)).map(row).collect();
    set_shared_beginnings(&mut rows, SITE_COLUMN);
    Grid {
        count: page.listed,
        total_px: events.scroll.all_px(),
        offset_px: events.scroll.top_px(rows.first().map_or(0, |row| row.row)),
        active: events.selected_rows.active().filter(|active| rows.iter().any(|row| row.row == *active)),
        rows,
        empty: match (page.listed, page.total) {
            (0, 0) => "No events recorded.",
            (0, _) if !events.is_filtered() => "No events in this range.",
            (0, _) => "No matches.",
            _ => "",
        },
    }
}

fn plain(text: String) -> Cell {
    cell(text, String::new())
}

fn nothing() -> Cell {
    plain("–".to_owned())
}

impl ListedEvent<'_> {
    fn time(&self) -> Cell {
        let first_us = self.shared.device().and_then(|device| device.time_us).map(|(first_us, _)| first_us);
        let time = self.row.time_us.zip(first_us).map(|(at, first_us)| elapsed(at.saturating_sub(first_us)));
        time.map_or_else(nothing, |text| {
            let text = text.trim_start_matches('+').trim_end_matches(" s").to_owned();
            cell(text, self.row.time_us.and_then(time_of_day).unwrap_or_default())
        })
    }

    fn call_site(&self) -> Cell {
        let row = self.row;
        let mut site = if row.call_site.is_empty() { NO_STACK.to_owned() } else { row.call_site.clone() };
        if let Some(free) = row.device_free {
            let asked = ["requested ", &Bytes(row.size).to_string(), ", the driver had ", &Bytes(free).to_string()];
            site = asked.concat() + " free · " + &site;
        } else if matches!(self.action, Action::Snapshot | Action::Unknown) && row.call_site.is_empty() {
            site.clear();
        }
        cell(site.clone(), site)
    }
}

/// Returns a filter button for each action that occurs.
pub fn action_filters(events: &Events) -> Vec<ActionFilter> {
    let counts = events.page().map_or(&[][..], |page| &page.actions);
    let chip = |((action, count), index): ((&Action, &u32), u32)| ActionFilter {
        action: index,
        text: [symbol(*action), " ", action.name(), " ", &number(*count)].concat(),
        is_pressed: events.filter.actions >> index & 1 == 1,
    };
    Action::ALL.iter().zip(counts).zip(0..).filter(|((_, count), _)| **count > 0).map(chip).collect()
}

/// Returns the status line of the list.
pub fn status(events: &Events) -> EventsStatus {
    let mut status = EventsStatus { is_filtered: events.is_filtered(), ..EventsStatus::default() };
    if let Some(page) = events.page() {
        status.counts = [page.listed, page.total];
        let chosen = events.selected_rows.count();
        if chosen > 1 {
            status.text = number(chosen) + " selected · ";
        }
        status.text += &pluralize(page.listed.into(), "event");
        if page.listed != page.total {
            status.text += &[" of ", &group_digits(page.total.into())].concat();
        }
        if events.answer.answered_question().is_some_and(|known| known.filter.range.is_some()) {
            status.text += " · in range";
        }
    }
    if let Some(wrong) = &events.error {
        (status.text, status.is_error) = (wrong.clone(), true);
    }
    status
}
