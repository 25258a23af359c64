//! The annotation tracks below the timeline, which show annotations and phases of steps as slices: hovering, clicking,
//! keyboard navigation and tooltips.

pub use crate::state::slices::{Slice, Slices};

use crate::plot::marks::{AXIS_PX, MIN_SLICE_PX, TRACK_PX, WindowMarks};
use crate::scope::range::fact_lines;
use crate::scope::{cursor, range};
use crate::state::change::AskPhase;
use crate::state::hover::Card;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::shared::Shared;
use crate::text::summary::Fact;
use base::units::duration_us;
use protocol::{Answer, AxisPoint, Direction, Question, RangeSource};

/// Margin on each side of a range that is zoomed to, as a fraction of its length.
const ZOOM_MARGIN: f64 = 0.04;

/// Updates the hovered slice. `x` and `down` are the distances of the pointer from the window's left edge and from
/// the timeline's lower edge, in device pixels.
pub(crate) fn hover_slice(state: &mut Shared, [x, down]: [f64; 2]) {
    state.slices.hovered = slice_at(state, x, down).map(|slice| (slice, x));
}

fn slice_at(state: &Shared, x: f64, down: f64) -> Option<Slice> {
    let (view, scale) = (state.view()?, state.canvas?.scale);
    let lane = ((down / scale - AXIS_PX) / TRACK_PX).floor();
    let of_lane = |slice: &Slice| f64::from(slice.lane) == lane;
    // Slices narrower than the minimum width can be hit a few pixels beside their edges.
    let distance = |slice: &Slice| (slice.x[0] - x).max(x - slice.x[1]).max(0.0);
    let slices = WindowMarks::in_window(state, &view, scale).slices.into_iter().filter(of_lane);
    let nearest = slices.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    (distance(&nearest) <= MIN_SLICE_PX * scale).then_some(nearest)
}

/// Selects the hovered slice as the range.
pub(crate) fn select_slice(state: &mut Shared) {
    if let Some(span) = state.slices.hovered.as_ref().map(|(slice, _)| slice.span) {
        cursor::set_fixed_range(state, span.from, span.to);
    }
}

/// Zooms the window to the hovered slice.
pub(crate) fn zoom_to_slice(state: &mut Shared) {
    if let Some(points) = state.slices.hovered.take().map(|(slice, _)| slice.points) {
        zoom_between(state, points);
    }
}

/// Zooms the window to the range between two points, with a margin.
pub(crate) fn zoom_between(state: &mut Shared, points: [AxisPoint; 2]) {
    let axis = state.axis;
    zoom_to_x(state, points.map(|point| point.get(axis)));
}

/// Zooms the window to a part of the axis, with a margin.
pub(crate) fn zoom_to_x(state: &mut Shared, [from, to]: [f64; 2]) {
    let margin = (to - from) * ZOOM_MARGIN;
    state.navigate(|plane, view| {
        let view = plane.view_between(view, [from - margin, to + margin]);
        plane.centred(view, from.midpoint(to))
    });
}

/// Zooms the window to the selected range.
pub(crate) fn zoom_to_range(state: &mut Shared) {
    match range::px(state).zip(state.view()) {
        Some((edges, view)) => zoom_to_x(state, edges.map(|edge| view.x_from_column(edge))),
        None => state.remark = Some("Select a range first.".to_owned()),
    }
}

/// Selects an annotation as the range. `index` is its index among the marks. Returns the ends of the annotation, or
/// `None` if it does not exist.
pub(crate) fn select_annotation(state: &mut Shared, index: usize) -> Option<[AxisPoint; 2]> {
    let mark = state.surroundings.marks.latest().and_then(|marks| marks.ranges.get(index))?;
    let (span, points) = (mark.span, [mark.start, mark.end]);
    let kind = if mark.source == RangeSource::Annotation { "Annotation " } else { "Phase " };
    let remark = [kind, &mark.name, ": events ", &span.events_text(), "."].concat();
    state.tools.crosshair.follow_pointer();
    cursor::set_fixed_range(state, span.from, span.to);
    (state.slices.last_visited, state.remark) = (Some(index), Some(remark));
    Some(points)
}

/// Selects the annotation after or before the current range or cursor as the range. Moves the window if the
/// annotation is outside.
pub(crate) fn step_annotation(state: &mut Shared, direction: Direction) {
    let Some(marks) = state.surroundings.marks.latest() else { return };
    let (range, cursor) = (state.cursor.range, state.cursor.moment);
    let span_at = |index: usize| marks.ranges.get(index).map(|mark| mark.span);
    let mut indices = 0..marks.ranges.len();
    // Several annotations can have the same events. The one visited last resolves the ambiguity.
    let known = state.slices.last_visited.filter(|at| range.is_some() && span_at(*at) == range);
    let current = known.or_else(|| indices.clone().find(|index| range.is_some() && span_at(*index) == range));
    let from = range.map_or(cursor, |range| range.from);
    let index = match (direction, current) {
        (Direction::Next, Some(at)) => Some(at + 1),
        (Direction::Previous, Some(at)) => at.checked_sub(1),
        (Direction::Next, None) => indices.find(|index| span_at(*index).is_some_and(|span| span.from >= from)),
        (Direction::Previous, None) => indices.rfind(|index| span_at(*index).is_some_and(|span| span.from < from)),
    };
    let Some(points) = index.and_then(|index| select_annotation(state, index)) else {
        state.remark = Some("No further annotation.".to_owned());
        return;
    };
    let axis = state.axis;
    let [from, to] = points.map(|point| point.get(axis));
    state.navigate(|plane, view| {
        let [left, right] = [from, to].map(|x| view.column_from_x(x));
        let width = f64::from(view.width_px);
        let view = if right - left > width { plane.view_between(view, [from, to]) } else { view };
        if left >= 0.0 && right <= width { view } else { plane.centred(view, from.midpoint(to)) }
    });
}

/// Builds the tooltip of the hovered slice.
pub fn card(state: &Shared) -> Option<Card> {
    let (slice, _) = state.slices.hovered.as_ref()?;
    let fact = |(label, value): (&'static str, String)| Fact { label: label.to_owned(), value };
    let mut facts = vec![fact(("Events", slice.span.events_text()))];
    // Phases are known without recorded times.
    let has_times = state.device().is_some_and(|device| device.time_us.is_some());
    if has_times || slice.source == RangeSource::Annotation {
        facts.push(fact(("Duration", duration_us(i64::try_from(slice.duration_us).unwrap_or(i64::MAX)))));
    }
    match state.slices.facts.answer_to(&slice.span).map(fact_lines) {
        Some([allocated, freed, kept, _, peak, _]) => facts.extend([peak, allocated, freed, kept].map(fact)),
        None => facts.extend(["Peak", "Allocated", "Freed", "Kept"].map(|label| fact((label, "…".to_owned())))),
    }
    if slice.source == RangeSource::InferredPhase {
        facts.push(fact(("Inferred from", "call stacks".to_owned())));
    }
    let title = slice.name.clone();
    Some(Card { title, facts, hidden: "Click: select the range. Double-click: zoom.".to_owned(), ..Card::default() })
}

/// Callbacks of the annotation tracks.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::Last, ask)], take };

/// Requests facts about the events of the hovered slice. Waits while facts about the selected range are pending,
/// because the worker answers only the latest request of a kind.
fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    if let (Some((slice, _)), None) = (&state.slices.hovered, state.cursor.range_facts.pending()) {
        state.slices.facts.ask(slice.span, device, out, Question::Range);
    }
}

fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Range(facts) if state.slices.facts.take(serial, facts) => None,
        other => Some(other),
    }
}
