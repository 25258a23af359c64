//! Data shown around the timeline, and the inputs of the questions for it.

use crate::latest::Latest;
use engine::protocol::{Grouping, LegendEntry, Looks, Marks, Overview, Tally};
use picture::timeline::{Axis, OutlineRect, View};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Data shown around the timeline of the shown device.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub marks: Latest<(), Rc<Marks>>,
    pub overview: Latest<Axis, Rc<Overview>>,
    pub legend: Latest<LegendKey, Rc<Vec<LegendEntry>>>,
    /// Outline of the selected allocation or segment.
    pub outline: Latest<OutlineKey, Rc<Vec<OutlineRect>>>,
    /// Totals of the allocations with the selection's call stack.
    pub same_stack: Latest<u32, Tally>,
    /// Palette slots that the user has faded in the legend.
    pub faded: BTreeSet<u32>,
}

impl Surroundings {
    /// Returns the legend of a colouring with sums at the cursor, or at the cursor's previous position until the worker
    /// has answered.
    pub fn legend_of(&self, colouring: Grouping) -> Option<&Rc<Vec<LegendEntry>>> {
        self.legend.latest().filter(|_| self.legend.answered_question().is_some_and(|of| of.colouring == colouring))
    }
}

/// Inputs that a legend depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegendKey {
    pub colouring: Grouping,
    pub moment: u32,
    /// Version of the category rules if colours show categories, otherwise 0.
    pub rules: u32,
}

/// Inputs that an outline depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlineKey {
    /// Id of the allocation, or of the range in the plot of reserved bytes.
    pub allocation: u32,
    /// The window of the scene. The outline moves with it while panning.
    pub view: View,
    /// Stacking order and colours of the scene, without the highlight.
    pub looks: Looks,
}
