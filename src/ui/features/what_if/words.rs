//! Texts about simulations, for the page and the command line.

use base::units::{Bytes, byte_range, group_digits, percent};
use protocol::{Tone, WhatIf, WhatIfGrade, WhatIfLimit, WhatIfProgram, WhatIfProof, WhatIfRun};

/// Describes how well the simulation reproduces the recording.
pub fn reproduction(proof: &WhatIfProof) -> Vec<(Tone, String)> {
    if let Some(refused) = &proof.refused {
        return vec![(Tone::Alarm, format!("No prediction: {refused}."))];
    }
    let of = |equal: u64, all: u64, nouns: [&str; 2]| {
        format!("{} of {} {}", group_digits(equal), group_digits(all), nouns[usize::from(all != 1)])
    };
    let addresses = of(proof.addresses_equal, proof.addresses, ["address", "addresses"]);
    let segments = of(proof.segment_events_equal, proof.segment_events, ["segment event", "segment events"]);
    let off = Bytes(proof.largest_reserved_error);
    let tone = if proof.is_exact { Tone::Good } else { Tone::Alarm };
    let first = match proof.departs_at {
        None if proof.is_exact => format!(
            "Simulator check: matches this recording exactly ({addresses}, {segments}, reserved bytes off by {off})."
        ),
        departs => {
            let at = departs.map_or_else(String::new, |event| format!(" at event {}", group_digits(event.into())));
            let share =
                percent(proof.peak_reserved.abs_diff(proof.recorded_peak_reserved), proof.recorded_peak_reserved);
            format!(
                "Simulator check: departs from this recording{at} ({addresses}, {segments}; peak off by {share}, at most {off} off)."
            )
        }
    };
    let mut lines = vec![(tone, first)];
    let assumed = if proof.assumed.is_empty() { "recorded".to_owned() } else { proof.assumed.join("; ") };
    lines.push((Tone::Fact, format!("Settings: {} ({assumed}).", proof.settings)));
    if !proof.not_exercised.is_empty() {
        lines.push((Tone::Fact, format!("Not tested by this recording: {}.", proof.not_exercised.join(", "))));
    }
    lines
}

/// Start of a sentence on a run whose outcome depends on the limit.
const UNDECIDED: &str = "The exact limit decides whether ";

/// Returns the conclusions from the runs. There is no verdict where the lowest and the highest limit that explain the
/// recording disagree.
pub fn findings(answer: &WhatIf) -> Vec<String> {
    let mut lines = Vec::new();
    let Some((recording, others)) = answer.recorded().and_then(|_| answer.runs.split_first()) else {
        if !answer.runs.is_empty() {
            lines.push("Not compared with the recording, which the simulation does not reproduce.".to_owned());
        }
        lines.extend(limit(answer));
        return lines;
    };
    // With other memory than that of the recording, a run of the recorded program is what others are compared with.
    let is_base = |run: &&WhatIfRun| run.settings == recording.settings && run.program == recording.program;
    let base = others.iter().find(is_base).unwrap_or(recording);
    let is_recorded = recording.fails() == Some(true);
    let has_oom = (is_recorded || base.fails() == Some(true)) && !has_unknown_limit(answer);
    // Names of the runs without an OOM, and of those that may have one.
    let (mut names, mut best) = ([String::new(), String::new()], None::<&WhatIfRun>);
    for run in others.iter().filter(|run| has_oom || !is_base(run)) {
        let is_unknown = run.fails().is_none();
        if run.fails() == Some(true) {
            continue;
        }
        let list = &mut names[usize::from(is_unknown)];
        *list = [&**list, if list.is_empty() { "" } else { " or " }, &run_name(run)].concat();
        if !is_unknown && best.is_none_or(|best| run.peak_reserved < best.peak_reserved) {
            best = Some(run);
        }
    }
    lines.extend(match best {
        Some(best) if has_oom => {
            let start = if is_recorded { "would not have happened with " } else { "does not happen with " };
            let end = if is_recorded {
                ". What the program would have done next is not recorded: these runs end there."
            } else {
                "."
            };
            let best = run_name(best);
            Some(["The out-of-memory error ", start, &names[0], "; least memory with ", &best, end].concat())
        }
        Some(best) if base.fails() == Some(false) => Some(saving(best, base)),
        None if has_oom && !names[1].is_empty() => {
            Some([UNDECIDED, &names[1], " avoids the out-of-memory error."].concat())
        }
        None if has_oom && !others.is_empty() => {
            Some("None of these settings avoids the out-of-memory error.".to_owned())
        }
        _ => None,
    });
    lines.extend(limit(answer));
    if answer.start_changes_peak != 0 {
        let change = Bytes(answer.start_changes_peak.unsigned_abs()).to_string();
        let end = if answer.start_changes_peak < 0 { " lower." } else { " higher." };
        let start =
            "What was allocated before the trace matters: placed afresh under the recorded settings, the peak is ";
        lines.push([start, &change, end].concat());
    }
    lines
}

