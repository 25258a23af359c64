//! The order of a table: its rows sorted by a column, in slices, with the sums that tell what any of them weigh together.

use crate::open::OpenFile;
use crate::origin::stack_of;
use crate::protocol::{Grouping, SortWay, TableColumn, TableSort, Weight};
use crate::radix::{Radix, Sorting};
use analysis::site;
use base::column::Column;
use base::slice::{Slice, Sliced};
use history::replay::AllocationId;
use history::snapshot::FrameId;

/// Rows between two sums.
const ROWS_PER_SUM: usize = 2048;

/// The rows of a table in their order.
pub(super) struct Order {
    pub(super) by: TableSort,
    radix: Radix,
    is_sorted: bool,
    /// The allocations, once they are sorted.
    pub(super) ids: Vec<u32>,
    /// The bytes of all rows before each [`ROWS_PER_SUM`]-th.
    sums: Vec<u64>,
    sum: u64,
    /// The rows that were weighed last: ranges, how many of them are done, and what those weigh.
    weighed: (Vec<[u32; 2]>, usize, Weight),
}

impl Order {
    pub(super) fn new(by: TableSort) -> Order {
        let (radix, ids, sums, weighed) = Default::default();
        Order { by, radix, is_sorted: false, ids, sums, sum: 0, weighed }
    }

    /// Sorts `rows`, which stand in order of birth. `moment` is the one that ages are told at.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        sites: &mut SiteRanks,
        device: i64,
        moment: u32,
        rows: &[u32],
        slice: &mut Slice,
    ) -> Sliced {
        if self.by.column == TableColumn::Site {
            sites.step(file, slice)?;
        }
        if self.radix.len() == 0 && !self.is_sorted {
            self.radix = Radix::with_room(rows.len());
        }
        if !self.is_sorted {
            let mut next = self.radix.len();
            while let Some(part) = slice.part(&mut next, rows.len(), 1)? {
                for &id in rows.get(part).unwrap_or_default() {
                    let key = key(file, sites, device, moment, id, self.by.column);
                    self.radix.push(if self.by.way == SortWay::Descending { !key } else { key }, id);
                }
            }
            self.radix.step(slice)?;
            (self.ids, self.is_sorted) = (std::mem::take(&mut self.radix).into_ids(), true);
        }
        let Some(history) = file.history(device) else { return Ok(()) };
        while self.sums.len() * ROWS_PER_SUM < self.ids.len() {
            let from = self.sums.len() * ROWS_PER_SUM;
            self.sums.push(self.sum);
            for &id in self.ids.iter().skip(from).take(ROWS_PER_SUM) {
                self.sum = self.sum.saturating_add(history.allocations.size(AllocationId(id)));
            }
            slice.check()?;
        }
        Ok(())
    }

    /// Weighs the rows of these ranges together. The same ranges are weighed once.
    pub(super) fn weigh(&mut self, file: &OpenFile, device: i64, ranges: &[[u32; 2]], slice: &mut Slice) -> Sliced {
        if self.weighed.0 != ranges {
            self.weighed = (ranges.to_vec(), 0, Weight::default());
        }
        while let Some(&[from, to]) = ranges.get(self.weighed.1) {
            let to = (to as usize).min(self.ids.len());
            let from = (from as usize).min(to);
            let bytes = if to - from < 2 * ROWS_PER_SUM {
                self.sum_of(file, device, [from, to], 0)
            } else {
                self.before(file, device, to).saturating_sub(self.before(file, device, from))
            };
            self.weighed.2.add(Weight { bytes, count: (to - from) as u32 });
            self.weighed.1 += 1;
            slice.check()?;
        }
        Ok(())
    }

    /// What was [weighed](Order::weigh) last.
    pub(super) fn chosen(&self) -> Weight {
        self.weighed.2
    }

    /// The bytes of all rows before this one.
    fn before(&self, file: &OpenFile, device: i64, row: usize) -> u64 {
        let place = (row / ROWS_PER_SUM).min(self.sums.len().saturating_sub(1));
        let (known, from) = (self.sums.get(place).copied().unwrap_or(0), place * ROWS_PER_SUM);
        self.sum_of(file, device, [from, row], known)
    }

    /// The bytes of these rows on top of some.
    fn sum_of(&self, file: &OpenFile, device: i64, [from, to]: [usize; 2], known: u64) -> u64 {
        let Some(history) = file.history(device) else { return 0 };
        let rows = self.ids.get(from..to).unwrap_or_default();
        rows.iter().fold(known, |sum, &id| sum.saturating_add(history.allocations.size(AllocationId(id))))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<u32>() + self.sums.capacity() * size_of::<u64>() + self.radix.heap_bytes()
    }
}

