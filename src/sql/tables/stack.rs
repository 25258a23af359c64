//! The table `stack`: all stacks that occur in other tables.

use crate::rows::{RowRequest, RowScope, RowSet, Rows};
use crate::source::Source;
use engine::tables::{file, function, line};
use history::snapshot::{FrameId, Snapshot, StackId};
use sqlite::{Cell, Kind};

/// Table of all stacks.
#[derive(Default)]
pub(super) struct Stacks;

/// Returns the function, file or line of a frame, depending on `column`.
pub(super) fn frame_cell<'a>(snapshot: &'a Snapshot, frame: FrameId, column: usize) -> Cell<'a> {
    match column {
        0 => function(snapshot, frame).into(),
        1 => file(snapshot, frame).into(),
        _ => line(snapshot, frame).into(),
    }
}

/// Returns the positions, in [`Source::stacks`], of the stacks whose ids are requested.
pub(super) fn wanted_stacks(source: &Source, part: usize, wanted: &RowRequest) -> Option<std::ops::Range<u32>> {
    let file = source.parts.get(part)?.file;
    let first = source.files.get(file)?.first_stack;
    let stacks = source.stacks(file)?;
    let below = |key: i64| stacks.partition_point(|&stack| first + i64::from(stack) < key) as u32;
    let end = wanted.keys.end().checked_add(1).map_or(stacks.len() as u32, below);
    Some(below(*wanted.keys.start())..end)
}

impl Rows for Stacks {
    const SCOPE: RowScope = RowScope::File;
    const COLUMNS: &'static [(&'static str, Kind)] = &[
        ("stack", Kind::Integer),
        ("depth", Kind::Integer),
        ("call_site", Kind::Text),
        ("function", Kind::Text),
        ("file", Kind::Text),
        ("line", Kind::Integer),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        (0..source.files.len()).filter_map(|file| source.snapshot(file)).map(|it| it.stacks.len() as u64 / 8).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        Ok(wanted_stacks(source, part, wanted).map_or(RowSet::NONE, RowSet::Range))
    }

    fn cell<'a>(&'a self, source: &'a Source, part: usize, row: u32, column: usize) -> Cell<'a> {
        let Some(file) = source.parts.get(part).map(|part| part.file) else { return Cell::Null };
        let stack = source.stacks(file).and_then(|stacks| stacks.get(row as usize).copied());
        let (Some(stack), Some(snapshot)) = (stack.map(StackId), source.snapshot(file)) else { return Cell::Null };
        match column {
            0 => source.stack_number(part, stack).into(),
            1 => (snapshot.stacks.frames(stack).count() as u64).into(),
            2 => source.site_text(file, stack).into(),
            _ => snapshot
                .stacks
                .innermost(stack)
                .map_or(Cell::Null, |(_, frame)| frame_cell(snapshot, frame, column - 3)),
        }
    }
}
