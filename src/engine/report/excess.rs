//! Peaks that no device can have had: more live bytes than are reserved, or than the device has. The likely cause
//! follows from warnings about the file and from the names in the stacks.

use crate::open::OpenFile;
use crate::recorder_facts::recorded_capacity;
use crate::report::recording::has_warning;
use crate::report::writer::bytes_text;
use crate::side::Side;
use crate::stack_match::StackMatch;
use base::slice::{SliceResult, TimeSlice};
use history::replay::AllocationId;
use history::snapshot::WarningKind;

/// Memory of the largest GPU in 2026 (432 GiB).
const MAX_CAPACITY: u64 = 432 << 30;
/// Search query for functions that allocate pinned host memory.
const HOST_QUERY: &str = "/pin_memory|pinned|HostAlloc/i";
/// Search query for functions that release the pages of live tensors: torch_memory_saver, and the sleep mode of vLLM.
const PAUSE_QUERY: &str = "/memory_saver|cumem|sleep_mode/i";

/// Search for the cause.
pub(super) struct Excess {
    /// Excess of live bytes at the peak, as a sentence without its end, and as a number of bytes.
    found: Option<(String, u64)>,
    host: StackMatch,
    pause: StackMatch,
    /// Live bytes at the peak that were allocated as host memory.
    host_bytes: u64,
}

/// Returns the excess of live bytes at the peak. Host memory is not limited by a device.
fn excess(Side { file, history }: Side<'_>) -> Option<(String, u64)> {
    let (moment, peak) = history.live_peak();
    let reserved = u64::try_from(history.reserved_at(moment)).unwrap_or(0);
    let above = |limit: u64| peak.checked_sub(limit).filter(|&bytes| limit > 0 && bytes > 0);
    let capacity = recorded_capacity(&file.snapshot, history);
    if history.device < 0 {
        None
    } else if let Some((capacity, bytes)) = capacity.and_then(|capacity| Some((capacity, above(capacity)?))) {
        Some((format!("More is live than the device has ({})", bytes_text(capacity)), bytes))
    } else if let Some(bytes) = above(MAX_CAPACITY) {
        Some((["More is live than any ", file.backend.device(), " has"].concat(), bytes))
    } else if history.numbers.peak_reserved > 0 {
        Some(("More is live than reserved".to_owned(), above(reserved.max(1))?))
    } else {
        None
    }
}

impl Excess {
    pub(super) fn new(side: Side<'_>) -> Excess {
        let (host, pause, host_bytes) = Default::default();
        Excess { found: excess(side), host, pause, host_bytes }
    }

    /// Continues searching until the cause is known or the time slice is used up.
    pub(super) fn step(&mut self, file: &OpenFile, slice: &mut TimeSlice) -> SliceResult {
        if self.found.is_none() {
            return Ok(());
        }
        self.host.match_query(&file.snapshot, HOST_QUERY, slice)?;
        self.pause.match_query(&file.snapshot, PAUSE_QUERY, slice)
    }

    /// Adds an allocation that is live at the peak.
    pub(super) fn add(&mut self, side: Side<'_>, id: AllocationId, size: u64) {
        if self.found.is_some() && self.host.stacks.contains(side.stack(id).0) {
            self.host_bytes = self.host_bytes.saturating_add(size);
        }
    }

    /// Returns the sentence on the excess and its likely cause. `None` if there is no excess.
    pub(super) fn describe(&self, file: &OpenFile) -> Option<String> {
        let (text, bytes) = self.found.as_ref()?;
        let has = |kind: &WarningKind| has_warning(file, kind);
        let cause = if has(&WarningKind::AllocatedTwice) {
            "the same addresses are allocated more than once, as if several devices were merged"
        } else if self.host_bytes >= *bytes {
            "it includes pinned host memory under the number of the device"
        } else if self.pause.stacks.count() > 0 {
            "tensors are paused (torch_memory_saver, or the sleep mode of vLLM), so they are live without memory"
        } else if has(&WarningKind::MissingSegments) || has(&WarningKind::NoSegments) {
            "the file does not list all segments"
        } else {
            "tensors are paused without memory, host memory or several devices are under one number, or segments are missing"
        };
        Some(format!("{text}: {} too much. Likely cause: {cause}.", bytes_text(*bytes)))
    }
}
