//! Weights of a selection by stack.

use super::stems::{StackOf, Stem};
use super::weights::Selection;
use super::{Answers, Weights};
use crate::protocol::Weight;
use history::snapshot::StackId;
use std::ops::Range;

impl Answers {
    /// Returns the number of stems of a selection, 0 unless its [total](Answers::total) was computed recently.
    pub(crate) fn stack_count(&self, of: Selection) -> usize {
        self.weights_of(of).map_or(0, Weights::stems)
    }

    /// Calls `each` for the stems at these positions that weigh anything, with the stack that made the allocations. The
    /// stack is `None` if it was not recorded.
    pub(crate) fn each_stack(
        &self,
        of: Selection,
        places: Range<usize>,
        each: &mut dyn FnMut(Option<StackId>, Weight),
    ) {
        let Some(weights) = self.weights_of(of) else { return };
        for place in places {
            let weight = weights.of_stem(place);
            let stack = match self.stems.at(place as u32) {
                Stem::Of(stack, StackOf::Alloc) => Some(stack),
                _ => None,
            };
            if weight.count > 0 {
                each(stack, weight);
            }
        }
    }

    fn weights_of(&self, of: Selection) -> Option<&Weights> {
        self.weights.iter().find(|weights| weights.of == of)
    }
}
