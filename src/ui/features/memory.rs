//! The Segments tab: segments and blocks at the cursor, with filters, navigation and requests to the worker.

mod data;

pub(crate) use data::{BYTES_PER_PX, SORTS, allocation, pieces};
pub use data::{BlockInBar, Memory, MemoryAction, MemoryStep, ROW_PX};

mod feature;
mod keys;
mod link;
pub mod picture;
mod walk;
pub mod words;

pub(crate) use feature::FEATURE;

use crate::change::Change;
use crate::effect::Effect;
use crate::selecting::select;
use crate::shared::Shared;
use crate::tab::Tab;
use data::{Stop, stop};
use engine::protocol::{Answer, Grouping, Only, Query, Question, StatePage, StateQuestion};
use std::rc::Rc;
use walk::walk;

/// Zoom factor per key press.
const ZOOM: f64 = 1.5;

/// Handles pointer and control input.
pub(crate) fn act(memory: &mut Memory, shared: &mut Shared, action: MemoryAction, effects: &mut Vec<Effect>) {
    match action {
        MemoryAction::Resized(canvas) => memory.canvas = Some(canvas),
        MemoryAction::Scrolled(top, height) => memory.scroll.seen_at(top, height),
        MemoryAction::PointerAt(place) => memory.pointer = place,
        MemoryAction::Clicked(at) => {
            let found = memory.at(at).map(picked);
            memory.active = found.map(|(stop, ..)| stop);
            pick(memory, shared, found, effects);
        }
        MemoryAction::SortChosen(place) => {
            memory.sort = SORTS.get(place).copied().unwrap_or_default();
            memory.keep();
        }
        MemoryAction::PoolChosen(place) => {
            memory.only.pool = place.checked_sub(1).and_then(|place| memory.pools.get(place).copied());
        }
        MemoryAction::StreamChosen(place) => {
            memory.only.stream = place.checked_sub(1).and_then(|place| memory.streams.get(place).copied());
        }
        MemoryAction::KeeperPicked(allocation) => select(shared, allocation, effects),
        MemoryAction::RequestTyped(text) => {
            (memory.wrong, memory.request) = match bytes(&text) {
                Ok(bytes) => (None, bytes),
                Err(wrong) => (Some(wrong), None),
            };
            memory.text = text;
        }
    }
}

