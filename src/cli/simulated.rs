//! `memscape whatif -o`: writes a simulated run as a snapshot that opens like a recorded one.

use super::asking::Asking;
use super::output::{pretty, print};
use super::output_file::OutputFile;
use super::packed::{Packed, Packing};
use super::plan;
use super::what_if::Simulate;
use base::units::{Bytes, counted, grouped};
use engine::crop::{CropError, SimulatedRun, Written};
use engine::protocol::PlanQuestion;
use engine::{Answer, Question};
use serde_json::json;
use std::io::{BufWriter, Write};

/// Size of the write buffer in bytes.
const GATHERED: usize = 1 << 20;

/// Writes the run. Returns a sentence on its outcome, or the error as one sentence.
pub(crate) fn write(terms: &Simulate, out: &OutputFile) -> Result<String, String> {
    if terms.lines.len() > 1 {
        return Err("--output writes one run: give --set once".to_owned());
    }
    if terms.search {
        return Err("--output writes one run: leave out --search".to_owned());
    }
    let mut asking = Asking::open(&terms.source)?;
    let (plan, _) = plan::question(&terms.plans, &terms.presets, None)?;
    let is_planned = !(terms.plans.is_empty() && terms.presets.is_empty());
    let sizes = if is_planned { Some(sizes(&mut asking, &plan)?) } else { None };
    let run = SimulatedRun {
        device: asking.device.device,
        settings: terms.lines.first().cloned(),
        capacity: terms.capacity,
        never_empties: terms.no_empty_cache,
        sizes,
        source: asking.summary.file.clone(),
    };
    let mut engine = asking.into_engine();
    let failed = |error: std::io::Error| format!("{}: {error}", out.path().display());
    let packed = Packed::create(out, Packing::of(out.path())).map_err(failed)?;
    let mut file = BufWriter::with_capacity(GATHERED, packed);
    let written = engine.write_simulated(&run, &mut file).map_err(|error| match error {
        CropError::Impossible(why) => why,
        CropError::Io(error) => failed(error),
    })?;
    file.flush().map_err(failed)?;
    file.into_inner().map_err(|error| failed(error.into_error()))?.finish().map_err(failed)?;
    if terms.json {
        let Written { settings, events, segments, peak_reserved, ends_at } = &written;
        let fields = json!({
            "settings": settings,
            "device": run.device,
            "events": events,
            "segments": segments,
            "peak_reserved": peak_reserved,
            "peak_reserved_bytes": peak_reserved,
            "ends_at_recorded_event": ends_at,
        });
        print(&pretty(&fields))?;
    }
    Ok(said(&written))
}

/// Returns the planned sizes of all allocations, in encoded form.
fn sizes(asking: &mut Asking, plan: &PlanQuestion) -> Result<Vec<u8>, String> {
    // Returns the error of an invalid plan.
    plan::outcome(asking, plan)?;
    match asking.ask_about(Question::PlannedSizes(Box::new(plan.clone()))) {
        Some(Answer::PlannedSizes(sizes)) => Ok(sizes),
        _ => Err("the plan could not be computed".to_owned()),
    }
}

fn said(written: &Written) -> String {
    let Written { settings, events, segments, peak_reserved, ends_at } = written;
    let peak = Bytes(*peak_reserved);
    let counts = format!("{}, {}", counted(*events, "event"), counted(*segments, "segment"));
    let end = ends_at.and_then(|event| u64::try_from(event).ok());
    let end = end.map_or_else(String::new, |event| format!("; it ends with recorded event {}", grouped(event)));
    format!("simulated with {settings}: peak reserved {peak}, {counts}{end}")
}
