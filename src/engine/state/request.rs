//! Where a request of so many bytes would go: the rules of PyTorch's `CUDACachingAllocator`.
//!
//! A request is rounded, and served by a free block of its pool, of its size class (small up to 1 MiB), of its stream: the smallest that
//! suffices. Where `max_split_size` is set, a block of that size or more serves no smaller request, and a request of that size or more
//! takes no block that is larger by 20 MiB. Otherwise the driver is asked, for more than the request: see [`from_the_driver`].

use super::device_state::DeviceState;
use crate::open::OpenFile;
use crate::protocol::StateFit;
use base::slice::{STEPS, Slice, Sliced, Spent};
use base::sorted::{pair, sorted_by_key};
use hashbrown::HashMap;
use history::replay::SegmentLives;

/// Requests up to this come from the pool of small blocks (`kSmallSize`).
const SMALL_REQUEST: u64 = 1 << 20;
/// What is taken from the driver is a multiple of this (`kSmallBuffer`, `kRoundLarge`).
const DRIVER_GRAIN: u64 = 2 << 20;
/// Requests from here on get a segment of their own size (`kMinLargeAlloc`); smaller ones share one of `LARGE_SEGMENT` (`kLargeBuffer`),
/// which is also what expandable segments grow by.
const OWN_SEGMENT: u64 = 10 << 20;
const LARGE_SEGMENT: u64 = 20 << 20;

/// Whether a request of so many bytes, rounded, comes from the pool of small blocks.
pub(crate) fn is_small(rounded: u64) -> bool {
    rounded <= SMALL_REQUEST
}

/// How the segments of a pool come to their size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Each is taken as it is.
    #[default]
    Fixed,
    Expandable,
}

/// What the allocator takes from the driver to serve a request (`get_allocation_size`): it may be more than the request.
pub(crate) fn from_the_driver(rounded: u64, pages: Pages) -> u64 {
    let grain = match rounded {
        _ if is_small(rounded) => return DRIVER_GRAIN,
        _ if pages == Pages::Expandable || rounded < OWN_SEGMENT => LARGE_SEGMENT,
        _ => DRIVER_GRAIN,
    };
    rounded.checked_next_multiple_of(grain).unwrap_or(rounded)
}

/// Which segments serve the same requests: pool and stream. Where they are not known, as the default ones.
type Server = ((u64, u64), u64);

/// Where a request would go, as far as it is known.
#[derive(Default)]
pub(crate) struct Fits {
    rounded: u64,
    /// Blocks from here on are not split.
    most_split: Option<u64>,
    /// The next segment, and its next block.
    segment: usize,
    block: usize,
    numbers: HashMap<Server, u32, foldhash::fast::RandomState>,
    /// With the most that is free at the end of a segment that can grow: what is mapped there is used first.
    fits: Vec<(StateFit, Pages, u64)>,
}

impl Fits {
    pub(crate) fn new(file: &OpenFile, request: u64) -> Fits {
        let setting = |name: &str| file.snapshot.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let most_split = setting("max_split_size").and_then(|value| value.parse().ok());
        Fits { rounded: file.rounding.rounded(request), most_split, ..Fits::default() }
    }

    /// The answer by pool and stream when done.
    pub(crate) fn step(
        &mut self,
        state: &DeviceState,
        lives: &SegmentLives,
        slice: &mut Slice,
    ) -> Sliced<Vec<StateFit>> {
        let mut left = STEPS as usize;
        while let Some(segment) = state.segments.get(self.segment) {
            let kind = lives.kinds().get(segment.kind as usize);
            if let Some(kind) = kind.filter(|kind| kind.small == is_small(self.rounded)) {
                let server = (kind.pool.unwrap_or_default(), kind.stream.unwrap_or_default());
                let pages = if kind.expandable { Pages::Expandable } else { Pages::Fixed };
                let number = self.number(server, pages);
                let (mut taken, rounded) = (0, self.rounded);
                let (fit, _, tail) = self.fits.get_mut(number).ok_or(Spent)?;
                for (address, bytes) in state.free_of(segment, self.block).take(left) {
                    taken += 1;
                    if bytes >= rounded && fit.block.is_none_or(|(_, least)| bytes < least) {
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
                // Behind the last block there is one free one more.
                self.block = if left > 0 { 0 } else { self.block + taken };
            }
            self.segment += usize::from(self.block == 0);
            left = left.saturating_sub(1);
            if left == 0 {
                slice.check()?;
                left = STEPS as usize;
            }
        }
        if self.fits.is_empty() {
            self.number(Server::default(), Pages::Fixed);
        }
        let fits = std::mem::take(&mut self.fits).into_iter().map(|(mut fit, pages, tail)| {
            fit.block = fit.block.filter(|&(_, bytes)| self.is_let(bytes));
            if fit.block.is_none() {
                fit.grows = pages == Pages::Expandable;
                let small = is_small(self.rounded);
                fit.new_segment = match self.rounded.checked_sub(tail).filter(|_| fit.grows && !small) {
                    Some(missing) => missing.checked_next_multiple_of(LARGE_SEGMENT).unwrap_or(missing),
                    None => from_the_driver(self.rounded, pages),
                };
            }
            fit
        });
        let order = |fit: &StateFit| fit.pool.unwrap_or_default();
        let by_stream = sorted_by_key(fits.collect(), |fit: &StateFit| u128::from(fit.stream.unwrap_or_default()));
        Ok(sorted_by_key(by_stream, |fit| pair(order(fit).0, order(fit).1)))
    }

    /// The place of the answer for these segments.
    fn number(&mut self, server: Server, pages: Pages) -> usize {
        let new = self.fits.len() as u32;
        let number = *self.numbers.entry(server).or_insert(new);
        if number == new {
            let (pool, stream) = (Some(server.0), Some(server.1));
            self.fits.push((StateFit { pool, stream, rounded: self.rounded, ..StateFit::default() }, pages, 0));
        } else if let (Pages::Expandable, Some((_, known, _))) = (pages, self.fits.get_mut(number as usize)) {
            *known = pages;
        }
        number as usize
    }

    /// Whether a block of so many bytes may serve the request, given how large blocks are split.
    fn is_let(&self, bytes: u64) -> bool {
        self.most_split.is_none_or(|most| match self.rounded < most {
            true => bytes < most,
            false => bytes < self.rounded.saturating_add(LARGE_SEGMENT),
        })
    }
}
