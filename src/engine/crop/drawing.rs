//! Export of a device in SnapViewer's format: `allocations.json` and `elements.json` of its archives. The reader is
//! `snapviewer.rs`.
//!
//! Time advances by one step with each event. A free of a block takes 3 more steps if other blocks lie above it,
//! because these move down. Memory that was neither allocated nor freed during the recording is left out.

use super::CropError;
use super::tables::{TableWriter, Target};
use crate::Engine;
use base::units::EventIdx;
use history::replay::{AllocationId, DeviceHistory, Provenance};
use history::writing::ValueWriter;
use std::io::{self, Write};

/// Number of time steps that blocks take to move down after a free below them.
const FALL_STEPS: u64 = 3;

/// Number of items written by [`Engine::write_drawing`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawingSummary {
    pub allocations: u64,
    /// Number of corners in all outlines of allocations. Each free adds two corners to every live allocation above it.
    pub points: u64,
}

/// A free event that lowers the allocations above the freed one.
struct Free {
    event: u32,
    /// Index of the freed allocation in the drawing. Lower indices are drawn below higher ones.
    index: u32,
    size: u64,
    /// Time step of the free.
    step: u64,
    has_above: bool,
}

/// An allocation in the drawing.
struct DrawnAllocation {
    id: AllocationId,
    /// Index of the allocation's event in `elements.json`.
    element: u32,
    allocated_at: u32,
    step: u64,
    offset: u64,
}

impl Engine {
    /// Writes `allocations.json` of a device.
    ///
    /// # Errors
    /// Returns an error if there is no such device, or if writing fails.
    pub fn write_drawing(&self, device: i64, out: &mut dyn Write) -> Result<DrawingSummary, CropError> {
        Ok(write_allocations(self.traced_device(device)?, out)?)
    }

    /// Writes `elements.json` of a device, with one event for each allocation.
    ///
    /// # Errors
    /// Returns an error if there is no such device, or if writing fails.
    pub fn write_elements(&self, device: i64, out: &mut dyn ValueWriter) -> Result<(), CropError> {
        let history = self.traced_device(device)?;
        let Some(file) = self.file.as_deref() else { return Ok(()) };
        let (mut tables, mut list) = (TableWriter::new(file), out.list()?);
        for event in elements(history) {
            out.item(&mut list)?;
            tables.write_event(out, history, event, Target::WholeFile)?;
        }
        out.end_list(list)?;
        Ok(out.finish()?)
    }

    fn traced_device(&self, device: i64) -> Result<&DeviceHistory, CropError> {
        let history = self.file.as_deref().and_then(|file| file.history(device));
        history.ok_or_else(|| CropError::Invalid("the file has no such device".to_owned()))
    }
}

/// Returns the events that allocate memory, and the events that free memory allocated before recording.
fn elements(history: &DeviceHistory) -> impl Iterator<Item = u32> + '_ {
    (0..history.event_count()).filter(|&event| {
        let change = history.lifetime_change(EventIdx(event));
        change.is_some_and(|(id, is_alloc)| is_alloc || allocated_before_recording(history, id))
    })
}

fn allocated_before_recording(history: &DeviceHistory, id: AllocationId) -> bool {
    !matches!(history.allocations.provenance(id), Provenance::AllocatedBy(_))
}

