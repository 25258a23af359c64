//! A device of an open file as another crate may read it: one side of a comparison.

use super::Engine;
use super::open::OpenFile;
use super::origin::{is_of_free, stack_of};
use super::protocol::Grouping;
use base::units::Moment;
use history::replay::{AllocationId, Curve, DeviceHistory};
use history::snapshot::{Snapshot, StackId};

/// A device of a file that is open. Complete once [`Engine::step`] has nothing left to do: categories come last.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub(super) file: &'a OpenFile,
    /// Its events, allocations and totals.
    pub history: &'a DeviceHistory,
}

impl Engine {
    /// The device with this ordinal, where the open file has it.
    pub fn side(&self, device: i64) -> Option<Side<'_>> {
        let file = self.file.as_deref()?;
        Some(Side { file, history: file.history(device)? })
    }
}

impl<'a> Side<'a> {
    /// Frames, stacks, segments and settings of the file.
    pub fn snapshot(&self) -> &'a Snapshot {
        &self.file.snapshot
    }

    /// What the file is called.
    pub fn name(&self) -> String {
        self.file.summary().file
    }

    /// The stack of an allocation: of its alloc or its block, else of its free.
    pub fn stack(&self, id: AllocationId) -> StackId {
        stack_of(&self.file.snapshot, self.history, id)
    }

    /// Whether `stack`, which is its [stack](Side::stack), is that of its free.
    pub fn is_of_free(&self, id: AllocationId, stack: StackId) -> bool {
        is_of_free(self.history, id, stack)
    }

    /// The most live bytes from one moment to another, both included.
    pub fn most_live_in(&self, from: Moment, to: Moment) -> u64 {
        let change = |event| self.history.drawn_change(event);
        let most = Curve::new(&self.history.drawn, &change).max_in(from.0..to.0.saturating_add(1));
        most.map_or(0, |(_, bytes)| u64::try_from(bytes).unwrap_or(0))
    }

    /// The group of an allocation.
    pub fn group(&self, by: Grouping, id: AllocationId) -> u32 {
        self.file.groups.of(&self.file.snapshot, self.history, id, by)
    }

    /// One more than the largest group.
    pub fn group_count(&self, by: Grouping) -> u32 {
        self.file.groups.count(self.history, by)
    }

    /// What a group is called.
    pub fn group_label(&self, by: Grouping, group: u32) -> String {
        self.file.groups.label(&self.file.snapshot, self.history, by, group)
    }

    /// Whether an allocation comes out of a private pool, such as that of a CUDA graph.
    pub fn is_in_private_pool(&self, id: AllocationId) -> bool {
        let groups = &self.file.groups;
        groups.is_private(groups.pool_number(groups.pool(&self.file.snapshot, self.history, id)))
    }
}
