//! Peak of each phase of the training steps: a sentence, and a table.

use super::column::{self, sheet};
use super::writer::{ReportWriter, bytes_text, evidence_row, range_evidence};
use crate::phases::Phase;
use protocol::{StepPhase, Tone};

/// Phases of one kind: the one with the highest peak, and their number.
#[derive(Clone, Copy)]
struct KindPeak {
    highest: Phase,
    count: u64,
}

/// Returns the kinds of phases that the trace has, in the order of a step.
fn kind_peaks(phases: &[Phase]) -> Vec<KindPeak> {
    let mut kinds: Vec<KindPeak> = Vec::new();
    for kind in StepPhase::ALL {
        let mut of_kind = phases.iter().filter(|phase| phase.kind == kind);
        let Some(first) = of_kind.next() else { continue };
        let mut peak = KindPeak { highest: *first, count: 1 };
        for phase in of_kind {
            peak.count += 1;
            // The first of several phases with equal peaks.
            if phase.peak > peak.highest.peak {
                peak.highest = *phase;
            }
        }
        kinds.push(peak);
    }
    kinds
}

/// Writes a sentence that compares the phases, unless the trace has fewer than two kinds.
pub(super) fn write_statement(writer: &mut ReportWriter<'_>, phases: &[Phase]) {
    let kinds = kind_peaks(phases);
    let Some(highest) = kinds.iter().map(|kind| kind.highest).max_by_key(|phase| phase.peak) else { return };
    if kinds.len() > 1 {
        let named = kinds.iter().map(|kind| [kind.highest.kind.name(), " ", &bytes_text(kind.highest.peak)].concat());
        let text = ["Peak by phase: ", &named.collect::<Vec<String>>().join(", "), "."].concat();
        writer.add_statement(Tone::Fact, text, Some(range_evidence(highest.span, highest.peak_moment)));
    }
}

/// Writes the table, unless the trace has no phases. `whole` are the live bytes at the peak of the trace.
pub(super) fn write_phases(writer: &mut ReportWriter<'_>, phases: &[Phase], whole: u64) {
    let kinds = kind_peaks(phases);
    if kinds.is_empty() {
        return;
    }
    let columns = [
        column::text("phase", "phase", |peak: KindPeak| peak.highest.kind.name().to_owned()),
        column::bytes("peak_live_bytes", "peak", |peak: KindPeak| peak.highest.peak),
        column::event("peak_event", "peak after event", |peak: KindPeak| peak.highest.peak_moment),
        column::share("share", "share of the peak", move |peak: KindPeak| (peak.highest.peak, whole)),
        column::count("count", "phases", |peak: KindPeak| peak.count),
        column::text("source", "source", |peak: KindPeak| {
            let source = if peak.highest.annotation.is_some() { "annotations" } else { "inferred from call stacks" };
            source.to_owned()
        }),
    ];
    let note = "Highest live bytes within any forward pass (with the loss), backward pass and optimizer step. A phase includes what is live when it starts.";
    let sheet = sheet(["phases", "Peak of each phase", note], &columns);
    writer.add_sheet(sheet, &columns, &kinds, |_, peak| {
        evidence_row(range_evidence(peak.highest.span, peak.highest.peak_moment))
    });
}
