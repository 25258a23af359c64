//! Facts inferred while checking a recording, used by simulated runs.

use super::addresses::Order;

/// Inferred cause of a release of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// Same cause as the previous release, or unknown.
    #[default]
    Continued,
    /// The program called `empty_cache()`. From then on, some private pools have no users: those in this range (first
    /// index and end) of [`Findings::unused_pools`].
    EmptyCache { unused_pools: [u32; 2] },
    /// A `MemPool` was destroyed.
    PoolDestroyed,
    /// A request found no memory and was retried.
    Request,
}

/// Facts inferred while checking a recording: causes of releases, waits, and orders that the file does not record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Cause of each release, in the order of [`Recording::releases`](crate::recording::Recording::releases).
    pub causes: Vec<Cause>,
    pub unused_pools: Vec<u32>,
    /// Indices of the steps at which a free completed only because the next request waited for it, ascending.
    pub waited: Vec<u32>,
    /// Requested bytes of each failed request. The file records only the rounded bytes.
    pub requested: Vec<u64>,
    /// Order of the addresses that new segments got.
    pub address_order: Order,
    /// Age numbers of the segments that exist before the first event, inferred from the recording. Empty if unknown.
    pub start_numbers: Vec<u64>,
}
