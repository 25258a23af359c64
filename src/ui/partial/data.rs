//! What is shown of a file while it loads.

use engine::protocol::{DeviceSummary, FileSummary, Overview, PartialDevice, PartialFile, SCHEMA};
use picture::timeline::Axis;
use std::rc::Rc;

/// Columns of the small picture above the timeline.
const OVERVIEW_COLUMNS: u64 = 512;

/// What is decoded so far of the file that is loading, as the picture needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfinished {
    /// The same numbers as of an open file, where they are known.
    pub(crate) file: FileSummary,
    /// As the engine told them, with all heights; in the order of the file's.
    pub devices: Vec<PartialDevice>,
    /// The silhouette of each.
    pub(crate) overviews: Vec<Rc<Overview>>,
    /// Whether all is decoded.
    pub is_whole: bool,
    /// Whether a person has chosen the device.
    pub(crate) is_chosen: bool,
}

impl Unfinished {
    /// What was told now, after `before`.
    pub(crate) fn new(name: &str, told: PartialFile, before: Option<Box<Unfinished>>) -> Unfinished {
        let is_chosen = before.as_ref().is_some_and(|before| before.is_chosen);
        let mut known = before.map_or_else(Vec::new, |before| before.devices);
        let mut devices = told.devices;
        for device in devices.iter_mut().filter(|device| device.heights[0].is_empty()) {
            if let Some(known) = known.iter_mut().find(|known| known.device == device.device) {
                (device.heights, device.bin_bits) = (std::mem::take(&mut known.heights), known.bin_bits);
            }
        }
        let file = FileSummary {
            schema: SCHEMA,
            file: name.to_owned(),
            format: String::new(),
            torch: None,
            warnings: Vec::new(),
            devices: devices.iter().map(summary).collect(),
            settings: Vec::new(),
            pools: Vec::new(),
            recorder: Vec::new(),
        };
        let overviews = devices.iter().map(|device| Rc::new(overview(device))).collect();
        Unfinished { file, devices, overviews, is_whole: told.is_whole, is_chosen }
    }
}

impl Unfinished {
    /// Events of all devices so far.
    pub fn events(&self) -> u64 {
        self.devices.iter().map(|device| device.events).sum()
    }
}

fn summary(device: &PartialDevice) -> DeviceSummary {
    let actions = if device.ooms > 0 { vec![("oom".to_owned(), device.ooms)] } else { Vec::new() };
    DeviceSummary {
        device: device.device,
        events: device.expected_events,
        actions,
        allocations: device.allocations,
        base_requested: device.base_requested,
        peak_requested: device.peak_requested,
        peak_event: device.peak_event,
        reserved_start: device.reserved_start,
        peak_reserved: device.peak_reserved,
        drawn_peak: u64::try_from(device.peak_requested).unwrap_or(0),
        ..DeviceSummary::default()
    }
}

fn overview(device: &PartialDevice) -> Overview {
    let width = device.expected_events + 1;
    let column = |at: u64| highest(device, [at, at + 1].map(|at| at * width / OVERVIEW_COLUMNS));
    let columns: Vec<[u64; 2]> = (0..OVERVIEW_COLUMNS).map(column).collect();
    let of = |which: usize| columns.iter().map(|bytes| bytes[which]).collect();
    Overview { axis: Axis::Events, total: of(0), reserved: of(1) }
}

/// The most requested and reserved bytes of the moments from one to before another, and of those that share a height with them; at least
/// of one. Nothing where none is decoded.
pub(super) fn highest(device: &PartialDevice, [from, to]: [u64; 2]) -> [u64; 2] {
    let bin = |moment: u64| usize::try_from(moment >> device.bin_bits).unwrap_or(usize::MAX);
    let (first, last) = (bin(from), bin(to.max(from + 1) - 1));
    let most = |heights: &Vec<i64>| {
        let end = heights.len().min(last.saturating_add(1));
        let bytes = heights.get(first.min(end)..end).unwrap_or_default().iter().copied().max();
        bytes.map_or(0, |bytes| bytes.max(0) as u64)
    };
    [most(&device.heights[0]), most(&device.heights[1])]
}
