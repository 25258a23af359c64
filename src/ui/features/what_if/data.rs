//! State and actions of the simulated allocator.

use crate::effect::Then;
use crate::typed_size::typed_size;
use engine::protocol::WhatIf;
use std::rc::Rc;

/// State of the form and its results.
#[derive(Clone, Debug, Default)]
pub struct Simulator {
    /// Text of the settings field.
    pub settings: String,
    pub capacity: String,
    /// True if recorded calls of `empty_cache()` are left out.
    pub never_empties: bool,
    /// Settings of the run to draw.
    pub(crate) shown: String,
    /// Request that has not been sent yet.
    pub(crate) wanted: Option<Job>,
    /// Serial and kind of the pending request.
    pub(crate) asked: Option<(u32, Job)>,
    /// All runs on the same terms.
    pub(crate) answer: Option<Rc<WhatIf>>,
    /// Runs before the pending request.
    pub(crate) before: Option<Rc<WhatIf>>,
    pub(crate) terms: Terms,
    /// Completed and total steps of the request.
    pub(crate) progress: [u64; 2],
    /// The simulator's error for the typed settings.
    pub(crate) line_error: String,
    /// True if the error of the capacity is shown.
    pub(crate) is_checked: bool,
    pub(crate) is_canceled: bool,
    /// Reason why the simulator could not be loaded or stopped.
    pub(crate) failure: Option<String>,
    /// True while a run is being written to a file.
    pub(crate) is_writing: bool,
    /// True if another device or file was chosen during a simulation.
    pub(crate) is_left: bool,
}

impl Simulator {
    /// Returns true while a simulation runs or its result is written to a file.
    pub fn is_running(&self) -> bool {
        self.asked.is_some() || self.is_writing
    }
}

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Checks how well the simulation reproduces the recording.
    Proof,
    /// Simulates the typed settings.
    Line,
    /// Simulates a set of promising settings.
    Search,
    /// Simulates one run with its curve.
    Course,
}

/// Conditions under which runs can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) capacity: Option<u64>,
    pub(crate) never_empties: bool,
}

/// A text field of the simulator's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The value of `PYTORCH_CUDA_ALLOC_CONF`.
    Line,
    Capacity,
}

/// Events of the form and the table.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIfAction {
    Typed(Field, String),
    /// Sets whether recorded calls of `empty_cache()` are left out.
    EmptiesLeftOut(bool),
    /// Simulates the typed settings.
    Simulated,
    /// Simulates a set of promising settings.
    Searched,
    Canceled,
    /// The simulator could not be loaded or started, or it stopped.
    Failed(String),
    /// The OOM of a run was clicked. Goes to the moment after its request.
    WentTo(u32),
    /// Copies the settings of the row at this index.
    Copied(usize),
    /// Draws the run of the row at this index, or removes it from the picture.
    Shown(usize),
    /// Opens the run of the row at this index as a snapshot, or compares with it.
    Opened(usize, Then),
    /// The snapshot of a run was written, or writing failed.
    Written(Result<(), String>),
}

impl Simulator {
    pub(crate) fn field(&mut self, field: Field) -> &mut String {
        match field {
            Field::Line => &mut self.settings,
            Field::Capacity => &mut self.capacity,
        }
    }

    /// Returns the typed capacity in bytes. `None` if the field is empty.
    ///
    /// # Errors
    ///
    /// Returns a hint on valid sizes if the text is none.
    pub(crate) fn typed_capacity(&self) -> Result<Option<u64>, &'static str> {
        typed_size(&self.capacity)
    }
}
