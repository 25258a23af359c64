//! Rows of exported tables.

use crate::columns::Cell;
use crate::curve::points;
use crate::frames::{Frame, Stack, outermost_first};
use analysis::{Sites, frame_line};
use base::units::EventIdx;
use engine::Side;
use history::replay::{AllocationId, Provenance};
use history::snapshot::StackId;
use protocol::{ExportQuestion, ExportTable, Grouping, Scope};
use std::io;

/// Calls `each` for every row of a table, with cells in the order of [`crate::columns()`]. Returns the number of rows.
///
/// # Errors
/// Returns the errors of `each`.
pub fn each_row(
    side: Side<'_>,
    question: &ExportQuestion,
    each: &mut dyn FnMut(&[Cell]) -> io::Result<()>,
) -> io::Result<u64> {
    let mut rows = Rows { side, sites: Sites::new(side.snapshot()), line: String::new(), count: 0, each };
    match question.table {
        ExportTable::Allocations => rows.allocations(question.scope),
        ExportTable::Events => rows.events(question),
        ExportTable::Segments => rows.segments(),
        ExportTable::Curve => rows.curve(question),
        ExportTable::Stacks => rows.stacks(),
    }?;
    Ok(rows.count)
}

/// Passes rows to `each`, and counts them.
struct Rows<'a, 'b> {
    side: Side<'a>,
    sites: Sites,
    line: String,
    count: u64,
    each: &'b mut dyn FnMut(&[Cell]) -> io::Result<()>,
}

impl Rows<'_, '_> {
    fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        self.count += 1;
        (self.each)(cells)
    }

    /// Returns the cells that describe a stack: its id and its call site.
    fn stack(&mut self, stack: StackId) -> [Cell; 2] {
        let snapshot = self.side.snapshot();
        if snapshot.stacks.innermost(stack).is_none() {
            return [Cell::Empty, Cell::Empty];
        }
        let site = self.sites.call_site(snapshot, stack).map(|frame| {
            frame_line::write(&mut self.line, snapshot, snapshot.frames.frame(frame));
            self.line.clone()
        });
        [Cell::Unsigned(stack.0.into()), site.into()]
    }

    fn pool(&self, pool: Option<(u64, u64)>) -> [Cell; 2] {
        [pool.map(pool_text).into(), pool.map(|pool| self.side.pool_label(pool)).into()]
    }

    /// Returns the cells that describe an event: its index and its time.
    fn event(&self, event: Option<EventIdx>) -> [Cell; 2] {
        let time = event.and_then(|event| self.side.history.events.times.at(event.0));
        [event.map(|event| event.0).into(), time.into()]
    }

    fn allocations(&mut self, scope: Scope) -> io::Result<()> {
        let (side, mut done) = (self.side, Ok(()));
        side.for_each_in_scope(scope, &mut |id, _| {
            if done.is_ok() {
                done = self.allocation(id);
            }
        });
        done
    }

    fn allocation(&mut self, id: AllocationId) -> io::Result<()> {
        let (side, allocations) = (self.side, &self.side.history.allocations);
        let source = allocations.provenance(id);
        let allocated_at = match source {
            Provenance::AllocatedBy(event) => Some(event),
            _ => None,
        };
        let freed_at = allocations.freed_at(id).and_then(|moment| moment.event());
        let address = (source != Provenance::Unexplained).then(|| hex(allocations.address(id)));
        let category = side.group_label(Grouping::Category, side.group(Grouping::Category, id));
        let stack = match source {
            Provenance::Unexplained => StackId::NONE,
            _ => side.stack(id),
        };
        let [pool, pool_name] = self.pool(side.pool(id));
        let [allocated, allocated_us] = self.event(allocated_at);
        let [freed, freed_us] = self.event(freed_at);
        let [stack, site] = self.stack(stack);
        self.row(&[
            Cell::Unsigned(id.0.into()),
            Cell::Unsigned(allocations.size(id)),
            address.into(),
            side.stream(id).into(),
            pool,
            pool_name,
            Cell::Text(category),
            allocated,
            allocated_us,
            freed,
            freed_us,
            stack,
            site,
        ])
    }

    fn events(&mut self, question: &ExportQuestion) -> io::Result<()> {
        let side = self.side;
        let history = side.history;
        for point in points(side, question.range.from, question.range.to).skip(1) {
            let Some(event) = point.event else { continue };
            let (address, size) = history.address_and_size(EventIdx(event));
            let action = history.events.action(event);
            // Other events use the address field for something else.
            let address = action.requires_address().then(|| hex(address));
            let [stack, site] = self.stack(side.event_stack(event));
            self.row(&[
                Cell::Unsigned(event.into()),
                Cell::Text(action.name().to_owned()),
                point.time_us.into(),
                Cell::Unsigned(size),
                address.into(),
                side.event_stream(event).into(),
                side.event_pool(event).map(pool_text).into(),
                history.allocation_of(EventIdx(event)).map(|id| id.0).into(),
                Cell::Signed(point.live),
                Cell::Signed(point.awaiting_free),
                Cell::Signed(point.reserved),
                stack,
                site,
            ])?;
        }
        Ok(())
    }

    fn segments(&mut self) -> io::Result<()> {
        let side = self.side;
        let Some(lives) = side.segment_lives() else { return Ok(()) };
        for id in (0..lives.ranges.len() as u32).map(AllocationId) {
            let kind = lives.kind(id);
            let [pool, pool_name] = self.pool(kind.and_then(|kind| kind.pool));
            let [allocated, allocated_us] = self.event(lives.ranges.allocated_at(id).event());
            let [freed, freed_us] = self.event(lives.ranges.freed_at(id).and_then(|moment| moment.event()));
            let [stack, site] = self.stack(lives.stack(side.snapshot(), side.history, id));
            self.row(&[
                Cell::Unsigned(id.0.into()),
                Cell::Unsigned(lives.ranges.size(id)),
                Cell::Text(hex(lives.ranges.address(id))),
                kind.and_then(|kind| kind.stream).into(),
                pool,
                pool_name,
                kind.map_or(Cell::Empty, |kind| Cell::Bool(kind.small)),
                kind.map_or(Cell::Empty, |kind| Cell::Bool(kind.expandable)),
                allocated,
                allocated_us,
                freed,
                freed_us,
                stack,
                site,
            ])?;
        }
        Ok(())
    }

    fn curve(&mut self, question: &ExportQuestion) -> io::Result<()> {
        for point in points(self.side, question.range.from, question.range.to) {
            self.row(&[
                Cell::Signed(point.event.map_or(-1, i64::from)),
                point.time_us.into(),
                Cell::Signed(point.live),
                Cell::Signed(point.awaiting_free),
                Cell::Signed(point.reserved),
            ])?;
        }
        Ok(())
    }

    /// Writes the frames of all stacks that other tables refer to, innermost first.
    fn stacks(&mut self) -> io::Result<()> {
        let side = self.side;
        for id in used_stacks(side) {
            let stack = Stack { root: crate::frames::StackOrigin::Allocation, id };
            for (at, frame) in outermost_first(side, stack).into_iter().rev().enumerate() {
                let texts = Frame::texts(frame, side);
                self.row(&[
                    Cell::Unsigned(id.0.into()),
                    Cell::Unsigned(at as u64),
                    Cell::Text(texts.name.into_owned()),
                    Some(texts.file.into_owned()).filter(|file| !file.is_empty()).into(),
                    Some(texts.line).filter(|&line| line > 0).into(),
                ])?;
            }
        }
        Ok(())
    }
}

