//! Finds the snapshot to save: the open snapshot, or the second one of a comparison.

use crate::state::comparing::SecondFile;
use crate::state::effect::SnapshotToSave;
use crate::state::shared::Shared;
use protocol::split_ordinal;

/// Returns the snapshot that contains the shown device, and the device's ordinal in it.
pub(crate) fn snapshot_to_save(shared: &Shared) -> Option<(SnapshotToSave, i64)> {
    let (device, is_second) = split_ordinal(shared.device()?.device);
    let snapshot = match &shared.comparing.second {
        SecondFile::Open(second, origin, load) if is_second => {
            SnapshotToSave { origin: origin.clone(), load: *load, name: second.file.clone() }
        }
        _ => {
            let choice = shared.snapshots.get(shared.snapshot_index)?;
            SnapshotToSave { origin: choice.origin.clone(), load: shared.load, name: choice.file.clone() }
        }
    };
    Some((snapshot, device))
}
