//! Describes the segment at a position of the timeline, as a hover card and as details.

use crate::scope::details::{bytes, pool_fact, stream_name};
use crate::state::crosshair::Position;
use crate::state::drawing::Hover;
use crate::state::hover::Card;
use crate::state::selected_segment::{SegmentView, SelectedSegment};
use crate::state::shared::Shared;
use crate::text::summary::Fact;
use base::units::{Bytes, Moment, group_digits};
use protocol::{HitMemory, HitSegment, NO_STACK, Plot, default_pool_name};

pub fn selected_segment(state: &Shared) -> Option<&SelectedSegment> {
    state.plots.selected_segment.as_deref()
}

/// Clears the selected allocation, and selects the segment at a position, if there is one.
pub(crate) fn select_segment(state: &mut Shared, memory: Option<&HitMemory>, position: Position) {
    (state.selection, state.selecting) = (None, None);
    let plot = state.plot_settings.layout_key();
    state.plots.selected_segment = memory.and_then(|memory| {
        let segment = memory.segment.clone()?;
        Some(Box::new(SelectedSegment { segment, position, plot, free: memory.free }))
    });
}

fn event_text(moment: u32, before: &str) -> String {
    match Moment(moment).event() {
        None => before.to_owned(),
        Some(event) => ["event ", &group_digits(event.0.into())].concat(),
    }
}

/// Describes the use of a segment: `default pool, stream 0, small, expandable`.
fn usage_text(segment: &HitSegment) -> String {
    let mut text = segment.pool.map_or_else(|| "pool unknown".to_owned(), default_pool_name);
    if let Some(stream) = segment.stream {
        text.push_str(", stream ");
        text.push_str(&stream_name(stream));
    }
    text.push_str(if segment.small { ", small" } else { ", large" });
    if segment.expandable {
        text.push_str(", expandable");
    }
    text
}

/// Formats the events at which the range was mapped and released.
fn lifetime_text(segment: &HitSegment) -> String {
    let mut text = match segment.mapped_at {
        0 => "mapped before recording".to_owned(),
        mapped_at => "mapped at ".to_owned() + &event_text(mapped_at, ""),
    };
    text.push_str(", ");
    match segment.unmapped_at {
        None => text.push_str("never released"),
        Some(moment) => {
            text.push_str("released at ");
            text.push_str(&event_text(moment, ""));
        }
    }
    text
}

/// Describes the reserved bytes of a segment. If the hit range is only a part of the segment, includes its bytes.
fn reserved_text(segment: &HitSegment) -> String {
    let mut text = String::new();
    if segment.range_bytes != segment.reserved {
        text.push_str(&Bytes(segment.range_bytes).to_string());
        text.push_str(" of ");
    }
    text.push_str(&Bytes(segment.reserved).to_string());
    text.push_str(" reserved");
    text
}

/// Returns the hover card for a position without an allocation. `hidden` describes allocations that are too short to be
/// drawn in the column.
pub fn card(hover: &Hover, hidden: String) -> Card {
    let memory = hover.memory.as_deref();
    let blank = |title: &str| Card { title: title.to_owned(), hidden: hidden.clone(), ..Card::default() };
    // Until the worker has replied.
    let Some(memory) = memory.filter(|_| hover.answered_spot.is_some()) else {
        return blank("…");
    };
    let segment = memory.segment.as_ref();
    let line = segment.map_or_else(String::new, segment_line);
    if let (Plot::Addresses(_), Some((address, bytes))) = (hover.plot, memory.free) {
        let title = ["Free: ≤ ", &Bytes(bytes).to_string()].concat();
        return Card { call_site: format!("0x{address:x}"), segment: line, ..blank(&title) };
    }
    let Some(segment) = segment else {
        return blank(if matches!(hover.plot, Plot::Addresses(_)) { "Not mapped" } else { "Nothing reserved" });
    };
    let call_site = segment.call_site.clone().unwrap_or_else(|| NO_STACK.to_owned());
    let lifetime = lifetime_text(segment);
    Card { title: reserved_text(segment), call_site, lifetime, hidden, segment: usage_text(segment), ..Card::default() }
}

/// Describes the segment that contains a block, as a line of the block's hover card.
pub fn segment_line(segment: &HitSegment) -> String {
    format!("in segment 0x{:x}: {}, {}", segment.address, Bytes(segment.reserved), usage_text(segment))
}

/// Returns the details of the selected segment.
pub fn segment_view(chosen: &SelectedSegment) -> SegmentView {
    let segment = &chosen.segment;
    let mut facts = Vec::new();
    let mut fact = |label: &str, value: String| facts.push(Fact { label: label.to_owned(), value });
    fact("Reserved", bytes(segment.reserved));
    if segment.range_bytes != segment.reserved {
        fact("This range", bytes(segment.range_bytes));
    }
    fact("Segment", format!("0x{:x}", segment.address));
    if let Some((address, free)) = chosen.free {
        fact("Free here", format!("≤ {} at 0x{address:x}", bytes(free)));
    }
    fact("Mapped", event_text(segment.mapped_at, "before recording"));
    let end = segment.unmapped_at.map_or_else(|| "never released".to_owned(), |moment| event_text(moment, ""));
    fact("Released", end);
    fact("Pool", segment.pool.map_or_else(|| "not recorded".to_owned(), pool_fact));
    fact("Stream", segment.stream.map_or_else(|| "not recorded".to_owned(), stream_name));
    fact("Size class", (if segment.small { "small blocks" } else { "large blocks" }).to_owned());
    fact("Expandable", (if segment.expandable { "yes" } else { "no" }).to_owned());
    fact("As of", event_text(chosen.position.moment, "before the first event"));
    SegmentView {
        title: [&Bytes(segment.reserved).to_string(), " segment"].concat(),
        site: segment.call_site.clone().unwrap_or_else(|| NO_STACK.to_owned()),
        facts,
    }
}
