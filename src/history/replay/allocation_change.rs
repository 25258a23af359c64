//! Effect of an event on an allocation.

use super::allocations::AllocationId;
use super::trace::to_signed;

/// Effect of an event on an allocation.
#[derive(Clone, Copy, Debug)]
pub struct AllocationChange {
    pub id: AllocationId,
    /// Moment that the event leads to.
    pub moment: u32,
    /// Requested bytes of the allocation.
    pub size: u64,
    /// `true` if the event starts the allocation's lifetime, `false` if it ends it, `None` if neither.
    pub starts_lifetime: Option<bool>,
    /// Change in bytes awaiting free.
    pub awaiting_free: i64,
    /// True if the program frees the allocation at this event. The event requests the free, or it completes a free that
    /// was never requested.
    pub is_program_free: bool,
}

impl AllocationChange {
    /// Returns true if the event changes the live bytes or the bytes awaiting free.
    pub fn changes(&self) -> bool {
        self.starts_lifetime.is_some() || self.awaiting_free != 0
    }

    /// Returns the change in live bytes.
    pub fn bytes(&self) -> i64 {
        match self.starts_lifetime {
            Some(true) => to_signed(self.size),
            Some(false) => -to_signed(self.size),
            None => 0,
        }
    }
}
