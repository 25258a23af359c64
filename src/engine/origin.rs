//! Origin of an allocation: its stack and labels, as recorded at its event or its block.

use analysis::{IdSet, metadata};
use history::recorder::{Holder, Tensor};
use history::replay::{AllocationId, DeviceHistory, Provenance};
use history::snapshot::{Labels, LabelsId, Snapshot, StackId, StringId};
use protocol::{FrameMatcher, TENSOR_SEPARATOR};

/// `internal_metadata` of a prefix block. `resize_` with an address hint allocates such a block in front of the hinted
/// address and frees it immediately.
const PREFIX_BLOCK: &str = "mallocWithAddress";

/// Returns whether an allocation is a [prefix block](PREFIX_BLOCK). The allocator counts such blocks like all others.
pub(super) fn is_prefix_block(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> bool {
    let internal = labels_of(snapshot, history, id).internal_metadata;
    internal.is_some_and(|text| snapshot.strings.bytes(text) == PREFIX_BLOCK.as_bytes())
}

/// Returns the labels of an allocation, from its alloc event if recorded, otherwise from its free event.
pub(super) fn labels_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> Labels {
    labels_id(history, id).map_or_else(Labels::default, |id| snapshot.labels.labels(id))
}

fn labels_id(history: &DeviceHistory, id: AllocationId) -> Option<LabelsId> {
    if let Some(origin) = history.origin(id) {
        return Some(origin.labels);
    }
    match history.allocations.provenance(id) {
        Provenance::AllocatedBy(event) | Provenance::FreedBy(event) => Some(history.events.labels(event.0)),
        Provenance::Static | Provenance::Unexplained => None,
    }
}

/// Returns whether the labels of an allocation, or those of its newest `annotate` event, are in a set.
pub(super) fn has_labels(history: &DeviceHistory, id: AllocationId, labels: &IdSet) -> bool {
    let contains = |id: LabelsId| labels.contains(id.0);
    labels_id(history, id).is_some_and(contains) || history.annotation(id).is_some_and(contains)
}

/// Returns the user metadata of an allocation, or else of its newest `annotate` event. `None` if both are unset.
pub(super) fn metadata_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> Option<StringId> {
    let recorded = |labels: Labels| labels.user_metadata.filter(|&text| !snapshot.strings.bytes(text).is_empty());
    recorded(labels_of(snapshot, history, id)).or_else(|| recorded(snapshot.labels.labels(history.annotation(id)?)))
}

/// Returns the tensors in an allocation at the time when the snapshot was saved. A recorder lists them in the file.
pub(super) fn tensors_of<'a>(snapshot: &'a Snapshot, history: &DeviceHistory, id: AllocationId) -> &'a [Tensor] {
    let Snapshot { recorder, .. } = snapshot;
    let allocations = &history.allocations;
    // An allocation that is live at the end of a crop may have been freed before the recorder listed the tensors. The
    // crop has none for it.
    if recorder.tensors.is_empty() || allocations.freed_at(id).is_some() || allocations.is_unexplained(id) {
        return &[];
    }
    recorder.tensors_at(history.device, allocations.address(id), allocations.size(id))
}

/// Returns what holds an allocation when the snapshot was saved. A recorder finds it for the largest allocations.
pub(super) fn holder_of<'a>(snapshot: &'a Snapshot, history: &DeviceHistory, id: AllocationId) -> Option<&'a Holder> {
    let allocations = &history.allocations;
    if snapshot.recorder.observed.holders.is_empty()
        || allocations.freed_at(id).is_some()
        || allocations.is_unexplained(id)
    {
        return None;
    }
    snapshot.recorder.holder_at(history.device, allocations.address(id))
}

/// Returns whether the recorder found a matching holder of an allocation.
pub(super) fn is_held_by(
    snapshot: &Snapshot,
    history: &DeviceHistory,
    id: AllocationId,
    matcher: &FrameMatcher,
) -> bool {
    let holder = holder_of(snapshot, history, id);
    holder.is_some_and(|holder| matcher.matches(&snapshot.recorder.describe_holder(holder)))
}

/// Returns the description of a tensor: name, kind, shape and dtype.
pub(super) fn describe_tensor(snapshot: &Snapshot, tensor: &Tensor) -> String {
    let recorder = &snapshot.recorder;
    let mut text = recorder.name(tensor);
    if text.is_empty() {
        text.push_str("unnamed");
    }
    for part in [recorder.kind(tensor), recorder.shape(tensor), recorder.dtype(tensor)] {
        text.push_str(TENSOR_SEPARATOR);
        text.push_str(&part);
    }
    text
}

/// Returns the name of an allocation. In order of priority, it comes from the newest `annotate` event, from `name` in
/// the metadata, or from the tensor that a recorder lists in the allocation.
fn name_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> Option<String> {
    let text = |string: StringId| snapshot.strings.text(string);
    let note = history.annotation(id).and_then(|labels| snapshot.labels.labels(labels).user_metadata);
    let metadata_name = || metadata::value_of(&text(labels_of(snapshot, history, id).user_metadata?), "name");
    match note.map(text) {
        Some(note) => Some(metadata::value_of(&note, "name").unwrap_or_else(|| note.into_owned())),
        None => metadata_name().or_else(|| {
            let tensor = tensors_of(snapshot, history, id).first()?;
            Some(snapshot.recorder.name(tensor)).filter(|name| !name.is_empty())
        }),
    }
}

