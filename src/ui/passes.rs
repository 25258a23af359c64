//! Showing the state in pieces: parts are shown in their order, as many in a frame as there is time for.
//!
//! ```text
//! frame            1           2              3 (something changed)      4
//! parts      0 1 2 · · ·   · · · 3 4 ·   0 1 2 3 4 5     (done)
//! ```
//!
//! A part never shows a newer state than one before it: what stands in an element that is still hidden is not shown early. And each frame
//! gets further than the one before it, so that the last part is shown even while every frame brings a change.

/// How far the newest state is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passes {
    /// The part that is shown next.
    next: usize,
}

impl Passes {
    /// A frame has come: shows parts from 0 to `count`, until `has_time` says no. `changed`: the state is another than in the last frame.
    /// `true`: some are left, for a frame that has to be asked for.
    pub fn go_on(
        &mut self,
        count: usize,
        changed: bool,
        has_time: &mut dyn FnMut() -> bool,
        show: &mut dyn FnMut(usize),
    ) -> bool {
        let reached = if self.next < count { self.next } else { 0 };
        if changed {
            self.next = 0;
        }
        while self.next < count && (self.next <= reached || has_time()) {
            show(self.next);
            self.next += 1;
        }
        self.next < count
    }

    /// All parts have been shown otherwise.
    pub fn done(&mut self, count: usize) {
        self.next = count;
    }
}

#[cfg(test)]
#[path = "../../tests/units/ui/passes.rs"]
mod tests;
