//! What every view of the answer shares: the moment or range that is asked about, how stacks are put together, and which node of
//! them is selected; which view is seen, and how high it is.

use super::tab::{Tab, TabGroup};
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
    pub panel: Panel,
    /// The tab of each group that was shown last, where one was.
    latest: [Option<Tab>; TabGroup::ALL.len()],
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

impl Default for Views {
    fn default() -> Self {
        Views {
            scope: Scope::At(0),
            tab: Tab::default(),
            panel: Panel::default(),
            latest: [None; TabGroup::ALL.len()],
            height: 30,
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
        if let Some(latest) = self.latest.get_mut(tab.group() as usize) {
            *latest = Some(tab);
        }
    }

    /// The tab of a group that was shown last, or else its first.
    pub fn latest_of(&self, group: TabGroup) -> Tab {
        if group == self.tab.group() {
            return self.tab;
        }
        self.latest.get(group as usize).copied().flatten().unwrap_or(group.first())
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