/// Returns a call site, preceded by the name of the allocation if it has one.
pub(super) fn site_with_name(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId, site: String) -> String {
    match name_of(snapshot, history, id).map(|name| name.chars().take(MAX_NAME_LEN).collect::<String>()) {
        Some(name) if site.is_empty() => name,
        Some(name) => [&name, " · ", &site].concat(),
        None => site,
    }
}

/// Maximum length of a name in front of a call site, in characters.
const MAX_NAME_LEN: usize = 100;

/// Returns whether [`recorded_category`] may return a category for an allocation of a file.
pub(super) fn has_recorded_categories(snapshot: &Snapshot) -> bool {
    let is_set = |labels: &Labels| labels.category.is_some() || labels.user_metadata.is_some();
    !snapshot.recorder.tensors.is_empty() || snapshot.labels.rows().iter().any(is_set)
}

/// Returns the category that the file records for an allocation, in torch.profiler's terms. In order of priority, it
/// comes from the recorder's tensor, from the alloc event, from an `annotate` event, or from metadata.
pub(super) fn recorded_category<'a>(
    snapshot: &'a Snapshot,
    history: &DeviceHistory,
    id: AllocationId,
) -> Option<&'a [u8]> {
    let labels = match history.allocations.provenance(id) {
        Provenance::AllocatedBy(_) => labels_of(snapshot, history, id),
        _ => Labels::default(),
    };
    let text = |string: StringId| snapshot.strings.text(string);
    let by_note = || {
        let note = text(snapshot.labels.labels(history.annotation(id)?).user_metadata?);
        metadata::category(&metadata::value_of(&note, "category").unwrap_or_else(|| note.into_owned()))
    };
    let by_metadata = || metadata::category(&metadata::value_of(&text(labels.user_metadata?), "category")?);
    let recorder_category = tensors_of(snapshot, history, id).first().map(|tensor| snapshot.recorder.category(tensor));
    let recorder_category = recorder_category.filter(|category| !category.is_empty());
    let recorded = recorder_category.or_else(|| labels.category.map(|category| snapshot.strings.bytes(category)));
    recorded.or_else(|| by_note().or_else(by_metadata).map(str::as_bytes))
}

/// Returns the stack of an allocation, which is recorded at its alloc event or its block. If neither has a stack,
/// returns the stack of its free.
#[inline(always)]
pub(super) fn stack_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> StackId {
    event_stack(history, id).unwrap_or_else(|| other_stack_of(snapshot, history, id))
}

/// Returns the stack of the event that made an allocation, the common case, which needs no further lookups. `None` if
/// it was not recorded.
#[inline(always)]
fn event_stack(history: &DeviceHistory, id: AllocationId) -> Option<StackId> {
    let stack = history.allocations.alloc_event(id).map(|event| history.events.stack(event.0));
    stack.filter(|&stack| stack != StackId::NONE)
}

/// Returns the stack of an allocation whose alloc event has none.
#[inline(never)]
fn other_stack_of(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> StackId {
    let recorded = |stack: &StackId| *stack != StackId::NONE;
    let source = history.allocations.provenance(id);
    let origin = history.origin(id);
    let alloc_stack = origin.filter(|origin| !origin.is_of_free).map(|origin| origin.stack).filter(recorded);
    // A block that still exists at the end has the stack of its alloc, which is more useful than that of the free.
    let block_stack =
        || history.end_block(id).and_then(|row| snapshot.blocks.get(row as usize)).map(|block| block.stack);
    let free_stack = || match source {
        _ if origin.is_some_and(|origin| origin.is_of_free) => origin.map(|origin| origin.stack),
        Provenance::FreedBy(event) => Some(history.events.stack(event.0)),
        _ => None,
    };
    alloc_stack.or_else(|| block_stack().filter(recorded)).or_else(free_stack).unwrap_or(StackId::NONE)
}

/// Returns whether `stack`, as returned by [`stack_of`], is the stack of the free. This is the case if the allocation
/// was made before recording and no other stack is known.
pub(super) fn is_free_stack(history: &DeviceHistory, id: AllocationId, stack: StackId) -> bool {
    if let Some(origin) = history.origin(id) {
        return origin.is_of_free && origin.stack == stack;
    }
    matches!(history.allocations.provenance(id), Provenance::FreedBy(event) if history.events.stack(event.0) == stack)
}

/// Returns whether an allocation was made by this stack. False for unexplained bytes, which have no stack.
pub(super) fn has_stack(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId, stack: StackId) -> bool {
    !history.allocations.is_unexplained(id) && stack_of(snapshot, history, id) == stack
}

/// Returns the stack of an allocation's alloc event, or [`StackId::NONE`] if it was not recorded.
#[inline(always)]
pub(super) fn alloc_stack(snapshot: &Snapshot, history: &DeviceHistory, id: AllocationId) -> StackId {
    event_stack(history, id).unwrap_or_else(|| {
        let stack = other_stack_of(snapshot, history, id);
        if is_free_stack(history, id, stack) { StackId::NONE } else { stack }
    })
}
