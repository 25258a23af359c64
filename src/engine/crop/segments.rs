//! Writes segments and their blocks, either as recorded at the end of the file or as of an event.

use super::tables::{TableWriter, write_pool_id};
use crate::origin::{is_free_stack, stack_of};
use crate::state::DeviceState;
use history::replay::{AllocationId, DeviceHistory, SegmentLifetimes};
use history::snapshot::{Block, BlockState, Segment, StackId};
use history::writing::{Items, ValueWriter};
use std::io;

impl TableWriter<'_> {
    /// Appends the segments of a device after event `to` − 1, of one stream or of all, and returns their number.
    pub(super) fn write_segments_after(
        &mut self,
        out: &mut dyn ValueWriter,
        list: &mut Items,
        (history, lives): (&DeviceHistory, &SegmentLifetimes),
        state: &DeviceState,
        to: u32,
        stream: Option<u64>,
    ) -> io::Result<u32> {
        let (file, mut count) = (self.file, 0);
        for segment in &state.segments {
            let kind = lives.kinds().get(segment.kind as usize).copied();
            if stream.is_some() && kind.and_then(|kind| kind.stream) != stream {
                continue;
            }
            count += 1;
            let stack = state.first_range(segment).map_or(StackId::NONE, |id| lives.stack(&file.snapshot, history, id));
            let head = Segment {
                device: history.device,
                address: Some(segment.address),
                total_size: segment.end.saturating_sub(segment.address),
                stream: Some(kind.and_then(|kind| kind.stream).unwrap_or(0)),
                small: kind.is_some_and(|kind| kind.small),
                pool: Some(kind.and_then(|kind| kind.pool).unwrap_or_default()),
                expandable: kind.is_some_and(|kind| kind.expandable),
                stack,
                blocks: 0..0,
            };
            let is_pending = |id: u32| {
                let pending = file.device_data(history).awaiting_free(AllocationId(id));
                pending.is_some_and(|[from, _]| from <= to)
            };
            let (mut blocks, mut until) = (Vec::new(), segment.address);
            for block in state.blocks_of(segment) {
                blocks.extend(free_block([until, block.from]));
                until = until.max(block.to);
                let id = AllocationId(block.id);
                let stack = stack_of(&file.snapshot, history, id);
                blocks.push(Block {
                    address: block.from,
                    size: block.to.saturating_sub(block.from),
                    requested: history.allocations.size(id),
                    state: if is_pending(block.id) { BlockState::AwaitingFree } else { BlockState::Allocated },
                    stack: if is_free_stack(history, id, stack) { StackId::NONE } else { stack },
                });
            }
            blocks.extend(free_block([until, segment.end]));
            out.item(list)?;
            self.write_segment(out, &head, &blocks)?;
        }
        Ok(count)
    }

    /// Writes a segment and its blocks.
    pub(super) fn write_segment(
        &mut self,
        out: &mut dyn ValueWriter,
        segment: &Segment,
        blocks: &[Block],
    ) -> io::Result<()> {
        let sum = |state: fn(BlockState) -> bool, bytes: fn(&Block) -> u64| {
            blocks.iter().filter(|block| state(block.state)).map(|block| i128::from(bytes(block))).sum::<i128>()
        };
        out.dict()?;
        let numbers = [
            ("device", Some(i128::from(segment.device))),
            ("address", segment.address.map(i128::from)),
            ("total_size", Some(segment.total_size.into())),
            ("allocated_size", Some(sum(|state| state == BlockState::Allocated, |block| block.size))),
            ("active_size", Some(sum(BlockState::is_live, |block| block.size))),
            ("requested_size", Some(sum(BlockState::is_live, |block| block.requested))),
            ("stream", segment.stream.map(i128::from)),
        ];
        for (key, number) in numbers.into_iter().filter_map(|(key, number)| Some((key, number?))) {
            out.key(key)?;
            out.int(number)?;
        }
        out.key("segment_type")?;
        out.key(if segment.small { "small" } else { "large" })?;
        if let Some(id) = segment.pool {
            write_pool_id(out, "segment_pool_id", id)?;
        }
        out.key("is_expandable")?;
        out.bool(segment.expandable)?;
        out.key("frames")?;
        self.write_stack(out, segment.stack)?;
        out.key("blocks")?;
        let mut items = out.list()?;
        for block in blocks {
            out.item(&mut items)?;
            self.write_block(out, block)?;
        }
        out.end_list(items)?;
        out.end_dict()
    }

    fn write_block(&mut self, out: &mut dyn ValueWriter, block: &Block) -> io::Result<()> {
        out.dict()?;
        for (key, number) in [("address", block.address), ("size", block.size), ("requested_size", block.requested)] {
            out.key(key)?;
            out.int(number.into())?;
        }
        out.key("state")?;
        out.key(match block.state {
            BlockState::Allocated => "active_allocated",
            BlockState::AwaitingFree => "active_pending_free",
            BlockState::Inactive => "inactive",
        })?;
        out.key("frames")?;
        self.write_stack(out, block.stack)?;
        out.end_dict()
    }
}

/// Returns a free block that covers the space between two addresses. `None` if they are equal.
pub(super) fn free_block([from, to]: [u64; 2]) -> Option<Block> {
    let block = |size| Block { address: from, size, requested: 0, state: BlockState::Inactive, stack: StackId::NONE };
    to.checked_sub(from).filter(|&size| size > 0).map(block)
}
