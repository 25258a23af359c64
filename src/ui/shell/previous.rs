//! The previously open file. It is restored if the new file fails to open or its loading is cancelled.
//!
//! A second worker reads the new file while the first worker keeps the open file. Therefore, a file that is invalid,
//! too large or crafted to crash the decoder cannot close the open file. For a short time both files are in memory,
//! each within the 4 GiB limit of its worker. With a single worker, both files would have to share 4 GiB, and running
//! out of memory would lose both.

pub(crate) use crate::state::previous::Previous;

use crate::features::command::Trait;
use crate::features::palette::{PaletteAction, PaletteTarget};
use crate::features::{FeatureAction, State};
use crate::session::opening::close;
use crate::shell::action::Action;
use crate::shell::opened;
use crate::state::effect::Effect;
use crate::state::link::Link;
use crate::state::outbox::Outbox;
use crate::state::stage::{SnapshotChoice, Stage};
use crate::state::toast::Toast;

/// Captures the state of the open file before an action that may open another file. Returns `None` for all other
/// actions.
pub(crate) fn capture(state: &State, action: &Action) -> Option<Previous> {
    let opens = match action {
        Action::FilesGiven(_)
        | Action::FilesAdded(..)
        | Action::SnapshotChosen(_)
        | Action::LinkGiven(_)
        | Action::LoadRangeEntered(_)
        | Action::Feature(FeatureAction::Live(_)) => true,
        Action::Command(command) => command.has(Trait::OpensFile),
        Action::Feature(FeatureAction::Palette(PaletteAction::Picked(target))) => {
            matches!(target, PaletteTarget::File(_) | PaletteTarget::Command(_))
        }
        _ => false,
    };
    let link = if opens { Link::from_state(state)? } else { return None };
    let (load, chosen) = (state.load, state.snapshot_index);
    Some(Previous { load, snapshots: state.snapshots.clone(), chosen, link, file: None })
}

/// Called after an action. If the action closed a file, keeps its state until the new file is open, and restores it if
/// the new file fails to open.
pub(crate) fn restore_if_failed(state: &mut State, captured: Option<Previous>, out: &mut Outbox) {
    let closed_file = state.closed_file.take();
    if let (Some(captured), Some(file)) = (captured.filter(|captured| captured.load != state.load), closed_file) {
        state.previous = Some(Box::new(Previous { file: Some(file), ..captured }));
    }
    match &state.stage {
        Stage::Choosing(_) | Stage::Loading(_) => {}
        Stage::Ready(_) => state.previous = None,
        Stage::Empty | Stage::Failed(_) => {
            if let Some(previous) = state.previous.take() {
                restore(state, *previous, out);
            }
        }
    }
}

fn restore(state: &mut State, previous: Previous, out: &mut Outbox) {
    let Previous { load, snapshots, chosen, link, file } = previous;
    let Some(file) = file else { return };
    let failed = state.snapshots.get(state.snapshot_index).map(SnapshotChoice::name).unwrap_or_default();
    if let Stage::Failed(message) = &state.stage {
        state.toast = Some(Toast::new(failed, message));
    }
    let (print, remark) = (link.fingerprint.clone(), state.remark.take());
    // Discard the rest of the link to the file that failed.
    state.linked.close_notice();
    close(state, Stage::Empty);
    (state.load, state.snapshots, state.snapshot_index, state.remark) = (load, snapshots, chosen, remark);
    state.linked.pending = Some(link.without_file());
    out.push(Effect::RestoreOpen);
    opened::show_file(state, file, out);
    state.linked.fingerprint = print;
}
