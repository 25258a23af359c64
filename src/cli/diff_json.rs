//! JSON output of `memscape diff --json`.

use base::units::Moment;
use compare::{AllocationRow, Comparison, MomentPair, PerSide, Row, SideFacts, StepRow, TreeRow};
use protocol::SCHEMA;
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

fn step_json(step: &StepRow) -> Value {
    json!({
        "step": step.name,
        "a_peak_bytes": step.peak.a,
        "b_peak_bytes": step.peak.b,
        "delta_bytes": delta(step.peak),
        "ratio": ratio(step.peak),
        "a_count": step.allocations.a,
        "b_count": step.allocations.b,
    })
}

fn allocation_json(row: &AllocationRow) -> Value {
    json!({
        "call_site": row.site,
        "a_id": row.ids.0,
        "b_id": row.ids.1,
        "a_bytes": row.bytes.a,
        "b_bytes": row.bytes.b,
        "delta_bytes": delta(row.bytes),
        "relation": row.relation(),
    })
}

/// Builds the JSON document of a comparison.
pub(super) fn as_json(comparison: &Comparison) -> Value {
    let live = PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes };
    let share = |part: u64, whole: u64| part as f64 / (whole as f64).max(1.0);
    let matched = comparison.matched;
    let tried: Vec<Value> = comparison
        .tried
        .iter()
        .map(|(key, matched)| json!({"key": key, "matched_share": matched.parts_per_million() as f64 / 1e6}))
        .collect();
    let settings: Vec<Value> =
        comparison.settings.iter().map(|(name, a, b)| json!({"setting": name, "a": a, "b": b})).collect();
    let scaling: Vec<Value> = comparison
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
    let lifetimes: Vec<Value> = comparison
        .lifetimes
        .iter()
        .map(|it| {
            let sites: Vec<Value> = it
                .sites
                .iter()
                .map(|site| {
                    json!({
                        "call_site": site.site,
                        "allocations": site.allocations,
                        "bytes": two(site.bytes),
                        "requested_bytes": two(site.bytes),
                        "longer_events": site.longer_events,
                        "longer_steps": site.longer_steps,
                    })
                })
                .collect();
            let (outcome, bytes) = (it.outcome.name(), two(it.bytes));
            json!({"outcome": outcome, "allocations": it.allocations, "bytes": bytes, "requested_bytes": bytes, "largest": sites})
        })
        .collect();
    json!({
        "schema": SCHEMA,
        "a": side(&comparison.a),
        "b": side(&comparison.b),
        "delta_bytes": delta(live),
        "verdict": comparison.verdict,
        "warnings": comparison.warnings,
        "alignment": comparison.alignment,
        "alignment_detail": comparison.alignment_detail,
        "key": comparison.key,
        "matched_share": matched.parts_per_million() as f64 / 1e6,
        "matched_bytes": {"a": matched.bytes.a, "b": matched.bytes.b},
        "known_bytes": {"a": matched.known.a, "b": matched.known.b},
        "keys_tried": tried,
        "moments": comparison.moments.iter().map(moments_json).collect::<Vec<Value>>(),
        "out_of_memory": two(comparison.out_of_memory),
        "settings": settings,
        "rows": comparison.rows.iter().map(row_json).collect::<Vec<Value>>(),
        "steps": comparison.steps.iter().map(step_json).collect::<Vec<Value>>(),
        "allocations": comparison.allocations.rows.iter().map(allocation_json).collect::<Vec<Value>>(),
        "allocations_that_differ": comparison.allocations.count,
        "allocated_before_recording_bytes": two(comparison.allocations.early),
        "tree": comparison.tree.iter().map(tree_json).collect::<Vec<Value>>(),
        "pools": comparison.pools.iter().map(row_json).collect::<Vec<Value>>(),
        "scaling": scaling,
        "lifetimes": lifetimes,
    })
}
