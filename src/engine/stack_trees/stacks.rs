//! Weights of a selection by stack.

use super::stems::{StackOrigin, Stem};
use super::weights::Selection;
use super::{StackTrees, Weights};
use crate::protocol::Weight;
use history::snapshot::StackId;
use std::ops::Range;

impl StackTrees {
    /// Returns the number of stems of a selection, 0 unless its [total](Answers::total) was computed recently.
    pub(crate) fn stack_count(&self, of: Selection) -> usize {
        self.weights_of(of).map_or(0, Weights::stem_count)
    }

    /// Calls `each` for the stems at these positions that weigh anything, with the stack that made the allocations. The
    /// stack is `None` if it was not recorded.
    pub(crate) fn visit_stacks(
        &self,
        of: Selection,
        places: Range<usize>,
        each: &mut dyn FnMut(Option<StackId>, Weight),
    ) {
        let Some(weights) = self.weights_of(of) else { return };
        for place in places {
            let weight = weights.of_stem(place);
            let stack = match self.stems.get(place as u32) {
                Stem::Stack(stack, StackOrigin::Alloc) => Some(stack),
                _ => None,
            };
            if weight.count > 0 {
                each(stack, weight);
            }
        }
    }

    fn weights_of(&self, of: Selection) -> Option<&Weights> {
        self.weights.iter().find(|weights| weights.selection == of)
    }
}
