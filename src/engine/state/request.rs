//! Predicts the block that would serve a request, by the rules of PyTorch's `CUDACachingAllocator.cpp`.
//!
//! A request is rounded. It is served by the smallest sufficient free block of the same pool, stream and size class
//! (small up to 1 MiB). If `max_split_size` is set, a block of at least that size does not serve a smaller request, and
//! a request of at least that size does not take a block that is 20 MiB larger or more. If no block fits, memory is
//! requested from the driver, usually more than the request needs (see [`driver_request_size`]).

use super::device_state::DeviceState;
use crate::open::OpenFile;
use base::slice::{OutOfTime, STEPS_PER_CHECK, SliceResult, TimeSlice};
use base::sorted::{sorted_by_key, two_part_key};
use hashbrown::HashMap;
use history::replay::SegmentLifetimes;
use protocol::SegmentsFit;

/// Maximum rounded size of a request that is served from the small pool (`kSmallSize`).
const SMALL_REQUEST: u64 = 1 << 20;
/// The allocator requests memory from the driver in multiples of this size (`kSmallBuffer`, `kRoundLarge`).
pub(crate) const DRIVER_GRAIN: u64 = 2 << 20;
/// Minimum size of requests that get a new segment of their own size (`kMinLargeAlloc`). Smaller requests share
/// segments of [`LARGE_SEGMENT`] bytes.
pub(crate) const MIN_OWN_SEGMENT: u64 = 10 << 20;
/// Size of segments that several requests share. Expandable segments grow in steps of this size (`kLargeBuffer`).
const LARGE_SEGMENT: u64 = 20 << 20;

/// Returns whether a request of this rounded size is served from the small pool.
pub(crate) fn is_small(rounded: u64) -> bool {
    rounded <= SMALL_REQUEST
}

/// Distinguishes segments of fixed size from expandable segments, which can grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SegmentSizing {
    /// Segments whose size is fixed when they are reserved.
    #[default]
    Fixed,
    Expandable,
}

/// Returns the size of the pages of an expandable segment.
pub(crate) fn page_size(small: bool) -> u64 {
    if small { DRIVER_GRAIN } else { LARGE_SEGMENT }
}

/// Returns the number of bytes that the allocator requests from the driver for a request of `rounded` bytes
/// (`get_allocation_size`). It may be larger than the request.
pub(crate) fn driver_request_size(rounded: u64, pages: SegmentSizing) -> u64 {
    let grain = match rounded {
        _ if is_small(rounded) => return DRIVER_GRAIN,
        _ if pages == SegmentSizing::Expandable || rounded < MIN_OWN_SEGMENT => LARGE_SEGMENT,
        _ => DRIVER_GRAIN,
    };
    rounded.checked_next_multiple_of(grain).unwrap_or(rounded)
}

/// Pool and stream, which determine the segments that can serve a request. The defaults are used if they are unknown.
type PoolAndStream = ((u64, u64), u64);

/// Search for the block that would serve a request.
#[derive(Default)]
pub(crate) struct PlacementSearch {
    rounded: u64,
    /// Minimum size of blocks that the allocator does not split (`max_split_size`), in bytes.
    max_split_size: Option<u64>,
    /// Index of the next segment to examine. `block` is the index of its next block.
    segment: usize,
    block: usize,
    numbers: HashMap<PoolAndStream, u32, foldhash::fast::RandomState>,
    /// Predictions for each pool and stream. The last field is the maximum free space at the end of an expandable
    /// segment, which is used first when the segment grows.
    fits: Vec<(SegmentsFit, SegmentSizing, u64)>,
}

impl PlacementSearch {
    pub(crate) fn new(file: &OpenFile, request: u64) -> PlacementSearch {
        let setting = |name: &str| file.snapshot.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let max_split_size = setting("max_split_size").and_then(|value| value.parse().ok());
        PlacementSearch { rounded: file.rounding.rounded(request), max_split_size, ..PlacementSearch::default() }
    }

