//! The GPU capacity: typed by the user and drawn as a line across the timeline.

use crate::state::shared::Shared;
use protocol::CAPACITY;

/// Bytes per GiB, the unit of the capacity field.
const GIB: f64 = (1u64 << 30) as f64;
/// Upper bound of an accepted capacity, in GiB.
const MAX_GIB: f64 = 1024.0 * 1024.0;

/// Returns a lower bound of the GPU's capacity in bytes: the maximum of the reserved bytes at the peak and of free
/// plus reserved bytes at an out-of-memory event. `None` if there was no such event or reserved memory is unknown.
pub fn minimum(state: &Shared) -> Option<u64> {
    let marks = state.surroundings.marks.latest()?;
    let device = state.device().filter(|device| device.has_reserved())?;
    let lower_bound =
        marks.out_of_memory.iter().filter_map(|mark| mark.device_free?.checked_add(mark.reserved)).max()?;
    // Other processes may have used part of the GPU at that time.
    Some(lower_bound.max(u64::try_from(device.peak_reserved).unwrap_or(0)))
}

/// Returns the placeholder of the capacity field, in GiB: the recorded capacity, or else a lower bound.
pub fn hint(state: &Shared) -> String {
    let recorded = state.device().and_then(|device| device.recorder_value(CAPACITY));
    if let Some(bytes) = recorded {
        return format!("{:.2}", bytes as f64 / GIB);
    }
    minimum(state).map_or_else(|| "–".to_owned(), |bytes| format!("≥ {:.2}", bytes as f64 / GIB))
}

/// Sets the capacity from text in GiB. Empty text clears it. Invalid text is ignored.
pub(crate) fn set(state: &mut Shared, text: &str) {
    let text = text.trim();
    let typed = text.parse::<f64>().ok().filter(|gib| *gib > 0.0 && *gib <= MAX_GIB);
    if typed.is_none() && !text.is_empty() {
        return;
    }
    change_height(state, |state| state.tools.capacity = typed.map(|gib| (gib * GIB) as u64));
}

/// Applies a change that may alter the timeline's height. If the whole plot was visible, it stays visible.
/// Otherwise the window does not change.
pub(crate) fn change_height(state: &mut Shared, change: impl FnOnce(&mut Shared)) {
    let showed_all = state.plane().zip(state.view).is_some_and(|(plane, view)| plane.fit_like(view) == view);
    change(state);
    state.navigate(|plane, view| if showed_all { plane.fit_like(view) } else { plane.moved(view, 0.0, 0.0) });
}
