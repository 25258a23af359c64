//! The table `frame`: frames of each stack. The innermost frame has position 0.

use super::stack::wanted_stacks;
use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use engine::tables::{Column, Row, TotalsCache, columns};
use history::snapshot::{FrameId, StackId};
use protocol::ExportTable;
use std::cell::RefCell;

/// Table of all frames.
#[derive(Default)]
pub(super) struct Frames {
    /// Stack that was read last: index of the file, index of the stack, and frames.
    last: RefCell<(usize, usize, Vec<FrameId>)>,
    totals: TotalsCache,
}

impl Rows for Frames {
    type Item<'a> = ();

    const SCOPE: RowScope = RowScope::File;
    const DECLARED: &'static [Column] = columns(ExportTable::Stacks);
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        (0..source.files.len()).filter_map(|file| source.snapshot(file)).map(|it| it.stacks.len() as u64 * 4).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        let begins = source.parts.get(part).and_then(|part| source.frames(part.file));
        let (Some(begins), Some(stacks)) = (begins, wanted_stacks(source, part, wanted)) else {
            return Ok(RowSet::NONE);
        };
        let begin = |stack: u32| begins.get(stack as usize).or(begins.last()).copied().unwrap_or(0);
        Ok(RowSet::Range(begin(stacks.start)..begin(stacks.end)))
    }

    fn row<'a>(&'a self, source: &'a Source, part: usize, row: u32) -> Option<Row<'a>> {
        let file = source.parts.get(part)?.file;
        let (snapshot, begins) = (source.snapshot(file)?, source.frames(file)?);
        let place = begins.partition_point(|&begin| begin <= row).checked_sub(1)?;
        let stack = StackId(source.stacks(file)?.get(place).copied()?);
        let position = row.checked_sub(*begins.get(place)?)?;
        let mut last = self.last.borrow_mut();
        if last.2.is_empty() || (last.0, last.1) != (file, place) {
            *last = (file, place, snapshot.stacks.frames(stack).collect());
        }
        let frame = *last.2.get(position as usize)?;
        Some(Row { frame: Some((position, frame)), ..source.row(part, &self.totals, stack.0)? })
    }
}
