//! All details of one allocation.

use super::moments::elapsed_us;
use super::open::OpenFile;
use super::origin::{describe_tensor, holder_of, is_free_stack, is_prefix_block, tensors_of};
use super::side::Side;
use analysis::{RuleCache, Sites, metadata, site};
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, Provenance};
use history::snapshot::{Action, Labels, StackId, StringId, Strings};
use protocol::{Details, FrameText, Origin};
use std::cell::Cell;

/// Maximum number of entries in a list of the details. CPython limits its own stacks to a thousand frames by default.
const MAX_ENTRIES: usize = 10_000;
/// Maximum number of metadata entries, and maximum number of annotations, for an allocation.
const MAX_NOTES: usize = 1000;
/// Maximum number of tensors listed for one storage. Views share a storage, but rarely many of them.
const MAX_TENSORS: usize = 50;
/// Maximum number of bytes of all texts of an allocation.
const MAX_TEXT: usize = 8 << 20;

/// Looks up strings of the file for the details of one allocation. Truncates them when the total size limit is reached.
struct LimitedTexts<'a> {
    strings: &'a Strings,
    /// Number of bytes that may still be returned before the limit is reached.
    bytes_left: Cell<usize>,
}

impl LimitedTexts<'_> {
    fn text(&self, id: StringId) -> String {
        let bytes = self.strings.bytes(id);
        let left = self.bytes_left.get();
        self.bytes_left.set(left.saturating_sub(bytes.len()));
        match bytes.get(..left) {
            Some(beginning) if left < bytes.len() => String::from_utf8_lossy(beginning).into_owned() + "…",
            _ => self.strings.text(id).into_owned(),
        }
    }
}

/// Returns the details of an allocation. `None` if there is no such allocation.
pub(super) fn details(file: &OpenFile, device: i64, allocation: u32) -> Option<Details> {
    let side @ Side { history, .. } = file.side(device)?;
    let id = AllocationId(allocation);
    if allocation as usize >= history.allocations.len() {
        return None;
    }
    let texts = LimitedTexts { strings: &file.snapshot.strings, bytes_left: Cell::new(MAX_TEXT) };
    let text = |string: StringId| texts.text(string);
    let source = history.allocations.provenance(id);
    let event = match source {
        Provenance::AllocatedBy(event) | Provenance::FreedBy(event) => Some(event),
        Provenance::Static | Provenance::Unexplained => None,
    };
    let allocated_event = match source {
        Provenance::AllocatedBy(event) => Some(event),
        _ => None,
    };
    let freed_event = history.allocations.freed_at(id).and_then(Moment::event);
    let time = |event: Option<EventIdx>| event.and_then(|event| history.events.times.at(event.0));
    let labels =
        event.map_or_else(Labels::default, |event| file.snapshot.labels.labels(history.events.labels(event.0)));
    let groups = &file.groups;
    let requested = history.allocations.size(id);
    let block = history.end_block(id).and_then(|row| file.snapshot.blocks.get(row as usize));
    let stack = side.stack(id);
    let stack_of_free = is_free_stack(history, id, stack);
    // The stack comes first: it matters most if the size limit is reached.
    let frames = frames(file, &texts, stack);
    let mut tensors: Vec<String> = Vec::new();
    for tensor in tensors_of(&file.snapshot, history, id).iter().take(MAX_TENSORS) {
        tensors.push(describe_tensor(&file.snapshot, tensor));
    }
    Some(Details {
        category: groups.categories.details(history, id, !tensors.is_empty()),
        tensors,
        held_by: holder_of(&file.snapshot, history, id).map(|it| file.snapshot.recorder.describe_holder(it)),
        frames,
        device,
        backend: file.backend,
        allocation,
        origin: match source {
            Provenance::AllocatedBy(_) => Origin::Recorded,
            Provenance::FreedBy(_) => Origin::FreedOnly,
            Provenance::Static => Origin::Static,
            Provenance::Unexplained => Origin::Unexplained,
        },
        requested,
        rounded: match (source, block) {
            (Provenance::Unexplained, _) => requested,
            (_, Some(block)) => block.size,
            (_, None) => file.rounding.rounded(requested),
        },
        is_rounded_estimated: block.is_none(),
        address: (source != Provenance::Unexplained).then(|| history.allocations.address(id)),
        stream: groups.stream(&file.snapshot, history, id),
        pool: groups.pool(&file.snapshot, history, id),
        allocated_event: allocated_event.map(|event| event.0),
        allocated_us: time(allocated_event),
        free_requested_event: history.allocations.free_requested(id).and_then(Moment::event).map(|event| event.0),
        freed_event: freed_event.map(|event| event.0),
        freed_us: time(freed_event),
        lifetime_us: allocated_event
            .zip(freed_event)
            .and_then(|(allocated_at, freed)| elapsed_us(history, allocated_at, freed)),
        live_after: history.drawn_at(history.allocations.allocated_at(id)),
        compile_context: labels.compile_context.map(text),
        metadata: metadata(side, &texts, id, labels),
        annotations: time(allocated_event).map_or_else(Vec::new, |allocated_at| {
            let around = history.annotations.iter().filter(|range| range.covers(allocated_at));
            around.take(MAX_NOTES).map(|range| text(range.name)).collect()
        }),
        is_free_stack: stack_of_free,
        stack: (!matches!(stack, StackId::NONE | StackId::EMPTY)).then_some(stack.0),
        forward_frames: labels.forward_frames.map_or_else(Vec::new, |lines| forward_frames(file, &texts, lines)),
    })
}

