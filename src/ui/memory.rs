//! The allocator's state at the moment: which part of memory is shown and how, where one is in it, when the worker is asked.

mod keys;
mod link;
pub mod picture;
mod walk;
pub mod words;

use super::effect::Effect;
use super::feature::{Change, Feature, Turn, ends_nothing};
use super::latest::Latest;
use super::pointing::select;
use super::scroll::Scroll;
use super::shared::Shared;
use super::shown::Canvas;
use super::views::Tab;
use engine::protocol::{
    Answer, Details, Grouping, Only, PieceKind, Query, Question, SegmentSort, StateBar, StatePage, StatePiece,
    StateQuestion,
};
use std::rc::Rc;
use walk::{Stop, stop, stops, walk};

/// CSS pixels of a row.
pub const ROW_PX: f64 = 24.0;
/// CSS pixels between the canvas's edges and the bars.
const PAD_PX: f64 = 12.0;
/// One press of a key zooms by this factor.
const ZOOM: f64 = 1.5;
/// Bytes to a device pixel: the least shows a block of 512 bytes with room for its size, the most a TiB in a pixel.
const BYTES_PER_PX: [f64; 2] = [4.0, 1e12];
const A_THOUSAND: f64 = 1000.0;

/// What is known and seen of the allocator's state.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The canvas; `None` until it was seen.
    pub canvas: Option<Canvas>,
    /// How far its rows are scrolled.
    pub scroll: Scroll,
    /// What part of memory is shown.
    pub only: Only,
    /// The order of the segments of a group.
    pub sort: SegmentSort,
    /// Bytes a CSS pixel covers; `None`: as many as make all fit.
    zoom: Option<f64>,
    /// Where the pointer is, in device pixels from the canvas's left upper corner.
    pub pointer: Option<[f64; 2]>,
    /// What keys or a click have led to.
    active: Option<Stop>,
    /// What stands in the field of the request.
    pub text: String,
    /// What is wrong with it.
    pub wrong: Option<String>,
    request: Option<u64>,
    /// The address whose place is wanted…
    reveal: Option<u64>,
    /// …and whether it has to be brought into view.
    brings: bool,
    /// The allocation that was brought into view last.
    followed: Option<u32>,
    /// A step for which the rows have to come first.
    waiting: Option<MemoryStep>,
    answer: Latest<(StateQuestion, u32), Rc<StatePage>>,
    /// About the allocation that is pointed at, and that which keys have led to.
    details: [Latest<u32, Option<Box<Details>>>; 2],
    /// The pools and the streams there have been: what can be shown alone.
    pub pools: Vec<(u64, u64)>,
    /// See `pools`.
    pub streams: Vec<u64>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            canvas: None,
            scroll: Scroll::new(ROW_PX),
            only: Only::default(),
            sort: SegmentSort::default(),
            zoom: None,
            pointer: None,
            active: None,
            text: String::new(),
            wrong: None,
            request: None,
            reveal: None,
            brings: false,
            followed: None,
            waiting: None,
            answer: Latest::default(),
            details: Default::default(),
            pools: Vec::new(),
            streams: Vec::new(),
        }
    }
}

/// What is at a place: a bar, and the piece of it.
pub type Place<'a> = (&'a StateBar, Option<&'a StatePiece>);

/// What a person does with the pointer, places in device pixels from the canvas's left upper corner, and with the controls; and what the
/// browser reports.
#[derive(Clone, Debug, PartialEq)]
pub enum MemoryAction {
    /// The canvas has this size now.
    Resized(Canvas),
    /// So many CSS pixels are above what is seen, and so many are seen.
    Scrolled(f64, f64),
    /// The pointer is here; nowhere when it left.
    PointerAt(Option<[f64; 2]>),
    /// This place was clicked.
    Clicked([f64; 2]),
    /// Segments in the order of this place in the picker.
    SortChosen(usize),
    /// All pools (0), or one alone, by its place in the picker.
    PoolChosen(usize),
    /// All streams (0), or one alone.
    StreamChosen(usize),
    /// This stands in the field of the request.
    RequestTyped(String),
}

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryStep {
    /// To the block before.
    Before,
    /// To the block after.
    After,
    /// To the segment before.
    SegmentBefore,
    /// To the segment after.
    SegmentAfter,
    /// To the first block.
    First,
    /// To the last one.
    Last,
    /// Select the block.
    Select,
    /// Fewer bytes a pixel.
    ZoomIn,
    /// More.
    ZoomOut,
    /// All of it.
    Fit,
    /// Segments in another order.
    NextSort,
    /// The next pool alone.
    NextPool,
    /// The next stream alone.
    NextStream,
    /// Type a request.
    TypeRequest,
    /// The moment one event earlier.
    Earlier,
    /// The moment one event later.
    Later,
}

