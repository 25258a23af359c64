//! The table `stack`: all stacks that occur in other tables.

use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use engine::tables::{file, function, line};
use history::snapshot::{FrameId, StackId};
use sqlite::Kind;

/// Table of all stacks.
#[derive(Default)]
pub(super) struct Stacks;

fn innermost(at: &At<'_>, stack: StackId) -> Option<FrameId> {
    Some(at.side.snapshot().stacks.innermost(stack)?.1)
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
    type Item<'a> = StackId;

    const SCOPE: RowScope = RowScope::File;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("stack", Kind::Integer, |at, stack| at.source.stack_number(at.part, stack).into()),
        ("depth", Kind::Integer, |at, stack| (at.side.snapshot().stacks.frames(stack).count() as u64).into()),
        ("call_site", Kind::Text, |at, stack| at.source.site_text(at.file(), stack).into()),
        ("function", Kind::Text, |at, stack| {
            innermost(at, stack).map(|frame| function(at.side.snapshot(), frame)).into()
        }),
        ("file", Kind::Text, |at, stack| innermost(at, stack).and_then(|frame| file(at.side.snapshot(), frame)).into()),
        ("line", Kind::Integer, |at, stack| {
            innermost(at, stack).and_then(|frame| line(at.side.snapshot(), frame)).into()
        }),
    ];
    const KEY_COLUMN: Option<usize> = Some(0);

    fn count(source: &Source) -> u64 {
        (0..source.files.len()).filter_map(|file| source.snapshot(file)).map(|it| it.stacks.len() as u64 / 8).sum()
    }

    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String> {
        Ok(wanted_stacks(source, part, wanted).map_or(RowSet::NONE, RowSet::Range))
    }

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        Some(StackId(*at.source.stacks(at.file())?.get(at.row as usize)?))
    }
}
