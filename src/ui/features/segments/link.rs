//! Link keys of the Segments tab.

use crate::features::segments::{SegmentsAction, SegmentsTab, handle_action};
use crate::state::link_value::{Key, format_optional, format_pool, parse_pool, view_key, word_if};
use protocol::SegmentSort;

pub(super) const LINKS: &[Key<SegmentsTab>] = &[
    view_key(
        "mpool",
        |tab, _| format_pool(tab.filter),
        |tab, _, link| tab.filter.pool = link.check(parse_pool(link.text)),
    ),
    view_key("mstream", |tab, _| format_optional(tab.filter.stream), |tab, _, link| tab.filter.stream = link.number()),
    view_key(
        "segments",
        |tab, _| word_if(tab.sort != SegmentSort::default(), tab.sort.name()),
        |tab, _, link| tab.sort = link.check(SegmentSort::from_name(link.text)).unwrap_or_default(),
    ),
    view_key(
        "mzoom",
        |tab, _| format_optional(tab.link_zoom()),
        |tab, _, link| {
            let zoom = link.number();
            tab.set_link_zoom(zoom);
        },
    ),
    view_key(
        "request",
        |tab, _| tab.request_text.clone(),
        |tab, shared, link| {
            handle_action(tab, shared, SegmentsAction::RequestTyped(link.text.to_owned()), link.out);
        },
    ),
];
