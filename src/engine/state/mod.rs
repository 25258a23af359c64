//! Answers queries of the Segments view ([`SegmentsQuestion`]): the state of the allocator at a moment.
//!
//! The state, the display order and the row layout are cached until the query changes, so scrolling and zooming only
//! draw the visible rows.

mod address_lookup;
mod arrangement;
mod bar;
mod device_state;
mod drawing;
mod releasable;
mod request;
mod segment;
mod zoom;

pub(super) use address_lookup::AddressLookup;
pub(super) use device_state::DeviceState;
pub(super) use releasable::ReleasableSegments;
pub(super) use request::{
    DRIVER_GRAIN, MIN_OWN_SEGMENT, PlacementSearch, SegmentSizing, driver_request_size, is_small, page_size,
};
pub(super) use segment::Segment;

use super::open::OpenFile;
use arrangement::{SegmentLayout, SegmentOrder};
use base::heap::HeapBytes;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use drawing::{Drawing, DrawingInput};
use protocol::{Grouping, SegmentsPage, SegmentsQuestion};
use zoom::ScaleSearch;

/// Parameters of the row layout: row width in pixels, bytes per pixel, and number of rows that all segments should fit
/// into.
type Scale = (u32, f64, u32);

/// Cache for the state that was requested last, and for the data derived from it.
#[derive(Default)]
pub(super) struct SegmentsCache {
    state: Option<DeviceState>,
    arranged: Option<SegmentOrder>,
    zoom: Option<(ScaleSearch, Scale)>,
    flow: Option<(SegmentLayout, Scale)>,
    /// The current query, with its drawing and its search for the placement of a request.
    drawn: Option<(SegmentsQuestion, Drawing, Option<PlacementSearch>)>,
    releasable: ReleasableSegments,
}

impl SegmentsCache {
    /// Continues computing the requested rows of the view and returns them once complete. They are empty if the file
    /// does not have the device.
    pub(super) fn page(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        mut question: SegmentsQuestion,
        slice: &mut TimeSlice,
    ) -> SliceResult<SegmentsPage> {
        file.compute_segments(device, slice)?;
        if question.colouring == Grouping::Category {
            file.categorize(slice)?;
        }
        let file = &*file;
        let Some((side, lives)) = file.side(device).zip(file.segments(device)) else {
            return Ok(SegmentsPage::default());
        };
        // 0 means fit to rows. Values that are not finite are treated the same. NaN would never compare equal to
        // itself.
        if !(question.bytes_per_px > 0.0 && question.bytes_per_px.is_finite()) {
            question.bytes_per_px = 0.0;
        }
        if !self.state.as_ref().is_some_and(|state| state.is_of(side.history, question.moment)) {
            // Free the previous state before building the next one.
            *self = SegmentsCache::default();
        }
        let state = self.state.get_or_insert_with(|| DeviceState::new(side.history, lives, question.moment));
        state.step(side, lives, slice)?;
        if !self.arranged.as_ref().is_some_and(|it| (it.only, it.sort) == (question.filter, question.sort)) {
            (self.zoom, self.flow, self.drawn, self.releasable) = Default::default();
            self.arranged = Some(SegmentOrder::new(question.filter, question.sort));
        }
        let arranged = self.arranged.as_mut().ok_or(OutOfTime)?;
        arranged.step(state, lives, slice)?;
        self.releasable.step(side, lives, (state, Some(&arranged.order)), slice)?;
        let width_px = question.width_px;
        let scale = (width_px, question.bytes_per_px, question.fit_rows);
        if self.flow.as_ref().is_none_or(|&(_, known)| known != scale) {
            self.drawn = None;
            let bytes_per_px = match (question.bytes_per_px, width_px) {
                // A list has no widths.
                (0.0, 1..) => {
                    if self.zoom.as_ref().is_none_or(|&(_, known)| known != scale) {
                        self.zoom = Some((ScaleSearch::new(arranged, width_px, question.fit_rows), scale));
                    }
                    self.zoom.as_mut().ok_or(OutOfTime)?.0.step(state, arranged, slice)?
                }
                (drawn, _) => zoom::clamp_scale(drawn, arranged, width_px),
            };
            let mut flow = SegmentLayout::new(bytes_per_px, width_px);
            flow.places = Some(Vec::with_capacity(arranged.order.len()));
            self.flow = Some((flow, scale));
        }
        let (flow, _) = self.flow.as_mut().ok_or(OutOfTime)?;
        flow.step(state, arranged, slice)?;
        if !self.drawn.as_ref().is_some_and(|(drawn, ..)| *drawn == question) {
            let fits = question.request.map(|request| PlacementSearch::new(file, request));
            self.drawn = Some((question, Drawing::new(flow, question.rows), fits));
        }
        let (_, drawing, fits) = self.drawn.as_mut().ok_or(OutOfTime)?;
        let subject = DrawingInput { side, state, arranged, flow, colouring: question.colouring };
        drawing.step(subject, slice)?;
        let fits = match fits {
            Some(fits) => fits.step(state, lives, slice)?,
            None => Vec::new(),
        };
        let (_, drawing, _) = self.drawn.take().ok_or(OutOfTime)?;
        let mut groups: Vec<_> = arranged.groups.iter().map(|(_, group)| group.clone()).collect();
        groups.iter_mut().zip(&flow.headings).for_each(|(group, &row)| group.row = row);
        Ok(SegmentsPage {
            moment: state.moment,
            total: arranged.total,
            bytes_per_px: flow.bytes_per_px,
            rows: u32::try_from(flow.row).unwrap_or(u32::MAX),
            first: question.rows[0],
            groups,
            bars: drawing.bars,
            pieces: drawing.pieces,
            revealed: question.reveal.and_then(|address| place_of(state, arranged, flow, address)),
            fits,
            outside_mapped: state.outside_mapped,
            releasable: self.releasable.finish(side),
        })
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let flow = self.flow.as_ref().and_then(|(flow, _)| flow.places.as_ref());
        self.state.heap_bytes() + self.arranged.heap_bytes() + flow.map_or(0, HeapBytes::heap_bytes)
    }
}

/// Returns the row and pixel at which an address is shown. `None` if it is not reserved, or if its segment is not
/// shown.
fn place_of(state: &DeviceState, arranged: &SegmentOrder, flow: &SegmentLayout, address: u64) -> Option<[u32; 2]> {
    let segment = state.segment_at(address)?;
    let is_same = |&index: &u32| state.segments.get(index as usize).is_some_and(|it| it.address == segment.address);
    let rank = arranged.order.iter().position(is_same)?;
    let &[row, x] = flow.places.as_deref()?.get(rank)?;
    let width = u64::from(flow.width_px.max(1));
    let pixel = ((address - segment.address) as f64 / flow.bytes_per_px) as u64;
    let pixel = pixel.min(flow.pixels(segment.sums.reserved).saturating_sub(1));
    let rows_below = u32::try_from(pixel / width).unwrap_or(u32::MAX);
    Some([row.saturating_add(rows_below), x + (pixel % width) as u32])
}
