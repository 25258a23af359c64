//! The table `block`: blocks of the segments at the end of the recording.

use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use history::snapshot::BlockState;
use sqlite::{Cell, Kind};

/// Table of all blocks.
#[derive(Default)]
pub(super) struct Blocks;

impl Rows for Blocks {
    const SCOPE: RowScope = RowScope::File;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("device", Kind::Integer),
        ("block", Kind::Integer),
        ("segment", Kind::Integer),
        ("address", Kind::Text),
        ("allocated_rounded_bytes", Kind::Integer),
        ("requested_bytes", Kind::Integer),
        ("state", Kind::Text),
        ("allocation", Kind::Integer),
        ("stack", Kind::Integer),
        ("call_site", Kind::Text),
    ];
    const KEY_COLUMN: Option<usize> = Some(1);

    fn count(source: &Source) -> u64 {
        (0..source.files.len()).filter_map(|file| source.snapshot(file)).map(|it| it.blocks.len() as u64).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let blocks = source.side(part).map_or(0, |side| side.snapshot().blocks.len() as u32);
        Ok(RowSet::keyed(0..blocks, 0, &wanted.keys))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let Some(file) = source.parts.get(part).map(|part| part.file) else { return Cell::Null };
        let Some(snapshot) = source.snapshot(file) else { return Cell::Null };
        let Some(block) = snapshot.blocks.get(row as usize) else { return Cell::Null };
        let place = || source.blocks(file).get(row as usize);
        match column {
            0 => place().and_then(|place| snapshot.segments.get(place.segment as usize)).map(|it| it.device).into(),
            1 => row.into(),
            2 => place().and_then(|place| place.range).into(),
            3 => format!("0x{:x}", block.address).into(),
            4 => block.size.into(),
            // A free block contains the requested size of its last allocation.
            5 if !block.state.is_live() => Cell::Null,
            5 => block.requested.into(),
            6 => match block.state {
                BlockState::Allocated => "active_allocated",
                BlockState::AwaitingFree => "active_awaiting_free",
                BlockState::Inactive => "inactive",
            }
            .into(),
            7 => place().and_then(|place| place.allocation).into(),
            8 => source.stack_number(part, block.stack).into(),
            9 => source.site_text(file, block.stack).into(),
            _ => Cell::Null,
        }
    }
}
