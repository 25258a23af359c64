//! Scope of the views: the allocations that the views show.

use protocol::{Scope, Span};

/// Scope of the views: the allocations that the views show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ViewScope {
    /// Allocations that are live at the cursor.
    #[default]
    Cursor,
    /// Allocations of the selected range, filtered by [`RangeScope`].
    Range,
    /// All allocations of the trace.
    WholeTrace,
    /// The change between the range's ends, which are labelled A and B.
    Change,
}

impl ViewScope {
    /// Returns whether the scope requires a selected range.
    pub(crate) fn needs_range(self) -> bool {
        matches!(self, ViewScope::Range | ViewScope::Change)
    }
}

base::listed! {
    /// Filter for the allocations that the views list while a range is selected. Without a range, all variants except
    /// [`RangeScope::WholeTrace`] list the allocations that are live at the cursor.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum RangeScope {
        Live = "live",
        /// Allocated in the range.
        #[default]
        Allocated = "born",
        Freed = "freed",
        /// Allocated in the range and live at its end.
        Kept = "kept",
        /// Live at any time in the range, weighted by bytes × moments in the range.
        ByteMoments = "bytes",
        /// Live at one end of the range but not at the other.
        Change = "change",
        /// All allocations of the trace.
        WholeTrace = "trace",
    }
}

impl RangeScope {
    /// The variants that apply to a range, in the order of the picker.
    pub const OF_RANGE: [RangeScope; 4] =
        [RangeScope::Allocated, RangeScope::Freed, RangeScope::Kept, RangeScope::ByteMoments];

    pub(crate) fn scope(self, moment: u32, span: Option<Span>) -> Scope {
        let Some(span) = span else {
            return if self == RangeScope::WholeTrace { Scope::All } else { Scope::At(moment) };
        };
        match self {
            RangeScope::Live => Scope::At(moment),
            RangeScope::WholeTrace => Scope::All,
            RangeScope::Allocated => Scope::Allocated(span),
            RangeScope::Freed => Scope::Freed(span),
            RangeScope::Kept => Scope::StillLive(span),
            RangeScope::ByteMoments => Scope::ByteMoments(span),
            RangeScope::Change => Scope::Change(span),
        }
    }
}
