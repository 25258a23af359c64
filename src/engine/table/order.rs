//! Order of the Allocations table: sorts rows by a column in time slices, and computes prefix sums of their bytes.

use crate::open::OpenFile;
use crate::radix::{MultiKeySort, Radix};
use crate::tables::{CellFn, Row, tab_column};
use analysis::site;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use history::replay::AllocationId;
use history::snapshot::FrameId;
use protocol::{Grouping, SortDirection, TableColumn, TableSort, Weight};

/// Number of rows between two stored prefix sums.
const ROWS_PER_SUM: usize = 2048;

/// The sorted rows of a table.
pub(super) struct Order {
    pub(super) by: TableSort,
    radix: Radix,
    is_sorted: bool,
    /// Allocation ids in display order. Empty until they are sorted.
    pub(super) ids: Vec<u32>,
    /// Prefix sums: the bytes of all rows before every [`ROWS_PER_SUM`]-th row.
    sums: Vec<u64>,
    sum: u64,
    /// Row ranges that were last passed to [`Order::sum_ranges`], the number of ranges that are added up, and their
    /// total.
    range_sum: (Vec<[u32; 2]>, usize, Weight),
}

base::heap_bytes!(Order: ids, sums, radix);

impl Order {
    pub(super) fn new(by: TableSort) -> Order {
        let (radix, ids, sums, range_sum) = Default::default();
        Order { by, radix, is_sorted: false, ids, sums, sum: 0, range_sum }
    }

