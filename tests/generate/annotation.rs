//! What the program says it is doing.

/// One end of a range, as `record_function` leaves it.
#[derive(Clone, Debug)]
pub(crate) struct Annotation {
    pub(crate) stage: Stage,
    pub(crate) name: String,
    /// Since 1970.
    pub(crate) time_us: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Start,
    End,
}
