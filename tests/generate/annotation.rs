//! What the program says it is doing.

use std::fmt;

/// One end of a range, as `record_function` leaves it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Annotation {
    pub(crate) stage: Stage,
    pub(crate) name: Name,
    /// Since 1970.
    pub(crate) time_us: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Start,
    End,
}

/// What a range is called. A long trace has many: none holds a text of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Step(u64),
    Phase(&'static str),
    /// The forward pass of a layer, where the program says so.
    Layer(u64),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Step(step) => write!(f, "step_{step}"),
            Name::Phase(phase) => f.write_str(phase),
            Name::Layer(layer) => write!(f, "h.{layer}"),
        }
    }
}
