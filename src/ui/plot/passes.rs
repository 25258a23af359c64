//! Incremental rendering: updates the page's panels in order, as many per frame as time allows.
//!
//! ```text
//! frame            1           2              3 (something changed)      4
//! panels     0 1 2 · · ·   · · · 3 4 ·   0 1 2 3 4 5     (done)
//! ```
//!
//! A panel never shows a newer state than a panel before it. So an element that is still hidden is not updated too
//! early. Each frame updates at least one panel more than the one before, so the last panel is reached even if every
//! frame brings a change.

/// Progress of updating the panels to the newest state.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenderPasses {
    /// Index of the next panel to update.
    next: usize,
}

impl RenderPasses {
    /// Runs one frame: calls `show` with the index of each panel to update, until all `count` panels are up to date or
    /// `has_time` returns false. `changed` is true if the state has changed since the last frame. Returns true if
    /// panels remain, so another frame is needed.
    pub fn run_frame(
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

    /// Marks all `count` panels as up to date.
    pub fn finish(&mut self, count: usize) {
        self.next = count;
    }
}

#[cfg(test)]
#[path = "../../../tests/units/ui/passes.rs"]
mod tests;
