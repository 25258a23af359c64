//! Annotations that name a phase, such as `## forward ##`, `bwd 3` and `Optimizer.step#AdamW.step`.

use crate::moments::annotation_span;
use base::slice::{SliceResult, TimeSlice};
use hashbrown::HashMap;
use history::replay::DeviceHistory;
use history::snapshot::{Snapshot, StringId};
use protocol::{Span, StepPhase};

/// Beginning of the name that PyTorch gives to the annotation of each optimizer step.
const OPTIMIZER_STEP: &str = "optimizer.step#";
/// Words that name a phase.
const PHASE_WORDS: [(&str, StepPhase); 6] = [
    ("forward", StepPhase::Forward),
    ("fwd", StepPhase::Forward),
    ("backward", StepPhase::Backward),
    ("bwd", StepPhase::Backward),
    ("optimizer", StepPhase::Optimizer),
    ("optim", StepPhase::Optimizer),
];
/// Words that may occur next to one of [`PHASE_WORDS`]. A name with other words, such as `layer 3 forward`, is a part
/// of a phase or something else.
const OTHER_WORDS: [&str; 4] = ["pass", "phase", "step", "training"];
/// Maximum length in bytes of a name of a phase.
const MAX_NAME_LEN: usize = 200;

/// Annotations that name a phase, by start.
#[derive(Default)]
pub(super) struct PhaseAnnotations {
    ranges: Vec<(Span, StepPhase, u32)>,
    /// True for each phase of [`StepPhase::ALL`] that an annotation names.
    is_named: [bool; StepPhase::ALL.len()],
    next_row: usize,
    names: HashMap<StringId, Option<StepPhase>, foldhash::fast::RandomState>,
    /// Number of ranges that started, and the indices of those that may be open at the current event.
    started: usize,
    open: Vec<usize>,
}

impl PhaseAnnotations {
    /// Continues reading annotations. Without recorded times, their positions are unknown.
    pub(super) fn step(&mut self, snapshot: &Snapshot, history: &DeviceHistory, slice: &mut TimeSlice) -> SliceResult {
        let Some(clock) = history.events.times.time_axis() else { return Ok(()) };
        while let Some(range) = history.annotations.get(self.next_row) {
            slice.spend(4)?;
            let row = self.next_row as u32;
            self.next_row += 1;
            let phase = self.names.entry(range.name).or_insert_with(|| {
                let name = snapshot.strings.bytes(range.name);
                (name.len() <= MAX_NAME_LEN).then(|| phase_of(&String::from_utf8_lossy(name))).flatten()
            });
            if let Some(phase) = *phase {
                let span = annotation_span(history, clock, range);
                if span.from < span.to {
                    self.ranges.push((span, phase, row));
                    self.is_named[phase as usize] = true;
                }
            }
        }
        Ok(())
    }

    /// Returns whether annotations name this phase.
    pub(super) fn has(&self, phase: StepPhase) -> bool {
        self.is_named[phase as usize]
    }

    /// Returns the phase at an event and the row of its annotation. Events must be passed in order. Of nested
    /// annotations, the innermost one decides, unless it names the same phase.
    pub(super) fn at_event(&mut self, event: u32) -> Option<(StepPhase, u32)> {
        let range = |index: &usize| self.ranges.get(*index);
        while self.open.last().is_some_and(|index| range(index).is_none_or(|(span, ..)| span.to <= event)) {
            self.open.pop();
        }
        while let Some((span, phase, _)) = self.ranges.get(self.started).filter(|(span, ..)| span.from <= event) {
            let outer = self.open.last().and_then(range);
            if span.to > event && !outer.is_some_and(|(outer, same, _)| same == phase && span.to <= outer.to) {
                self.open.push(self.started);
            }
            self.started += 1;
        }
        self.open.last().and_then(range).map(|&(_, phase, row)| (phase, row))
    }
}

/// Returns the phase that a name means. `None` if it has other words.
fn phase_of(name: &str) -> Option<StepPhase> {
    let name = name.to_ascii_lowercase();
    if name.starts_with(OPTIMIZER_STEP) {
        return Some(StepPhase::Optimizer);
    }
    let mut found = None;
    for word in name.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()) {
        match PHASE_WORDS.iter().find(|(known, _)| *known == word) {
            Some((_, phase)) if found.is_none_or(|found| found == *phase) => found = Some(*phase),
            None if OTHER_WORDS.contains(&word) => {}
            _ => return None,
        }
    }
    found
}
