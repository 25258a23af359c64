//! The table `block`: blocks of the segments at the end of the recording.

use crate::cache::BlockPlace;
use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use history::snapshot::{Block, BlockState};
use sqlite::Kind;

/// Table of all blocks.
#[derive(Default)]
pub(super) struct Blocks;

impl Rows for Blocks {
    type Item<'a> = &'a Block;

    const SCOPE: RowScope = RowScope::File;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("device", Kind::Integer, |at, _| {
            let segment = place(at).and_then(|place| at.side.snapshot().segments.get(place.segment as usize));
            segment.map(|it| it.device).into()
        }),
        ("block", Kind::Integer, |at, _| at.row.into()),
        ("segment", Kind::Integer, |at, _| place(at).and_then(|place| place.range).into()),
        ("address", Kind::Text, |_, block| format!("0x{:x}", block.address).into()),
        ("allocated_rounded_bytes", Kind::Integer, |_, block| block.size.into()),
        ("requested_bytes", Kind::Integer, |_, block| {
            // A free block contains the requested size of its last allocation.
            block.state.is_live().then_some(block.requested).into()
        }),
        ("state", Kind::Text, |_, block| {
            match block.state {
                BlockState::Allocated => "active_allocated",
                BlockState::AwaitingFree => "active_awaiting_free",
                BlockState::Inactive => "inactive",
            }
            .into()
        }),
        ("allocation", Kind::Integer, |at, _| place(at).and_then(|place| place.allocation).into()),
        ("stack", Kind::Integer, |at, block| at.source.stack_number(at.part, block.stack).into()),
        ("call_site", Kind::Text, |at, block| at.source.site_text(at.file(), block.stack).into()),
    ];
    const KEY_COLUMN: Option<usize> = Some(1);

    fn count(source: &Source) -> u64 {
        (0..source.files.len()).filter_map(|file| source.snapshot(file)).map(|it| it.blocks.len() as u64).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let blocks = source.side(part).map_or(0, |side| side.snapshot().blocks.len() as u32);
        Ok(RowSet::keyed(0..blocks, 0, &wanted.keys))
    }

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        at.side.snapshot().blocks.get(at.row as usize)
    }
}

fn place<'a>(at: &At<'a>) -> Option<&'a BlockPlace> {
    at.source.blocks(at.file()).get(at.row as usize)
}
