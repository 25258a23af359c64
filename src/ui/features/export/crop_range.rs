//! Ranges of events that can be exported as a smaller snapshot.

use crate::state::shared::Shared;
use base::units::group_digits;
use picture::timeline::Axis;
use protocol::{RangeMark, RangeSource};

/// Number of events included before and after the peak or an OOM.
const AROUND: u32 = 1000;

base::listed! {
    /// Ranges of events that the export dialog offers, in display order.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum CropRange {
        Selected,
        #[default]
        Window,
        /// The annotated step that contains the cursor.
        Step,
        Peak,
        OutOfMemory,
    }
}

/// Returns the annotation that contains the cursor and is most likely a step: one with "step" in its name, or else the
/// longest.
fn step_at_cursor(shared: &Shared) -> Option<&RangeMark> {
    let at = shared.cursor.moment;
    let annotations =
        shared.surroundings.marks.latest()?.ranges.iter().filter(|mark| mark.source == RangeSource::Annotation);
    let around = annotations.filter(|mark| mark.span.from < at && at <= mark.span.to);
    around.max_by_key(|mark| (mark.name.to_ascii_lowercase().contains("step"), mark.span.to - mark.span.from))
}

/// Returns the half-open range of visible events. On the time axis, a pixel column covers several events but stores
/// only the moment after the last one, so the adjacent columns determine the ends of the range.
fn visible_events(shared: &Shared) -> Option<[u32; 2]> {
    let view = shared.view()?;
    let [left, right] = [view.x_from_column(0.0), view.x_from_column(f64::from(view.width_px))];
    if shared.axis == Axis::Events {
        return Some([left.max(0.0).floor() as u32, (right.ceil() as u32).saturating_sub(1)]);
    }
    let scene = shared.scene()?;
    let columns = &scene.columns;
    let after =
        |x: f64| columns.edge_px.partition_point(|&edge| f64::from(edge) <= scene.view.column_from_x(x).floor());
    let from = after(left).checked_sub(2).and_then(|before| columns.moment.get(before)).copied();
    let to = columns.moment.get(after(right)).copied();
    Some([from.unwrap_or(0), to.unwrap_or(u32::MAX)])
}

impl CropRange {
    /// Returns the half-open range of events, `[from, to)`. `None` if the range does not exist or is empty.
    pub fn events(self, shared: &Shared) -> Option<[u32; 2]> {
        let device = shared.device()?;
        let last = shared.end_moment();
        let around = |event: u32| [event.saturating_sub(AROUND), event.saturating_add(AROUND + 1).min(last)];
        let events = match self {
            CropRange::Selected => shared.cursor.range.map(|range| [range.from, range.to]),
            CropRange::Window => visible_events(shared).map(|[from, to]| [from.min(last), to.min(last)]),
            CropRange::Step => {
                let span = step_at_cursor(shared)?.span;
                Some([span.from, span.to])
            }
            CropRange::Peak => Some(around(shared.peak_moment().saturating_sub(1))),
            CropRange::OutOfMemory => {
                let marks = shared.surroundings.marks.latest()?;
                marks.out_of_memory.last().filter(|_| device.oom_count() > 0).map(|mark| around(mark.event))
            }
        };
        events.filter(|[from, to]| from < to)
    }

    /// Returns the label in the dialog, such as `Selected range: events 840–1,841`.
    pub fn label(self, shared: &Shared) -> String {
        let name = match self {
            CropRange::Selected => "Selected range",
            CropRange::Window => "Visible window",
            CropRange::Step => step_at_cursor(shared).map_or("Step", |step| &step.name),
            CropRange::Peak => "Around the peak",
            CropRange::OutOfMemory => "Around the OOM",
        };
        match self.events(shared) {
            Some([from, to]) => {
                format!(
                    "{name}: events {}–{}",
                    group_digits(from.into()),
                    group_digits(u64::from(to).saturating_sub(1))
                )
            }
            None => name.to_owned(),
        }
    }
}

/// Returns the ranges that exist and are not empty, in the order of the dialog.
pub fn ranges(shared: &Shared) -> Vec<CropRange> {
    CropRange::ALL.into_iter().filter(|range| range.events(shared).is_some()).collect()
}
