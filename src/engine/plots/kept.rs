//! What was made for pictures other than the stack, in slices; the latest of it is kept.

use super::layout::Layout;
use super::reserved::Reserved;
use crate::device::Open;
use crate::protocol::{Grouping, Looks, Only, Plot};
use base::slice::{Slice, Sliced};
use history::replay::SegmentLives;

/// What was made for pictures, those asked for last at the end.
#[derive(Default)]
pub(crate) struct Plots {
    layouts: Kept<(i64, Only), Layout>,
    reserved: Kept<(i64, Only, Option<Grouping>), Reserved>,
}

impl Plots {
    /// Makes what a picture needs beside its order. Keeps so many of each kind at most.
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

    /// The layout of a part of memory: complete once [`Plots::step`] has said so.
    pub(super) fn layout(&self, device: i64, only: Only) -> Option<&Layout> {
        self.layouts.get(&(device, only))
    }

    /// The ranges of a part of memory in an order, as [`Plots::layout`] gives a layout.
    pub(super) fn reserved(&self, device: i64, only: Only, stacking: Option<Grouping>) -> Option<&Reserved> {
        self.reserved.get(&(device, only, stacking))
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let layouts = self.layouts.0.iter().map(|(_, layout)| layout.heap_bytes());
        layouts.sum::<usize>() + self.reserved.0.iter().map(|(_, reserved)| reserved.heap_bytes()).sum::<usize>()
    }
}

/// The latest of what was made, by what it was made for.
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

    /// The one of this key, new where there is none, as the last of no more than `most`.
    fn latest(&mut self, key: K, most: usize, new: impl FnOnce() -> T) -> Option<&mut T> {
        let known = self.0.iter().position(|(known, _)| *known == key);
        let one = known.map_or_else(new, |at| self.0.remove(at).1);
        self.0.push((key, one));
        self.0.drain(..self.0.len().saturating_sub(most));
        self.0.last_mut().map(|(_, one)| one)
    }
}