/// Returns the warnings of the runs, and a sentence on the settings that the simulation ignores, each once.
pub fn warnings(runs: &[&WhatIfRun]) -> Vec<(Tone, String)> {
    let (mut lines, mut ignored): (Vec<(Tone, String)>, Vec<&str>) = (Vec::new(), Vec::new());
    for text in runs.iter().flat_map(|run| &run.warnings).map(|warning| warning.words()) {
        if lines.iter().all(|(_, known)| known != text) {
            lines.push((Tone::Alarm, text.to_owned()));
        }
    }
    for name in runs.iter().flat_map(|run| &run.ignored) {
        if !ignored.contains(&&**name) {
            ignored.push(name);
        }
    }
    if !ignored.is_empty() {
        lines.push((Tone::Fact, ["Without effect on the simulation: ", &ignored.join(", "), "."].concat()));
    }
    lines
}

/// Describes how much less memory a run reserves than another.
fn saving(best: &WhatIfRun, base: &WhatIfRun) -> String {
    let [peaks, before] = [best.peaks(), base.peaks()];
    let saved = [0, 1].map(|end| before[end].saturating_sub(peaks[end]));
    if saved == [0; 2] {
        return "None of these settings lowers the peak of reserved memory.".to_owned();
    }
    let name = run_name(best);
    if saved.contains(&0) {
        return [UNDECIDED, &name, " lowers the peak of reserved memory."].concat();
    }
    let [low, high] = [saved[0].min(saved[1]), saved[0].max(saved[1])];
    let share = percent(high, before[usize::from(saved[1] == high)]);
    let peak = byte_range(peaks[0].min(peaks[1]), peaks[0].max(peaks[1]));
    let saved = byte_range(low, high);
    let doubt = best.possible_excess(before[0].max(before[1])).map_or_else(String::new, |most| {
        ["; depending on what was allocated before recording, up to ", &Bytes(most).to_string(), " is possible"]
            .concat()
    });
    [&*name, " lowers the peak of reserved memory by ", &saved, " (", &share, ") to ", &peak, &doubt, "."].concat()
}

/// Returns true if requests failed that no one limit explains, and the user named none.
fn has_unknown_limit(answer: &WhatIf) -> bool {
    answer.has_contradictory_limits && answer.capacity.is_none()
}

/// Describes the memory limit of the runs.
fn limit(answer: &WhatIf) -> Option<String> {
    if has_unknown_limit(answer) {
        return Some(
            "No single limit explains the requests that failed: something else used the device as well. The runs have no \
             limit, so it is not predicted whether they run out of memory."
                .to_owned(),
        );
    }
    let capacity = Bytes(answer.capacity?).to_string();
    let Some(WhatIfLimit { low, is_fraction, .. }) = answer.limit.filter(|_| answer.is_capacity_recorded) else {
        return Some(["Device memory: ", &capacity, "."].concat());
    };
    let of = if is_fraction { "limit of a memory fraction" } else { "limit of the device's memory" };
    let low = Bytes(low).to_string();
    Some(match low == capacity {
        true => ["The recording shows the ", of, ": ", &capacity, "."].concat(),
        false => {
            let end = ": the other rows are simulated with both.";
            ["The recording shows a ", of, " between ", &low, " and ", &capacity, end].concat()
        }
    })
}

/// Names a run by its settings and the changes of its program.
pub fn run_name(run: &WhatIfRun) -> String {
    with_program(&run.settings, &run.program)
}

/// Returns the settings, followed by the changes to the program if there are any.
pub fn with_program(settings: &str, program: &WhatIfProgram) -> String {
    let changes = program.to_string();
    if changes.is_empty() { settings.to_owned() } else { [settings, " with ", &changes].concat() }
}

/// Returns the number of retries, or its range over the limits that explain the recording.
pub fn retries(run: &WhatIfRun) -> String {
    let [low, high] = run.retry_range().map(group_digits);
    if low == high { low } else { [&low, "–", &high].concat() }
}

/// Returns the lowest and the highest peak, or `none` if they are equal.
pub fn spread(run: &WhatIfRun) -> String {
    let [low, high] = run.band;
    if low == high { "none".to_owned() } else { byte_range(low, high) }
}

/// Returns the fragmentation at the peak as text: the percentage of reserved bytes outside live blocks.
pub fn fragmentation(run: &WhatIfRun) -> String {
    percent(run.peak_reserved.saturating_sub(run.allocated_at_peak), run.peak_reserved)
}

/// Describes the event at which the run runs out of memory, or the recorded OOM that it avoids.
pub fn oom(run: &WhatIfRun) -> String {
    let at = |event: i64| match u64::try_from(event) {
        Ok(event) => ["event ", &group_digits(event)].concat(),
        Err(_) => "before event 0".to_owned(),
    };
    let (event, low) = (run.oom_event, run.low.and_then(|low| low.oom_event));
    match (event.or(low).map(at), run.avoided_oom) {
        (Some(place), _) if run.fails().is_none() => ["may fail: ", &place].concat(),
        (Some(place), _) => match low.filter(|low| Some(*low) != event) {
            Some(low) => [&at(low), " or ", &place].concat(),
            None => place,
        },
        (None, Some(event)) => ["avoided at event ", &group_digits(event.into())].concat(),
        (None, None) => "no".to_owned(),
    }
}

/// Returns 0 if a run does not run out of memory, 1 if that depends on the limit, and 2 if it does.
pub fn oom_rank(run: &WhatIfRun) -> u64 {
    run.fails().map_or(1, |fails| 2 * u64::from(fails))
}

/// Returns the confidence in a run's prediction, in one or two words.
pub fn grade(run: &WhatIfRun) -> &'static str {
    match run.grade {
        WhatIfGrade::Proved => "exact here",
        WhatIfGrade::FromSource => "untested here",
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
