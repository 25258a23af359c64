//! JSON output of `memscape ranks --json`.

use super::output::to_pretty_json;
use compare::ranks::{Rank, RankQuantiles, Ranks, SiteBytes};
use protocol::SCHEMA;
use serde_json::{Value, json};

/// Builds the JSON output for a comparison of ranks. `memory` is the memory budget in bytes.
pub(super) fn as_json(comparison: &Ranks, memory: u64) -> String {
    let number = |index: u32| comparison.ranks.get(index as usize).and_then(|rank| rank.rank);
    let file = |index: u32| comparison.ranks.get(index as usize).map(|rank| rank.file.clone());
    let outliers = comparison.outliers.iter().map(|it| {
        json!({"rank": number(it.at), "file": file(it.at), "delta_bytes": it.delta, "median_absolute_deviation": it.deviation})
    });
    let groups = comparison.groups.iter().map(|group| {
        let deltas = group.deltas.iter().map(|it| json!({"call_site": it.site, "delta_bytes": it.bytes}));
        json!({
            "ranks": group.ranks.iter().map(|&index| number(index)).collect::<Value>(),
            "median_rank": number(group.median),
            "peak_requested": group.peak,
            "peak_requested_bytes": group.peak,
            "shared": group.shared,
            "differences": deltas.collect::<Value>(),
        })
    });
    let spread = |it: &RankQuantiles| json!([it.min, it.p5, it.median, it.p95, it.max]);
    let peak = comparison.peak.as_ref().map(spread);
    let [curve, steps] = [&comparison.curve, &comparison.steps].map(|it| it.iter().map(spread).collect::<Value>());
    let first_oom = comparison.first_oom.as_ref().map(|first| {
        let others = first.others.map(|(least, most, ranks)| json!({"least_live_bytes": least, "most_live_bytes": most, "ranks": ranks}));
        json!({"rank": number(first.at), "ranks_out_of_memory": first.ranks, "by_time": first.is_by_time, "others": others})
    });
    to_pretty_json(&json!({
        "schema": SCHEMA,
        "memory_budget_bytes": memory,
        "ranks": comparison.ranks.iter().map(|rank| row(comparison, rank)).collect::<Value>(),
        "left_out": comparison.left_out,
        "is_partial": comparison.is_partial,
        "peak": peak,
        "peak_bytes": peak,
        "quantiles": ["min", "p5", "median", "p95", "max"],
        "curve_by_share_of_events": curve,
        "curve_by_share_of_events_bytes": curve,
        "steps": steps,
        "step_peak_bytes": steps,
        "outliers": outliers.collect::<Value>(),
        "groups": groups.collect::<Value>(),
        "first_oom": first_oom,
        "notes": comparison.notes,
        "verdict": comparison.verdict,
    }))
}

fn row(ranks: &Ranks, rank: &Rank) -> Value {
    let survey = rank.survey.as_ref();
    let fields =
        |pairs: &[(String, String)]| pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Value>();
    let site = |it: &SiteBytes| json!({"call_site": it.site, "bytes": it.bytes, "live_bytes": it.bytes, "count": it.allocations});
    let oom = survey.and_then(|survey| survey.out_of_memory);
    let median = ranks.peak.map(|peak| peak.median);
    let delta = rank.peak().zip(median).map(|(peak, median)| i128::from(peak) - i128::from(median));
    json!({
        "rank": rank.rank,
        "host": rank.host,
        "step": rank.step,
        "coords": fields(&rank.coords),
        "file": Some(&rank.file).filter(|file| !file.is_empty()),
        "device": survey.map(|it| it.device),
        "events": survey.map(|it| it.events),
        "peak_requested": survey.map(|it| it.peak_requested),
        "peak_requested_bytes": survey.map(|it| it.peak_requested),
        "peak_event": survey.map(|it| it.peak_event),
        "delta_to_median_bytes": delta.and_then(|delta| i64::try_from(delta).ok()),
        "peak_reserved": survey.map(|it| it.peak_reserved),
        "peak_reserved_bytes": survey.map(|it| it.peak_reserved),
        "end_requested": survey.map(|it| it.end_requested),
        "end_requested_bytes": survey.map(|it| it.end_requested),
        "capacity_bytes": survey.and_then(|it| it.capacity),
        "oom_event": oom.map(|oom| oom.event),
        "oom_requested_bytes": oom.map(|oom| oom.requested_bytes),
        "oom_device_free_bytes": oom.map(|oom| oom.device_free_bytes),
        "group": rank.group,
        "steps": survey.map(|it| &it.steps),
        "step_peak_bytes": survey.map(|it| &it.steps),
        "settings": survey.map(|it| fields(&it.settings)),
        "sites_at_peak": survey.map(|it| it.sites.iter().map(site).collect::<Value>()),
        "other_bytes_at_peak": survey.map(|it| it.other_bytes),
        "other_at_peak_bytes": survey.map(|it| it.other_bytes),
        "error": rank.error,
    })
}