/// Parses a size in bytes. `None` for an empty text.
fn bytes(text: &str) -> Result<Option<u64>, String> {
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
type Picked = (Stop, Option<u32>, Option<[u64; 2]>);

fn picked(place: BlockInBar<'_>) -> Picked {
    let (bar, piece) = place;
    let own = piece.and_then(allocation);
    let segment = [bar.segment, bar.segment.saturating_add(bar.sums.reserved)];
    // For a free block, the allocation that keeps its segment from being released.
    (stop(place), own.or(bar.keeper), own.is_none().then_some(segment))
}

/// Selects the allocation at a position, or the segment if the position is free.
fn pick(memory: &mut Memory, shared: &mut Shared, found: Option<Picked>, effects: &mut Vec<Effect>) {
    let allocation = found.and_then(|(_, allocation, _)| allocation);
    shared.segment = found.and_then(|(.., segment)| Some((segment?, allocation)));
    match allocation {
        Some(allocation) => select_here(memory, shared, allocation, effects),
        None => (shared.selection, shared.selecting) = (None, None),
    }
}

/// Selects an allocation that is already in view.
fn select_here(memory: &mut Memory, shared: &mut Shared, allocation: u32, effects: &mut Vec<Effect>) {
    memory.followed = Some(allocation);
    select(shared, allocation, effects);
}

/// Runs a command.
pub(crate) fn step(memory: &mut Memory, shared: &mut Shared, step: MemoryStep, effects: &mut Vec<Effect>) {
    let [sort, pool, stream] = memory.chosen();
    // The first entry stands for all.
    let next_pool = (pool + 1) % (memory.pools.len() + 1);
    let next_stream = (stream + 1) % (memory.streams.len() + 1);
    match step {
        MemoryStep::Select => {
            let found = memory.active().map(picked);
            pick(memory, shared, found, effects);
        }
        MemoryStep::ZoomIn | MemoryStep::ZoomOut => {
            let factor = if step == MemoryStep::ZoomIn { 1.0 / ZOOM } else { ZOOM };
            let [least, most] = BYTES_PER_PX;
            let scale = memory.scale();
            memory.zoom = memory.page().map(|page| (page.bytes_per_px * factor).clamp(least, most) * scale);
            memory.keep();
        }
        MemoryStep::Fit => {
            memory.zoom = None;
            memory.keep();
        }
        MemoryStep::NextSort => act(memory, shared, MemoryAction::SortChosen((sort + 1) % SORTS.len()), effects),
        MemoryStep::NextPool => act(memory, shared, MemoryAction::PoolChosen(next_pool), effects),
        MemoryStep::NextStream => act(memory, shared, MemoryAction::StreamChosen(next_stream), effects),
        MemoryStep::TypeRequest => effects.push(Effect::FocusRequest),
        MemoryStep::Earlier => shared.pin_and_show(shared.pinned.moment.saturating_sub(1)),
        MemoryStep::Later => shared.pin_and_show(shared.pinned.moment.saturating_add(1)),
        _ => walk(memory, step),
    }
}

/// Requests the missing rows, one question at a time and always for the latest cursor, so that scrubbing is animated.
fn ask(memory: &mut Memory, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let Some(canvas) = memory.canvas.filter(|_| shared.views.seen() == Some(Tab::Memory)) else { return };
    let selected = shared.selection.as_deref().map(|details| (details.allocation, details.address));
    let (moment, colouring) = (shared.pinned.moment, shared.looks.colouring);
    let rules = if colouring == Grouping::Category { shared.rules.version_in_force() } else { 0 };
    if memory.followed != selected.map(|(allocation, _)| allocation) && shared.selecting.is_none() {
        memory.followed = selected.map(|(allocation, _)| allocation);
        (memory.reveal, memory.brings) = (selected.and_then(|(_, address)| address), true);
    }
    let pads = 2 * memory.pad_px() as u32;
    let question = StateQuestion {
        moment,
        only: memory.only,
        sort: memory.sort,
        colouring,
        width_px: canvas.width_px.saturating_sub(pads).max(1),
        bytes_per_px: memory.zoom.map_or(0.0, |zoom| zoom / memory.scale()),
        fit_rows: if memory.zoom.is_none() { memory.scroll.seen().max(1.0) as u32 } else { 0 },
        rows: memory.scroll.wanted(memory.answer.question().map(|(question, _)| question.rows)),
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
fn reset(memory: &mut Memory, shared: &mut Shared, change: Change) {
    if change.is_of_device() {
        shared.segment = None;
        let Memory { canvas, sort, mut scroll, .. } = std::mem::take(memory);
        scroll.rows = 0;
        scroll.to(0.0);
        *memory = Memory { canvas, sort, scroll, ..Memory::default() };
    }
}

fn take(memory: &mut Memory, _: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    match answer {
        Answer::State(page) => take_page(memory, serial, page),
        Answer::Details(details) => {
            let own = memory.details.iter_mut().find_map(|answer| Some((answer.answered(serial)?, answer)));
            let Some((of, answer)) = own else { return Some(Answer::Details(details)) };
            answer.keep(of, details);
        }
        other => return Some(other),
    }
    None
}

/// Handles a reply with rows.
fn take_page(memory: &mut Memory, serial: u32, page: Box<StatePage>) {
    memory.answer.take(serial, Rc::from(page));
    let Some((page, (question, _))) = memory.page().cloned().zip(memory.answer.question().copied()) else { return };
    memory.scroll.rows = page.rows;
    if question.only == Only::default() {
        for group in &page.groups {
            keep(&mut memory.pools, group.pool.unwrap_or_default());
            group.stream.into_iter().for_each(|stream| keep(&mut memory.streams, stream));
        }
    }
    if let Some([row, _]) = page.revealed.filter(|_| memory.brings && question.reveal == memory.reveal) {
        memory.brings = false;
        memory.scroll.bring(row);
    }
    if let Some(step) = memory.waiting.take() {
        walk(memory, step);
    }
}

/// Inserts a value into a sorted list if it is missing.
fn keep<T: Ord>(list: &mut Vec<T>, value: T) {
    if let Err(place) = list.binary_search(&value) {
        list.insert(place, value);
    }
}
