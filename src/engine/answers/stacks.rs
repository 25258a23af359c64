//! What was weighed, stack by stack.

use super::stems::{StackOf, Stem};
use super::weights::Selection;
use super::{Answers, Weights};
use crate::protocol::Weight;
use history::snapshot::StackId;
use std::ops::Range;

impl Answers {
    /// How many kinds of stacks a selection has whose [total](Answers::total) was asked for lately.
    pub(crate) fn stack_count(&self, of: Selection) -> usize {
        self.weights_of(of).map_or(0, Weights::stems)
    }

    /// What some of them weigh: each with the stack that made the allocations, where it was recorded.
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
