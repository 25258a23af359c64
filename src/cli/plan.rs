//! `memscape plan`: predicts the peak if the sizes of groups of allocations change, and the largest batch that fits.

use super::common_args::{SnapshotArgs, parse_bytes};
use super::open_snapshot::{OpenSnapshot, ask_device};
use super::output::{printable, to_pretty_json, with_fields};
use super::rules::CategoryRules;
use super::scaling;
use super::table::{Table, columns};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, Moment, group_digits};
use clap::Args;
use engine::Question;
use protocol::{Factor, PlanGroup, PlanPage, PlanQuestion, Preset, WhatIf, WhatIfQuestion, read_factor};
use serde_json::{Value, json};
use std::path::PathBuf;
use ui::features::plan::words::{CAPACITY_CAVEAT, PlanBasis, facts, reserved_text};

pub(crate) const SET_HELP: &str = "Multiply the size of a group, such as activations=2x, \"optimizer state\"=/8, parameter=fp32->bf16 or train.py:31=0

GROUP is a category, or a search as in the page; where several groups hold an allocation, their factors multiply";

pub(crate) const PRESET_HELP: &str = "Apply a common change

batch=2, sequence=2    activations, inputs and other memory that grows with the batch, times 2
zero1=8, zero2=8, zero3=8, fsdp=8
                       sharded over 8 devices: optimizer state; gradients as well; parameters as well
bf16-weights           parameters and gradients with 16 bits instead of 32
8bit-optimizer         optimizer state with 8 bits instead of 32
offload-optimizer      optimizer state on the CPU
checkpoint             activation checkpointing by block (an estimate)";

/// Arguments of `memscape plan`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Plan {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// Multiply the size of a group, such as activations=2x or "optimizer state"=/8
    #[arg(long = "set", value_name = "GROUP=FACTOR", value_parser = PlanGroup::parse, long_help = SET_HELP)]
    pub(crate) sets: Vec<(PlanGroup, Factor)>,
    /// Apply a common change, such as batch=2, fsdp=8 or checkpoint
    #[arg(long = "preset", value_name = "NAME[=N]", value_parser = Preset::parse, long_help = PRESET_HELP)]
    pub(crate) presets: Vec<(Preset, Factor)>,
    /// Compare with this snapshot of another sequence length or batch size, and let each allocation grow as measured;
    /// without --preset sequence=N or batch=N, up to its size
    #[arg(long, value_name = "B")]
    pub(crate) scaling_from: Option<PathBuf>,
    /// Growth factor of the sequence length or batch size in that snapshot; if omitted, inferred from the growth of
    /// allocations
    #[arg(long, value_name = "N", value_parser = parse_growth, requires = "scaling_from")]
    pub(crate) scaling_growth: Option<f64>,
    /// Device memory, such as 80GiB: prints the largest batch that fits; if omitted, the memory that the recorder
    /// stored
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) capacity: Option<u64>,
    #[command(flatten)]
    pub(crate) rules: CategoryRules,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs `memscape plan` and returns its output.
///
/// # Errors
/// Returns an error message if the file or the rules cannot be read, or a group has no allocations.
pub(crate) fn plan(arguments: &Plan) -> Result<String, String> {
    let Plan { source, sets, presets, scaling_from, scaling_growth, capacity, rules, json } = arguments;
    let mut snapshot = OpenSnapshot::open(source)?;
    let capacity = &capacity.or(snapshot.device.available_bytes());
    rules.classify(&mut snapshot)?;
    let measured = scaling_from.as_deref().map(|other| scaling::measure(&mut snapshot, other, *scaling_growth));
    let measured = measured.transpose()?;
    // Measured scaling replaces the `sequence` preset, or else `batch`, which assume a scaling.
    let has_sequence = presets.iter().any(|(preset, _)| *preset == Preset::Sequence);
    let replaced = if has_sequence { Preset::Sequence } else { Preset::Batch };
    let is_measured = |(preset, _): &&(Preset, Factor)| measured.is_some() && *preset == replaced;
    let others: Vec<_> = presets.iter().filter(|preset| !is_measured(preset)).copied().collect();
    let (mut question, caveats) = build_question(sets, &others, *capacity)?;
    let mut caveats: Vec<String> = caveats.into_iter().map(str::to_owned).collect();
    if let Some(measured) = &measured {
        let lengths = presets.iter().filter(is_measured).map(|(_, by)| *by);
        let length = lengths.reduce(|first, other| first.product(other).unwrap_or(first));
        scaling::add_to_plan(measured, length, &mut question)?;
        caveats.extend(measured.sentences());
    }
    let basis = PlanBasis::from_presets(presets.iter().map(|(preset, _)| *preset), measured.is_some());
    let batch = question.batch;
    let page = run_plan(&mut snapshot, &question)?;
    // The simulation counts paused memory as reserved, so a limit would stop it too early.
    let limit = capacity.filter(|_| page.on_gpu.is_none());
    let settings = WhatIfQuestion { capacity: limit, ..WhatIfQuestion::default() };
    let simulated = simulate_plan(&mut snapshot, Some(&question), settings)?;
    Ok(match json {
        true => {
            let scaling = measured.as_ref().map(scaling::as_json);
            let fields = as_json(&page, &simulated, batch, (*capacity, basis), &caveats);
            to_pretty_json(&snapshot.document(with_fields(fields, json!({ "scaling": scaling }))))
        }
        false => {
            as_text(&snapshot, &page, &simulated, batch, (*capacity, basis), &caveats) + &snapshot.other_devices_line()
        }
    })
}

