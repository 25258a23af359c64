//! JSON output of `memscape diff --json`.

use base::units::Moment;
use compare::{AllocationRow, Comparison, MomentPair, PerSide, Row, SideFacts, StepRow, TreeRow};
use engine::protocol::SCHEMA;
use serde_json::{Value, json};

fn side(facts: &SideFacts) -> Value {
    json!({
        "file": facts.file,
        "device": facts.device,
        "events": facts.events,
        "event": Moment(facts.moment).event_or_minus_one(),
        "live_bytes": facts.live_bytes,
        "reserved_bytes": facts.reserved_bytes,
    })
}

/// Returns the difference in bytes, clamped to the range of `i64`.
fn delta(two: PerSide) -> i64 {
    i64::try_from(two.delta()).unwrap_or(if two.b > two.a { i64::MAX } else { i64::MIN })
}

fn ratio(two: PerSide) -> Option<f64> {
    (two.a > 0).then(|| two.b as f64 / two.a as f64)
}

fn row_json(row: &Row) -> Value {
    json!({
        "key": row.label,
        "callers": row.callers,
        "a_bytes": row.bytes.a,
        "b_bytes": row.bytes.b,
        "delta_bytes": delta(row.bytes),
        "a_count": row.count.a,
        "b_count": row.count.b,
        "ratio": ratio(row.bytes),
        "in_both": row.in_both,
    })
}

fn tree_json(row: &TreeRow) -> Value {
    json!({
        "depth": row.depth,
        "frame": row.label,
        "callers": row.frames,
        "a_bytes": row.bytes.a,
        "b_bytes": row.bytes.b,
        "delta_bytes": delta(row.bytes),
        "a_count": row.count.a,
        "b_count": row.count.b,
    })
}

fn two(two: PerSide) -> Value {
    json!({"a": two.a, "b": two.b, "delta": delta(two)})
}

fn moments_json(pair: &MomentPair) -> Value {
    let event = |moment: u32| Moment(moment).event_or_minus_one();
    let fragmentation =
        |live: u64, reserved: u64| (reserved > 0).then(|| reserved.saturating_sub(live) as f64 / reserved as f64);
    json!({
        "title": pair.title,
        "a_event": event(pair.moments.0),
        "b_event": event(pair.moments.1),
        "live_bytes": two(pair.live),
        "reserved_bytes": pair.reserved.map(two),
        "a_fragmentation_at_most": pair.reserved.and_then(|reserved| fragmentation(pair.live.a, reserved.a)),
        "b_fragmentation_at_most": pair.reserved.and_then(|reserved| fragmentation(pair.live.b, reserved.b)),
    })
}

fn step_json(of: &StepRow) -> Value {
    json!({
        "step": of.name,
        "a_peak_bytes": of.peak.a,
        "b_peak_bytes": of.peak.b,
        "delta_bytes": delta(of.peak),
        "ratio": ratio(of.peak),
        "a_count": of.allocations.a,
        "b_count": of.allocations.b,
    })
}

fn allocation_json(of: &AllocationRow) -> Value {
    json!({
        "call_site": of.site,
        "a_id": of.ids.0,
        "b_id": of.ids.1,
        "a_bytes": of.bytes.a,
        "b_bytes": of.bytes.b,
        "delta_bytes": delta(of.bytes),
        "relation": of.relation(),
    })
}

/// Builds the JSON document of a comparison.
pub(super) fn as_json(of: &Comparison) -> Value {
    let live = PerSide { a: of.a.live_bytes, b: of.b.live_bytes };
    let share = |part: u64, whole: u64| part as f64 / (whole as f64).max(1.0);
    let matched = of.matched;
    let tried: Vec<Value> = of
        .tried
        .iter()
        .map(|(key, matched)| json!({"key": key, "matched_share": matched.parts_per_million() as f64 / 1e6}))
        .collect();
    let settings: Vec<Value> =
        of.settings.iter().map(|(name, a, b)| json!({"setting": name, "a": a, "b": b})).collect();
    let scaling: Vec<Value> = of
        .scaling
        .iter()
        .map(|group| {
            let sites: Vec<Value> = group
                .rows
                .iter()
                .map(|row| {
                    let (factor, share) = (row.factor, share(row.share.0, row.share.1));
                    let bytes = two(row.bytes);
                    json!({"call_site": row.site, "factor": factor, "share": share, "pairs": row.pairs, "bytes": bytes, "live_bytes": bytes})
                })
                .collect();
            let (factor, bytes) = (group.factor, two(group.bytes));
            json!({"factor": factor, "call_sites": group.sites, "pairs": group.pairs, "bytes": bytes, "live_bytes": bytes, "largest": sites})
        })
        .collect();
    let lifetimes: Vec<Value> = of
        .lifetimes
        .iter()
        .map(|it| {
            let sites: Vec<Value> = it
                .sites
                .iter()
                .map(|of| {
                    json!({
                        "call_site": of.site,
                        "allocations": of.allocations,
                        "bytes": two(of.bytes),
                        "requested_bytes": two(of.bytes),
                        "longer_events": of.longer_events,
                        "longer_steps": of.longer_steps,
                    })
                })
                .collect();
            let (outcome, bytes) = (it.outcome.name(), two(it.bytes));
            json!({"outcome": outcome, "allocations": it.allocations, "bytes": bytes, "requested_bytes": bytes, "largest": sites})
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "a": side(&of.a),
        "b": side(&of.b),
        "delta_bytes": delta(live),
        "verdict": of.verdict,
        "warnings": of.warnings,
        "alignment": of.alignment,
        "alignment_detail": of.alignment_detail,
        "key": of.key,
        "matched_share": matched.parts_per_million() as f64 / 1e6,
        "matched_bytes": {"a": matched.bytes.a, "b": matched.bytes.b},
        "known_bytes": {"a": matched.known.a, "b": matched.known.b},
        "keys_tried": tried,
        "moments": of.moments.iter().map(moments_json).collect::<Vec<Value>>(),
        "out_of_memory": two(of.out_of_memory),
        "settings": settings,
        "rows": of.rows.iter().map(row_json).collect::<Vec<Value>>(),
        "steps": of.steps.iter().map(step_json).collect::<Vec<Value>>(),
        "allocations": of.allocations.rows.iter().map(allocation_json).collect::<Vec<Value>>(),
        "allocations_that_differ": of.allocations.count,
        "allocated_before_recording_bytes": two(of.allocations.early),
        "tree": of.tree.iter().map(tree_json).collect::<Vec<Value>>(),
        "pools": of.pools.iter().map(row_json).collect::<Vec<Value>>(),
        "scaling": scaling,
        "lifetimes": lifetimes,
    })
}
