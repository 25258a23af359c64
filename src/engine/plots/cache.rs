//! Cache of the data behind the address plot and the reserved plot. The data is built in time slices.

use super::layout::AddressLayout;
use super::reserved::ReservedRanges;
use crate::device::DeviceData;
use base::heap::{self, HeapBytes};
use base::slice::{SliceResult, TimeSlice};
use history::replay::SegmentLifetimes;
use protocol::{Grouping, MemoryFilter, Plot, PlotSettings};

/// Cached data of plots. Each list is in order of use, with the most recently used item last.
#[derive(Default)]
pub(crate) struct PlotCache {
    layouts: LruCache<(i64, MemoryFilter), AddressLayout>,
    reserved: LruCache<(i64, MemoryFilter, Option<Grouping>), ReservedRanges>,
}

impl PlotCache {
    /// Continues building the data of a plot until it is complete or the time slice is used up. Caches at most `limit`
    /// items of each kind.
    pub(super) fn step(
        &mut self,
        data: DeviceData<'_>,
        segments: &SegmentLifetimes,
        plot_settings: PlotSettings,
        limit: usize,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let device = data.history.device;
        match plot_settings.plot {
            Plot::Stack => Ok(()),
            Plot::Addresses(only) => {
                let layout = self.layouts.get_or_insert((device, only), limit, || AddressLayout::new(only));
                layout.map_or(Ok(()), |layout| layout.step(data, segments, slice))
            }
            Plot::Reserved(only) => {
                let key = (device, only, plot_settings.stacking);
                let reserved =
                    self.reserved.get_or_insert(key, limit, || ReservedRanges::new(only, plot_settings.stacking));
                reserved.map_or(Ok(()), |reserved| reserved.step(data, segments, slice))
            }
        }
    }

    /// Returns the cached layout of the address plot of a part of memory. It is complete once [`PlotCache::step`] has
    /// succeeded.
    pub(super) fn layout(&self, device: i64, only: MemoryFilter) -> Option<&AddressLayout> {
        self.layouts.get(&(device, only))
    }

    /// Returns the cached ranges of reserved memory, limited to `only` and in stacking order. They are complete once
    /// [`PlotCache::step`] has succeeded.
    pub(super) fn reserved(
        &self,
        device: i64,
        only: MemoryFilter,
        stacking: Option<Grouping>,
    ) -> Option<&ReservedRanges> {
        self.reserved.get(&(device, only, stacking))
    }
}

impl HeapBytes for PlotCache {
    fn heap_bytes(&self) -> usize {
        heap::sum(&self.layouts.0) + heap::sum(&self.reserved.0)
    }
}

/// Small cache that evicts the least recently used entries. The most recently used entry is the last.
struct LruCache<K, T>(Vec<(K, T)>);

impl<K, T> Default for LruCache<K, T> {
    fn default() -> LruCache<K, T> {
        LruCache(Vec::new())
    }
}

impl<K: PartialEq, T> LruCache<K, T> {
    fn get(&self, key: &K) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Moves the entry for `key` to the end, creates it if missing, and returns it. Evicts the oldest entries beyond
    /// `limit`.
    fn get_or_insert(&mut self, key: K, limit: usize, new: impl FnOnce() -> T) -> Option<&mut T> {
        let known = self.0.iter().position(|(known, _)| *known == key);
        let value = known.map_or_else(new, |index| self.0.remove(index).1);
        self.0.push((key, value));
        self.0.drain(..self.0.len().saturating_sub(limit));
        self.0.last_mut().map(|(_, value)| value)
    }
}
