//! Encoding of table rows, and the numbers of strings in a file.

use crate::compact::format::{HAS_ADDRESS, HAS_POOL, HAS_STREAM, IS_EXPANDABLE, IS_SMALL, NOUNS, warning_code};
use crate::compact::numbers::{put_difference, put_signed, put_varint};
use crate::snapshot::{FrameId, Labels, Segment, Snapshot, StackId, StringId, WarningKind};

/// Index in the file for each string of the snapshot. The file contains only strings that a table refers to.
pub(super) struct StringNumbers(Vec<u32>);

impl StringNumbers {
    /// Assigns indices to all strings that a table refers to, in order of their ids. Returns the indices, and the ids
    /// in this order.
    pub(super) fn assign(snapshot: &Snapshot) -> (StringNumbers, Vec<StringId>) {
        let mut is_used = vec![false; snapshot.strings.len()];
        let mut uses = |id: StringId| {
            if let Some(used) = is_used.get_mut(id.0 as usize) {
                *used = true;
            }
        };
        for id in 0..snapshot.frames.len() as u32 {
            let frame = snapshot.frames.frame(FrameId(id));
            [frame.name, frame.filename].into_iter().for_each(&mut uses);
            frame.fx.iter().for_each(|&(key, text)| [key, text].into_iter().for_each(&mut uses));
        }
        for id in 0..snapshot.lines.len() as u32 {
            snapshot.lines.innermost(StackId(id)).into_iter().for_each(|(_, line)| uses(StringId(line.0)));
        }
        for labels in snapshot.labels.rows() {
            label_strings(labels).into_iter().flatten().for_each(&mut uses);
        }
        snapshot.marks.iter().for_each(|mark| uses(mark.name));
        let used: Vec<StringId> =
            (0u32..).zip(&is_used).filter(|(_, used)| **used).map(|(id, _)| StringId(id)).collect();
        let mut numbers = vec![0; is_used.len()];
        for (number, id) in (0u32..).zip(&used) {
            if let Some(place) = numbers.get_mut(id.0 as usize) {
                *place = number;
            }
        }
        (StringNumbers(numbers), used)
    }

    pub(super) fn number(&self, id: StringId) -> u64 {
        self.0.get(id.0 as usize).copied().map_or(0, u64::from)
    }

    pub(super) fn put(&self, bytes: &mut Vec<u8>, id: StringId) {
        put_varint(bytes, u128::from(self.number(id)));
    }
}

pub(super) fn label_strings(labels: &Labels) -> [Option<StringId>; 4] {
    [labels.compile_context, labels.user_metadata, labels.internal_metadata, labels.category]
}

pub(super) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_varint(bytes, text.len() as u128);
    bytes.extend_from_slice(text.as_bytes());
}

/// Appends a stack as its id plus one, or 0 for none.
pub(super) fn put_stack(bytes: &mut Vec<u8>, stack: StackId) {
    put_varint(bytes, u128::from(stack.0.wrapping_add(1)));
}

fn put_pool(bytes: &mut Vec<u8>, pool: Option<(u64, u64)>) {
    if let Some((first, second)) = pool {
        put_varint(bytes, u128::from(first));
        put_varint(bytes, u128::from(second));
    }
}

/// Returns `flag` if there is a value, otherwise 0.
pub(super) fn flag_if_some<T>(value: Option<T>, flag: u8) -> u8 {
    value.map_or(0, |_| flag)
}

pub(super) fn put_labels(bytes: &mut Vec<u8>, labels: &Labels, numbers: &StringNumbers) {
    bytes.push(flag_if_some(labels.stream, HAS_STREAM) | flag_if_some(labels.pool, HAS_POOL));
    labels.stream.into_iter().for_each(|stream| put_varint(bytes, u128::from(stream)));
    put_pool(bytes, labels.pool);
    for text in label_strings(labels) {
        put_varint(bytes, text.map_or(0, |id| u128::from(numbers.number(id)) + 1));
    }
    put_varint(bytes, labels.forward_frames.map_or(0, |lines| u128::from(lines.0) + 1));
}

/// Appends a segment. `end` is the end address of the previous segment. `taken` is the index of the first block that
/// belongs to no segment yet.
pub(super) fn put_segment(bytes: &mut Vec<u8>, segment: &Segment, end: u64, taken: &mut u32) {
    let set = |conditions_hold: bool, flag: u8| if conditions_hold { flag } else { 0 };
    bytes.push(
        flag_if_some(segment.stream, HAS_STREAM)
            | flag_if_some(segment.pool, HAS_POOL)
            | flag_if_some(segment.address, HAS_ADDRESS)
            | set(segment.small, IS_SMALL)
            | set(segment.expandable, IS_EXPANDABLE),
    );
    put_signed(bytes, i128::from(segment.device));
    put_difference(bytes, segment.address.unwrap_or(end), end);
    put_varint(bytes, u128::from(segment.total_size));
    segment.stream.into_iter().for_each(|stream| put_varint(bytes, u128::from(stream)));
    put_pool(bytes, segment.pool);
    put_stack(bytes, segment.stack);
    // A segment without blocks can stand anywhere.
    let first = if segment.blocks.is_empty() { *taken } else { segment.blocks.start };
    put_varint(bytes, u128::from(first - *taken));
    put_varint(bytes, segment.blocks.len() as u128);
    *taken = first + segment.blocks.len() as u32;
}

/// Appends a warning. Returns `false` if this format cannot represent its kind.
pub(super) fn put_warning(bytes: &mut Vec<u8>, kind: &WarningKind) -> bool {
    let noun = |what: &str| NOUNS.iter().position(|noun| *noun == what);
    let (number, noun, word) = match kind {
        WarningKind::UnknownKey(of, key) => (warning_code::UNKNOWN_KEY, Some(noun(of)), Some(key)),
        WarningKind::UnknownAction(action) => (warning_code::UNKNOWN_ACTION, None, Some(action)),
        WarningKind::UnknownState(state) => (warning_code::UNKNOWN_STATE, None, Some(state)),
        WarningKind::UnknownStage(stage) => (warning_code::UNKNOWN_STAGE, None, Some(stage)),
        WarningKind::NoSegments => (warning_code::NO_SEGMENTS, None, None),
        WarningKind::FromPlotData => (warning_code::FROM_PLOT_DATA, None, None),
        WarningKind::NoStacks => (warning_code::NO_STACKS, None, None),
        WarningKind::NotRecorded => (warning_code::NOT_RECORDED, None, None),
        WarningKind::EventsOverwritten => (warning_code::EVENTS_OVERWRITTEN, None, None),
        WarningKind::EventsLikelyOverwritten => (warning_code::EVENTS_LIKELY_OVERWRITTEN, None, None),
        WarningKind::FromProfiler(what) => (warning_code::FROM_PROFILER, Some(noun(what)), None),
        WarningKind::SinglePool(pool) => (warning_code::SINGLE_POOL, None, Some(pool)),
        WarningKind::Simulated(settings) => (warning_code::SIMULATED, None, Some(settings)),
        WarningKind::TrailingBytes(what) => (warning_code::TRAILING_BYTES, Some(noun(what)), None),
        // Replaying the history produces these warnings again.
        _ => return false,
    };
    put_varint(bytes, u128::from(number));
    let is_known = noun != Some(None);
    noun.flatten().into_iter().for_each(|noun| bytes.push(noun as u8));
    word.into_iter().for_each(|word| put_text(bytes, word));
    is_known
}