/// The orders, as the picker has them.
const SORTS: [SegmentSort; 3] = [SegmentSort::Address, SegmentSort::Size, SegmentSort::Free];

impl Memory {
    /// What is shown.
    pub fn page(&self) -> Option<&Rc<StatePage>> {
        self.answer.latest()
    }

    /// The place of the order in the picker; those of pool and stream, 0 for all.
    pub fn chosen(&self) -> [usize; 3] {
        let after = |place: Option<usize>| place.map_or(0, |place| place + 1);
        [
            SORTS.iter().position(|sort| *sort == self.sort).unwrap_or(0),
            after(self.only.pool.and_then(|pool| self.pools.iter().position(|it| *it == pool))),
            after(self.only.stream.and_then(|stream| self.streams.iter().position(|it| *it == stream))),
        ]
    }

    /// Whether all of it is made to fit.
    pub fn fits(&self) -> bool {
        self.zoom.is_none()
    }

    /// Bytes that a thousand CSS pixels cover; `None` where all is made to fit.
    pub(super) fn zoom(&self) -> Option<u64> {
        self.zoom.map(|zoom| (zoom * A_THOUSAND).round() as u64)
    }

    /// See [`Memory::zoom`].
    pub(super) fn zoom_to(&mut self, bytes: Option<u64>) {
        let [least, most] = BYTES_PER_PX;
        self.zoom = bytes.map(|bytes| (bytes as f64 / A_THOUSAND).clamp(least, most));
    }

    fn scale(&self) -> f64 {
        self.canvas.map_or(1.0, |canvas| canvas.scale)
    }

    /// Device pixels from the canvas's left edge to the bars.
    fn pad_px(&self) -> i32 {
        (PAD_PX * self.scale()).round() as i32
    }

    /// What is at a place of the canvas.
    pub fn at(&self, [x, y]: [f64; 2]) -> Option<Place<'_>> {
        let page = self.page()?;
        let row = self.scroll.above() + y / (ROW_PX * self.scale());
        let x = u32::try_from(x.floor() as i64 - i64::from(self.pad_px())).ok()?;
        let holds = |[from, to]: [u32; 2]| (from..to).contains(&x);
        let from = page.bars.partition_point(|bar| bar.row < row.max(0.0) as u32);
        let mut bars = page.bars.iter().skip(from).take_while(|bar| bar.row == row.max(0.0) as u32);
        let bar = bars.find(|bar| holds(bar.x))?;
        Some((bar, pieces(page, bar).iter().find(|piece| holds(piece.x))))
    }

    /// What keys or a click have led to, where it is among the rows that are known.
    pub fn active(&self) -> Option<Place<'_>> {
        let (page, active) = (self.page()?, self.active?);
        stops(page).find(|place| stop(*place) == active)
    }

    /// The allocations that are told of: under the pointer, and where keys have led to.
    fn told(&self) -> [Option<u32>; 2] {
        let hovered = self.pointer.and_then(|pointer| self.at(pointer));
        [hovered, self.active()].map(|place| allocation(place?.1?))
    }

    /// What is known of the allocation of a piece.
    fn details_of(&self, piece: &StatePiece) -> Option<&Details> {
        self.details.iter().find_map(|details| details.about(&piece.allocation))?.as_deref()
    }

    /// An address that has to stay in view.
    fn keep(&mut self) {
        let above = self.scroll.above().ceil() as u32;
        let first = self.page().and_then(|page| page.bars.iter().find(|bar| bar.row >= above)).map(|bar| bar.address);
        self.reveal = self.active.map(|active| active.address).or(first);
        self.brings = true;
    }
}

