//! Marks within the window, in pixels of the window: out-of-memory events, snapshots, and annotations.

use crate::state::shared::Shared;
use crate::state::slices::Slice;
use base::units::{Bytes, pluralize};
use picture::timeline::View;
use protocol::{Marks, RangeSource};

/// Maximum number of tracks for annotations. Annotations that are nested more deeply are not drawn. Phases of steps
/// have a track below them.
pub const MAX_LANES: u32 = 3;
/// Maximum number of marks of each kind in a window. More would hide the timeline.
const MAX_DRAWN: usize = 400;
/// Minimum width in CSS pixels of a slice (the bar of an annotation). Narrower slices are merged with their neighbours.
pub(crate) const MIN_SLICE_PX: f64 = 3.0;
/// Height of the row above several lanes for the labels of cursor and crosshair, which hide no lane, in CSS pixels.
const LABEL_ROW_PX: f64 = 20.0;
/// Height of the axis above the annotation tracks, in CSS pixels.
pub const AXIS_PX: f64 = 24.0;
/// Height of an annotation track, in CSS pixels.
pub const TRACK_PX: f64 = 16.0;

/// The marks of a window, in device pixels from its left edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowMarks {
    /// X position and label of each out-of-memory event.
    pub out_of_memory: Vec<(f64, String)>,
    /// X position of each snapshot on the time axis.
    pub snapshots: Vec<f64>,
    pub slices: Vec<Slice>,
    /// X position of the start of the recording, if it is in the window. Allocations of the baseline were made before
    /// it.
    pub recording: Option<f64>,
}

impl WindowMarks {
    /// Computes the marks of a window. `scale` is the number of device pixels per CSS pixel.
    pub fn in_window(state: &Shared, view: &View, scale: f64) -> WindowMarks {
        let Some(marks) = state.surroundings.marks.latest() else { return WindowMarks::default() };
        let width = f64::from(view.width_px);
        let at = |point: &protocol::AxisPoint| view.column_from_x(point.get(state.axis));
        let inside = |x: &f64| (0.0..=width).contains(x);
        let out_of_memory = marks.out_of_memory.iter().map(|mark| {
            let free = mark
                .device_free
                .map_or_else(|| "free memory unknown".to_owned(), |free| format!("{} free", Bytes(free)));
            let text = format!("out of memory: {} requested, {free}", Bytes(mark.requested));
            (at(&mark.position), text)
        });
        let recording_x = view.column_from_x(match state.axis {
            picture::timeline::Axis::Events => 1.0,
            picture::timeline::Axis::Time => marks.clock.map_or(0.0, |clock| clock.margin as f64),
        });
        WindowMarks {
            out_of_memory: out_of_memory.filter(|(x, _)| inside(x)).take(MAX_DRAWN).collect(),
            snapshots: marks.snapshots.iter().map(|(point, _)| at(point)).filter(inside).take(MAX_DRAWN).collect(),
            slices: slices(state, view, marks, MIN_SLICE_PX * scale),
            recording: Some(recording_x).filter(inside),
        }
    }
}

/// Returns the slices in the window. Consecutive slices are merged if each slice and the gap between them are narrower
/// than `narrow` pixels.
fn slices(state: &Shared, view: &View, marks: &Marks, narrow: f64) -> Vec<Slice> {
    let width = f64::from(view.width_px);
    let mut slices: Vec<Slice> = Vec::new();
    // Index of the last slice in each track.
    let mut last = [None; MAX_LANES as usize + 1];
    let annotation_lanes = marks.lanes.min(MAX_LANES);
    for mark in &marks.ranges {
        let (points, span) = ([mark.start, mark.end], mark.span);
        let x = points.map(|point| view.column_from_x(point.get(state.axis)));
        let lane = match mark.source {
            RangeSource::Annotation if mark.lane >= annotation_lanes => continue,
            RangeSource::Annotation => mark.lane,
            RangeSource::Phase | RangeSource::InferredPhase => annotation_lanes,
        };
        let Some(last) = last.get_mut(lane as usize).filter(|_| x[0] < width && x[1] >= 0.0) else { continue };
        let is_narrow = |x: [f64; 2]| x[1] - x[0] < narrow;
        let previous = last.and_then(|index: usize| slices.get_mut(index));
        match previous.filter(|previous| is_narrow(x) && (previous.count > 1 || is_narrow(previous.x))) {
            Some(previous) if x[0] - previous.x[1] < narrow => {
                previous.count += 1;
                previous.x[1] = previous.x[1].max(x[1]);
                previous.span.to = previous.span.to.max(span.to);
                previous.has_end &= mark.has_end;
                if points[1].time > previous.points[1].time {
                    previous.points[1] = points[1];
                    previous.duration_us = points[1].time.saturating_sub(previous.points[0].time);
                }
            }
            _ => {
                *last = Some(slices.len());
                let (name, shared_prefix, duration_us) =
                    (mark.name.clone(), mark.shared_prefix as usize, mark.duration_us);
                slices.push(Slice {
                    x,
                    lane,
                    name,
                    source: mark.source,
                    shared_prefix,
                    has_end: mark.has_end,
                    count: 1,
                    span,
                    duration_us,
                    points,
                });
            }
        }
    }
    for slice in &mut slices {
        slice.x = slice.x.map(|x| x.clamp(0.0, width));
        if slice.count > 1 {
            (slice.name, slice.shared_prefix) = (pluralize(slice.count.into(), kind(slice.source)), 0);
        }
    }
    slices
}

/// Returns the height of the row above the picture for the labels of cursor and crosshair, in CSS pixels. 0 if one
/// device is shown, whose picture has them at its top.
pub fn label_row_px(state: &Shared) -> f64 {
    if state.has_lanes() { LABEL_ROW_PX } else { 0.0 }
}

/// Returns the term for a range of this origin.
pub(crate) fn kind(source: RangeSource) -> &'static str {
    if source == RangeSource::Annotation { "annotation" } else { "phase" }
}

/// Returns the number of tracks of the shown device: those of annotations, and the one of phases.
pub fn track_count(state: &Shared) -> u32 {
    state.surroundings.marks.latest().map_or(0, |marks| marks.lanes.min(MAX_LANES) + u32::from(marks.has_phases))
}
