//! What a person puts on the picture.

use super::point::Point;
use crate::cursor::Cursor;
use crate::drag::Drag;
use crate::markers::Markers;
use crate::ruler::Ruler;
use crate::trail::Trail;
use crate::turn::Kept;
use engine::protocol::At;

/// Everything of this kind.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// The one place that is pointed at, by pointer or keys.
    pub cursor: Cursor,
    pub ruler: Ruler,
    /// What a press of the pointer that moves does.
    pub drag: Drag,
    pub markers: Markers,
    /// The windows before and after this one.
    pub trail: Trail,
    /// Bytes that the GPU has, as typed.
    pub capacity: Option<u64>,
    /// The window's edges, to be found again on the other axis.
    pub turning: Option<[Point; 2]>,
    /// The selection and a moment of it, to be found again in another order.
    pub(crate) kept: Option<Kept>,
    /// The question about moments that was not answered yet.
    pub(crate) asked: Option<PendingMoments>,
}

/// A question about moments.
#[derive(Clone, Debug)]
pub(crate) struct PendingMoments {
    pub(crate) serial: u32,
    /// The cursor's moment, where that is among them.
    pub(crate) cursor: Option<u32>,
    pub(crate) at: Vec<At>,
}

pub(crate) fn for_each_point(tools: &mut Tools, device: i64, look: &mut dyn FnMut(&mut Point)) {
    let ruler = tools.ruler.ends.iter_mut().flatten();
    for point in ruler.chain(tools.turning.iter_mut().flatten()) {
        look(point);
    }
    for marker in tools.markers.all.iter_mut().filter(|marker| marker.device == device) {
        look(&mut marker.point);
    }
}
