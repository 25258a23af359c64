//! State of the page: the state shared by all features, and the state of each feature. The list of features is the
//! invocation of `features!` below. It generates the types of states and actions, and the table of link keys.

pub mod command;
pub mod events;
pub mod export;
mod feature;
pub mod flame;
pub mod histograms;
pub mod insights;
mod intents;
pub mod palette;
pub mod plan;
pub mod rows;
pub mod save_page;
pub mod segments;
pub mod source_rows;
pub mod sources;
pub mod sql;
pub mod table;
pub mod tree;
pub mod tree_keys;
pub mod tree_rows;
pub mod watch;
pub mod what_if;

use crate::features::sql::{Sql, SqlAction};
use crate::session::parts;
use crate::state::change::AskPhase;
use crate::state::link_value::{Key, ValueReader};
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use crate::text::url::PageScheme;
use events::{Events, EventsAction};
use export::{Export, ExportAction};
use flame::{FlameAction, FlameGraph};
use insights::{InsightsAction, InsightsTab};
use palette::{Palette, PaletteAction};
use plan::{Plan, PlanAction};
use protocol::Answer;
use save_page::SaveState;
use segments::{SegmentsAction, SegmentsTab};
use sources::{SourceAction, Sources};
use std::ops::{Deref, DerefMut};
use table::{Table, TableAction};
use tree::Tree;
use tree_keys::TreeAction;
use watch::{Watch, WatchAction};
use what_if::{Simulator, WhatIfAction};

/// Generates the state and action types from the list of features, and the functions that dispatch to the
/// features.
macro_rules! features {
    ($($(#[$doc:meta])* $field:ident: $State:ty, $Name:ident($Action:ty) = $feature:expr;)*) => {
        /// State of the page. Changed only by [`update`](crate::shell::update::update).
        #[derive(Clone, Debug, Default)]
        pub struct State {
            /// State shared by all features.
            pub shared: Shared,
            $($(#[$doc])* pub $field: $State,)*
        }

        /// Action handled by a feature, as opposed to the actions of the whole page.
        #[derive(Clone, Debug, PartialEq)]
        pub enum FeatureAction {
            $($(#[$doc])* $Name($Action),)*
        }

        $(impl From<$Action> for FeatureAction {
            fn from(action: $Action) -> FeatureAction {
                FeatureAction::$Name(action)
            }
        })*

        impl State {
            /// Passes an action to the feature that it belongs to.
            pub(crate) fn handle_action(&mut self, action: FeatureAction, out: &mut Outbox) {
                match action {
                    $(FeatureAction::$Name(action) => ($feature.on_action)(&mut self.$field, &self.shared, action, out),)*
                }
                self.carry_out(out);
            }

            /// Calls `reset` of each feature for the pending changes, so that it drops invalid state.
            pub(crate) fn forget(&mut self, out: &mut Outbox) {
                for change in std::mem::take(&mut self.shared.changes) {
                    $(($feature.reset)(&mut self.$field, &self.shared, change, out);
                    self.carry_out(out);)*
                }
            }

            /// Calls the functions of all parts and features that send requests to the worker in this phase.
            pub(crate) fn ask(&mut self, phase: AskPhase, device: i64, out: &mut Outbox) {
                parts::ask(&mut self.shared, phase, device, out);
                self.forget(out);
                $(for (_, ask) in $feature.questions.iter().filter(|(when, _)| *when == phase) {
                    ask(&mut self.$field, &self.shared, device, out);
                    self.carry_out(out);
                })*
                self.forget(out);
            }

            /// Offers an answer of the worker to each feature, then to the parts of [`Shared`]. The parts come last
            /// because some of them accept any answer of a kind. Returns the answer if it was not accepted.
            pub(crate) fn take(&mut self, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
                $(let answer = ($feature.on_reply)(&mut self.$field, &self.shared, serial, answer, out);
                self.carry_out(out);
                let answer = answer?;)*
                parts::take(&mut self.shared, serial, answer, out)
            }

            /// Handles Escape in the visible features. Returns whether there was anything to close.
            pub(crate) fn escape(&mut self) -> bool {
                false $(|| ($feature.on_escape)(&mut self.$field, &self.shared))*
            }

            /// Returns the link keys of all features, with their current values as text.
            pub(crate) fn link_values(&self) -> Vec<(&'static str, String)> {
                let mut values = Vec::new();
                $(values.extend($feature.link_keys.iter().map(|key| (key.name, (key.get)(&self.$field, &self.shared))));)*
                values
            }

            /// Restores the features from a link. `read` passes the value of a link key to a setter.
            pub(crate) fn show_link(&mut self, read: &mut LinkReader<'_>, out: &mut Outbox) {
                $(for key in $feature.link_keys {
                    read(key.name, out, &mut |reader| (key.set)(&mut self.$field, &self.shared, reader));
                    self.carry_out(out);
                })*
            }
        }

        /// Returns the features' link keys. The flag is true if a change of the value adds an entry to the browser's
        /// history.
        pub(crate) fn link_keys() -> impl Iterator<Item = (&'static str, bool)> {
            fn names<S>(keys: &'static [Key<S>]) -> impl Iterator<Item = (&'static str, bool)> {
                keys.iter().map(|key| (key.name, key.adds_history))
            }
            std::iter::empty()$(.chain(names($feature.link_keys)))*
        }
    };
}

features! {
    insights: InsightsTab, Insights(InsightsAction) = insights::FEATURE;
    what_if: Simulator, WhatIf(WhatIfAction) = what_if::FEATURE;
    plan: Plan, Plan(PlanAction) = plan::FEATURE;
    tree: Tree, Tree(TreeAction) = tree::FEATURE;
    flame: FlameGraph, Flame(FlameAction) = flame::FEATURE;
    /// The Allocations tab: the list of allocations, and histograms.
    table: Table, Table(TableAction) = table::FEATURE;
    sources: Sources, Source(SourceAction) = sources::FEATURE;
    events: Events, Events(EventsAction) = events::FEATURE;
    segments: SegmentsTab, Segments(SegmentsAction) = segments::FEATURE;
    queries: Sql, Queries(SqlAction) = self::sql::FEATURE;
    /// Export of the picture to a file.
    export: Export, Export(ExportAction) = export::FEATURE;
    /// Export of a page that contains the snapshot.
    html: SaveState, Html(save_page::SaveProgress) = save_page::FEATURE;
    /// Reloading of files that change while the page is open.
    live: Watch, Live(WatchAction) = watch::FEATURE;
    palette: Palette, Palette(PaletteAction) = palette::FEATURE;
}

/// Looks up the value of a link key and passes it to a setter.
pub(crate) type LinkReader<'a> = dyn FnMut(&'static str, &mut Outbox, &mut dyn FnMut(&mut ValueReader<'_>)) + 'a;

impl State {
    /// Carries out the pending intents of features.
    pub(crate) fn carry_out(&mut self, out: &mut Outbox) {
        intents::carry_out(&mut self.shared, &mut self.insights, out);
    }

    /// Returns the state of a page without an open file. `page_scheme` says how the page was loaded.
    pub fn new(page_scheme: PageScheme) -> State {
        State { shared: Shared { page_scheme, simulates_apart: true, ..Shared::default() }, ..State::default() }
    }
}

/// Makes the fields of the shared state accessible as fields of `State`.
impl Deref for State {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl DerefMut for State {
    fn deref_mut(&mut self) -> &mut Shared {
        &mut self.shared
    }
}
