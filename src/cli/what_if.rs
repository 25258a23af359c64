//! `memscape whatif`: predicts reserved memory under other allocator settings, and reports how well the simulation
//! reproduces the recording.

use super::common_args::{SnapshotArgs, parse_bytes};
use super::open_snapshot::OpenSnapshot;
use super::output::to_pretty_json;
use super::output_file::OutputFile;
use super::plan;
use super::report_text::format_report;
use super::terminal::wrap_to_terminal;
use base::units::Bytes;
use clap::Args;
use protocol::{
    Backend, Factor, PlanGroup, PlanQuestion, Preset, Report, Sheet, SheetRow, Statement, Tone, Topic, WhatIf,
    WhatIfFit, WhatIfLimit, WhatIfLow, WhatIfOrigin, WhatIfProgram, WhatIfQuestion, WhatIfRun, column, parse_settings,
};
use serde_json::{Value, json};
use ui::features::what_if::view::sorted_runs;
use ui::features::what_if::words;

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
    /// Simulate these settings, written as for PYTORCH_CUDA_ALLOC_CONF; may be repeated. Without it, some ten settings
    /// are tried
    #[arg(long = "set", value_name = "LINE", value_parser = parse_line)]
    pub(crate) lines: Vec<String>,
    /// Simulate a changed program, such as one-stream or preallocate=2GiB,empty-cache; may be repeated
    #[arg(long = "program", value_name = "CHANGE[,CHANGE]", value_parser = parse_program, long_help = PROGRAM_HELP)]
    pub(crate) programs: Vec<WhatIfProgram>,
    /// Memory that the driver can provide, such as 80GiB; if omitted, the limit that the recording shows, or else the
    /// size that a recorder stored
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
    /// Write the run as a snapshot that every view opens, with the settings of --set or else the recorded ones;
    /// compressed if its name ends in .gz or .zst
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
        let devices: Vec<Value> =
            answers.iter().map(|(device, _, answer)| device_json(*device, answer, terms.total, terms.search)).collect();
        let plan = plan.map(|plan| plan_json(&plan, &caveats));
        return Ok(to_pretty_json(&json!({"schema": asking.summary.schema, "plan": plan, "devices": devices})));
    }
    if answers.is_empty() {
        return Err(format!("no device to simulate, only {}", Backend::default().name_of(-1)));
    }
    let form = |(_, title, answer): &(i64, String, WhatIf)| {
        format_report(&report(answer, plan.is_some()), title, terms.markdown)
    };
    let texts: Vec<String> = answers.iter().map(form).collect();
    let caveats: String = caveats.iter().map(|caveat| format!("\n{caveat}\n")).collect();
    Ok(texts.join("\n") + &if terms.markdown { caveats } else { wrap_to_terminal(&caveats) })
}

/// Converts the answer about a device to a report.
fn report(answer: &WhatIf, is_planned: bool) -> Report {
    let (mut sentences, mut sheets) = (words::reproduction(&answer.proof), Vec::new());
    if answer.proof.refused.is_none() {
        let runs = sorted_runs(answer);
        let planned = "Sizes are those of the plan, also with the recorded settings.".to_owned();
        let findings = is_planned.then_some(planned).into_iter().chain(words::findings(answer));
        sentences.extend(findings.map(|text| (Tone::Fact, text)));
        sentences.extend(words::warnings(&runs));
        sentences.extend(answer.fits.iter().map(|fit| (Tone::Fact, fit_text(fit, answer))));
        sheets.push(table(&runs));
    }
    let statement = |(tone, text)| Statement { tone, text, ..Statement::default() };
    Report { topic: Topic::WhatIf, statements: sentences.into_iter().map(statement).collect(), sheets, headline: None }
}

fn fit_text(fit: &WhatIfFit, answer: &WhatIf) -> String {
    let name = words::with_program(&fit.settings, &fit.program);
    let Some(capacity) = fit.capacity else { return format!("No memory is enough with {name}.") };
    let more = answer.capacity.filter(|had| *had < capacity).map(|had| capacity - had);
    let more = more.map_or_else(String::new, |more| format!(", {} more than there is", Bytes(more)));
    let program = if fit.program.changes() { "changed" } else { "recorded" };
    format!("The {program} program fits in {} with {name}{more}.", Bytes(capacity))
}

fn table(runs: &[&WhatIfRun]) -> Sheet {
    let recorded = |run: &WhatIfRun| if run.origin == WhatIfOrigin::Recorded { " (recorded)" } else { "" };
    let in_no_block = |run: &WhatIfRun| run.peak_reserved.saturating_sub(run.allocated_at_peak);
    let columns = [
        column::bytes("peak_reserved", "Peak reserved", |run: &WhatIfRun| run.peak_reserved),
        column::text("spread", "Spread", words::spread),
        column::share("fragmentation", "Fragmentation", |run: &WhatIfRun| (in_no_block(run), run.peak_reserved)),
        column::count("driver_calls", "Driver calls", |run: &WhatIfRun| run.driver_calls),
        column::text("retries", "Retries", words::retries),
        column::text("oom", "OOM", words::oom),
        column::text("settings", "Settings", |run: &WhatIfRun| words::run_name(run) + recorded(run)),
        column::text("grade", "Confidence", |run: &WhatIfRun| run.grade.title().to_owned()),
    ];
    let sheet = column::sheet(["runs", "Runs", ""], &columns);
    column::add_rows(sheet, &columns, runs, usize::MAX, |_| SheetRow::default())
}

fn plan_json(plan: &PlanQuestion, caveats: &[&str]) -> Value {
    let groups = plan.groups.iter().map(|(group, factor)| json!({"group": group.name(), "factor": factor.quotient()}));
    json!({"groups": groups.collect::<Vec<Value>>(), "batch": plan.batch.quotient(), "caveats": caveats})
}

/// Returns the answer about a device.
fn device_json(device: i64, answer: &WhatIf, total: Option<u64>, has_search: bool) -> Value {
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
        "recorded_limit": answer.limit.map(limit_json),
        "has_contradictory_limits": answer.has_contradictory_limits,
        "runs": answer.runs.iter().map(run_json).collect::<Vec<Value>>(),
        "fits_in": has_search.then(|| answer.fits.iter().map(fit_json).collect::<Vec<Value>>()),
    })
}

fn limit_json(limit: WhatIfLimit) -> Value {
    let WhatIfLimit { low, high, is_fraction } = limit;
    json!({"low_bytes": low, "high_bytes": high, "is_memory_fraction": is_fraction})
}

fn run_json(run: &WhatIfRun) -> Value {
    json!({
        "settings": run.settings,
        "program": program_json(&run.program),
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
        "with_lowest_limit": run.low.map(low_json),
    })
}

fn low_json(WhatIfLow { peak_reserved, driver_calls, retries, oom_event, .. }: WhatIfLow) -> Value {
    json!({"peak_reserved_bytes": peak_reserved, "driver_calls": driver_calls, "retries": retries, "oom_event": oom_event})
}

fn fit_json(fit: &WhatIfFit) -> Value {
    let (settings, program) = (&fit.settings, program_json(&fit.program));
    json!({"settings": settings, "program": program, "capacity": fit.capacity, "capacity_bytes": fit.capacity})
}

/// Returns the changes of a program, or null if there are none.
fn program_json(program: &WhatIfProgram) -> Value {
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