/// The pieces of a bar.
fn pieces<'a>(page: &'a StatePage, bar: &StateBar) -> &'a [StatePiece] {
    page.pieces.get(bar.pieces[0] as usize..bar.pieces[1] as usize).unwrap_or_default()
}

/// What pointer and controls do.
pub(super) fn act(memory: &mut Memory, shared: &mut Shared, action: MemoryAction, effects: &mut Vec<Effect>) {
    match action {
        MemoryAction::Resized(canvas) => memory.canvas = Some(canvas),
        MemoryAction::Scrolled(top, height) => memory.scroll.told(top, height),
        MemoryAction::PointerAt(place) => memory.pointer = place,
        MemoryAction::Clicked(at) => {
            let found = memory.at(at).map(|place| (stop(place), place.1.and_then(allocation)));
            memory.active = found.map(|(stop, _)| stop);
            match found.and_then(|(_, allocation)| allocation) {
                Some(allocation) => select_here(memory, shared, allocation, effects),
                None => (shared.selection, shared.selecting) = (None, None),
            }
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
        MemoryAction::RequestTyped(text) => {
            (memory.wrong, memory.request) = match bytes(&text) {
                Ok(bytes) => (None, bytes),
                Err(wrong) => (Some(wrong), None),
            };
            memory.text = text;
        }
    }
}

/// The bytes that are typed; nothing of an empty text.
fn bytes(text: &str) -> Result<Option<u64>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match Query::parse(&["=", text.trim()].concat()) {
        Ok(Query::Size(bytes, _)) => Ok(Some(bytes)),
        Ok(_) => Err("A size reads 512, 2MiB or 1.5GiB.".to_owned()),
        Err(wrong) => Err(wrong.to_string()),
    }
}

fn allocation(piece: &StatePiece) -> Option<u32> {
    (piece.kind != PieceKind::Free).then_some(piece.allocation)
}

/// Selects an allocation that is in view already.
fn select_here(memory: &mut Memory, shared: &mut Shared, allocation: u32, effects: &mut Vec<Effect>) {
    memory.followed = Some(allocation);
    select(shared, allocation, effects);
}

/// What a key asks for.
pub(super) fn step(memory: &mut Memory, shared: &mut Shared, step: MemoryStep, effects: &mut Vec<Effect>) {
    let [sort, pool, stream] = memory.chosen();
    // The first entry is all of them.
    let next_pool = (pool + 1) % (memory.pools.len() + 1);
    let next_stream = (stream + 1) % (memory.streams.len() + 1);
    match step {
        MemoryStep::Select => {
            if let Some(allocation) = memory.active().and_then(|(_, piece)| allocation(piece?)) {
                select_here(memory, shared, allocation, effects);
            }
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

/// Asks for what is seen and not known: one question at a time, the next about the newest moment, so that scrubbing animates.
fn ask(memory: &mut Memory, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    let Some(canvas) = memory.canvas.filter(|_| shared.views.seen() == Some(Tab::Memory)) else { return };
    let selected = shared.selection.as_deref().map(|details| (details.allocation, details.address));
    let (moment, colouring) = (shared.pinned.moment, shared.looks.colouring);
    let rules = if colouring == Grouping::Category { shared.rules.told_version() } else { 0 };
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
    let told = memory.told();
    memory.answer.ask(wanted, device, &mut shared.serial, effects, |(question, _)| Question::State(question));
    for (answer, allocation) in memory.details.iter_mut().zip(told) {
        if let Some(allocation) = allocation {
            answer.ask(allocation, device, &mut shared.serial, effects, Question::Details);
        }
    }
}

/// How it takes part.
pub(super) const FEATURE: Feature<Memory, MemoryAction, MemoryStep> = Feature {
    reset,
    asks: &[(Turn::WithScene, ask)],
    take,
    act,
    command: step,
    keys: keys::KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};

/// Another device: only how it is looked at stays.
fn reset(memory: &mut Memory, _: &mut Shared, change: Change) {
    if change.is_of_device() {
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

/// Takes a state.
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

/// Puts a value into a list that ascends, where it is missing.
fn keep<T: Ord>(list: &mut Vec<T>, value: T) {
    if let Err(place) = list.binary_search(&value) {
        list.insert(place, value);
    }
}