fn write_allocations(history: &DeviceHistory, out: &mut dyn Write) -> io::Result<DrawingSummary> {
    let allocations = &history.allocations;
    let count = history.event_count();
    // Allocations from before the recording lie at the bottom, the last one to be freed lowest.
    let mut shapes: Vec<DrawnAllocation> = Vec::new();
    let mut index_of = vec![u32::MAX; allocations.len()];
    for (element, event) in (0..).zip(elements(history)) {
        let Some((id, false)) = history.lifetime_change(EventIdx(event)) else { continue };
        shapes.push(DrawnAllocation { id, element, allocated_at: 0, step: 0, offset: 0 });
    }
    shapes.reverse();
    let mut live = 0u64;
    for (index, shape) in (0..).zip(&mut shapes) {
        shape.offset = live;
        live += allocations.size(shape.id);
        index_of.iter_mut().skip(shape.id.0 as usize).take(1).for_each(|slot| *slot = index);
    }
    let mut is_live = vec![true; shapes.len()];
    let mut top: Vec<u32> = (0..shapes.len() as u32).collect();
    let (mut frees, mut step): (Vec<Free>, u64) = (Vec::new(), 0);
    let mut element = 0;
    for event in 0..count {
        let Some((id, is_alloc)) = history.lifetime_change(EventIdx(event)) else { continue };
        let size = allocations.size(id);
        if is_alloc {
            let index = shapes.len() as u32;
            index_of.iter_mut().skip(id.0 as usize).take(1).for_each(|slot| *slot = index);
            shapes.push(DrawnAllocation { id, element, allocated_at: event, step, offset: live });
            is_live.push(true);
            top.push(index);
            live += size;
            element += 1;
            step += 1;
            continue;
        }
        element += u32::from(allocated_before_recording(history, id));
        let Some(&index) = index_of.get(id.0 as usize).filter(|&&index| index != u32::MAX) else { continue };
        is_live.iter_mut().skip(index as usize).take(1).for_each(|slot| *slot = false);
        while top.last().is_some_and(|&last| is_live.get(last as usize) == Some(&false)) {
            top.pop();
        }
        let has_above = top.last().is_some_and(|&last| last > index);
        frees.push(Free { event, index, size, step, has_above });
        live = live.saturating_sub(size);
        step += 1 + if has_above { FALL_STEPS } else { 0 };
    }
    let mut drawn = DrawingSummary { allocations: shapes.len() as u64, points: 0 };
    out.write_all(b"[")?;
    for (index, shape) in (0u32..).zip(&shapes) {
        write_allocation(out, history, [index, u32::from(index > 0)], shape, &frees, step, &mut drawn.points)?;
    }
    out.write_all(b"]")?;
    out.flush()?;
    Ok(drawn)
}

/// Writes the outline of an allocation: a corner at its start, two corners for each free below it, and one at its end.
fn write_allocation(
    out: &mut dyn Write,
    history: &DeviceHistory,
    [index, comma]: [u32; 2],
    shape: &DrawnAllocation,
    frees: &[Free],
    end: u64,
    points: &mut u64,
) -> io::Result<()> {
    let first = frees.partition_point(|free| free.event < shape.allocated_at);
    let earlier_frees = || frees.get(first..).unwrap_or_default().iter().take_while(|free| free.index != index);
    let last = earlier_frees().count() + first;
    let end = frees.get(last).map_or(end, |free| free.step);
    let below = || earlier_frees().filter(|free| free.index < index && free.has_above);
    let separator = if comma == 1 { "," } else { "" };
    write!(out, "{separator}{{\"elem\":{},\"timesteps\":[{}", shape.element, shape.step)?;
    for free in below() {
        write!(out, ",{},{}", free.step, free.step + FALL_STEPS)?;
        *points += 2;
    }
    write!(out, ",{end}],\"offsets\":[{}", shape.offset)?;
    let mut offset = shape.offset;
    for free in below() {
        let lower = offset.saturating_sub(free.size);
        write!(out, ",{offset},{lower}")?;
        offset = lower;
    }
    let size = history.allocations.size(shape.id);
    *points += 2;
    write!(out, ",{offset}],\"size\":{size},\"color\":{}}}", colour(shape.id))
}

/// Returns a colour that is neither too dark nor too bright. As in SnapViewer, the sum of red, green and blue is
/// between 150 and 600.
fn colour(id: AllocationId) -> u32 {
    let mixed = id.0.wrapping_mul(0x9e37_79b1);
    let part = |shift: u32| 60 + (mixed >> shift) % 140;
    part(24) << 16 | part(16) << 8 | part(8)
}
