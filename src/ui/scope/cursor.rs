//! The cursor: the pinned position in time whose state the views show. It is set by clicks, keys, typed text and its
//! handle on the axis.

pub use crate::state::cursor::Cursor;
pub(crate) use crate::state::cursor::{Follow, PositionRequest};

use crate::state::change::AskPhase;
use crate::state::crosshair::column_under;
use crate::state::effect::Pointer;
use crate::state::outbox::Outbox;
use crate::state::part::Part;
use crate::state::range::{RangeScope, ViewScope};
use crate::state::shared::Shared;
use crate::text::position_text::{EXPECTED_FORMS, Position, parse_position};
use base::units::group_digits;
use picture::timeline::{Axis, time_axis_margin};
use protocol::{Answer, Details, MomentFacts, MomentSpec, Question, Span};

/// Moves the cursor to the start of an allocation that is not live at the cursor, so that the views list the
/// allocation.
pub(crate) fn move_to_lifetime(state: &mut Shared, details: &Details) {
    let after = |event: Option<u32>, otherwise: u32| event.map_or(otherwise, |event| event.saturating_add(1));
    let (allocated_at, freed_at) = (after(details.allocated_event, 0), after(details.freed_event, u32::MAX));
    if state.cursor.range.is_none() && !(allocated_at..freed_at).contains(&state.cursor.moment) {
        set_cursor(state, allocated_at);
    }
}

/// Moves the cursor to `moment`. While keys extend a range, its end moves with the cursor.
pub(crate) fn set_cursor(state: &mut Shared, moment: u32) {
    state.cursor.moment = moment.min(state.end_moment());
    state.cursor.error = None;
    state.cursor.requested = None;
    if let Some(start) = state.cursor.extended_from {
        set_range(state, start, state.cursor.moment);
    }
    update_scope(state);
}

/// Moves the cursor to `moment` and scrolls the window to it.
pub(crate) fn go_to(state: &mut Shared, moment: u32) {
    state.tools.crosshair.follow_pointer();
    set_cursor(state, moment);
    state.cursor.follow = Follow::Yes;
}

/// Moves the cursor to the peak and scrolls the window to it.
pub(crate) fn go_to_peak(state: &mut Shared) {
    go_to(state, state.peak_moment());
}

/// Moves the cursor to the clicked moment and clears the range. If the views show the change between the range's
/// ends A and B, moves B there instead, or A if the clicked moment is before A.
pub(crate) fn set_cursor_at(state: &mut Shared, pointer: Pointer) {
    let Some(moment) = moment_under(state, pointer.x) else { return };
    match state.cursor.range.filter(|_| view_scope(state) == ViewScope::Change) {
        Some(Span { from, to }) => set_fixed_range(state, moment, if moment < from { to } else { from }),
        None => drop(end_range(state)),
    }
    set_cursor(state, moment);
}

/// Returns the moment that the scene shows at `x`, in device pixels from the window's left edge.
pub(crate) fn moment_under(state: &Shared, x: f64) -> Option<u32> {
    let (view, scene) = (state.view()?, state.scene()?);
    scene.columns.moment.get(column_under(scene, &view, x)?).copied()
}

/// Moves the cursor to the device's out-of-memory event, if there was one.
pub(crate) fn seek_out_of_memory(state: &mut Shared) {
    if state.device().is_some_and(|device| device.oom_count() > 0) {
        request_position(state, PositionRequest { from: MomentSpec::OutOfMemory, to: None });
    }
}

/// Moves the cursor to the typed position. Stores an error message if the text is invalid.
pub(crate) fn on_position_typed(state: &mut Shared, text: &str) {
    state.cursor.error = go_to_typed(state, text).err();
}

fn go_to_typed(state: &mut Shared, text: &str) -> Result<(), String> {
    match parse_position(text).ok_or(EXPECTED_FORMS)? {
        Position::Peak => go_to_peak(state),
        Position::ReservedPeak if state.device().is_some_and(|device| device.has_reserved()) => {
            request_position(state, PositionRequest { from: MomentSpec::PeakReserved, to: None });
        }
        Position::ReservedPeak => {
            return Err("This snapshot has no segments, so reserved memory is unknown.".to_owned());
        }
        Position::OutOfMemory if state.device().is_some_and(|device| device.oom_count() > 0) => {
            request_position(state, PositionRequest { from: MomentSpec::OutOfMemory, to: None });
        }
        Position::OutOfMemory => return Err("This device has no out-of-memory event.".to_owned()),
        Position::End => go_to(state, state.end_moment()),
        Position::Event(event) => {
            let events = u64::from(state.end_moment());
            if event >= events {
                let last = events.checked_sub(1).ok_or("This device has no events.")?;
                return Err("The last event is ".to_owned() + &group_digits(last) + ".");
            }
            go_to(state, u32::try_from(event).unwrap_or(u32::MAX).saturating_add(1));
        }
        Position::Time(us) => {
            let times = state.device().and_then(|device| device.time_us);
            let (first, last) = times.ok_or("This snapshot has no timestamps.")?;
            let span = last.abs_diff(first);
            if us > span {
                let length = crate::text::amount::elapsed(i64::try_from(span).unwrap_or(i64::MAX));
                return Err("The last event is at ".to_owned() + &length + ".");
            }
            let x = us.saturating_add(time_axis_margin(span)) as f64;
            request_position(state, PositionRequest { from: MomentSpec::X(Axis::Time, x), to: None });
        }
    }
    Ok(())
}

/// Requests the moments of a position from the worker. The cursor or the range is set when the worker responds.
pub(crate) fn request_position(state: &mut Shared, request: PositionRequest) {
    state.cursor.requested = Some(request);
}

