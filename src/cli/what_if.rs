//! `memscape whatif`: predicts reserved memory under other allocator settings, and reports how well the simulation
//! reproduces the recording.

use super::common_args::{SnapshotArgs, parse_bytes};
use super::open_snapshot::OpenSnapshot;
use super::output::{printable, to_pretty_json};
use super::output_file::OutputFile;
use super::table::{Table, columns};
use super::terminal::wrap_to_terminal;
use super::{plan, what_if_json};
use base::units::{Bytes, group_digits};
use clap::Args;
use protocol::{
    Factor, PlanGroup, Preset, WhatIf, WhatIfFit, WhatIfOrigin, WhatIfProgram, WhatIfQuestion, WhatIfRun,
    WhatIfWarning, parse_settings,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use ui::features::what_if::words;
use ui::text::summary::device_name;

const PROGRAM_HELP: &str = "Simulate a changed program; may be repeated. A comma joins changes of one program:

one-stream             all work on one stream
no-record-stream       without record_stream(): frees do not wait for other streams
preallocate=SIZE       allocate and free SIZE first, such as preallocate=2GiB
empty-cache            call empty_cache() at the end of each step

For a memory fraction use --set per_process_memory_fraction:0.8 with --total";

/// Arguments of `memscape whatif`.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhatIfArgs {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Simulate these settings, written as for PYTORCH_CUDA_ALLOC_CONF; may be repeated. Without it, some ten settings are tried
    #[arg(long = "set", value_name = "LINE", value_parser = parse_line)]
    pub(crate) lines: Vec<String>,
    /// Simulate a changed program, such as one-stream or preallocate=2GiB,empty-cache; may be repeated
    #[arg(long = "program", value_name = "CHANGE[,CHANGE]", value_parser = parse_program, long_help = PROGRAM_HELP)]
    pub(crate) programs: Vec<WhatIfProgram>,
    /// Memory that the driver can provide, such as 80GiB; if omitted, the limit that the recording shows, or else the size that a recorder stored
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) capacity: Option<u64>,
    /// Total memory of the device, which per_process_memory_fraction is a fraction of; if omitted, the capacity
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) total: Option<u64>,
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

/// Parses the changes of a program, such as `one-stream,preallocate=2GiB`.
fn parse_program(text: &str) -> Result<WhatIfProgram, String> {
    let mut program = WhatIfProgram::default();
    for change in text.split(',').map(str::trim) {
        match change.split_once('=') {
            None if change == "one-stream" => program.one_stream = true,
            None if change == "no-record-stream" => program.no_record_stream = true,
            None if change == "empty-cache" => program.empty_cache_at_step_ends = true,
            Some(("preallocate", size)) => {
                program.preallocate = parse_bytes(size).map_err(|error| format!("preallocate: {error}"))?;
            }
            _ => {
                let expected = "expected one-stream, no-record-stream, preallocate=SIZE or empty-cache";
                return Err(format!("{expected}, not “{change}”"));
            }
        }
    }
    Ok(program)
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
            total: terms.total,
            programs: terms.programs.clone(),
            tries: terms.search || terms.lines.is_empty() && terms.programs.is_empty(),
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
        // Lines were parsed before, so a program cannot be simulated.
        if !answer.line_error.is_empty() {
            return Err(format!("device {}: {}", asking.device.device, answer.line_error));
        }
        answers.push((asking.device.device, asking.heading(), answer));
    }
    if terms.json {
        let devices: Vec<Value> = answers
            .iter()
            .map(|(device, _, answer)| what_if_json::device(*device, answer, terms.total, terms.search))
            .collect();
        let plan = plan.map(|plan| what_if_json::plan(&plan, &caveats));
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
    text += &if terms.markdown { table(answer).markdown() } else { table(answer).text() };
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
    let name = words::with_program(&fit.settings, &fit.program);
    let Some(capacity) = fit.capacity else { return format!("No memory is enough with {name}.") };
    let more = answer.capacity.filter(|had| *had < capacity).map(|had| capacity - had);
    let more = more.map_or_else(String::new, |more| format!(", {} more than there is", Bytes(more)));
    let program = if fit.program.changes() { "changed" } else { "recorded" };
    format!("The {program} program fits in {} with {name}{more}.", Bytes(capacity))
}

/// Builds the table of runs, sorted by peak. Runs that run out of memory come last.
fn table(answer: &WhatIf) -> Table {
    let numbers = ["Peak reserved", "Spread", "Fragmentation", "Driver calls", "Retries"].map(|heading| (heading, 0));
    let mut table = Table::new(2, columns(numbers, ["OOM", "Settings", "How sure"]));
    let mut runs: Vec<&WhatIfRun> = answer.runs.iter().collect();
    runs.sort_by_key(|run| (words::oom_rank(run), run.peak_reserved));
    for run in runs {
        let recorded = if run.origin == WhatIfOrigin::Recorded { " (recorded)" } else { "" };
        table.push([
            Bytes(run.peak_reserved).to_string(),
            words::spread(run),
            words::fragmentation(run),
            group_digits(run.driver_calls),
            words::retries(run),
            words::oom(run),
            words::run_name(run) + recorded,
            run.grade.words().to_owned(),
        ]);
    }
    table
}
