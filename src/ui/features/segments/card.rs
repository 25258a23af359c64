//! Description of a block or segment: the hover card, and the status line with the same texts.

use crate::features::rows::cells::hexadecimal;
use crate::features::segments::words::group_of;
use crate::features::segments::{BlockInBar, SegmentsTab};
use crate::state::hover::lifetime_text;
use crate::text::amount::bytes_text;
use crate::text::names::no_stack;
use base::units::{Bytes, percent, pluralize};
use protocol::{Details, PieceKind, SegmentsBar, SegmentsPiece};

/// Hover card of a block or segment. The status line shows the same texts for the active position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentsCard {
    /// Kind and size. The size is given twice: abbreviated, and in exact bytes.
    pub title: String,
    pub site: String,
    /// Events that allocated and freed the block.
    pub lifetime: String,
    pub segment: String,
}

/// Returns the hover card of the block or segment under the pointer.
pub fn hovered(tab: &SegmentsTab) -> Option<SegmentsCard> {
    let target = tab.hit_test(tab.pointer?)?;
    Some(card(tab, target))
}

/// Returns the status line. Describes the active block or segment, or gives a hint.
pub fn status(tab: &SegmentsTab) -> String {
    if tab.page().is_none() {
        return "…".to_owned();
    }
    let Some(target) = tab.active() else {
        return "Arrow keys move between blocks and segments, Enter selects, + and − zoom, Shift + arrow keys step through events."
            .to_owned();
    };
    let SegmentsCard { title, site, lifetime, segment } = card(tab, target);
    let parts = [title, site, lifetime, segment].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" · ")
}

/// Returns the hover card of a bar or of one of its pieces.
fn card(tab: &SegmentsTab, (bar, piece): BlockInBar<'_>) -> SegmentsCard {
    let mut card = SegmentsCard { segment: segment(tab, bar), ..SegmentsCard::default() };
    match piece {
        None => {
            card.title = bytes_text(bar.sums.reserved) + " reserved, all blocks narrower than a pixel";
        }
        Some(piece) if piece.kind == PieceKind::Free => {
            card.title = ["Free: ≤ ", &bytes_text(piece.rounded)].concat();
            card.site = "at ".to_owned() + &hexadecimal(piece.address);
            card.lifetime = keeper_text(tab, bar);
        }
        Some(piece) => block(tab, piece, &mut card),
    }
    card
}

fn block(tab: &SegmentsTab, piece: &SegmentsPiece, card: &mut SegmentsCard) {
    let details = tab.piece_details(piece);
    let bound = if piece.recorded { "" } else { "≥ " };
    if piece.count > 1 {
        card.title =
            pluralize(piece.count.into(), "block") + " narrower than a pixel · " + &bytes_text(piece.requested);
        card.site = "The largest: ".to_owned();
    } else {
        card.title = bytes_text(piece.requested) + " requested";
        if piece.kind == PieceKind::Rounding {
            card.title = ["Rounding: ", bound, &bytes_text(piece.rounded.saturating_sub(piece.requested))].concat();
        }
    }
    let Some(details) = details else {
        card.site.push('…');
        return;
    };
    if piece.count > 1 {
        card.site.push_str(&Bytes(details.requested).to_string());
        card.site.push_str(" · ");
    }
    card.site.push_str(&site_text(details));
    let after = |event: u32| event.saturating_add(1);
    card.lifetime = lifetime_text(details.allocated_event.map_or(0, after), details.freed_event.map(after));
    if piece.kind == PieceKind::AwaitingFree {
        card.lifetime.insert_str(0, "awaiting free · ");
    }
    if piece.count == 1 {
        card.lifetime.push_str(" · rounded ");
        card.lifetime.push_str(bound);
        card.lifetime.push_str(&Bytes(piece.rounded).to_string());
        card.lifetime.push_str(" at ");
        card.lifetime.push_str(&hexadecimal(piece.address));
    }
}

fn segment(tab: &SegmentsTab, bar: &SegmentsBar) -> String {
    let sums = &bar.sums;
    let group = tab.page().and_then(|page| group_of(page, bar));
    let kind = if group.is_some_and(|group| group.expandable) { "Expandable segment of " } else { "Segment of " };
    let mut text = kind.to_owned() + &Bytes(sums.reserved).to_string();
    for part in [" at ", &hexadecimal(bar.segment), ", ", &percent(sums.free, sums.reserved), " free at most, "] {
        text.push_str(part);
    }
    text.push_str(&pluralize(sums.blocks.into(), "block"));
    text
}

/// Returns the call site of an allocation, or the reason why it is not known.
fn site_text(details: &Details) -> String {
    let no_stack = || no_stack(details.allocated_event.is_some()).to_owned();
    crate::scope::details::view(details).call_site.unwrap_or_else(no_stack)
}

/// Describes the live blocks that prevent the release of the segment around a free block.
fn keeper_text(tab: &SegmentsTab, bar: &SegmentsBar) -> String {
    let Some(keeper) = bar.largest_block.filter(|_| bar.sums.blocks > 0) else {
        return "No live block in this segment: it can be released.".to_owned();
    };
    let mut text = "Kept by ".to_owned();
    text.push_str(&pluralize(bar.sums.blocks.into(), "live block"));
    text.push_str(if bar.sums.blocks > 1 { "; the largest: " } else { ": " });
    match tab.allocation_details(keeper) {
        Some(details) => {
            text.push_str(&Bytes(details.requested).to_string());
            text.push_str(" · ");
            text.push_str(&site_text(details));
        }
        None => text.push('…'),
    }
    text
}
