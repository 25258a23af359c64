//! What every view of the answer shares: the moment or range that is asked about, how stacks are put together, and which node of
//! them is selected; which view is seen, and how high it is.

use crate::binding::{self, Binding};
use engine::protocol::{Arrangement, Internal, Scope};

/// The least and the most of the window's height that the views may have, in percent.
pub const HEIGHTS: [u32; 2] = [15, 75];

/// What every view of the answer shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Views {
    /// Which allocations the views are about: those live at the moment that was set last, or those of a range.
    pub scope: Scope,
    /// Which view is chosen; see [`Views::seen`].
    pub tab: Tab,
    /// Whether the views are folded away.
    pub panel: Panel,
    /// How much of the window's height the views have, in percent; within [`HEIGHTS`].
    pub height: u32,
    /// How stacks are put together, in the tree and in the flame graph.
    pub arrangement: Arrangement,
    /// The selected node of that arrangement: its allocations stand out in the timeline and are those of the table.
    pub node: Option<u32>,
}

/// Whether the views are folded away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Panel {
    /// One of them is seen.
    #[default]
    Open,
    /// Only their header is.
    Folded,
}

/// The views of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Tab {
    /// Reports: what an expert would say.
    Why,
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
    /// The allocator's state: segments and the blocks in them.
    Memory,
    /// The list of events.
    Events,
}

impl Tab {
    /// All of them, from left to right.
    pub const ALL: [Tab; 8] =
        [Tab::Why, Tab::Tree, Tab::Flame, Tab::Table, Tab::Histograms, Tab::Sources, Tab::Memory, Tab::Events];

    /// Its name in links. They outlive the page: none of these may change.
    pub fn name(self) -> &'static str {
        match self {
            Tab::Why => "why",
            Tab::Tree => "tree",
            Tab::Flame => "flame",
            Tab::Table => "table",
            Tab::Histograms => "sizes",
            Tab::Sources => "source",
            Tab::Memory => "memory",
            Tab::Events => "events",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| tab.name() == name)
    }

    /// Where the keys work that work while it has the focus.
    pub fn keys(self) -> binding::Scope {
        match self {
            Tab::Why => binding::Scope::Why,
            Tab::Tree => binding::Scope::Tree,
            Tab::Flame => binding::Scope::Flame,
            Tab::Table => binding::Scope::Table,
            Tab::Histograms => binding::Scope::Histograms,
            Tab::Sources => binding::Scope::Page,
            Tab::Memory => binding::Scope::Memory,
            Tab::Events => binding::Scope::Events,
        }
    }

    /// The key that shows it, and the control that does the same.
    pub(super) fn binding(self) -> Binding<Tab> {
        let (key, label, control): (&[&str], _, _) = match self {
            Tab::Why => (&["Shift+w"], "Why: what an expert would say", "tab-why"),
            Tab::Tree => (&["Shift+t"], "Call tree", "tab-tree"),
            Tab::Flame => (&["Shift+f"], "Flame graph", "tab-flame"),
            Tab::Table => (&["Shift+l"], "Table of allocations", "tab-table"),
            Tab::Histograms => (&["Shift+h"], "Histograms of sizes and lives", "tab-histograms"),
            Tab::Sources => (&["Shift+s"], "Files and lines of your own code", "tab-sources"),
            Tab::Memory => (&["Shift+m"], "Memory: segments, blocks, what is free", "tab-state"),
            Tab::Events => (&["Shift+a"], "Events: all that the allocator did", "tab-events"),
        };
        Binding { scope: binding::Scope::Page, keys: key, command: self, label, control }
    }
}

impl Default for Views {
    fn default() -> Self {
        Views {
            scope: Scope::At(0),
            tab: Tab::default(),
            panel: Panel::default(),
            height: 33,
            // Whoever looks for a line of their code would first have to walk through what called it and what it called.
            arrangement: Arrangement { internal: Internal::Hidden, ..Arrangement::default() },
            node: None,
        }
    }
}

impl Views {
    /// The view that is seen, and only that one asks the worker; `None` while they are folded away.
    pub fn seen(&self) -> Option<Tab> {
        (self.panel == Panel::Open).then_some(self.tab)
    }

    /// Shows a view.
    pub(super) fn show(&mut self, tab: Tab) {
        (self.tab, self.panel) = (tab, Panel::Open);
    }

    /// Folds the views away, or back.
    pub(super) fn fold(&mut self) {
        self.panel = if self.panel == Panel::Open { Panel::Folded } else { Panel::Open };
    }

    /// Makes them so high, in percent of the window's height.
    pub(super) fn resize(&mut self, height: u32) {
        self.height = height.clamp(HEIGHTS[0], HEIGHTS[1]);
    }
}
