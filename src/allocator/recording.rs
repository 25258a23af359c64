//! Input of the simulation: the requests of a program, separated from the decisions of its allocator.

use super::addresses::Order;
use super::findings::Findings;
use super::operation::{Kind, Operation, RESERVED_ADDRESSES};
use super::pool::Traits;
use super::settings::Settings;
use base::column::Column;
use serde::{Deserialize, Serialize};

/// Stream and pool of a request, as indices into sorted lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Index of the stream in [`Recording::streams`], which is sorted by handle.
    pub stream: u32,
    /// Index of the pool in [`Recording::pools`]. 0 is the default pool.
    pub pool: u32,
}

/// A recorded allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Requested bytes. Never 0, since PyTorch does not call its allocator for empty tensors.
    pub size: u64,
    /// Recorded address.
    pub address: u64,
    /// Index in [`Recording::places`].
    pub place: u32,
}

/// Kind of a step, with the index of the allocation, operation, release or failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An allocation is requested.
    Alloc(u32),
    /// The free of an allocation is requested. It may have to wait for another stream.
    FreeRequested(u32),
    FreeCompleted(u32),
    /// Memory was taken from the driver. Index in [`Recording::operations`].
    Grow(u32),
    /// Memory was released to the driver. Index in [`Recording::releases`].
    Release(u32),
    /// A request failed. Index in [`Recording::ooms`].
    Oom(u32),
}

/// A step of the program or its allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub event: u32,
    pub what: What,
}

/// Caller that released memory, inferred from the stack of the release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Caller {
    #[default]
    Unknown,
    EmptyCache,
    /// A request that ran out of memory and was retried after the release.
    Request,
}

/// Consecutive operations that released memory of one pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Range of the operations in [`Recording::operations`]: first index and end.
    pub operations: [u32; 2],
    /// Index of the pool.
    pub pool: u32,
    pub caller: Caller,
}

/// A request that ran out of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Oom {
    /// Rounded bytes of the request.
    pub size: u64,
    /// Free device memory that the driver reported, in bytes. `u64::MAX` if it was not recorded, and
    /// then it implies no limit.
    pub device_free: u64,
    pub place: u32,
    /// Reserved bytes when the request failed.
    pub reserved: u64,
}

/// A segment, or a mapped part of an expandable one, that was reserved before the first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub address: u64,
    pub size: u64,
    pub place: u32,
    pub small: bool,
    pub expandable: bool,
}

/// Allocation made before the first event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Early {
    pub allocation: u32,
    /// Size of the block in bytes, if the allocation is still live at the end.
    pub block_size: Option<u64>,
    /// Index of the event of the free. `u32::MAX` if the allocation is not freed.
    pub freed_at: u32,
    /// Address of the first allocation that was placed between this allocation and the next one while this one was
    /// live.
    pub follower: Option<u64>,
}

/// Requests of a program on one device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Recording {
    /// Stream handles, ascending.
    pub streams: Vec<u64>,
    /// Pool ids, the default pool first.
    pub pools: Vec<(u64, u64)>,
    pub places: Vec<Place>,
    /// All allocations, those made before recording first. Columns are sent separately, see `transfer.rs`.
    #[serde(skip)]
    pub allocations: Column<Allocation>,
    /// Allocations made before recording, ordered by address.
    pub early: Vec<Early>,
    /// Segments before the first event, ordered by address.
    pub held: Vec<Held>,
    #[serde(skip)]
    pub steps: Column<Step>,
    #[serde(skip)]
    pub operations: Column<Operation>,
    /// Stream and pool of each operation, as an index into `places`.
    pub operation_places: Vec<u32>,
    pub releases: Vec<Release>,
    /// Indices of pools whose blocks are never split.
    pub no_split: Vec<u32>,
    pub ooms: Vec<Oom>,
    /// Requested and rounded sizes of blocks whose two sizes differ only because of rounding.
    pub rounded: Vec<(u64, u64)>,
    /// Allocator settings listed in the file: name and value.
    pub listed: Vec<(String, String)>,
    /// Settings parsed from `listed` by [`with_settings`](Recording::with_settings).
    pub settings: Option<Settings>,
    /// True if events record their pool (PyTorch 2.12 and later).
    pub names_pools: bool,
    /// True if a private pool has segments at the end, but events do not record their pool.
    pub guesses_pools: bool,
    /// True if any segment is expandable.
    pub has_expandable: bool,
    /// Number of events in the trace.
    pub events: u32,
    /// Event after each step of training or inference, ascending. Empty if no steps were found.
    pub step_ends: Vec<u32>,
    /// Number of allocations in the trace.
    pub requests: u64,
    /// Number of allocations in the trace whose address is not in any segment.
    pub astray: u64,
    /// True if the file records segments.
    pub has_segments: bool,
    /// Planned size of each allocation in bytes. Empty if no planned size differs from the recorded one.
    #[serde(skip)]
    pub planned: Column<u64>,
    /// Facts inferred by the check of the recording. Set by [`with_findings`](Recording::with_findings).
    #[serde(skip)]
    pub findings: Findings,
}

