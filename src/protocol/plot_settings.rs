//! Display settings of a device's plot: stacking order, colours and highlight.

use super::{Arrangement, Plot};
use serde::{Deserialize, Serialize};

base::listed! {
    /// Property that allocations are grouped by.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    pub enum Grouping {
        /// Innermost frame of the user's own code.
        #[default]
        CallSite = "site",
        /// Category, as classified by the rules of [`Request::Categories`](super::Request::Categories).
        Category = "category",
        /// Requested bytes. Each class spans a factor of four.
        Size = "size",
        /// Lifetime in events. Each class spans a factor of four.
        Lifetime = "lifetime",
        /// Time of allocation. The trace is divided into sixteen equal parts.
        Age = "age",
        Stream = "stream",
        Pool = "pool",
        /// Innermost annotation that is open when the allocation is made (Mosaic's rule).
        Annotation = "annotation",
        /// torch.compile region of the allocation.
        CompileContext = "region",
        /// User metadata of the allocation, or else of its newest `annotate` event.
        Metadata = "metadata",
    }
}

impl Grouping {
    /// Returns whether the groups have a natural order. Then a colour ramp is used instead of distinct hues.
    pub fn is_ordered(self) -> bool {
        matches!(self, Grouping::Size | Grouping::Lifetime | Grouping::Age)
    }
}

/// Set of allocations to highlight. All other allocations are faded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Highlight {
    #[default]
    Nothing,
    /// Allocations with this stack id. See [`Details::stack`](super::Details::stack).
    Stack(u32),
    /// Matches of the search with this serial. Empty if a newer search has finished.
    Found(u32),
    /// Allocations whose stacks are at or below this node of a tree.
    Node(Arrangement, u32),
}

/// Display settings that determine how a device's plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct PlotSettings {
    /// Grouping that determines the order of allocations in the stacked plot. Within a group, older allocations are
    /// below younger ones. `None` means order of allocation.
    pub stacking: Option<Grouping>,
    pub colouring: Grouping,
    pub highlight: Highlight,
    /// Type of plot. `stacking` has no effect on the address plot.
    pub plot: Plot,
}

impl PlotSettings {
    /// Returns only those settings that affect the positions of allocations in the plot.
    pub fn layout_key(self) -> (Plot, Option<Grouping>) {
        (self.plot, self.stacking)
    }

    /// Returns these settings with `group` as the grouping of both stacking and colours. `None` stacks in order of
    /// allocation and leaves the colours unchanged.
    pub fn grouped_by(self, group: Option<Grouping>) -> PlotSettings {
        PlotSettings { stacking: group, colouring: group.unwrap_or(self.colouring), ..self }
    }

    /// Returns the grouping that applies to both stacking and colours. `None` if they differ. `Some(None)` if the plot
    /// is not stacked by group.
    pub fn group(self) -> Option<Option<Grouping>> {
        (self.stacking.is_none() || self.stacking == Some(self.colouring)).then_some(self.stacking)
    }

    /// Returns these settings without a highlight.
    pub fn without_highlight(self) -> PlotSettings {
        PlotSettings { highlight: Highlight::Nothing, ..self }
    }
}
