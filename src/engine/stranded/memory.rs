//! Mapped memory of a device while the events are replayed: live blocks and free pieces, by address.
//!
//! ```text
//! extents    [live A][free, by B's free][free, never used][live C]     they cover the mapped ranges without overlap
//! hole              [-----------------------------------]              adjacent free pieces of one segment
//! ```
//! Each free piece keeps the free that made it, because neighbouring holes are merged by the allocator, but not here.

use super::kinds::Kinds;
use std::collections::BTreeMap;

/// Allocation of a piece that no recorded free made: the rest of a new segment, or free before recording.
pub(crate) const NONE: u32 = u32::MAX;
/// Value of [`Extent::seen_from`] for a live block.
const LIVE: u32 = u32::MAX;
/// Maximum number of pieces that are added up to find the end of a small hole. Real holes of this size have a few.
const MAX_TAIL_PIECES: usize = 64;

/// Part of the mapped memory: a live block or a free piece. Its start address is its key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// End address, exclusive.
    pub(super) end: u64,
    /// Live block: its allocation. Free piece: the allocation whose free made it, or [`NONE`].
    pub(super) allocation: u32,
    /// Index of the first driver request that finds the piece free.
    pub(super) seen_from: u32,
    /// Event that made the piece free.
    pub(super) since: u32,
    /// Index into [`history::replay::SegmentLifetimes::kinds`].
    pub(super) kind: u32,
    /// True if a segment begins here, even if the memory below is adjacent.
    pub(super) starts_segment: bool,
    /// True for the hole after a block of unknown size, from before recording.
    pub(super) is_unsettled: bool,
}

impl Extent {
    pub(super) fn is_live(&self) -> bool {
        self.seen_from == LIVE
    }

    /// Returns the end of a block that begins in this piece: `wanted`, or the end of the piece if that is lower.
    fn block_end(&self, wanted: u64) -> u64 {
        self.end.min(wanted)
    }
}

/// Mapped memory at the current event.
pub(super) struct Memory {
    pub(super) extents: BTreeMap<u64, Extent>,
    pub(super) kinds: Kinds,
    /// Number of driver requests so far.
    pub(super) requests: u32,
    /// Current event.
    pub(super) event: u32,
}

/// Callback for a piece that is no longer free, with its bytes.
pub(super) type OnTaken<'a> = &'a mut dyn FnMut(u64, &Extent);

impl Memory {
    pub(super) fn new(kinds: Kinds) -> Memory {
        Memory { extents: BTreeMap::new(), kinds, requests: 0, event: 0 }
    }

    /// Returns the extent that contains `address`, and its start.
    pub(super) fn extent_at(&self, address: u64) -> Option<(u64, Extent)> {
        let (&begin, &extent) = self.extents.range(..=address).next_back()?;
        (address < extent.end).then_some((begin, extent))
    }

    /// Returns whether `above`, which starts at `begin`, continues the segment of memory of this kind that ends at
    /// `end`.
    pub(super) fn continues(&self, end: u64, kind: u32, (begin, above): (u64, &Extent)) -> bool {
        begin == end && !above.starts_segment && self.kinds.serve_same(kind, above.kind)
    }

    /// Adds a free range. Anything known there is replaced.
    pub(super) fn map(&mut self, [start, end]: [u64; 2], kind: u32, starts_segment: bool, taken: OnTaken<'_>) {
        if start >= end {
            return;
        }
        self.unmap([start, end], taken);
        self.add_free(start, Extent { starts_segment, ..self.free_extent(end, NONE, kind) });
    }

    /// Removes a range, with the blocks and pieces in it.
    pub(super) fn unmap(&mut self, [start, end]: [u64; 2], taken: OnTaken<'_>) {
        if start >= end {
            return;
        }
        self.split(start);
        self.split(end);
        while let Some((&begin, _)) = self.extents.range(start..end).next() {
            self.take(begin, taken);
        }
    }

    /// Places the block of an allocation. The block ends where something else begins. If its size is a lower bound, it
    /// includes a rest of the hole of at most `tail(kind)` bytes, which the allocator does not split off.
    pub(super) fn allocate(
        &mut self,
        allocation: u32,
        [address, size]: [u64; 2],
        tail: Option<&dyn Fn(u32) -> u64>,
        taken: OnTaken<'_>,
    ) {
        let wanted = address.saturating_add(size);
        let Some(piece) = self.occupy(allocation, [address, wanted]).or_else(|| {
            self.split(address);
            // The file contradicts itself: the address is in use. The older block ends here.
            self.release(address, NONE);
            self.occupy(allocation, [address, wanted])
        }) else {
            return;
        };
        let kind = piece.kind;
        let first_end = self.take_part((address, piece), wanted, taken);
        let mut end = first_end;
        while end < wanted
            && self.free_above(end, kind).is_some()
            && let Some(piece) = self.extents.remove(&end)
        {
            end = self.take_part((end, piece), wanted, taken);
        }
        let rest = piece.end.saturating_sub(end);
        if end == wanted
            && let Some(limit) = tail.map(|tail| tail(kind)).filter(|&limit| limit > 0 && rest <= limit)
            && let Some(beyond) = self.hole_end(end, kind, limit)
        {
            while end < beyond
                && let Some(above) = self.free_above(end, kind)
            {
                self.take(end, taken);
                end = above;
            }
        }
        if end > first_end
            && let Some(block) = self.extents.get_mut(&address)
        {
            block.end = end;
        }
    }

