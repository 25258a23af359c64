//! Detects libraries that pause memory, in files that do not say what was paused.

use crate::report::writer::ReportWriter;
use base::slice::{SliceResult, TimeSlice};
use history::snapshot::{FrameId, Snapshot};
use protocol::Tone;

/// Parts of the paths of libraries that unmap memory from the GPU while the allocator counts it as reserved.
const LIBRARIES: [&[u8]; 2] = [b"torch_memory_saver", b"device_allocator/cumem"];

/// Number of bytes at the end of a path that are searched.
const MAX_LENGTH: usize = 256;

/// Search for frames of such libraries.
#[derive(Default)]
pub(super) struct Pausing {
    next: usize,
    is_found: bool,
}

impl Pausing {
    /// Continues searching until all frames are examined or the time slice is used up. Does nothing if the recorder
    /// noted what was paused.
    pub(super) fn step(&mut self, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        if !snapshot.recorder.observed.paused.is_empty() {
            return Ok(());
        }
        while !self.is_found
            && let Some(frames) = slice.next_range(&mut self.next, snapshot.frames.len(), 16)?
        {
            self.is_found = frames.into_iter().any(|frame| {
                let file = snapshot.strings.bytes(snapshot.frames.frame(FrameId(frame as u32)).filename);
                let file = file.get(file.len().saturating_sub(MAX_LENGTH)..).unwrap_or(file);
                LIBRARIES.iter().any(|name| file.windows(name.len()).any(|part| part == *name))
            });
        }
        Ok(())
    }

    /// Writes a statement if a library was found.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>) {
        if self.is_found {
            let text = format!(
                "Parts of the reserved memory may be paused, and so not on the {}: the stacks have frames of \
                 torch_memory_saver or vLLM's cumem allocator.",
                writer.side.backend().device()
            );
            writer.add_statement(Tone::Fact, text, None);
            writer.set_fix("Record with memscape, which notes what is paused.");
        }
    }
}
