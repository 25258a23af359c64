//! Where an allocation comes from: the stack and the labels of the event, or the block, that tells.

use history::replay::{AllocationId, DeviceHistory, Provenance};
use history::snapshot::{Labels, Snapshot, StackId};

/// The labels of the event that an allocation is known from.
pub(super) fn labels_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> Labels {
    match history.allocations.provenance(id) {
        Provenance::AllocatedBy(event) | Provenance::FreedBy(event) => {
            snapshot.labels.labels(history.events.labels(event.0))
        }
        Provenance::Static | Provenance::Unexplained => Labels::default(),
    }
}

/// The stack that tells where an allocation came from: its own, from its alloc or its block, or else that of its free.
pub(super) fn stack_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> StackId {
    let recorded = |stack: &StackId| *stack != StackId::NONE;
    let source = history.allocations.provenance(id);
    let of_alloc = match source {
        Provenance::AllocatedBy(event) => Some(history.events.stack(event.0)).filter(recorded),
        _ => None,
    };
    // A block that is still there at the end has the stack of its alloc; that of the free says less.
    let of_block = || history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize)).map(|block| block.stack);
    let of_free = || match source {
        Provenance::FreedBy(event) => Some(history.events.stack(event.0)),
        _ => None,
    };
    of_alloc.or_else(|| of_block().filter(recorded)).or_else(of_free).unwrap_or(StackId::NONE)
}

/// Whether `stack`, which is [`stack_of`] it, is that of its free, because nothing else is known of one that was allocated before recording.
pub(super) fn is_of_free(history: &DeviceHistory, id: AllocationId, stack: StackId) -> bool {
    matches!(history.allocations.provenance(id), Provenance::FreedBy(event) if history.events.stack(event.0) == stack)
}

/// Whether an allocation has this stack; unexplained bytes have none.
pub(super) fn has_stack(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId, stack: StackId) -> bool {
    history.allocations.provenance(id) != Provenance::Unexplained && stack_of(snapshot, history, id) == stack
}
