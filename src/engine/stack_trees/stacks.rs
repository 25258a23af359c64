//! Weights of the allocations of a selection, by stack.

use super::stack_keys::{StackKey, StackOrigin};
use super::weights::Selection;
use super::{StackTrees, Weights};
use history::snapshot::StackId;
use protocol::Weight;
use std::ops::Range;

impl StackTrees {
    /// Returns the number of stack keys (stack and origin) in a selection. 0 if its [total](StackTrees::total) was not
    /// computed recently.
    pub(crate) fn stack_count(&self, selection: Selection) -> usize {
        self.weights_of(selection).map_or(0, Weights::stack_key_count)
    }

    /// Calls `each` with the stack and weight of each stack key in this index range. Stack keys whose weight is zero
    /// are skipped. The stack is `None` if the stack of the alloc event was not recorded.
    pub(crate) fn visit_stacks(
        &self,
        selection: Selection,
        stack_keys: Range<usize>,
        each: &mut dyn FnMut(Option<StackId>, Weight),
    ) {
        let Some(weights) = self.weights_of(selection) else { return };
        for stack_key in stack_keys {
            let weight = weights.of_stack_key(stack_key);
            let stack = match self.stack_keys.get(stack_key as u32) {
                StackKey::Stack(stack, StackOrigin::Alloc) => Some(stack),
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
