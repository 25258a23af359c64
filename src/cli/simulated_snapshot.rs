//! `memscape whatif -o`: writes a simulated run as a snapshot that can be opened like a recorded one.

use super::compressed::{CompressedWriter, CompressionKind};
use super::open_snapshot::{OpenSnapshot, ask_device};
use super::output::{print, to_pretty_json};
use super::output_file::OutputFile;
use super::plan;
use super::what_if::WhatIfArgs;
use base::units::{Bytes, group_digits, pluralize};
use engine::crop::{CropError, SimulatedRun, SimulatedSummary};
use protocol::PlanQuestion;
use serde_json::json;
use std::io::{BufWriter, Write};

/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes the simulated run. Returns a summary sentence, or an error message.
pub(crate) fn write(terms: &WhatIfArgs, out: &OutputFile) -> Result<String, String> {
    if terms.lines.len() > 1 {
        return Err("--output writes one run: give --set once".to_owned());
    }
    if terms.search {
        return Err("--output writes one run: leave out --search".to_owned());
    }
    if !terms.programs.is_empty() {
        return Err("--output writes the recorded program: leave out --program".to_owned());
    }
    let mut snapshot = OpenSnapshot::open(&terms.source)?;
    let (plan, _) = plan::build_question(&terms.plans, &terms.presets, None)?;
    let is_planned = !(terms.plans.is_empty() && terms.presets.is_empty());
    let planned_sizes = if is_planned { Some(planned_sizes(&mut snapshot, &plan)?) } else { None };
    let run = SimulatedRun {
        device: snapshot.device.device,
        settings: terms.lines.first().cloned(),
        capacity: terms.capacity,
        total: terms.total,
        skip_empty_cache: terms.no_empty_cache,
        planned_sizes,
        source: snapshot.summary.file.clone(),
    };
    let mut engine = snapshot.into_engine();
    let failed = |error: std::io::Error| format!("{}: {error}", out.path().display());
    let packed = CompressedWriter::create(out, CompressionKind::from_path(out.path())).map_err(failed)?;
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, packed);
    let written = engine.write_simulated(&run, &mut file).map_err(|error| match error {
        CropError::Invalid(why) => why,
        CropError::Io(error) => failed(error),
    })?;
    file.flush().map_err(failed)?;
    file.into_inner().map_err(|error| failed(error.into_error()))?.finish().map_err(failed)?;
    if terms.json {
        let SimulatedSummary { settings, events, segments, peak_reserved, ends_at } = &written;
        let fields = json!({
            "settings": settings,
            "device": run.device,
            "events": events,
            "segments": segments,
            "peak_reserved": peak_reserved,
            "peak_reserved_bytes": peak_reserved,
            "ends_at_recorded_event": ends_at,
        });
        print(&to_pretty_json(&fields))?;
    }
    Ok(summary_text(&written))
}

/// Returns the encoded sizes of all allocations under a plan.
fn planned_sizes(snapshot: &mut OpenSnapshot, plan: &PlanQuestion) -> Result<Vec<u8>, String> {
    // Returns the error of an invalid plan.
    plan::run_plan(snapshot, plan)?;
    ask_device!(snapshot, PlannedSizes(Box::new(plan.clone()))).ok_or("the plan could not be computed".to_owned())
}

fn summary_text(written: &SimulatedSummary) -> String {
    let SimulatedSummary { settings, events, segments, peak_reserved, ends_at } = written;
    let peak = Bytes(*peak_reserved);
    let counts = format!("{}, {}", pluralize(*events, "event"), pluralize(*segments, "segment"));
    let end = ends_at.and_then(|event| u64::try_from(event).ok());
    let end = end.map_or_else(String::new, |event| format!("; it ends with recorded event {}", group_digits(event)));
    format!("simulated with {settings}: peak reserved {peak}, {counts}{end}")
}
