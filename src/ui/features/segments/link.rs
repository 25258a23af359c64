//! Link keys of the Segments tab.

use super::{SegmentsAction, SegmentsTab, act};
use crate::link::value::{Key, format_optional, format_pool, parse_pool, view_key, word_unless_first};
use engine::protocol::SegmentSort;

/// Values of the key `segments`. The first one is the default and is not written.
const SEGMENTS: [&str; 3] = ["address", "size", "free"];

pub(super) const LINKS: &[Key<SegmentsTab>] = &[
    view_key(
        "mpool",
        |memory, _| format_pool(memory.filter),
        |memory, _, link| memory.filter.pool = link.check(parse_pool(link.text)),
    ),
    view_key(
        "mstream",
        |memory, _| format_optional(memory.filter.stream),
        |memory, _, link| memory.filter.stream = link.number(),
    ),
    view_key(
        "segments",
        |memory, _| word_unless_first(&SEGMENTS, memory.sort as usize),
        |memory, _, link| {
            memory.sort = link.map_word(&SEGMENTS, &[SegmentSort::Address, SegmentSort::Size, SegmentSort::Free]);
        },
    ),
    view_key(
        "mzoom",
        |memory, _| format_optional(memory.link_zoom()),
        |memory, _, link| {
            let zoom = link.number();
            memory.set_link_zoom(zoom);
        },
    ),
    view_key(
        "request",
        |memory, _| memory.request_text.clone(),
        |memory, shared, link| act(memory, shared, SegmentsAction::RequestTyped(link.text.to_owned()), link.effects),
    ),
];
