//! The Segments tab: segments and blocks at the cursor, with filters, navigation and requests to the worker.

mod data;

pub(crate) use data::{BYTES_PER_PX, SORTS, allocation, pieces};
pub use data::{BlockInBar, ROW_PX, SegmentsAction, SegmentsStep, SegmentsTab};

mod feature;
mod keys;
mod link;
mod navigation;
pub mod picture;
pub mod words;

pub(crate) use feature::FEATURE;

use crate::change::Change;
use crate::effect::Effect;
use crate::selecting::select;
use crate::shared::Shared;
use crate::tab::Tab;
use data::{NavTarget, nav_target};
use engine::protocol::{Answer, Grouping, MemoryFilter, Query, Question, SegmentsPage, SegmentsQuestion};
use navigation::navigate;
use std::rc::Rc;

/// Zoom factor per key press.
const ZOOM: f64 = 1.5;

/// Handles pointer and control input.
pub(crate) fn act(memory: &mut SegmentsTab, shared: &mut Shared, action: SegmentsAction, effects: &mut Vec<Effect>) {
    match action {
        SegmentsAction::Resized(canvas) => memory.canvas = Some(canvas),
        SegmentsAction::Scrolled(top, height) => memory.scroll.set_visible(top, height),
        SegmentsAction::PointerAt(place) => memory.pointer = place,
        SegmentsAction::Clicked(at) => {
            let found = memory.hit_test(at).map(hit);
            memory.active = found.map(|(stop, ..)| stop);
            select_hit(memory, shared, found, effects);
        }
        SegmentsAction::SortChosen(place) => {
            memory.sort = SORTS.get(place).copied().unwrap_or_default();
            memory.keep_in_view();
        }
        SegmentsAction::PoolChosen(place) => {
            memory.filter.pool = place.checked_sub(1).and_then(|place| memory.pools.get(place).copied());
        }
        SegmentsAction::StreamChosen(place) => {
            memory.filter.stream = place.checked_sub(1).and_then(|place| memory.streams.get(place).copied());
        }
        SegmentsAction::KeptLineClicked(allocation) => select(shared, allocation, effects),
        SegmentsAction::RequestTyped(text) => {
            (memory.request_error, memory.request) = match parse_size(&text) {
                Ok(bytes) => (None, bytes),
                Err(wrong) => (Some(wrong), None),
            };
            memory.request_text = text;
        }
    }
}

/// Parses a size in bytes. `None` for an empty text.
fn parse_size(text: &str) -> Result<Option<u64>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match Query::parse(&["=", text.trim()].concat()) {
        Ok(Query::Size(bytes, _)) => Ok(Some(bytes)),
        Ok(_) => Err("Invalid size. Examples: 512, 2MiB, 1.5GiB.".to_owned()),
        Err(wrong) => Err(wrong.to_string()),
    }
}

/// A position, its allocation (or the one that keeps the segment from being released), and the address range of the
/// segment if the position is free.
type Hit = (NavTarget, Option<u32>, Option<[u64; 2]>);

fn hit(place: BlockInBar<'_>) -> Hit {
    let (bar, piece) = place;
    let own = piece.and_then(allocation);
    let segment = [bar.segment, bar.segment.saturating_add(bar.sums.reserved)];
    // For a free block, the allocation that keeps its segment from being released.
    (nav_target(place), own.or(bar.largest_block), own.is_none().then_some(segment))
}

/// Selects the allocation at a position, or the segment if the position is free.
fn select_hit(memory: &mut SegmentsTab, shared: &mut Shared, found: Option<Hit>, effects: &mut Vec<Effect>) {
    let allocation = found.and_then(|(_, allocation, _)| allocation);
    shared.segment = found.and_then(|(.., segment)| Some((segment?, allocation)));
    match allocation {
        Some(allocation) => select_visible(memory, shared, allocation, effects),
        None => (shared.selection, shared.selecting) = (None, None),
    }
}

/// Selects an allocation that is already in view.
fn select_visible(memory: &mut SegmentsTab, shared: &mut Shared, allocation: u32, effects: &mut Vec<Effect>) {
    memory.revealed_allocation = Some(allocation);
    select(shared, allocation, effects);
}

