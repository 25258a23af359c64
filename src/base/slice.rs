//! Work in slices: a loop counts its steps, looks at the clock now and then, and stops where its time is up, to be called again.

/// Steps between two looks at the clock: a fraction of a millisecond.
const STEPS: u32 = 2048;

/// The time is up. What is done stays done; called again, the work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent;

impl Spent {
    /// What work that looks at the clock itself has come to.
    ///
    /// # Errors
    /// It is not done.
    pub fn unless(is_done: bool) -> Result<(), Spent> {
        if is_done { Ok(()) } else { Err(Spent) }
    }
}

/// The time that work has until it is called again. A new one always has some: whoever is called goes on by at least a step.
pub struct Slice<'a> {
    left: u32,
    has_time: &'a mut dyn FnMut() -> bool,
}

impl<'a> Slice<'a> {
    /// One that is over when `has_time` says so.
    pub fn new(has_time: &'a mut dyn FnMut() -> bool) -> Slice<'a> {
        Slice { left: STEPS, has_time }
    }

    /// A step is about to be taken: some ten nanoseconds.
    ///
    /// # Errors
    /// The time is up: the step is not to be taken.
    #[inline(always)]
    pub fn tick(&mut self) -> Result<(), Spent> {
        self.spend(1)
    }

    /// The same for a step that takes as long as so many.
    ///
    /// # Errors
    /// The time is up: the step is not to be taken.
    #[inline(always)]
    pub fn spend(&mut self, steps: u32) -> Result<(), Spent> {
        if self.left == 0 {
            self.ask()?;
        }
        self.left = self.left.saturating_sub(steps);
        Ok(())
    }

    #[cold]
    fn ask(&mut self) -> Result<(), Spent> {
        self.left = if (self.has_time)() { STEPS } else { return Err(Spent) };
        Ok(())
    }

    /// The clock, for work that looks at it itself.
    pub fn clock(&mut self) -> &mut dyn FnMut() -> bool {
        self.has_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers from 1 on, added up from where it was left.
    fn add_up(next: &mut u64, sum: &mut u64, weight: u32, slice: &mut Slice<'_>) -> Result<u64, Spent> {
        while *next <= 10_000 {
            slice.spend(weight)?;
            *sum += *next;
            *next += 1;
        }
        Ok(*sum)
    }

    #[test]
    fn work_goes_on_where_it_stopped_whatever_a_step_weighs() {
        for (weight, most) in [(1, 10_000 / 2048 + 1), (100, 10_000 / 21 + 1), (u32::MAX, 10_000)] {
            let (mut next, mut sum, mut slices) = (1, 0, 1);
            let found = loop {
                match add_up(&mut next, &mut sum, weight, &mut Slice::new(&mut || false)) {
                    Ok(found) => break found,
                    Err(Spent) => slices += 1,
                }
            };
            assert_eq!(found, 50_005_000);
            assert!(slices <= most, "{slices} slices at {weight}");
        }
    }

    #[test]
    fn the_clock_is_looked_at_now_and_then() {
        let mut looks = 0;
        let mut has_time = || {
            looks += 1;
            true
        };
        let mut slice = Slice::new(&mut has_time);
        assert_eq!(add_up(&mut 1, &mut 0, 1, &mut slice), Ok(50_005_000));
        assert_eq!(Spent::unless(!slice.clock()()), Err(Spent));
        assert_eq!(Spent::unless(true), Ok(()));
        assert_eq!(looks, 10_000 / 2048 + 1);
    }
}
