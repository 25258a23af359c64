//! Totals over the columns of a window: each the largest of its column, exactly.
//!
//! What a history has no running total of (rounded, allocated and free bytes; all of them for a part of memory) is added up once, in slices,
//! and kept: a byte an event for each device, and two for the part of memory that was asked about last.

mod part;
mod sums;

use super::open::OpenFile;
use super::protocol::{Answer, Curves, Only, Reply};
use base::units::{EventIdx, Moment};
use history::replay::Curve;
pub(super) use part::Part;
use picture::timeline::{View, WindowColumns};
use std::collections::VecDeque;
use sums::{Kind, Sums};

/// Columns between two questions for the time.
const COLUMNS_PER_CHECK: usize = 8;

/// What was asked last, and what was added up for it and before.
#[derive(Default)]
pub(super) struct AskedCurves {
    asked: Option<Box<Asked>>,
    /// One for each device that was asked about, as a whole; and one of a part.
    sums: Vec<Sums>,
}

struct Asked {
    serial: u32,
    device: i64,
    only: Only,
    columns: WindowColumns,
    next: usize,
    curves: Box<Curves>,
}

impl AskedCurves {
    /// A question; it overtakes the one before.
    pub(super) fn ask(&mut self, file: Option<&OpenFile>, serial: u32, device: i64, (view, only): (View, Only)) {
        let history = file.and_then(|file| file.history(device));
        let columns = history.map_or_else(WindowColumns::default, |history| {
            WindowColumns::new(&view, history.event_count().saturating_add(1), history.events.times.clock())
        });
        let curves = Curves { view: Some(view), edge_px: columns.edge_px.clone(), ..Curves::default() };
        self.asked = Some(Box::new(Asked { serial, device, only, columns, next: 0, curves: Box::new(curves) }));
    }

    /// Works while there is time: `true` when nothing is left to do.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        let Some(mut asked) = self.asked.take() else { return true };
        if !self.add_up(file, &asked, has_time) || !self.look(file, &mut asked, has_time) {
            self.asked = Some(asked);
            return false;
        }
        let Asked { serial, curves, .. } = *asked;
        replies.push_back(Reply::Answer { serial, answer: Answer::Curves(curves) });
        true
    }

    /// Adds up what is asked about: `true` when it is there.
    fn add_up(&mut self, file: &mut OpenFile, asked: &Asked, has_time: &mut dyn FnMut() -> bool) -> bool {
        let Asked { device, only, .. } = *asked;
        if !file.segment_lives(device, has_time) {
            return false;
        }
        let Some(history) = file.history(device) else { return true };
        if !self.sums.iter().any(|sums| (sums.device, sums.part.only) == (device, only)) {
            // Of parts, only the one that is asked about now.
            self.sums.retain(|sums| sums.part.is_all());
            self.sums.push(Sums::new(device, Part::new(only)));
        }
        let known = self.sums.iter_mut().find(|sums| (sums.device, sums.part.only) == (device, only));
        match (known, file.segments(device)) {
            (Some(sums), Some(lives)) => sums.step(file.about(history), lives, has_time),
            _ => true,
        }
    }

    /// Looks at more columns while there is time: `true` when at all.
    fn look(&self, file: &OpenFile, asked: &mut Asked, has_time: &mut dyn FnMut() -> bool) -> bool {
        let Asked { device, only, columns, next, curves, .. } = asked;
        let sums = self.sums.iter().find(|sums| (sums.device, sums.part.only) == (*device, *only));
        let (Some(sums), Some(history)) = (sums, file.history(*device)) else { return true };
        let open = file.about(history);
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
            // A file that contradicts itself may free more than there was: no more is free than is reserved all the same.
            curves.free.push(bytes(most).min(reserved));
            curves.reserved_then.push(reserved);
            *next += 1;
            if next.is_multiple_of(COLUMNS_PER_CHECK) && !has_time() {
                return false;
            }
        }
        true
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        self.sums.iter().map(Sums::heap_bytes).sum()
    }
}
