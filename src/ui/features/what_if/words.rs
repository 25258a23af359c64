//! Texts about simulations, for the page and the command line.

use base::units::{Bytes, byte_range, group_digits, percent};
use engine::protocol::{WhatIf, WhatIfGrade, WhatIfProof, WhatIfRun};

/// Describes how well the simulation reproduces the recording.
pub fn reproduction(proof: &WhatIfProof) -> Vec<String> {
    if let Some(refused) = &proof.refused {
        return vec![format!("No prediction: {refused}.")];
    }
    let of = |equal: u64, all: u64, what: &str| format!("{} of {} {what}", group_digits(equal), group_digits(all));
    let addresses = of(proof.addresses_equal, proof.addresses, "addresses");
    let segments = of(proof.segment_events_equal, proof.segment_events, "segment events");
    let off = Bytes(proof.largest_reserved_error);
    let mut lines = vec![match proof.departs_at {
        None if proof.is_exact => format!(
            "The simulation reproduces this recording exactly: {addresses}, {segments}, reserved bytes off by {off}."
        ),
        departs => {
            let at = departs.map_or_else(String::new, |event| format!(" at event {}", group_digits(event.into())));
            let share =
                percent(proof.peak_reserved.abs_diff(proof.recorded_peak_reserved), proof.recorded_peak_reserved);
            format!(
                "The simulation departs from this recording{at}: {addresses}, {segments}; peak off by {share}, at most {off} off."
            )
        }
    }];
    let assumed = if proof.assumed.is_empty() { "recorded".to_owned() } else { proof.assumed.join("; ") };
    lines.push(format!("Settings: {} ({assumed}).", proof.settings));
    if !proof.not_exercised.is_empty() {
        lines.push(format!("Not exercised here: {}.", proof.not_exercised.join(", ")));
    }
    lines
}

/// Returns the conclusions from the runs as sentences: the best settings, the memory of the device, and the effect of
/// earlier allocations.
pub fn findings(answer: &WhatIf) -> Vec<String> {
    let mut lines = Vec::new();
    let Some((recorded, others)) = answer.runs.split_first() else { return lines };
    let survives = |run: &&WhatIfRun| run.oom_event.is_none();
    let best = others.iter().filter(survives).min_by_key(|run| run.peak_reserved);
    match best {
        Some(best) if recorded.oom_event.is_some() => {
            let names = others.iter().filter(survives).map(|run| run.settings.as_str()).collect::<Vec<_>>();
            lines.push(format!(
                "The out-of-memory error would not have happened with {}; least memory with {}. What the program would have done \
                 next is not recorded: these runs end there.",
                names.join(" or "),
                best.settings
            ));
        }
        Some(best) if best.peak_reserved < recorded.peak_reserved => {
            let saved = recorded.peak_reserved - best.peak_reserved;
            lines.push(format!(
                "{} lowers the peak of reserved memory by {} ({}) to {}.",
                best.settings,
                Bytes(saved),
                percent(saved, recorded.peak_reserved),
                Bytes(best.peak_reserved)
            ));
        }
        Some(_) => lines.push("None of these settings lowers the peak of reserved memory.".to_owned()),
        None if recorded.oom_event.is_some() && !others.is_empty() => {
            lines.push("None of these settings avoids the out-of-memory error.".to_owned());
        }
        None => {}
    }
    if let Some(capacity) = answer.capacity {
        let source = if answer.is_capacity_recorded { ", as the recorded OOM tells" } else { "" };
        lines.push(format!("Memory of the device: {}{source}.", Bytes(capacity)));
    }
    if answer.start_changes_peak != 0 {
        lines.push(format!(
            "What was allocated before the trace matters: placed afresh under the recorded settings, the peak is {} {}.",
            Bytes(answer.start_changes_peak.unsigned_abs()),
            if answer.start_changes_peak < 0 { "lower" } else { "higher" }
        ));
    }
    lines
}

/// Returns the range of peaks over the simulated address orders, or `none` if they are equal.
pub fn spread(run: &WhatIfRun) -> String {
    let [low, high] = run.band;
    if low == high { "none".to_owned() } else { byte_range(low, high) }
}

/// Returns the share of the reserved bytes at the peak that is not in live blocks.
pub fn fragmentation(run: &WhatIfRun) -> String {
    percent(run.peak_reserved.saturating_sub(run.allocated_at_peak), run.peak_reserved)
}

/// Describes the event at which the run runs out of memory, or the recorded OOM that it avoids.
pub fn oom(run: &WhatIfRun) -> String {
    match (run.oom_event, run.avoided_oom) {
        (Some(-1), _) => "before event 0".to_owned(),
        (Some(event), _) => format!("event {}", group_digits(event.unsigned_abs())),
        (None, Some(event)) => format!("avoided at event {}", group_digits(event.into())),
        (None, None) => "no".to_owned(),
    }
}

/// Returns the confidence in a run's prediction, in one or two words.
pub fn grade(run: &WhatIfRun) -> &'static str {
    match run.grade {
        WhatIfGrade::Proved => "proved",
        WhatIfGrade::FromSource => "from source",
        WhatIfGrade::DependsOnStart => "start matters",
        WhatIfGrade::DependsOnWaits => "waits matter",
        WhatIfGrade::PoolsGuessed => "pools guessed",
        WhatIfGrade::Departs => "departs",
    }
}

/// Returns the message about a simulator that could not be started.
pub(super) fn failure_message(cause: &str) -> String {
    ["The simulator could not be started: ", cause, ". Press Simulate to try again."].concat()
}
