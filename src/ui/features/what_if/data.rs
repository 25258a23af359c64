//! What is typed in the form of the simulated allocator, what is on its way, and what was answered.

use crate::effect::Then;
use crate::typed_size::typed_size;
use engine::protocol::WhatIf;
use std::rc::Rc;

/// The form, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Simulator {
    /// What stands in the field of the settings, and of the capacity.
    pub settings: String,
    pub capacity: String,
    /// Whether recorded calls of `empty_cache()` are left out.
    pub never_empties: bool,
    /// The settings whose run is to be drawn.
    pub(crate) shown: String,
    /// What the person wants, until it is asked.
    pub(crate) wanted: Option<Job>,
    /// The question that is on its way.
    pub(crate) asked: Option<(u32, Job)>,
    /// All runs on the same terms.
    pub(crate) answer: Option<Rc<WhatIf>>,
    /// Those before the question that is on its way.
    pub(crate) before: Option<Rc<WhatIf>>,
    pub(crate) terms: Terms,
    /// Steps of the answer that are done, and all.
    pub(crate) progress: [u64; 2],
    /// What the simulator says is wrong with the typed settings.
    pub(crate) line_error: String,
    /// Whether what is wrong with the capacity is said.
    pub(crate) is_checked: bool,
    pub(crate) is_canceled: bool,
    /// Why the simulator could not be had.
    pub(crate) failure: Option<String>,
    /// Whether a run is being written, to be opened.
    pub(crate) is_writing: bool,
    /// Whether another device or file was chosen while it worked.
    pub(crate) is_left: bool,
}

impl Simulator {
    /// Whether a simulation runs, or its result is written to a file.
    pub fn is_running(&self) -> bool {
        self.asked.is_some() || self.is_writing
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// What the simulation reproduces, and no more.
    Proof,
    /// The typed settings.
    Line,
    /// Settings worth trying.
    Search,
    /// One run event by event.
    Course,
}

/// What runs must have in common to be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub(crate) capacity: Option<u64>,
    pub(crate) never_empties: bool,
}

/// A field of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The line of `PYTORCH_CUDA_ALLOC_CONF`.
    Line,
    Capacity,
}

/// What happened in the form or in the table.
#[derive(Clone, Debug, PartialEq)]
pub enum WhatIfAction {
    Typed(Field, String),
    /// Whether recorded calls of `empty_cache()` are left out.
    EmptiesLeftOut(bool),
    /// The typed settings shall be simulated.
    Simulated,
    /// Settings worth trying shall be.
    Searched,
    Canceled,
    /// The simulator could not be fetched or started, or it stopped: why.
    Failed(String),
    /// The out-of-memory error of a run was clicked: the moment after its request.
    WentTo(u32),
    /// The settings of the row with this place are to be copied.
    Copied(usize),
    /// The run of that row is to be drawn, or no longer.
    Shown(usize),
    /// The run of that row is to be opened as a snapshot, or compared with.
    Opened(usize, Then),
    /// It was written and is opened, or why not.
    Written(Result<(), String>),
}

impl Simulator {
    pub(crate) fn field(&mut self, field: Field) -> &mut String {
        match field {
            Field::Line => &mut self.settings,
            Field::Capacity => &mut self.capacity,
        }
    }

    /// What is typed as the capacity: bytes, or none where the field is empty.
    ///
    /// # Errors
    /// It is no size: what one looks like.
    pub(crate) fn typed_capacity(&self) -> Result<Option<u64>, &'static str> {
        typed_size(&self.capacity)
    }
}
