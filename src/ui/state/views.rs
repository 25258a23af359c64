//! State shared by the views below the timeline: the scope, the arrangement of call stacks, the selected tree node, the
//! current tab, and the height.

use crate::text::tab::{Tab, TabGroup};
use protocol::{Arrangement, Internal, Scope};

/// Minimum and maximum height of the views, in percent of the window's height.
pub const HEIGHT_RANGE: [u32; 2] = [15, 75];

/// Height of the views while they show an alarm, in percent of the window's height.
const ROOM_HEIGHT: u32 = 50;

/// State shared by the views below the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Views {
    /// Allocations that the views show, such as those that are live at the cursor.
    pub scope: Scope,
    /// The current tab. It is also set while the views are collapsed. See [`Views::visible`].
    pub tab: Tab,
    pub panel: PanelState,
    /// The tab of each group that was shown last.
    latest: [Option<Tab>; TabGroup::ALL.len()],
    /// Height of the views in percent of the window's height, within [`HEIGHT_RANGE`].
    pub height: u32,
    /// True if the views are at least [`ROOM_HEIGHT`] high because they show an alarm.
    pub(crate) has_room: bool,
    /// Arrangement of call stacks in the call tree and the flame graph.
    pub arrangement: Arrangement,
    /// Id of the selected node in the tree with this arrangement. Its allocations are highlighted in the timeline and
    /// listed in the Allocations tab.
    pub node: Option<u32>,
}

/// State of the panel that holds the views.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PanelState {
    /// The view of the current tab is visible.
    #[default]
    Open,
    /// Only the header with the tabs is visible.
    Collapsed,
}

impl Default for Views {
    fn default() -> Self {
        Views {
            scope: Scope::At(0),
            tab: Tab::default(),
            panel: PanelState::default(),
            latest: [None; TabGroup::ALL.len()],
            height: 30,
            has_room: false,
            // Internal frames around the user's own code make it harder to find.
            arrangement: Arrangement { internal: Internal::Hidden, ..Arrangement::default() },
            node: None,
        }
    }
}

impl Views {
    /// Returns the tab whose view is visible. `None` while the views are collapsed. Only the visible view sends
    /// requests to the worker.
    pub fn visible(&self) -> Option<Tab> {
        (self.panel == PanelState::Open).then_some(self.tab)
    }

    pub(crate) fn show(&mut self, tab: Tab) {
        (self.tab, self.panel) = (tab, PanelState::Open);
        if let Some(latest) = self.latest.get_mut(tab.group() as usize) {
            *latest = Some(tab);
        }
    }

    /// Returns the tab of a group that was shown last, or else the group's first tab.
    pub fn latest_of(&self, group: TabGroup) -> Tab {
        if group == self.tab.group() {
            return self.tab;
        }
        self.latest.get(group as usize).copied().flatten().unwrap_or(group.first())
    }

    /// Returns the height that is shown, in percent of the window's height.
    pub fn shown_height(&self) -> u32 {
        if self.has_room { self.height.max(ROOM_HEIGHT) } else { self.height }
    }

    /// Collapses or expands the views.
    pub(crate) fn toggle_collapsed(&mut self) {
        self.panel = if self.panel == PanelState::Open { PanelState::Collapsed } else { PanelState::Open };
    }

    /// Sets the height of the views in percent of the window's height, limited to [`HEIGHT_RANGE`].
    pub(crate) fn resize(&mut self, height: u32) {
        (self.height, self.has_room) = (height.clamp(HEIGHT_RANGE[0], HEIGHT_RANGE[1]), false);
    }
}
