//! Weights of the allocations of a selection, by stack.

use super::stems::{StackOrigin, Stem};
use super::weights::Selection;
use super::{StackTrees, Weights};
use crate::protocol::Weight;
use history::snapshot::StackId;
use std::ops::Range;

impl StackTrees {
    /// Returns the number of stems (stack and origin) in a selection. 0 if its [total](StackTrees::total) was not
    /// computed recently.
    pub(crate) fn stack_count(&self, selection: Selection) -> usize {
        self.weights_of(selection).map_or(0, Weights::stem_count)
    }

    /// Calls `each` with the stack and weight of each stem in this index range. Stems whose weight is zero are skipped.
    /// The stack is `None` if the stack of the alloc event was not recorded.
    pub(crate) fn visit_stacks(
        &self,
        selection: Selection,
        stems: Range<usize>,
        each: &mut dyn FnMut(Option<StackId>, Weight),
    ) {
        let Some(weights) = self.weights_of(selection) else { return };
        for stem in stems {
            let weight = weights.of_stem(stem);
            let stack = match self.stems.get(stem as u32) {
                Stem::Stack(stack, StackOrigin::Alloc) => Some(stack),
                _ => None,
            };
            if weight.count > 0 {
                each(stack, weight);
            }
        }
    }

    fn weights_of(&self, selection: Selection) -> Option<&Weights> {
        self.weights.iter().find(|weights| weights.selection == selection)
    }
}
