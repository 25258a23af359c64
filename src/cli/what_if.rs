//! `memscape whatif`: what a recorded program would have reserved under other allocator settings; first what the simulation reproduces.

use super::asking::Asking;
use super::output::{pretty, printable};
use super::terms::{SnapshotArgs, bytes};
use base::units::{Bytes, grouped, percent};
use clap::Args;
use engine::protocol::{
    WhatIf, WhatIfFit, WhatIfOrigin, WhatIfProof, WhatIfQuestion, WhatIfRun, WhatIfWarning, parse_settings,
};
use engine::{Answer, Question};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use ui::summary::device_name;

/// Arguments of `memscape whatif`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Simulate {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Simulate these settings, written as for PYTORCH_CUDA_ALLOC_CONF; may be repeated. Without it, some ten settings are tried
    #[arg(long = "set", value_name = "LINE", value_parser = line)]
    pub(crate) lines: Vec<String>,
    /// Memory of the device, such as 80GiB; if omitted, what a recorded OOM tells
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) capacity: Option<u64>,
    /// Also try some ten settings, and find the smallest memory that is enough
    #[arg(long)]
    pub(crate) search: bool,
    /// Leave out the recorded calls of empty_cache()
    #[arg(long)]
    pub(crate) no_empty_cache: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

fn line(text: &str) -> Result<String, String> {
    parse_settings(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// The text of `memscape whatif`.
///
/// # Errors
/// The file cannot be read, or has no such device: one sentence.
pub(crate) fn simulate(terms: &Simulate) -> Result<String, String> {
    let mut asking = Asking::open(&terms.source)?;
    let mut devices = vec![asking.device.clone()];
    if terms.source.device.is_none() {
        // All GPUs; host memory has another allocator.
        devices = asking.summary.devices.iter().filter(|device| device.device >= 0).cloned().collect();
    }
    let mut told = Vec::new();
    for device in devices {
        asking.device = device;
        let question = WhatIfQuestion {
            lines: terms.lines.clone(),
            capacity: terms.capacity,
            tries: terms.search || terms.lines.is_empty(),
            fits: terms.search,
            never_empties: terms.no_empty_cache,
            partial: false,
        };
        match asking.ask_about(Question::WhatIf(Box::new(question))) {
            Some(Answer::WhatIf(answer)) => told.push((asking.device.device, asking.title(), *answer)),
            _ => return Err("the allocator could not be simulated".to_owned()),
        }
    }
    if terms.json {
        let devices: Vec<Value> = told.iter().map(|(device, _, answer)| as_json(*device, answer, terms)).collect();
        return Ok(pretty(&json!({"schema": asking.summary.schema, "devices": devices})));
    }
    if told.is_empty() {
        return Err(format!("no device to simulate, only {}", device_name(-1)));
    }
    let texts: Vec<String> = told.iter().map(|(_, title, answer)| as_text(title, answer, terms)).collect();
    Ok(texts.join("\n"))
}

fn as_json(device: i64, answer: &WhatIf, terms: &Simulate) -> Value {
    let proof = &answer.proof;
    // Of a recording that is not reproduced, no number is a prediction.
    let number = |bytes: u64| if proof.refused.is_some() { Value::Null } else { json!(bytes) };
    let run = |run: &WhatIfRun| {
        json!({
            "settings": run.settings,
            "grade": run.grade.name(),
            "peak_reserved": run.peak_reserved,
            "band": run.band,
            "driver_calls": run.driver_calls,
            "retries": run.retries,
            "oom_event": run.oom_event,
        })
    };
    let fit = |fit: &WhatIfFit| json!({"settings": fit.settings, "capacity": fit.capacity});
    json!({
        "device": device,
        "reproduces": {
            "addresses": proof.addresses,
            "addresses_equal": proof.addresses_equal,
            "segment_events": proof.segment_events,
            "segment_events_equal": proof.segment_events_equal,
            "largest_reserved_error": number(proof.largest_reserved_error),
            "peak_reserved": number(proof.peak_reserved),
            "recorded_peak_reserved": number(proof.recorded_peak_reserved),
            "not_exercised": proof.not_exercised,
            "refused": proof.refused,
        },
        "runs": answer.runs.iter().map(run).collect::<Vec<Value>>(),
        "fits_in": terms.search.then(|| answer.fits.iter().map(fit).collect::<Vec<Value>>()),
    })
}

fn as_text(title: &str, answer: &WhatIf, terms: &Simulate) -> String {
    let heading = if terms.markdown { format!("## What if: {title}\n\n") } else { format!("What if: {title}\n") };
    let mark = if terms.markdown { "- " } else { "  " };
    let mut text = heading;
    let say = |text: &mut String, sentence: &str| text.push_str(&format!("{mark}{}\n", printable(sentence)));
    reproduced(&answer.proof).iter().for_each(|sentence| say(&mut text, sentence));
    if answer.proof.refused.is_some() {
        return text;
    }
    findings(answer).iter().for_each(|sentence| say(&mut text, sentence));
    text.push('\n');
    write_table(&mut text, answer, terms.markdown);
    let warnings: BTreeSet<&str> =
        answer.runs.iter().flat_map(|run| &run.warnings).map(|warning: &WhatIfWarning| warning.words()).collect();
    let ignored: BTreeSet<&str> = answer.runs.iter().flat_map(|run| &run.ignored).map(String::as_str).collect();
    if !(warnings.is_empty() && ignored.is_empty() && answer.fits.is_empty()) {
        text.push('\n');
    }
    warnings.iter().for_each(|warning| say(&mut text, &format!("Warning: {warning}")));
    if !ignored.is_empty() {
        let names: Vec<&str> = ignored.into_iter().collect();
        say(&mut text, &format!("Without effect on the simulation: {}.", names.join(", ")));
    }
    answer.fits.iter().for_each(|fit| say(&mut text, &fits(fit, answer)));
    text
}

/// What the simulation reproduces, before anything is predicted.
fn reproduced(proof: &WhatIfProof) -> Vec<String> {
    if let Some(refused) = &proof.refused {
        return vec![format!("No prediction: {refused}.")];
    }
    let of = |equal: u64, all: u64, what: &str| format!("{} of {} {what}", grouped(equal), grouped(all));
    let addresses = of(proof.addresses_equal, proof.addresses, "addresses");
    let segments = of(proof.segment_events_equal, proof.segment_events, "segment events");
    let off = Bytes(proof.largest_reserved_error);
    let mut told = vec![match proof.departs_at {
        None if proof.is_exact => format!(
            "The simulation reproduces this recording exactly: {addresses}, {segments}, reserved bytes off by {off}."
        ),
        departs => {
            let at = departs.map_or_else(String::new, |event| format!(" at event {}", grouped(event.into())));
            let share =
                percent(proof.peak_reserved.abs_diff(proof.recorded_peak_reserved), proof.recorded_peak_reserved);
            format!(
                "The simulation departs from this recording{at}: {addresses}, {segments}; peak off by {share}, at most {off} off."
            )
        }
    }];
    let assumed = if proof.assumed.is_empty() { "recorded".to_owned() } else { proof.assumed.join("; ") };
    told.push(format!("Settings: {} ({assumed}).", proof.settings));
    if !proof.not_exercised.is_empty() {
        told.push(format!("Not exercised here: {}.", proof.not_exercised.join(", ")));
    }
    told
}

/// What the rows come to.
fn findings(answer: &WhatIf) -> Vec<String> {
    let mut told = Vec::new();
    let Some((recorded, others)) = answer.runs.split_first() else { return told };
    let survives = |run: &&WhatIfRun| run.oom_event.is_none();
    let best = others.iter().filter(survives).min_by_key(|run| run.peak_reserved);
    match best {
        Some(best) if recorded.oom_event.is_some() => {
            let names = others.iter().filter(survives).map(|run| run.settings.as_str()).collect::<Vec<_>>();
            told.push(format!(
                "The out-of-memory error would not have happened with {}; least memory with {}. What the program would have done \
                 next is not recorded: these runs end there.",
                names.join(" or "),
                best.settings
            ));
        }
        Some(best) if best.peak_reserved < recorded.peak_reserved => {
            let saved = recorded.peak_reserved - best.peak_reserved;
            told.push(format!(
                "{} lowers the peak of reserved memory by {} ({}) to {}.",
                best.settings,
                Bytes(saved),
                percent(saved, recorded.peak_reserved),
                Bytes(best.peak_reserved)
            ));
        }
        Some(_) => told.push("None of these settings lowers the peak of reserved memory.".to_owned()),
        None if recorded.oom_event.is_some() && !others.is_empty() => {
            told.push("None of these settings avoids the out-of-memory error.".to_owned());
        }
        None => {}
    }
    if let Some(capacity) = answer.capacity {
        let source = if answer.is_capacity_recorded { ", as the recorded OOM tells" } else { "" };
        told.push(format!("Memory of the device: {}{source}.", Bytes(capacity)));
    }
    if answer.start_changes_peak != 0 {
        told.push(format!(
            "What was allocated before the trace matters: placed afresh under the recorded settings, the peak is {} {}.",
            Bytes(answer.start_changes_peak.unsigned_abs()),
            if answer.start_changes_peak < 0 { "lower" } else { "higher" }
        ));
    }
    told
}

fn fits(fit: &WhatIfFit, answer: &WhatIf) -> String {
    let Some(capacity) = fit.capacity else { return format!("No memory is enough with {}.", fit.settings) };
    let more = answer.capacity.filter(|had| *had < capacity).map(|had| capacity - had);
    let more = more.map_or_else(String::new, |more| format!(", {} more than there is", Bytes(more)));
    format!("The recorded program fits in {} with {}{more}.", Bytes(capacity), fit.settings)
}

const HEADINGS: [&str; 8] =
    ["Peak reserved", "Spread", "Fragmentation", "Driver calls", "Retries", "OOM", "Settings", "How sure"];
/// Columns of numbers stand to the right.
const NUMBERS: usize = 5;

fn write_table(text: &mut String, answer: &WhatIf, markdown: bool) {
    let mut runs: Vec<&WhatIfRun> = answer.runs.iter().collect();
    runs.sort_by_key(|run| (run.oom_event.is_some(), run.peak_reserved));
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    rows.extend(runs.into_iter().map(cells));
    if markdown {
        for (at, row) in rows.iter().enumerate() {
            text.push_str(&format!("| {} |\n", row.join(" | ")));
            if at == 0 {
                text.push_str(&format!(
                    "|{}|\n",
                    ["--:"; NUMBERS].into_iter().chain([" - "; 3]).collect::<Vec<_>>().join("|")
                ));
            }
        }
        return;
    }
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADINGS.len()).map(width).collect();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let cell = if at < NUMBERS { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
            line.push_str("  ");
            line.push_str(&cell);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

fn cells(run: &WhatIfRun) -> [String; 8] {
    let [low, high] = run.band;
    let oom = match (run.oom_event, run.avoided_oom) {
        (Some(-1), _) => "before event 0".to_owned(),
        (Some(event), _) => format!("event {}", grouped(event.unsigned_abs())),
        (None, Some(event)) => format!("avoided at event {}", grouped(event.into())),
        (None, None) => "no".to_owned(),
    };
    let recorded = if run.origin == WhatIfOrigin::Recorded { " (recorded)" } else { "" };
    [
        Bytes(run.peak_reserved).to_string(),
        if low == high { "none".to_owned() } else { base::units::bytes_between(low, high) },
        percent(run.peak_reserved.saturating_sub(run.allocated_at_peak), run.peak_reserved),
        grouped(run.driver_calls),
        grouped(run.retries),
        oom,
        format!("{}{recorded}", printable(&run.settings)),
        run.grade.words().to_owned(),
    ]
}
