//! Topics of reports. Each insight is one row.

use serde::{Deserialize, Serialize};

/// Calls a macro with a row for each insight, in display order. A row has the name in commands, links and JSON (also
/// the name of the module in `src/engine/report`), the [`Topic`], its title, which part of the trace it is about, and
/// the help text of the command.
#[macro_export]
macro_rules! insights {
    ($with:ident) => {
        $with! {
            oom: OutOfMemory, "Out of memory", AT_CURSOR, "Explain out-of-memory errors (OOM)";
            savings: Savings, "Savings", WHOLE_TRACE, "Show what lowers the peak, and by how much";
            #[default] peak: Peak, "Peak", AT_CURSOR, "Show the peak: when it was, and what was live";
            categories: Categories, "Categories", AT_CURSOR, "Show memory by category: parameters, gradients, activations, ...";
            leaks: Leaks, "Leaks & waste", WHOLE_TRACE, "Find leaks and waste";
            fragmentation: Fragmentation, "Fragmentation", AT_CURSOR, "Show fragmentation";
            settings: Settings, "Allocator settings", WHOLE_TRACE, "Show allocator settings and suggested changes";
            steps: Steps, "Steps & annotations", WHOLE_TRACE, "Show steps and annotations";
            modules: Modules, "Modules", WHOLE_TRACE, "Show memory by nn.Module";
            range: Range, "Range", IN_RANGE, "Show what a range of events allocates, frees and keeps";
            pools: Pools, "Pools", AT_CURSOR, "Show private pools and host memory";
        }
    };
}

/// Part of the trace that a report is about.
#[derive(Clone, Copy)]
enum Part {
    Trace,
    Cursor,
    Range,
}

const AT_CURSOR: Part = Part::Cursor;
const IN_RANGE: Part = Part::Range;
const WHOLE_TRACE: Part = Part::Trace;

macro_rules! define_topics {
    ($($(#[$default:meta])* $name:ident: $Topic:ident, $title:literal, $at:ident, $help:literal;)*) => {
        /// Topic of a report.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Topic {
            /// Differences between two devices, in one file or in two files.
            Comparison,
            /// Comparison of the snapshots of all ranks of one program.
            Ranks,
            /// Simulation of the allocator under other settings. Only the command line prints it as a report.
            WhatIf,
            $(#[doc = $help] $(#[$default])* $Topic,)*
        }

        impl Topic {
            /// Topics about a single device, in display order.
            pub const ALL: [Topic; [$(Topic::$Topic),*].len()] = [$(Topic::$Topic),*];

            /// Returns the name, the title, the part of the trace, and the help text.
            const fn row(self) -> (&'static str, &'static str, Part, &'static str) {
                match self {
                    Topic::Comparison => ("comparison", "Comparison", WHOLE_TRACE, ""),
                    Topic::Ranks => ("ranks", "Ranks", WHOLE_TRACE, ""),
                    Topic::WhatIf => ("whatif", "What if", WHOLE_TRACE, ""),
                    $(Topic::$Topic => (stringify!($name), $title, $at, $help),)*
                }
            }
        }
    };
}
insights!(define_topics);

/// Names of earlier versions, in links and as commands.
const OLD_NAMES: [(&str, Topic); 4] =
    [("report", Topic::Peak), ("stages", Topic::Steps), ("layers", Topic::Modules), ("waste", Topic::Leaks)];

impl Topic {
    /// Topics whose headlines raise the alarm of a file, the most important first.
    pub const ALARMS: [Topic; 3] = [Topic::OutOfMemory, Topic::Leaks, Topic::Savings];

    /// Returns the topics whose reports repeat the warning of this one.
    pub const fn repeated_by(self) -> &'static [Topic] {
        match self {
            Topic::OutOfMemory => &[Topic::Peak, Topic::Fragmentation],
            Topic::Leaks => &[Topic::Peak, Topic::Steps, Topic::Savings],
            Topic::Settings => &[Topic::Savings, Topic::Fragmentation],
            _ => &[],
        }
    }

    /// Returns the name of the topic, as used on the command line and in links.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the title of the topic, as displayed.
    pub const fn title(self) -> &'static str {
        self.row().1
    }

    /// Returns whether the report depends on the cursor ([`ReportQuestion::at`](crate::ReportQuestion::at)).
    pub const fn depends_on_cursor(self) -> bool {
        matches!(self.row().2, Part::Cursor)
    }

    /// Returns whether the report is about a range ([`ReportQuestion::range`](crate::ReportQuestion::range)).
    pub const fn depends_on_range(self) -> bool {
        matches!(self.row().2, Part::Range)
    }

    /// Returns whether the report quotes [`Simulations`](super::Simulations).
    pub const fn quotes_simulations(self) -> bool {
        matches!(self, Topic::Settings | Topic::Fragmentation | Topic::OutOfMemory | Topic::Savings)
    }

    /// Returns the help text of the command.
    pub const fn help(self) -> &'static str {
        self.row().3
    }

    /// Returns the former names of the topic.
    pub fn old_names(self) -> impl Iterator<Item = &'static str> {
        OLD_NAMES.into_iter().filter(move |(_, topic)| *topic == self).map(|(name, _)| name)
    }

    /// Returns the topic with this name. Accepts old names from earlier links.
    pub fn from_name(name: &str) -> Option<Topic> {
        let mut all = Topic::ALL.into_iter().chain([Topic::Comparison, Topic::Ranks]);
        let old = OLD_NAMES.into_iter().find(|(old, _)| *old == name);
        old.map(|(_, topic)| topic).or_else(|| all.find(|topic| topic.name() == name))
    }
}
