//! Stacks that savings recognize by their function names.

use super::kinds::{ATTENTION_QUERY, BUCKET_QUERY, CHECKPOINT_QUERY, LOSS_QUERY, SOFTMAX_QUERY};
use crate::stack_match::StackMatch;
use base::slice::{SliceResult, TimeSlice};
use history::snapshot::{Snapshot, StackId};

/// Stacks that compute the loss or attention, or run in activation checkpointing, found by their function names.
#[derive(Default)]
pub(super) struct MatchedStacks {
    loss: StackMatch,
    attention: StackMatch,
    softmax: StackMatch,
    checkpoint: StackMatch,
    buckets: StackMatch,
}

impl MatchedStacks {
    /// Continues matching stacks until all are matched or the time slice is used up.
    pub(super) fn step(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        self.loss.match_query(snapshot, LOSS_QUERY, slice)?;
        self.attention.match_query(snapshot, ATTENTION_QUERY, slice)?;
        self.softmax.match_query(snapshot, SOFTMAX_QUERY, slice)?;
        self.checkpoint.match_query(snapshot, CHECKPOINT_QUERY, slice)?;
        self.buckets.match_query(snapshot, BUCKET_QUERY, slice)
    }

    /// Returns whether a stack computes the loss.
    pub(super) fn is_loss(&self, stack: StackId) -> bool {
        self.loss.stacks.contains(stack.0)
    }

    /// Returns whether a stack allocates a bucket of DistributedDataParallel.
    pub(super) fn is_bucket(&self, stack: StackId) -> bool {
        self.buckets.stacks.contains(stack.0)
    }

    /// Returns whether a stack of the trace allocates such a bucket.
    pub(super) fn has_buckets(&self) -> bool {
        self.buckets.stacks.count() > 0
    }

    /// Returns whether a stack runs in activation checkpointing. Checkpointing it again saves nothing.
    pub(super) fn is_checkpointed(&self, stack: StackId) -> bool {
        self.checkpoint.stacks.contains(stack.0)
    }

    /// Returns whether a stack computes attention scores or their softmax. `log_softmax` in a loss does not count.
    pub(super) fn is_attention_score(&self, stack: StackId) -> bool {
        let is_in = |matched: &StackMatch| matched.stacks.contains(stack.0);
        is_in(&self.attention) && is_in(&self.softmax) && !self.is_loss(stack)
    }
}
