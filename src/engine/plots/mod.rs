//! Pictures other than the stack: where memory lies, and what was held from the driver. What they need beyond the history is made here, in
//! slices, and the latest of it kept.

mod around;
mod hits;
mod kept;
mod layout;
mod lent;
mod reserved;

pub(super) use around::Around;
pub(super) use hits::along_ranges;
pub(super) use kept::Plots;
