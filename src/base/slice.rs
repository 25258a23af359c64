//! Time slices for long-running loops. A loop counts its steps, checks the clock regularly, and returns when its time
//! is up. Calling the function again resumes the work.

use std::ops::Range;

/// Number of steps between two checks of the clock, which take a fraction of a millisecond.
pub const STEPS_PER_CHECK: u32 = 2048;

/// Error: the time is up. The progress so far is kept, and the next call resumes the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfTime;

/// Result of work that stops when its time slice is used up. `Err` means that the function must be called again.
pub type SliceResult<T = ()> = Result<T, OutOfTime>;

/// Time budget of one call. The first step of a slice is always allowed, so every call makes progress.
pub struct TimeSlice<'a> {
    steps_left: u32,
    has_granted_range: bool,
    has_time: &'a mut dyn FnMut() -> bool,
}

impl<'a> TimeSlice<'a> {
    /// Creates a slice that ends when `has_time` returns false.
    pub fn new(has_time: &'a mut dyn FnMut() -> bool) -> TimeSlice<'a> {
        TimeSlice { steps_left: STEPS_PER_CHECK, has_granted_range: false, has_time }
    }

    /// Counts one step of about ten nanoseconds. Call it before the step.
    ///
    /// # Errors
    /// Returns an error if the time is up. The caller must not take the step.
    #[inline(always)]
    pub fn tick(&mut self) -> SliceResult {
        self.spend(1)
    }

    /// Counts a step that takes as long as `steps` ordinary ones.
    ///
    /// # Errors
    /// Returns an error if the time is up. The caller must not take the step.
    #[inline(always)]
    pub fn spend(&mut self, steps: u32) -> SliceResult {
        if self.steps_left == 0 {
            self.refill()?;
        }
        self.steps_left = self.steps_left.saturating_sub(steps);
        Ok(())
    }

    #[cold]
    fn refill(&mut self) -> SliceResult {
        self.steps_left = STEPS_PER_CHECK;
        self.check()
    }

    /// Checks the clock. For use after a longer piece of work whose result is kept.
    ///
    /// # Errors
    /// Returns an error if the time is up.
    #[inline(never)]
    pub fn check(&mut self) -> SliceResult {
        if (self.has_time)() { Ok(()) } else { Err(OutOfTime) }
    }

    /// Returns the next range of rows to process, at or after `next` and below `count`, and advances `next`. Returns
    /// `None` at the end. `steps` is the cost of one row.
    ///
    /// # Errors
    /// Returns an error if the time is up. The range must not be processed then. The first range of a slice is always
    /// granted.
    pub fn next_range(&mut self, next: &mut usize, count: usize, steps: u32) -> SliceResult<Option<Range<usize>>> {
        if *next >= count {
            return Ok(None);
        }
        if std::mem::replace(&mut self.has_granted_range, true) {
            self.check()?;
        }
        let part = *next..count.min(*next + (STEPS_PER_CHECK / steps.max(1)).max(1) as usize);
        *next = part.end;
        Ok(Some(part))
    }
}

#[cfg(test)]
#[path = "../../tests/units/base/slice.rs"]
mod tests;
