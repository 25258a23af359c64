//! Handles the worker's replies while a file is loading: progress, partial data, the opened file, or an error.

use crate::features::State;
use crate::plot::comparing;
use crate::session::opening::{close, list_members, on_length_known};
use crate::session::{partial, ranks};
use crate::shell::default_view::show_default_view;
use crate::shell::link;
use crate::state::outbox::Outbox;
use crate::state::stage::{SnapshotChoice, Stage};
use protocol::{FileSummary, Reply};

/// Handles a reply of the worker about the file that is loading.
pub(crate) fn on_reply(state: &mut State, reply: Reply, out: &mut Outbox) {
    match reply {
        Reply::Progress(progress) => {
            if let Some(bytes) = progress.total_bytes
                && on_length_known(&mut state.shared, bytes, out)
            {
                return;
            }
            if let Stage::Loading(loading) = &mut state.stage {
                loading.bytes = progress.bytes;
                loading.total_bytes = progress.total_bytes.or(loading.total_bytes);
                loading.phase = progress.phase;
                loading.latest_ms = out.now_ms;
            }
        }
        Reply::Partial(partial_file) => partial::on_partial(state, *partial_file),
        Reply::Opened(file) => show_file(state, file, out),
        Reply::Failed { .. } if ranks::open_next(state, out) => {}
        Reply::Failed { message } => {
            let message = match state.snapshots.get(state.snapshot_index) {
                Some(SnapshotChoice { file, .. }) if !message.contains(file.as_str()) => format!("{file}: {message}"),
                _ => message,
            };
            close(state, Stage::Failed(message));
        }
        Reply::Cancelled => close(state, Stage::Empty),
        Reply::Members(members) => {
            if list_members(state, members) {
                ranks::start_survey(state, out);
            }
        }
        // Answers are handled by the feature that asked.
        Reply::Answer { .. } => {}
    }
}

/// Shows the file that was just opened: its whole trace, or the view of the current link.
pub(crate) fn show_file(state: &mut State, file: Box<FileSummary>, out: &mut Outbox) {
    let carried_over = partial::carry_over(state);
    state.stage = Stage::Ready(file);
    state.forget(out);
    let chosen = carried_over.as_ref().and_then(|carried_over| carried_over.chosen_device(state));
    show_default_view(state, chosen, out);
    link::on_file_opened(state, out);
    carried_over.into_iter().for_each(|carried_over| carried_over.restore(state));
    if let Some(wanted) = state.comparing.pending_second.take() {
        comparing::load_second(state, &wanted, out);
    }
}
