//! The end of a simulated run: its segments, and the dict that marks the file as simulated.

use super::{RunWriter, SimulatedSummary};
use crate::crop::segments::free_block;
use crate::origin::{is_free_stack, stack_of};
use allocator::blocks::State;
use allocator::trace::Placed;
use history::replay::AllocationId;
use history::snapshot::{Block, BlockState, SIMULATED_KEY, Segment, StackId};
use history::writing::ValueWriter;
use std::io;

impl RunWriter<'_> {
    /// Writes the segments at the end of the run.
    pub(super) fn write_segments(
        &mut self,
        out: &mut dyn ValueWriter,
        written: &mut SimulatedSummary,
    ) -> io::Result<()> {
        out.key("segments")?;
        let mut list = out.list()?;
        for segment in self.traced.trace.segments(self.traced.recording) {
            let head = Segment {
                device: self.history.device,
                address: Some(segment.address),
                total_size: segment.size,
                stream: Some(segment.stream),
                small: segment.small,
                pool: Some(segment.pool),
                expandable: segment.expandable,
                stack: StackId::NONE,
                blocks: 0..0,
            };
            let blocks: Vec<Block> = segment.blocks.iter().filter_map(|block| self.block(block)).collect();
            out.item(&mut list)?;
            self.tables.write_segment(out, &head, &blocks)?;
            written.segments += 1;
        }
        out.end_list(list)
    }

    fn block(&self, block: &Placed) -> Option<Block> {
        let (file, history) = (self.tables.file, self.history);
        let Some(number) = block.allocation else {
            // The request that failed in the recording and succeeds in the run has no number.
            let failed = Block {
                address: block.address,
                size: block.size,
                requested: self.avoided_bytes.min(block.size),
                state: BlockState::Allocated,
                stack: StackId::NONE,
            };
            return match block.state {
                State::Free => free_block([block.address, block.address.saturating_add(block.size)]),
                _ => Some(failed),
            };
        };
        let id = AllocationId(number);
        let stack = stack_of(&file.snapshot, history, id);
        // If its free was requested before the first event, no event says so.
        let was_pending = file.device_data(history).awaiting_free(id).is_some_and(|[from, _]| from == 0);
        let is_pending = block.state == State::AwaitingFree || was_pending;
        Some(Block {
            address: block.address,
            size: block.size,
            requested: self.traced.trace.size(self.traced.recording, number),
            state: if is_pending { BlockState::AwaitingFree } else { BlockState::Allocated },
            stack: if is_free_stack(history, id, stack) { StackId::NONE } else { stack },
        })
    }

    /// Writes the dict that marks the file as simulated: source, settings and parameters.
    pub(super) fn write_provenance(&self, out: &mut dyn ValueWriter, written: &SimulatedSummary) -> io::Result<()> {
        out.key(SIMULATED_KEY)?;
        out.dict()?;
        for (key, text) in [("source", &self.run.source), ("settings", &written.settings)] {
            out.key(key)?;
            out.text(text.as_bytes())?;
        }
        let numbers = [
            ("device", Some(i128::from(self.history.device))),
            ("capacity", self.traced.capacity.map(i128::from)),
            ("ends_at_recorded_event", written.ends_at.map(i128::from)),
        ];
        for (key, number) in numbers.into_iter().filter_map(|(key, number)| Some((key, number?))) {
            out.key(key)?;
            out.int(number)?;
        }
        let flags = [
            ("recording_is_reproduced_exactly", self.traced.is_exact),
            ("empty_cache_left_out", self.run.skip_empty_cache),
            ("sizes_are_planned", self.run.planned_sizes.is_some()),
        ];
        for (key, value) in flags {
            out.key(key)?;
            out.bool(value)?;
        }
        out.end_dict()
    }
}