    /// Continues the search. Returns the predictions once complete, sorted by pool and stream.
    pub(crate) fn step(
        &mut self,
        state: &DeviceState,
        lives: &SegmentLifetimes,
        slice: &mut TimeSlice,
    ) -> SliceResult<Vec<SegmentsFit>> {
        let mut left = STEPS_PER_CHECK as usize;
        while let Some(segment) = state.segments.get(self.segment) {
            let kind = lives.kinds().get(segment.kind as usize);
            if let Some(kind) = kind.filter(|kind| kind.small == is_small(self.rounded)) {
                let server = (kind.pool.unwrap_or_default(), kind.stream.unwrap_or_default());
                let pages = if kind.expandable { SegmentSizing::Expandable } else { SegmentSizing::Fixed };
                let number = self.fit_index(server, pages);
                let (mut taken, rounded) = (0, self.rounded);
                let (fit, _, tail) = self.fits.get_mut(number).ok_or(OutOfTime)?;
                for (address, bytes) in state.free_of(segment, self.block).take(left) {
                    taken += 1;
                    if bytes >= rounded && fit.block.is_none_or(|(_, smallest)| bytes < smallest) {
                        fit.block = Some((address, bytes));
                    }
                }
                if self.block == 0 {
                    fit.free = fit.free.saturating_add(segment.sums.free);
                    fit.largest_free = fit.largest_free.max(segment.sums.largest_free);
                    if kind.expandable {
                        let until = state.blocks_of(segment).last().map_or(segment.address, |block| block.to);
                        *tail = segment.end.saturating_sub(until).max(*tail);
                    }
                }
                left -= taken;
                // There is one more gap than there are blocks.
                self.block = if left > 0 { 0 } else { self.block + taken };
            }
            self.segment += usize::from(self.block == 0);
            left = left.saturating_sub(1);
            if left == 0 {
                slice.check()?;
                left = STEPS_PER_CHECK as usize;
            }
        }
        if self.fits.is_empty() {
            self.fit_index(PoolAndStream::default(), SegmentSizing::Fixed);
        }
        let fits = std::mem::take(&mut self.fits).into_iter().map(|(mut fit, pages, tail)| {
            fit.block = fit.block.filter(|&(_, bytes)| self.may_serve(bytes));
            if fit.block.is_none() {
                fit.extends_segment = pages == SegmentSizing::Expandable;
                let small = is_small(self.rounded);
                fit.new_segment = match self.rounded.checked_sub(tail).filter(|_| fit.extends_segment && !small) {
                    Some(missing) => missing.checked_next_multiple_of(LARGE_SEGMENT).unwrap_or(missing),
                    None => driver_request_size(self.rounded, pages),
                };
            }
            fit
        });
        let order = |fit: &SegmentsFit| fit.pool.unwrap_or_default();
        let by_stream = sorted_by_key(fits.collect(), |fit: &SegmentsFit| u128::from(fit.stream.unwrap_or_default()));
        Ok(sorted_by_key(by_stream, |fit| two_part_key(order(fit).0, order(fit).1)))
    }

    /// Returns the index of the prediction for a pool and stream. Adds a prediction if necessary.
    fn fit_index(&mut self, server: PoolAndStream, pages: SegmentSizing) -> usize {
        let new = self.fits.len() as u32;
        let number = *self.numbers.entry(server).or_insert(new);
        if number == new {
            let (pool, stream) = (Some(server.0), Some(server.1));
            self.fits.push((SegmentsFit { pool, stream, rounded: self.rounded, ..SegmentsFit::default() }, pages, 0));
        } else if let (SegmentSizing::Expandable, Some((_, known, _))) = (pages, self.fits.get_mut(number as usize)) {
            *known = pages;
        }
        number as usize
    }

    /// Returns whether `max_split_size` allows a free block of `bytes` to serve the request.
    fn may_serve(&self, bytes: u64) -> bool {
        self.max_split_size.is_none_or(|max| match self.rounded < max {
            true => bytes < max,
            false => bytes < self.rounded.saturating_add(LARGE_SEGMENT),
        })
    }
}
