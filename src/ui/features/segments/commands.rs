//! Commands of the Segments tab.

use crate::features::command::{rows, tab_row};
use crate::features::segments::data::{BYTES_PER_PX, BlockMove, SegmentsAction, SegmentsTab};
use crate::features::segments::navigation::navigate;
use crate::features::segments::{ZOOM, handle_action, hit, select_hit};
use crate::state::effect::Effect;
use crate::state::outbox::Intent;
use crate::text::tab::Tab::Segments;
use protocol::SegmentSort;

rows! {
    pub(crate) ROWS:
    PREVIOUS_BLOCK = tab_row(Segments, &["ArrowLeft"], "Go to the previous block", "segments-before",
        |state, _| navigate(&mut state.segments, BlockMove::PreviousBlock));
    NEXT_BLOCK = tab_row(Segments, &["ArrowRight"], "Go to the next block", "segments-after",
        |state, _| navigate(&mut state.segments, BlockMove::NextBlock));
    PREVIOUS_SEGMENT = tab_row(Segments, &["ArrowUp"], "Go to the previous segment", "segments-segment-before",
        |state, _| navigate(&mut state.segments, BlockMove::PreviousSegment));
    NEXT_SEGMENT = tab_row(Segments, &["ArrowDown"], "Go to the next segment", "segments-segment-after",
        |state, _| navigate(&mut state.segments, BlockMove::NextSegment));
    FIRST = tab_row(Segments, &["Home"], "Go to the first block", "segments-first",
        |state, _| navigate(&mut state.segments, BlockMove::First));
    LAST = tab_row(Segments, &["End"], "Go to the last block", "segments-last",
        |state, _| navigate(&mut state.segments, BlockMove::Last));
    SELECT = tab_row(Segments, &["Enter"], "Select the block", "segments-select", |state, out| {
        let found = state.segments.active().map(hit);
        select_hit(&mut state.segments, found, out);
    });
    ZOOM_IN = tab_row(Segments, &["+", "="], "Zoom in", "segments-in",
        |state, _| zoom(&mut state.segments, 1.0 / ZOOM));
    ZOOM_OUT = tab_row(Segments, &["-", "_"], "Zoom out", "segments-out", |state, _| zoom(&mut state.segments, ZOOM));
    FIT = tab_row(Segments, &["0"], "Fit all segments", "segments-fit", |state, _| {
        state.segments.zoom = None;
        state.segments.keep_in_view();
    });
    NEXT_SORT = tab_row(Segments, &["s"], "Sort the segments by the next criterion", "segments-sort", |state, out| {
        let [sort, ..] = state.segments.picker_indices();
        let next = SegmentsAction::SortChosen((sort + 1) % SegmentSort::ALL.len());
        handle_action(&mut state.segments, &state.shared, next, out);
    });
    // The first entry of a picker stands for all.
    NEXT_POOL = tab_row(Segments, &["p"], "Show only the next pool, or all pools", "segments-pool", |state, out| {
        let [_, pool, _] = state.segments.picker_indices();
        let next = SegmentsAction::PoolChosen((pool + 1) % (state.segments.pools.len() + 1));
        handle_action(&mut state.segments, &state.shared, next, out);
    });
    NEXT_STREAM = tab_row(Segments, &["t"], "Show only the next stream, or all streams", "segments-stream",
        |state, out| {
            let [.., stream] = state.segments.picker_indices();
            let next = SegmentsAction::StreamChosen((stream + 1) % (state.segments.streams.len() + 1));
            handle_action(&mut state.segments, &state.shared, next, out);
        });
    TYPE_REQUEST = tab_row(Segments, &["r"], "Simulate a request: where would it go?", "segments-request",
        |_, out| out.push(Effect::FocusRequest));
    CURSOR_BACK = tab_row(Segments, &["Shift+ArrowLeft"], "Move the cursor back one event", "segments-earlier",
        |state, out| out.intend(Intent::MoveCursor(state.cursor.moment.saturating_sub(1))));
    CURSOR_FORWARD = tab_row(Segments, &["Shift+ArrowRight"], "Move the cursor forward one event", "segments-later",
        |state, out| out.intend(Intent::MoveCursor(state.cursor.moment.saturating_add(1))));
}

/// Multiplies the bytes per pixel.
fn zoom(tab: &mut SegmentsTab, factor: f64) {
    let [min, max] = BYTES_PER_PX;
    let scale = tab.scale();
    tab.zoom = tab.page().map(|page| (page.bytes_per_px * factor).clamp(min, max) * scale);
    tab.keep_in_view();
}
