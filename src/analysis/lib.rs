//! History → answers.

pub mod category;
pub mod changes;
pub mod event_terms;
pub mod expression;
pub mod filter;
pub mod frame_line;
pub mod id_set;
pub mod internal;
pub mod metadata;
pub mod query;
pub mod site;
pub mod without;

pub use category::CategorySet;
pub use changes::{Change, Changes};
pub use event_terms::{EventTerm, EventTermError, EventTerms};
pub use filter::Filter;
pub use id_set::IdSet;
pub use internal::{InternalRules, Verdicts};
pub use query::Query;
pub use site::{Sites, Whose};
pub use without::{PeakWithout, Without};
