//! What a program asked its allocator for: a device's trace without anything that the allocator decided, and what it decided beside it.

use super::driver::Operation;
use super::pool::Traits;
use super::settings::Settings;
use base::column::Column;
use serde::{Deserialize, Serialize};

/// Where a request goes: a stream and a pool, as ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Rank of the stream by its handle.
    pub stream: u32,
    /// Place of the pool's id; 0 is the default pool.
    pub pool: u32,
}

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Requested bytes. 0 asks for nothing: PyTorch does not call the allocator then.
    pub size: u64,
    /// Where the recording has it.
    pub address: u64,
    /// Place in [`Recording::places`].
    pub place: u32,
}

/// What happens at an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// This allocation is requested.
    Alloc(u32),
    /// Its free is requested; it may wait for another stream.
    FreeRequested(u32),
    FreeCompleted(u32),
    /// Memory was taken from the driver: this operation.
    Grow(u32),
    /// Memory was given back: this run of operations.
    Release(u32),
    /// A request failed.
    Oom(u32),
}

/// A step of the program or its allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub event: u32,
    pub what: What,
}

/// Segments given back one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Its first operation, and the one beyond the last.
    pub operations: [u32; 2],
    /// Whether the program called `empty_cache()`; otherwise a request gave back what it could before it was tried again.
    pub is_explicit: bool,
    /// Whether a stack said so.
    pub is_known: bool,
    /// Whether memory was taken between it and the next request.
    pub grows_after: bool,
    /// The private pools whose memory was given back: their place in `Recording::retired`, and the one beyond the last.
    pub retired: [u32; 2],
    /// Whether nothing else was: a `MemPool` came to its end.
    pub is_private: bool,
}

/// A request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oom {
    /// Rounded bytes.
    pub size: u64,
    /// Bytes that the driver said were free.
    pub device_free: u64,
    pub place: u32,
    /// Reserved bytes then.
    pub reserved: u64,
}

/// A segment, or a mapped part of an expandable one, that was there before the first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub address: u64,
    pub size: u64,
    pub place: u32,
    pub small: bool,
    pub expandable: bool,
}

/// An allocation that was live before the first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Early {
    pub allocation: u32,
    /// The bytes of its block, where the file still has it at the end.
    pub block_size: Option<u64>,
    /// The event that frees it; `u32::MAX` for none.
    pub freed_at: u32,
    /// The address of the first allocation that was placed behind it, before the next early one, while it lived.
    pub follower: Option<u64>,
}

/// What a device's program asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Recording {
    /// Handles of the streams, ascending.
    pub streams: Vec<u64>,
    /// Ids of the pools; the default pool first.
    pub pools: Vec<(u64, u64)>,
    pub places: Vec<Place>,
    /// By number. Columns go [another way](crate::transfer).
    #[serde(skip)]
    pub allocations: Column<Allocation>,
    /// In the order of addresses.
    pub early: Vec<Early>,
    /// Before the first event, by address.
    pub held: Vec<Held>,
    #[serde(skip)]
    pub steps: Column<Step>,
    #[serde(skip)]
    pub operations: Column<Operation>,
    pub releases: Vec<Release>,
    /// Pools by the releases that show that they have no users any more.
    pub retired: Vec<u32>,
    /// Pools whose blocks show that they are never split.
    pub no_split: Vec<u32>,
    pub ooms: Vec<Oom>,
    /// Requested and rounded bytes of blocks that differ by rounding alone.
    pub rounded: Vec<(u64, u64)>,
    /// What the file lists of its settings, and what that means: read where it is simulated.
    pub listed: Vec<(String, String)>,
    pub settings: Option<Settings>,
    /// Whether anything of it is expandable.
    pub has_expandable: bool,
    /// How many events the trace has.
    pub events: u32,
    /// Allocations in the trace, and those of them whose address lies in no segment.
    pub requests: u64,
    pub astray: u64,
    /// Whether it says which segments there were.
    pub has_segments: bool,
    /// Bytes of each allocation under a plan; none where no plan changes any.
    #[serde(skip)]
    pub planned: Column<u64>,
}

impl Recording {
    /// The same with what its listed settings mean.
    pub fn with_settings(self) -> Recording {
        Recording { settings: super::recorded::settings(&self.listed), ..self }
    }

    /// Reserved bytes before the first event.
    pub fn reserved_at_start(&self) -> u64 {
        self.held.iter().fold(0, |sum, held| sum.saturating_add(held.size))
    }

    /// Whether nothing was allocated or reserved before the first event.
    pub fn starts_empty(&self) -> bool {
        self.held.is_empty() && self.early.is_empty()
    }

    /// The memory that the driver had, as far as failed requests tell.
    pub fn capacity(&self) -> Option<u64> {
        self.ooms.iter().map(|oom| oom.reserved.saturating_add(oom.device_free)).max()
    }

    /// Takes the bytes of each allocation under a plan, by number: 0 is not there. What a plan does not change is as recorded.
    pub fn plan(&mut self, sizes: impl Iterator<Item = u64>) {
        let recorded = self.allocations.iter().map(|allocation| allocation.size);
        let planned: Column<u64> = sizes.take(self.allocations.len()).collect();
        let is_whole = planned.len() == self.allocations.len();
        let changes = is_whole && planned.iter().zip(recorded).any(|(planned, recorded)| planned != recorded);
        self.planned = if changes { planned } else { Column::default() };
    }

    /// The bytes of an allocation, in a run under a plan or in one of what was recorded.
    #[inline]
    pub(crate) fn size(&self, number: u32, is_planned: bool) -> u64 {
        match is_planned {
            true => self.planned.get(number as usize).unwrap_or(0),
            false => self.allocations.at(number as usize).size,
        }
    }

    /// What is known of each pool.
    pub(crate) fn traits(&self) -> Vec<Traits> {
        let traits =
            |(at, id): (u32, &(u64, u64))| Traits { captures: id.0 > 0, no_split: self.no_split.contains(&at) };
        (0..).zip(&self.pools).map(traits).collect()
    }

    /// The private pools that a release shows to have no users any more.
    pub(crate) fn retired(&self, release: &Release) -> &[u32] {
        let [first, end] = release.retired.map(|at| at as usize);
        self.retired.get(first..end).unwrap_or_default()
    }

    pub(crate) fn place(&self, place: u32) -> Place {
        self.places.get(place as usize).copied().unwrap_or_default()
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let columns = self.allocations.heap_bytes() + self.steps.heap_bytes() + self.operations.heap_bytes();
        columns + self.planned.heap_bytes()
    }
}
