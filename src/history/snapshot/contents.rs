//! Contents of a snapshot file, and its heap size.

use super::frames::Frames;
use super::labels::LabelTable;
use super::segments::{AnnotationMark, AnnotationRange, Block, Segment};
use super::stacks::Stacks;
use super::strings::Strings;
use super::warning::Warnings;
use crate::recorder::RecorderData;
use base::heap::HeapBytes;

/// Contents of a snapshot file, except its events.
pub struct Snapshot {
    pub strings: Strings,
    pub frames: Frames,
    pub stacks: Stacks,
    pub labels: LabelTable,
    /// Tracebacks of forward ops. The frames of these stacks are [`super::StringId`]s of lines.
    pub lines: Stacks,
    /// Segments of all devices and of host memory (device −1), in file order.
    pub segments: Vec<Segment>,
    pub blocks: Vec<Block>,
    /// Starts and ends of annotations, in file order.
    pub marks: Vec<AnnotationMark>,
    /// Traces, each as the ordinal of its device ([`HOST_DEVICE`] for host memory) and its index in the sink.
    pub traces: Vec<(i64, u32)>,
    /// `allocator_settings`, as pairs of dotted key and value.
    pub settings: Vec<(String, String)>,
    /// Data added by a recorder.
    pub recorder: RecorderData,
    /// Steps from the recorder, as annotations. Empty if the file has step annotations.
    pub steps: Vec<AnnotationRange>,
    /// Oldest PyTorch version that writes all keys of the file, and the key that was introduced last.
    pub torch: Option<(&'static str, &'static str)>,
    /// Availability of the state at the end of the recording.
    pub end: EndState,
    /// Warnings about the file itself.
    pub warnings: Warnings,
}

/// Availability of the state at the end of the recording in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndState {
    /// The file has a list of segments, which may be empty.
    Recorded,
    /// The file has no list of segments.
    Unknown,
}

impl Snapshot {
    /// Converts the recorder's steps to annotations, unless the file has step annotations from the profiler, which are
    /// more precise.
    pub(crate) fn name_steps(&mut self) {
        let adds_history = |mark: &AnnotationMark| self.strings.bytes(mark.name).starts_with(STEP_PREFIX.as_bytes());
        if self.recorder.steps.is_empty() || self.marks.iter().any(adds_history) {
            return;
        }
        for [number, start_us, end_us] in &self.recorder.steps {
            let Some(name) = self.strings.intern([STEP_PREFIX, &number.to_string()].concat().as_bytes()) else {
                return;
            };
            self.steps.push(AnnotationRange { name, start_us: *start_us, end_us: Some(*end_us) });
        }
    }

    /// Returns the heap size of each table, in bytes.
    pub fn heap_bytes(&self) -> Vec<(&'static str, usize)> {
        vec![
            ("strings", self.strings.heap_bytes()),
            ("frames", self.frames.heap_bytes()),
            ("stacks", self.stacks.heap_bytes()),
            ("labels", self.labels.heap_bytes() + self.lines.heap_bytes()),
            ("segments and blocks", self.segments.heap_bytes() + self.blocks.heap_bytes()),
            ("annotations", self.marks.heap_bytes()),
            ("the recorder's key", self.recorder.heap_bytes()),
        ]
    }
}

/// Prefix of the step annotations of torch.profiler and the recorder, followed by the step number.
const STEP_PREFIX: &str = "ProfilerStep#";

/// Device ordinal of host (pinned) memory, as in the file's segments.
pub const HOST_DEVICE: i64 = -1;
