//! Facts about an allocation that are tested by category rules.

use super::device_facts::DeviceFacts;
use super::stacks::StackResults;
use crate::origin::{alloc_stack, recorded_category};
use analysis::category::compiled::{AllocationFacts, NO_RULE};
use base::column::Column;
use base::units::Moment;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Snapshot, StackId};

/// For each allocation of a device, the index of the rule that classified it.
pub(super) struct DeviceRules {
    pub(super) device: i64,
    pub(super) rules: Column<u16>,
    /// Facts about the device. Empty once all allocations are classified.
    pub(super) facts: DeviceFacts,
}

base::heap_bytes!(DeviceRules: rules, facts);

impl DeviceRules {
    /// Creates an empty list for the device with this ordinal.
    pub(super) fn new(device: i64) -> DeviceRules {
        DeviceRules { device, rules: Column::new(), facts: DeviceFacts::default() }
    }

    pub(super) fn rule(&self, id: AllocationId) -> u16 {
        self.rules.get(id.0 as usize).unwrap_or(NO_RULE)
    }
}

/// Returns the stack of an allocation's free, or [`StackId::NONE`] if it was not recorded.
pub(super) fn free_stack(history: &DeviceHistory, id: AllocationId) -> StackId {
    let events = [history.allocations.free_requested(id), history.allocations.freed_at(id)].into_iter().flatten();
    let mut stacks = events.filter_map(Moment::event).map(|event| history.events.stack(event.0));
    stacks.find(|stack| is_recorded(*stack)).unwrap_or(StackId::NONE)
}

fn is_recorded(stack: StackId) -> bool {
    !matches!(stack, StackId::NONE | StackId::EMPTY)
}

/// Facts to look up, besides the stack and the lifetime of an allocation.
#[derive(Clone, Copy)]
pub(super) struct Needed {
    pub(super) free_stack: bool,
    pub(super) recorded: bool,
}

/// Calls `ask` with the facts about an allocation and returns its result. Facts that are not needed are empty.
pub(super) fn with_facts<R>(
    needed: Needed,
    stacks: &StackResults,
    device_facts: &DeviceFacts,
    (snapshot, history): (&Snapshot, &DeviceHistory),
    id: AllocationId,
    ask: impl FnOnce(&AllocationFacts<'_>) -> R,
) -> R {
    let stack = alloc_stack(snapshot, history, id);
    let (allocated_at, mut freed_at, _) = history.allocations.span(id);
    if device_facts.is_temporary(snapshot, history, id) {
        freed_at = history.event_count().saturating_add(1);
    }
    let mut freed = 0;
    if needed.free_stack {
        freed = stacks.result(free_stack(history, id)).bits;
        if device_facts.is_freed_by_zero_grad(history, id) {
            freed |= stacks.zero_grad;
        }
    }
    ask(&AllocationFacts {
        allocated: stacks.result(stack),
        freed,
        has_stack: is_recorded(stack),
        recorded: if needed.recorded { recorded_category(snapshot, history, id) } else { None },
        allocated_at,
        freed_at,
    })
}
