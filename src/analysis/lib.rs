//! Analyses of a device's history: categories, call sites, search queries, filters and plans.
//!
//! Input is a `history` snapshot or device history. Output is plain data, without rendering or I/O. Long passes run in
//! slices.
//!
//! Start with `query.rs` (search), `site.rs` (call sites) and `category/mod.rs` (categories by rules).

pub mod category;
pub mod changes;
pub mod event_terms;
pub mod expression;
pub mod factor;
pub mod filter;
pub mod frame_line;
pub mod id_set;
pub mod internal;
pub mod metadata;
pub mod place;
pub mod planned;
pub mod query;
pub mod site;
pub mod without;

pub use category::CategorySet;
pub use changes::{Change, Changes};
pub use event_terms::{EventTerm, EventTermError, EventTerms};
pub use factor::Factor;
pub use filter::Filter;
pub use id_set::IdSet;
pub use internal::{InternalRules, RuleCache};
pub use place::CallSite;
pub use planned::{Factors, Outcome, PlanMembership, PlannedCurve, Ratio};
pub use query::Query;
pub use site::{CodeOrigin, Sites};
pub use without::{GroupEffect, PeakWithout};
