//! The selected range: starting, extending and clearing it, the resulting scope of the views, and the panel that
//! describes the range.

pub use crate::state::range::{RangeScope, ViewScope};

use crate::scope::cursor;
use crate::state::navigate::{device_axis_end, device_axis_start};
use crate::state::shared::Shared;
use crate::text::amount::{bytes_text, change, event_name, event_text, sign};
use base::units::{Bytes, duration_us, pluralize};
use protocol::{MomentFacts, RangeFacts, Scope, Weight};

/// Chooses the scope of the views. If it requires a range and none is selected, selects the visible window as the
/// range. For a change, selects the part of the window up to the cursor. Before the timeline is drawn, the window is
/// the whole trace.
pub(crate) fn choose_scope(state: &mut Shared, scope: ViewScope) {
    let [from, to] = window_ends(state);
    state.cursor.range_scope = match scope {
        ViewScope::WholeTrace => RangeScope::WholeTrace,
        ViewScope::Change => RangeScope::Change,
        ViewScope::Cursor if state.cursor.range.is_some() => RangeScope::Live,
        ViewScope::Range if RangeScope::OF_RANGE.contains(&state.cursor.range_scope) => state.cursor.range_scope,
        ViewScope::Cursor | ViewScope::Range => RangeScope::default(),
    };
    if state.cursor.range.is_none() && scope.needs_range() && state.device().is_some() {
        let cursor = Some(state.cursor.moment).filter(|cursor| (from + 1..to).contains(cursor));
        cursor::set_range(state, from, cursor.filter(|_| scope == ViewScope::Change).unwrap_or(to));
    }
    cursor::update_scope(state);
}

/// Returns the moments at the ends of the visible window. An end that shows the start or the end of the trace is that
/// moment, although a column at low zoom is drawn at a later one.
fn window_ends(state: &Shared) -> [u32; 2] {
    let Some((device, view)) = state.device().zip(state.view()) else { return [0, state.end_moment()] };
    let (first, last) = (device.loaded.map_or(0, |(first, _)| first), state.end_moment());
    let [start, end] = [device_axis_start, device_axis_end].map(|end_of| end_of(device, state.axis) as f64);
    let width = f64::from(view.width_px);
    // A window starts at a whole pixel, which may be half a pixel after the start.
    let is_at_start = view.x_from_column(-0.5) <= start;
    let is_at_end = view.x_from_column(width + 0.5) >= end;
    let under = |column| cursor::moment_under(state, column);
    [
        under(0.0).filter(|_| !is_at_start).unwrap_or(first),
        under((width - 1.0).max(0.0)).filter(|_| !is_at_end).unwrap_or(last),
    ]
}

/// Starts a range at the cursor that keys then extend. If keys are already extending a range, finishes the range.
pub(crate) fn toggle_range(state: &mut Shared) {
    if state.cursor.extended_from.take().is_none() {
        // Start at the crosshair, if the pointer or keys have placed one.
        if let Some(moment) = state.crosshair_moment() {
            cursor::set_cursor(state, moment);
        }
        state.cursor.extended_from = Some(state.cursor.moment);
        cursor::set_range(state, state.cursor.moment, state.cursor.moment);
        state.remark = Some("Move the cursor to extend the range (Shift + arrow keys).".to_owned());
    }
}

pub(crate) fn set_range_scope(state: &mut Shared, scope: RangeScope) {
    state.cursor.range_scope = scope;
    cursor::update_scope(state);
}

/// Switches to the next filter for the allocations that the views list while a range is selected.
pub(crate) fn next_range_scope(state: &mut Shared) {
    if state.cursor.range.is_none() {
        state.remark = Some("Select a range first.".to_owned());
        return;
    }
    let index = RangeScope::OF_RANGE.iter().position(|about| *about == state.cursor.range_scope);
    let next = index.and_then(|index| RangeScope::OF_RANGE.get(index + 1)).or(RangeScope::OF_RANGE.first());
    set_range_scope(state, next.copied().unwrap_or_default());
}

/// Moves the cursor to the peak within the range.
pub(crate) fn go_to_range_peak(state: &mut Shared) {
    match facts(state) {
        Some(facts) => {
            let moment = facts.peak_moment;
            state.cursor.extended_from = None;
            cursor::go_to(state, moment);
        }
        None => state.remark = Some("Select a range first.".to_owned()),
    }
}

/// Returns facts about the range. Until the worker has responded, they describe the previous range.
pub fn facts(state: &Shared) -> Option<&RangeFacts> {
    state.cursor.range.and(state.cursor.range_facts.latest())
}

/// Returns facts about the two ends of the range.
pub(crate) fn ends(state: &Shared) -> Option<&[MomentFacts; 2]> {
    state.cursor.range.and(state.cursor.ends.latest())
}

