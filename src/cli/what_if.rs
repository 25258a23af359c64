//! `memscape whatif`: predicts reserved memory under other allocator settings, and reports how well the simulation
//! reproduces the recording.

use super::common_args::{SnapshotArgs, parse_bytes};
use super::open_snapshot::OpenSnapshot;
use super::output::{printable, to_pretty_json};
use super::output_file::OutputFile;
use super::plan;
use super::table::{self, Table};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, group_digits};
use clap::Args;
use engine::protocol::{Factor, PlanGroup, PlanQuestion, Preset};
use engine::protocol::{WhatIf, WhatIfFit, WhatIfOrigin, WhatIfQuestion, WhatIfRun, WhatIfWarning, parse_settings};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use ui::summary::device_name;
use ui::what_if::words;

/// Arguments of `memscape whatif`.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Simulate these settings, written as for PYTORCH_CUDA_ALLOC_CONF; may be repeated. Without it, some ten settings are tried
    #[arg(long = "set", value_name = "LINE", value_parser = parse_line)]
    pub(crate) lines: Vec<String>,
    /// Memory of the device, such as 80GiB; if omitted, what a recorded OOM or else a recorder tells
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) capacity: Option<u64>,
    /// Also try some ten settings, and find the smallest memory that is enough
    #[arg(long)]
    pub(crate) search: bool,
    /// Leave out the recorded calls of empty_cache()
    #[arg(long)]
    pub(crate) no_empty_cache: bool,
    /// Multiply the size of a group first, such as activations=2x or "optimizer state"=/8
    #[arg(long = "plan", value_name = "GROUP=FACTOR", value_parser = PlanGroup::parse, long_help = plan::SET_HELP)]
    pub(crate) plans: Vec<(PlanGroup, Factor)>,
    /// Apply a common change to sizes first, such as batch=2, fsdp=8 or checkpoint
    #[arg(long = "preset", value_name = "NAME[=N]", value_parser = Preset::parse, long_help = plan::PRESET_HELP)]
    pub(crate) presets: Vec<(Preset, Factor)>,
    /// Write the run as a snapshot that every view opens, with the settings of --set or else the recorded ones; compressed if its name ends in .gz
    /// or .zst
    #[arg(short, long = "output", value_name = "OUT.pickle")]
    pub(crate) out: Option<OutputFile>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub(crate) markdown: bool,
}

fn parse_line(text: &str) -> Result<String, String> {
    parse_settings(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Runs `memscape whatif` and returns its output.
///
/// # Errors
/// Returns one sentence if the file cannot be read or has no such device.
pub(crate) fn simulate(terms: &WhatIfArgs) -> Result<String, String> {
    let mut asking = OpenSnapshot::open(&terms.source)?;
    let mut devices = vec![asking.device.clone()];
    if terms.source.device.is_none() {
        // All GPUs. Host memory has a different allocator.
        devices = asking.summary.devices.iter().filter(|device| device.device >= 0).cloned().collect();
    }
    let (plan, caveats) = plan::build_question(&terms.plans, &terms.presets, None)?;
    let is_planned = !(terms.plans.is_empty() && terms.presets.is_empty());
    let plan = is_planned.then_some(plan);
    let mut answers = Vec::new();
    for device in devices {
        asking.device = device;
        let recorded = asking.device.available_bytes();
        // If there was an OOM, the simulation infers a more exact capacity from it.
        let recorded = recorded.filter(|_| asking.device.oom_count() == 0);
        let question = WhatIfQuestion {
            lines: terms.lines.clone(),
            capacity: terms.capacity.or(recorded),
            tries: terms.search || terms.lines.is_empty(),
            fits: terms.search,
            never_empties: terms.no_empty_cache,
            partial: false,
            ..WhatIfQuestion::default()
        };
        if let Some(plan) = &plan {
            // Returns the error of an invalid plan.
            plan::run_plan(&mut asking, plan)?;
        }
        let answer = plan::simulate_plan(&mut asking, plan.as_ref(), question)?;
        answers.push((asking.device.device, asking.heading(), answer));
    }
    if terms.json {
        let devices: Vec<Value> = answers.iter().map(|(device, _, answer)| as_json(*device, answer, terms)).collect();
        let plan = plan.map(|plan| plan_as_json(&plan, &caveats));
        return Ok(to_pretty_json(&json!({"schema": asking.summary.schema, "plan": plan, "devices": devices})));
    }
    if answers.is_empty() {
        return Err(format!("no device to simulate, only {}", device_name(-1)));
    }
    let texts: Vec<String> = answers.iter().map(|(_, title, answer)| as_text(title, answer, terms)).collect();
    let caveats: Vec<String> = caveats.iter().map(|caveat| format!("\n{caveat}\n")).collect();
    let text = texts.join("\n") + &caveats.concat();
    Ok(if terms.markdown { text } else { wrap_to_terminal(&text) })
}

fn plan_as_json(plan: &PlanQuestion, caveats: &[&str]) -> Value {
    let groups = plan.groups.iter().map(|(group, factor)| json!({"group": group.name(), "factor": factor.quotient()}));
    json!({"groups": groups.collect::<Vec<Value>>(), "batch": plan.batch.quotient(), "caveats": caveats})
}

fn as_json(device: i64, answer: &WhatIf, terms: &WhatIfArgs) -> Value {
    let proof = &answer.proof;
    // If the recording is not reproduced, these numbers are not predictions.
    let number = |bytes: u64| if proof.refused.is_some() { Value::Null } else { json!(bytes) };
    let run = |run: &WhatIfRun| {
        json!({
            "settings": run.settings,
            "grade": run.grade.name(),
            "peak_reserved": run.peak_reserved,
            "peak_reserved_bytes": run.peak_reserved,
            "band": run.band,
            "band_bytes": run.band,
            "driver_calls": run.driver_calls,
            "retries": run.retries,
            "oom_event": run.oom_event,
        })
    };
    let fit =
        |fit: &WhatIfFit| json!({"settings": fit.settings, "capacity": fit.capacity, "capacity_bytes": fit.capacity});
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
        "runs": answer.runs.iter().map(run).collect::<Vec<Value>>(),
        "fits_in": terms.search.then(|| answer.fits.iter().map(fit).collect::<Vec<Value>>()),
    })
}