/// Runs a command.
pub(crate) fn step(memory: &mut SegmentsTab, shared: &mut Shared, step: SegmentsStep, effects: &mut Vec<Effect>) {
    let [sort, pool, stream] = memory.picker_indices();
    // The first entry stands for all.
    let next_pool = (pool + 1) % (memory.pools.len() + 1);
    let next_stream = (stream + 1) % (memory.streams.len() + 1);
    match step {
        SegmentsStep::Select => {
            let found = memory.active().map(hit);
            select_hit(memory, shared, found, effects);
        }
        SegmentsStep::ZoomIn | SegmentsStep::ZoomOut => {
            let factor = if step == SegmentsStep::ZoomIn { 1.0 / ZOOM } else { ZOOM };
            let [least, most] = BYTES_PER_PX;
            let scale = memory.scale();
            memory.zoom = memory.page().map(|page| (page.bytes_per_px * factor).clamp(least, most) * scale);
            memory.keep_in_view();
        }
        SegmentsStep::Fit => {
            memory.zoom = None;
            memory.keep_in_view();
        }
        SegmentsStep::NextSort => act(memory, shared, SegmentsAction::SortChosen((sort + 1) % SORTS.len()), effects),
        SegmentsStep::NextPool => act(memory, shared, SegmentsAction::PoolChosen(next_pool), effects),
        SegmentsStep::NextStream => act(memory, shared, SegmentsAction::StreamChosen(next_stream), effects),
        SegmentsStep::TypeRequest => effects.push(Effect::FocusRequest),
        SegmentsStep::CursorBack => shared.go_to(shared.cursor.moment.saturating_sub(1)),
        SegmentsStep::CursorForward => shared.go_to(shared.cursor.moment.saturating_add(1)),
        _ => navigate(memory, step),
    }
}

/// Requests the missing rows, one question at a time and always for the latest cursor, so that scrubbing is animated.
fn ask(memory: &mut SegmentsTab, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let Some(canvas) = memory.canvas.filter(|_| shared.views.visible() == Some(Tab::Segments)) else { return };
    let selected = shared.selection.as_deref().map(|details| (details.allocation, details.address));
    let (moment, colouring) = (shared.cursor.moment, shared.looks.colouring);
    let rules = if colouring == Grouping::Category { shared.rules.active_version() } else { 0 };
    if memory.revealed_allocation != selected.map(|(allocation, _)| allocation) && shared.selecting.is_none() {
        memory.revealed_allocation = selected.map(|(allocation, _)| allocation);
        (memory.reveal, memory.scrolls_to_reveal) = (selected.and_then(|(_, address)| address), true);
    }
    let pads = 2 * memory.pad_px() as u32;
    let question = SegmentsQuestion {
        moment,
        filter: memory.filter,
        sort: memory.sort,
        colouring,
        width_px: canvas.width_px.saturating_sub(pads).max(1),
        bytes_per_px: memory.zoom.map_or(0.0, |zoom| zoom / memory.scale()),
        fit_rows: if memory.zoom.is_none() { memory.scroll.visible_rows().max(1.0) as u32 } else { 0 },
        rows: memory.scroll.rows_to_request(memory.answer.answered_question().map(|(question, _)| question.rows)),
        reveal: memory.reveal,
        request: memory.request,
    };
    let wanted = (question, rules);
    let shown = memory.shown_allocations();
    memory.answer.ask(wanted, device, &mut shared.serial, effects, |(question, _)| Question::State(question));
    for (answer, allocation) in memory.details.iter_mut().zip(shown) {
        if let Some(allocation) = allocation {
            answer.ask(allocation, device, &mut shared.serial, effects, Question::Details);
        }
    }
}

/// Handles a change of device. Canvas and sort order are kept.
fn reset(memory: &mut SegmentsTab, shared: &mut Shared, change: Change) {
    if change.is_device_change() {
        shared.segment = None;
        let SegmentsTab { canvas, sort, mut scroll, .. } = std::mem::take(memory);
        scroll.rows = 0;
        scroll.scroll_to_px(0.0);
        *memory = SegmentsTab { canvas, sort, scroll, ..SegmentsTab::default() };
    }
}

fn take(memory: &mut SegmentsTab, _: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    match answer {
        Answer::State(page) => take_page(memory, serial, page),
        Answer::Details(details) => {
            let own = memory.details.iter_mut().find_map(|answer| Some((answer.take_pending(serial)?, answer)));
            let Some((of, answer)) = own else { return Some(Answer::Details(details)) };
            answer.store(of, details);
        }
        other => return Some(other),
    }
    None
}

/// Handles a reply with rows.
fn take_page(memory: &mut SegmentsTab, serial: u32, page: Box<SegmentsPage>) {
    memory.answer.take(serial, Rc::from(page));
    let Some((page, (question, _))) = memory.page().cloned().zip(memory.answer.answered_question().copied()) else {
        return;
    };
    memory.scroll.rows = page.rows;
    if question.filter == MemoryFilter::default() {
        for group in &page.groups {
            insert_sorted(&mut memory.pools, group.pool.unwrap_or_default());
            group.stream.into_iter().for_each(|stream| insert_sorted(&mut memory.streams, stream));
        }
    }
    if let Some([row, _]) = page.revealed.filter(|_| memory.scrolls_to_reveal && question.reveal == memory.reveal) {
        memory.scrolls_to_reveal = false;
        memory.scroll.scroll_to_row(row);
    }
    if let Some(step) = memory.pending_step.take() {
        navigate(memory, step);
    }
}

/// Inserts a value into a sorted list if it is missing.
fn insert_sorted<T: Ord>(list: &mut Vec<T>, value: T) {
    if let Err(place) = list.binary_search(&value) {
        list.insert(place, value);
    }
}