    /// Continues sorting `rows`, which are in order of allocation. `moment` is the moment at which ages are measured.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        sites: &mut SiteRanks,
        device: i64,
        moment: u32,
        rows: &[u32],
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if self.by.column == TableColumn::CallSite {
            sites.step(file, slice)?;
        }
        if self.radix.len() == 0 && !self.is_sorted {
            self.radix = Radix::with_capacity(rows.len());
        }
        if !self.is_sorted {
            let mut next = self.radix.len();
            while let Some(part) = slice.next_range(&mut next, rows.len(), 1)? {
                for &id in rows.get(part).unwrap_or_default() {
                    let key = key(file, sites, device, moment, id, self.by.column);
                    self.radix.push(if self.by.direction == SortDirection::Descending { !key } else { key }, id);
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

    /// Continues adding up the rows in these ranges. The result is cached for as long as the ranges stay the same.
    pub(super) fn sum_ranges(
        &mut self,
        file: &OpenFile,
        device: i64,
        ranges: &[[u32; 2]],
        slice: &mut TimeSlice,
    ) -> SliceResult {
        if self.range_sum.0 != ranges {
            self.range_sum = (ranges.to_vec(), 0, Weight::default());
        }
        while let Some(&[from, to]) = ranges.get(self.range_sum.1) {
            let to = (to as usize).min(self.ids.len());
            let from = (from as usize).min(to);
            let bytes = if to - from < 2 * ROWS_PER_SUM {
                self.sum_of(file, device, [from, to], 0)
            } else {
                self.bytes_before(file, device, to).saturating_sub(self.bytes_before(file, device, from))
            };
            self.range_sum.2.add(Weight { bytes, count: (to - from) as u32 });
            self.range_sum.1 += 1;
            slice.check()?;
        }
        Ok(())
    }

    /// Returns the total that [`Order::sum_ranges`] has computed last.
    pub(super) fn selected_total(&self) -> Weight {
        self.range_sum.2
    }

    /// Returns the bytes of all rows before `row`.
    fn bytes_before(&self, file: &OpenFile, device: i64, row: usize) -> u64 {
        let index = (row / ROWS_PER_SUM).min(self.sums.len().saturating_sub(1));
        let (known, from) = (self.sums.get(index).copied().unwrap_or(0), index * ROWS_PER_SUM);
        self.sum_of(file, device, [from, row], known)
    }

    /// Returns the sum of `known` and the bytes of a range of rows.
    fn sum_of(&self, file: &OpenFile, device: i64, [from, to]: [usize; 2], known: u64) -> u64 {
        let Some(history) = file.history(device) else { return 0 };
        let rows = self.ids.get(from..to).unwrap_or_default();
        rows.iter().fold(known, |sum, &id| sum.saturating_add(history.allocations.size(AllocationId(id))))
    }
}

/// Returns the sort key of an allocation for a column.
fn key(file: &mut OpenFile, sites: &SiteRanks, device: i64, moment: u32, id: u32, column: TableColumn) -> u64 {
    let Some(side) = file.side(device) else { return 0 };
    let (site_cache, totals) = Default::default();
    let row = Row { moment: Moment(moment), ..Row::new(side, &site_cache, &totals) }.at(id);
    match tab_column(column).cell {
        CellFn::Unsigned(cell) | CellFn::Bytes(cell) | CellFn::Address(cell) => cell(&row).unwrap_or(0),
        CellFn::Stream(cell) => cell(&row).map_or(0, |stream| stream.saturating_add(1)),
        CellFn::Pool(_) => side.group(Grouping::Pool, row.id()).into(),
        CellFn::Start(cell) => cell(&row).map_or(0, |event| u64::from(event.0) + 1),
        CellFn::End(cell) => cell(&row).map_or(u64::MAX, |event| event.0.into()),
        CellFn::Events(cell) => cell(&row).events.map_or(u64::MAX, u64::from),
        CellFn::Signed(cell) => cell(&row).map_or(0, |value| (value as u64) ^ 1 << 63),
        CellFn::Bool(cell) => cell(&row).map_or(0, |value| u64::from(value) + 1),
        CellFn::Text(cell) => cell(&row).map_or(0, |text| eight_bytes(&text, 0)),
        CellFn::CallSite(cell) => {
            let stack = cell(&row);
            let site = file.sites.call_site(&file.snapshot, stack);
            site.map_or(0, |frame| u64::from(sites.rank(frame)) + 1)
        }
    }
}

/// Index of each frame when sorted by file, line and function. Computed when first needed.
#[derive(Default)]
pub(super) struct SiteRanks {
    /// Sort keys of each frame, least significant key first.
    parts: Column<[u64; PARTS]>,
    sorting: Option<MultiKeySort>,
    ranks: Vec<u32>,
}

base::heap_bytes!(SiteRanks: parts, sorting, ranks);

/// Number of sort keys per frame. Each key has eight bytes: two keys for the function, one for the line, four for the
/// file.
const PARTS: usize = 7;
const LINE_PART: usize = 2;

impl SiteRanks {
    fn step(&mut self, file: &OpenFile, slice: &mut TimeSlice) -> SliceResult {
        let frames = &file.snapshot.frames;
        if self.ranks.len() == frames.len() {
            return Ok(());
        }
        let mut next = self.parts.len();
        while let Some(part) = slice.next_range(&mut next, frames.len(), 16)? {
            for id in part {
                let (base, line, name) = site::parts(&file.snapshot, frames.frame(FrameId(id as u32)));
                let part = |part| match part {
                    LINE_PART => line.map_or(0, |line| line.clamp(0, i128::from(u64::MAX)) as u64),
                    part if part < LINE_PART => eight_bytes(&name, LINE_PART - 1 - part),
                    part => eight_bytes(&base, PARTS - 1 - part),
                };
                self.parts.push(std::array::from_fn(part));
            }
        }
        let sorting = self.sorting.get_or_insert_with(|| MultiKeySort::new((0..frames.len() as u32).collect()));
        let mut key =
            |part: usize, id: u32| self.parts.get(id as usize).and_then(|parts| parts.get(part).copied()).unwrap_or(0);
        sorting.step((PARTS, 1), &mut key, slice)?;
        let mut ranks = vec![0; frames.len()];
        for (&frame, index) in sorting.ids().iter().zip(0..) {
            if let Some(rank) = ranks.get_mut(frame as usize) {
                *rank = index;
            }
        }
        *self = SiteRanks { ranks, ..SiteRanks::default() };
        Ok(())
    }

    fn rank(&self, frame: FrameId) -> u32 {
        self.ranks.get(frame.0 as usize).copied().unwrap_or(0)
    }
}

/// Returns eight bytes of a string as a number, ignoring case. `part` 0 is the first eight bytes, 1 the next eight, and
/// so on.
fn eight_bytes(text: &str, part: usize) -> u64 {
    let bytes = text.as_bytes().iter().skip(part * 8).chain(&[0; 8]).take(8);
    bytes.fold(0, |key, byte| key << 8 | u64::from(byte.to_ascii_lowercase()))
}
