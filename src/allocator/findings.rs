//! Results of the check of a recording that simulated runs use.

use super::addresses::Order;

/// Cause of a release of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// The release continues the one before it, or its cause is unknown.
    #[default]
    Continued,
    /// The program called `empty_cache()`. `unused_pools` is the range of [`Findings::unused_pools`] with the private
    /// pools that have no users from this release on: first index and end.
    EmptyCache { unused_pools: [u32; 2] },
    /// A `MemPool` was destroyed.
    PoolDestroyed,
    /// A request found no memory and was retried.
    Request,
}

/// Results of the check of a recording: causes, waits, and orders that the file does not record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Cause of each release of the recording.
    pub causes: Vec<Cause>,
    pub unused_pools: Vec<u32>,
    /// Indices of the steps with frees that completed only because the next request waited for them, ascending.
    pub waited: Vec<u32>,
    /// Requested bytes of each failed request. Its event has only the rounded bytes.
    pub requested: Vec<u64>,
    /// Order of the addresses that new segments got.
    pub address_order: Order,
    /// Age numbers of the segments that exist before the first event, as far as the recording shows their order. Empty
    /// if unknown.
    pub start_numbers: Vec<u64>,
}
