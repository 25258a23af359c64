//! The Segments tab: segments and blocks at the cursor, with filters, keyboard navigation and simulated requests.

mod data;

pub use data::{BlockInBar, ROW_PX, SegmentsAction, SegmentsTab};
pub(crate) use data::{allocation, pieces};

pub mod card;
pub mod commands;
mod feature;
mod link;
mod navigation;
pub mod picture;
pub mod words;

pub(crate) use feature::FEATURE;

use crate::state::change::Change;
use crate::state::outbox::{Intent, Outbox};
use crate::state::shared::Shared;
use crate::text::tab::Tab;
use data::{NavTarget, nav_target};
use navigation::navigate;
use protocol::{Answer, Grouping, MemoryFilter, Query, Question, SegmentSort, SegmentsPage, SegmentsQuestion};
use std::rc::Rc;

/// Zoom factor per key press.
const ZOOM: f64 = 1.5;

/// Handles pointer and control input.
pub(crate) fn handle_action(tab: &mut SegmentsTab, _: &Shared, action: SegmentsAction, out: &mut Outbox) {
    match action {
        SegmentsAction::Resized(canvas) => tab.canvas = Some(canvas),
        SegmentsAction::Scrolled(top, height) => tab.scroll.set_visible(top, height),
        SegmentsAction::PointerAt(index) => tab.pointer = index,
        SegmentsAction::Clicked(at) => {
            let found = tab.hit_test(at).map(hit);
            tab.active = found.map(|(stop, ..)| stop);
            select_hit(tab, found, out);
        }
        SegmentsAction::SortChosen(index) => {
            tab.sort = SegmentSort::ALL.get(index).copied().unwrap_or_default();
            tab.keep_in_view();
        }
        SegmentsAction::PoolChosen(index) => {
            tab.filter.pool = index.checked_sub(1).and_then(|index| tab.pools.get(index).copied());
        }
        SegmentsAction::StreamChosen(index) => {
            tab.filter.stream = index.checked_sub(1).and_then(|index| tab.streams.get(index).copied());
        }
        SegmentsAction::KeptLineClicked(allocation) => out.intend(Intent::Select(Some(allocation))),
        SegmentsAction::RequestTyped(text) => {
            (tab.request_error, tab.request) = match parse_size(&text) {
                Ok(bytes) => (None, bytes),
                Err(error) => (Some(error), None),
            };
            tab.request_text = text;
        }
    }
}

