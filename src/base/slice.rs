//! Work in slices: a loop counts its steps, looks at the clock now and then, and stops where its time is up, to be called again.

use std::ops::Range;

/// Steps between two looks at the clock: a fraction of a millisecond.
pub const STEPS: u32 = 2048;

/// The time is up. What is done stays done; called again, the work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

/// What work in slices comes to: it is done, or the time is up and it goes on when it is called again.
pub type Sliced<T = ()> = Result<T, Spent>;

/// The time that work has until it is called again. A new one always has some: whoever is called goes on by at least a step.
pub struct Slice<'a> {
    left: u32,
    has_parted: bool,
    has_time: &'a mut dyn FnMut() -> bool,
}

impl<'a> Slice<'a> {
    /// One that is over when `has_time` says so.
    pub fn new(has_time: &'a mut dyn FnMut() -> bool) -> Slice<'a> {
        Slice { left: STEPS, has_parted: false, has_time }
    }

    /// A step is about to be taken: some ten nanoseconds.
    ///
    /// # Errors
    /// The time is up: the step is not to be taken.
    #[inline(always)]
    pub fn tick(&mut self) -> Sliced {
        self.spend(1)
    }

    /// The same for a step that takes as long as so many.
    ///
    /// # Errors
    /// The time is up: the step is not to be taken.
    #[inline(always)]
    pub fn spend(&mut self, steps: u32) -> Sliced {
        if self.left == 0 {
            self.ask()?;
        }
        self.left = self.left.saturating_sub(steps);
        Ok(())
    }

    #[cold]
    fn ask(&mut self) -> Sliced {
        self.left = STEPS;
        self.check()
    }

    /// Something that takes longer is done, and kept.
    ///
    /// # Errors
    /// The time is up.
    #[inline(never)]
    pub fn check(&mut self) -> Sliced {
        if (self.has_time)() { Ok(()) } else { Err(Spent) }
    }

    /// The next part of the rows from `next` to before `count`, which moves `next` on; `None` when there are no more. A row takes as long
    /// as so many `steps`.
    ///
    /// # Errors
    /// The time is up: the part is not to be worked on. The first of a slice always is.
    pub fn part(&mut self, next: &mut usize, count: usize, steps: u32) -> Sliced<Option<Range<usize>>> {
        if *next >= count {
            return Ok(None);
        }
        if std::mem::replace(&mut self.has_parted, true) {
            self.check()?;
        }
        let part = *next..count.min(*next + (STEPS / steps.max(1)).max(1) as usize);
        *next = part.end;
        Ok(Some(part))
    }
}

#[cfg(test)]
#[path = "../../tests/units/base/slice.rs"]
mod tests;
