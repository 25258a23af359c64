//! Totals over the columns of a window: the exact maximum of each column.
//!
//! Totals without a running sum in the history (allocated, rounded and free bytes, and all totals of a part of memory)
//! are added up once, in time slices, and cached. They take one byte per event for each device. The part of memory that
//! was requested last takes two bytes per event.

mod observed;
mod part;
mod stranded;
mod sums;

use super::device::DeviceData;
use super::open::OpenFile;
use base::slice::{SliceResult, TimeSlice};
use base::units::{EventIdx, Moment};
use history::replay::Curve;
pub(super) use part::Part;
use picture::timeline::{View, WindowColumns};
use protocol::{Curves, MemoryFilter};
use stranded::StrandedCurves;
use sums::{Quantity, RunningTotals};

/// Curves being computed, and the cached totals for computing them.
#[derive(Default)]
pub(super) struct CurveBuilder {
    /// Columns of the window, index of the next column, and totals of the columns before it.
    in_progress: Option<(WindowColumns, usize, Box<Curves>)>,
    /// Cached totals over the trace: one item per device, and at most one for a filtered part of a device's memory.
    sums: Vec<RunningTotals>,
    stranded: StrandedCurves,
}

base::heap_bytes!(CurveBuilder: [sums], stranded);

impl CurveBuilder {
    /// Drops the curves in progress, so that another query can be answered.
    pub(super) fn reset(&mut self) {
        self.in_progress = None;
    }

    /// Continues computing the curves of a window. Returns them once complete. They have no columns if the file has no
    /// such device. Stranded bytes are computed if `with_stranded` is set, but not for a filtered part of memory.
    pub(super) fn compute(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        view: View,
        (only, with_stranded): (MemoryFilter, bool),
        slice: &mut TimeSlice,
    ) -> SliceResult<Box<Curves>> {
        self.update_sums(file, device, only, slice)?;
        let with_stranded = with_stranded && only == MemoryFilter::default();
        if with_stranded {
            self.stranded.compute(file, device, slice)?;
        }
        let (columns, next, curves) = self.in_progress.get_or_insert_with(|| {
            let columns = file.history(device).map_or_else(WindowColumns::default, |history| {
                WindowColumns::new(&view, history.event_count().saturating_add(1), history.events.times.time_axis())
            });
            let mut curves = Curves { view: Some(view), edge_px: columns.edge_px.clone(), ..Curves::default() };
            if let Some(side) = file.side(device).filter(|_| only == MemoryFilter::default()) {
                observed::add(side, &view, &mut curves);
            }
            (columns, 0, Box::new(curves))
        });
        let sums = self.sums.iter().find(|sums| (sums.device, sums.part.only) == (device, only));
        if let (Some(sums), Some(history)) = (sums, file.history(device)) {
            compute_columns(sums, file.device_data(history), columns, next, curves, slice)?;
            if let Some(curve) = self.stranded.curve(device).filter(|_| with_stranded) {
                curves.stranded = columns.moments.iter().map(|moments| curve.max_in(moments.clone())).collect();
            }
        }
        Ok(self.in_progress.take().map_or_else(Default::default, |(.., curves)| curves))
    }

    /// Continues computing the cached totals that a query needs.
    fn update_sums(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        only: MemoryFilter,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        file.compute_segments(device, slice)?;
        let Some(history) = file.history(device) else { return Ok(()) };
        if !self.sums.iter().any(|sums| (sums.device, sums.part.only) == (device, only)) {
            // Of the parts of memory, only the current one is kept.
            self.sums.retain(|sums| sums.part.is_all());
            self.sums.push(RunningTotals::new(device, Part::new(only)));
        }
        let known = self.sums.iter_mut().find(|sums| (sums.device, sums.part.only) == (device, only));
        match (known, file.segments(device)) {
            (Some(sums), Some(lives)) => sums.step(file.device_data(history), lives, slice),
            _ => Ok(()),
        }
    }
}

/// Continues computing the columns of the curves, starting at index `next`.
fn compute_columns(
    sums: &RunningTotals,
    data: DeviceData<'_>,
    columns: &WindowColumns,
    next: &mut usize,
    curves: &mut Curves,
    slice: &mut TimeSlice,
) -> SliceResult {
    let history = data.history;
    let change = |kind: Quantity| move |event: EventIdx| sums.change(data, kind, event);
    let [requested, pending, reserved, rounded] =
        [Quantity::Requested, Quantity::AwaitingFree, Quantity::Reserved, Quantity::Rounded].map(change);
    let [allocated, free] = [Quantity::Allocated, Quantity::Free].map(change);
    let curve = |kind, change| Curve::new(sums.totals(history, kind), change);
    let reserved_curve = curve(Quantity::Reserved, &reserved);
    let mut all: [(Curve<'_>, &mut Vec<u64>); 5] = [
        (reserved_curve, &mut curves.reserved),
        (curve(Quantity::Rounded, &rounded), &mut curves.rounded),
        (curve(Quantity::Requested, &requested), &mut curves.requested),
        (curve(Quantity::Allocated, &allocated), &mut curves.allocated),
        (curve(Quantity::AwaitingFree, &pending), &mut curves.awaiting_free),
    ];
    let free = curve(Quantity::Free, &free);
    let bytes = |total: i64| u64::try_from(total).unwrap_or(0);
    while let Some(moments) = columns.moments.get(*next) {
        let highest = |curve: &Curve<'_>| curve.max_in(moments.clone()).unwrap_or((Moment(moments.start), 0));
        for (curve, maxima) in &mut all {
            maxima.push(bytes(highest(curve).1));
        }
        let (moment, max_free) = highest(&free);
        let reserved = bytes(reserved_curve.at(moment));
        // An inconsistent file may free more than it allocated. Free bytes never exceed the reserved ones.
        curves.free.push(bytes(max_free).min(reserved));
        curves.reserved_at_max_free.push(reserved);
        *next += 1;
        slice.spend(256)?;
    }
    Ok(())
}
