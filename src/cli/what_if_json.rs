//! JSON of `memscape whatif`.

use protocol::{PlanQuestion, WhatIf, WhatIfFit, WhatIfLimit, WhatIfLow, WhatIfProgram, WhatIfRun};
use serde_json::{Value, json};

pub(super) fn plan(plan: &PlanQuestion, caveats: &[&str]) -> Value {
    let groups = plan.groups.iter().map(|(group, factor)| json!({"group": group.name(), "factor": factor.quotient()}));
    json!({"groups": groups.collect::<Vec<Value>>(), "batch": plan.batch.quotient(), "caveats": caveats})
}

/// Returns the answer about a device.
pub(super) fn device(device: i64, answer: &WhatIf, total: Option<u64>, has_search: bool) -> Value {
    let proof = &answer.proof;
    // If the recording is not reproduced, these numbers are not predictions.
    let number = |bytes: u64| if proof.refused.is_some() { Value::Null } else { json!(bytes) };
    json!({
        "device": device,
        "reproduces": {
            "addresses": proof.addresses,
            "addresses_equal": proof.addresses_equal,
            "segment_events": proof.segment_events,
            "segment_events_equal": proof.segment_events_equal,
            "largest_reserved_error": number(proof.largest_reserved_error),
            "largest_reserved_error_bytes": number(proof.largest_reserved_error),
            "peak_reserved": number(proof.peak_reserved),
            "peak_reserved_bytes": number(proof.peak_reserved),
            "recorded_peak_reserved": number(proof.recorded_peak_reserved),
            "recorded_peak_reserved_bytes": number(proof.recorded_peak_reserved),
            "not_exercised": proof.not_exercised,
            "refused": proof.refused,
        },
        "capacity_bytes": answer.capacity,
        "total_bytes": total,
        "recorded_limit": answer.limit.map(limit),
        "has_contradictory_limits": answer.has_contradictory_limits,
        "runs": answer.runs.iter().map(run).collect::<Vec<Value>>(),
        "fits_in": has_search.then(|| answer.fits.iter().map(fit).collect::<Vec<Value>>()),
    })
}

fn limit(limit: WhatIfLimit) -> Value {
    let WhatIfLimit { low, high, is_fraction } = limit;
    json!({"low_bytes": low, "high_bytes": high, "is_memory_fraction": is_fraction})
}

fn run(run: &WhatIfRun) -> Value {
    json!({
        "settings": run.settings,
        "program": program(&run.program),
        "grade": run.grade.name(),
        "peak_reserved": run.peak_reserved,
        "peak_reserved_bytes": run.peak_reserved,
        "band": run.band,
        "band_bytes": run.band,
        "driver_calls": run.driver_calls,
        "retries": run.retries,
        "retry_range": run.retry_range(),
        "runs_out_of_memory": run.fails(),
        "oom_event": run.oom_event,
        "with_lowest_limit": run.low.map(low),
    })
}

fn low(WhatIfLow { peak_reserved, driver_calls, retries, oom_event, .. }: WhatIfLow) -> Value {
    json!({"peak_reserved_bytes": peak_reserved, "driver_calls": driver_calls, "retries": retries, "oom_event": oom_event})
}

fn fit(fit: &WhatIfFit) -> Value {
    let (settings, program) = (&fit.settings, program(&fit.program));
    json!({"settings": settings, "program": program, "capacity": fit.capacity, "capacity_bytes": fit.capacity})
}

/// Returns the changes of a program, or null if there are none.
fn program(program: &WhatIfProgram) -> Value {
    if !program.changes() {
        return Value::Null;
    }
    json!({
        "one_stream": program.one_stream,
        "no_record_stream": program.no_record_stream,
        "preallocate_bytes": program.preallocate,
        "empty_cache_at_step_ends": program.empty_cache_at_step_ends,
    })
}
