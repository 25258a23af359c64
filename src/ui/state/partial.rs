//! Decoded data of a file that is still loading.

use picture::timeline::Axis;
use protocol::{Overview, PartialDevice, PartialFile};
use std::rc::Rc;

/// Number of columns in the overview curve, which is drawn above the timeline.
const OVERVIEW_COLUMNS: u64 = 512;

/// The decoded part of a loading file, prepared for drawing.
#[derive(Clone, Debug, PartialEq)]
pub struct PartialState {
    pub(crate) file: PartialFile,
    /// Overview curve of each device.
    pub(crate) overviews: Vec<Rc<Overview>>,
    /// True if the user has chosen the shown device.
    pub(crate) is_chosen: bool,
}

impl PartialState {
    pub(crate) fn new(file: PartialFile, is_chosen: bool) -> PartialState {
        let devices = file.summary.devices.iter().zip(&file.devices);
        let overviews = devices.map(|(summary, device)| Rc::new(overview(summary.events, device))).collect();
        PartialState { file, overviews, is_chosen }
    }

    /// Returns the number of events decoded so far, summed over all devices.
    pub fn events(&self) -> u64 {
        self.file.devices.iter().map(|device| device.events).sum()
    }
}

fn overview(events: u64, device: &PartialDevice) -> Overview {
    let mut overview = Overview { axis: Axis::Events, total: Vec::new(), reserved: Vec::new() };
    for column in 0..OVERVIEW_COLUMNS {
        let [total, reserved] = max_bytes(device, [column, column + 1].map(|at| at * (events + 1) / OVERVIEW_COLUMNS));
        overview.total.push(total);
        overview.reserved.push(reserved);
    }
    overview
}

/// Returns the maximum of requested and of reserved bytes between two moments. `to` is exclusive. The range is extended
/// to whole bins of the decoded data, and covers at least one moment. Zeros if nothing is decoded there.
pub(crate) fn max_bytes(device: &PartialDevice, [from, to]: [u64; 2]) -> [u64; 2] {
    let bin = |moment: u64| usize::try_from(moment >> device.bin_bits).unwrap_or(usize::MAX);
    let (first, last) = (bin(from), bin(to.max(from + 1) - 1));
    let max_height = |heights: &[i64]| {
        let end = heights.len().min(last.saturating_add(1));
        let bytes = heights.get(first.min(end)..end).unwrap_or_default().iter().copied().max();
        bytes.map_or(0, |bytes| bytes.max(0) as u64)
    };
    [max_height(&device.live), max_height(&device.reserved)]
}
