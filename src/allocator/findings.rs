//! Findings of the check of a recording, which simulated runs depend on.

use super::addresses::Order;

/// Cause of a release of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// The release continues the one before it, or its cause is unknown.
    #[default]
    Continued,
    /// The program called `empty_cache()`. Private pools that have no users from here on, as first index and one past
    /// the last in [`Findings::unused_pools`].
    EmptyCache { unused_pools: [u32; 2] },
    /// A `MemPool` was destroyed.
    PoolDestroyed,
    /// A request found no memory, and was tried again.
    Request,
}

/// Findings of the check of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Cause of each release of the recording.
    pub causes: Vec<Cause>,
    pub unused_pools: Vec<u32>,
    /// Steps of frees that completed only because the next request waited for them, ascending.
    pub waited: Vec<u32>,
    /// Requested bytes of each failed request. Events have the rounded bytes.
    pub requested: Vec<u64>,
    /// Order of the addresses of new segments.
    pub address_order: Order,
    /// Numbers of the segments before the first event, as far as the recording shows their order. Empty if unknown.
    pub start_numbers: Vec<u64>,
}
