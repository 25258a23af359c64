//! JSON output of `memscape diff --json`.

use super::output::with_fields;
use base::units::Moment;
use compare::{AllocationRow, Comparison, Matched, MomentPair, PerSide, Row, SideFacts, StepRow, TreeRow};
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

fn ratio(two: PerSide) -> Option<f64> {
    (two.a > 0).then(|| two.b as f64 / two.a as f64)
}

fn two(two: PerSide) -> Value {
    json!({"a": two.a, "b": two.b, "delta": two.clamped_delta()})
}

/// Returns the fields of both sides, and the fields of `more`.
fn compared(bytes: PerSide, count: PerSide, more: Value) -> Value {
    let (delta, PerSide { a, b }) = (bytes.clamped_delta(), bytes);
    let fields = json!({"a_bytes": a, "b_bytes": b, "delta_bytes": delta, "a_count": count.a, "b_count": count.b});
    with_fields(fields, more)
}

fn row_json(row: &Row) -> Value {
    let (key, ratio) = (&row.label, ratio(row.bytes));
    let more = json!({"key": key, "callers": row.callers, "ratio": ratio, "in_both": row.in_both});
    compared(row.bytes, row.count, more)
}

fn tree_json(row: &TreeRow) -> Value {
    compared(row.bytes, row.count, json!({"depth": row.depth, "frame": row.label, "callers": row.frames}))
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
        "delta_bytes": step.peak.clamped_delta(),
        "ratio": ratio(step.peak),
        "a_count": step.allocations.a,
        "b_count": step.allocations.b,
    })
}

fn allocation_json(row: &AllocationRow) -> Value {
    let (PerSide { a, b }, delta) = (row.bytes, row.bytes.clamped_delta());
    let bytes = json!({"a_bytes": a, "b_bytes": b, "delta_bytes": delta, "relation": row.relation()});
    with_fields(bytes, json!({"call_site": row.site, "a_id": row.ids.0, "b_id": row.ids.1}))
}

/// Builds the JSON document of a comparison.
pub(super) fn as_json(comparison: &Comparison) -> Value {
    let live = PerSide { a: comparison.a.live_bytes, b: comparison.b.live_bytes };
    let share = |part: u64, whole: u64| part as f64 / (whole as f64).max(1.0);
    let matched_share = |matched: Matched| matched.parts_per_million() as f64 / 1e6;
    let matched = comparison.matched;
    let tried = comparison.tried.iter().map(|(key, it)| json!({"key": key, "matched_share": matched_share(*it)}));
    let settings = comparison.settings.iter().map(|(name, a, b)| json!({"setting": name, "a": a, "b": b}));
    // `bytes` is the former name of `live_bytes` and `requested_bytes`.
    let scaling = comparison.scaling.iter().map(|group| {
        let sites = group.rows.iter().map(|row| {
            let (share, bytes) = (share(row.share.0, row.share.1), two(row.bytes));
            json!({"call_site": row.site, "factor": row.factor, "share": share, "pairs": row.pairs, "bytes": bytes, "live_bytes": bytes})
        });
        let (sites, bytes) = (sites.collect::<Value>(), two(group.bytes));
        json!({"factor": group.factor, "call_sites": group.sites, "pairs": group.pairs, "bytes": bytes, "live_bytes": bytes, "largest": sites})
    });
    let lifetimes = comparison.lifetimes.iter().map(|it| {
        let sites = it.sites.iter().map(|site| {
            let (bytes, events, steps) = (two(site.bytes), site.longer_events, site.longer_steps);
            let longer = json!({"longer_events": events, "longer_steps": steps});
            with_fields(longer, json!({"call_site": site.site, "allocations": site.allocations, "bytes": bytes, "requested_bytes": bytes}))
        });
        let (sites, bytes) = (sites.collect::<Value>(), two(it.bytes));
        json!({"outcome": it.outcome.name(), "allocations": it.allocations, "bytes": bytes, "requested_bytes": bytes, "largest": sites})
    });
    json!({
        "schema": SCHEMA,
        "a": side(&comparison.a),
        "b": side(&comparison.b),
        "delta_bytes": live.clamped_delta(),
        "verdict": comparison.verdict,
        "warnings": comparison.warnings,
        "alignment": comparison.alignment,
        "alignment_detail": comparison.alignment_detail,
        "key": comparison.key,
        "matched_share": matched_share(matched),
        "matched_bytes": matched.bytes,
        "known_bytes": matched.known,
        "keys_tried": tried.collect::<Value>(),
        "moments": comparison.moments.iter().map(moments_json).collect::<Value>(),
        "out_of_memory": two(comparison.out_of_memory),
        "settings": settings.collect::<Value>(),
        "rows": comparison.rows.iter().map(row_json).collect::<Value>(),
        "steps": comparison.steps.iter().map(step_json).collect::<Value>(),
        "allocations": comparison.allocations.rows.iter().map(allocation_json).collect::<Value>(),
        "allocations_that_differ": comparison.allocations.count,
        "allocated_before_recording_bytes": two(comparison.allocations.early),
        "tree": comparison.tree.iter().map(tree_json).collect::<Value>(),
        "pools": comparison.pools.iter().map(row_json).collect::<Value>(),
        "scaling": scaling.collect::<Value>(),
        "lifetimes": lifetimes.collect::<Value>(),
    })
}