/// Parses a growth factor, which must be positive and not 1.
fn parse_growth(text: &str) -> Result<f64, String> {
    let factor = read_factor(text)?.quotient();
    if factor > 0.0 && factor != 1.0 { Ok(factor) } else { Err("expected a factor such as 2x or 0.5".to_owned()) }
}

/// Builds a plan from individual changes and presets. Returns the plan and a caveat for each preset.
///
/// # Errors
/// Returns an error message if a factor is too large or too small.
pub(crate) fn build_question(
    sets: &[(PlanGroup, Factor)],
    presets: &[(Preset, Factor)],
    capacity: Option<u64>,
) -> Result<(PlanQuestion, Vec<&'static str>), String> {
    let mut question = PlanQuestion { groups: sets.to_vec(), batch: Factor::ONE, capacity };
    for (preset, number) in presets {
        if !preset.add_to(&mut question, *number) {
            return Err(format!("{}: the number is too large or too small", preset.name()));
        }
    }
    Ok((question, presets.iter().map(|(preset, _)| preset.caveat()).collect()))
}

/// Computes the live bytes under a plan.
///
/// # Errors
/// Returns an error message if a group has no allocations.
pub(crate) fn run_plan(snapshot: &mut OpenSnapshot, plan: &PlanQuestion) -> Result<PlanPage, String> {
    let page = ask_device!(snapshot, Plan(Box::new(plan.clone()))).ok_or("the plan could not be computed")?;
    if page.error.is_empty() { Ok(*page) } else { Err(page.error) }
}

/// Simulates the allocator, with the sizes of a plan if given.
///
/// # Errors
/// Returns an error message if the allocator cannot be simulated.
pub(crate) fn simulate_plan(
    snapshot: &mut OpenSnapshot,
    plan: Option<&PlanQuestion>,
    question: WhatIfQuestion,
) -> Result<WhatIf, String> {
    if let Some(plan) = plan {
        snapshot.ask_device(Question::PlannedSizes(Box::new(plan.clone())));
    }
    let question = WhatIfQuestion { is_planned: plan.is_some(), ..question };
    let answer = ask_device!(snapshot, WhatIf(Box::new(question))).map(|answer| *answer);
    answer.ok_or("the allocator could not be simulated".to_owned())
}

fn as_json(
    page: &PlanPage,
    simulated: &WhatIf,
    batch: Factor,
    (capacity, basis): (Option<u64>, PlanBasis),
    caveats: &[String],
) -> Value {
    let peak = |(bytes, moment): (u64, u32)| json!({"peak_live_bytes": bytes, "peak_event": Moment(moment).event_or_minus_one()});
    let groups: Vec<Value> = page
        .groups
        .iter()
        .map(|row| {
            json!({"group": row.name, "factor": row.factor.quotient(), "count": row.count, "peak_live_bytes": row.at_peak})
        })
        .collect();
    // Growth that was only assumed says nothing about fitting.
    let known_capacity = capacity.filter(|_| basis != PlanBasis::AssumedSequence);
    let headroom = known_capacity.map(|capacity| i128::from(capacity) - i128::from(on_gpu(page)));
    let headroom = headroom.and_then(|bytes| i64::try_from(bytes).ok());
    let largest = largest_batch_as_json(page).filter(|_| basis != PlanBasis::AssumedSequence);
    json!({
        "recorded": peak(page.recorded),
        "planned": peak(page.planned),
        "planned_on_gpu_bytes": page.on_gpu,
        "planned_reserved": reserved_as_json(simulated),
        "groups": groups,
        "batch": {"factor": batch.quotient(), "peak_live_bytes": page.batch_at_peak},
        "capacity_bytes": capacity,
        "headroom_bytes": headroom,
        "fits": capacity.and_then(|capacity| fits(page, simulated, capacity, basis)),
        "largest_batch": largest,
        "caveats": caveats,
    })
}