/// Returns the column of a moment, in device pixels from the window's left edge. It may be outside the window. On
/// the time axis, `None` without `facts`.
pub(crate) fn moment_px(state: &Shared, moment: u32, facts: Option<&MomentFacts>) -> Option<f64> {
    let x = match state.axis {
        Axis::Events => f64::from(moment) + 0.5,
        Axis::Time => facts?.position.time as f64,
    };
    Some(state.view()?.column_from_x(x))
}

/// Returns the cursor's column, in device pixels from the window's left edge, and the cursor's moment. On the time
/// axis, both describe the previous position until the worker has responded.
pub fn x_px(state: &Shared) -> Option<(f64, u32)> {
    state.device()?;
    let facts = state.cursor_facts();
    let moment = match state.axis {
        Axis::Events => state.cursor.moment,
        Axis::Time => facts?.moment,
    };
    Some((moment_px(state, moment, facts)?, moment))
}

/// Callbacks of the cursor and the range.
pub(crate) const PART: Part = Part { asks: &[(AskPhase::Last, ask)], take };

/// Requests missing facts about the cursor and the range. At most one request of each kind is pending at a time.
fn ask(state: &mut Shared, device: i64, out: &mut Outbox) {
    let cursor = &mut state.cursor;
    cursor.facts.ask(cursor.moment, device, out, |moment| Question::Moments(vec![MomentSpec::Moment(moment)]));
    if let Some(request) = cursor.requested {
        let moments = |request: PositionRequest| {
            Question::Moments([Some(request.from), request.to].into_iter().flatten().collect())
        };
        cursor.resolving.ask(request, device, out, moments);
    }
    let Some(span) = cursor.range else { return };
    if state.slices.facts.pending().is_none() {
        cursor.range_facts.ask(span, device, out, Question::Range);
    }
    let ends = |span: Span| Question::Moments([span.from, span.to].map(MomentSpec::Moment).to_vec());
    cursor.ends.ask(span, device, out, ends);
}

/// Handles the worker's responses about moments and the range.
fn take(state: &mut Shared, serial: u32, answer: Answer, _: &mut Outbox) -> Option<Answer> {
    let cursor = &mut state.cursor;
    match answer {
        Answer::Range(facts) => {
            cursor.range_facts.take(serial, facts);
        }
        Answer::Moments(moments) => match (cursor.resolving.take_pending(serial), moments.as_slice()) {
            (Some(request), found) => on_position_resolved(state, request, found),
            (None, &[facts]) if cursor.facts.take(serial, facts) => {}
            (None, &[from, to]) if cursor.ends.take(serial, [from, to]) => {}
            _ => return Some(Answer::Moments(moments)),
        },
        other => return Some(other),
    }
    None
}

/// Sets the cursor or the range to the moments that the worker found for a requested position.
fn on_position_resolved(state: &mut Shared, request: PositionRequest, moments: &[MomentFacts]) {
    // A newer request overrides this one only if it sets the cursor. A range that is being dragged keeps updating.
    if request.to.is_none() && state.cursor.requested != Some(request) {
        return;
    }
    state.cursor.requested.take_if(|newest| *newest == request);
    match *moments {
        [facts] => go_to(state, facts.moment),
        [from, to] => set_fixed_range(state, from.moment, to.moment),
        _ => {}
    }
}

/// Scrolls the window to the cursor if the cursor was set outside it.
pub(crate) fn scroll_to_cursor(state: &mut Shared) {
    if state.cursor.follow == Follow::No || state.cursor.facts.answer_to(&state.cursor.moment).is_none() {
        return;
    }
    let (Some((x, _)), Some(view)) = (x_px(state), state.view()) else { return };
    state.cursor.follow = Follow::No;
    let width = f64::from(view.width_px);
    if !(0.0..width).contains(&x) {
        state.navigate(|plane, view| plane.moved(view, x - width / 2.0, 0.0));
    }
}

/// Updates the scope of the views from the cursor, the range, and the filter chosen for ranges.
pub(crate) fn update_scope(state: &mut Shared) {
    state.views.scope = state.cursor.range_scope.scope(state.cursor.moment, state.cursor.range);
}

/// Sets the range between two moments, in any order, and updates the scope of the views. If the views show the
/// whole trace, switches to the default scope of a range.
pub(crate) fn set_range(state: &mut Shared, a: u32, b: u32) {
    let end = state.end_moment();
    state.cursor.range = Some(Span { from: a.min(b).min(end), to: a.max(b).min(end) });
    if state.cursor.range_scope == RangeScope::WholeTrace {
        state.cursor.range_scope = RangeScope::default();
    }
    update_scope(state);
}

/// Sets the range. If keys were extending a range, they no longer do.
pub(crate) fn set_fixed_range(state: &mut Shared, a: u32, b: u32) {
    state.cursor.extended_from = None;
    set_range(state, a, b);
}

/// Returns the scope of the views. Without a range, it is the cursor or the whole trace.
pub fn view_scope(state: &Shared) -> ViewScope {
    match (state.cursor.range_scope, state.cursor.range) {
        (RangeScope::WholeTrace, _) => ViewScope::WholeTrace,
        (RangeScope::Live, _) | (_, None) => ViewScope::Cursor,
        (RangeScope::Change, Some(_)) => ViewScope::Change,
        (_, Some(_)) => ViewScope::Range,
    }
}

/// Clears the range. Returns false if no range was selected.
pub(crate) fn end_range(state: &mut Shared) -> bool {
    state.cursor.extended_from = None;
    let ended = state.cursor.range.take().is_some();
    update_scope(state);
    ended
}
