//! The device capacity: typed by the user and drawn as a line across the timeline.

use crate::state::shared::Shared;
use crate::text::size_text::parse_size;
use base::units::Bytes;
use protocol::{CAPACITY, DeviceSummary, PEAK_PAUSED};

/// Returns a lower bound of the GPU's capacity in bytes: the maximum of the reserved bytes at the peak and of free
/// plus reserved bytes at an out-of-memory event, without those that may have been paused. `None` if there was no such
/// event or reserved memory is unknown.
pub fn minimum(state: &Shared) -> Option<u64> {
    let marks = state.surroundings.marks.latest()?;
    let device = state.device().filter(|device| device.has_reserved())?;
    let lower_bound =
        marks.out_of_memory.iter().filter_map(|mark| mark.device_free?.checked_add(mark.reserved)).max()?;
    // Other processes may have used part of the GPU at that time.
    let reserved = u64::try_from(device.peak_reserved).unwrap_or(0);
    Some(lower_bound.max(reserved.saturating_sub(peak_paused(device))))
}

/// Returns the maximum of the reserved bytes that were paused, and so not on the GPU, at the same time.
fn peak_paused(device: &DeviceSummary) -> u64 {
    device.recorder_value(PEAK_PAUSED).unwrap_or(0)
}

/// Returns the label of the capacity line. Reserved memory above the line may be paused.
pub(crate) fn label(state: &Shared, capacity: u64) -> String {
    let paused = state.device().map_or(0, peak_paused);
    let label = ["Device capacity ", &Bytes(capacity).to_string()].concat();
    if paused == 0 {
        return label;
    }
    [&label, " · up to ", &Bytes(paused).to_string(), " of reserved paused, not on the device"].concat()
}

/// Returns the placeholder of the capacity field: the recorded capacity, or else a lower bound.
pub fn hint(state: &Shared) -> String {
    let recorded = state.device().and_then(|device| device.recorder_value(CAPACITY));
    if let Some(bytes) = recorded {
        return Bytes(bytes).to_string();
    }
    minimum(state).map_or_else(|| "–".to_owned(), |bytes| format!("≥ {}", Bytes(bytes)))
}

/// Sets the capacity from a typed size. Empty text clears it. Invalid text is ignored.
pub(crate) fn set(state: &mut Shared, text: &str) {
    if let Ok(capacity) = parse_size(text) {
        change_height(state, |state| state.tools.capacity = capacity);
    }
}

/// Applies a change that may alter the timeline's height. If the whole plot was visible, it stays visible.
/// Otherwise the window does not change.
pub(crate) fn change_height(state: &mut Shared, change: impl FnOnce(&mut Shared)) {
    let showed_all = state.plane().zip(state.view()).is_some_and(|(plane, view)| plane.fit_like(view) == view);
    change(state);
    state.navigate(|plane, view| if showed_all { plane.fit_like(view) } else { plane.moved(view, 0.0, 0.0) });
}
