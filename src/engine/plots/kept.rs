//! Cache of the data behind the address and reserved plots, built in slices.

use super::layout::Layout;
use super::reserved::Reserved;
use crate::device::Open;
use crate::protocol::{Grouping, Looks, Only, Plot};
use base::slice::{Slice, Sliced};
use history::replay::SegmentLives;

/// Recently used plot data, the latest last.
#[derive(Default)]
pub(crate) struct Plots {
    layouts: Kept<(i64, Only), Layout>,
    reserved: Kept<(i64, Only, Option<Grouping>), Reserved>,
}

impl Plots {
    /// Builds the data of a plot. Keeps at most `most` entries of each kind.
    pub(super) fn step(
        &mut self,
        open: Open<'_>,
        segments: &SegmentLives,
        looks: Looks,
        most: usize,
        slice: &mut Slice,
    ) -> Sliced {
        let device = open.history.device;
        match looks.plot {
            Plot::Stack => Ok(()),
            Plot::Addresses(only) => {
                let layout = self.layouts.latest((device, only), most, || Layout::new(only));
                layout.map_or(Ok(()), |layout| layout.step(open, segments, slice))
            }
            Plot::Reserved(only) => {
                let key = (device, only, looks.stacking);
                let reserved = self.reserved.latest(key, most, || Reserved::new(only, looks.stacking));
                reserved.map_or(Ok(()), |reserved| reserved.step(open, segments, slice))
            }
        }
    }

    /// Returns the layout of a part of memory. It is complete once [`Plots::step`] has succeeded.
    pub(super) fn layout(&self, device: i64, only: Only) -> Option<&Layout> {
        self.layouts.get(&(device, only))
    }

    /// Returns the sorted ranges of a part of memory. They are complete once [`Plots::step`] has succeeded.
    pub(super) fn reserved(&self, device: i64, only: Only, stacking: Option<Grouping>) -> Option<&Reserved> {
        self.reserved.get(&(device, only, stacking))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let layouts = self.layouts.0.iter().map(|(_, layout)| layout.heap_bytes());
        layouts.sum::<usize>() + self.reserved.0.iter().map(|(_, reserved)| reserved.heap_bytes()).sum::<usize>()
    }
}

/// Small cache in least recently used order.
struct Kept<K, T>(Vec<(K, T)>);

impl<K, T> Default for Kept<K, T> {
    fn default() -> Kept<K, T> {
        Kept(Vec::new())
    }
}

impl<K: PartialEq, T> Kept<K, T> {
    fn get(&self, key: &K) -> Option<&T> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, one)| one)
    }

    /// Returns the entry for `key`, created if missing, and moves it to the end. Evicts the oldest entries beyond
    /// `most`.
    fn latest(&mut self, key: K, most: usize, new: impl FnOnce() -> T) -> Option<&mut T> {
        let known = self.0.iter().position(|(known, _)| *known == key);
        let one = known.map_or_else(new, |at| self.0.remove(at).1);
        self.0.push((key, one));
        self.0.drain(..self.0.len().saturating_sub(most));
        self.0.last_mut().map(|(_, one)| one)
    }
}
