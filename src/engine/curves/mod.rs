//! Totals over the columns of a window: the exact maximum of each column.
//!
//! Totals without a running sum in the history (allocated, rounded and free bytes, and all totals of a part of memory)
//! are added up once, in time slices, and kept. They take a byte per event for each device, and two for the part of
//! memory requested last.

mod part;
mod sums;

use super::device::Open;
use super::open::OpenFile;
use super::protocol::{Curves, Only};
use base::slice::{Slice, Sliced};
use base::units::{EventIdx, Moment};
use history::replay::Curve;
pub(super) use part::Part;
use picture::timeline::{View, WindowColumns};
use sums::{Kind, Sums};

/// Curves being computed, and the running sums kept for them.
#[derive(Default)]
pub(super) struct CurvesInWork {
    /// Columns, index of the next one, and totals of those before it.
    begun: Option<(WindowColumns, usize, Box<Curves>)>,
    /// One for each device that was requested as a whole, and one for a part of a device.
    sums: Vec<Sums>,
}

impl CurvesInWork {
    /// Starts a new question.
    pub(super) fn begin(&mut self) {
        self.begun = None;
    }

    /// Computes the totals. Returns no columns if the file has no such device.
    pub(super) fn curves(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        view: View,
        only: Only,
        slice: &mut Slice,
    ) -> Sliced<Box<Curves>> {
        self.add_up(file, device, only, slice)?;
        let (columns, next, curves) = self.begun.get_or_insert_with(|| {
            let columns = file.history(device).map_or_else(WindowColumns::default, |history| {
                WindowColumns::new(&view, history.event_count().saturating_add(1), history.events.times.clock())
            });
            let curves = Curves { view: Some(view), edge_px: columns.edge_px.clone(), ..Curves::default() };
            (columns, 0, Box::new(curves))
        });
        let sums = self.sums.iter().find(|sums| (sums.device, sums.part.only) == (device, only));
        if let (Some(sums), Some(history)) = (sums, file.history(device)) {
            look(sums, file.about(history), columns, next, curves, slice)?;
        }
        Ok(self.begun.take().map_or_else(Default::default, |(.., curves)| curves))
    }

    /// Adds up the running sums that are needed.
    fn add_up(&mut self, file: &mut OpenFile, device: i64, only: Only, slice: &mut Slice) -> Sliced {
        file.segment_lives(device, slice)?;
        let Some(history) = file.history(device) else { return Ok(()) };
        if !self.sums.iter().any(|sums| (sums.device, sums.part.only) == (device, only)) {
            // Of the parts of memory, only the current one is kept.
            self.sums.retain(|sums| sums.part.is_all());
            self.sums.push(Sums::new(device, Part::new(only)));
        }
        let known = self.sums.iter_mut().find(|sums| (sums.device, sums.part.only) == (device, only));
        match (known, file.segments(device)) {
            (Some(sums), Some(lives)) => sums.step(file.about(history), lives, slice),
            _ => Ok(()),
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.sums.iter().map(Sums::heap_bytes).sum()
    }
}

/// Computes the columns from `next` on.
fn look(
    sums: &Sums,
    open: Open<'_>,
    columns: &WindowColumns,
    next: &mut usize,
    curves: &mut Curves,
    slice: &mut Slice,
) -> Sliced {
    let history = open.history;
    let change = |kind: Kind| move |event: EventIdx| sums.change(open, kind, event);
    let [requested, pending, reserved, rounded] =
        [Kind::Requested, Kind::Pending, Kind::Reserved, Kind::Rounded].map(change);
    let [allocated, free] = [Kind::Allocated, Kind::Free].map(change);
    let curve = |kind, change| Curve::new(sums.totals(history, kind), change);
    let reserved_curve = curve(Kind::Reserved, &reserved);
    let mut all: [(Curve<'_>, &mut Vec<u64>); 5] = [
        (reserved_curve, &mut curves.reserved),
        (curve(Kind::Rounded, &rounded), &mut curves.rounded),
        (curve(Kind::Requested, &requested), &mut curves.requested),
        (curve(Kind::Allocated, &allocated), &mut curves.allocated),
        (curve(Kind::Pending, &pending), &mut curves.pending),
    ];
    let free = curve(Kind::Free, &free);
    let bytes = |total: i64| u64::try_from(total).unwrap_or(0);
    while let Some(moments) = columns.moments.get(*next) {
        let highest = |curve: &Curve<'_>| curve.max_in(moments.clone()).unwrap_or((Moment(moments.start), 0));
        for (curve, into) in &mut all {
            into.push(bytes(highest(curve).1));
        }
        let (moment, most) = highest(&free);
        let reserved = bytes(reserved_curve.at(moment));
        // An inconsistent file may free more than it allocated. Free bytes never exceed the reserved ones.
        curves.free.push(bytes(most).min(reserved));
        curves.reserved_then.push(reserved);
        *next += 1;
        slice.spend(256)?;
    }
    Ok(())
}
