//! What is said of the cursor's moment: in the panel, on the axes, aloud.

use super::details::clock;
use super::ruler::Mode;
use super::state::State;
use crate::engine::protocol::MomentFacts;
use crate::units::{Bytes, Moment, grouped};

/// The panel of the cursor's moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MomentView {
    /// The event after which it holds, −1 before the first; `None` without a cursor.
    pub event: Option<i64>,
    /// Requested bytes live then, exact.
    pub live_requested: u64,
    /// Labels and values; as many whatever is known, so that nothing jumps.
    pub lines: [(&'static str, String); 4],
}

/// The panel. All of it is of the same moment, the last that the worker told of.
pub fn view(state: &State) -> MomentView {
    let facts = state.cursor_moment().and(state.cursor_facts());
    let bytes = |bytes: u64| format!("{} · {} B", Bytes(bytes), grouped(bytes));
    let reserved = facts.filter(|_| state.device().is_some_and(|device| device.knows_reserved()));
    let line = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    MomentView {
        event: facts.map(|facts| Moment(facts.moment).event_or_minus_one()),
        live_requested: facts.map_or(0, |facts| facts.requested),
        lines: [
            ("Event", line(facts.map(|facts| event_text(facts.moment)))),
            ("Time", line(facts.and_then(|facts| time_text(state, facts)))),
            ("Requested", line(facts.map(|facts| bytes(facts.requested)))),
            ("Reserved", line(reserved.map(|facts| bytes(facts.reserved)))),
        ],
    }
}

/// The event that brought a moment about.
pub(super) fn event_text(moment: u32) -> String {
    Moment(moment).event().map_or_else(|| "before the first".to_owned(), |event| grouped(event.0.into()))
}

/// The same, where nothing beside it says what it is.
pub(super) fn event_name(moment: u32) -> String {
    if moment == 0 { "before the first event".to_owned() } else { "event ".to_owned() + &event_text(moment) }
}

/// Time since the first event, and the time of day where it is known.
pub(super) fn time_text(state: &State, facts: &MomentFacts) -> Option<String> {
    let (first, _) = state.device()?.time_us?;
    let mut text = elapsed(facts.time_us?.saturating_sub(first));
    if let Some(clock) = facts.time_us.and_then(clock) {
        text.push_str(" · ");
        text.push_str(&clock);
    }
    Some(text)
}

/// Seconds to the microsecond: `+1.250000 s`.
pub(super) fn elapsed(us: i64) -> String {
    let sign = if us < 0 { "−" } else { "+" };
    let us = us.unsigned_abs();
    format!("{sign}{}.{:06} s", grouped(us / 1_000_000), us % 1_000_000)
}

/// What a screen reader is told when keys have moved the cursor; empty while the pointer leads, and until all of it is known.
pub fn spoken(state: &State) -> String {
    let Some(keys) = state.tools.cursor.keys else { return String::new() };
    let Some(facts) = state.cursor_facts().filter(|facts| facts.moment == keys.moment) else { return String::new() };
    let mut text = format!("{}, {} requested.", event_name(facts.moment), Bytes(facts.requested));
    match state.tools.cursor.hit.about((keys, state.geometry.looks.plain())) {
        None => return String::new(),
        Some(None) => text.push_str(" Above the stack."),
        Some(Some(hit)) => {
            text.push_str(&format!(" On {}, ", Bytes(hit.requested)));
            text.push_str(hit.site.as_deref().unwrap_or("no stack"));
            text.push('.');
        }
    }
    if let Some(measured) = state.measured().filter(|_| state.tools.ruler.mode == Mode::On) {
        text.push_str(" Measured: ");
        text.push_str(&measured.text());
        text.push('.');
    }
    text
}
