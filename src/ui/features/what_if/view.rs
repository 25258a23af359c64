//! Contents of the simulated allocator: sentences, tables and form.

use crate::features::what_if::{SimulationKind, Simulator, words};
use crate::plot::planned::DrawnCurve;
use crate::state::shared::Shared;
use crate::text::amount::{change, exact_change};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{Bytes, group_digits};
use protocol::{Tone, WhatIf, WhatIfCourse, WhatIfOrigin, WhatIfProgram, WhatIfRun};
use std::rc::Rc;

/// Headings of the table of runs, with tooltips. The first column has the settings.
pub const HEADINGS: [(&str, &str); 9] = [
    ("Settings", "As a line for PYTORCH_CUDA_ALLOC_CONF, and changes of the program"),
    ("Peak reserved", "Most bytes taken from the driver"),
    ("Difference", "Peak reserved, compared with the recorded settings"),
    ("Spread", "Lowest and highest peak over what the recording leaves open"),
    ("Fragmentation", "Share of the reserved bytes that is in no live block at the peak"),
    (
        "Driver calls",
        "Calls that reserve and release memory, such as cudaMalloc and cudaFree, or that map and unmap it",
    ),
    (
        "Retries",
        "Requests that succeeded only after cached memory was released. A range: the recording bounds its memory limit",
    ),
    ("OOM", "Out of memory: the request that fails. May fail: depends on the exact memory limit"),
    (
        "Confidence",
        "Exact here: the simulator matches this recording, which tests these rules. Untested here: the rules are from PyTorch's source, and this recording does not test them. Start matters: depends on what was allocated before the trace. Waits matter: depends on when other streams finish. Pools guessed: the file does not name private pools. Departs: the model departs from this recording.",
    ),
];

/// Inputs of the sentences and tables: the results, and the settings and program of the drawn run.
#[derive(Clone, Debug, Default)]
pub struct ResultInputs(Option<Rc<WhatIf>>, Option<(String, WhatIfProgram)>);

impl PartialEq for ResultInputs {
    fn eq(&self, other: &ResultInputs) -> bool {
        let same = match (&self.0, &other.0) {
            (Some(one), Some(another)) => Rc::ptr_eq(one, another),
            (one, another) => one.is_none() && another.is_none(),
        };
        same && self.1 == other.1
    }
}

/// Returns the current results and the settings of the drawn run.
pub fn result_inputs(simulator: &Simulator, shared: &Shared) -> ResultInputs {
    let drawn = drawn_course(shared).map(|course| (course.settings.clone(), course.program.clone()));
    ResultInputs(simulator.answer.clone(), drawn)
}

/// Returns the drawn run.
pub(super) fn drawn_course(shared: &Shared) -> Option<&WhatIfCourse> {
    let course = shared.planned.run.as_ref().filter(|_| shared.planned.drawn == DrawnCurve::Simulated);
    course.map(|(_, course)| &**course)
}

/// Returns true if the drawn run has the same settings and program as `run`.
pub(super) fn is_drawn(run: &WhatIfRun, drawn: Option<&WhatIfCourse>) -> bool {
    drawn.is_some_and(|course| (&course.settings, &course.program) == (&run.settings, &run.program))
}

/// Results of the simulation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultView {
    /// Sentences about how well the simulation reproduces the recording.
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
    /// Settings with the changes to the program.
    pub name: String,
    pub settings: String,
    /// Changes to the recorded program. Empty if there are none.
    pub program: String,
    pub is_recorded: bool,
    /// True if the curve of the run is drawn.
    pub is_shown: bool,
    /// Text and exact value of each column between settings and OOM.
    pub numbers: [(String, String); 6],
    pub oom: String,
    /// The moment after the request that failed.
    pub oom_moment: Option<u32>,
    pub is_out_of_memory: bool,
    /// Confidence in the prediction: in one or two words, and as a sentence.
    pub grade: [&'static str; 2],
}

/// The smallest GPU memory that suffices for a run with these settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FitRow {
    pub memory: String,
    pub exact: String,
    pub settings: String,
    /// Missing bytes compared with the available memory. Empty if the available memory suffices.
    pub shortage: String,
}

/// Messages and hints of the form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FormView {
    pub status: String,
    pub can_cancel: bool,
    pub line_error: String,
    /// Errors of the sizes: capacity, total memory, and bytes to allocate first.
    pub size_errors: [&'static str; 3],
    /// Placeholder of the capacity field: the capacity that is used if the field is empty.
    pub capacity_hint: String,
}

/// Returns the runs by reserved bytes, lowest first. Runs that run out of memory come last.
pub fn sorted_runs(answer: &WhatIf) -> Vec<&WhatIfRun> {
    let keys = answer.runs.iter().map(|run| two_part_key(words::oom_rank(run), run.peak_reserved)).zip(0..);
    sorted_numbers(keys.collect()).iter().filter_map(|&at| answer.runs.get(at as usize)).collect()
}

