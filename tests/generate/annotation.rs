//! Annotations of the generated program.

use std::fmt;

/// Start or end of a range, as recorded by `record_function`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Annotation {
    pub(crate) stage: Stage,
    pub(crate) name: Name,
    /// Microseconds since 1970.
    pub(crate) time_us: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Start,
    End,
}

/// Name of a range. Formatted on demand, because long traces have many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Step(u64),
    Phase(&'static str),
    /// Forward pass of a layer, if requested.
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
