//! How a device is drawn: what stands on what, what colour tells, what stands out.

use super::{Arrangement, Plot};
use serde::{Deserialize, Serialize};

/// What allocations are distinguished by.
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
    Stream,
    Pool,
    /// What they are for, as the rules of [`Request::Categories`](super::Request::Categories) tell.
    Category,
    /// The innermost annotation that is open where they are born (Mosaic's rule).
    Annotation,
    /// The torch.compile region they are made in.
    CompileContext,
}

impl Grouping {
    /// All of them, in the order of the page's pickers.
    pub const ALL: [Grouping; 9] = [
        Grouping::CallSite,
        Grouping::Category,
        Grouping::Size,
        Grouping::Lifetime,
        Grouping::Age,
        Grouping::Stream,
        Grouping::Pool,
        Grouping::Annotation,
        Grouping::CompileContext,
    ];

    /// Its name, as the page's pickers have it as a value.
    pub fn name(self) -> &'static str {
        match self {
            Grouping::CallSite => "site",
            Grouping::Size => "size",
            Grouping::Lifetime => "lifetime",
            Grouping::Age => "age",
            Grouping::Stream => "stream",
            Grouping::Pool => "pool",
            Grouping::Category => "category",
            Grouping::Annotation => "annotation",
            Grouping::CompileContext => "region",
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

/// What stands out; all else is faded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Highlight {
    /// Nothing does.
    #[default]
    Nothing,
    /// The allocations with this stack, by [`Details::stack`](super::Details::stack).
    Stack(u32),
    /// The matches of the search with this serial; nothing, when another one was finished since.
    Found(u32),
    /// The allocations whose stacks are in or below this node of a tree.
    Node(Arrangement, u32),
}

/// How a device is drawn: what stands on what, what colour tells, what stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Looks {
    /// Groups stand together, inside them the older below the younger; `None`: all in order of birth.
    pub stacking: Option<Grouping>,
    pub colouring: Grouping,
    pub highlight: Highlight,
    /// What the vertical axis is; `stacking` matters to a stack alone.
    pub plot: Plot,
}

impl Looks {
    /// What decides where things are in a picture: the plot and the order.
    pub fn order(self) -> (Plot, Option<Grouping>) {
        (self.plot, self.stacking)
    }

    /// The same, stacked and coloured by one grouping; `None`: stacked in the order of allocation.
    pub fn grouped_by(self, group: Option<Grouping>) -> Looks {
        Looks { stacking: group, colouring: group.unwrap_or(self.colouring), ..self }
    }

    /// What it is grouped by, where order and colours agree; `Some(None)`: by nothing.
    pub fn group(self) -> Option<Option<Grouping>> {
        (self.stacking.is_none() || self.stacking == Some(self.colouring)).then_some(self.stacking)
    }

    /// The same with nothing that stands out: all that tells where an allocation is.
    pub fn plain(self) -> Looks {
        Looks { highlight: Highlight::Nothing, ..self }
    }
}
