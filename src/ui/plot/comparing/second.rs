//! Removes the second file's devices, and replaces a device of a comparison.

use crate::plot::comparing;
use crate::state::shared::Shared;
use crate::state::stage::Stage;
use protocol::split_ordinal;

/// Discards the second file and its devices. Returns true if one of these devices was shown.
pub(crate) fn discard(state: &mut Shared) -> bool {
    let comparing = std::mem::take(&mut state.comparing);
    let first_device_count = comparing.first_device_count;
    state.comparing = comparing.user_choices();
    let Stage::Ready(file) = &mut state.stage else { return false };
    if first_device_count == 0 {
        return false;
    }
    file.devices.truncate(first_device_count);
    let focused = state.device_index;
    state.lanes.retain(|index| index < first_device_count || index == focused);
    state.device_index >= first_device_count
}

/// Replaces a compared device with another device of the same file.
pub(crate) fn choose_device(state: &mut Shared, index: usize) {
    let Some(pair) = state.comparing.pair.filter(|pair| !pair.contains(&index)) else { return };
    let is_second = |index: usize| state.device_at(index).is_some_and(|device| split_ordinal(device.device).1);
    let side = match pair.map(|member| is_second(member) == is_second(index)) {
        [true, true] => usize::from(comparing::part::is_b_shown(state)),
        [_, same_as_b] => usize::from(same_as_b),
    };
    let pair = if side == 0 { [index, pair[1]] } else { [pair[0], index] };
    state.comparing.pair = Some(pair);
}
