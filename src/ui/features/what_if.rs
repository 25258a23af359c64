//! The simulated allocator of the Allocator settings insight: user input, requests, results and cancellation.

mod data;

pub use data::{ProgramChange, Simulator, SimulatorField, WhatIfAction};
pub(crate) use data::{SimulationKind, Terms};

mod link;
pub mod view;
pub mod words;

use crate::features::feature::{Feature, close_nothing};
use crate::plot::planned::DrawnCurve;
use crate::session::snapshot_to_save::snapshot_to_save;
use crate::state::change::{AskPhase, Change};
use crate::state::effect::{AfterWrite, Effect, FileToWrite};
use crate::state::outbox::{Intent, Outbox};
use crate::state::settings::Dialog;
use crate::state::shared::Shared;
use crate::text::size_text::capitalize;
use crate::text::tab::Tab;
use protocol::{
    Answer, ExportJob, LeaveOut, Question, Topic, WhatIf, WhatIfOrigin, WhatIfProgram, WhatIfQuestion, WhatIfRun,
};
use std::rc::Rc;

pub(crate) const FEATURE: Feature<Simulator, WhatIfAction> = Feature {
    reset,
    questions: &[(AskPhase::Last, ask)],
    on_reply: take,
    on_action: handle_action,
    link_keys: link::LINKS,
    on_escape: close_nothing,
};

/// Resets the simulator after a change of device, but keeps the form.
fn reset(simulator: &mut Simulator, shared: &Shared, change: Change, out: &mut Outbox) {
    if change.is_device_change() {
        let Simulator {
            settings,
            capacity,
            total,
            program,
            preallocate,
            skips_empty_cache,
            pending,
            was_abandoned,
            ..
        } = std::mem::take(simulator);
        let was_abandoned = was_abandoned || pending.is_some() || shared.simulation.is_some();
        out.intend(Intent::Simulation(None));
        *simulator = Simulator {
            settings,
            capacity,
            total,
            program,
            preallocate,
            skips_empty_cache,
            was_abandoned,
            ..Simulator::default()
        };
    }
}

/// Sends the user's request while the insight is visible. If nothing has been simulated yet, sends a check of how well
/// the simulation reproduces the recording.
fn ask(simulator: &mut Simulator, shared: &Shared, device: i64, out: &mut Outbox) {
    if std::mem::take(&mut simulator.was_abandoned) {
        out.push(Effect::EndSimulation);
    }
    let is_seen = shared.views.visible() == Some(Tab::Insights) && shared.topic == Topic::Settings;
    if !is_seen || shared.rules.dialog == Dialog::Open {
        return;
    }
    // The simulator runs one request at a time. A newer request of this feature replaces the pending one.
    let own_serial = simulator.pending.map(|(serial, _)| serial);
    if shared.simulation.is_some_and(|serial| own_serial != Some(serial)) {
        return;
    }
    let is_unknown = simulator.pending.is_none() && simulator.answer.is_none() && simulator.failure.is_none();
    let proof = is_unknown.then_some(SimulationKind::Check);
    let Some(job) = simulator.requested.take().or(proof) else { return };
    let [capacity, total, preallocate] = simulator.typed_sizes().map(|size| size.ok().flatten());
    let terms = Terms {
        capacity: capacity.or_else(|| shared.capacity_without_oom()),
        total,
        skips_empty_cache: simulator.skips_empty_cache,
    };
    // Runs with another capacity cannot be compared with these.
    simulator.previous_answer = simulator.answer.clone().filter(|_| simulator.terms == terms);
    simulator.terms = terms;
    let is_proof = job == SimulationKind::Check;
    let program = WhatIfProgram { preallocate: preallocate.unwrap_or(0), ..simulator.program.clone() };
    // A changed program without settings is simulated under the recorded ones.
    let has_line = job == SimulationKind::Settings && !(program.changes() && simulator.settings.trim().is_empty());
    let is_asked = matches!(job, SimulationKind::Settings | SimulationKind::Search);
    let is_curve = job == SimulationKind::Curve;
    let (drawn_settings, drawn_program) = if is_curve { simulator.drawn.clone() } else { Default::default() };
    let question = WhatIfQuestion {
        lines: if has_line { vec![simulator.settings.clone()] } else { Vec::new() },
        capacity: terms.capacity,
        total,
        programs: if is_asked && program.changes() { vec![program] } else { Vec::new() },
        tries: job == SimulationKind::Search,
        fits: is_asked,
        never_empties: terms.skips_empty_cache,
        partial: !is_proof,
        course: is_curve.then_some(drawn_settings),
        course_program: drawn_program,
        ..WhatIfQuestion::default()
    };
    let serial = out.ask(device, Question::WhatIf(Box::new(question)));
    out.intend(Intent::Simulation(Some(serial)));
    simulator.pending = Some((serial, job));
    (simulator.progress, simulator.is_canceled, simulator.failure) = ([0, 0], false, None);
}

/// Handles a complete or partial reply, and keeps earlier runs under the same conditions. Returns replies for other
/// features.
fn take(simulator: &mut Simulator, _: &Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    let Answer::WhatIf(mut answer) = answer else { return Some(answer) };
    if simulator.pending.is_none_or(|(asked, _)| asked != serial) {
        return Some(Answer::WhatIf(answer));
    }
    if answer.is_complete {
        simulator.pending = None;
        out.intend(Intent::Simulation(None));
    }
    simulator.line_error = capitalize(&answer.line_error);
    out.intents.extend(answer.course.take().map(|course| Intent::DrawRun(Rc::new(course))));
    simulator.progress = [(answer.runs.len() + answer.fits.len()) as u64, answer.steps];
    merge_runs(&mut answer, simulator.previous_answer.as_deref());
    simulator.answer = Some(Rc::new(*answer));
    None
}

