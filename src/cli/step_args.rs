//! Arguments that select a training step, or a phase of a step.

use super::common_args::one_of;
use super::open_snapshot::OpenSnapshot;
use base::slice::TimeSlice;
use base::units::pluralize;
use clap::Args;
use engine::{Phase, PhaseFinder, Side, StepSearch};
use protocol::{Span, StepPhase};

/// Arguments that select a step and a phase.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct StepArgs {
    /// Only one step: its annotation, or its number, from 0, as "memscape steps" lists them
    #[arg(long, value_name = "STEP", conflicts_with_all = ["from", "to"])]
    pub(crate) step: Option<String>,
    /// Only one phase: of --step, else of the whole trace; if there are several, the one with the highest peak
    #[arg(long, value_name = "PHASE", value_parser = one_of(StepPhase::ALL, StepPhase::name), conflicts_with_all = ["from", "to"])]
    pub(crate) phase: Option<StepPhase>,
}

impl StepArgs {
    /// Returns the events of the step or phase, with an exclusive end. `None` if the arguments select neither.
    ///
    /// # Errors
    /// Returns an error message if the trace has no such step or phase.
    pub(crate) fn events(&self, snapshot: &mut OpenSnapshot) -> Result<Option<[u32; 2]>, String> {
        if self.step.is_none() && self.phase.is_none() {
            return Ok(None);
        }
        snapshot.prepare();
        let side = snapshot.side().ok_or("the file has no such device")?;
        let step = self.step.as_ref().map(|step| step_span(&side, step)).transpose()?;
        let span = match (self.phase, step) {
            (Some(phase), _) => phase_span(&side, phase, step)?,
            (None, Some(step)) => step,
            (None, None) => return Ok(None),
        };
        Ok(Some([span.from, span.to]))
    }
}

/// Returns the events of the step with the given name or number.
fn step_span(side: &Side<'_>, wanted: &str) -> Result<Span, String> {
    let mut search = StepSearch::new(side.history.device);
    while search.step(side, &mut TimeSlice::new(&mut || true)).is_err() {}
    let spans = search.spans();
    let named = |number: &usize| search.name(side, *number).as_deref() == Some(wanted);
    let number = (0..spans.len()).find(named).or_else(|| wanted.parse().ok());
    match number.and_then(|number| spans.get(number)) {
        Some(span) => Ok(*span),
        None if spans.is_empty() => Err("no steps found in this trace; choose the range by --from and --to".to_owned()),
        None => Err(format!("no step “{wanted}”; there are {}, see \"memscape steps\"", spans.len())),
    }
}

/// Returns the phase with the highest peak among those of one kind that start in a step.
fn phase_span(side: &Side<'_>, wanted: StepPhase, step: Option<Span>) -> Result<Span, String> {
    let mut finder = PhaseFinder::default();
    while finder.step(side, &mut TimeSlice::new(&mut || true)).is_err() {}
    let phases = finder.phases();
    let is_wanted = |phase: &&Phase| {
        phase.kind == wanted && step.is_none_or(|step| (step.from..step.to).contains(&phase.span.from))
    };
    // The first of several with equal peaks.
    let highest = phases.iter().filter(is_wanted).rev().max_by_key(|phase| phase.peak);
    highest.map(|phase| phase.span).ok_or_else(|| match phases.len() {
        0 => "no phases found in this trace: it has no backward pass and no optimizer step".to_owned(),
        count => format!(
            "no phase {} {}; the trace has {}",
            wanted.name(),
            if step.is_some() { "starts in this step" } else { "found" },
            pluralize(count as u64, "phase")
        ),
    })
}
