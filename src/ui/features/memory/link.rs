//! Link keys of the Segments tab.

use super::{Memory, MemoryAction, act};
use crate::link::reading::{Key, kept, later_name, optional, pool, pool_of};
use engine::protocol::SegmentSort;

/// Values of the key `segments`. The first one is the default and is not written.
const SEGMENTS: [&str; 3] = ["address", "size", "free"];

pub(super) const LINKS: &[Key<Memory>] = &[
    kept("mpool", |memory, _| pool(memory.only), |memory, _, link| memory.only.pool = link.take(pool_of(link.text))),
    kept("mstream", |memory, _| optional(memory.only.stream), |memory, _, link| memory.only.stream = link.number()),
    kept(
        "segments",
        |memory, _| later_name(&SEGMENTS, memory.sort as usize),
        |memory, _, link| {
            memory.sort = link.one_of(&SEGMENTS, &[SegmentSort::Address, SegmentSort::Size, SegmentSort::Free]);
        },
    ),
    kept(
        "mzoom",
        |memory, _| optional(memory.zoom()),
        |memory, _, link| {
            let zoom = link.number();
            memory.zoom_to(zoom);
        },
    ),
    kept(
        "request",
        |memory, _| memory.text.clone(),
        |memory, shared, link| act(memory, shared, MemoryAction::RequestTyped(link.text.to_owned()), link.effects),
    ),
];
