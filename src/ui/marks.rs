//! The marks that lie in the window, in its pixels: out of memory, snapshots, annotations in lanes.

use super::shared::Shared;
use base::units::Bytes;
use picture::timeline::View;

/// Lanes of annotations that are shown; deeper ones are told by number.
pub const MOST_LANES: u32 = 3;
/// Marks of a kind that are drawn: denser ones would be a wall of colour.
const MOST_DRAWN: usize = 400;
/// An annotation narrower than this many pixels is drawn as one line of it.
const NARROWEST_PX: f64 = 1.0;

/// The marks of a window, in device pixels from its left edge.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Around {
    /// Where memory ran out, and what stands beside it.
    pub out_of_memory: Vec<(f64, String)>,
    /// Where snapshots were taken.
    pub snapshots: Vec<f64>,
    /// The annotations: left and right edge, lane, name, whether they have an end.
    pub ranges: Vec<Range>,
    /// Where the state before the recording ends, if it is in the window.
    pub recording: Option<f64>,
}

/// An annotation in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// Left and right edge in device pixels, cut to the window.
    pub x: [f64; 2],
    /// Its lane, from the top.
    pub lane: u32,
    pub name: String,
    pub ended: bool,
}

impl Around {
    /// The marks of the window.
    pub fn of(state: &Shared, view: &View) -> Around {
        let Some(marks) = state.around.marks.latest() else { return Around::default() };
        let width = f64::from(view.width_px);
        let at = |place: &engine::protocol::AxisPoint| view.column_from_x(place.on(state.axis));
        let inside = |x: &f64| (0.0..=width).contains(x);
        let out_of_memory = marks.out_of_memory.iter().map(|mark| {
            let text = format!("out of memory: {} requested, {} free", Bytes(mark.requested), Bytes(mark.device_free));
            (at(&mark.place), text)
        });
        let ranges = marks.ranges.iter().filter(|range| range.lane < MOST_LANES).map(|range| Range {
            x: [at(&range.start).clamp(0.0, width), at(&range.end).clamp(0.0, width)],
            lane: range.lane,
            name: range.name.clone(),
            ended: range.ended,
        });
        let visible = |range: &Range| range.x[0] < width && range.x[1] > 0.0;
        let begins = view.column_from_x(match state.axis {
            picture::timeline::Axis::Events => 1.0,
            picture::timeline::Axis::Time => marks.clock.map_or(0.0, |clock| clock.margin as f64),
        });
        let mut around = Around {
            out_of_memory: out_of_memory.filter(|(x, _)| inside(x)).take(MOST_DRAWN).collect(),
            snapshots: marks.snapshots.iter().map(|(place, _)| at(place)).filter(inside).take(MOST_DRAWN).collect(),
            ranges: Vec::new(),
            recording: Some(begins).filter(inside),
        };
        // Neighbours that share a pixel are one line.
        let mut reached = [f64::NEG_INFINITY; MOST_LANES as usize];
        for mut range in ranges.filter(visible) {
            let Some(reached) = reached.get_mut(range.lane as usize) else { continue };
            range.x[1] = range.x[1].max(range.x[0] + NARROWEST_PX);
            if range.x[1] <= *reached + 0.5 {
                continue;
            }
            *reached = range.x[1];
            around.ranges.push(range);
        }
        around
    }
}

/// How many lanes of annotations the shown device needs below its axis.
pub fn lanes(state: &Shared) -> u32 {
    state.around.marks.latest().map_or(0, |marks| marks.lanes.min(MOST_LANES))
}