/// Returns the bounds of the largest batch. `None` if neither is known. The factor is `null` if only the lower bound is
/// known.
fn largest_batch_as_json(page: &PlanPage) -> Option<Value> {
    let factor = |(thousandths, _): (u64, u32)| thousandths as f64 / 1000.0;
    let event = |(_, moment): (u64, u32)| Moment(moment).event_or_minus_one();
    // No batch fits if what does not grow in any case is too much.
    let (min, max) = match (page.min_batch, page.max_batch) {
        (none @ Some((0, _)), None) => (None, none),
        bounds => bounds,
    };
    min.or(max)?;
    let mut largest = json!({"factor": max.map(factor), "limited_by_event": max.or(min).map(event)});
    if page.lacks_backward {
        largest = with_fields(largest, json!({"backward_recorded": false}));
    }
    if let Some(min) = min {
        largest = with_fields(largest, json!({"min_factor": factor(min)}));
    }
    Some(largest)
}

/// Returns the peak under the plan without memory that is paused, and so not on the GPU.
fn on_gpu(page: &PlanPage) -> u64 {
    page.on_gpu.unwrap_or(page.planned.0)
}

/// Returns true if both live bytes and simulated reserved bytes fit into the capacity despite the error of the
/// estimates, false if live bytes do not fit, and `None` if this is uncertain.
fn fits(page: &PlanPage, simulated: &WhatIf, capacity: u64, basis: PlanBasis) -> Option<bool> {
    let run = simulated.runs.first().filter(|_| simulated.proof.refused.is_none());
    match basis.fits(on_gpu(page), capacity)? {
        true => run
            .is_some_and(|run| run.oom_event.is_none() && basis.fits(run.band[1], capacity) == Some(true))
            .then_some(true),
        false => Some(false),
    }
}

/// Returns the simulated reserved bytes under the recorded settings, as JSON. Values are null if the simulation does
/// not reproduce the recording.
fn reserved_as_json(simulated: &WhatIf) -> Value {
    let run = simulated.runs.first();
    json!({
        "peak_reserved": run.map(|run| run.peak_reserved),
        "peak_reserved_bytes": run.map(|run| run.peak_reserved),
        "band": run.map(|run| run.band),
        "band_bytes": run.map(|run| run.band),
        "grade": run.map(|run| run.grade.name()),
        "oom_event": run.and_then(|run| run.oom_event),
        "refused": simulated.proof.refused,
    })
}

fn as_text(
    snapshot: &OpenSnapshot,
    page: &PlanPage,
    simulated: &WhatIf,
    batch: Factor,
    (capacity, basis): (Option<u64>, PlanBasis),
    caveats: &[String],
) -> String {
    let mut text = snapshot.heading() + "\n";
    let lines = facts(page, capacity, basis).into_iter().chain([("Reserved (simulated)", reserved_text(simulated))]);
    for (label, value) in lines {
        text += &format!("{label:<22}{}\n", printable(&value));
    }
    if capacity.is_some() {
        text += &format!("{CAPACITY_CAVEAT}\n");
    }
    if batch != Factor::ONE {
        text += &format!("Batch                 {batch}: {} at the recorded peak\n", Bytes(page.batch_at_peak));
    }
    let numbers = [("factor", 10), ("live at the recorded peak", 25), ("allocations", 11)];
    let mut table = Table::new(0, columns(numbers, ["group"]));
    for row in &page.groups {
        table.push([row.factor.to_string(), Bytes(row.at_peak).to_string(), group_digits(row.count), row.name.clone()]);
    }
    text += &table.paragraph();
    caveats.iter().for_each(|caveat| text += &format!("\n{caveat}"));
    wrap_to_terminal(&(text + if caveats.is_empty() { "" } else { "\n" }))
}
