//! Removal of the second file's devices, and choice of a device within a comparison.

use crate::shared::Shared;
use crate::stage::Stage;
use engine::protocol::own_ordinal;

/// Discards the second file and its devices. Returns whether the shown device was one of them.
pub(crate) fn forget(state: &mut Shared) -> bool {
    let comparing = std::mem::take(&mut state.comparing);
    let own_devices = comparing.own_devices;
    state.comparing = comparing.chosen();
    let Stage::Ready(file) = &mut state.stage else { return false };
    if own_devices == 0 {
        return false;
    }
    file.devices.truncate(own_devices);
    state.lanes.others.retain(|lane| lane.place < own_devices);
    state.device_place >= own_devices
}

/// Puts a newly chosen device into the compared pair, in place of the device of the same file.
pub(crate) fn choose(state: &mut Shared, place: usize) {
    let Some(pair) = state.comparing.pair.filter(|pair| !pair.contains(&place)) else { return };
    let is_second = |place: usize| state.device_at(place).is_some_and(|device| own_ordinal(device.device).1);
    let side = match pair.map(|of| is_second(of) == is_second(place)) {
        [true, true] => usize::from(state.is_b_shown()),
        [_, same_as_b] => usize::from(same_as_b),
    };
    let pair = if side == 0 { [place, pair[1]] } else { [pair[0], place] };
    state.comparing.pair = Some(pair);
}
