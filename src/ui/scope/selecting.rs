//! Selection of an allocation, which takes effect once the worker has sent its details.

use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use protocol::Question;

/// Requests the details of an allocation, which is selected when they arrive.
pub(crate) fn select(state: &mut Shared, allocation: u32, out: &mut Outbox) {
    let Some(device) = state.device().map(|device| device.device) else { return };
    state.selecting = Some(out.ask(device, Question::Details(allocation)));
    state.plots.selected_segment = None;
    state.find.cancel_reveal();
}
