//! Data shown around the timeline, and the inputs that it depends on.

use crate::state::latest::Latest;
use picture::timeline::{Axis, OutlineRect, View};
use protocol::{Grouping, LegendEntry, Marks, Overview, PlotSettings, Tally};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Data shown around the timeline of the shown device.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub marks: Latest<bool, Rc<Marks>>,
    pub overview: Latest<Axis, Rc<Overview>>,
    pub legend: Latest<LegendKey, Rc<Vec<LegendEntry>>>,
    /// Outline of the selected allocation or segment.
    pub outline: Latest<OutlineKey, Rc<Vec<OutlineRect>>>,
    /// Totals of all allocations with the selected allocation's call stack.
    pub same_stack: Latest<u32, Tally>,
    /// Palette indices of the colours that the user has faded in the legend.
    pub faded: BTreeSet<u32>,
}

impl Surroundings {
    /// Returns the legend of a colouring, with sums at the cursor. Until the worker has responded, the sums belong to
    /// the cursor's previous position.
    pub fn legend_of(&self, colouring: Grouping) -> Option<&Rc<Vec<LegendEntry>>> {
        self.legend.latest().filter(|_| self.legend.answered_question().is_some_and(|of| of.colouring == colouring))
    }
}

/// Inputs that a legend depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegendKey {
    pub colouring: Grouping,
    pub moment: u32,
    /// Version of the category rules, or 0 if the colours do not depend on them.
    pub rules: u32,
}

/// Inputs that an outline depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlineKey {
    /// Id of the allocation. In the plot of reserved bytes, id of the reserved range.
    pub allocation: u32,
    /// Window of the scene that the outline is drawn over. While panning, the outline moves with the scene.
    pub view: View,
    /// Display settings of the scene, without the highlight.
    pub plot_settings: PlotSettings,
}
