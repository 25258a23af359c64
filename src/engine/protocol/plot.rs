//! What the picture shows of a device's memory over time: the stack of what is live, where it lies, or what was held from the driver.

use base::units::Moment;
use history::replay::SegmentKind;
use picture::timeline::View;
use serde::{Deserialize, Serialize};

/// What the vertical axis of the picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Plot {
    /// The live allocations on top of each other, in requested bytes.
    #[default]
    Stack,
    /// Each allocation where it lies: addresses, the gaps between what was ever mapped made small ([`AddressMap`]).
    Addresses(Only),
    /// What was held from the driver, on top of each other, in reserved bytes. What is drawn are the ranges of
    /// [`SegmentLives`](history::replay::SegmentLives): ids are of those.
    Reserved(Only),
}

impl Plot {
    /// Which part of memory it is about.
    pub fn only(self) -> Only {
        match self {
            Plot::Stack => Only::default(),
            Plot::Addresses(only) | Plot::Reserved(only) => only,
        }
    }
}

/// A part of a device's memory: what all of this holds of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Only {
    /// Its pool; `(0, 0)` is the default one, and stands for those of which it is not known as well.
    pub pool: Option<(u64, u64)>,
    pub stream: Option<u64>,
    pub address: Option<u64>,
}

impl Only {
    /// Whether segments of a kind are of this part, as far as pool and stream tell.
    pub(crate) fn wants(&self, kind: &SegmentKind) -> bool {
        self.pool.is_none_or(|pool| kind.pool.unwrap_or_default() == pool)
            && self.stream.is_none_or(|stream| kind.stream == Some(stream))
    }
}

/// The addresses of a device that were ever mapped, as the picture's vertical axis has them: from the lowest, the gaps made small.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AddressMap {
    /// How high all is, in bytes of the axis.
    pub height: u64,
    /// The ranges, by address; no two touch.
    pub ranges: Vec<MappedRange>,
    /// All pools of the device's segments, ever and whatever part of memory was requested, ascending; those of which none is known count
    /// as the default one, `(0, 0)`. What a page offers to show alone.
    pub pools: Vec<(u64, u64)>,
    /// All streams, likewise; segments of which none is known have none.
    pub streams: Vec<u64>,
}

/// A range of addresses between two gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedRange {
    pub address: u64,
    pub bytes: u64,
    /// Where it begins on the axis.
    pub from: u64,
    /// How many segments it has held, one after the other or side by side.
    pub segments: u32,
}

impl AddressMap {
    /// The address at a height of the axis; `None` in a gap, and above all.
    pub fn address_at(&self, height: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|range| range.from <= height);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (height - range.from < range.bytes).then(|| range.address.saturating_add(height - range.from))
    }

    /// Where an address stands on the axis; `None` where nothing was ever mapped.
    pub fn height_of(&self, address: u64) -> Option<u64> {
        let after = self.ranges.partition_point(|range| range.address <= address);
        let range = self.ranges.get(after.checked_sub(1)?)?;
        (address - range.address < range.bytes).then(|| range.from.saturating_add(address - range.address))
    }
}

/// What memory is like at a place of the picture, beside the allocation there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitMemory {
    pub segment: Option<HitSegment>,
    /// The free bytes there, first address and how many. At most so many: a block below may be larger than is known.
    pub free: Option<(u64, u64)>,
}

/// A segment as it is at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitSegment {
    /// The range that was hit: its id in [`SegmentLives`](history::replay::SegmentLives).
    pub range: u32,
    pub address: u64,
    /// Reserved bytes of the segment at that moment.
    pub reserved: u64,
    /// Bytes of the range.
    pub range_bytes: u64,
    /// The moment the range was mapped at; 0: before the trace.
    pub mapped: u32,
    /// The moment it was given back at; `None`: it is there at the end.
    pub unmapped: Option<u32>,
    /// Its pool, where known.
    pub pool: Option<(u64, u64)>,
    /// Its stream, where known.
    pub stream: Option<u64>,
    /// Whether it is of the pool of small blocks.
    pub small: bool,
    pub expandable: bool,
    /// Who made the driver be asked, in short; `None` where there is no stack.
    pub site: Option<String>,
}

impl HitSegment {
    /// Its range, the event that mapped it and the one that gave it back.
    pub fn life(&self) -> (u32, Option<u32>, Option<u32>) {
        let event = |moment: u32| Moment(moment).event().map(|event| event.0);
        (self.range, event(self.mapped), self.unmapped.and_then(event))
    }
}

/// Totals over the columns of a window, each the largest of its column. All but `free` are there in every file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curves {
    pub view: Option<View>,
    /// The columns' edges in pixels of the window; one more than columns.
    pub edge_px: Vec<i32>,
    /// Reserved bytes.
    pub reserved: Vec<u64>,
    /// Active bytes, rounded: at least so many (what the file does not record is derived).
    pub rounded: Vec<u64>,
    /// Active bytes, requested.
    pub requested: Vec<u64>,
    /// Allocated bytes, requested: active ones whose free was not requested.
    pub allocated: Vec<u64>,
    /// Pending bytes, requested: active ones whose free was requested and has not completed.
    pub pending: Vec<u64>,
    /// Reserved bytes that no active block has, at most so many: the most in the column.
    pub free: Vec<u64>,
    /// What was reserved at the moment of that.
    pub reserved_then: Vec<u64>,
}
