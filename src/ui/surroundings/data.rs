//! What stands around the picture, and the questions about it.

use crate::latest::Latest;
use engine::protocol::{Grouping, LegendEntry, Looks, Marks, Overview, Tally};
use picture::timeline::{Axis, OutlineRect, View};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What stands around the stack of the shown device.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub marks: Latest<(), Rc<Marks>>,
    pub overview: Latest<Axis, Rc<Overview>>,
    pub legend: Latest<Coloured, Rc<Vec<LegendEntry>>>,
    /// Where the selection is.
    pub outline: Latest<Outlined, Rc<Vec<OutlineRect>>>,
    /// What has the stack of the selection.
    pub same_stack: Latest<u32, Tally>,
    /// Slots of the palette that are faded, by the legend.
    pub faded: BTreeSet<u32>,
}

impl Surroundings {
    /// What these colours mean, with what there is of each at the moment, or at the one before until that is known.
    pub fn legend_of(&self, colouring: Grouping) -> Option<&Rc<Vec<LegendEntry>>> {
        self.legend.latest().filter(|_| self.legend.question().is_some_and(|of| of.colouring == colouring))
    }
}

/// What a legend is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coloured {
    pub colouring: Grouping,
    pub at: u32,
    /// The set of rules that tells categories, where colours tell those.
    pub rules: u32,
}

/// What an outline is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlined {
    /// The allocation; where what was reserved is shown, the range.
    pub allocation: u32,
    /// The window of the scene: the outline moves with it while panning.
    pub view: View,
    /// Order and colours of the scene; what stands out does not matter.
    pub looks: Looks,
}