/// Returns the results as text.
pub fn view(simulator: &Simulator, shared: &Shared) -> ResultView {
    let Some(answer) = simulator.answer.as_deref() else {
        return ResultView { predicts: true, ..ResultView::default() };
    };
    let proof = &answer.proof;
    let predicts = proof.refused.is_none();
    let proof = words::reproduction(proof);
    if !predicts {
        return ResultView { proof, predicts, ..ResultView::default() };
    }
    let runs = sorted_runs(answer);
    let mut findings: Vec<(Tone, String)> = Vec::new();
    if answer.runs.len() > 1 || answer.recorded().is_none() {
        findings.extend(words::findings(answer).into_iter().map(|text| (Tone::Fact, text)));
    }
    findings.extend(words::warnings(&runs));
    let recorded = answer.recorded().map(|run| run.peak_reserved);
    let keys = answer.fits.iter().map(|fit| two_part_key(0, fit.capacity.unwrap_or(u64::MAX))).zip(0..);
    let mut fits = Vec::new();
    for fit in sorted_numbers(keys.collect()).iter().filter_map(|&index| answer.fits.get(index as usize)) {
        let available = answer.capacity.zip(fit.capacity).filter(|(available, wanted)| available < wanted);
        fits.push(FitRow {
            memory: fit.capacity.map_or_else(|| "No memory is enough".to_owned(), |bytes| Bytes(bytes).to_string()),
            exact: fit.capacity.map_or_else(String::new, exact),
            settings: words::with_program(&fit.settings, &fit.program),
            shortage: available.map_or_else(String::new, |(available, wanted)| {
                Bytes(wanted - available).to_string() + " more than there is"
            }),
        });
    }
    ResultView {
        proof,
        predicts,
        findings,
        rows: runs.into_iter().map(|run| row(run, recorded, drawn_course(shared))).collect(),
        fits,
    }
}

fn exact(bytes: u64) -> String {
    group_digits(bytes) + " B"
}

fn row(run: &WhatIfRun, recorded: Option<u64>, drawn: Option<&WhatIfCourse>) -> RunRow {
    let is_recorded = run.origin == WhatIfOrigin::Recorded;
    let [low, high] = run.band;
    let difference = match recorded {
        _ if is_recorded => ("recorded".to_owned(), String::new()),
        Some(recorded) => (change(recorded, run.peak_reserved), exact_change(recorded, run.peak_reserved)),
        None => Default::default(),
    };
    let none = String::new;
    RunRow {
        name: words::run_name(run),
        settings: run.settings.clone(),
        program: run.program.to_string(),
        is_recorded,
        is_shown: is_drawn(run, drawn),
        numbers: [
            (Bytes(run.peak_reserved).to_string(), exact(run.peak_reserved)),
            difference,
            (words::spread(run), [&*exact(low), " – ", &exact(high)].concat()),
            (words::fragmentation(run), exact(run.peak_reserved.saturating_sub(run.allocated_at_peak))),
            (group_digits(run.driver_calls), none()),
            (words::retries(run), none()),
        ],
        oom: words::oom(run),
        oom_moment: run.oom_event.or(run.low.and_then(|low| low.oom_event)).map_or_else(
            || run.avoided_oom.map(|event| event.saturating_add(1)),
            |event| u32::try_from(event.saturating_add(1)).ok(),
        ),
        is_out_of_memory: run.fails() == Some(true),
        grade: [words::grade(run), run.grade.title()],
    }
}

/// Returns the run of the row at this index.
pub(super) fn run_of_row(simulator: &Simulator, row: usize) -> Option<&WhatIfRun> {
    sorted_runs(simulator.answer.as_deref()?).get(row).copied()
}

/// Returns the messages of the form.
pub fn form(simulator: &Simulator, shared: &Shared) -> FormView {
    let status = match simulator.pending {
        Some((_, SimulationKind::Check)) => "Checking the simulation against this recording…".to_owned(),
        Some(_) => match simulator.progress {
            [_, 0] => "Simulating…".to_owned(),
            [done, all] => ["Simulating… ", &group_digits(done), " of ", &group_digits(all)].concat(),
        },
        None if simulator.is_canceled => "Canceled.".to_owned(),
        None => simulator.failure.as_deref().map_or_else(String::new, words::failure_message),
    };
    let recorded_capacity =
        simulator.answer.as_deref().and_then(|answer| answer.capacity.filter(|_| answer.is_capacity_recorded));
    let known = shared.capacity_without_oom().or(recorded_capacity);
    FormView {
        status,
        can_cancel: simulator.pending.is_some_and(|(_, job)| job != SimulationKind::Check),
        line_error: simulator.line_error.clone(),
        size_errors: simulator
            .typed_sizes()
            .map(|size| size.err().filter(|_| simulator.shows_size_error).unwrap_or_default()),
        capacity_hint: known.map_or_else(|| "no limit".to_owned(), |bytes| Bytes(bytes).to_string()),
    }
}
