//! Display settings of a device's plot: stacking, colouring and highlight.

use super::{Arrangement, Plot};
use serde::{Deserialize, Serialize};

/// Property that allocations are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Grouping {
    /// Innermost frame of the user's own code.
    #[default]
    CallSite,
    /// Requested bytes, in powers of four.
    Size,
    /// Lifetime in events, in powers of four.
    Lifetime,
    /// Position of the allocation in the trace, in sixteenths.
    Age,
    Stream,
    Pool,
    /// Category by the rules of [`Request::Categories`](super::Request::Categories).
    Category,
    /// Innermost annotation that is open at the allocation (Mosaic's rule).
    Annotation,
    /// torch.compile region of the allocation.
    CompileContext,
}

impl Grouping {
    /// All groupings, in the order of the page's menus.
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

    /// Returns the identifier of the grouping, as in the page's menus.
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

    /// Returns the grouping with this identifier.
    pub fn from_name(name: &str) -> Option<Grouping> {
        Grouping::ALL.into_iter().find(|grouping| grouping.name() == name)
    }

    /// Returns whether the groups are ordered, so that a colour ramp is better than distinct hues.
    pub fn is_ordered(self) -> bool {
        matches!(self, Grouping::Size | Grouping::Lifetime | Grouping::Age)
    }
}

/// Highlighted allocations. All others are faded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Highlight {
    #[default]
    Nothing,
    /// Allocations with this stack, as in [`Details::stack`](super::Details::stack).
    Stack(u32),
    /// Matches of the search with this serial. No allocations if a newer search has finished.
    Found(u32),
    /// Allocations whose stacks are at or below this node of a tree.
    Node(Arrangement, u32),
}

/// Display settings of a device's plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Looks {
    /// Grouping of the stack. Within a group, older allocations are below younger ones. `None` means plain allocation
    /// order.
    pub stacking: Option<Grouping>,
    pub colouring: Grouping,
    pub highlight: Highlight,
    /// Type of plot. `stacking` does not apply to addresses.
    pub plot: Plot,
}

impl Looks {
    /// Returns the settings that determine the positions of allocations in the plot.
    pub fn layout_key(self) -> (Plot, Option<Grouping>) {
        (self.plot, self.stacking)
    }

    /// Returns these settings with a grouping for both stacking and colours. `None` stacks in allocation order and
    /// keeps the colours.
    pub fn grouped_by(self, group: Option<Grouping>) -> Looks {
        Looks { stacking: group, colouring: group.unwrap_or(self.colouring), ..self }
    }

    /// Returns the grouping of the stack, or `None` if the colours use a different one. `Some(None)` means that the
    /// stack is not grouped.
    pub fn group(self) -> Option<Option<Grouping>> {
        (self.stacking.is_none() || self.stacking == Some(self.colouring)).then_some(self.stacking)
    }

    /// Returns these settings without a highlight.
    pub fn without_highlight(self) -> Looks {
        Looks { highlight: Highlight::Nothing, ..self }
    }
}
