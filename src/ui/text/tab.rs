//! The tabs of the views, with their names in links, keys, labels and the ids of their buttons.

base::listed! {
    /// The tabs below the timeline, from left to right.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub enum Tab {
        #[default]
        Insights,
        /// Tree of call stacks, with the bytes of each node.
        CallTree,
        Flame,
        Allocations,
        Histograms,
        /// Totals for files and lines of the user's own code.
        Sources,
        /// Segments and the blocks in them.
        Segments,
        Events,
        /// SQL queries and their results.
        Sql,
    }
}

base::listed! {
    /// Groups of tabs, from left to right. Each group is a button in the tab list. A group of several tabs also has a
    /// button that switches between them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum TabGroup {
        Insights,
        CallStacks,
        Allocations,
        Segments,
        Events,
        Sql,
    }
}

impl TabGroup {
    /// Returns the group's first tab.
    pub fn first(self) -> Tab {
        match self {
            TabGroup::Insights => Tab::Insights,
            TabGroup::CallStacks => Tab::CallTree,
            TabGroup::Allocations => Tab::Allocations,
            TabGroup::Segments => Tab::Segments,
            TabGroup::Events => Tab::Events,
            TabGroup::Sql => Tab::Sql,
        }
    }

    /// Returns the id of the group's button.
    pub fn control(self) -> &'static str {
        match self {
            TabGroup::CallStacks => "tab-stacks",
            TabGroup::Allocations => "tab-allocations",
            TabGroup::Insights | TabGroup::Segments | TabGroup::Events | TabGroup::Sql => self.first().entry().control,
        }
    }

    /// Returns the id of the button that switches between the group's tabs. `None` if the group has only one tab.
    pub fn toggle(self) -> Option<&'static str> {
        match self {
            TabGroup::CallStacks => Some("stacks-views"),
            TabGroup::Allocations => Some("allocations-views"),
            TabGroup::Insights | TabGroup::Segments | TabGroup::Events | TabGroup::Sql => None,
        }
    }
}

/// Static properties of a tab.
pub(crate) struct TabEntry {
    /// Name in links. It must never change, because shared links have to keep working.
    name: &'static str,
    /// Name as displayed, which links accept as well.
    alias: &'static str,
    /// Heading in the list of keyboard shortcuts. `None` if the tab has no keyboard shortcuts.
    pub(crate) heading: Option<&'static str>,
    pub(crate) key: &'static [&'static str],
    pub(crate) label: &'static str,
    /// Id of the button that shows the tab.
    pub(crate) control: &'static str,
}

impl Tab {
    /// Returns the name that links use for the tab.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub fn group(self) -> TabGroup {
        match self {
            Tab::Insights => TabGroup::Insights,
            Tab::CallTree | Tab::Flame | Tab::Sources => TabGroup::CallStacks,
            Tab::Allocations | Tab::Histograms => TabGroup::Allocations,
            Tab::Segments => TabGroup::Segments,
            Tab::Events => TabGroup::Events,
            Tab::Sql => TabGroup::Sql,
        }
    }

    /// Returns the tab that has this name in links.
    pub fn from_name(name: &str) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| [tab.name(), tab.entry().alias].contains(&name))
    }

    pub(crate) const fn entry(self) -> TabEntry {
        let ([name, alias], heading, key, label, control): (_, _, &[&str], _, _) = match self {
            Tab::Insights => (["why", "insights"], Some("Insights"), &["Shift+w"], "Show insights", "tab-insights"),
            Tab::CallTree => (["tree", "call-tree"], Some("Call tree"), &["Shift+t"], "Show the call tree", "tab-tree"),
            Tab::Flame => (["flame"; 2], Some("Flame graph"), &["Shift+f"], "Show the flame graph", "tab-flame"),
            Tab::Allocations => {
                let heading = Some("Allocations and events");
                (["table", "allocations"], heading, &["Shift+l"], "Show allocations", "tab-table")
            }
            Tab::Histograms => {
                let label = "Show histograms of size and lifetime";
                (["sizes", "histograms"], Some("Histograms"), &["Shift+h"], label, "tab-histograms")
            }
            Tab::Sources => (["source"; 2], None, &["Shift+s"], "Show source files and lines", "tab-sources"),
            Tab::Segments => (["memory", "segments"], Some("Segments"), &["Shift+m"], "Show segments", "tab-segments"),
            Tab::Events => (["events"; 2], Some("Events"), &["Shift+a"], "Show events", "tab-events"),
            Tab::Sql => (["sql"; 2], None, &[":"], "Show queries in SQL", "tab-sql"),
        };
        TabEntry { name, alias, heading, key, label, control }
    }
}