base::heap_bytes!(Recording: allocations, steps, operations, operation_places, planned);

impl Recording {
    /// Returns the recording with `settings` parsed from `listed`.
    pub fn with_settings(self) -> Recording {
        Recording { settings: super::recorded::settings(&self.listed), ..self }
    }

    /// Returns the reserved bytes before the first event.
    pub fn reserved_at_start(&self) -> u64 {
        self.held.iter().fold(0, |sum, held| sum.saturating_add(held.size))
    }

    /// Returns true if nothing was allocated or reserved before the first event.
    pub fn starts_empty(&self) -> bool {
        self.held.is_empty() && self.early.is_empty()
    }

    /// Sets the facts that the check of the recording inferred. Simulated runs use them.
    pub fn with_findings(self, findings: Findings) -> Recording {
        Recording { findings, ..self }
    }

    /// Returns the number of allocations made before the first event. They come first in `allocations`.
    pub(crate) fn early_numbers(&self) -> usize {
        self.allocations.len().saturating_sub(self.requests as usize)
    }

    /// Returns the order of the addresses that new segments got. `Lowest` if the recording has too few segments to
    /// infer it.
    pub(crate) fn address_order(&self) -> Order {
        let (mut count, mut ascending, mut last) = (0u64, 0u64, 0);
        for operation in self.operations.iter().filter(|operation| operation.kind == Kind::Alloc) {
            ascending += u64::from(count > 0 && operation.address > last);
            (count, last) = (count + 1, operation.address);
        }
        match count {
            0..3 => Order::Lowest,
            _ if 2 * ascending >= count - 1 => Order::Lowest,
            _ => Order::Highest,
        }
    }

    /// Returns an address above all recorded addresses and above the address ranges of expandable segments.
    pub(crate) fn above(&self) -> u64 {
        let held = self.held.iter().map(|held| held.address.saturating_add(held.size));
        let taken = self.operations.iter().filter(|operation| operation.kind != Kind::Free);
        let taken = taken.map(|operation| operation.address.saturating_add(operation.size));
        held.chain(taken).max().unwrap_or(0).saturating_add(RESERVED_ADDRESSES)
    }

    /// Sets the planned size of each allocation in bytes. A size of 0 omits the allocation. All sizes are discarded if
    /// their count is wrong or if they equal the recorded ones.
    pub fn plan(&mut self, sizes: impl Iterator<Item = u64>) {
        let recorded = self.allocations.iter().map(|allocation| allocation.size);
        let planned: Column<u64> = sizes.take(self.allocations.len()).collect();
        let is_whole = planned.len() == self.allocations.len();
        let changes = is_whole && planned.iter().zip(recorded).any(|(planned, recorded)| planned != recorded);
        self.planned = if changes { planned } else { Column::default() };
    }

    /// Returns the planned or the recorded size of an allocation in bytes.
    #[inline]
    pub(crate) fn size(&self, number: u32, is_planned: bool) -> u64 {
        match is_planned {
            true => self.planned.get(number as usize).unwrap_or(0),
            false => self.allocations.at(number as usize).size,
        }
    }

    /// Returns the largest request in bytes, with the planned or the recorded sizes. Requests that failed count as
    /// well.
    pub(crate) fn largest_request(&self, is_planned: bool) -> u64 {
        let sizes = (0..self.allocations.len() as u32).map(|number| self.size(number, is_planned));
        let failed = self.ooms.iter().map(|oom| oom.size).chain(self.findings.requested.iter().copied());
        sizes.chain(failed).max().unwrap_or(0)
    }

    /// Returns the properties of each pool that the recording reveals, by pool index.
    pub(crate) fn traits(&self) -> Vec<Traits> {
        let count = self.pools.len() as u32;
        (0..count).map(|pool| Traits { no_split: self.no_split.contains(&pool) }).collect()
    }

    pub(crate) fn place(&self, place: u32) -> Place {
        self.places.get(place as usize).copied().unwrap_or_default()
    }
}
