//! Selection of an allocation, which takes effect once the worker has sent its details.

use super::effect::Effect;
use super::shared::Shared;
use protocol::Question;

/// Requests the details of an allocation, which is selected when they arrive.
pub(super) fn select(state: &mut Shared, allocation: u32, effects: &mut Vec<Effect>) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    let serial = state.next_serial();
    state.selecting = Some(serial);
    state.plots.selected_segment = None;
    state.find.cancel_reveal();
    effects.push(Effect::ask(serial, device, Question::Details(allocation)));
}
