//! The result of `memscape check` as JSON.

use super::arguments::By;
use super::limits::{Growth, Limits};
use super::verdict::{Check, CheckedDevice, Property, Site, Verdict};
use crate::common_args::value_name;
use protocol::SCHEMA;
use serde_json::{Value, json};

/// Converts the result to JSON.
pub(super) fn as_json(verdict: &Verdict, limits: &Limits, by: By) -> Value {
    let growth = limits.growth.map(|growth| match growth {
        Growth::Share(parts) => json!({"share": parts as f64 / 1e6}),
        Growth::Bytes(bytes) => json!({"bytes": bytes}),
    });
    let errors = verdict.errors.iter().map(|(file, error)| json!({"file": file, "error": error}));
    json!({
        "schema": SCHEMA,
        "exceeded": verdict.is_exceeded,
        "limits": {
            "budget_bytes": limits.budget,
            "live_budget_bytes": limits.live_budget,
            "growth": growth,
            "noise_bytes": limits.noise,
            "allow_oom": limits.allows_oom,
        },
        "by": value_name(by),
        "devices": verdict.devices.iter().map(device).collect::<Value>(),
        "devices_left_out": verdict.left_out,
        "errors": errors.collect::<Value>(),
    })
}

fn device(device: &CheckedDevice) -> Value {
    json!({
        "file": device.file,
        "device": device.device,
        "rank": device.identity.rank,
        "step": device.identity.step,
        "reason": device.identity.reason,
        "baseline": device.baseline,
        "exceeded": device.is_exceeded(),
        "checks": device.checks.iter().map(check).collect::<Value>(),
        "grown": device.grown.iter().map(site).collect::<Value>(),
        "matched_share": device.matched.map(|parts| parts as f64 / 1e6),
        "warnings": device.warnings,
    })
}

/// Converts a check to JSON. Its values are bytes, or the number of OOMs.
fn check(check: &Check) -> Value {
    let mut fields = json!({
        "check": check.property.name(),
        "outcome": check.outcome.name(),
        "title": check.title,
        "detail": check.detail,
    });
    let is_count = check.property == Property::Oom;
    let [value, limit] = if is_count { ["ooms", "max_ooms"] } else { ["value_bytes", "limit_bytes"] };
    if let Some(fields) = fields.as_object_mut() {
        fields.insert(value.to_owned(), json!(check.value));
        fields.insert(limit.to_owned(), json!(check.limit));
        check.baseline.into_iter().for_each(|bytes| drop(fields.insert("baseline_bytes".to_owned(), json!(bytes))));
    }
    fields
}

fn site(site: &Site) -> Value {
    json!({
        "name": site.name,
        "a_bytes": site.bytes.a,
        "b_bytes": site.bytes.b,
        "delta_bytes": site.bytes.clamped_delta(),
        "a_count": site.count.a,
        "b_count": site.count.b,
    })
}
