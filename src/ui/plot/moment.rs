//! Formats facts about the moment of the cursor or the pointer, for the side panel, the axes and screen readers.

use crate::plot::hover::card;
use crate::plot::ruler;
use crate::scope::details::time_of_day;
use crate::state::ruler::Mode;
use crate::state::shared::Shared;
use crate::text::amount::{bytes_text, elapsed, event_name, event_text};
use crate::text::names::no_stack;
use base::units::{Bytes, Moment, group_digits};
use protocol::{MomentFacts, Plot};

/// Contents of the panel that describes a moment: the one under the pointer while the pointer is over the timeline,
/// otherwise the cursor's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MomentView {
    pub title: &'static str,
    /// Index of the last event before the moment, or −1 before the first event.
    pub event: Option<i64>,
    pub facts: MomentFacts,
    /// Labels and values. The number of lines is fixed, so that the panel's size does not change.
    pub lines: [(&'static str, String); 6],
}

/// Builds the panel. All lines describe the same moment, for which the worker has sent facts. It may be an earlier
/// position of the pointer or cursor.
pub fn view(state: &Shared) -> MomentView {
    let is_hovered = state.tools.crosshair.by_keys.is_none() && state.crosshair_moment().is_some();
    let facts = if is_hovered { state.crosshair_facts() } else { state.cursor_facts() };
    let bytes = bytes_text;
    let requested = |bytes: u64| Some(bytes_text(bytes) + " requested");
    let reserved = facts.filter(|_| state.device().is_some_and(|device| device.has_reserved()));
    let line = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    MomentView {
        title: if is_hovered { "At the pointer" } else { "Cursor" },
        event: facts.map(|facts| Moment(facts.moment).event_or_minus_one()),
        facts: facts.copied().unwrap_or_default(),
        lines: [
            ("Event", line(facts.map(|facts| event_text(facts.moment)))),
            ("Time", line(facts.and_then(|facts| time_text(state, facts)))),
            ("Live", line(facts.and_then(|facts| requested(facts.requested)))),
            ("Awaiting free", line(facts.and_then(|facts| requested(facts.awaiting_free)))),
            ("Reserved", line(reserved.map(|facts| bytes(facts.reserved)))),
            ("Allocations", line(facts.map(|facts| group_digits(facts.count.into())))),
        ],
    }
}

/// Formats the time since the first event, and the time of day if it is known.
pub(crate) fn time_text(state: &Shared, facts: &MomentFacts) -> Option<String> {
    let (first, _) = state.device()?.time_us?;
    let mut text = elapsed(facts.time_us?.saturating_sub(first));
    if let Some(clock) = facts.time_us.and_then(time_of_day) {
        text.push_str(" · ");
        text.push_str(&clock);
    }
    Some(text)
}

/// Returns the text that a screen reader announces after keys have moved the crosshair. Empty while the pointer
/// controls the crosshair, and until all facts are known.
pub fn screen_reader_text(state: &Shared) -> String {
    let Some(keys) = state.tools.crosshair.by_keys else { return String::new() };
    let Some(facts) = state.crosshair_facts().filter(|facts| facts.moment == keys.moment) else { return String::new() };
    let mut text = format!("{}, {} requested.", event_name(facts.moment), Bytes(facts.requested));
    match state.tools.crosshair.hit.answer_to(&(keys, state.drawn_settings().without_highlight())) {
        None => return String::new(),
        Some(_) if state.plot_settings.plot != Plot::Stack => {
            let Some(card) = state.hover.as_ref().map(card) else { return String::new() };
            for part in [&card.title, &card.call_site, &card.segment] {
                text.push(' ');
                text.push_str(part);
            }
            text.push('.');
        }
        Some((None, _)) => text.push_str(" Above the stack."),
        Some((Some(hit), _)) => {
            text.push_str(&format!(" On {}, ", Bytes(hit.requested)));
            text.push_str(hit.call_site.as_deref().unwrap_or(no_stack(hit.allocated_at > 0)));
            text.push('.');
        }
    }
    if let Some(measured) = ruler::measured(state).filter(|_| state.tools.ruler.mode == Mode::On) {
        text.push_str(" Measured: ");
        text.push_str(&measured.text());
        text.push('.');
    }
    text
}