/// Adds the runs of an earlier reply. Settings and program appear once, with the recorded ones first.
fn merge_runs(answer: &mut WhatIf, before: Option<&WhatIf>) {
    // The requested settings may equal the recorded ones. With other memory, their run differs from the recording.
    if let Some(recording) = answer.recorded().cloned() {
        let is_same = |run: &WhatIfRun| {
            is_same_run(run, &recording)
                && (run.peak_reserved, run.retries, run.fails())
                    == (recording.peak_reserved, recording.retries, recording.fails())
        };
        let mut is_first = true;
        answer.runs.retain(|run| std::mem::take(&mut is_first) || !is_same(run));
    }
    let Some(before) = before else { return };
    for run in &before.runs {
        if answer.runs.iter().all(|known| !is_same_run(known, run)) {
            answer.runs.push(run.clone());
        }
    }
    for fit in &before.fits {
        if answer.fits.iter().all(|known| (&known.settings, &known.program) != (&fit.settings, &fit.program)) {
            answer.fits.push(fit.clone());
        }
    }
}

/// Returns true if two runs have the same settings and program.
fn is_same_run(one: &WhatIfRun, other: &WhatIfRun) -> bool {
    one.settings == other.settings && one.program == other.program
}

/// Handles user input in the form and in the table.
fn handle_action(simulator: &mut Simulator, shared: &Shared, action: WhatIfAction, out: &mut Outbox) {
    match action {
        WhatIfAction::Typed(field, text) => {
            if field == SimulatorField::Settings {
                simulator.line_error.clear();
            }
            *simulator.field(field) = text;
            // An error is shown when a simulation is requested, and until it is fixed.
            simulator.shows_size_error &= simulator.has_size_error();
        }
        WhatIfAction::SkipEmptyCacheSet(are_left_out) => simulator.skips_empty_cache = are_left_out,
        WhatIfAction::ProgramSet(change, is_set) => *change.field(&mut simulator.program) = is_set,
        WhatIfAction::Simulate | WhatIfAction::Search => {
            let is_line = action == WhatIfAction::Simulate;
            simulator.shows_size_error = simulator.has_size_error();
            simulator.requested = (!simulator.shows_size_error).then_some(if is_line {
                SimulationKind::Settings
            } else {
                SimulationKind::Search
            });
        }
        WhatIfAction::Canceled => {
            (simulator.pending, simulator.requested, simulator.is_canceled) = (None, None, true);
            out.intend(Intent::Simulation(None));
            out.push(Effect::CancelSimulation);
        }
        WhatIfAction::Failed(cause) => {
            (simulator.pending, simulator.requested, simulator.failure) = (None, None, Some(cause));
            out.intend(Intent::Simulation(None));
            out.intend(Intent::EndBackgroundSimulation);
        }
        WhatIfAction::OomClicked(moment) => {
            out.intend(Intent::EndRange);
            out.intend(Intent::MoveCursor(moment));
        }
        WhatIfAction::Copied(row) => {
            out.extend(view::run_of_row(simulator, row).map(|run| Effect::Copy(run.settings.clone())));
        }
        WhatIfAction::DrawToggled(row) => {
            let Some(run) = view::run_of_row(simulator, row) else { return };
            if view::is_drawn(run, view::drawn_course(shared)) {
                out.intend(Intent::DrawCurve(DrawnCurve::None));
            } else {
                let drawn = (run.settings.clone(), run.program.clone());
                (simulator.drawn, simulator.requested) = (drawn, Some(SimulationKind::Curve));
            }
        }
        WhatIfAction::Opened(row, next) => write_snapshot(simulator, shared, row, next, out),
        WhatIfAction::Written(written) => {
            simulator.is_writing = false;
            let error = written.err().map(|cause| ["The run could not be opened: ", &cause, "."].concat());
            out.intend(Intent::Say(error));
        }
    }
}

/// Simulates the settings of a row once more and writes the run as a snapshot.
fn write_snapshot(simulator: &mut Simulator, shared: &Shared, row: usize, next: AfterWrite, out: &mut Outbox) {
    let run = view::run_of_row(simulator, row).filter(|run| !run.program.changes());
    let (Some(run), Some((snapshot, device))) = (run, snapshot_to_save(shared)) else { return };
    let settings = run.settings.clone();
    // The recording has its own limit.
    let limits = Some(simulator.terms).filter(|_| run.origin != WhatIfOrigin::Recorded).unwrap_or_default();
    if std::mem::replace(&mut simulator.is_writing, true) {
        return;
    }
    out.say(["Simulating ", &settings, "…"].concat());
    let file = [&snapshot.name, " · ", &settings, " (simulated)"].concat();
    let job = ExportJob::Simulated {
        settings,
        capacity: limits.capacity,
        total: limits.total,
        never_empties: limits.skips_empty_cache,
        source: snapshot.name.clone(),
    };
    let categories = Box::new(shared.rules.set());
    out.push(Effect::WriteFile(Box::new(FileToWrite {
        snapshot,
        device,
        job,
        categories,
        file,
        is_gzipped: false,
        extends_trace: false,
        leave_out: LeaveOut::default(),
        next,
    })));
}

#[cfg(test)]
#[path = "../../../tests/units/ui/features/what_if.rs"]
mod tests;
