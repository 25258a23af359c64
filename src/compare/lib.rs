//! Comparison of two snapshots.
//!
//! A comparison takes two [sides](engine::Side), each a device of an open file. Both may belong to the same file. The
//! comparison maps the moments of one trace to moments of the other, compares the live bytes of matching groups of
//! allocations, and reports how sizes scale, which lifetimes differ, and a verdict. Work is done in time slices, and
//! results are plain data.
//!
//! [`ranks`] compares many snapshots at once, one per rank. It is a module of this crate because it uses the same
//! comparisons.
//!
//! Start with `comparing.rs` (the whole comparison), `aligning.rs` (alignment and pairing) and `answer.rs` (the
//! result).

mod aligning;
mod alignment;
mod allocations;
mod answer;
mod chains;
mod comparing;
mod compiled;
mod delta;
mod key;
mod keyed;
mod pair;
mod pairing;
pub mod ranks;
mod report;
mod scaling;
mod sequence;
mod steps;
mod sums;
mod tables;
mod tree;
mod verdict;
mod warnings;

pub use alignment::{Align, Alignment, peaks_in};
pub use answer::{
    AllocationDifferences, AllocationRow, Comparison, FactorGroup, MAX_ALLOCATIONS, Matched, MomentPair, Outcome,
    OutcomeTotals, PerSide, Row, SideFacts, SiteFactor, SiteLifetimes, StepRow, TreeRow, factor, factor_of,
};
pub use comparing::{CompareOptions, Comparer};
pub use key::Key;
pub use pair::{FileSlot, Pair, is_gated};
pub use report::report;
pub use scaling::{MeasuredScaling, ScalingClass};
pub use sequence::{Diff, Window};
pub use verdict::signed;
