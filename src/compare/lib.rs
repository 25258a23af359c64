//! Two snapshots against each other: moments of the one aligned with moments of the other, what is live by groups that both have, how sizes
//! scale, who lives longer, and a verdict. Pure, in slices, with plain answers.
//!
//! Many of them at once are [`ranks`]: a module of this crate, because it surveys the same sides and explains with the same comparison.
//!
//! A comparison borrows two [sides](engine::Side), each a device of an open file; both may be of one file.

mod aligning;
mod alignment;
mod answer;
mod comparing;
mod delta;
mod each;
mod key;
mod keyed;
mod measured;
mod pair;
mod pairing;
pub mod ranks;
mod report;
mod sequence;
mod steps;
mod sums;
mod tables;
mod tree;
mod verdict;
mod warnings;

pub use alignment::{Align, Alignment, peaks_in};
pub use answer::{
    AllocationRow, Allocations, Comparison, FactorGroup, Lifetimes, MOST_ALLOCATIONS, Matched, MomentPair, Outcome,
    Row, SideFacts, SiteFactor, SiteLifetimes, StepRow, TreeRow, Two, factor, times,
};
pub use comparing::{Comparing, Wanted};
pub use key::Key;
pub use measured::{Class, Measured};
pub use pair::{Pair, Which};
pub use report::report;
pub use sequence::{Diff, Window};
pub use verdict::signed;
