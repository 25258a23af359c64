//! Contents of a snapshot's top level while it is read.

use super::segments::{AnnotationMark, Segment};
use crate::recorder::ValueTree;
use hashbrown::HashMap;

/// Maximum number of devices with events or blocks. PyTorch stores device ordinals in eight bits, so only malicious
/// files have more: a segment of forty bytes can add a device, which needs some kilobytes for its history.
const MAX_DEVICES: usize = 1024;

/// Contents of the top-level keys that have been read so far.
#[derive(Default)]
pub(super) struct TopLevel {
    pub(super) segments: Vec<Segment>,
    /// Position of each segment in the file.
    pub(super) segment_places: Vec<SegmentPlace>,
    pub(super) marks: Vec<AnnotationMark>,
    pub(super) traces: Vec<(i64, u32)>,
    pub(super) settings: Vec<(String, String)>,
    pub(super) recorder: ValueTree,
    /// Allocator settings of a simulation, and name of the simulated recording.
    pub(super) simulated: Option<[String; 2]>,
    /// Private pool that all segments belong to, if there is one.
    pub(super) single_pool: Option<(u64, u64)>,
    /// Place of the setting that says that events were overwritten.
    pub(super) overflow: Option<String>,
    /// True if the file says whether events were overwritten.
    pub(super) has_overflow_flag: bool,
    /// Maximum number of events of a device, if the file has it.
    pub(super) max_entries: Option<u64>,
    /// Name of the kind of file, if the events come from torch.profiler.
    pub(super) profile: Option<&'static str>,
    /// Rows of the segments that already belong to a list. Used as a set, but a `HashSet` would add code to the wasm.
    pub(super) segments_taken: HashMap<u32, u32, foldhash::fast::RandomState>,
    /// Place in `traces` of each trace that already belongs to a device.
    pub(super) traces_taken: HashMap<u32, u32, foldhash::fast::RandomState>,
    pub(super) devices: Devices,
}

/// Returns whether a trace with this number of events is likely full: `max_entries` is reached, or the number is a
/// common maximum, which a trace reaches only by chance.
pub(super) fn is_likely_full(events: u64, max_entries: Option<u64>) -> bool {
    if let Some(max_entries) = max_entries {
        return events > 0 && events >= max_entries;
    }
    events > 0 && (events.is_multiple_of(10_000) || events >= 1 << 10 && events.is_power_of_two())
}

/// Devices with events or blocks, ascending.
#[derive(Default)]
pub struct Devices(Vec<i64>);

impl Devices {
    /// Adds a device. Returns `false` if the device is new and there are already 1024 devices.
    pub fn admit(&mut self, device: i64) -> bool {
        match self.0.binary_search(&device) {
            Ok(_) => true,
            Err(place) => {
                let has_room = self.0.len() < MAX_DEVICES;
                if has_room {
                    self.0.insert(place, device);
                }
                has_room
            }
        }
    }
}

/// Position of a segment in the file.
pub(super) struct SegmentPlace {
    pub(super) list: &'static str,
    pub(super) index: u32,
    /// Row in the table of all segments that were read.
    pub(super) row: u32,
}

impl SegmentPlace {
    pub(super) fn text(&self) -> String {
        format!("{}[{}]", self.list, self.index)
    }
}