fn metadata(
    Side { file, history }: Side<'_>,
    texts: &LimitedTexts<'_>,
    id: AllocationId,
    labels: Labels,
) -> Vec<(String, String)> {
    let text = |string: StringId| texts.text(string);
    let user = labels.user_metadata.map(text);
    // User metadata that is an object is listed by entry: pool, name and others.
    let user: Vec<(String, String)> = match user.as_deref().and_then(metadata::entries) {
        Some(entries) => entries,
        None => user.into_iter().map(|text| ("user metadata".to_owned(), text)).collect(),
    };
    let label = if is_prefix_block(&file.snapshot, history, id) {
        "internal metadata (momentary prefix block of resize_)"
    } else {
        "internal metadata"
    };
    let internal = labels.internal_metadata.map(|string| (label.to_owned(), text(string)));
    let category = labels.category.map(|string| ("category".to_owned(), text(string)));
    let own = user.into_iter().chain(internal).chain(category);
    let address = history.allocations.address(id);
    let last = history.allocations.freed_at(id).map_or(history.event_count(), |moment| moment.0);
    // Annotations are rare. The events are searched only if the file has any.
    let notes = if history.action_counts[Action::Annotate as usize] > 0 {
        history.allocations.allocated_at(id).0..last
    } else {
        0..0
    };
    let notes = notes.filter(|&event| history.events.action(event) == Action::Annotate).filter_map(|event| {
        let labels = file.snapshot.labels.labels(history.events.labels(event));
        let (annotated, _) = history.address_and_size(EventIdx(event));
        Some(("annotation".to_owned(), text(labels.user_metadata.filter(|_| annotated == address)?)))
    });
    own.chain(notes).take(MAX_NOTES).collect()
}

/// Returns the lines of a forward traceback. One entry in the file may contain several lines.
fn forward_frames(file: &OpenFile, texts: &LimitedTexts<'_>, lines: StackId) -> Vec<String> {
    let entries = file.snapshot.lines.frames(lines).map(|line| texts.text(StringId(line.0)));
    let lines = entries.flat_map(|entry| entry.trim_end().lines().map(str::to_owned).collect::<Vec<_>>());
    lines.take(MAX_ENTRIES).collect()
}

fn frames(file: &OpenFile, texts: &LimitedTexts<'_>, stack: StackId) -> Vec<FrameText> {
    let text = |string: StringId| texts.text(string);
    let snapshot = &file.snapshot;
    let (rules, mut known) = (file.stack_trees.rules(), RuleCache::default());
    let frames = || snapshot.stacks.frames(stack).map(|id| (id, snapshot.frames.frame(id)));
    let mut is_internal = |frame| rules.is_internal(snapshot, frame, &mut known);
    // If all frames are internal, those from the call site outwards are shown.
    let is_all_internal = frames().all(|(_, frame)| is_internal(frame));
    let site = site::call_site(snapshot, stack);
    let mut is_inside_site = true;
    frames()
        .take(MAX_ENTRIES)
        .map(|(id, frame)| FrameText {
            is_internal: {
                is_inside_site &= Some(id) != site;
                if is_all_internal { is_inside_site } else { is_internal(frame) }
            },
            name: text(frame.name),
            filename: text(frame.filename),
            line: frame.line.to_string(),
            is_user_code: Sites::is_user(snapshot, frame),
            fx: frame.fx.iter().map(|&(key, value)| (text(key), text(value))).collect(),
        })
        .collect()
}