/// Returns the columns of the range's ends, in device pixels from the window's left edge. They may be outside the
/// window.
pub fn px(state: &Shared) -> Option<[f64; 2]> {
    let span = state.cursor.range?;
    let ends = ends(state);
    let from = cursor::moment_px(state, span.from, ends.map(|[from, _]| from))?;
    Some([from, cursor::moment_px(state, span.to, ends.map(|[_, to]| to))?])
}

/// Contents of the panel that describes the selected range.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RangeView {
    /// Facts that the lines show. `None` until the worker has responded.
    pub facts: Option<RangeFacts>,
    pub lines: Vec<(&'static str, String)>,
    pub is_extended: bool,
}

/// Builds the panel that describes the range. `None` if no range is selected.
pub fn view(state: &Shared) -> Option<RangeView> {
    state.cursor.range?;
    let is_extended = state.cursor.extended_from.is_some();
    let Some(facts) = facts(state) else { return Some(RangeView { is_extended, ..RangeView::default() }) };
    let mut lines = vec![("Events", facts.span.events_text())];
    let times = state.cursor.ends.answer_to(&facts.span).and_then(|[from, to]| Some((from.time_us?, to.time_us?)));
    if let Some((from, to)) = times {
        lines.push(("Duration", duration_us(to.saturating_sub(from))));
    }
    lines.extend(fact_lines(facts));
    Some(RangeView { facts: Some(*facts), lines, is_extended })
}

/// Formats the facts about a range as labels and values, with exact bytes.
pub(crate) fn fact_lines(facts: &RangeFacts) -> [(&'static str, String); 6] {
    let weight = |weight: Weight| {
        let mut text = bytes_text(weight.bytes);
        // Allow a line break only before these words.
        text.push_str(" in\u{a0}");
        text.push_str(&pluralize(weight.count.into(), "allocation").replace(' ', "\u{a0}"));
        text
    };
    let sign = sign(facts.live_at_start, facts.live_at_end);
    let net = bytes_text(facts.live_at_end.abs_diff(facts.live_at_start));
    let net: Vec<String> = net.split(" · ").map(|part| sign.to_owned() + part).collect();
    [
        ("Allocated", weight(facts.allocated)),
        ("Freed", weight(facts.freed)),
        ("Kept", weight(facts.still_live)),
        ("Net change", net.join(" · ")),
        ("Peak", bytes_text(facts.peak)),
        ("Peak at event", event_text(facts.peak_moment)),
    ]
}

/// Formats the change from A to B: `A: event 999, 1.20 GiB → B: event 1,999, 3.40 GiB · Δ +2.20 GiB`.
fn change_title(facts: &RangeFacts) -> String {
    let end =
        |name: &str, moment: u32, bytes: u64| [name, &event_name(moment), ", ", &Bytes(bytes).to_string()].concat();
    [
        &end("A: ", facts.span.from, facts.live_at_start),
        " → ",
        &end("B: ", facts.span.to, facts.live_at_end),
        " · Δ ",
        &change(facts.live_at_start, facts.live_at_end),
    ]
    .concat()
}

/// Returns the text next to the tabs. It describes the scope of the views. Until the worker has responded, it describes
/// the previous cursor position or range.
pub fn title(state: &Shared) -> String {
    let Some(device) = state.device() else { return String::new() };
    if state.views.scope == Scope::All {
        return pluralize(device.allocations, "allocation") + ", live at any time";
    }
    let Scope::At(moment) = state.views.scope else {
        let Some(facts) = facts(state) else { return String::new() };
        let mut text = "events ".to_owned() + &facts.span.events_text();
        let weight = match state.cursor.range_scope {
            RangeScope::Live | RangeScope::ByteMoments | RangeScope::WholeTrace => return text,
            RangeScope::Change => return change_title(facts),
            RangeScope::Allocated => facts.allocated,
            RangeScope::Freed => facts.freed,
            RangeScope::Kept => facts.still_live,
        };
        text.push_str(" · ");
        text.push_str(&Bytes(weight.bytes).to_string());
        text.push_str(" requested in ");
        text.push_str(&pluralize(weight.count.into(), "allocation"));
        return text;
    };
    let facts = state.cursor_facts();
    let moment = facts.map_or(moment, |facts| facts.moment);
    let mut text = if state.cursor.range.is_some() { String::new() } else { "Live ".to_owned() };
    text.push_str(if moment == 0 { "" } else { "at " });
    text.push_str(&event_name(moment));
    if device.peak_moment().0 == moment {
        text.push_str(" (peak)");
    } else if moment == state.end_moment() {
        text.push_str(" (end)");
    }
    if let Some(facts) = facts {
        // Two lines beside the tabs: the moment, and what is live.
        let live = [&Bytes(facts.requested).to_string(), " in ", &pluralize(facts.count.into(), "allocation")].concat();
        text = [text, live].map(|part| part.replace(' ', "\u{a0}")).join(": ");
    }
    text
}