    /// Replaces the free piece that starts at an address with the block of an allocation, which ends with the piece or
    /// at `wanted`. Returns the piece. `None` if no free piece starts there, or if the block is empty.
    fn occupy(&mut self, allocation: u32, [address, wanted]: [u64; 2]) -> Option<Extent> {
        let extent = self.extents.get_mut(&address).filter(|piece| !piece.is_live() && address < wanted)?;
        let block =
            Extent { end: extent.block_end(wanted), allocation, seen_from: LIVE, is_unsettled: false, ..*extent };
        Some(std::mem::replace(extent, block))
    }

    /// Takes a free piece up to `wanted`, and returns the end of the part that is taken. The rest stays free. The
    /// caller removes or replaces the extent of the piece.
    fn take_part(&mut self, (begin, piece): (u64, Extent), wanted: u64, taken: OnTaken<'_>) -> u64 {
        let end = piece.block_end(wanted);
        if end < piece.end {
            self.extents.insert(end, Extent { starts_segment: false, is_unsettled: false, ..piece });
        }
        self.kinds.subtract(piece.kind, end - begin);
        taken(end - begin, &Extent { end, ..piece });
        end
    }

    /// Frees the block at an address if it belongs to `allocation`, or if that is [`NONE`]. The free piece keeps the
    /// block's allocation.
    pub(super) fn release(&mut self, address: u64, allocation: u32) {
        let [requests, event] = [self.requests, self.event];
        let block = self.extents.get_mut(&address).filter(|block| block.is_live());
        if let Some(block) = block.filter(|block| allocation == NONE || block.allocation == allocation) {
            (block.seen_from, block.since) = (requests, event);
            let (bytes, kind) = (block.end - address, block.kind);
            self.kinds.add(kind, bytes);
        }
    }

    /// Returns the end of the free piece at `at` if it continues the segment below, which is memory of this kind.
    fn free_above(&self, at: u64, kind: u32) -> Option<u64> {
        let piece = self.extents.get(&at).filter(|piece| !piece.is_live())?;
        self.continues(at, kind, (at, piece)).then_some(piece.end)
    }

    /// Returns the end of the hole from `start` on, unless it is larger than `limit` bytes.
    fn hole_end(&self, start: u64, kind: u32, limit: u64) -> Option<u64> {
        let mut end = start;
        // Without a limit all pieces are taken, so they can be counted again.
        let pieces = if limit == u64::MAX { usize::MAX } else { MAX_TAIL_PIECES };
        for _ in 0..pieces {
            let Some(above) = self.free_above(end, kind) else { return Some(end) };
            end = above;
            if end - start > limit {
                return None;
            }
        }
        None
    }

    /// Cuts the extent that contains `at`, so that one begins there. The upper part of a live block becomes free.
    fn split(&mut self, at: u64) {
        let Some((begin, lower)) = self.extent_at(at).filter(|(begin, _)| *begin < at) else { return };
        self.extents.insert(begin, Extent { end: at, ..lower });
        let upper = Extent { starts_segment: false, is_unsettled: false, ..lower };
        if lower.is_live() {
            self.add_free(at, self.free_extent(upper.end, upper.allocation, upper.kind));
        } else {
            self.extents.insert(at, upper);
        }
    }

    /// Removes the extent that starts at `begin`.
    fn take(&mut self, begin: u64, taken: OnTaken<'_>) {
        if let Some(extent) = self.extents.remove(&begin).filter(|extent| !extent.is_live()) {
            let bytes = extent.end - begin;
            self.kinds.subtract(extent.kind, bytes);
            taken(bytes, &extent);
        }
    }

    fn add_free(&mut self, begin: u64, piece: Extent) {
        self.kinds.add(piece.kind, piece.end - begin);
        self.extents.insert(begin, piece);
    }

    /// Creates a piece that is free from the current event on.
    fn free_extent(&self, end: u64, allocation: u32, kind: u32) -> Extent {
        let (seen_from, since) = (self.requests, self.event);
        Extent { end, allocation, seen_from, since, kind, starts_segment: false, is_unsettled: false }
    }

    /// Removes the lowest free piece or block.
    pub(super) fn take_first(&mut self, taken: OnTaken<'_>) -> Option<()> {
        let (&begin, _) = self.extents.first_key_value()?;
        self.take(begin, taken);
        Some(())
    }
}
