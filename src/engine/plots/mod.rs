//! The address plot and the reserved plot. The data that they need in addition to the history is built here in slices
//! and cached.

mod neighbours;
mod hits;
mod cache;
mod layout;
mod sources;
mod reserved;

pub(super) use neighbours::Neighbours;
pub(super) use hits::walk_ranges;
pub(super) use cache::PlotCache;
