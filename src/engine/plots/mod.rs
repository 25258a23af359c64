//! The address plot and the reserved plot. The data that they need in addition to the history is built here in slices
//! and cached.

mod around;
mod hits;
mod kept;
mod layout;
mod lent;
mod reserved;

pub(super) use around::Around;
pub(super) use hits::along_ranges;
pub(super) use kept::Plots;
