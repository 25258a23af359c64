//! Compares the allocations that are live at a moment of A with their partners in B, and vice versa.

use crate::aligning::AlignmentResult;
use crate::answer::{AllocationDifferences, AllocationRow, MAX_ALLOCATIONS, PerSide};
use crate::sums::site_of;
use crate::tables::KeyTables;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use base::units::Moment;
use engine::Side;
use history::replay::{AllocationId, Candidates};

/// Sentinel: the allocation has no partner.
const NONE: u32 = u32::MAX;

/// Resumable search for the allocations whose live bytes differ.
#[derive(Default)]
pub(crate) struct AllocationComparison {
    /// Side that is being examined: 0 for A, 1 for B.
    side: usize,
    /// Allocations of the current side that may be live at the compared moment.
    candidates: Option<Candidates>,
    /// Index of the next candidate.
    next: usize,
    /// Ids of the allocation in A and its partner in B, for pairs whose live bytes differ. [`NONE`] for a missing
    /// partner.
    ids: Vec<[u32; 2]>,
    equal: PerSide,
    early: PerSide,
    found: Option<AllocationDifferences>,
    /// Number of rows whose call site has been looked up.
    named: usize,
}

base::heap_bytes!(AllocationComparison: ids);

impl AllocationComparison {
    /// Continues the search until it is complete or the time slice is used up. Returns the allocations whose live bytes
    /// differ.
    pub(crate) fn step(
        &mut self,
        sides: [&Side; 2],
        tables: &mut KeyTables,
        found: &AlignmentResult,
        moments: (Moment, Moment),
        slice: &mut TimeSlice,
    ) -> SliceResult<AllocationDifferences> {
        let moments = [moments.0, moments.1];
        let live = |index: usize, id: u32| match (sides.get(index), moments.get(index)) {
            (Some(side), Some(moment)) if id != NONE => {
                let allocations = &side.history.allocations;
                let is_live = allocations.allocated_at(AllocationId(id)) <= *moment
                    && allocations.outlives(AllocationId(id), *moment);
                if is_live { allocations.size(AllocationId(id)) } else { 0 }
            }
            _ => 0,
        };
        // If both are the same device, each allocation is its own partner.
        let is_same = std::ptr::eq(sides[0].history, sides[1].history);
        // Without pairs, single allocations cannot be compared.
        if !is_same && found.key.is_none() {
            return Ok(AllocationDifferences::default());
        }
        while let (Some(side), Some(&moment)) = (sides.get(self.side), moments.get(self.side)) {
            let history = side.history;
            let candidates =
                self.candidates.get_or_insert_with(|| history.live.candidates(&history.allocations, moment));
            while let Some(part) = slice.next_range(&mut self.next, candidates.len(), 4)? {
                for id in part.filter_map(|place| history.live.candidate(candidates, place)) {
                    if !history.allocations.outlives(id, moment) {
                        continue;
                    }
                    let size = history.allocations.size(id);
                    let partner = if is_same { id.0 } else { found.partner(self.side, id.0) };
                    let is_b = self.side == 1;
                    if !is_same && (id.0 as usize) < history.allocations.early_count() {
                        let sum = if is_b { &mut self.early.b } else { &mut self.early.a };
                        *sum = sum.saturating_add(size);
                        continue;
                    }
                    let other = live(1 - self.side, partner);
                    // A pair that is live in both was counted with A.
                    if is_b && other > 0 {
                        continue;
                    }
                    if other == size {
                        self.equal = self.equal.plus(PerSide { a: size, b: size });
                    } else {
                        self.ids.push(if is_b { [partner, id.0] } else { [id.0, partner] });
                    }
                }
            }
            (self.candidates, self.next) = (None, 0);
            self.side += 1;
        }
        let found = match &mut self.found {
            Some(found) => found,
            slot => {
                let bytes = |[a, b]: [u32; 2]| PerSide { a: live(0, a), b: live(1, b) };
                let rank = |bytes: PerSide| u128::from(!bytes.a.abs_diff(bytes.b));
                let order = self.ids.iter().zip(0..).map(|(ids, index)| (rank(bytes(*ids)), index));
                let largest = sorted_numbers(order.collect()).into_iter().take(MAX_ALLOCATIONS);
                let rows = largest.filter_map(|index| self.ids.get(index as usize)).map(|&ids| {
                    let known = |id: u32| Some(id).filter(|id| *id != NONE);
                    let bytes = bytes(ids);
                    AllocationRow { site: String::new(), ids: (known(ids[0]), known(ids[1])), bytes }
                });
                let rows = rows.collect();
                let found = slot.insert(AllocationDifferences {
                    rows,
                    count: self.ids.len() as u64,
                    equal: self.equal,
                    early: self.early,
                });
                slice.check()?;
                found
            }
        };
        while let Some(part) = slice.next_range(&mut self.named, found.rows.len(), 64)? {
            for row in found.rows.get_mut(part).unwrap_or_default() {
                // Use the call site of the allocation that is live.
                let index = usize::from(row.bytes.a == 0);
                let id = if index == 0 { row.ids.0 } else { row.ids.1 };
                if let (Some(side), Some(sites), Some(id)) = (sides.get(index), tables.sites.get_mut(index), id) {
                    let stack = side.stack(AllocationId(id));
                    row.site = site_of(side, sites, stack, side.is_of_free(AllocationId(id), stack));
                }
            }
        }
        Ok(found.clone())
    }
}

impl AlignmentResult {
    /// Returns the id of the partner of an allocation, or [`NONE`]. `side` is 0 if the allocation belongs to A, 1 for
    /// B.
    fn partner(&self, side: usize, id: u32) -> u32 {
        let oriented = |(a, b): (u32, u32)| if side == 0 { (a, b) } else { (b, a) };
        let (mut low, mut high) = (0, self.pairs.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.pairs.get(middle).map(oriented) {
                Some((known, other)) if known == id => return other,
                Some((known, _)) if known < id => low = middle + 1,
                _ => high = middle,
            }
        }
        NONE
    }
}
