//! The snapshot to save: that of the shown device.

use super::comparing::Second;
use super::effect::SnapshotToSave;
use super::shared::Shared;
use engine::protocol::own_ordinal;

/// Returns the snapshot of the shown device, and the device's ordinal in it.
pub(super) fn to_write(shared: &Shared) -> Option<(SnapshotToSave, i64)> {
    let (device, is_second) = own_ordinal(shared.device()?.device);
    let snapshot = match &shared.comparing.second {
        Second::Open(second, origin, load) if is_second => {
            SnapshotToSave { origin: origin.clone(), load: *load, name: second.file.clone() }
        }
        _ => {
            let choice = shared.snapshots.get(shared.chosen)?;
            SnapshotToSave { origin: choice.origin.clone(), load: shared.load, name: choice.file.clone() }
        }
    };
    Some((snapshot, device))
}
