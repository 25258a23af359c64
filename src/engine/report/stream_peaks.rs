//! Table of the peak of each stream, computed in one pass over the events.

use super::column::{self, sheet};
use super::writer::{ReportWriter, evidence_row, moment_evidence};
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::sorted_numbers;
use base::units::{EventIdx, Moment};
use history::replay::AllocationId;
use protocol::{Evidence, Grouping};

/// Live bytes of a stream.
#[derive(Clone, Copy, Default)]
struct StreamBytes {
    current: u64,
    peak: u64,
    /// First moment with the peak.
    peak_moment: u32,
    /// Live bytes at the peak of the device.
    at_peak: u64,
}

/// Pass over the events that counts the live bytes of each stream.
pub(super) struct StreamPeaks {
    /// Bytes of each group of [`Grouping::Stream`]. Empty if the file has only one stream.
    streams: Vec<StreamBytes>,
    device_peak: u32,
    next_early: usize,
    next_event: u32,
}

impl StreamPeaks {
    pub(super) fn new(side: Side<'_>) -> StreamPeaks {
        let count = side.group_count(Grouping::Stream) as usize;
        // Group 0 is for allocations whose stream is not recorded.
        let streams = if count > 2 { vec![StreamBytes::default(); count] } else { Vec::new() };
        let device_peak = Moment::after_event_or_minus_one(side.history.numbers.peak_event).0;
        StreamPeaks { streams, device_peak, next_early: 0, next_event: 0 }
    }

    /// Continues processing the allocations made before recording, and then the events.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        if self.streams.is_empty() {
            return Ok(());
        }
        while self.next_early < side.history.allocations.early_count() {
            slice.tick()?;
            let id = AllocationId(self.next_early as u32);
            self.next_early += 1;
            if side.history.allocations.outlives(id, Moment::START) {
                self.change(side, (id, true), 0);
            }
        }
        if self.next_event == 0 && self.device_peak == 0 {
            self.store_peak();
        }
        for event in (self.next_event..side.history.event_count()).map(EventIdx) {
            slice.spend(2)?;
            self.next_event += 1;
            let moment = Moment::after(event).0;
            if let Some(change) = side.history.lifetime_change(event) {
                self.change(side, change, moment);
            }
            if moment == self.device_peak {
                self.store_peak();
            }
        }
        Ok(())
    }

    fn change(&mut self, side: Side<'_>, (id, is_alloc): (AllocationId, bool), moment: u32) {
        let group = side.group(Grouping::Stream, id);
        let Some(stream) = self.streams.get_mut(group as usize) else { return };
        let bytes = side.history.allocations.size(id);
        stream.current =
            if is_alloc { stream.current.saturating_add(bytes) } else { stream.current.saturating_sub(bytes) };
        if stream.current > stream.peak {
            (stream.peak, stream.peak_moment) = (stream.current, moment);
        }
    }

    fn store_peak(&mut self) {
        self.streams.iter_mut().for_each(|stream| stream.at_peak = stream.current);
    }

    /// Writes the table, unless the file has only one stream.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>, whole: u64) {
        let side = writer.side;
        let ranked = self.streams.iter().zip(0..).filter(|(stream, _)| stream.peak > 0);
        let ranked = sorted_numbers(ranked.map(|(stream, group)| (!u128::from(stream.peak), group)).collect());
        if ranked.len() < 2 {
            return;
        }
        let stream = |group: u32| self.streams.get(group as usize).copied().unwrap_or_default();
        let name = |group: u32| side.group_label(Grouping::Stream, group);
        let columns = [
            column::text("stream", "stream", name),
            column::bytes("peak_live_bytes", "peak", |group| stream(group).peak),
            column::event("peak_event", "peak after event", |group| stream(group).peak_moment),
            column::bytes("live_bytes", "live at the peak of the device", |group| stream(group).at_peak),
            column::share("share", "share of the peak", |group| (stream(group).at_peak, whole)),
        ];
        let note = "The peaks of the streams are at different moments, so they can add up to more than the peak of the device.";
        let sheet = sheet(["streams", "Peak of each stream", note], &columns);
        writer.add_sheet(sheet, &columns, &ranked, |_, group| {
            let find = side.file.groups.stream_query(group);
            evidence_row(Evidence { find, ..moment_evidence(stream(group).peak_moment) })
        });
    }
}
