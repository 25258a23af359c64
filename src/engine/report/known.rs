//! What several insights are made of, found once for each device: its steps, and what grows from one to the next.

use super::leaks::Growth;
use super::steps::Finding;
use crate::open::OpenFile;
use base::slice::{Slice, Sliced};
use history::replay::DeviceHistory;

/// What is known of a device.
pub(super) struct Known {
    pub(super) device: i64,
    pub(super) steps: Finding,
    /// Once it was asked for.
    growth: Option<Growth>,
}

impl Known {
    /// Nothing yet.
    pub(super) fn of(device: i64) -> Known {
        Known { device, steps: Finding::new(device), growth: None }
    }

    /// Finds the steps, then what grows.
    pub(super) fn grow(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        self.steps.step(file, slice)?;
        let new = || Growth::new(file, history, &self.steps.steps);
        self.growth.get_or_insert_with(new).step(file, history, slice)
    }

    /// What grows, once it was found.
    pub(super) fn growth(&self) -> Option<&Growth> {
        self.growth.as_ref()
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.steps.heap_bytes() + self.growth.as_ref().map_or(0, Growth::heap_bytes)
    }
}