fn as_text(title: &str, answer: &WhatIf, terms: &WhatIfArgs) -> String {
    let heading = if terms.markdown { format!("## What if: {title}\n\n") } else { format!("What if: {title}\n") };
    let mark = if terms.markdown { "- " } else { "  " };
    let mut text = heading;
    let say = |text: &mut String, sentence: &str| text.push_str(&format!("{mark}{}\n", printable(sentence)));
    words::reproduction(&answer.proof).iter().for_each(|sentence| say(&mut text, sentence));
    if !(terms.plans.is_empty() && terms.presets.is_empty()) && answer.proof.refused.is_none() {
        say(&mut text, "Sizes are those of the plan, also with the recorded settings.");
    }
    if answer.proof.refused.is_some() {
        return text;
    }
    words::findings(answer).iter().for_each(|sentence| say(&mut text, sentence));
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
    answer.fits.iter().for_each(|fit| say(&mut text, &fit_text(fit, answer)));
    text
}

fn fit_text(fit: &WhatIfFit, answer: &WhatIf) -> String {
    let Some(capacity) = fit.capacity else { return format!("No memory is enough with {}.", fit.settings) };
    let more = answer.capacity.filter(|had| *had < capacity).map(|had| capacity - had);
    let more = more.map_or_else(String::new, |more| format!(", {} more than there is", Bytes(more)));
    format!("The recorded program fits in {} with {}{more}.", Bytes(capacity), fit.settings)
}

const HEADINGS: [&str; 8] =
    ["Peak reserved", "Spread", "Fragmentation", "Driver calls", "Retries", "OOM", "Settings", "How sure"];
/// Number of columns with numbers, which are right-aligned.
const NUMBER_COLUMNS: usize = 5;

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
                    ["--:"; NUMBER_COLUMNS].into_iter().chain([" - "; 3]).collect::<Vec<_>>().join("|")
                ));
            }
        }
        return;
    }
    let column = |(at, heading): (usize, &str)| match at < NUMBER_COLUMNS {
        true => table::number_column(heading, 0),
        false => table::name_column(heading, 0),
    };
    let mut table = Table::new(2, 2, HEADINGS.into_iter().enumerate().map(column).collect::<Vec<_>>());
    rows.iter().skip(1).for_each(|row| table.push(row));
    text.push_str(&table.text());
}

fn cells(run: &WhatIfRun) -> [String; 8] {
    let recorded = if run.origin == WhatIfOrigin::Recorded { " (recorded)" } else { "" };
    [
        Bytes(run.peak_reserved).to_string(),
        words::spread(run),
        words::fragmentation(run),
        group_digits(run.driver_calls),
        group_digits(run.retries),
        words::oom(run),
        format!("{}{recorded}", printable(&run.settings)),
        run.grade.words().to_owned(),
    ]
}
