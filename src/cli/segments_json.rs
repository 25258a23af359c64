//! JSON output of `memscape segments`, and helper functions shared with its text output.

use super::output::with_fields;
use protocol::{
    PieceKind, PoolName, SegmentsBar, SegmentsFit, SegmentsGroup, SegmentsPage, SegmentsPiece, SegmentsSums, pool_name,
};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Call sites by allocation id.
pub(crate) type Sites = HashMap<u32, String>;

/// Returns the segments of the group with index `place`.
pub(crate) fn bars_of(page: &SegmentsPage, place: usize) -> impl Iterator<Item = &SegmentsBar> {
    let row = |place: usize| page.groups.get(place).map_or(u32::MAX, |group| group.row);
    let rows = row(place)..row(place + 1);
    page.bars.iter().filter(move |bar| rows.contains(&bar.row))
}

/// Returns all blocks of a segment, including free ones.
pub(crate) fn blocks_of<'a>(page: &'a SegmentsPage, bar: &SegmentsBar) -> &'a [SegmentsPiece] {
    let [from, to] = bar.pieces.map(|piece| piece as usize);
    page.pieces.get(from..to).unwrap_or_default()
}

/// Returns the state of a block: `live`, `awaiting_free` or `free`.
pub(crate) fn block_state(piece: &SegmentsPiece) -> &'static str {
    match piece.kind {
        PieceKind::Live => "live",
        PieceKind::AwaitingFree => "awaiting_free",
        PieceKind::Rounding | PieceKind::Free => "free",
    }
}

/// Formats an address in hexadecimal.
pub(crate) fn hex(address: u64) -> String {
    format!("0x{address:x}")
}

/// Returns the JSON fields for all segments, the groups of segments, and the request.
pub(crate) fn fields(page: &SegmentsPage, sites: &Sites, pools: &[PoolName]) -> Value {
    let segment = |bar: &SegmentsBar| {
        let blocks: Vec<Value> = blocks_of(page, bar).iter().map(|piece| block(piece, sites)).collect();
        with_fields(sums(&bar.sums), json!({"address": hex(bar.segment), "blocks": blocks}))
    };
    let group = |(place, group): (usize, &SegmentsGroup)| {
        json!({
            "pool": group.pool,
            "pool_name": group.pool.map(|pool| pool_name(pools, pool)),
            "stream": group.stream,
            "small": group.small,
            "expandable": group.expandable,
            "sums": sums(&group.sums),
            "segments": bars_of(page, place).map(segment).collect::<Vec<Value>>(),
        })
    };
    json!({
        "sums": sums(&page.total),
        "in_no_segment": {"live_bytes": page.outside_mapped.bytes, "count": page.outside_mapped.count},
        "fits": page.fits.iter().map(fit).collect::<Vec<Value>>(),
        "groups": page.groups.iter().enumerate().map(group).collect::<Vec<Value>>(),
    })
}

fn sums(sums: &SegmentsSums) -> Value {
    json!({
        "segment_count": sums.segments,
        "reserved_bytes": sums.reserved,
        "block_count": sums.blocks,
        "live_bytes": sums.requested,
        "awaiting_free_bytes": sums.awaiting_free,
        "allocated_rounded_bytes": sums.rounded,
        "free_bytes": sums.free,
        "free_block_count": sums.free_blocks,
        "largest_free_bytes": sums.largest_free,
    })
}

fn block(piece: &SegmentsPiece, sites: &Sites) -> Value {
    match piece.kind {
        PieceKind::Live | PieceKind::AwaitingFree => json!({
            "address": hex(piece.address),
            "state": block_state(piece),
            "allocation": piece.allocation,
            "number": piece.allocation,
            "requested_bytes": piece.requested,
            "allocated_rounded_bytes": piece.rounded,
            "allocated_rounded_is_exact": piece.recorded,
            "call_site": sites.get(&piece.allocation),
        }),
        PieceKind::Free | PieceKind::Rounding => {
            json!({"address": hex(piece.address), "state": "free", "free_bytes": piece.rounded})
        }
    }
}

fn fit(fit: &SegmentsFit) -> Value {
    json!({
        "pool": fit.pool,
        "stream": fit.stream,
        "allocated_rounded_bytes": fit.rounded,
        "block_address": fit.block.map(|(address, _)| hex(address)),
        "block_bytes": fit.block.map(|(_, bytes)| bytes),
        "new_segment_bytes": fit.new_segment,
        "grows": fit.extends_segment,
        "free_bytes": fit.free,
        "largest_free_bytes": fit.largest_free,
    })
}
