//! View models → DOM. A panel touches its elements only when its view model changed.

mod answer;
mod details;
mod events;
mod export;
mod find;
mod flame;
mod grid;
mod help;
mod histograms;
mod hover;
mod lanes;
mod legend;
mod memory;
mod moment;
mod plots;
mod range;
mod rules;
mod settings;
mod sources;
mod stage;
mod summary;
mod table;
pub(super) mod tree;
pub(super) mod why;

use super::dom::Elements;
use super::theme::Theme;
use ui::State;

/// What every panel shows now.
#[derive(Default)]
pub(super) struct Panels {
    answer: answer::Panel,
    details: details::Panel,
    events: events::Panel,
    find: find::Panel,
    flame: flame::Panel,
    export: export::Panel,
    help: help::Panel,
    histograms: histograms::Panel,
    hover: hover::Panel,
    lanes: lanes::Panel,
    legend: legend::Panel,
    memory: memory::Panel,
    moment: moment::Panel,
    settings: settings::Panel,
    plots: plots::Panel,
    range: range::Panel,
    rules: rules::Panel,
    sources: sources::Panel,
    stage: stage::Panel,
    summary: summary::Panel,
    tree: tree::Panel,
    table: table::Panel,
    why: why::Panel,
}

/// Fills in what never changes.
pub(super) fn prepare(elements: &Elements) {
    stage::prepare(elements);
    help::prepare(elements);
    table::prepare(elements);
    events::prepare(elements);
    why::prepare(elements);
}

impl Panels {
    /// Shows the state.
    pub(super) fn show(&mut self, elements: &Elements, state: &State, theme: &Theme) {
        self.stage.show(elements, state);
        self.summary.show(elements, state);
        self.answer.show(elements, state);
        self.table.show(elements, state);
        self.histograms.show(elements, state);
        self.details.show(elements, state);
        self.events.show(elements, state);
        self.memory.show(elements, state);
        self.plots.show(elements, state);
        self.lanes.show(elements, state);
        self.find.show(elements, state);
        self.flame.show(elements, state);
        self.hover.show(elements, state);
        self.legend.show(elements, state, theme);
        self.help.show(elements, state);
        self.export.show(elements, state);
        self.moment.show(elements, state);
        self.settings.show(elements, state);
        self.tree.show(elements, state);
        self.range.show(elements, state);
        self.rules.show(elements, state);
        self.sources.show(elements, state);
        self.why.show(elements, state);
    }
}

/// A view model as it was shown last.
struct Shown<T>(Option<T>);

impl<T> Default for Shown<T> {
    fn default() -> Self {
        Shown(None)
    }
}

impl<T: PartialEq> Shown<T> {
    /// The new view model, when it is another than the one before.
    fn changed(&mut self, new: T) -> Option<&T> {
        if self.0.as_ref() == Some(&new) {
            return None;
        }
        Some(self.0.insert(new))
    }
}
