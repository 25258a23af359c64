//! Performance goals of the page.

use super::{Goal, LARGE, Program, SMALL};
use crate::opening::Openings;

/// Goals of a page in any browser.
pub(super) const PAGE_GOALS: [Goal<Openings>; 17] = [
    Goal {
        what: "empty page, its program runs, cold, s",
        goal: "≤ 0.25",
        unit: "",
        of: |page| page.cold.median(),
        limit: |_, _| Some(0.25),
    },
    Goal {
        what: "the same, warm, s",
        goal: "≤ 0.15",
        unit: "",
        of: |page| page.warm.median(),
        limit: |_, _| Some(0.15),
    },
    Goal {
        what: "file to first picture, s",
        goal: "≤ 0.08 at 20 k, ≤ 0.12 at 100 k",
        unit: "",
        of: |page| page.picture.median(),
        limit: |file, _| match file.thousands() {
            20 => Some(0.08),
            100 => Some(0.12),
            _ => None,
        },
    },
    Goal {
        what: "first picture against the bare read",
        goal: "≤ 2× at 1 M, ≤ 1.2× from 5 GB on",
        unit: "×",
        of: |page| page.picture.ratio_to(&page.bare),
        limit: |file, _| if file.bytes >= LARGE { Some(1.2) } else { file.is_million().then_some(2.0) },
    },
    Goal {
        what: "file to everything shown, s",
        goal: "≤ 0.7 below 20 MB, ≤ 0.8 at 1 M, ≤ 4.5 at 10 M, ≤ 9 from 5 GB on",
        unit: "",
        of: |page| page.everything.median(),
        limit: |file, _| match file.thousands() {
            _ if file.bytes < SMALL => Some(0.7),
            _ if file.bytes >= LARGE => Some(9.0),
            1_000 => Some(0.8),
            10_000 => Some(4.5),
            _ => None,
        },
    },
    Goal {
        what: "longest gap of the page until then, ms",
        goal: "≤ 16; other browsers ≤ 50",
        unit: "",
        of: |page| page.gap_ms.median(),
        limit: |_, program| Some(if program == Program::Chromium { 16.0 } else { 50.0 }),
    },
    Goal {
        what: "longest gap until common settings are simulated, ms",
        goal: "≤ 30; other browsers ≤ 50",
        unit: "",
        of: |page| page.simulated_gap_ms.median(),
        limit: |_, program| Some(if program == Program::Chromium { 30.0 } else { 50.0 }),
    },
    Goal {
        what: "opened again from the storage: first picture, s",
        goal: "≤ 0.3 up to 10 M",
        unit: "",
        of: |page| page.reopened_picture.median(),
        limit: |file, _| (file.bytes < LARGE).then_some(0.3),
    },
    Goal {
        what: "opened again from the storage: everything shown, s",
        goal: "≤ 2 up to 10 M",
        unit: "",
        of: |page| page.reopened_everything.median(),
        limit: |file, _| (file.bytes < LARGE).then_some(2.0),
    },
    Goal {
        what: "panning, from frame to frame, median, ms",
        goal: "≤ 33 up to 1 M",
        unit: "",
        of: |page| page.moving.pan.median(),
        limit: |file, _| file.is_up_to_million().then_some(33.0),
    },
    Goal {
        what: "turning the wheel, from frame to frame, median, ms",
        goal: "≤ 33 up to 1 M",
        unit: "",
        of: |page| page.moving.wheel.median(),
        limit: |file, _| file.is_up_to_million().then_some(33.0),
    },
    Goal {
        what: "one turn of the wheel to the stable picture, median, ms",
        goal: "≤ 60 up to 1 M",
        unit: "",
        of: |page| page.moving.stable.median(),
        limit: |file, _| file.is_up_to_million().then_some(60.0),
    },
    Goal {
        what: "moved cursor to the call tree, median, ms",
        goal: "≤ 50",
        unit: "",
        of: |page| page.moving.tree.median(),
        limit: |_, _| Some(50.0),
    },
    Goal {
        what: "the same, 95 in 100, ms",
        goal: "≤ 100",
        unit: "",
        of: |page| page.moving.tree.percentile(95),
        limit: |_, _| Some(100.0),
    },
    Goal {
        what: "moved cursor to the table of allocations, median, ms",
        goal: "≤ 50",
        unit: "",
        of: |page| page.moving.table.median(),
        limit: |_, _| Some(50.0),
    },
    Goal {
        what: "the same, 95 in 100, ms",
        goal: "≤ 100",
        unit: "",
        of: |page| page.moving.table.percentile(95),
        limit: |_, _| Some(100.0),
    },
    Goal {
        what: "page's process grew by, bytes an event",
        goal: "≤ 64 from 10 M on",
        unit: "",
        of: |page| page.grown_per_event.median(),
        limit: |file, _| (file.thousands() >= 10_000).then_some(64.0),
    },
];
