//! How a device is drawn: what stands on what, what colour tells, what stands out.

use serde::{Deserialize, Serialize};

/// What allocations are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Grouping {
    /// The innermost frame that is the user's own code.
    #[default]
    CallSite,
    /// Requested bytes, in powers of four.
    Size,
    /// How many events they live, in powers of four.
    Lifetime,
    /// When they were born, in sixteenths of the trace.
    Age,
    /// The stream they were made for.
    Stream,
    /// The pool they are in.
    Pool,
}

impl Grouping {
    /// All of them, in the order of the page's pickers.
    pub const ALL: [Grouping; 6] =
        [Grouping::CallSite, Grouping::Size, Grouping::Lifetime, Grouping::Age, Grouping::Stream, Grouping::Pool];

    /// Its name, as the page's pickers have it as a value.
    pub fn name(self) -> &'static str {
        match self {
            Grouping::CallSite => "site",
            Grouping::Size => "size",
            Grouping::Lifetime => "lifetime",
            Grouping::Age => "age",
            Grouping::Stream => "stream",
            Grouping::Pool => "pool",
        }
    }

    /// The grouping of that name.
    pub fn named(name: &str) -> Option<Grouping> {
        Grouping::ALL.into_iter().find(|grouping| grouping.name() == name)
    }

    /// Whether its groups have an order that a ramp of colours shows better than different hues.
    pub fn is_ordered(self) -> bool {
        matches!(self, Grouping::Size | Grouping::Lifetime | Grouping::Age)
    }
}

/// How a device is drawn: what stands on what, and what colour tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Looks {
    /// Groups stand together, inside them the older below the younger; `None`: all in order of birth.
    pub stacking: Option<Grouping>,
    /// What colour tells.
    pub colouring: Grouping,
}
