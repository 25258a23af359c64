//! State of the tools on the timeline.

use crate::state::axis_switch::KeptSelection;
use crate::state::crosshair::Crosshair;
use crate::state::drag::Drag;
use crate::state::markers::Markers;
use crate::state::point::Point;
use crate::state::ruler::Ruler;
use crate::state::window_history::WindowHistory;
use protocol::MomentSpec;

/// State of the tools on the timeline.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    /// The crosshair. It is controlled by the pointer or by keys.
    pub crosshair: Crosshair,
    pub ruler: Ruler,
    /// The current drag of the pointer.
    pub drag: Drag,
    pub markers: Markers,
    /// History of visible windows, for undo and redo.
    pub history: WindowHistory,
    /// Device capacity in bytes, as typed by the user.
    pub capacity: Option<u64>,
    /// Edges of the window, while the worker converts them to the other axis.
    pub axis_switch: Option<[Point; 2]>,
    /// The selected allocation and a moment, while its position in another stacking order is not yet known.
    pub(crate) kept_selection: Option<KeptSelection>,
    /// The pending request for facts about moments.
    pub(crate) pending: Option<PendingMoments>,
}

/// A pending request for facts about moments.
#[derive(Clone, Debug)]
pub(crate) struct PendingMoments {
    pub(crate) serial: u32,
    /// The crosshair's moment, if the request includes it.
    pub(crate) crosshair: Option<u32>,
    pub(crate) at: Vec<MomentSpec>,
}

pub(crate) fn for_each_point(tools: &mut Tools, device: i64, visit: &mut dyn FnMut(&mut Point)) {
    let ruler = tools.ruler.ends.iter_mut().flatten();
    for point in ruler.chain(tools.axis_switch.iter_mut().flatten()) {
        visit(point);
    }
    for marker in tools.markers.all.iter_mut().filter(|marker| marker.device == device) {
        visit(&mut marker.point);
    }
}
