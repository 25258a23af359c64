//! Builder that discards all values, to measure the pickle machine alone.

use memscape::pickle::Builder;
use std::convert::Infallible;

/// Handle of every finished value.
const VALUE: u64 = 0;
/// Bit that marks the handle of an open container; the lower bits are its slot.
const OPEN: u64 = 1 << 63;

/// Builder that only counts the values in each open container.
#[derive(Default)]
pub(crate) struct Discard {
    lengths: Vec<u64>,
}

impl Discard {
    fn open(&mut self, slot: u32) {
        let slot = slot as usize;
        self.lengths.resize(self.lengths.len().max(slot + 1), 0);
        self.lengths[slot] = 0;
    }
}

impl Builder for Discard {
    type Value = u64;
    type Error = Infallible;

    fn open_handle(&self, slot: u32) -> u64 {
        OPEN | u64::from(slot)
    }

    fn open_slot(&self, value: u64) -> Option<u32> {
        (value & OPEN != 0).then_some(value as u32)
    }

    fn none(&mut self) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn bool(&mut self, _: bool) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn int(&mut self, _: i64) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn big_int(&mut self, _: &[u8]) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn float(&mut self, _: f64) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn string(&mut self, _: &[u8]) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn bytes(&mut self, _: &[u8]) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn tuple(&mut self, _: &[u64]) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn open_list(&mut self, slot: u32) {
        self.open(slot);
    }

    fn open_dict(&mut self, slot: u32) {
        self.open(slot);
    }

    fn append(&mut self, slot: u32, items: &[u64]) -> Result<(), (usize, Infallible)> {
        self.lengths[slot as usize] += items.len() as u64;
        Ok(())
    }

    fn set_items(&mut self, slot: u32, pairs: &[u64]) -> Result<(), (usize, Infallible)> {
        self.lengths[slot as usize] += pairs.len() as u64 / 2;
        Ok(())
    }

    fn finish(&mut self, _: u32) -> Result<u64, Infallible> {
        Ok(VALUE)
    }

    fn open_len(&self, slot: u32) -> u64 {
        self.lengths[slot as usize]
    }

    fn key_text(&self, _: u64) -> Option<String> {
        None
    }
}