/// Returns the ids of the stacks of allocations, events, segments and blocks, in ascending order. Omits stacks that are
/// only callers of these.
fn used_stacks(side: Side<'_>) -> impl Iterator<Item = StackId> {
    let snapshot = side.snapshot();
    let mut is_used = vec![false; snapshot.stacks.len()];
    let mut mark = |stack: StackId| is_used.get_mut(stack.0 as usize).into_iter().for_each(|used| *used = true);
    side.for_each_in_scope(Scope::All, &mut |id, _| mark(side.stack(id)));
    (0..side.history.event_count()).for_each(|event| mark(side.event_stack(event)));
    if let Some(lives) = side.segment_lives() {
        (0..lives.ranges.len() as u32).for_each(|id| mark(lives.stack(snapshot, side.history, AllocationId(id))));
    }
    for segment in snapshot.segments.iter().filter(|segment| segment.device == side.history.device) {
        mark(segment.stack);
        let blocks = segment.blocks.start as usize..segment.blocks.end as usize;
        snapshot.blocks.get(blocks).into_iter().flatten().for_each(|block| mark(block.stack));
    }
    let has_frames = move |stack: &StackId| snapshot.stacks.innermost(*stack).is_some();
    (0u32..).zip(is_used).filter(|(_, is_used)| *is_used).map(|(stack, _)| StackId(stack)).filter(has_frames)
}

fn hex(address: u64) -> String {
    format!("0x{address:x}")
}

/// Formats a pool as `memscape events --pool` expects it.
fn pool_text((first, second): (u64, u64)) -> String {
    format!("{first},{second}")
}
