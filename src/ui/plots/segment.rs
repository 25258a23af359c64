//! The segment at a position of the picture, as a card and as details.

use super::chosen::{Chosen, SegmentView};
use crate::cursor::Standing;
use crate::details::{bytes, pool_fact, stream_name};
use crate::hover::Card;
use crate::shared::Shared;
use crate::shown::Hover;
use crate::summary::Fact;
use base::units::{Bytes, Moment, grouped};
use engine::protocol::{HitMemory, HitSegment, Plot, pool_of_id};

impl Shared {
    /// Returns the selected segment.
    pub fn chosen_segment(&self) -> Option<&Chosen> {
        self.plots.chosen.as_deref()
    }

    /// Selects the segment at a position, if there is one, and clears the selection.
    pub(crate) fn choose_segment(&mut self, memory: Option<&HitMemory>, at: Standing) {
        (self.selection, self.selecting) = (None, None);
        let seen_in = self.looks.order();
        self.plots.chosen = memory.and_then(|memory| {
            let segment = memory.segment.clone()?;
            Some(Box::new(Chosen { segment, at, seen_in, free: memory.free }))
        });
    }
}

fn when(moment: u32, before: &str) -> String {
    match Moment(moment).event() {
        None => before.to_owned(),
        Some(event) => ["event ", &grouped(event.0.into())].concat(),
    }
}

/// Describes the use of a segment: `default pool, stream 0, small, expandable`.
fn kind(segment: &HitSegment) -> String {
    let mut text = segment.pool.map_or_else(|| "pool unknown".to_owned(), pool_of_id);
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

/// Describes when the range was mapped and released.
fn life(segment: &HitSegment) -> String {
    let mut text = match segment.mapped {
        0 => "mapped before recording".to_owned(),
        mapped => "mapped at ".to_owned() + &when(mapped, ""),
    };
    text.push_str(", ");
    match segment.unmapped {
        None => text.push_str("never released"),
        Some(moment) => {
            text.push_str("released at ");
            text.push_str(&when(moment, ""));
        }
    }
    text
}

/// Describes the reserved bytes, and those of the hit range if it is only a part.
fn reserved(segment: &HitSegment) -> String {
    let mut text = String::new();
    if segment.range_bytes != segment.reserved {
        text.push_str(&Bytes(segment.range_bytes).to_string());
        text.push_str(" of ");
    }
    text.push_str(&Bytes(segment.reserved).to_string());
    text.push_str(" reserved");
    text
}

/// Returns the card for a position without an allocation: free, unmapped, or in a segment. `hidden` describes
/// allocations that the column does not show.
pub fn card(hover: &Hover, hidden: String) -> Card {
    let memory = hover.memory.as_deref();
    let blank = |title: &str| Card { title: title.to_owned(), hidden: hidden.clone(), ..Card::default() };
    // Until the worker has replied.
    let Some(memory) = memory.filter(|_| hover.answered.is_some()) else {
        return blank("…");
    };
    let segment = memory.segment.as_ref();
    let line = segment.map_or_else(String::new, segment_line);
    if let (Plot::Addresses(_), Some((address, bytes))) = (hover.plot, memory.free) {
        let title = ["Free: ≤ ", &Bytes(bytes).to_string()].concat();
        return Card { site: format!("0x{address:x}"), segment: line, ..blank(&title) };
    }
    let Some(segment) = segment else {
        return blank(if matches!(hover.plot, Plot::Addresses(_)) { "Not mapped" } else { "Nothing reserved" });
    };
    let site = segment.site.clone().unwrap_or_else(|| "no stack".to_owned());
    let lifetime = life(segment);
    Card { title: reserved(segment), site, lifetime, hidden, segment: kind(segment), ..Card::default() }
}

/// Describes the segment of a block, for a line of its card.
pub fn segment_line(segment: &HitSegment) -> String {
    format!("in segment 0x{:x}: {}, {}", segment.address, Bytes(segment.reserved), kind(segment))
}

/// Returns the details of the selected segment.
pub fn view(chosen: &Chosen) -> SegmentView {
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
    fact("Mapped", when(segment.mapped, "before recording"));
    let end = segment.unmapped.map_or_else(|| "never released".to_owned(), |moment| when(moment, ""));
    fact("Released", end);
    fact("Pool", segment.pool.map_or_else(|| "not recorded".to_owned(), pool_fact));
    fact("Stream", segment.stream.map_or_else(|| "not recorded".to_owned(), stream_name));
    fact("Size class", (if segment.small { "small blocks" } else { "large blocks" }).to_owned());
    fact("Expandable", (if segment.expandable { "yes" } else { "no" }).to_owned());
    fact("As of", when(chosen.at.moment, "before the first event"));
    SegmentView {
        title: [&Bytes(segment.reserved).to_string(), " segment"].concat(),
        site: segment.site.clone().unwrap_or_else(|| "no stack recorded".to_owned()),
        facts,
    }
}
