//! Simulated effects of common settings, as statements and as a table.

use crate::report::column::{self, sheet};
use crate::report::simulated::{Effect, Outcome, Simulated};
use crate::report::writer::{ReportWriter, evidence_row, moment_evidence};
use base::units::Moment;
use protocol::{Cell, Tone, WhatIf};

/// Writes what is known about the effect of common settings.
pub(super) fn write_statements(writer: &mut ReportWriter<'_>, simulation: Option<&WhatIf>) {
    match Simulated::new(simulation, writer.side.history) {
        Ok(simulated) => {
            if let Some(event) = simulated.recorded.oom_event.and_then(|event| u32::try_from(event).ok()) {
                simulated.write_for_oom(writer, event);
            }
            simulated.write_all(writer);
        }
        Err(unknown) => writer.add_statement(Tone::Fact, unknown, None),
    }
}

/// Writes the table of simulated settings.
pub(super) fn write_sheet(writer: &mut ReportWriter<'_>, simulation: Option<&WhatIf>) {
    let Ok(simulated) = Simulated::new(simulation, writer.side.history) else { return };
    let columns = [
        column::text("setting", "setting", |it: &Effect<'_>| it.run.settings.clone()),
        column::bytes("peak_reserved_bytes", "peak reserved", |it: &Effect<'_>| it.run.peak_reserved),
        column::cell("change_bytes", "change", |it: &Effect<'_>| it.change().map_or(Cell::Empty, Cell::Change)),
        column::count("retries", "retries", |it: &Effect<'_>| it.run.retries),
        column::text("outcome", "out of memory", |it: &Effect<'_>| {
            let text = match it.outcome {
                Outcome::Changes(_) => "no",
                Outcome::AvoidsOom => "avoided",
                Outcome::Fails(_) => "yes",
                Outcome::Undecided => "not known",
            };
            text.to_owned()
        }),
        column::text("grade", "confidence", |it: &Effect<'_>| it.run.grade.title().to_owned()),
    ];
    let note =
        "Peak reserved if the recorded program ran under these settings, with the memory limit of the recording.";
    let sheet = sheet(["simulated", "Common settings, simulated", note], &columns);
    let effects: Vec<&Effect<'_>> = simulated.effects.iter().collect();
    writer.add_sheet(sheet, &columns, &effects, |_, it| {
        let event = it.run.oom_event.unwrap_or(it.run.peak_event);
        evidence_row(moment_evidence(Moment::after_event_or_minus_one(event).0))
    });
}
