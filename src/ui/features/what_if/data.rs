//! State and actions of the simulated allocator.

use crate::state::effect::AfterWrite;
use crate::text::size_text::parse_size;
use protocol::{WhatIf, WhatIfProgram};
use std::rc::Rc;

/// State of the form, the pending request and the results.
#[derive(Clone, Debug, Default)]
pub struct Simulator {
    /// Text of the settings field.
    pub settings: String,
    pub capacity: String,
    /// Text of the field for the memory that a memory fraction is taken of.
    pub total: String,
    /// Changes to the recorded program, except for the bytes that are allocated first.
    pub program: WhatIfProgram,
    /// Text of the field for the bytes that are allocated first.
    pub preallocate: String,
    /// True if recorded calls of `empty_cache()` are left out.
    pub skips_empty_cache: bool,
    /// Settings and program of the run to draw.
    pub(crate) drawn: (String, WhatIfProgram),
    /// Request that has not been sent yet.
    pub(crate) requested: Option<SimulationKind>,
    /// Serial number and kind of the pending request.
    pub(crate) pending: Option<(u32, SimulationKind)>,
    /// All runs under the current conditions ([`Terms`]).
    pub(crate) answer: Option<Rc<WhatIf>>,
    /// Runs from before the pending request, under the same conditions.
    pub(crate) previous_answer: Option<Rc<WhatIf>>,
    pub(crate) terms: Terms,
    /// Number of completed steps and total number of steps of the pending request.
    pub(crate) progress: [u64; 2],
    /// The simulator's error for the typed settings.
    pub(crate) line_error: String,
    /// True if the error of a size is shown.
    pub(crate) shows_size_error: bool,
    pub(crate) is_canceled: bool,
    /// Reason why the simulator could not be loaded, or why it stopped.
    pub(crate) failure: Option<String>,
    /// True while a run is being written to a file.
    pub(crate) is_writing: bool,
    /// True if another device or file was opened during a simulation.
    pub(crate) was_abandoned: bool,
}

impl Simulator {
    /// Returns true while a simulation runs or its result is written to a file.
    pub fn is_running(&self) -> bool {
        self.pending.is_some() || self.is_writing
    }
}

/// Task of a request to the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SimulationKind {
    /// Checks how well the simulation reproduces the recording.
    Check,
    /// Simulates the typed settings.
    Settings,
    /// Simulates a set of promising settings.
    Search,
    /// Simulates a single run again to get its curve.
    Curve,
}

/// Conditions of a run. Only runs with the same conditions can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) capacity: Option<u64>,
    pub(crate) total: Option<u64>,
    pub(crate) skips_empty_cache: bool,
}

/// A text field of the simulator's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatorField {
    /// The value of `PYTORCH_CUDA_ALLOC_CONF`.
    Settings,
    Capacity,
    Total,
    Preallocate,
}

/// A change to the program with a checkbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramChange {
    OneStream,
    NoRecordStream,
    EmptyCache,
}

impl ProgramChange {
    /// All changes, with their names in links.
    pub const ALL: [(ProgramChange, &str); 3] = [
        (ProgramChange::OneStream, "one-stream"),
        (ProgramChange::NoRecordStream, "no-record-stream"),
        (ProgramChange::EmptyCache, "empty-cache"),
    ];

    /// Returns the field of `program` that is true if the program has this change.
    pub(crate) fn field(self, program: &mut WhatIfProgram) -> &mut bool {
        match self {
            ProgramChange::OneStream => &mut program.one_stream,
            ProgramChange::NoRecordStream => &mut program.no_record_stream,
            ProgramChange::EmptyCache => &mut program.empty_cache_at_step_ends,
        }
    }
}

/// User input in the form and the table, and results of the simulator.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIfAction {
    Typed(SimulatorField, String),
    /// Sets or clears the option to skip recorded calls of `empty_cache()`.
    SkipEmptyCacheSet(bool),
    /// Sets whether the simulated program has a change.
    ProgramSet(ProgramChange, bool),
    /// Simulates the typed settings.
    Simulate,
    /// Simulates a set of promising settings.
    Search,
    Canceled,
    /// The simulator could not be loaded or started, or it stopped.
    Failed(String),
    /// The OOM of a run was clicked. Holds the moment after the failed request.
    OomClicked(u32),
    /// Copies the settings of the row at this index.
    Copied(usize),
    /// Draws the curve of the run in the row at this index, or removes it from the picture.
    DrawToggled(usize),
    /// Opens the run in the row at this index as a snapshot, or compares it with the open one.
    Opened(usize, AfterWrite),
    /// Result of writing the snapshot of a run. The error is the cause of the failure.
    Written(Result<(), String>),
}

impl Simulator {
    pub(crate) fn field(&mut self, field: SimulatorField) -> &mut String {
        match field {
            SimulatorField::Settings => &mut self.settings,
            SimulatorField::Capacity => &mut self.capacity,
            SimulatorField::Total => &mut self.total,
            SimulatorField::Preallocate => &mut self.preallocate,
        }
    }

    /// Returns the typed capacity, total memory and bytes to allocate first. `None` if the field is empty.
    ///
    /// # Errors
    ///
    /// Returns an error message with examples of valid sizes for each text that is invalid.
    pub(crate) fn typed_sizes(&self) -> [Result<Option<u64>, &'static str>; 3] {
        [&self.capacity, &self.total, &self.preallocate].map(|text| parse_size(text))
    }

    /// Returns true if the text of a size is invalid.
    pub(crate) fn has_size_error(&self) -> bool {
        self.typed_sizes().iter().any(Result::is_err)
    }
}
