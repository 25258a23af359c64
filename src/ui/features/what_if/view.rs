//! Contents of the simulated allocator: sentences, tables and form.

use super::{Job, Simulator, words};
use crate::amount::{change, exact_change};
use crate::planned::Drawn;
use crate::shared::Shared;
use base::sorted::{pair, sorted_numbers};
use base::units::{Bytes, grouped};
use engine::protocol::{Tone, WhatIf, WhatIfOrigin, WhatIfRun};
use std::rc::Rc;

/// Headings of the table with tooltips. The first column is the settings.
pub const HEADINGS: [(&str, &str); 9] = [
    ("Settings", "As a line for PYTORCH_CUDA_ALLOC_CONF"),
    ("Peak reserved", "Most bytes taken from the driver"),
    ("Difference", "Peak reserved, compared with the recorded settings"),
    ("Spread", "Lowest and highest peak over three orders of addresses"),
    ("Fragmentation", "Share of the reserved bytes that is in no live block at the peak"),
    ("Driver calls", "Calls of cudaMalloc and cudaFree, or of map and unmap"),
    ("Retries", "Requests that succeeded only after cached memory was released"),
    ("OOM", "Out of memory: the request that fails"),
    (
        "How sure",
        "Proved: the recording exercises these rules. From source: rules read from PyTorch's source, not exercised here. Start matters: depends on what was allocated before the trace. Departs: the model departs from this recording.",
    ),
];

/// Inputs of the sentences and tables: the results, and the settings of the drawn run.
#[derive(Clone, Debug, Default)]
pub struct Basis(Option<Rc<WhatIf>>, Option<String>);

impl PartialEq for Basis {
    fn eq(&self, other: &Basis) -> bool {
        let same = match (&self.0, &other.0) {
            (Some(one), Some(another)) => Rc::ptr_eq(one, another),
            (one, another) => one.is_none() && another.is_none(),
        };
        same && self.1 == other.1
    }
}

/// Returns the current inputs.
pub fn basis(simulator: &Simulator, shared: &Shared) -> Basis {
    Basis(simulator.answer.clone(), shown(shared).cloned())
}

/// Returns the settings of the drawn run.
pub(super) fn shown(shared: &Shared) -> Option<&String> {
    let course = shared.planned.course.as_ref().filter(|_| shared.planned.drawn == Drawn::Simulated);
    course.map(|(_, course)| &course.settings)
}

/// Results of the simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// Sentences on how well the simulation reproduces the recording.
    pub proof: Vec<(Tone, String)>,
    /// True if the simulation is good enough for predictions.
    pub predicts: bool,
    /// Conclusions from the runs.
    pub findings: Vec<(Tone, String)>,
    pub rows: Vec<RunRow>,
    pub fits: Vec<FitRow>,
}

/// A simulated run, as a row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    pub settings: String,
    pub is_recorded: bool,
    /// True if the run is drawn.
    pub is_shown: bool,
    /// Text and exact value of the columns between settings and OOM.
    pub numbers: [(String, String); 6],
    pub oom: String,
    /// The moment after the request that failed.
    pub oom_moment: Option<u32>,
    pub is_out_of_memory: bool,
    /// Confidence, abbreviated and in full.
    pub grade: [&'static str; 2],
}

/// The smallest memory that suffices for some settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitRow {
    pub memory: String,
    pub exact: String,
    pub settings: String,
    /// Difference to the available memory. Empty if that suffices.
    pub more: String,
}

/// Messages of the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormView {
    pub status: String,
    pub can_cancel: bool,
    pub line_error: String,
    pub capacity_error: &'static str,
    /// Default of the capacity field.
    pub capacity_hint: String,
}

/// Returns the runs by reserved bytes, lowest first. Runs that go out of memory come last.
fn sorted(answer: &WhatIf) -> Vec<&WhatIfRun> {
    let keys = answer.runs.iter().map(|run| pair(run.oom_event.is_some().into(), run.peak_reserved)).zip(0..);
    sorted_numbers(keys.collect()).iter().filter_map(|&at| answer.runs.get(at as usize)).collect()
}

