//! The tabs: all that tells one from another.

base::listed! {
    /// The views of an answer, from left to right.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
    pub enum Tab {
        Why,
        /// The call tree.
        #[default]
        Tree,
        Flame,
        Table,
        Histograms,
        /// Files and lines of the user's own code.
        Sources,
        /// The allocator's state: segments and the blocks in them.
        Memory,
        Events,
    }
}

/// What a tab declares of itself.
pub(super) struct Entry {
    /// Its name in links. They outlive the page: none of these may change.
    name: &'static str,
    /// Its heading in the list of keys; without keys of its own, it has none.
    pub(super) heading: Option<&'static str>,
    pub(super) key: &'static [&'static str],
    pub(super) label: &'static str,
    /// The id of the button that does the same.
    pub(super) control: &'static str,
}

impl Tab {
    /// Its name in links.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| tab.name() == name)
    }

    pub(super) const fn entry(self) -> Entry {
        let (name, heading, key, label, control): (_, _, &[&str], _, _) = match self {
            Tab::Why => ("why", Some("Why"), &["Shift+w"], "Why: what an expert would say", "tab-why"),
            Tab::Tree => ("tree", Some("Call tree"), &["Shift+t"], "Call tree", "tab-tree"),
            Tab::Flame => ("flame", Some("Flame graph"), &["Shift+f"], "Flame graph", "tab-flame"),
            Tab::Table => {
                let heading = Some("Table of allocations, list of events");
                ("table", heading, &["Shift+l"], "Table of allocations", "tab-table")
            }
            Tab::Histograms => {
                ("sizes", Some("Histograms"), &["Shift+h"], "Histograms of sizes and lives", "tab-histograms")
            }
            Tab::Sources => ("source", None, &["Shift+s"], "Files and lines of your own code", "tab-sources"),
            Tab::Memory => {
                ("memory", Some("Memory"), &["Shift+m"], "Memory: segments, blocks, what is free", "tab-state")
            }
            Tab::Events => {
                ("events", Some("List of events"), &["Shift+a"], "Events: all that the allocator did", "tab-events")
            }
        };
        Entry { name, heading, key, label, control }
    }
}
