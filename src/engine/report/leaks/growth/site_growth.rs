//! Growth of one call site.

use super::kept::{Amount, Kept, widened};

/// Minimum number of steps that keep bytes.
const MIN_KEPT_STEPS: u32 = 3;

/// State of a call site while the events are processed.
#[derive(Clone, Default)]
pub(super) struct SiteGrowth {
    /// Now, at the start of the first step, at the baseline, and at the end of the previous step. After the last event,
    /// `live` has the end of the trace.
    pub(super) live: Amount,
    pub(super) first: Amount,
    pub(super) baseline: Amount,
    pub(super) previous: Amount,
    /// Number of steps with more, and with fewer bytes than before: after the baseline, and before it.
    pub(super) rises: u32,
    pub(super) falls: u32,
    pub(super) early_rises: u32,
    pub(super) early_falls: u32,
    /// Smallest and largest rise in a step.
    pub(super) rise_range: Option<(u64, u64)>,
    /// The same, without the steps before the baseline.
    pub(super) late_rise_range: Option<(u64, u64)>,
    /// 1-based index of the first step end after the last change. 0 if the call site has not changed.
    pub(super) last_changed: u32,
    /// Number of live allocations at the baseline, or at the end of the first step.
    pub(super) settled_count: u64,
    /// True if the bytes fall in the last step, which ends with the trace. The step is then left out.
    pub(super) is_cut: bool,
    /// True if allocations of earlier steps were freed after the baseline: in this step, in any step, and in a step
    /// that ended with as many bytes as the one before.
    pub(super) frees_now: bool,
    pub(super) frees_older: bool,
    pub(super) evicts: bool,
    pub(super) kept: Kept,
    /// True if only allocations that are never freed are counted, without the last step.
    pub(super) is_kept: bool,
    /// Id of the newest allocation.
    pub(super) newest: u32,
    /// Index of each step end at which the bytes have risen, and the bytes at this moment. Cleared when the bytes fall.
    pub(super) values: Vec<(u32, u64)>,
}

base::heap_bytes!(SiteGrowth: values, kept);

impl SiteGrowth {
    pub(super) fn growth(&self) -> u64 {
        self.previous.bytes.saturating_sub(self.baseline.bytes)
    }

    /// Returns whether the number of allocations has grown since the baseline, or since the first step, not only their
    /// bytes.
    pub(super) fn has_more_allocations(&self) -> bool {
        self.previous.count > self.settled_count
    }

    /// Returns the number of live allocations at the end of the last step.
    pub(super) fn live_count(&self) -> u64 {
        self.previous.count
    }

    /// Returns the bytes of the last step end that are freed at the end of the trace.
    pub(super) fn freed_later(&self) -> u64 {
        self.previous.bytes.saturating_sub(self.live.bytes)
    }

    /// Ends a step. `index` is its 1-based index, or 0 for the start of the first one. `is_end` is true at the end of
    /// the trace.
    pub(super) fn end_step(&mut self, index: u32, baseline: u32, is_end: bool) {
        let (bytes, previous) = (self.live.bytes, self.previous.bytes);
        let frees_older = std::mem::take(&mut self.frees_now);
        // What is freed after the loop belongs to the last step, unless annotations mark its end.
        if is_end && bytes < previous {
            self.is_cut = true;
            return;
        }
        self.frees_older |= frees_older;
        self.evicts |= frees_older && bytes == previous;
        self.rises += u32::from(bytes > previous);
        self.falls += u32::from(bytes < previous);
        if bytes > previous {
            self.rise_range = widened(self.rise_range, bytes - previous);
            if index > baseline {
                self.late_rise_range = widened(self.late_rise_range, bytes - previous);
            }
        }
        if self.falls > 0 {
            self.values = Vec::new();
        } else if bytes > previous {
            self.values.push((index, bytes));
        }
        self.previous = self.live;
    }

    /// Returns the growth of the allocations that are never freed. `None` if a step has none, or if there are few
    /// steps. `steps` is the number of steps without the last one.
    pub(super) fn of_kept(&mut self, steps: u32, baseline: u32) -> Option<SiteGrowth> {
        let Kept { total, baseline: baseline_amount, range, late_range, newest, .. } = self.kept;
        (self.kept.steps == steps && steps >= MIN_KEPT_STEPS).then(|| SiteGrowth {
            live: self.live,
            is_cut: true,
            is_kept: true,
            baseline: baseline_amount,
            previous: total,
            rises: steps - baseline,
            early_rises: baseline,
            rise_range: range,
            late_rise_range: late_range,
            newest,
            values: std::mem::take(&mut self.kept.values),
            ..SiteGrowth::default()
        })
    }
}
