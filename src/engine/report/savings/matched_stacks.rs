//! Stacks that savings recognize by their function names.

use analysis::IdSet;
use history::snapshot::StackId;

/// Stacks that compute the loss or attention, found by their function names.
#[derive(Clone, Copy)]
pub(super) struct MatchedStacks<'a> {
    pub(super) loss: &'a IdSet,
    pub(super) attention: &'a IdSet,
    pub(super) softmax: &'a IdSet,
}

impl MatchedStacks<'_> {
    /// Returns whether a stack computes the softmax of an attention. The `log_softmax` of a loss is another one.
    pub(super) fn is_attention_score(&self, stack: StackId) -> bool {
        let is_in = |stacks: &IdSet| stacks.contains(stack.0);
        is_in(self.attention) && is_in(self.softmax) && !is_in(self.loss)
    }
}