/// Returns the results as text.
pub fn view(simulator: &Simulator, shared: &Shared) -> View {
    let Some(answer) = simulator.answer.as_deref() else { return View { predicts: true, ..View::default() } };
    let proof = &answer.proof;
    let predicts = proof.refused.is_none();
    let first = if predicts && proof.is_exact { Tone::Good } else { Tone::Alarm };
    let sentences = words::reproduced(proof).into_iter().enumerate();
    let proof = sentences.map(|(at, text)| (if at == 0 { first } else { Tone::Fact }, text)).collect();
    if !predicts {
        return View { proof, predicts, ..View::default() };
    }
    let runs = sorted(answer);
    let mut findings: Vec<(Tone, String)> = Vec::new();
    if answer.runs.len() > 1 {
        findings.extend(words::findings(answer).into_iter().map(|text| (Tone::Fact, text)));
    }
    for text in runs.iter().flat_map(|run| &run.warnings).map(|warning| warning.words()) {
        if findings.iter().all(|(_, known)| known != text) {
            findings.push((Tone::Alarm, text.to_owned()));
        }
    }
    let mut ignored: Vec<&str> = runs.iter().flat_map(|run| &run.ignored).map(String::as_str).collect();
    ignored.dedup();
    if !ignored.is_empty() {
        findings.push((Tone::Fact, ["Without effect on the simulation: ", &ignored.join(", "), "."].concat()));
    }
    let recorded = answer.runs.first().map_or(0, |run| run.peak_reserved);
    let keys = answer.fits.iter().map(|fit| pair(0, fit.capacity.unwrap_or(u64::MAX))).zip(0..);
    let mut fits = Vec::new();
    for fit in sorted_numbers(keys.collect()).iter().filter_map(|&at| answer.fits.get(at as usize)) {
        let had = answer.capacity.zip(fit.capacity).filter(|(had, wanted)| had < wanted);
        fits.push(FitRow {
            memory: fit.capacity.map_or_else(|| "No memory is enough".to_owned(), |bytes| Bytes(bytes).to_string()),
            exact: fit.capacity.map_or_else(String::new, exact),
            settings: fit.settings.clone(),
            more: had.map_or_else(String::new, |(had, wanted)| Bytes(wanted - had).to_string() + " more than there is"),
        });
    }
    View {
        proof,
        predicts,
        findings,
        rows: runs.into_iter().map(|run| row(run, recorded, shown(shared))).collect(),
        fits,
    }
}

fn exact(bytes: u64) -> String {
    grouped(bytes) + " B"
}

fn row(run: &WhatIfRun, recorded: u64, shown: Option<&String>) -> RunRow {
    let is_recorded = run.origin == WhatIfOrigin::Recorded;
    let [low, high] = run.band;
    let difference = match () {
        () if is_recorded => ("recorded".to_owned(), String::new()),
        () => (change(recorded, run.peak_reserved), exact_change(recorded, run.peak_reserved)),
    };
    let none = String::new;
    RunRow {
        settings: run.settings.clone(),
        is_recorded,
        is_shown: shown == Some(&run.settings),
        numbers: [
            (Bytes(run.peak_reserved).to_string(), exact(run.peak_reserved)),
            difference,
            (words::spread(run), [&*exact(low), " – ", &exact(high)].concat()),
            (words::fragmentation(run), exact(run.peak_reserved.saturating_sub(run.allocated_at_peak))),
            (grouped(run.driver_calls), none()),
            (grouped(run.retries), none()),
        ],
        oom: words::oom(run),
        oom_moment: run.oom_event.map_or_else(
            || run.avoided_oom.map(|event| event.saturating_add(1)),
            |event| u32::try_from(event.saturating_add(1)).ok(),
        ),
        is_out_of_memory: run.oom_event.is_some(),
        grade: [words::grade(run), run.grade.words()],
    }
}

/// Returns the settings of the row at this index.
pub(super) fn settings(simulator: &Simulator, row: usize) -> Option<String> {
    Some(sorted(simulator.answer.as_deref()?).get(row)?.settings.clone())
}

/// Returns the messages of the form.
pub fn form(simulator: &Simulator, shared: &Shared) -> FormView {
    let status = match simulator.asked {
        Some((_, Job::Proof)) => "Checking the simulation against this recording…".to_owned(),
        Some(_) => match simulator.progress {
            [_, 0] => "Simulating…".to_owned(),
            [done, all] => ["Simulating… ", &grouped(done), " of ", &grouped(all)].concat(),
        },
        None if simulator.is_canceled => "Canceled.".to_owned(),
        None => simulator.failure.as_deref().map_or_else(String::new, words::failed),
    };
    let of_answer =
        simulator.answer.as_deref().and_then(|answer| answer.capacity.filter(|_| answer.is_capacity_recorded));
    let known = shared.capacity_without_oom().or(of_answer);
    FormView {
        status,
        can_cancel: simulator.asked.is_some_and(|(_, job)| job != Job::Proof),
        line_error: simulator.line_error.clone(),
        capacity_error: simulator.typed_capacity().err().filter(|_| simulator.is_checked).unwrap_or_default(),
        capacity_hint: known.map_or_else(|| "no limit".to_owned(), |bytes| Bytes(bytes).to_string()),
    }
}
