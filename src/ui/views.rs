//! What every view of the answer shares: the moment or range that is asked about, how stacks are put together, and which node of
//! them is selected.

use crate::engine::protocol::{Arrangement, Scope};

/// What every view of the answer shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Views {
    /// Which allocations the views are about: those live at the moment that was set last, or those of a range.
    pub scope: Scope,
    /// Which view is seen.
    pub tab: Tab,
    /// How stacks are put together, in the tree and in the flame graph.
    pub arrangement: Arrangement,
    /// The selected node of that arrangement: its allocations stand out in the timeline and are those of the table.
    pub node: Option<u32>,
}

/// The views of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tab {
    /// The call tree.
    #[default]
    Tree,
    /// The flame graph.
    Flame,
    /// The table of allocations.
    Table,
    /// The histograms of sizes and lives.
    Histograms,
    /// Files and lines of the user's own code.
    Sources,
}

impl Default for Views {
    fn default() -> Self {
        Views { scope: Scope::At(0), tab: Tab::default(), arrangement: Arrangement::default(), node: None }
    }
}

impl Views {
    /// The view that is seen, and only that one asks the worker; `None` while they are folded away.
    pub fn seen(&self) -> Option<Tab> {
        Some(self.tab)
    }
}