/// Parses a size in bytes. Returns `None` for an empty text, and an error message for an invalid size.
fn parse_size(text: &str) -> Result<Option<u64>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match Query::parse(&["=", text.trim()].concat()) {
        Ok(Query::Size(bytes, _)) => Ok(Some(bytes)),
        Ok(_) => Err("Invalid size. Examples: 512, 2MiB, 1.5GiB.".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Result of a hit test: the target, its allocation (for a free block, the largest one in the segment), and the address
/// range of the segment if the target is free.
type Hit = (NavTarget, Option<u32>, Option<[u64; 2]>);

fn hit(target: BlockInBar<'_>) -> Hit {
    let (bar, piece) = target;
    let own_allocation = piece.and_then(allocation);
    let segment = [bar.segment, bar.segment.saturating_add(bar.sums.reserved)];
    // For a free block, the allocation that keeps its segment from being released.
    (nav_target(target), own_allocation.or(bar.largest_block), own_allocation.is_none().then_some(segment))
}

/// Selects the allocation that was hit, or the segment if a free block was hit.
fn select_hit(tab: &mut SegmentsTab, found: Option<Hit>, out: &mut Outbox) {
    let allocation = found.and_then(|(_, allocation, _)| allocation);
    out.intend(Intent::Segment(found.and_then(|(.., segment)| Some((segment?, allocation)))));
    // The allocation is in view.
    tab.revealed_allocation = allocation.or(tab.revealed_allocation);
    out.intend(Intent::Select(allocation));
}

/// Requests missing rows. Sends one request at a time, always for the latest cursor, so that the view keeps updating
/// while the cursor is dragged.
fn ask(tab: &mut SegmentsTab, shared: &Shared, device: i64, out: &mut Outbox) {
    let Some(canvas) = tab.canvas.filter(|_| shared.views.visible() == Some(Tab::Segments)) else { return };
    let selected = shared.selection.as_deref().map(|details| (details.allocation, details.address));
    let (moment, colouring) = (shared.cursor.moment, shared.plot_settings.colouring);
    let rules = if colouring == Grouping::Category { shared.rules.active_version() } else { 0 };
    if tab.revealed_allocation != selected.map(|(allocation, _)| allocation) && shared.selecting.is_none() {
        tab.revealed_allocation = selected.map(|(allocation, _)| allocation);
        (tab.reveal, tab.scrolls_to_reveal) = (selected.and_then(|(_, address)| address), true);
    }
    let padding_px = 2 * tab.pad_px() as u32;
    let question = SegmentsQuestion {
        moment,
        filter: tab.filter,
        sort: tab.sort,
        colouring,
        width_px: canvas.width_px.saturating_sub(padding_px).max(1),
        bytes_per_px: tab.zoom.map_or(0.0, |zoom| zoom / tab.scale()),
        fit_rows: if tab.zoom.is_none() { tab.scroll.visible_rows().max(1.0) as u32 } else { 0 },
        rows: tab.scroll.rows_to_request(tab.answer.answered_question().map(|(question, _)| question.rows)),
        reveal: tab.reveal,
        request: tab.request,
    };
    let wanted = (question, rules);
    let shown = tab.shown_allocations();
    tab.answer.ask(wanted, device, out, |(question, _)| Question::State(question));
    for (answer, allocation) in tab.details.iter_mut().zip(shown) {
        if let Some(allocation) = allocation {
            answer.ask(allocation, device, out, Question::Details);
        }
    }
}

/// Handles a change of device. Keeps the canvas and the sort order.
fn reset(tab: &mut SegmentsTab, _: &Shared, change: Change, _: &mut Outbox) {
    if change.is_device_change() {
        let SegmentsTab { canvas, sort, mut scroll, .. } = std::mem::take(tab);
        scroll.clear();
        *tab = SegmentsTab { canvas, sort, scroll, ..SegmentsTab::default() };
    }
}

fn take(tab: &mut SegmentsTab, _: &Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::State(page) => take_page(tab, serial, page),
        Answer::Details(details) => {
            let answered = tab.details.iter_mut().find_map(|answer| Some((answer.take_pending(serial)?, answer)));
            let Some((question, answer)) = answered else { return Some(Answer::Details(details)) };
            answer.store(question, details);
        }
        other => return Some(other),
    }
    None
}

/// Stores a reply with rows, scrolls to the requested address and runs a pending navigation step.
fn take_page(tab: &mut SegmentsTab, serial: u32, page: Box<SegmentsPage>) {
    tab.answer.take(serial, Rc::from(page));
    let Some((page, (question, _))) = tab.page().cloned().zip(tab.answer.answered_question().copied()) else {
        return;
    };
    tab.scroll.rows = page.rows;
    if question.filter == MemoryFilter::default() {
        for group in &page.groups {
            insert_sorted(&mut tab.pools, group.pool.unwrap_or_default());
            group.stream.into_iter().for_each(|stream| insert_sorted(&mut tab.streams, stream));
        }
    }
    if let Some([row, _]) = page.revealed.filter(|_| tab.scrolls_to_reveal && question.reveal == tab.reveal) {
        tab.scrolls_to_reveal = false;
        tab.scroll.scroll_to_row(row);
    }
    if let Some(step) = tab.pending_step.take() {
        navigate(tab, step);
    }
}

/// Inserts a value into a sorted list if it is missing.
fn insert_sorted<T: Ord>(list: &mut Vec<T>, value: T) {
    if let Err(index) = list.binary_search(&value) {
        list.insert(index, value);
    }
}
