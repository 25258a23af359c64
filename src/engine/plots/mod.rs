//! The address plot and the reserved plot. Data that they need in addition to the history is built in time slices and
//! cached.

mod cache;
mod hits;
mod layout;
mod neighbours;
mod reserved;
mod sources;

pub(super) use cache::PlotCache;
pub(super) use hits::walk_ranges;
pub(super) use neighbours::Neighbours;
