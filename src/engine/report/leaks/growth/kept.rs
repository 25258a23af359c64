//! Bytes that a call site allocates in each step and never frees. They show a leak of a call site that also allocates
//! what the next step frees, such as batches of different sizes: its live bytes fall in some steps. The last step is
//! left out, because what the next step would free is not known.

/// Live bytes and number of allocations of a call site.
#[derive(Clone, Copy, Default)]
pub(super) struct Amount {
    pub(super) bytes: u64,
    pub(super) count: u64,
}

/// Allocations of a call site that are never freed.
#[derive(Clone, Default)]
pub(super) struct Kept {
    /// In the current step, since the first step, and up to the baseline.
    now: Amount,
    pub(super) total: Amount,
    pub(super) baseline: Amount,
    /// Number of steps, as long as each has some.
    pub(super) steps: u32,
    /// Smallest and largest sum of a step, and the same after the baseline.
    pub(super) range: Option<(u64, u64)>,
    pub(super) late_range: Option<(u64, u64)>,
    /// Index of each step end, and the bytes that are kept by then.
    pub(super) values: Vec<(u32, u64)>,
    pub(super) newest: u32,
}

base::heap_bytes!(Kept: values);

impl Kept {
    pub(super) fn add(&mut self, id: u32, size: u64) {
        self.now = Amount { bytes: self.now.bytes.saturating_add(size), count: self.now.count + 1 };
        self.newest = id;
    }

    /// Ends a step. `index` is its 1-based index.
    pub(super) fn end_step(&mut self, index: u32, baseline: u32) {
        let Amount { bytes, count } = std::mem::take(&mut self.now);
        if bytes == 0 || self.steps + 1 != index {
            self.values = Vec::new();
            return;
        }
        self.steps = index;
        self.total = Amount { bytes: self.total.bytes.saturating_add(bytes), count: self.total.count + count };
        self.range = widened(self.range, bytes);
        if index > baseline {
            self.late_range = widened(self.late_range, bytes);
        } else if index == baseline {
            self.baseline = self.total;
        }
        self.values.push((index, self.total.bytes));
    }
}

/// Returns a range that includes another number.
pub(super) fn widened(range: Option<(u64, u64)>, bytes: u64) -> Option<(u64, u64)> {
    let (min, max) = range.unwrap_or((u64::MAX, 0));
    Some((min.min(bytes), max.max(bytes)))
}