/// How much of a column an allocation has.
fn key(file: &mut OpenFile, sites: &SiteRanks, device: i64, moment: u32, id: u32, column: TableColumn) -> u64 {
    let Some(history) = file.histories.iter().find(|history| history.device == device) else { return 0 };
    let id = AllocationId(id);
    let (born, died, size) = history.allocations.span(id);
    match column {
        TableColumn::Number | TableColumn::Born => id.0.into(),
        TableColumn::Size => size,
        TableColumn::Address => history.allocations.address(id),
        TableColumn::Stream => file.groups.of(&file.snapshot, history, id, Grouping::Stream).into(),
        TableColumn::Pool => file.groups.of(&file.snapshot, history, id, Grouping::Pool).into(),
        TableColumn::Age => moment.min(died).saturating_sub(born).into(),
        TableColumn::Freed => died.into(),
        TableColumn::Lifetime if died == u32::MAX => u64::MAX,
        TableColumn::Lifetime => died.saturating_sub(born).into(),
        TableColumn::Site => {
            let stack = stack_of(&file.snapshot, history, id);
            let site = file.sites.of(&file.snapshot, stack);
            site.map_or(0, |frame| u64::from(sites.rank(frame)) + 1)
        }
    }
}

/// Each frame's place among all, by file, line and function: made when first asked for.
#[derive(Default)]
pub(super) struct SiteRanks {
    /// Parts of each frame, read once: the part that counts least comes first.
    parts: Column<[u64; PARTS]>,
    sorting: Option<Sorting>,
    ranks: Vec<u32>,
}

/// Parts of eight bytes: two of the function, the line, four of the file.
const PARTS: usize = 7;
const LINE_PART: usize = 2;

impl SiteRanks {
    fn step(&mut self, file: &OpenFile, slice: &mut Slice) -> Sliced {
        let frames = &file.snapshot.frames;
        if self.ranks.len() == frames.len() {
            return Ok(());
        }
        let mut next = self.parts.len();
        while let Some(part) = slice.part(&mut next, frames.len(), 16)? {
            for id in part {
                let (base, line, name) = site::parts(&file.snapshot, frames.frame(FrameId(id as u32)));
                let part = |part| match part {
                    LINE_PART => line.map_or(0, |line| line.clamp(0, i128::from(u64::MAX)) as u64),
                    part if part < LINE_PART => eight(&name, LINE_PART - 1 - part),
                    part => eight(&base, PARTS - 1 - part),
                };
                self.parts.push(std::array::from_fn(part));
            }
        }
        let sorting = self.sorting.get_or_insert_with(|| Sorting::of((0..frames.len() as u32).collect()));
        let mut key =
            |part: usize, id: u32| self.parts.get(id as usize).and_then(|parts| parts.get(part).copied()).unwrap_or(0);
        sorting.step((PARTS, 1), &mut key, slice)?;
        let mut ranks = vec![0; frames.len()];
        for (&frame, place) in sorting.ids().iter().zip(0..) {
            if let Some(rank) = ranks.get_mut(frame as usize) {
                *rank = place;
            }
        }
        *self = SiteRanks { ranks, ..SiteRanks::default() };
        Ok(())
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.parts.heap_bytes()
            + self.sorting.as_ref().map_or(0, Sorting::heap_bytes)
            + self.ranks.capacity() * size_of::<u32>()
    }

    fn rank(&self, frame: FrameId) -> u32 {
        self.ranks.get(frame.0 as usize).copied().unwrap_or(0)
    }
}

/// The `part`-th eight bytes in a string, small and capital letters being the same.
fn eight(text: &str, part: usize) -> u64 {
    let bytes = text.as_bytes().iter().skip(part * 8).chain(&[0; 8]).take(8);
    bytes.fold(0, |key, byte| key << 8 | u64::from(byte.to_ascii_lowercase()))
}
