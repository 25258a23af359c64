//! Passing of long batches to their container before the batch ends, which keeps the stack small.

use super::builder::Builder;
use super::error::ErrorKind;
use super::fault::{TOP, fault};
use super::open::Kind;
use super::stack::{Stack, StackResult};

/// Number of values that stay on the stack when part of a batch is passed on, because a TUPLE3 that follows would need
/// them.
const TUPLE_REACH: usize = 3;

impl<B: Builder> Stack<B> {
    #[inline(always)]
    pub(super) fn pass_long_batch_if_due(&mut self) -> StackResult<B> {
        if self.values.len() < self.next_room_check { Ok(()) } else { self.pass_long_batch() }
    }

    /// Returns true if `batches` more nested batches on the fast paths cannot exceed the limits of the stack.
    #[inline(always)]
    pub(super) fn has_room_for_batches(&self, batches: usize) -> bool {
        let max_batch = self.limits.tuple_items.saturating_add(2 * self.limits.fast_dict_pairs);
        let height = self.values.len().saturating_add(batches.saturating_mul(max_batch));
        height < self.limits.stack_values && self.marks.len() + batches <= self.limits.open_containers
    }

    /// If the last batch is longer than any tuple, passes its values to the open container below its mark. This keeps
    /// the stack small, and the builder receives events early even if the file has a whole trace in one batch.
    #[cold]
    #[inline(never)]
    fn pass_long_batch(&mut self) -> StackResult<B> {
        let height = self.values.len();
        let end = height.saturating_sub(TUPLE_REACH);
        let is_longer_than_a_tuple = height - self.batch_start >= self.limits.tuple_items;
        // An open container in the batch may still take the values above it.
        let is_settled = || (self.batch_start..height).rev().all(|position| self.open_at(position).is_none());
        if is_longer_than_a_tuple
            && is_settled()
            && let Some(below) = self.batch_start.checked_sub(1)
            && let Some(owner) = self.open_at(below)
            && let Some(kind) = self.open.get(owner).map(|open| open.kind)
        {
            let from = self.batch_start;
            let end = if kind == Kind::Dict { from + (end - from) / 2 * 2 } else { end };
            self.pass_items(kind, owner, from, end)?;
            self.values.remove(from, end);
            if let Some(mark) = self.marks.last_mut() {
                (mark.is_partly_passed, mark.next_room_check) = (true, mark.at + self.limits.tuple_items);
            }
            self.update_batch_start();
            return Ok(());
        }
        if height >= self.limits.stack_values {
            return Err(fault(ErrorKind::Limit { what: "values on the stack", max: self.limits.stack_values }, TOP));
        }
        // Twice the batch, so that searching it costs no more than its values did.
        let room = height + (height - self.batch_start).max(self.limits.tuple_items);
        match self.marks.last_mut() {
            Some(mark) => mark.next_room_check = room,
            None => self.base_room_check = room,
        }
        self.update_batch_start();
        Ok(())
    }
}
