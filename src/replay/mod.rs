//! Events → history: allocations with lifetimes, totals, peaks, the state before the trace.

pub mod allocations;
pub mod history;

pub use allocations::{AllocationId, Allocations};
pub use history::DeviceHistory;
